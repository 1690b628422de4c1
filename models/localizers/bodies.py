"""What body the views should show: a task's look in any size that its ranges allow, cut into slices along its length.

Each slice is convex, so that together they show gaps that the hull of the whole body would fill: between axles, between
legs. That matters where something hides a part of the body, and the rest has to be told from what it would be whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from scipy import spatial

from data_registry.geometry import Array, GroundPlane, box_corners, yaw_rotation
from data_registry.records import Attached, Keyframe, Mounted, Standing
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.shapes import MOUNTED, SHAPES
from models.localizers.localizer import RegionNotFoundError
from models.placements.bodies import DOOR_HEIGHT_SHARE, DOOR_LENGTH_SHARE, DOOR_SILL_SHARE
from prompts.taxonomy import Range, TaskSpec

SLICES: Final = 8
SPREAD_SHARE: Final = 1 / 3**0.5
"""Standard deviation of what is spread evenly, as a share of half its range."""
FLAT: Final = "QJ"
"""Option of Qhull that lets slices be flat."""


BLOCK: Final = np.column_stack([box_corners((0.0, 0.0, 0.5), (1.0, 1.0, 1.0), np.eye(3)), np.ones(8)])
"""Corners of a box that fills its size, as `Body.corners`."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A hazard's body with the size that its task lets it have; its origin is on the ground below its middle.

    Attributes:
        corners: (N, 4) corners of its convex slices: x in lengths, y in widths, z in heights and in undersides.
        slices: (N,) which slice a corner belongs to, from 0 on, without gaps.
        size: (4,) middle length, width, height, and height of its underside above the ground, metres.
        spread: (4,) standard deviation of these, metres.
    """

    corners: Array
    slices: Any
    size: Array
    spread: Array

    @property
    def lowest_m(self) -> float:
        """How far above the ground its lowest part is: of what is carried by a post that is the post's foot."""
        return float((self.corners[:, 2:] @ self.size[2:]).min())

    @property
    def highest_m(self) -> float:
        """How far above the ground its highest part is."""
        return float((self.corners[:, 2:] @ self.size[2:]).max())

    @property
    def extents(self) -> Array:
        """Return the least and the largest (2, 3) length, width and height that the task lets it have, metres."""
        half = self.spread[:3] / SPREAD_SHARE
        return np.stack([self.size[:3] - half, self.size[:3] + half])

    def placed(self, plans: Array, sizes: Array, heading: float, ground: GroundPlane) -> Array:
        """Return corners (M, N, 3) in the ego frame of the body over plan points (M, 2), of sizes (M, 4)."""
        stretched = self.corners * sizes[:, None, :]
        local = np.concatenate([stretched[..., :2], stretched[..., 2:].sum(axis=2, keepdims=True)], axis=2)
        feet = np.column_stack([plans, ground.height_at(plans)])
        return local @ yaw_rotation(heading).T + feet[:, None, :]

    def depth_along(self, direction: Array, heading: float) -> float:
        """Return how far the middle of the body lies behind its nearest corner along a plan direction (2,), metres."""
        along = np.array([np.cos(heading), np.sin(heading)])
        across = np.array([-along[1], along[0]])
        return float(abs(along @ direction) * self.size[0] + abs(across @ direction) * self.size[1]) / 2


