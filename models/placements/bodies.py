"""What stands, lies, hangs or opens at a spot: the placement, its outline on the ground and the space it fills."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely

from data_registry.geometry import Array, Transform, rectangle, yaw_rotation
from data_registry.records import Attached, Box, Mounted, Placement, Standing, Surface, Xy
from models.placements.spots import Size, Spot
from models.surroundings import Neighbour, Surroundings

SURFACE_CORNERS: Final = 16
RAGGED: Final = 0.12
"""Corners of a surface hazard's outline, and how far it is cut in at most, as a share of its radius."""

HINGE_SHARE: Final = 0.30
"""A front door hangs this share of a car's length behind its front,"""
DOOR_LENGTH_SHARE: Final = 0.27
"""is at most this share of its length long,"""
DOOR_SILL_SHARE: Final = 0.16
"""begins at this share of its height,"""
DOOR_HEIGHT_SHARE: Final = 0.78
"""and is at most this share of its height high."""
DOOR_OPEN_RAD: Final = float(np.deg2rad(70.0))
"""How far an open door has turned; cars' door checks hold at 65 to 75 degrees."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A placed hazard: its record, plan outline (K, 2), points (N, 3) that it fills the hull of, heading in plan."""

    placement: Placement
    outline: Array
    solid: Array
    yaw: float


def surface_body(around: Surroundings, spot: Spot, size: Size) -> Body:
    """Return a ragged patch of the surface."""
    x, y, yaw = pose_of(around, spot)
    outline = _ragged(x, y, yaw, size)
    placement = Surface(polygon=tuple((float(px), float(py)) for px, py in outline))
    return Body(placement, outline, around.keyframe.ground.lift(outline), yaw)


def standing_body(around: Surroundings, spot: Spot, size: Size) -> Body:
    """Return a box that stands upright on the local ground."""
    x, y, yaw = pose_of(around, spot)
    box = upright((x, y), ground_at(around, (x, y)), size, yaw)
    on_road = around.is_drivable(shapely.Point(x, y))
    placement = Standing(box=box, surface="road" if on_road else "pavement")
    return Body(placement, rectangle((x, y), size[0], size[1], yaw), box.corners(), yaw)


def mounted_body(around: Surroundings, spot: Spot, size: Size, base_m: float) -> Body:
    """Return a box `base_m` above the ground whose front (+x) looks against the lane's direction."""
    x, y, along = pose_of(around, spot)
    yaw = along + np.pi
    box = upright((x, y), ground_at(around, (x, y)) + base_m, size, yaw)
    placement = Mounted(box=box, faces=("front",))
    return Body(placement, rectangle((x, y), size[0], size[1], yaw), box.corners(), yaw)


def door_bodies(around: Surroundings, size: Size) -> Iterator[Body]:
    """Yield the open front door of each parked car beside the ego's lane, on the side of the lane."""
    for neighbour in around.parked_cars:
        yield _door(around, neighbour, size)


def _door(around: Surroundings, neighbour: Neighbour, size: Size) -> Body:
    """Open a door: its box's x axis points from the hinge to the free edge, its z = 0 is the sill.

    Seen along that axis a left-hand door has its outer skin at its right side (-y), a right-hand one at its left.
    """
    vehicle = neighbour.note.box
    length, width, height = vehicle.size
    yaw = vehicle.pose().yaw
    middle = np.array(vehicle.centre[:2], dtype=np.float64)
    ahead = np.array([np.cos(yaw), np.sin(yaw)])
    left = np.array([-np.sin(yaw), np.cos(yaw)])
    lateral, beside = around.course.locate(np.vstack([middle, middle + left]))[:, 1].tolist()
    side = 1.0 if (beside - lateral) * lateral < 0 else -1.0
    hinge = middle + ahead * length * (0.5 - HINGE_SHARE) + left * side * width / 2
    reach = min(size[0], DOOR_LENGTH_SHARE * length)
    way = -np.cos(DOOR_OPEN_RAD) * ahead + side * np.sin(DOOR_OPEN_RAD) * left
    centre = hinge + way * reach / 2
    bottom = vehicle.centre[2] - height / 2 + DOOR_SILL_SHARE * height
    fitted = (reach, size[1], min(size[2], DOOR_HEIGHT_SHARE * height))
    turned = float(np.arctan2(way[1], way[0]))
    box = upright((float(centre[0]), float(centre[1])), bottom, fitted, turned)
    placement = Attached(annotation=neighbour.note.token, part="door", box=box)
    return Body(placement, rectangle(centre.tolist(), fitted[0], fitted[1], turned), box.corners(), turned)


def pose_of(around: Surroundings, spot: Spot) -> tuple[float, float, float]:
    """Return x, y and heading of a spot in the ego frame."""
    x, y, along = around.course.poses(np.array([spot.arc_m]), spot.lateral_m)[0].tolist()
    return x, y, along + spot.heading


def ground_at(around: Surroundings, at: Xy) -> float:
    """Return the height of the local ground."""
    return float(around.keyframe.ground.height_at(np.array([at]))[0])


def upright(at: Xy, bottom: float, size: Size, yaw: float) -> Box:
    """Return an upright box over a plan point, its bottom at a height."""
    rotation = Transform(yaw_rotation(yaw), np.zeros(3)).quaternion()
    return Box(centre=(at[0], at[1], bottom + size[2] / 2), size=size, rotation=rotation)


def _ragged(x: float, y: float, yaw: float, size: Size) -> Array:
    """Return an uneven outline (16, 2) within a rounded rectangle of the given length and width, touching its sides."""
    turn = np.arange(SURFACE_CORNERS) * (2 * np.pi / SURFACE_CORNERS)
    rough = 0.5 + 0.5 * np.sin(5 * turn + 7.0 * size[0] + 13.0 * size[1])
    rounded = (np.cos(turn) ** 4 + np.sin(turn) ** 4) ** -0.25
    radius = rounded * np.where(np.arange(SURFACE_CORNERS) % 4 == 0, 1.0, 1.0 - RAGGED * rough)
    local = np.column_stack([np.cos(turn) * size[0], np.sin(turn) * size[1]]) / 2 * radius[:, None]
    turned = local @ yaw_rotation(yaw)[:2, :2].T
    return turned + np.array([x, y])
