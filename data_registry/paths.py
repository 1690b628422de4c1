"""Where the ego body goes: paths, their headings, and the ground that the body sweeps (DESIGN section 5).

A path is an array (N, 4) with the columns T, X, Y, HEADING: seconds, then the rear axle's pose in the ego frame at time
0, metres and radians. Screening uses it for the nominal paths, scoring for predicted ones: one arithmetic for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import shapely

from data_registry.courses import Course
from data_registry.geometry import Array, ego_footprints
from data_registry.path_steps import (
    STEP_S,
    central_moves,
    cut_at,
    follow_directions,
    of_one_kind,
    stepped,
    wrapped,
)
from data_registry.records import Motion, PathPoint
from data_registry.swept_distance import CONTACT_M

T: Final = 0
X: Final = 1
Y: Final = 2
HEADING: Final = 3

HORIZON_S: Final = 3.0


class PathError(ValueError):
    """A path has the wrong shape, holds NaN, or its times do not increase."""


def path_of(times: Array, positions: Array, headings: Array | None = None, start_heading: float = 0.0) -> Array:
    """Make a path (N, 4) of times (N,), positions (N, 2) and headings (N,); without headings they are derived.

    Raises:
        PathError: shapes do not fit, a value is not finite, or times do not increase strictly.
    """
    count = len(times)
    if times.shape != (count,) or positions.shape != (count, 2) or not count:
        raise PathError(f"a path needs times (N,) and positions (N, 2), got {times.shape} and {positions.shape}")
    turned = derive_headings(times, positions, start_heading) if headings is None else headings
    path = np.column_stack([times, positions, turned])
    if not np.isfinite(path).all():
        raise PathError(f"a path holds a value that is not finite, in row {int(np.argwhere(~np.isfinite(path))[0][0])}")
    if not (np.diff(times) > 0).all():
        raise PathError("the times of a path must increase strictly")
    return path


def derive_headings(times: Array, positions: Array, start_heading: float = 0.0) -> Array:
    """Return headings (N,) for times (N,) and positions (N, 2), radians in (-pi, pi].

    The first is given; inside ones come from the central difference, the last from the backward difference, both as
    velocities. Slower than 0.3 m/s the last heading is held; one more than 90 degrees off the last is reversing.
    """
    path = np.zeros((len(times), 4))
    path[:, T], path[:, X : Y + 1] = times, positions
    return headings_of(path, start_heading)


def headings_of(path: Array, start_heading: float = 0.0) -> Array:
    """Return headings (N,) derived for a path (N, 4), whose own headings are not read; see `derive_headings`."""
    moves = central_moves(path)
    # numpy's own arctan2, which may differ from a compiled loop's in the last bit: screening has always had this one
    return follow_directions(path, moves, np.arctan2(moves[:, 1], moves[:, 0]), float(start_heading))


def wrap(angle: float) -> float:
    """Return the same angle in (-pi, pi]."""
    return float(wrapped(float(angle)))


def cut(path: Array, horizon_s: float = HORIZON_S) -> Array:
    """Return the path up to a time, its last pose interpolated; one that ends earlier is returned whole."""
    return cut_at(of_one_kind(path), horizon_s)


def recorded(motion: Motion) -> Array | None:
    """Return the recorded path from time 0 to the horizon, as far as the log has it; None when it ends at time 0."""
    points: Sequence[PathPoint] = [point for point in motion.future if point.t > 1e-6]
    if not points:
        return None
    rows = [(0.0, 0.0, 0.0, 0.0)] + [(point.t, point.x, point.y, point.heading) for point in points]
    whole = np.array(rows)
    return cut(path_of(whole[:, T], whole[:, X : Y + 1], whole[:, HEADING]))


def lane_keep(speed: float, course: Course, horizon_s: float = HORIZON_S) -> Array:
    """Return the path along a course at constant speed (m/s), keeping the lateral offset that the ego has."""
    times = np.linspace(0.0, horizon_s, round(horizon_s / STEP_S) + 1)
    positions = course.poses(speed * times, course.ego_lateral)[:, :2]
    positions = positions - positions[0]
    return path_of(times, positions)


def straight(speed: float, horizon_s: float = HORIZON_S) -> Array:
    """Return the path straight ahead at constant speed, m/s."""
    return np.array([(0.0, 0.0, 0.0, 0.0), (horizon_s, speed * horizon_s, 0.0, 0.0)])


def densify(path: Array) -> Array:
    """Return the path with poses added so that no step is beyond 0.1 s, 5 degrees or 1 m; heading by the short arc."""
    return stepped(of_one_kind(path))


def tube(path: Array) -> Any:
    """Return the plan area that the ego body sweeps: union of convex hulls of consecutive footprints, metres."""
    parts = hulls(path)
    return parts[0] if len(parts) == 1 else shapely.union_all(parts)


def hulls(path: Array) -> Any:
    """Return the convex hulls (N,) whose union the ego body sweeps: for what holds of each, joining them is wasted."""
    bodies = ego_footprints(densify(path)[:, X:])
    if len(bodies) == 1:
        return shapely.polygons(bodies)
    return shapely.convex_hull(shapely.linestrings(np.concatenate([bodies[:-1], bodies[1:]], axis=1)))


def clearance(swept: Any, region: Any) -> float:
    """Return the distance from a tube to a region, metres; up to 1e-6 m it is contact and reads 0."""
    gap = float(shapely.distance(swept, region))
    return 0.0 if gap <= CONTACT_M else gap
