"""How much of each actor the six cameras see together, and how many LiDAR points it would get.

Nothing is rendered for it: rays run from a camera to points spread over the actor's box, and other actors and houses
block them. The LiDAR has 32 beams and 0.33 degrees between firings, so the points follow from the angles that the box
spans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array, Transform
from data_registry.sources.streetset.rig import (
    CAMERAS,
    LIDAR_TRANSLATION,
    SAMPLES,
    camera_us,
    ego_in_scene,
    sample_us,
    scene_camera,
    seconds,
)
from data_registry.sources.streetset.world import Actor, Scene

LEVELS: Final = ((0.8, "4"), (0.6, "3"), (0.4, "2"), (0.0, "1"))
BEAM_STEP_RAD: Final = np.radians(41.33 / 31)
FIRING_STEP_RAD: Final = np.radians(0.33)
BLOCKING_SHARE: Final = 0.92
"""A body fills about this much of its box along each axis."""

HOUSE_M: Final = 8.0
HOUSE_SIZE_M: Final = (9.0, 8.0)
"""Rows of houses block sight as boxes of this length along the row, depth and height."""

_GRID: Final = np.stack(np.meshgrid(*([np.array([-0.4, -0.13, 0.13, 0.4])] * 3), indexing="ij"), axis=-1).reshape(-1, 3)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One annotation's visibility token ("1" to "4") and its number of LiDAR points, at least 1."""

    level: str
    lidar_points: int


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Boxes that block sight: turns (N, 3, 3) from the scene's frame to theirs, centres (N, 3), half sizes (N, 3)."""

    to_block: Array
    centres: Array
    half: Array

    @classmethod
    def of(cls, boxes: list[tuple[Transform, Array]]) -> Blocks:
        """Make blocks of frames at the middle of each box, and sizes."""
        turn = np.array([frame.rotation.T for frame, _ in boxes]).reshape(-1, 3, 3)
        centres = np.array([frame.translation for frame, _ in boxes]).reshape(-1, 3)
        half = np.array([size for _, size in boxes]).reshape(-1, 3) * (BLOCKING_SHARE / 2)
        return cls(turn, centres, half)

    def near(self, viewer: Array, middle: Array, reach: float) -> npt.NDArray[np.int64]:
        """Return the numbers of the boxes that come within `reach` of the line from the viewer to a point."""
        way = middle - viewer
        share = np.clip((self.centres - viewer) @ way / float(way @ way), 0.0, 1.0)
        gap = np.linalg.norm(self.centres - viewer - share[:, None] * way, axis=1)
        return np.flatnonzero(gap < np.linalg.norm(self.half, axis=1) + reach)

    def some(self, numbers: npt.NDArray[np.int64]) -> Blocks:
        """Return only some of the boxes."""
        return Blocks(self.to_block[numbers], self.centres[numbers], self.half[numbers])

    def hide(self, viewer: Array, points: Array) -> npt.NDArray[np.bool_]:
        """Tell for each box and point (B, N) whether the segment from the viewer passes through it (slab test)."""
        start = np.einsum("bij,bj->bi", self.to_block, viewer - self.centres)
        way = np.einsum("bij,nj->bni", self.to_block, points - viewer)
        way = np.where(np.abs(way) < 1e-12, 1e-12, way)
        half = self.half[:, None]
        near, far = (-half - start[:, None]) / way, (half - start[:, None]) / way
        enter, leave = np.minimum(near, far).max(axis=2), np.maximum(near, far).min(axis=2)
        return (enter < leave) & (leave > 0) & (enter < 1)


@lru_cache(maxsize=16)
def sightings(scene: Scene) -> tuple[tuple[Sighting, ...], ...]:
    """Return the sighting of every actor in every sample: [sample][actor]."""
    return tuple(_sample_sightings(scene, index) for index in range(SAMPLES))


def _sample_sightings(scene: Scene, index: int) -> tuple[Sighting, ...]:
    visible = np.zeros((len(scene.actors), len(_GRID)), dtype=np.bool_)
    for channel in CAMERAS:
        visible |= _seen(scene, channel, index)
    shares = visible.mean(axis=1).tolist()
    return tuple(
        Sighting(
            next(name for least, name in LEVELS if share >= least), _lidar_points(scene, actor, index, float(share))
        )
        for actor, share in zip(scene.actors, shares, strict=True)
    )


def _seen(scene: Scene, channel: str, index: int) -> npt.NDArray[np.bool_]:
    """Tell which points (actors, N) of the actors a camera sees past the other actors and the houses."""
    time = camera_us(scene, channel, index)
    camera = scene_camera(scene, channel, time)
    middles = [_middle(scene, actor, seconds(scene, time)) for actor in scene.actors]
    points = np.array([m.apply(_GRID * a.size) for m, a in zip(middles, scene.actors, strict=True)])
    inside = camera.contains(camera.project(points.reshape(-1, 3))[0]).reshape(points.shape[:2])
    bodies = [(m, np.array(a.size)) for m, a in zip(middles, scene.actors, strict=True)]
    blocks = Blocks.of([*bodies, *_houses(scene)])
    for number in np.flatnonzero(inside.any(axis=1)).tolist():
        viewer, middle = camera.position, points[number].mean(axis=0)
        reach = float(np.linalg.norm(points[number] - middle, axis=1).max())
        between = blocks.near(viewer, middle, reach)
        inside[number] &= ~blocks.some(between[between != number]).hide(viewer, points[number]).any(axis=0)
    return inside


@lru_cache(maxsize=16)
def _houses(scene: Scene) -> list[tuple[Transform, Array]]:
    """Return boxes of at most HOUSE_M along every row of houses: middle frames and sizes."""
    found: list[tuple[Transform, Array]] = []
    size = np.array([HOUSE_M, *HOUSE_SIZE_M])
    for row in scene.houses:
        axis = scene.road(row.road).axis
        away = math.copysign(HOUSE_SIZE_M[0] / 2, row.offset)
        for s in np.arange(row.start + HOUSE_M / 2, row.end, HOUSE_M).tolist():
            x, y = axis.place(s, row.offset + away)
            frame = scene.on_ground((x, y, axis.pose(s)[2]), upright=True)
            found.append((Transform(frame.rotation, frame.apply(np.array([[0.0, 0.0, HOUSE_SIZE_M[1] / 2]]))[0]), size))
    return found


def _middle(scene: Scene, actor: Actor, time: float) -> Transform:
    pose = scene.pose(actor, time)
    return Transform(pose.rotation, pose.apply(np.array([[0.0, 0.0, actor.size[2] / 2]]))[0])


def _lidar_points(scene: Scene, actor: Actor, index: int, share: float) -> int:
    time = sample_us(scene, index)
    origin = ego_in_scene(scene, time).apply(np.array([LIDAR_TRANSLATION]))[0]
    middle = _middle(scene, actor, seconds(scene, time))
    line = middle.translation - origin
    distance = float(np.linalg.norm(line))
    bearing = float(np.arctan2(line[1], line[0])) - middle.yaw
    across = actor.size[0] * abs(np.sin(bearing)) + actor.size[1] * abs(np.cos(bearing))
    spans = (across / distance / FIRING_STEP_RAD) * (actor.size[2] / distance / BEAM_STEP_RAD)
    return max(1, round(0.7 * share * spans))