def expected_bodies(
    task: TaskSpec, look: str | None, placement: Standing | Mounted | Attached, keyframe: Keyframe
) -> tuple[Body, ...]:
    """Return the body that a task's look has, if it is known, and a plain box, for what was drawn quite differently.

    Of the placement only its kind counts, and which car a door hangs on.

    Raises:
        RegionNotFoundError: a door hangs on a car that the keyframe does not have.
    """
    appearance = task.appearance(look) if look else task.appearances[0]
    ranges = [appearance.size_m.length, appearance.size_m.width, appearance.size_m.height]
    underside = Range(low=0.0, high=0.0)
    if isinstance(placement, Mounted) and task.placement.mount_height_m is not None:
        underside = task.placement.mount_height_m
    elif isinstance(placement, Attached):
        ranges, underside = _door(ranges, placement, keyframe)
    ends = np.array([[extent.low, extent.high] for extent in (*ranges, underside)])
    size, spread = ends.mean(axis=1), np.ptp(ends, axis=1) / 2 * SPREAD_SHARE
    block = Body(BLOCK, np.zeros(8, dtype=np.int64), size, spread)
    is_mounted, known = isinstance(placement, Mounted), MOUNTED if isinstance(placement, Mounted) else SHAPES
    if appearance.shape not in known:
        return (block,)
    return Body(*_sliced(appearance.shape, tuple(size.tolist()), is_mounted), size, spread), block


def _door(ranges: list[Range], placement: Attached, keyframe: Keyframe) -> tuple[list[Range], Range]:
    """Return the size that the door of a car can have, and how high above the ground it hangs."""
    box = next((note.box for note in keyframe.annotations if note.token == placement.annotation), None)
    if box is None:
        raise RegionNotFoundError(f"nothing is known of the car that the {placement.part} hangs on")
    bottom = box.centre[2] - box.size[2] / 2 - float(keyframe.ground.height_at(np.array([box.centre]))[0])
    limits = (DOOR_LENGTH_SHARE * box.size[0], float("inf"), DOOR_HEIGHT_SHARE * box.size[2])
    fitted = [
        Range(low=min(extent.low, limit), high=min(extent.high, limit))
        for extent, limit in zip(ranges, limits, strict=True)
    ]
    sill = bottom + DOOR_SILL_SHARE * box.size[2]
    return fitted, Range(low=sill, high=sill)


@lru_cache(maxsize=128)
def _sliced(shape: str, size: tuple[float, ...], is_mounted: bool) -> tuple[Array, Any]:
    """Return the corners (N, 4) of a shape's slices and which slice each belongs to."""
    length, width, height, underside = size
    build: Any = MOUNTED[shape] if is_mounted else SHAPES[shape]
    mesh: Mesh = build(*size) if is_mounted else build(length, width, height)
    parts = [_hull(points) for points in _cut(mesh) if len(points)]
    points, hangs = np.concatenate(parts), 1.0
    if is_mounted:  # what carries it grows with its underside
        hangs = np.minimum(points[:, 2] / underside, 1.0)
        points = points - np.column_stack([np.zeros((len(points), 2)), underside * hangs])
    corners = np.column_stack([points / (length, width, height), np.broadcast_to(hangs, len(points))])
    return corners, np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _cut(mesh: Mesh) -> list[Array]:
    """Return the points of each of the slices: vertices, and where edges cross from one slice to the next."""
    vertices, faces = mesh.vertices, mesh.faces
    along = vertices[:, 0]
    bounds = np.linspace(along.min(), along.max(), SLICES + 1)
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    starts, ends = vertices[edges[:, 0]], vertices[edges[:, 1]]
    planes = [_crossings(starts, ends, bound) for bound in bounds.tolist()]
    return [
        np.concatenate([vertices[(along >= bounds[index]) & (along <= bounds[index + 1])], *planes[index : index + 2]])
        for index in range(SLICES)
    ]


def _crossings(starts: Array, ends: Array, bound: float) -> Array:
    """Return where lines between points (E, 3) cross x = bound, (K, 3)."""
    crosses = (starts[:, 0] - bound) * (ends[:, 0] - bound) < 0
    start, way = starts[crosses], (ends - starts)[crosses]
    return start + way * ((bound - start[:, 0]) / way[:, 0])[:, None]


def _hull(points: Array) -> Array:
    """Return those of some points (N, 3) that are corners of their convex hull, in their order."""
    if len(points) < 5:
        return points
    hull: Any = spatial.ConvexHull(points, qhull_options=FLAT)
    return points[np.sort(hull.vertices)]
