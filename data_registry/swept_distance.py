"""How far the ground that a body sweeps along a path is from a region: the kernel of scoring, compiled.

DESIGN section 5 defines the ground as the union of the hulls of footprints at consecutive steps. Its distance is the
smallest of the hulls' distances, so nothing is united; and runs of steps that cannot come nearer than the best so far
are left out together. A run's ground lies within the hull of its first and last footprint, grown by what the turn bends
a corner's way, and all but fills it when the turn is small. So a way of a million kilometres costs a few hundred runs
at most, one of two metres a few.

Exact to 1e-9 m where path and region lie within 1e5 m of each other; further apart to the rounding of their
coordinates, 1e-15 of the largest.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.compiled import compiled
from data_registry.geometry import ZOE, Array, Body
from data_registry.path_steps import go_after, of_one_kind, steps_after, wrapped
from data_registry.quad_distance import hull_gap, to_side

CONTACT_M: Final = 1e-6
"""A distance up to this counts as contact."""
_NEAR_ENOUGH_M: Final = 1e-10
"""Runs that could come nearer by no more than this are left out, and turns that move no corner by more count as none:
else rounding alone would call for each of a million equal steps."""
_DEEPEST: Final = 64
"""Runs that wait at most: halving a run of 2**63 steps needs no more."""


def swept_distance(path: Array, quad: Array, body: Body = ZOE) -> float:
    """Return the distance from the ground that a body sweeps along a path (N, 4) to a quad (4, 2), metres.

    The path's columns are T, X, Y, HEADING of the rear axle, in the frame of the quad; the quad is simple, of either
    orientation. Up to 1e-6 m it is contact and reads 0.
    """
    return _measured(path, quad, body)[0]


def runs_measured(path: Array, quad: Array, body: Body = ZOE) -> int:
    """Return on how many runs of steps `swept_distance` measures: what it costs, whatever the machine."""
    return _measured(path, quad, body)[1]


def _measured(path: Array, quad: Array, body: Body) -> tuple[float, int]:
    front, rear = body.axle_to_centre_m + body.length_m / 2, body.axle_to_centre_m - body.length_m / 2
    walked = path if len(path) > 1 else np.vstack([path, path])  # a single pose is a way without length
    sides = np.array([front, rear, body.width_m / 2])
    return _swept(of_one_kind(walked), np.array(quad, np.float64), sides)


@compiled
def _swept(path: Array, quad: Array, sides: Array) -> tuple[float, int]:
    """Return the smallest distance over all ways between points, and on how many runs it was measured.

    The way that may come nearest goes first.
    """
    region = np.zeros((6, 2))  # its centre; its reach and the body's; its corners, seen from the centre
    for corner in range(4):
        region[0, 0] += quad[corner, 0] / 4
        region[0, 1] += quad[corner, 1] / 4
    for corner in range(4):
        x, y = quad[corner, 0] - region[0, 0], quad[corner, 1] - region[0, 1]
        region[2 + corner, 0], region[2 + corner, 1] = x, y
        region[1, 0] = max(region[1, 0], np.hypot(x, y))
    region[1, 1] = np.hypot(max(abs(sides[0]), abs(sides[1])), sides[2])
    nearest, least = 0, np.inf
    for index in range(len(path) - 1):
        bound = _at_least(path, index, region)
        if bound < least:
            nearest, least = index, bound
    best, runs = _visited(path, nearest, region, sides, np.inf)
    for index in range(len(path) - 1):
        if best > CONTACT_M and index != nearest and _at_least(path, index, region) < best:
            best, more = _visited(path, index, region, sides, best)
            runs += more
    return (0.0 if best <= CONTACT_M else best), runs


@compiled
def _at_least(path: Array, index: int, region: Array) -> float:
    """Return a lower bound of the distance on the way after a point, by the circles around region and body."""
    far, near = _size(path, index), _size(path, index + 1)
    squared = to_side(region[0, 0], region[0, 1], path[:, 1:3], index, index + 1)
    return np.sqrt(squared) - region[1, 0] - region[1, 1] - _slack(far, near)


@compiled
def _size(path: Array, index: int) -> float:
    return abs(path[index, 1]) + abs(path[index, 2])


@compiled
def _visited(path: Array, index: int, region: Array, sides: Array, best: float) -> tuple[float, int]:
    """Return the smaller of `best` and the smallest distance on the way after a point, and how many runs it took.

    Runs of steps are halved, and the half that may come nearer goes first: that leaves most of the other out.
    """
    steps = steps_after(path, index)
    runs, bounds = np.empty((_DEEPEST, 2), np.int64), np.empty(_DEEPEST)
    scratch = np.empty((26, 4))
    runs[0, 0], runs[0, 1] = 0, steps
    bounds[0], measured = _run_at_least(path, index, (0, steps, steps), (region, sides, scratch), best)
    if measured:
        return min(best, bounds[0]), 1
    waiting, count = 1, 1
    while waiting and best > CONTACT_M:
        waiting -= 1
        low, high = runs[waiting, 0], runs[waiting, 1]
        if bounds[waiting] >= best - _NEAR_ENOUGH_M:
            continue
        middle = (low + high) // 2
        for half in range(2):
            start, end = (middle, high) if half else (low, middle)
            bound, measured = _run_at_least(path, index, (start, end, steps), (region, sides, scratch), best)
            count += 1
            if measured:
                best = min(best, bound)
            elif bound < best - _NEAR_ENOUGH_M:
                runs[waiting, 0], runs[waiting, 1], bounds[waiting] = start, end, bound
                waiting += 1
        if waiting > 1 and runs[waiting - 2, 1] == middle and bounds[waiting - 2] < bounds[waiting - 1]:
            bounds[waiting - 2], bounds[waiting - 1] = bounds[waiting - 1], bounds[waiting - 2]
            runs[waiting - 2, 0], runs[waiting - 2, 1] = middle, high
            runs[waiting - 1, 0], runs[waiting - 1, 1] = low, middle
    return best, count


@compiled
def _run_at_least(
    path: Array, index: int, run: tuple[int, int, int], places: tuple[Array, Array, Array], best: float
) -> tuple[float, bool]:
    """Return a lower bound of the distance on a run of steps (first, last, of how many), infinite when beyond `best`.

    The second tells whether it is the distance itself: on a single step, or when the run all but does not turn.
    """
    (low, high, steps), (region, sides, scratch) = run, places
    poses, corners, hull = scratch[:2], scratch[2:10, :2], scratch[10:, :2]
    for row in range(2):
        go_after(path, index, (high if row else low) / steps, poses, row)
        poses[row, 1] -= region[0, 0]
        poses[row, 2] -= region[0, 1]
    slack = _slack(np.hypot(poses[0, 1], poses[0, 2]), np.hypot(poses[1, 1], poses[1, 2]))
    if _circles_at_least(poses, region) - slack >= best:
        return np.inf, True
    turned = abs(wrapped(path[index + 1, 3] - path[index, 3])) * ((high - low) / steps)
    _put_corners(poses, sides, corners)
    gap = hull_gap(corners, hull, region[2:])
    # no place in the hull is further than reach * turned / 2 from the ground: there the hull spans two headings
    if high - low == 1 or region[1, 1] * turned / 2 <= _NEAR_ENOUGH_M:
        return gap, True
    # an arc lies within reach * turned**2 / 8 of its chord
    return gap - region[1, 1] * turned**2 / 8, False


@compiled
def _circles_at_least(poses: Array, region: Array) -> float:
    """Return a lower bound of the distance between two poses, by a circle around all that lies between them."""
    x, y = (poses[0, 1] + poses[1, 1]) / 2, (poses[0, 2] + poses[1, 2]) / 2
    way = np.hypot(poses[1, 1] - poses[0, 1], poses[1, 2] - poses[0, 2])
    return np.hypot(x, y) - way / 2 - region[1, 0] - region[1, 1]


@compiled
def _slack(far: float, near: float) -> float:
    """Return what rounding may take from a bound, so that no run is left out because of it."""
    return 1e-12 + 1e-15 * (far + near)


@compiled
def _put_corners(poses: Array, sides: Array, corners: Array) -> None:
    """Write the four corners of the body at each of two poses (2, 4) into `corners` (8, 2)."""
    for row in range(2):
        cosine, sine = np.cos(poses[row, 3]), np.sin(poses[row, 3])
        for index in range(4):
            x = sides[0] if index in (0, 3) else sides[1]
            y = sides[2] if index < 2 else -sides[2]
            corners[4 * row + index, 0] = cosine * x - sine * y + poses[row, 1]
            corners[4 * row + index, 1] = sine * x + cosine * y + poses[row, 2]
