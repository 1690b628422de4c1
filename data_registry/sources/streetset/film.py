"""From linear light to pixels, in compiled loops: sky behind the meshes, exposure, lens, noise, 8-bit sRGB.

Imported on the first picture, as numba is slow to import.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from data_registry.compiled import compiled
from data_registry.geometry import Array
from data_registry.scene3d.light import srgb_from_linear
from data_registry.scene3d.raw_noise import raw_bytes

Single = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Triple = tuple[float, float, float]

CLOUD_TILE: Final = 512
CLOUD_UNIT: Final = 55.0
"""Texels of the cloud tile for a step of one cloud height along the sky."""
HAZE_HEIGHT_M: Final = 65.0
"""Haze and fog lie up to here: rays that climb leave it sooner."""
TABLE_STEPS: Final = 8192
SHOULDER: Final = 0.75
"""Light above this is bent so that twice as much still shows differences."""


class Backdrop(NamedTuple):
    """A sky as plain arrays: rays (3, 3) as scene3d's View; colours (5, 3): zenith, horizon, ground, glow, cloud."""

    rays: Array
    colours: Array
    sun: Array
    cloud_share: float
    steepness: float
    air: Array
    fog: float
    clouds: Single


@lru_cache(maxsize=4)
def cloud_tile(seed: int) -> Single:
    """Return periodic smooth noise about -1..1, (CLOUD_TILE, CLOUD_TILE)."""
    tile = np.zeros((CLOUD_TILE, CLOUD_TILE), dtype=np.float32)
    for octave, (cells, weight) in enumerate(((4, 0.40), (8, 0.36), (16, 0.24), (32, 0.14), (64, 0.08), (128, 0.05))):
        stream = raw_bytes(3000 + 10 * seed + octave, cells * cells)
        field = stream.reshape(cells, cells).astype(np.float32) / np.float32(127.5) - np.float32(1.0)
        share = np.arange(CLOUD_TILE // cells, dtype=np.float32) / np.float32(CLOUD_TILE // cells)
        smooth = share * share * (3 - 2 * share)
        for _ in range(2):
            wide = field[:, None, :] * (1 - smooth[:, None]) + np.roll(field, -1, axis=0)[:, None, :] * smooth[:, None]
            field = wide.reshape(-1, field.shape[1]).T
        tile += np.float32(weight) * field
    return tile


@lru_cache(maxsize=1)
def srgb_table() -> Single:
    """Return sRGB in 0..255 for linear light i / TABLE_STEPS, one more at the end for 1.0."""
    return (255 * srgb_from_linear(np.linspace(0.0, 1.0, TABLE_STEPS + 1))).astype(np.float32)


@compiled
def _cloud(tile: Single, x: float, y: float) -> float:
    column, row = np.floor(x), np.floor(y)
    right, down = x - column, y - row
    left, top = int(column) & (CLOUD_TILE - 1), int(row) & (CLOUD_TILE - 1)
    after, below = (left + 1) & (CLOUD_TILE - 1), (top + 1) & (CLOUD_TILE - 1)
    upper = tile[top, left] * (1.0 - right) + tile[top, after] * right
    lower = tile[below, left] * (1.0 - right) + tile[below, after] * right
    return upper * (1.0 - down) + lower * down


@compiled
def _cloudiness(sky: Backdrop, x: float, y: float, up: float) -> float:
    """Return how much cloud hides the sky in a direction, 0..1."""
    lift = CLOUD_UNIT / (up + 0.10)
    value = _cloud(sky.clouds, x * lift, y * lift) + 0.35 * _cloud(sky.clouds, 2.7 * x * lift + 71.0, 2.7 * y * lift)
    share = (value - 0.75 + 1.75 * sky.cloud_share) * 1.6
    return min(max(share, 0.0), 1.0) * min(up * 7.0, 1.0)


@compiled
def _sky(sky: Backdrop, u: float, v: float) -> Triple:
    """Return the sky's light at a picture position."""
    rays = sky.rays
    x = rays[0, 0] * u + rays[0, 1] * v + rays[0, 2]
    y = rays[1, 0] * u + rays[1, 1] * v + rays[1, 2]
    z = rays[2, 0] * u + rays[2, 1] * v + rays[2, 2]
    length = np.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    up = max(z, 0.0)
    towards = 1.0 - (x * sky.sun[0] + y * sky.sun[1] + z * sky.sun[2])
    glow = 0.30 * np.exp(-9.0 * towards) + 0.5 * np.exp(-120.0 * towards) + (3.0 if towards < 2.0e-5 else 0.0)
    low = np.exp(-sky.steepness * up)
    veil = _cloudiness(sky, x, y, up) if sky.cloud_share > 0.0 and z > 0.0 else 0.0
    haze = 1.0 - np.exp(-sky.fog * HAZE_HEIGHT_M / max(up, 0.004))
    ground = min(max(-z * 40.0, 0.0), 1.0)
    air = (glow, low, veil, haze, ground)
    return _sky_channel(sky, 0, air), _sky_channel(sky, 1, air), _sky_channel(sky, 2, air)


@compiled
def _sky_channel(sky: Backdrop, channel: int, air: tuple[float, float, float, float, float]) -> float:
    """Return one colour of the sky; air: glow, share of the horizon's colour, clouds, haze, share of the ground."""
    glow, low, veil, haze, ground = air
    colours = sky.colours
    zenith, horizon, earth = colours[0, channel], colours[1, channel], colours[2, channel]
    shine, cloud = colours[3, channel], colours[4, channel]
    value = zenith + (horizon - zenith) * low + shine * glow * (1.0 - 0.7 * veil)
    lit = cloud * (0.80 + 0.20 * (1.0 - veil)) + 0.6 * shine * glow
    value += (lit - value) * 0.92 * veil
    value += (earth - value) * ground
    return value + (sky.air[channel] - value) * haze


@compiled
def exposed(rgb: Array, coverage: Array, sky: Backdrop, exposure: float, vignette: float) -> Single:
    """Return the light on the sensor, (H, W, 3): meshes before the sky, exposed, darker in the corners."""
    height, width = coverage.shape
    result = np.empty((height, width, 3), dtype=np.float32)
    middle = 0.25 * (height * height + width * width)
    for row in range(height):
        for column in range(width):
            behind = 1.0 - coverage[row, column]
            right, down = column - 0.5 * width, row - 0.5 * height
            factor = exposure * (1.0 - vignette * (right * right + down * down) / middle)
            red, green, blue = _sky(sky, column, row) if behind > 1e-9 else (0.0, 0.0, 0.0)
            result[row, column, 0] = factor * (rgb[row, column, 0] + behind * red)
            result[row, column, 1] = factor * (rgb[row, column, 1] + behind * green)
            result[row, column, 2] = factor * (rgb[row, column, 2] + behind * blue)
    return result


@compiled
def overflow(light: Single, step: int, level: float) -> Single:
    """Return the mean light above a level in blocks of step x step pixels, (H / step, W / step, 3), rounded up."""
    height, width = light.shape[:2]
    result = np.zeros((-(-height // step), -(-width // step), 3), dtype=np.float32)
    for row in range(height):
        for column in range(width):
            for channel in range(3):
                more = light[row, column, channel] - level
                if more > 0.0:
                    result[row // step, column // step, channel] += more / (step * step)
    return result


@compiled
def _bloom(halo: Single, row: float, column: float, channel: int) -> float:
    """Return the halo at a place in blocks, between the four nearest blocks' middles."""
    row = min(max(row, 0.0), halo.shape[0] - 1.0)
    column = min(max(column, 0.0), halo.shape[1] - 1.0)
    top, left = int(row), int(column)
    below, after = min(top + 1, halo.shape[0] - 1), min(left + 1, halo.shape[1] - 1)
    down, right = row - top, column - left
    upper = halo[top, left, channel] * (1.0 - right) + halo[top, after, channel] * right
    lower = halo[below, left, channel] * (1.0 - right) + halo[below, after, channel] * right
    return upper * (1.0 - down) + lower * down


@compiled
def _bent(light: float) -> float:
    """Return light with a shoulder: what is too bright nears 1 instead of being cut."""
    if light <= SHOULDER:
        return max(light, 0.0)
    return SHOULDER + (1.0 - SHOULDER) * (1.0 - np.exp(-(light - SHOULDER) / (1.0 - SHOULDER)))


@compiled
def developed(light: Single, halo: Single, step: int, look: Triple, dice: Bytes, table: Single) -> Bytes:
    """Return 8-bit sRGB (H, W, 3).

    Args:
        light: on the sensor.
        halo: light that bright places spread, in blocks of step x step; empty for none.
        step: pixels.
        look: softness (share of a pixel's light that its four neighbours get), standard deviation of the noise at mid
            grey, and at black, in steps of 8 bits.
        dice: (5, H, W) random bytes.
        table: of `srgb_table`.
    """
    height, width = light.shape[:2]
    softness, noise, dark = look
    result = np.empty((height, width, 3), dtype=np.uint8)
    values = np.empty(3 * width)
    # 104.5 and 73.9: standard deviations of the sum of two uniform bytes, and of one.
    tints = 0.6 * (np.arange(256) - 127.5) / 73.9
    for row in range(height):
        above, here, below = light[max(row - 1, 0)], light[row], light[min(row + 1, height - 1)]
        _soften(above.ravel(), here.ravel(), below.ravel(), softness, values)
        if halo.size > 0:
            _add_bloom(halo, (row + 0.5) / step - 0.5, step, values)
        first, second, others = dice[0, row], dice[1, row], dice[2:, row]
        for column in range(width):
            grey = 0.8 * (float(first[column]) + float(second[column]) - 255.0) / 104.5
            for channel in range(3):
                place = _bent(values[3 * column + channel]) * TABLE_STEPS
                index = np.uintp(min(int(place), TABLE_STEPS - 1))
                lower = table[index]
                level = lower + (place - index) * (table[index + np.uintp(1)] - lower)
                strength = dark + (noise - dark) * min(level / 128.0, 1.0)
                level += strength * (grey + tints[others[channel, column]])
                result[row, column, channel] = np.uint8(min(max(level + 0.5, 0.0), 255.0))
    return result


@compiled
def _soften(above: Single, here: Single, below: Single, softness: float, values: Array) -> None:
    """Write a row's light (3 * W,) with a share of each pixel's neighbours: plain loops, which become wide ones."""
    last = len(here) - 3
    for at in range(3, last):
        around = above[at] + below[at]
        around += here[at - 3] + here[at + 3]
        values[at] = here[at] * (1.0 - softness) + 0.25 * softness * around
    for at in (0, 1, 2, last, last + 1, last + 2):
        around = above[at] + below[at]
        around += here[at - 3 if at >= 3 else at] + here[at + 3 if at < last else at]
        values[at] = here[at] * (1.0 - softness) + 0.25 * softness * around


@compiled
def _add_bloom(halo: Single, row: float, step: int, values: Array) -> None:
    """Add the halo to a row's light (3 * W,); `row` in blocks."""
    for column in range(len(values) // 3):
        for channel in range(3):
            values[3 * column + channel] += _bloom(halo, row, (column + 0.5) / step - 0.5, channel)
