"""The grain of surfaces: a periodic noise tile with smaller copies for far surfaces, looked up in compiled code."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from data_registry.compiled import compiled
from data_registry.scene3d.raw_noise import raw_bytes

Single = npt.NDArray[np.float32]

TILE: Final = 512
"""Texels a side: small enough that the whole tile stays in the processor's cache."""
LEVELS: Final = 10
_OCTAVES: Final = ((512, 0.55), (256, 0.35), (128, 0.22), (32, 0.20), (8, 0.22))
"""Cells a side and weight: fine grains, and clouds of 64 grains."""


@lru_cache(maxsize=1)
def noise_levels() -> Single:
    """Return all levels of the tile one after the other, finest first; mean 0, values about -1..1."""
    tile = np.zeros((TILE, TILE), dtype=np.float32)
    for octave, (cells, weight) in enumerate(_OCTAVES):
        coarse = raw_bytes(1000 + octave, cells * cells).reshape(cells, cells).astype(np.float32) / np.float32(
            127.5
        ) - np.float32(1.0)
        tile += np.float32(weight) * _enlarged(coarse, TILE // cells)
    levels = [tile - tile.mean(dtype=np.float64).astype(np.float32)]
    while len(levels) < LEVELS:
        last = levels[-1]
        levels.append((last[::2, ::2] + last[1::2, ::2] + last[::2, 1::2] + last[1::2, 1::2]) / np.float32(4))
    return np.concatenate([level.ravel() for level in levels])


def _enlarged(coarse: Single, factor: int) -> Single:
    """Enlarge a periodic field along both axes, linearly."""
    result = coarse
    for axis in (0, 1):
        share = (np.arange(factor, dtype=np.float32) / np.float32(factor)).reshape((1, factor, 1))
        field = np.moveaxis(result, axis, 0)[:, None, :]
        wide = field * (1 - share) + np.roll(field, -1, axis=0) * share
        result = np.moveaxis(wide.reshape(-1, field.shape[2]), 0, axis)
    return result


@compiled
def _at_level(levels: Single, u: float, v: float, level: int) -> float:
    """Return one level's value at (u, v), counted in texels of the finest level, between its four neighbours."""
    size = TILE >> level
    scale = size * (1.0 / TILE)
    u, v = u * scale, v * scale
    column, row = np.floor(u), np.floor(v)
    right, down = u - column, v - row
    left, top = int(column) & (size - 1), int(row) & (size - 1)
    after, below = (left + 1) & (size - 1), (top + 1) & (size - 1)
    start = 4 * (TILE * TILE - size * size) // 3  # the texels of all finer levels
    # Without a sign: a negative index would have to be looked for in every texel.
    first, second = np.uintp(start + top * size), np.uintp(start + below * size)
    here, beside = np.uintp(left), np.uintp(after)
    upper = levels[first + here] * (1.0 - right) + levels[first + beside] * right
    lower = levels[second + here] * (1.0 - right) + levels[second + beside] * right
    return upper * (1.0 - down) + lower * down


@compiled
def noise(levels: Single, u: float, v: float, footprint: float) -> float:
    """Return noise about -1..1 averaged over what a pixel covers.

    Args:
        levels: what `noise_levels` gives.
        u: place along the surface, in grains.
        v: place along the surface, other axis, in grains.
        footprint: what a pixel covers there, in grains; what is too fine for it has faded to the mean.
    """
    if footprint <= 1.0:
        return _at_level(levels, u, v, 0)
    # the exponent of a mantissa in 0.5..1, straight from the bits: frexp is a call into another library
    exponent = int(np.float64(footprint).view(np.int64) >> 52) - 1022
    if exponent >= LEVELS:
        return 0.0
    value, share = _at_level(levels, u, v, exponent - 1), footprint * (2.0 / (1 << exponent)) - 1.0
    return value + share * (_at_level(levels, u, v, exponent) - value)
