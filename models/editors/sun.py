"""Where the sun stands: from the clock on real logs, else from the shadows that annotated boxes throw on the road.

A candidate direction is good when road that it would shade is darker than road beside it. Boxes, not pictures, say
where shadows would lie, so one direction serves all views of a keyframe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.projection import full_outline
from data_registry.records import Annotation, Box, Keyframe
from data_registry.silhouettes import fill

PLACES: Final = {
    "boston-seaport": (42.34, -71.05),
    "singapore-onenorth": (1.30, 103.79),
    "singapore-hollandvillage": (1.31, 103.79),
    "singapore-queenstown": (1.29, 103.80),
}
"""Latitude and longitude of nuScenes' maps, degrees; their x points east and their y north."""
DEFAULT_DIRECTION: Final = np.array([-0.45, 0.30, 0.84])
"""Where the key light comes from when nothing is known: high, behind the ego on its left (ego frame)."""
AZIMUTHS: Final = 36
ELEVATIONS: Final = (14.0, 20.0, 28.0, 38.0, 50.0, 64.0)
"""Candidates: directions around the compass, degrees above the horizon."""
REACH_M: Final = 30.0
ROUND_BOX_M: Final = 5.0
STEP_M: Final = 0.3
MOST_BOXES: Final = 14
LEAST_POINTS: Final = 60
LEAST_MATCH: Final = 0.42
"""Correlation of brightness and expected shadow from which a direction counts as seen."""
LEAST_CONTRAST: Final = 0.22
"""The same of the difference of log brightness between lit and shaded road."""
MARKING_LEVEL: Final = 0.25
"""Log brightness above the middle at which road is cut: paint is bright in sun and shade."""


@dataclass(frozen=True, slots=True, eq=False)
class Sun:
    """A direction towards the sun (ego frame, unit), where it is known from, and how much darker its shadows are.

    `contrast` is the natural logarithm of lit over shaded road; None when no shadow was found.
    """

    direction: Array
    known_from: str
    contrast: float | None


def find_sun(keyframe: Keyframe, level: Array, camera: PinholeCamera) -> Sun:
    """Return the sun of a keyframe.

    Args:
        keyframe: its clock, map and boxes.
        level: (H, W) linear brightness of one of its pictures, the same for every view that asks.
        camera: the camera of that picture.
    """
    clock = _by_clock(keyframe)
    covered = fill(camera, [full_outline(note.box.corners(), camera) for note in keyframe.annotations])
    seen = np.where(covered, np.nan, level)
    found = [_around(note, keyframe.ground, seen, camera) for note in _near(keyframe)]
    samples = [sample for sample in found if sample is not None]
    if clock is not None:
        return Sun(clock, "clock", _contrast(samples, clock))
    best = _best(samples)
    if best is None:
        return Sun(DEFAULT_DIRECTION / float(np.linalg.norm(DEFAULT_DIRECTION)), "default", None)
    return Sun(best, "shadows", _contrast(samples, best))


def solar_direction(timestamp_us: int, place: tuple[float, float]) -> Array:
    """Return the unit vector (east, north, up) towards the sun, good to a quarter of a degree (NOAA, low precision).

    Args:
        timestamp_us: Unix time, microseconds.
        place: latitude and longitude, degrees.
    """
    days = timestamp_us / 86_400e6 + 2_440_587.5 - 2_451_545.0
    anomaly = np.deg2rad((357.529 + 0.98560028 * days) % 360)
    mean = 280.459 + 0.98564736 * days
    longitude = np.deg2rad((mean + 1.915 * np.sin(anomaly) + 0.020 * np.sin(2 * anomaly)) % 360)
    tilt = np.deg2rad(23.439)
    right_ascension = np.arctan2(np.cos(tilt) * np.sin(longitude), np.cos(longitude))
    declination = np.arcsin(np.sin(tilt) * np.sin(longitude))
    sidereal = np.deg2rad((280.46062 + 360.98564737 * days + place[1]) % 360)
    hour, latitude = sidereal - right_ascension, np.deg2rad(place[0])
    east = -np.cos(declination) * np.sin(hour)
    north = np.cos(latitude) * np.sin(declination) - np.sin(latitude) * np.cos(declination) * np.cos(hour)
    up = np.sin(latitude) * np.sin(declination) + np.cos(latitude) * np.cos(declination) * np.cos(hour)
    return np.array([east, north, up])


def _by_clock(keyframe: Keyframe) -> Array | None:
    """Return the sun's direction from place and time; None for synthetic logs, unknown places and a sun too low."""
    place = PLACES.get(keyframe.location)
    if keyframe.dataset != "nuscenes" or place is None:
        return None
    direction = keyframe.ego_to_global.transform().rotation.T @ solar_direction(keyframe.timestamp_us, place)
    return direction if direction[2] > 0.1 else None


