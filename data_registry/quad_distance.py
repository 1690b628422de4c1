"""Compiled loops: the distance of the convex hull of a few points to a simple quad, plan, metres.

Exact as GEOS is: crossing boundaries or one shape inside the other give 0, else the nearest corner and side decide.
A wrong sign in a cross product can only occur where a corner all but touches a side, and there that distance is 0 too.
"""

from __future__ import annotations

import numpy as np

from data_registry.compiled import compiled
from data_registry.geometry import Array


@compiled
def _left(a: Array, first: int, second: int, x: float, y: float) -> float:
    """Return twice the signed area of two rows of `a` and a point: positive when it lies left of their way."""
    return (a[second, 0] - a[first, 0]) * (y - a[first, 1]) - (a[second, 1] - a[first, 1]) * (x - a[first, 0])


@compiled
def _sort(points: Array) -> None:
    """Sort points (N, 2) in place by x, then y; for a handful."""
    for index in range(1, len(points)):
        x, y = points[index, 0], points[index, 1]
        place = index
        while place and (points[place - 1, 0] > x or (points[place - 1, 0] == x and points[place - 1, 1] > y)):
            points[place, 0], points[place, 1] = points[place - 1, 0], points[place - 1, 1]
            place -= 1
        points[place, 0], points[place, 1] = x, y


@compiled
def convex_hull(points: Array, hull: Array) -> int:
    """Sort points (N, 2) in place, write their hull counter-clockwise into `hull` (2N, 2), return its corners' number.

    Monotone chain (Andrew 1979): along the lower side, then back along the upper one.
    """
    _sort(points)
    size, floor = 0, 2
    for turn in range(2 * len(points) - 1):
        if turn == len(points):
            floor = size + 1
        index = turn if turn < len(points) else 2 * len(points) - 2 - turn
        x, y = points[index, 0], points[index, 1]
        while size >= floor and _left(hull, size - 2, size - 1, x, y) <= 0:
            size -= 1
        hull[size, 0], hull[size, 1] = x, y
        size += 1
    return size - 1


@compiled
def to_side(x: float, y: float, a: Array, first: int, second: int) -> float:
    """Return the squared distance of a point to the side between two rows of `a`."""
    along_x, along_y = a[second, 0] - a[first, 0], a[second, 1] - a[first, 1]
    from_x, from_y = x - a[first, 0], y - a[first, 1]
    squared = along_x * along_x + along_y * along_y
    share = 0.0
    if squared > 0.0:
        share = min(1.0, max(0.0, (from_x * along_x + from_y * along_y) / squared))
    return (from_x - share * along_x) ** 2 + (from_y - share * along_y) ** 2


@compiled
def _cross(a: Array, first: int, second: int, b: Array, corner: int, following: int) -> bool:
    """Tell whether the sides between two rows of `a` and two of `b` cross properly."""
    of_b = _left(a, first, second, b[corner, 0], b[corner, 1]) > 0
    if of_b == (_left(a, first, second, b[following, 0], b[following, 1]) > 0):
        return False
    of_a = _left(b, corner, following, a[first, 0], a[first, 1]) > 0
    return of_a != (_left(b, corner, following, a[second, 0], a[second, 1]) > 0)


@compiled
def _inside(x: float, y: float, ring: Array, size: int) -> bool:
    """Tell whether a point lies in a ring of `size` rows of any orientation: a ray leaves it an odd number of times."""
    found = False
    for second in range(size):
        first = second - 1 if second else size - 1
        if (ring[first, 1] > y) != (ring[second, 1] > y):
            rising = ring[second, 1] > ring[first, 1]
            if (_left(ring, first, second, x, y) > 0) == rising:
                found = not found
    return found


@compiled
def _outside(hull: Array, first: int, second: int, quad: Array) -> bool:
    """Tell whether the whole quad lies right of a side of the hull: then they cannot meet."""
    for corner in range(4):  # noqa: SIM110 - numba compiles no generators
        if _left(hull, first, second, quad[corner, 0], quad[corner, 1]) >= 0:
            return False
    return True


@compiled
def _meet(hull: Array, size: int, quad: Array) -> bool:
    """Tell whether a hull and a quad overlap."""
    for first in range(size):
        if _outside(hull, first, first + 1 if first + 1 < size else 0, quad):
            return False
    for first in range(size):
        for corner in range(4):
            if _cross(hull, first, first + 1 if first + 1 < size else 0, quad, corner, corner + 1 if corner < 3 else 0):
                return True
    return _inside(hull[0, 0], hull[0, 1], quad, 4) or _inside(quad[0, 0], quad[0, 1], hull, size)


@compiled
def hull_gap(points: Array, hull: Array, quad: Array) -> float:
    """Return the distance from the hull of points (N, 2) to a quad (4, 2), 0 where they meet; scratch: (2N, 2)."""
    size = convex_hull(points, hull)
    if _meet(hull, size, quad):
        return 0.0
    squared = np.inf
    for first in range(size):
        second = first + 1 if first + 1 < size else 0
        for corner in range(4):
            following = corner + 1 if corner < 3 else 0
            squared = min(squared, to_side(hull[first, 0], hull[first, 1], quad, corner, following))
            squared = min(squared, to_side(quad[corner, 0], quad[corner, 1], hull, first, second))
    return np.sqrt(squared)
