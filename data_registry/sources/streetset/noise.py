"""Deterministic noise: a periodic texture with smaller copies for far surfaces, and hashes of integers.

Only the raw stream of PCG64 is used, which numpy keeps stable; distributions are made from it here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

Single = npt.NDArray[np.float32]

TILE: Final = 1024
LEVELS: Final = 11
TEXEL_M: Final = 0.02


def raw_bytes(seed: int, count: int) -> npt.NDArray[np.uint8]:
    """Return `count` uniform bytes for a seed."""
    return np.random.PCG64(seed).random_raw(-(-count // 8)).astype("<u8").view(np.uint8)[:count]


def rgb(red: float, green: float, blue: float) -> Single:
    """Return a colour as a column (3, 1), to go with pixels (3, N): planes of colour are much faster in numpy."""
    return np.array([[red], [green], [blue]], dtype=np.float32)


@lru_cache(maxsize=1)
def _levels() -> tuple[Single, npt.NDArray[np.int64]]:
    """Return all levels of the noise tile one after the other, values about -1..1, and where each starts."""
    tile = np.zeros((TILE, TILE), dtype=np.float32)
    for octave, (cells, weight) in enumerate(
        ((1024, 0.55), (512, 0.35), (256, 0.22), (64, 0.20), (16, 0.22), (8, 0.22))
    ):
        coarse = raw_bytes(1000 + octave, cells * cells).reshape(cells, cells).astype(np.float32) / 127.5 - 1.0
        tile += weight * _enlarged(coarse, TILE // cells)
    levels = [tile]
    while len(levels) < LEVELS:
        last = levels[-1]
        levels.append((last[::2, ::2] + last[1::2, ::2] + last[::2, 1::2] + last[1::2, 1::2]) / np.float32(4))
    starts = np.cumsum([0] + [level.size for level in levels[:-1]])
    return np.concatenate([level.ravel() for level in levels]), starts


def _enlarged(coarse: Single, factor: int) -> Single:
    """Enlarge a periodic field along both axes, linearly."""
    result = coarse
    for axis in (0, 1):
        share = (np.arange(factor, dtype=np.float32) / np.float32(factor)).reshape((1, factor, 1))
        field = np.moveaxis(result, axis, 0)[:, None, :]
        wide = field * (1 - share) + np.roll(field, -1, axis=0) * share
        result = np.moveaxis(wide.reshape(-1, field.shape[2]), 0, axis)
    return result


def texture(x: Single, y: Single, footprint: Single, scale: float = 1.0) -> Single:
    """Return noise about -1..1 at surface points, averaged over what a pixel covers.

    Args:
        x: metres along the surface.
        y: metres along the surface, other axis.
        footprint: metres that a pixel covers there.
        scale: stretches the pattern; 1 has grains of 2 cm and clouds of 2.5 m.
    """
    values, starts = _levels()
    unit = np.float32(1.0 / (TEXEL_M * scale))
    level = np.clip(np.log2(np.maximum(footprint * unit, 1e-6)), 0, LEVELS - 1).astype(np.int64)
    mask = (TILE >> level) - 1
    column = np.floor(x * unit).astype(np.int64) >> level
    row = np.floor(y * unit).astype(np.int64) >> level
    return values[starts[level] + (row & mask) * (mask + 1) + (column & mask)]


@lru_cache(maxsize=1)
def _cloud_tile() -> Single:
    tile = np.zeros((TILE, TILE), dtype=np.float32)
    for octave, (cells, weight) in enumerate(((64, 0.18), (32, 0.28), (16, 0.35), (8, 0.40))):
        coarse = raw_bytes(2000 + octave, cells * cells).reshape(cells, cells).astype(np.float32) / 127.5 - 1.0
        tile += weight * _enlarged(coarse, TILE // cells)
    return tile


def clouds(x: Single, y: Single, size: float) -> Single:
    """Return smooth noise about -1..1 whose pattern repeats after `size` metres."""
    unit = np.float32(TILE / size)
    column, row = np.floor(x * unit).astype(np.int64), np.floor(y * unit).astype(np.int64)
    return _cloud_tile()[row & (TILE - 1), column & (TILE - 1)]


def hashed(*numbers: npt.NDArray[np.int64]) -> Single:
    """Return a value in 0..1 for each tuple of integers."""
    mixed = np.zeros(np.broadcast_shapes(*(number.shape for number in numbers)), dtype=np.uint64)
    for number in numbers:
        mixed = (mixed ^ number.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return ((mixed >> np.uint64(40)).astype(np.float32)) / np.float32(1 << 24)


def band(x: Single, low: Single | float, high: Single | float, footprint: Single) -> Single:
    """Return the share of a pixel's reach around x that lies in low..high: an antialiased stripe."""
    half = footprint * np.float32(0.5) + np.float32(1e-6)
    overlap = np.minimum(x + half, high) - np.maximum(x - half, low)
    return np.maximum(overlap, 0) / (2 * half)
