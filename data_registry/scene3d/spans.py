"""Triangles to samples: near clipping, row spans and the z-buffer, in compiled loops.

Positions are absolute picture coordinates (the centre of pixel 0 is 0), so a window gives exactly the crop of the whole
picture. Each shared edge is intersected with a row by the same arithmetic on both sides and spans are half open, so
neighbouring faces neither overlap nor leave a crack. Buffers are single precision: an inverse depth at 100 m is then
good to 10 micrometres, and faces in one plane tie instead of flickering by the last bit of a double.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from data_registry.compiled import compiled
from data_registry.geometry import NEAREST_DEPTH_M, Array

Ints = npt.NDArray[np.int64]
Single = npt.NDArray[np.float32]


class Grid(NamedTuple):
    """The samples of a window: `left` and `top` count samples from the picture's corner."""

    left: int
    top: int
    columns: int
    rows: int
    samples: int


class Pieces(NamedTuple):
    """Triangles in a plane: corners (K, 3, 2), planes (K, 3) of what is compared in depth, and their faces (K,).

    A plane (a, b, c) says a * column + b * row + c: the inverse depth in a picture, the height in an orthographic map.
    """

    corners: Array
    planes: Array
    faces: Ints


@compiled
def _clipped(triangle: Array, polygon: Array) -> int:
    """Cut a camera-frame triangle (3, 3) at the nearest depth into `polygon` (4, 3); return its number of corners."""
    count = 0
    for corner in range(3):
        here, after = triangle[corner], triangle[(corner + 1) % 3]
        if here[2] >= NEAREST_DEPTH_M:
            polygon[count] = here
            count += 1
        if (here[2] >= NEAREST_DEPTH_M) != (after[2] >= NEAREST_DEPTH_M):
            # from the inner end to the outer one on both sides of an edge: neighbours get the same corner
            inner, outer = (here, after) if here[2] >= NEAREST_DEPTH_M else (after, here)
            share = (NEAREST_DEPTH_M - inner[2]) / (outer[2] - inner[2])
            polygon[count] = inner + share * (outer - inner)
            count += 1
    return count


@compiled
def plane_through(corners: Array, heights: Array, plane: Array) -> bool:
    """Write the plane through heights (3,) at corners (3, 2) into `plane` (3,); tell whether they span an area."""
    u1, v1 = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1]
    u2, v2 = corners[2, 0] - corners[0, 0], corners[2, 1] - corners[0, 1]
    area = u1 * v2 - v1 * u2
    if abs(area) <= 1e-12:
        return False
    rise1, rise2 = heights[1] - heights[0], heights[2] - heights[0]
    plane[0] = (rise1 * v2 - rise2 * v1) / area
    plane[1] = (rise2 * u1 - rise1 * u2) / area
    plane[2] = heights[0] - plane[0] * corners[0, 0] - plane[1] * corners[0, 1]
    return True


@compiled
def projected(seen: Array, faces: Ints, intrinsics: Array, grid: Grid) -> Pieces:
    """Project faces (M, 3) of camera-frame vertices (N, 3); cut at the near plane, a face becomes 0 to 2 pieces.

    Pieces that lie wholly beside the window are left out.
    """
    corners, planes = np.empty((2 * len(faces), 3, 2)), np.empty((2 * len(faces), 3))
    whose = np.empty(2 * len(faces), dtype=np.int64)
    triangle, polygon, flat, inverse = np.empty((3, 3)), np.empty((4, 3)), np.empty((4, 2)), np.empty(4)
    heights = np.empty(3)
    count = 0
    for face in range(len(faces)):
        first, second, third = faces[face, 0], faces[face, 1], faces[face, 2]
        if max(seen[first, 2], seen[second, 2], seen[third, 2]) < NEAREST_DEPTH_M:
            continue
        for axis in range(3):
            triangle[0, axis] = seen[first, axis]
            triangle[1, axis] = seen[second, axis]
            triangle[2, axis] = seen[third, axis]
        size = _clipped(triangle, polygon)
        for corner in range(size):
            x, y, z = polygon[corner, 0], polygon[corner, 1], polygon[corner, 2]
            inverse[corner] = 1.0 / z
            flat[corner, 0] = (intrinsics[0, 0] * x + intrinsics[0, 1] * y) / z + intrinsics[0, 2]
            flat[corner, 1] = (intrinsics[1, 0] * x + intrinsics[1, 1] * y) / z + intrinsics[1, 2]
        for last in range(2, size):
            for corner in range(3):
                taken = 0 if corner == 0 else last - 2 + corner
                corners[count, corner, 0], corners[count, corner, 1] = flat[taken, 0], flat[taken, 1]
                heights[corner] = inverse[taken]
            if touches(corners, count, grid) and plane_through(corners[count], heights, planes[count]):
                whose[count] = face
                count += 1
    return Pieces(corners[:count], planes[:count], whose[:count])


