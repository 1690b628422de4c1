"""Compiled loops over paths (N, 4) of (time, x, y, heading): headings held, the cut, and the steps between points.

One arithmetic for all: `data_registry.paths` writes the steps out, `data_registry.swept_distance` only visits those
that matter. Seconds, metres, radians. Loops take whole arrays and row numbers: views of rows cost more than they hold.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.compiled import compiled
from data_registry.geometry import Array

SLOWEST_MPS: Final = 0.3
"""Below this speed a velocity says nothing about the heading: the last one is held."""
STEP_S: Final = 0.1
STEP_RAD: Final = float(np.deg2rad(5.0))
STEP_M: Final = 1.0
"""Largest time, turn and way between two footprints of a tube."""
NEAR_S: Final = 1e-6
"""A path that ends this much before the horizon reaches it (DESIGN section 5)."""


def of_one_kind(numbers: Array) -> Array:
    """Return an array that is contiguous, writable and of doubles: loops are compiled anew for each other kind."""
    flags = numbers.flags
    if flags.c_contiguous and flags.writeable and numbers.dtype == np.float64:
        return numbers  # what `np.require` finds as well, in a tenth of the time
    return np.require(numbers, np.float64, ("C", "W"))


@compiled
def wrapped(angle: float) -> float:
    """Return the same angle in (-pi, pi]."""
    return np.pi - (np.pi - angle) % (2 * np.pi)


@compiled
def central_moves(path: Array) -> Array:
    """Return for each point but the first the way (N, 2) from the point before to the point after; last: to itself."""
    found = np.zeros((len(path), 2))
    for index in range(1, len(path)):
        after = min(index + 1, len(path) - 1)
        found[index, 0] = path[after, 1] - path[index - 1, 1]
        found[index, 1] = path[after, 2] - path[index - 1, 2]
    return found


@compiled
def follow_directions(path: Array, moves: Array, directions: Array, start_heading: float) -> Array:
    """Return headings (N,) for central moves (N, 2) in directions (N,): held when slow, turned when reversing."""
    found = np.empty(len(path))
    found[0] = start_heading
    for index in range(1, len(path)):
        found[index] = found[index - 1]
        span = path[min(index + 1, len(path) - 1), 0] - path[index - 1, 0]
        if span > 0.0 and np.hypot(moves[index, 0], moves[index, 1]) / span >= SLOWEST_MPS:
            reversing = abs(wrapped(directions[index] - found[index - 1])) > np.pi / 2
            found[index] = wrapped(directions[index] + np.pi) if reversing else directions[index]
    return found


@compiled
def steps_after(path: Array, index: int) -> int:
    """Return in how many equal steps the way from a point to the next is walked."""
    turn = abs(wrapped(path[index + 1, 3] - path[index, 3]))
    way = np.hypot(path[index + 1, 1] - path[index, 1], path[index + 1, 2] - path[index, 2])
    largest = max((path[index + 1, 0] - path[index, 0]) / STEP_S, turn / STEP_RAD, way / STEP_M)
    return max(1, int(np.ceil(largest - 1e-9)))


@compiled
def go_after(path: Array, index: int, share: float, found: Array, row: int) -> None:
    """Write the point at a share of the way to the next point into a row; heading by the short arc, 1: the next."""
    if share == 1.0:
        for column in range(4):
            found[row, column] = path[index + 1, column]
        return
    turn = wrapped(path[index + 1, 3] - path[index, 3])
    for column in range(3):
        found[row, column] = path[index, column] + share * (path[index + 1, column] - path[index, column])
    found[row, 3] = wrapped(path[index, 3] + share * turn)


@compiled
def stepped(path: Array) -> Array:
    """Return all steps (M, 4) of a path (N, 4), the first point among them."""
    total = 1
    for index in range(len(path) - 1):
        total += steps_after(path, index)
    found = np.empty((total, 4))
    found[0] = path[0]
    row = 1
    for index in range(len(path) - 1):
        steps = steps_after(path, index)
        for step in range(1, steps + 1):
            go_after(path, index, step / steps, found, row)
            row += 1
    return found


@compiled
def _first_not_before(path: Array, seconds: float) -> int:
    """Return the row of the first point at a time or later, the number of rows when there is none."""
    low, high = 0, len(path)
    while low < high:
        middle = (low + high) // 2
        if path[middle, 0] < seconds:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def cut_at(path: Array, horizon_s: float) -> Array:
    """Return the path up to a time, its last point interpolated; one that ends earlier is returned whole.

    A point that lies `NEAR_S` before that time at most is the last: another one so soon after it would have a velocity
    made of rounding errors.
    """
    if path[len(path) - 1, 0] < horizon_s - NEAR_S:
        return path
    after = _first_not_before(path, horizon_s - NEAR_S)
    found = path[: after + 1].copy()
    if path[after, 0] > horizon_s and after > 0:
        share = (horizon_s - path[after - 1, 0]) / (path[after, 0] - path[after - 1, 0])
        go_after(path, after - 1, share, found, after)
    return found


@compiled
def mean_offsets(one: Array, other: Array, times: Array) -> tuple[float, float, float]:
    """Return the mean distance of two paths over some times (K,), and of its parts along x and y, metres.

    Before its first and after its last point a path stands still.
    """
    places = np.zeros((2, 2))
    whole, along, across = 0.0, 0.0, 0.0
    for seconds in times:
        for row in range(2):
            path = one if row == 0 else other
            after = min(_first_not_before(path, seconds), len(path) - 1)
            before = max(after - 1, 0)
            span = path[after, 0] - path[before, 0]
            share = min(1.0, max(0.0, (seconds - path[before, 0]) / span)) if span > 0.0 else 0.0
            for axis in range(2):
                start = path[before, axis + 1]
                places[row, axis] = start + share * (path[after, axis + 1] - start)
        x, y = abs(places[0, 0] - places[1, 0]), abs(places[0, 1] - places[1, 1])
        whole, along, across = whole + np.hypot(x, y), along + x, across + y
    return whole / len(times), along / len(times), across / len(times)


@compiled
def are_within(numbers: Array, largest: float) -> bool:
    """Tell whether all numbers (N,) are finite and none is beyond a limit."""
    for number in numbers:  # noqa: SIM110 - numba compiles no generators
        if not abs(number) <= largest:  # NaN is not
            return False
    return True


@compiled
def increase(times: Array) -> bool:
    """Tell whether times (N,) increase strictly."""
    for index in range(1, len(times)):  # noqa: SIM110
        if not times[index] > times[index - 1]:
            return False
    return True
