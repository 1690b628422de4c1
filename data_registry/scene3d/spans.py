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

from data_registry.geometry import NEAREST_DEPTH_M, Array
from data_registry.scene3d.compiled import compiled

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
def projected(triangles: Array, intrinsics: Array) -> Pieces:
    """Project camera-frame triangles (M, 3, 3); cut at the near plane, a face becomes 0 to 2 pieces."""
    corners, planes = np.empty((2 * len(triangles), 3, 2)), np.empty((2 * len(triangles), 3))
    faces = np.empty(2 * len(triangles), dtype=np.int64)
    polygon, flat, inverse = np.empty((4, 3)), np.empty((4, 2)), np.empty(4)
    order = np.empty(3, dtype=np.int64)
    count = 0
    for face in range(len(triangles)):
        size = _clipped(triangles[face], polygon)
        for corner in range(size):
            x, y, z = polygon[corner]
            inverse[corner] = 1.0 / z
            flat[corner, 0] = (intrinsics[0, 0] * x + intrinsics[0, 1] * y) / z + intrinsics[0, 2]
            flat[corner, 1] = (intrinsics[1, 0] * x + intrinsics[1, 1] * y) / z + intrinsics[1, 2]
        for last in range(2, size):
            order[0], order[1], order[2] = 0, last - 1, last
            for corner in range(3):
                corners[count, corner] = flat[order[corner]]
            if plane_through(corners[count], inverse[order], planes[count]):
                faces[count] = face
                count += 1
    return Pieces(corners[:count], planes[:count], faces[:count])


@compiled
def _first_sample(position: float, samples: int, low: int, high: int) -> int:
    """Return the index of the first sample at or after a picture coordinate, kept within low..high."""
    index = np.ceil((position + 0.5) * samples - 0.5)
    return int(min(max(index, low), high))


@compiled
def _order_edges(corners: Array, edges: Array) -> None:
    """Write a triangle's (3, 2) edges into rows (upper v, lower v, upper u, slope), the same from either side."""
    for edge in range(3):
        upper, lower = corners[edge], corners[(edge + 1) % 3]
        if upper[1] > lower[1] or (upper[1] == lower[1] and upper[0] > lower[0]):
            upper, lower = lower, upper
        edges[edge, 0], edges[edge, 1], edges[edge, 2] = upper[1], lower[1], upper[0]
        edges[edge, 3] = (lower[0] - upper[0]) / (lower[1] - upper[1]) if lower[1] > upper[1] else 0.0


@compiled
def _span(edges: Array, v: float, grid: Grid) -> tuple[int, int]:
    """Return the half-open run of sample columns that a row at v has in common with a triangle."""
    low, high = np.inf, -np.inf
    for edge in range(3):
        if edges[edge, 0] <= v < edges[edge, 1]:
            crossing = edges[edge, 2] + (v - edges[edge, 0]) * edges[edge, 3]
            low, high = min(low, crossing), max(high, crossing)
    right = grid.left + grid.columns
    return _first_sample(low, grid.samples, grid.left, right), _first_sample(high, grid.samples, grid.left, right)


@compiled
def draw(pieces: Pieces, grid: Grid, highest: Single, winner: npt.NDArray[np.int32]) -> None:
    """Let pieces compete for samples: the highest plane wins, of equal ones the earlier.

    Args:
        pieces: in their order.
        grid: the window's samples.
        highest: (rows, columns), the value to beat, changed in place.
        winner: (rows, columns), index of the winning piece, changed in place; or (0, 0) when nobody asks.
    """
    edges = np.empty((3, 4))
    named = winner.size > 0
    left, top, samples = grid.left, grid.top, grid.samples
    all_corners, planes = pieces.corners, pieces.planes
    for piece in range(len(all_corners)):
        corners = all_corners[piece]
        upper = min(corners[0, 1], corners[1, 1], corners[2, 1])
        lower = max(corners[0, 1], corners[1, 1], corners[2, 1])
        first = _first_sample(upper, samples, top, top + grid.rows)
        last = _first_sample(lower, samples, top, top + grid.rows)
        if first == last:
            continue
        _order_edges(corners, edges)
        a, b, c = planes[piece, 0], planes[piece, 1], planes[piece, 2]
        for row in range(first, last):
            v = (row + 0.5) / samples - 0.5
            start, end = _span(edges, v, grid)
            level, step = a * (0.5 / samples - 0.5) + b * v + c, a / samples
            line = row - top
            for column in range(start, end):
                value = np.float32(step * column + level)
                if value > highest[line, column - left]:
                    highest[line, column - left] = value
                    if named:
                        winner[line, column - left] = piece