@compiled
def touches(corners: Array, piece: int, grid: Grid) -> bool:
    """Tell whether a piece's bounding box comes within a pixel of the window."""
    u0, u1, u2 = corners[piece, 0, 0], corners[piece, 1, 0], corners[piece, 2, 0]
    v0, v1, v2 = corners[piece, 0, 1], corners[piece, 1, 1], corners[piece, 2, 1]
    left, top = grid.left / grid.samples - 1.5, grid.top / grid.samples - 1.5
    right, bottom = left + grid.columns / grid.samples + 2.0, top + grid.rows / grid.samples + 2.0
    if max(u0, u1, u2) < left or min(u0, u1, u2) > right:
        return False
    return max(v0, v1, v2) >= top and min(v0, v1, v2) <= bottom


@compiled
def _first_sample(position: float, samples: int, low: int, high: int) -> int:
    """Return the index of the first sample at or after a picture coordinate, kept within low..high."""
    index = np.ceil((position + 0.5) * samples - 0.5)
    return int(min(max(index, low), high))


@compiled
def _slope(u0: float, v0: float, u1: float, v1: float) -> float:
    """Return the columns that an edge gains a row; a level edge crosses no row."""
    return (u1 - u0) / (v1 - v0) if v1 > v0 else 0.0


@compiled
def _sorted_corners(corners: Array, piece: int) -> tuple[float, float, float, float, float, float]:
    """Return a triangle's corners (u, v) from the upper to the lower: each edge comes out the same from either side."""
    u0, v0 = corners[piece, 0, 0], corners[piece, 0, 1]
    u1, v1 = corners[piece, 1, 0], corners[piece, 1, 1]
    u2, v2 = corners[piece, 2, 0], corners[piece, 2, 1]
    if v1 < v0:
        u0, v0, u1, v1 = u1, v1, u0, v0
    if v2 < v1:
        u1, v1, u2, v2 = u2, v2, u1, v1
        if v1 < v0:
            u0, v0, u1, v1 = u1, v1, u0, v0
    return u0, v0, u1, v1, u2, v2


@compiled
def draw(pieces: Pieces, grid: Grid, highest: Single, winner: npt.NDArray[np.int32]) -> None:
    """Let pieces compete for samples: the highest plane wins, of equal ones the earlier.

    Args:
        pieces: in their order.
        grid: the window's samples.
        highest: (rows, columns), the value to beat, changed in place.
        winner: (rows, columns), index of the winning piece, changed in place; or (0, 0) when nobody asks.
    """
    named = winner.size > 0
    left, top, samples, width = grid.left, grid.top, grid.samples, grid.columns
    right = left + width
    values, names = highest.ravel(), winner.ravel()
    corners, planes = pieces.corners, pieces.planes
    for piece in range(len(corners)):
        u0, v0, u1, v1, u2, v2 = _sorted_corners(corners, piece)
        first = _first_sample(v0, samples, top, top + grid.rows)
        last = _first_sample(v2, samples, top, top + grid.rows)
        if first == last:
            continue
        long, over, under = _slope(u0, v0, u2, v2), _slope(u0, v0, u1, v1), _slope(u1, v1, u2, v2)
        a, b, c = planes[piece, 0], planes[piece, 1], planes[piece, 2]
        step = a / samples
        for row in range(first, last):
            v = (row + 0.5) / samples - 0.5
            if v < v0 or v >= v2:
                continue
            one = u0 + (v - v0) * long
            other = u0 + (v - v0) * over if v < v1 else u1 + (v - v1) * under
            start = _first_sample(min(one, other), samples, left, right)
            end = _first_sample(max(one, other), samples, left, right)
            level = a * (0.5 / samples - 0.5) + b * v + c
            offset = (row - top) * width - left
            if named:
                for column in range(start, end):
                    # an index without a sign: a negative one would have to be looked for in every sample
                    value, at = np.float32(step * column + level), np.uintp(offset + column)
                    if value > values[at]:
                        values[at] = value
                        names[at] = piece
            else:
                for column in range(start, end):
                    value, at = np.float32(step * column + level), np.uintp(offset + column)
                    values[at] = value if value > values[at] else values[at]