def _near(keyframe: Keyframe) -> list[Annotation]:
    """Return standing boxes ahead and around, nearest first, bounded."""
    still = [note for note in keyframe.annotations if note.box.size[2] > 0.6 and _distance(note.box) < REACH_M]
    return sorted(still, key=lambda note: (round(_distance(note.box), 3), note.token))[:MOST_BOXES]


def _distance(box: Box) -> float:
    return float(np.hypot(box.centre[0], box.centre[1]))


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Road around one box: points (N, 2) in the box's frame from its centre, log brightness (N,), sizes, turn."""

    points: Array
    brightness: Array
    size: tuple[float, float, float]
    yaw: float


def _around(note: Annotation, ground: GroundPlane, level: Array, camera: PinholeCamera) -> _Sample | None:
    """Return the road around a box as a picture shows it, NaN where it does not; None when too little is seen."""
    length, width, _ = note.box.size
    along = np.arange(-length / 2 - ROUND_BOX_M, length / 2 + ROUND_BOX_M, STEP_M)
    across = np.arange(-width / 2 - ROUND_BOX_M, width / 2 + ROUND_BOX_M, STEP_M)
    grid = np.stack(np.meshgrid(along, across), axis=-1).reshape(-1, 2)
    grid = grid[(np.abs(grid[:, 0]) > length / 2 + 0.1) | (np.abs(grid[:, 1]) > width / 2 + 0.1)]
    yaw = note.box.pose().yaw
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    pixels, _ = camera.project(ground.lift(grid @ turn.T + np.array(note.box.centre[:2])))
    seen = camera.contains(pixels)
    columns, rows = np.rint(pixels[seen]).astype(np.int64).T
    bare = np.isfinite(level[rows, columns])
    if int(bare.sum()) < LEAST_POINTS:
        return None
    brightness = np.log(np.maximum(level[rows[bare], columns[bare]], 1e-4))
    brightness = np.minimum(brightness - np.median(brightness), MARKING_LEVEL)
    return _Sample(grid[seen][bare], np.maximum(brightness, -1.2), note.box.size, yaw)


def _shaded(sample: _Sample, direction: Array) -> Array:
    """Tell which points of a sample lie in its box's shadow: the ray towards the sun meets the box."""
    cosine, sine = np.cos(sample.yaw), np.sin(sample.yaw)
    way = np.array([cosine * direction[0] + sine * direction[1], -sine * direction[0] + cosine * direction[1]])
    enter, leave = np.zeros(len(sample.points)), np.full(len(sample.points), sample.size[2] / max(direction[2], 1e-3))
    for axis in (0, 1):
        step = way[axis] if abs(way[axis]) > 1e-9 else 1e-9
        one, two = ((side * sample.size[axis] / 2 - sample.points[:, axis]) / step for side in (-1, 1))
        enter, leave = np.maximum(enter, np.minimum(one, two)), np.minimum(leave, np.maximum(one, two))
    return enter < leave


def _contrast(samples: Sequence[_Sample], direction: Array) -> float | None:
    """Return by how much log brightness falls in the shadows that a direction gives; None when none is seen."""
    if not samples:
        return None
    brightness = np.concatenate([sample.brightness for sample in samples])
    shaded = np.concatenate([_shaded(sample, direction) for sample in samples])
    if min(int(shaded.sum()), int((~shaded).sum())) < LEAST_POINTS // 3:
        return None
    return float(np.median(brightness[~shaded]) - np.median(brightness[shaded]))


def _best(samples: Sequence[_Sample]) -> Array | None:
    """Return the candidate whose shadows match the picture best; None when none matches well."""
    if not samples:
        return None
    brightness = np.concatenate([sample.brightness for sample in samples])
    found: tuple[float, Array] | None = None
    for direction in _candidates():
        shaded = np.concatenate([_shaded(sample, direction) for sample in samples])
        match = _match(shaded, brightness)
        if match >= LEAST_MATCH and (found is None or match > found[0]):
            found = match, direction
    if found is None or (_contrast(samples, found[1]) or 0.0) < LEAST_CONTRAST:
        return None
    return found[1]


def _match(shaded: Array, brightness: Array) -> float:
    """Return minus the correlation of brightness with being shaded, 0 when all or nothing is shaded."""
    share = float(shaded.mean())
    if not 0.02 < share < 0.98 or float(brightness.std()) < 1e-6:
        return 0.0
    step = float(brightness[~shaded].mean() - brightness[shaded].mean())
    return step * float(np.sqrt(share * (1 - share))) / float(brightness.std())


def _candidates() -> list[Array]:
    turns = np.arange(AZIMUTHS) * (2 * np.pi / AZIMUTHS)
    return [
        np.array([np.cos(turn) * np.cos(up), np.sin(turn) * np.cos(up), np.sin(up)])
        for up in np.deg2rad(ELEVATIONS)
        for turn in turns
    ]
