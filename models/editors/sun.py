"""Where the sun stands: from the clock on real logs, else from the shadows that annotated boxes throw on the road.

A candidate direction is good when road that it would shade is darker than road beside it. Boxes, not pictures, say
where shadows would lie, so one direction serves all views of a keyframe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import shapely

from data_registry.courses import union_of
from data_registry.geometry import Array, PinholeCamera, yaw_rotation
from data_registry.projection import full_outline
from data_registry.records import Annotation, Box, Keyframe
from data_registry.silhouettes import fill

Bools = npt.NDArray[np.bool_]

PLACES: Final = {
    "boston-seaport": (42.34, -71.05),
    "singapore-onenorth": (1.30, 103.79),
    "singapore-hollandvillage": (1.31, 103.79),
    "singapore-queenstown": (1.29, 103.80),
}
"""Latitude and longitude of nuScenes' maps, degrees; their x points east and their y north."""
DEFAULT_DIRECTION: Final = np.array([-0.45, 0.30, 0.84])
"""Where the key light comes from when nothing is known: high, behind the ego on its left (ego frame)."""
COARSE: Final = (12, (16.0, 28.0, 45.0, 64.0))
FINE_DEG: Final = ((-20.0, -10.0, 0.0, 10.0, 20.0), (-8.0, -4.0, 0.0, 4.0, 8.0))
"""Candidates: around the compass at some elevations (degrees), then closer around the best of these."""
REACH_M: Final = 30.0
ROUND_BOX_M: Final = 5.0
STEP_M: Final = 0.4
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


def find_sun(keyframe: Keyframe, views: Sequence[tuple[Array, PinholeCamera]]) -> Sun:
    """Return the sun of a keyframe.

    Args:
        keyframe: its clock, map and boxes.
        views: linear brightness (H, W) of its pictures with their cameras, in an order of their own.
    """
    clock = _by_clock(keyframe)
    bodies = [_Body.of(note.box) for note in _near(keyframe)]
    road = _road(keyframe, bodies, views)
    if clock is not None:
        return Sun(clock, "clock", None if road is None else _contrast(road, bodies, clock))
    best = None if road is None else _best(road, bodies)
    if road is None or best is None:
        return Sun(DEFAULT_DIRECTION / float(np.linalg.norm(DEFAULT_DIRECTION)), "default", None)
    return Sun(best, "shadows", _contrast(road, bodies, best))


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
class _Body:
    """A box in plan: middle (2,), turn (2, 2) into its own axes, length, width, height."""

    middle: Array
    turn: Array
    size: tuple[float, float, float]

    @classmethod
    def of(cls, box: Box) -> _Body:
        """Take a box's plan."""
        return cls(np.array(box.centre[:2]), yaw_rotation(-box.pose().yaw)[:2, :2], box.size)


@dataclass(frozen=True, slots=True, eq=False)
class _Road:
    """Road around boxes: plan points (N, 2), ego frame, log brightness (N,) relative to the road around each box."""

    points: Array
    brightness: Array


def _road(keyframe: Keyframe, bodies: Sequence[_Body], views: Sequence[tuple[Array, PinholeCamera]]) -> _Road | None:
    """Return the road around boxes as pictures show it; None when too little is seen."""
    taken: Any = shapely.union_all([shapely.Polygon(note.box.footprint()) for note in keyframe.annotations])
    drivable = union_of(keyframe.map.drivable)
    shapely.prepare(taken)
    shapely.prepare(drivable)
    bare: list[Array] = []
    for body in bodies:
        plan = _around(body)
        plan = plan[~shapely.contains_xy(taken, plan[:, 0], plan[:, 1])]
        if keyframe.map.drivable:
            plan = plan[shapely.contains_xy(drivable, plan[:, 0], plan[:, 1])]
        bare.append(plan)
    found = [piece for level, camera in views for piece in _seen(keyframe, (level, camera), bare)]
    if not found:
        return None
    return _Road(np.concatenate([points for points, _ in found]), np.concatenate([bright for _, bright in found]))


