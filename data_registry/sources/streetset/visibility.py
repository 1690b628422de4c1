"""How much of each actor the six cameras see together, and how many LiDAR points it would get.

Nothing is rendered for it: rays run from a camera to points spread over the actor's box, and other boxes block them.
The LiDAR has 32 beams and 0.33 degrees between firings, so the points follow from the angles that the box spans.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array, Transform
from data_registry.sources.streetset.layout import (
    ACTORS,
    CAMERAS,
    LIDAR_TRANSLATION,
    SAMPLES,
    Actor,
    camera_us,
    ego_in_street,
    sample_us,
    seconds,
    street_camera,
)

LEVELS: Final = ((0.8, "4"), (0.6, "3"), (0.4, "2"), (0.0, "1"))
BEAM_STEP_RAD: Final = np.radians(41.33 / 31)
FIRING_STEP_RAD: Final = np.radians(0.33)
BLOCKING_SHARE: Final = 0.92
"""A body fills about this much of its box along each axis."""

_GRID: Final = np.stack(np.meshgrid(*([np.array([-0.4, -0.13, 0.13, 0.4])] * 3), indexing="ij"), axis=-1).reshape(-1, 3)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One annotation's visibility token ("1" to "4") and its number of LiDAR points, at least 1."""

    level: str
    lidar_points: int


def sightings() -> list[list[Sighting]]:
    """Return the sighting of every actor in every sample: [sample][actor]."""
    return [[_sighting(number, index) for number in range(len(ACTORS))] for index in range(SAMPLES)]


def _sighting(number: int, index: int) -> Sighting:
    visible = np.zeros(len(_GRID), dtype=np.bool_)
    for channel in CAMERAS:
        visible |= _seen(number, channel, index)
    share = float(visible.mean())
    level = next(name for least, name in LEVELS if share >= least)
    return Sighting(level, _lidar_points(ACTORS[number], index, share))


def _seen(number: int, channel: str, index: int) -> npt.NDArray[np.bool_]:
    """Tell which points of an actor a camera sees past the other actors."""
    time = camera_us(channel, index)
    camera = street_camera(channel, time)
    points = _pose(ACTORS[number], time).apply(_centred(ACTORS[number]))
    inside = camera.contains(camera.project(points)[0])
    if inside.any():
        for other in (actor for place, actor in enumerate(ACTORS) if place != number):
            inside &= ~_blocked(other, time, camera.position, points)
    return inside


def _pose(actor: Actor, time: int) -> Transform:
    return actor.pose(seconds(time))


def _centred(actor: Actor) -> Array:
    return _GRID * actor.size + (0.0, 0.0, actor.size[2] / 2)


def _blocked(other: Actor, time: int, viewer: Array, points: Array) -> npt.NDArray[np.bool_]:
    """Tell which segments from the viewer to points (N, 3) pass through another actor's body (slab test)."""
    to_body = _pose(other, time).inverse()
    half = np.asarray(other.size) * (BLOCKING_SHARE / 2)
    lift = np.array([0.0, 0.0, other.size[2] / 2])
    start = to_body.apply(viewer[None])[0] - lift
    way = to_body.apply(points) - lift - start
    way = np.where(np.abs(way) < 1e-12, 1e-12, way)
    near, far = (-half - start) / way, (half - start) / way
    enter, leave = np.minimum(near, far).max(axis=1), np.maximum(near, far).min(axis=1)
    return (enter < leave) & (leave > 0) & (enter < 1)


def _lidar_points(actor: Actor, index: int, share: float) -> int:
    time = sample_us(index)
    origin = ego_in_street(time).apply(np.array([LIDAR_TRANSLATION]))[0]
    centre = _pose(actor, time).apply(np.array([[0.0, 0.0, actor.size[2] / 2]]))[0]
    line = centre - origin
    distance = float(np.linalg.norm(line))
    bearing = float(np.arctan2(line[1], line[0])) - actor.heading
    across = actor.size[0] * abs(np.sin(bearing)) + actor.size[1] * abs(np.cos(bearing))
    spans = (across / distance / FIRING_STEP_RAD) * (actor.size[2] / distance / BEAM_STEP_RAD)
    return max(1, round(0.7 * share * spans))
