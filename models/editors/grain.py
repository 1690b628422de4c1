"""The camera's grain: taken from smooth parts of the picture itself, so that strength, size and colour match.

A smooth patch's deviations from its own blur are convolved with white noise (spot noise, Galerne, Gousseau and Morel
2011): the result has the patch's spectrum and its correlation of channels, but none of its features.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import ndimage

from data_registry.geometry import Array
from data_registry.pictures import Rgb

PATCH_PX: Final = 32
TILE_PX: Final = 256
SMOOTH_PX: Final = 2.0
QUANTILE: Final = 0.12
"""Which patch is taken, by roughness: smoother ones are flat sky or burnt out, rougher ones show things."""
EVEN: Final = 1.35
"""Most that a patch may change more one way than the other: streaks are texture seen flat, not the camera's."""
DARKEST: Final = 6.0
BRIGHTEST: Final = 245.0
STRONGEST: Final = 0.035


def spot(source: Rgb) -> Array:
    """Return the grain (PATCH_PX, PATCH_PX, 3) of a typical smooth patch, sRGB units 0..1, zero mean."""
    rows = range(0, source.shape[0] - PATCH_PX, 2 * PATCH_PX)
    columns = range(0, source.shape[1] - PATCH_PX, 2 * PATCH_PX)
    patches = np.array([source[row : row + PATCH_PX, column : column + PATCH_PX] for row in rows for column in columns])
    if not len(patches):
        return np.zeros((PATCH_PX, PATCH_PX, 3))
    level = patches.mean(axis=(1, 2, 3))
    green = patches.astype(np.int16)[:, :, :, 1]
    across, down = (np.abs(np.diff(green, axis=axis)).mean(axis=(1, 2)) for axis in (2, 1))
    sharp, least = np.maximum(across, down), np.minimum(across, down)
    shown = (level > DARKEST) & (level < BRIGHTEST) & (sharp > 0)
    even = shown & (sharp <= EVEN * least)
    usable = np.flatnonzero(even if even.any() else shown)
    if not len(usable):
        return np.zeros((PATCH_PX, PATCH_PX, 3))
    ranked = usable[np.argsort(sharp[usable], kind="stable")]
    patch = patches[ranked[int(QUANTILE * (len(ranked) - 1))]].astype(np.float64) / 255.0
    smooth = ndimage.gaussian_filter(patch, (SMOOTH_PX, SMOOTH_PX, 0), mode="reflect")
    rest = patch - smooth
    # The blur takes a little of the noise away with it: what is left of white noise has this share of its strength.
    rest = (rest - rest.mean(axis=(0, 1))) / np.sqrt(1 - 1 / (4 * np.pi * SMOOTH_PX**2))
    return rest * min(1.0, STRONGEST / max(float(rest.std()), 1e-9))


def grain(spot: Array, seed: int, window: tuple[int, int, int, int]) -> Array:
    """Return grain (H, W, 3) for a window, sRGB units, the same for the same place of the picture.

    Args:
        spot: grain of a smooth patch.
        seed: what decides the noise.
        window: left, top, right, bottom, pixels, right and bottom exclusive.
    """
    white = np.random.Generator(np.random.PCG64(seed)).standard_normal((TILE_PX, TILE_PX))
    kernel = np.zeros((TILE_PX, TILE_PX, 3))
    kernel[: spot.shape[0], : spot.shape[1]] = spot / np.sqrt(spot.shape[0] * spot.shape[1])
    tile: Any = np.fft.irfft2(
        np.fft.rfft2(white)[..., None] * np.fft.rfft2(kernel, axes=(0, 1)), s=(TILE_PX, TILE_PX), axes=(0, 1)
    )
    rows = np.arange(window[1], window[3]) % TILE_PX
    columns = np.arange(window[0], window[2]) % TILE_PX
    return tile.astype(np.float32)[rows][:, columns]
