"""Fragments: the pieces that the pixels of a row see, in a table with one row a property and one column a fragment."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from data_registry.compiled import compiled
from data_registry.geometry import Array
from data_registry.scene3d.spans import Grid, Ints

Triple = tuple[float, float, float]
Indices = npt.NDArray[np.int32]

ROWS: Final = 26
(
    WEIGHT, X, Y, Z, EYE_X, EYE_Y, EYE_Z, NORMAL_X, NORMAL_Y, NORMAL_Z, RED, GREEN, BLUE,
    DISTANCE, FACING, GLOSS_HERE, MIRROR_HERE, SHARPNESS_HERE, SUNLIT, SKY,
    LAMP_RED, LAMP_GREEN, LAMP_BLUE, SHINE_RED, SHINE_GREEN, SHINE_BLUE,
) = range(ROWS)  # fmt: skip
"""Rows of a table of fragments, float64: share of the pixel, place, unit vector to the viewer, unit normal, colour
(at last the light that reaches the viewer), distance, cosine to the viewer, how it mirrors, cosine to the sun times the
sun's share, share of the sky, the lamps' light, what is mirrored of them."""


class Row(NamedTuple):
    """The fragments of a row of pixels: table (26, N), their pieces, faces and pixel columns (N,)."""

    table: Array
    pieces: Ints
    faces: Ints
    columns: Ints


@compiled
def dot(one: Triple, other: Triple) -> float:
    """Return the scalar product of two vectors."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


@compiled
def vector_at(table: Array, at: int, first: int) -> Triple:
    """Return three rows of a fragment, from a first one on."""
    return table[first, at], table[first + 1, at], table[first + 2, at]


@compiled
def normals_towards(vertices: Array, faces: Ints, asked: Ints, viewer: Triple) -> Array:
    """Return unit normals (M, 3) that look to the viewer's side; faces without area get the upward one.

    Only the rows of the faces (K,) that are asked for mean anything.
    """
    result = np.empty((len(faces), 3))
    for index in range(len(asked)):
        face = asked[index]
        first, second, third = faces[face, 0], faces[face, 1], faces[face, 2]
        x, y, z = vertices[first, 0], vertices[first, 1], vertices[first, 2]
        ax, ay, az = vertices[second, 0] - x, vertices[second, 1] - y, vertices[second, 2] - z
        bx, by, bz = vertices[third, 0] - x, vertices[third, 1] - y, vertices[third, 2] - z
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        length = np.sqrt(nx * nx + ny * ny + nz * nz)
        if length < 1e-15:
            nx, ny, nz, length = 0.0, 0.0, 1.0, 1.0
        nx, ny, nz = nx / length, ny / length, nz / length
        away = nx * (viewer[0] - x) + ny * (viewer[1] - y) + nz * (viewer[2] - z) < 0.0
        side = -1.0 if away else 1.0
        result[face, 0], result[face, 1], result[face, 2] = side * nx, side * ny, side * nz
    return result


@compiled
def gather(row: int, winner: Indices, grid: Grid, fragments: Row) -> int:
    """List the pieces of each pixel of a row, each once, with the share and the middle of their samples (in X, Y)."""
    table, pieces, columns = fragments.table, fragments.pieces, fragments.columns
    samples, count = grid.samples, 0
    left, top = grid.left // samples, grid.top // samples + row
    for column in range(grid.columns // samples):
        first, start = count, column * samples
        piece = winner[row * samples, start]
        if _alone(winner, row * samples, start, samples):
            if piece >= 0:
                pieces[count], columns[count], table[WEIGHT, count] = piece, column, samples * samples
                table[X, count] = table[Y, count] = samples * samples * (samples - 1) / 2
                count += 1
        else:
            for down in range(samples):
                for right in range(samples):
                    piece = winner[row * samples + down, start + right]
                    if piece < 0:
                        continue
                    at = first
                    while at < count and pieces[at] != piece:
                        at += 1
                    if at == count:
                        count += 1
                        pieces[at], columns[at] = piece, column
                        table[WEIGHT, at], table[X, at], table[Y, at] = 0.0, 0.0, 0.0
                    table[WEIGHT, at] += 1.0
                    table[X, at] += right
                    table[Y, at] += down
        for at in range(first, count):
            hits = table[WEIGHT, at]
            table[X, at] = left + column + (table[X, at] / hits + 0.5) / samples - 0.5
            table[Y, at] = top + (table[Y, at] / hits + 0.5) / samples - 0.5
            table[WEIGHT, at] = hits / samples**2
    return count


@compiled
def _alone(winner: Indices, row: int, column: int, samples: int) -> bool:
    """Tell whether all samples of a pixel, from this first one on, have the same piece or none."""
    piece = winner[row, column]
    for down in range(samples):
        for right in range(samples):
            if winner[row + down, column + right] != piece:
                return False
    return True
