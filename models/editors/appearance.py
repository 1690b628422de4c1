"""What the picture tells about light, sharpness and noise, so that a drawn hazard looks taken by the same camera."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from scipy import ndimage, special

from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.pictures import Rgb
from data_registry.scene3d.light import Light, linear_from_srgb

_CURVE: Final = linear_from_srgb(np.arange(256) / 255.0)
ASPHALT: Final = 0.15
"""Reflectance of a road surface in daylight, aged asphalt (Brewster 1992: 0.10 to 0.20)."""
SKY_TINT: Final = np.array([0.96, 1.0, 1.06])
SUN_TINT: Final = np.array([1.03, 1.0, 0.94])
"""Colours of shade and sun relative to the light on the ground."""
DIMMEST: Final = 0.02
BRIGHTEST: Final = 1.6
"""Bounds of the estimated light on level ground."""
SUN_DIRECTION: Final = np.array([-0.45, 0.30, 0.84])
"""Where the key light comes from when nothing is known: high, behind the ego on its left (ego frame)."""
HARDEST_SUN: Final = 0.55
SMOOTH_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How the picture looks around a place: light, share of it that is direct, blur (px), noise (sRGB, 0..1)."""

    light: Light
    sun_share: float
    blur_px: float
    noise: float


def linear(picture: Rgb) -> Array:
    """Return linear light (H, W, 3) in 0..1 of an sRGB picture."""
    return _CURVE[picture]


def estimate_look(source: Rgb, camera: PinholeCamera, ground: GroundPlane, place: Array, occupied: Any) -> Look:
    """Estimate the look around a place from the picture alone, deterministically.

    Args:
        source: decoded picture.
        camera: its camera.
        ground: local road surface.
        place: plan point (2,) of the hazard, ego frame, metres.
        occupied: plan area of annotated objects, whose pixels are not ground.
    """
    pixels = _ground_pixels(camera, ground, place, occupied)
    colours = (
        linear(source[pixels[:, 1], pixels[:, 0]]) if len(pixels) >= 20 else linear(source[-source.shape[0] // 4 :])
    )
    colours = colours.reshape(-1, 3)
    level = colours.mean(axis=1)
    # A road is grey: half of what tint it shows is the light's, half its own.
    middle = np.median(colours, axis=0)
    tint = np.sqrt(np.clip(middle / max(float(middle.mean()), 1e-4), 0.5, 2.0))
    light = float(np.clip(np.percentile(level, 60) / ASPHALT, DIMMEST, BRIGHTEST))
    sun_share = _sun_share(source)
    direction = SUN_DIRECTION / float(np.linalg.norm(SUN_DIRECTION))
    sun = light * sun_share / direction[2] * tint * SUN_TINT
    return Look(
        Light(direction, sun, light * (1 - sun_share) * tint * SKY_TINT), sun_share, _blur(source), _noise(source)
    )


def _ground_pixels(camera: PinholeCamera, ground: GroundPlane, place: Array, occupied: Any) -> Any:
    """Return pixels (N, 2) of road around a place: a grid of ground points 2 to 6 m away that the camera sees."""
    steps = np.arange(-6.0, 6.01, 0.4)
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    far = np.hypot(grid[:, 0], grid[:, 1])
    points = grid[(far >= 2.0) & (far <= 6.0)] + place
    free = ~shapely.contains_xy(occupied, points[:, 0], points[:, 1])
    pixels, _ = camera.project(ground.lift(points[free]))
    pixels = pixels[camera.contains(pixels)]
    return np.unique(np.rint(pixels).astype(np.int64), axis=0)


def _sun_share(source: Rgb) -> float:
    """Return which share of the light is direct: contrast between the lit and the shaded, 0 when it is overcast."""
    level = linear(source[::4, ::4]).mean(axis=2)
    lower = level[level.shape[0] // 3 :]
    dark, bright = np.percentile(lower, [15, 85])
    contrast = float(bright / max(float(dark), 1e-3))
    return float(np.clip((np.log2(contrast) - 0.8) / 3.0, 0.05, HARDEST_SUN))


def _blur(source: Rgb) -> float:
    """Return the blur in pixels (sigma): how steep the steepest edges are over one pixel against over three."""
    level = source[::2].astype(np.float64).mean(axis=2)
    one = np.percentile(np.abs(level[:, 1:] - level[:, :-1]), 99.9)
    three = np.percentile(np.abs(level[:, 3:] - level[:, :-3]), 99.9)
    sigmas = np.arange(0.3, 2.01, 0.05)
    ratios = special.erf(0.5 / (sigmas * 2**0.5)) / special.erf(1.5 / (sigmas * 2**0.5))
    best = int(np.argmin(np.abs(ratios - one / max(float(three), 1e-6))))
    return float(sigmas[best])


_NOISE_KERNEL: Final = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float64)


def _noise(source: Rgb) -> float:
    """Return the noise's sigma in sRGB units 0..1, over the smoother half of the picture (Immerkaer 1996)."""
    level = source[::2, ::2].astype(np.float64).mean(axis=2) / 255.0
    response = np.abs(ndimage.convolve(level, _NOISE_KERNEL, mode="nearest"))
    smooth = response[response <= np.quantile(response, SMOOTH_SHARE)]
    # The median of the lower half is the 25 % quantile: 0.3186 sigma of a normal distribution, whose kernel gain is 6.
    return float(np.clip(np.median(smooth) / 0.3186 / 6.0, 0.0, 0.03))