def _seen(
    keyframe: Keyframe, view: tuple[Array, PinholeCamera], plans: Sequence[Array]
) -> Iterator[tuple[Array, Array]]:
    """Yield the plan points and relative log brightness of road that a view shows around each box."""
    level, camera = view
    covered = fill(camera, [full_outline(note.box.corners(), camera) for note in keyframe.annotations])
    for plan in plans:
        pixels, _ = camera.project(keyframe.ground.lift(plan))
        inside = camera.contains(pixels)
        columns, rows = np.rint(pixels[inside]).astype(np.int64).T
        bare = ~covered[rows, columns]
        if int(bare.sum()) >= LEAST_POINTS:
            logs = np.log(np.maximum(level[rows[bare], columns[bare]], 1e-4))
            yield plan[inside][bare], np.clip(logs - np.median(logs), -1.2, MARKING_LEVEL)


def _around(body: _Body) -> Array:
    """Return plan points (N, 2) on a grid around a box's footprint."""
    length, width, _ = body.size
    along = np.arange(-length / 2 - ROUND_BOX_M, length / 2 + ROUND_BOX_M, STEP_M)
    across = np.arange(-width / 2 - ROUND_BOX_M, width / 2 + ROUND_BOX_M, STEP_M)
    grid = np.stack(np.meshgrid(along, across), axis=-1).reshape(-1, 2)
    return grid @ body.turn + body.middle


def _shaded(points: Array, bodies: Sequence[_Body], direction: Array) -> Bools:
    """Tell which road points (N, 2) lie in the shadow of a body: the ray towards the sun meets it."""
    shaded = np.zeros(len(points), dtype=np.bool_)
    for body in bodies:
        local, way = (points - body.middle) @ body.turn.T, body.turn @ direction[:2]
        enter, leave = np.zeros(len(points)), np.full(len(points), body.size[2] / max(float(direction[2]), 1e-3))
        for axis in (0, 1):
            step = float(way[axis]) if abs(float(way[axis])) > 1e-9 else 1e-9
            one, two = ((side * body.size[axis] / 2 - local[:, axis]) / step for side in (-1, 1))
            enter, leave = np.maximum(enter, np.minimum(one, two)), np.minimum(leave, np.maximum(one, two))
        shaded |= enter < leave
    return shaded


def _contrast(road: _Road, bodies: Sequence[_Body], direction: Array) -> float | None:
    """Return by how much log brightness falls in the shadows that a direction gives; None when few are seen."""
    shaded = _shaded(road.points, bodies, direction)
    if min(int(shaded.sum()), int((~shaded).sum())) < LEAST_POINTS // 2:
        return None
    return float(np.median(road.brightness[~shaded]) - np.median(road.brightness[shaded]))


def _best(road: _Road, bodies: Sequence[_Body]) -> Array | None:
    """Return the direction whose shadows match the picture best; None when none matches well."""

    def match(angles: tuple[float, float]) -> float:
        return _match(_shaded(road.points, bodies, _direction(*angles)), road.brightness)

    turns, climbs = COARSE
    coarse = [(360.0 / turns * turn, climb) for climb in climbs for turn in range(turns)]
    turn, climb = max(coarse, key=match)
    fine = [(turn + more, min(80.0, max(8.0, climb + up))) for more in FINE_DEG[0] for up in FINE_DEG[1]]
    best = max(fine, key=match)
    contrast = _contrast(road, bodies, _direction(*best))
    if match(best) < LEAST_MATCH or contrast is None or contrast < LEAST_CONTRAST:
        return None
    return _direction(*best)


def _match(shaded: Bools, brightness: Array) -> float:
    """Return minus the correlation of brightness with being shaded, 0 when nearly all or nothing is shaded."""
    share, spread = float(shaded.mean()), float(brightness.std())
    if not 0.02 < share < 0.98 or spread < 1e-6:
        return 0.0
    step = float(brightness[~shaded].mean() - brightness[shaded].mean())
    return step * float(np.sqrt(share * (1 - share))) / spread


def _direction(turn_deg: float, climb_deg: float) -> Array:
    turn, climb = np.deg2rad(turn_deg), np.deg2rad(climb_deg)
    return np.array([np.cos(turn) * np.cos(climb), np.sin(turn) * np.cos(climb), np.sin(climb)])
