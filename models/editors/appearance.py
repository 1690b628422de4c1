"""What the picture tells about light, air, sharpness and grain, so that a drawn hazard looks taken by the same camera.

Everything follows from the picture, the keyframe's boxes and the words of its description; nothing is random. Levels
are linear light: reflectance times light, 1.0 the brightest value that a picture shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from scipy import special

from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.pictures import Rgb
from data_registry.records import Keyframe
from data_registry.scene3d.light import Air, Lamp, Light, linear_from_srgb
from models.editors.grain import spot
from models.editors.sun import Sun, find_sun

_CURVE: Final[Any] = linear_from_srgb(np.arange(256) / 255.0).astype(np.float32)
ASPHALT: Final = 0.15
"""Reflectance of a road surface in daylight, aged asphalt (Brewster 1992: 0.10 to 0.20)."""
SKY_TINT: Final = np.array([0.96, 1.0, 1.06])
SUN_TINT: Final = np.array([1.03, 1.0, 0.94])
"""Colours of shade and sun relative to the light on the ground."""
DIMMEST: Final = 0.012
BRIGHTEST: Final = 1.6
"""Bounds of the estimated light on level ground."""
NIGHT_LEVEL: Final = 0.025
"""Mean linear brightness of a picture below which it was taken in the dark."""
SUN_SHARES: Final = (0.12, 0.78)
"""Bounds of the direct share of the light where shadows are seen: open shade and a clear sky."""
LEAST_SHADOW: Final = 0.15
"""Log contrast from which shadows where the clock expects them count as seen."""
GUESSED_SHARE: Final = 0.5
"""Most of the light that is taken to be direct where no shadow says so."""
OVERCAST_SHARE: Final = 0.10
WHITE: Final = 0.62
"""Reflectance of road paint and light paintwork: pale road is told from bright light by what is white."""
LEAST_CEILING: Final = 0.55
VIVID: Final = 0.30
LEAST_COLOURFUL: Final = 0.55
"""Difference between channels (sRGB, 0..1) that a picture's most colourful hundredth reaches when nothing mutes it."""
BLACKEST: Final = 0.02
BLUR_SHARE: Final = 0.85
"""Sampling softens a drawn edge already."""
SHADE_MARGIN: Final = 0.55
"""Road that has lost this much of the sun's share against the lit road lies in shade."""
SHARP: Final = 0.012
SOFT: Final = 0.10
"""Growth of a shadow's edge per metre of way: the sun's disc and some haze; a sun that is only guessed."""
STEEPEST: Final = 1.7
"""A low sun lights upright faces at most this much more than the ground."""
NIGHT_TINT: Final = 0.5
DAY_TINT: Final = 0.25
"""Share of the road's tint (as a power) that is the light's."""
SHEEN: Final = 0.4
"""Share of a wet road's brightness, its paint's too, that is mirrored sky: upright things do not send it on."""
HEADLAMPS: Final = ((3.5, 0.6, 0.65), (3.5, -0.6, 0.65))
"""Where the ego's lamps are, ego frame, metres."""
NIGHT_WORDS: Final = re.compile(r"\b(night|dark)\b", re.IGNORECASE)
OVERCAST_WORDS: Final = re.compile(r"\b(overcast|cloudy|rain|rainy|raining|fog|foggy|mist|dusk|dawn)\b", re.IGNORECASE)
WET_WORDS: Final = re.compile(r"\b(rain|rainy|raining|wet|puddles?)\b", re.IGNORECASE)
FOG_WORDS: Final = re.compile(r"\b(fog|foggy|mist|misty|haze|hazy|smog)\b", re.IGNORECASE)
FOG_SIGHTS_M: Final = (35.0, 90.0, 250.0)
"""Least, usual and longest sight in fog: what a picture without distant things does not tell."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How the picture looks around a place.

    Attributes:
        light: sun, sky, headlamps and air at the place.
        sun: where the sun stands and how that is known.
        sun_share: direct share of the light on level ground that lies in the sun, 0..1; what a shadow takes away.
        lit_level: linear brightness of road in the sun: darker road lies in shade already.
        spread: growth of a shadow's edge (sigma) per metre of way.
        road: (3,) linear RGB of the road at the place.
        blur_px: sharpness of the picture as the sigma of a blur.
        spot: grain of a smooth patch (see `grain`).
        colourfulness: as in `Daylight`.
        black: linear brightness of the darkest things: lenses and air add a little light to everything.
        is_night: whether the picture was taken in the dark.
        wetness: 0 dry to 1 wet road.
    """

    light: Light
    sun: Sun
    sun_share: float
    lit_level: float
    spread: float
    road: Array
    blur_px: float
    spot: Array
    colourfulness: float
    black: float
    is_night: bool
    wetness: float


@dataclass(frozen=True, slots=True, eq=False)
class Scenery:
    """One decoded picture with its camera."""

    picture: Rgb
    camera: PinholeCamera


def linear(picture: Rgb) -> Array:
    """Return linear light (H, W, 3) in 0..1 of an sRGB picture, in single precision: exact enough, faster."""
    return _CURVE[picture]


@dataclass(frozen=True, slots=True, eq=False)
class Daylight:
    """What holds for a keyframe as a whole.

    Attributes:
        sun: where it stands.
        sun_share: the direct share of the light, 0..1.
        colourfulness: how colourful its pictures are, as a share of what painted things would be, 0..1.
    """

    sun: Sun
    sun_share: float
    colourfulness: float


def estimate_daylight(keyframe: Keyframe, views: Sequence[Scenery]) -> Daylight:
    """Estimate a keyframe's daylight from its pictures, small ones do, at least one."""
    levels = [linear(view.picture).mean(axis=2) for view in views]
    sun = find_sun(keyframe, [(level, view.camera) for level, view in zip(levels, views, strict=True)])
    chroma = max(float(np.percentile(np.ptp(view.picture[::2, ::2], axis=2), 99)) for view in views) / 255.0
    colourfulness = float(np.clip(chroma / VIVID, LEAST_COLOURFUL, 1.0)) ** 0.7
    return Daylight(sun, _sun_share(keyframe, sun, levels), colourfulness)


@dataclass(frozen=True, slots=True, eq=False)
class Optics:
    """What holds for a picture wherever a hazard is put into it: see `Look`; `occupied` is ground that boxes take."""

    air: Air
    blur_px: float
    spot: Array
    black: float
    is_night: bool
    brightest: float
    occupied: Any


def estimate_optics(keyframe: Keyframe, view: Scenery) -> Optics:
    """Estimate what holds for a picture of a keyframe as a whole."""
    occupied = shapely.union_all([shapely.Polygon(note.box.footprint()) for note in keyframe.annotations])
    shapely.prepare(occupied)
    lower = linear(view.picture[view.picture.shape[0] // 2 :: 4, ::4]).mean(axis=2)
    return Optics(
        air=_air(keyframe, view),
        blur_px=BLUR_SHARE * _blur(view.picture),
        spot=spot(view.picture),
        black=min(BLACKEST, float(np.percentile(linear(view.picture[::8, ::8]).mean(axis=2), 0.3))),
        is_night=_is_night(keyframe, view.picture),
        brightest=float(np.percentile(lower, 99)),
        occupied=occupied,
    )


def estimate_look(keyframe: Keyframe, view: Scenery, known: tuple[Daylight, Optics], place: Array) -> Look:
    """Estimate the look around a place.

    Args:
        keyframe: its ground.
        view: the picture to draw into.
        known: the keyframe's daylight, the picture's optics.
        place: plan point (2,) of the hazard, ego frame, metres.
    """
    daylight, optics = known
    air, is_night = optics.air, optics.is_night
    road, lit_level = _road(view, keyframe.ground, place, optics.occupied)
    seen_level = float(road.mean())
    through = float(np.exp(-float(np.linalg.norm(view.camera.position[:2] - place)) / air.sight_m))
    road = np.maximum((road - air.colour * (1 - through)) / through, 0.2 * road)  # the air's own light is no road's
    sun, share = daylight.sun, 0.0 if is_night else daylight.sun_share
    in_shade = seen_level < lit_level * (1 - SHADE_MARGIN * share) and share > 0.2
    here = 0.06 if in_shade else share
    dull = min(1.0, _ceiling(optics.brightest, road)) * (1 - SHEEN * air.wetness)
    light = _light(dull * road, sun, here, is_night)
    if is_night:
        light = Light(light.direction, light.sun, light.ambient, _headlamps(light.ambient, place))
    light = Light(light.direction, light.sun, light.ambient, light.lamps, air)
    spread = SHARP if sun.known_from != "default" and share > OVERCAST_SHARE else SOFT
    return Look(
        light=light,
        sun=sun,
        sun_share=share,
        lit_level=lit_level,
        spread=spread,
        road=road,
        blur_px=optics.blur_px,
        spot=optics.spot,
        colourfulness=daylight.colourfulness,
        black=optics.black,
        is_night=is_night,
        wetness=air.wetness,
    )


def _road(view: Scenery, ground: GroundPlane, place: Array, occupied: Any) -> tuple[Array, float]:
    """Return the road's colour (3,) around a place and how bright road is where it is lit, both linear."""
    near = _pixels(view, ground, _grid(place, 6.0, 0.4, 1.5), occupied)
    far = _pixels(view, ground, _grid(place, 16.0, 0.8, 0.0), occupied)
    if len(near) < 20:
        near = view.picture[-view.picture.shape[0] // 4 :].reshape(-1, 3)
    colour = np.median(linear(near), axis=0)
    levels = linear(far).mean(axis=1) if len(far) >= 20 else np.array([float(colour.mean())])
    return np.maximum(colour, 1e-3), float(max(np.percentile(levels, 75), colour.mean()))


def _grid(place: Array, reach: float, step: float, least: float) -> Array:
    steps = np.arange(-reach, reach + step / 2, step)
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    far = np.hypot(grid[:, 0], grid[:, 1])
    return grid[(far >= least) & (far <= reach)] + place


def _pixels(view: Scenery, ground: GroundPlane, points: Array, occupied: Any) -> Any:
    """Return the colours (N, 3) of the ground at plan points that the camera sees and no object takes."""
    free = points[~shapely.contains_xy(occupied, points[:, 0], points[:, 1])]
    pixels, _ = view.camera.project(ground.lift(free))
    columns, rows = np.unique(np.rint(pixels[view.camera.contains(pixels)]).astype(np.int64), axis=0).T
    return view.picture[rows, columns]


def _is_night(keyframe: Keyframe, picture: Rgb) -> bool:
    level = float(linear(picture[::8, ::8]).mean())
    return level < NIGHT_LEVEL or (bool(NIGHT_WORDS.search(keyframe.description)) and level < 4 * NIGHT_LEVEL)


def _sun_share(keyframe: Keyframe, sun: Sun, levels: Sequence[Array]) -> float:
    """Return the direct share of the light: from shadows that were found, else from contrast, capped by the words."""
    seen = 1 - float(np.exp(-(sun.contrast or 0.0)))
    if OVERCAST_WORDS.search(keyframe.description):
        return 0.5 * seen if sun.known_from == "shadows" else OVERCAST_SHARE
    lower = np.concatenate([level[level.shape[0] // 3 :].ravel() for level in levels])
    dark, bright = np.percentile(lower, [15, 85])
    guess = (np.log2(float(bright) / max(float(dark), 1e-3)) - 0.8) / 3.0
    guess = float(np.clip(guess, 0.05, GUESSED_SHARE))
    if sun.contrast is None:
        return guess
    if sun.contrast < LEAST_SHADOW:
        return OVERCAST_SHARE
    # other things' shade darkens the road beside boxes too and hides their own: what is seen is a lower bound
    return float(np.clip(max(seen, guess if sun.known_from == "clock" else 0.0), *SUN_SHARES))


def _light(road: Array, sun: Sun, share: float, is_night: bool) -> Light:
    # A road is grey: by street lamps half of what tint it shows is the light's, by day most of it is its own.
    tint = np.clip(road / max(float(road.mean()), 1e-4), 0.5, 2.0) ** (NIGHT_TINT if is_night else DAY_TINT)
    level = float(np.clip(float(road.mean()) / ASPHALT, DIMMEST, BRIGHTEST))
    upright = min(1.0 / float(sun.direction[2]), STEEPEST)
    if is_night:
        return Light(np.array([0.0, 0.0, 1.0]), np.zeros(3), 0.6 * level * tint)
    return Light(sun.direction, level * share * upright * tint * SUN_TINT, level * (1 - share) * tint * SKY_TINT)


def _ceiling(brightest: float, road: Array) -> float:
    """Return the factor on the light that the road tells by which white things are no brighter than the picture's."""
    told = float(road.mean()) / ASPHALT
    return max(LEAST_CEILING, brightest / WHITE / told)


def _headlamps(ambient: Array, place: Array) -> tuple[Lamp, ...]:
    """Return the ego's own lamps, as bright at the place as the street's: beams end low and light little."""
    distance = max(4.0, float(np.hypot(*(place - np.array([3.5, 0.0])))))
    colour = 0.35 * ambient * distance**2 / len(HEADLAMPS)
    ahead = np.array([1.0, 0.0, -0.04]) / float(np.hypot(1.0, 0.04))
    return tuple(Lamp(np.array(position), colour, ahead, 0.35) for position in HEADLAMPS)


def _air(keyframe: Keyframe, view: Scenery) -> Air:
    """Return the air: fog as thick as distant objects look, rain a little, else clear."""
    wetness = 0.8 if WET_WORDS.search(keyframe.description) else 0.0
    colour = _horizon_colour(view)
    if FOG_WORDS.search(keyframe.description):
        return Air(colour, _sight(keyframe, view, colour), wetness)
    return Air(colour, 400.0 if wetness else 3000.0, wetness)


def _horizon_colour(view: Scenery) -> Array:
    """Return the colour of the sky right above the horizon: the brighter part of a band of rows."""
    ahead = view.camera.ego_to_camera.rotation.T @ np.array([0.0, 0.0, 1.0])
    level = np.array([ahead[0], ahead[1], 0.02]) / max(float(np.hypot(ahead[0], ahead[1])), 1e-6)
    image = view.camera.intrinsics @ (view.camera.ego_to_camera.rotation @ level)
    row = int(np.clip(image[1] / max(float(image[2]), 1e-6), 12, view.camera.height - 1))
    band = linear(view.picture[max(0, row - 60) : row : 4, ::8]).reshape(-1, 3)
    return np.median(band[band.mean(axis=1) >= np.quantile(band.mean(axis=1), 0.6)], axis=0)


def _sight(keyframe: Keyframe, view: Scenery, colour: Array) -> float:
    """Return the sight in metres: how much of the horizon's light lies over the darkest parts of distant objects."""
    found: list[float] = []
    for note in keyframe.annotations:
        pixels, depth = view.camera.project(note.box.corners())
        if float(depth.min()) < 12.0 or not view.camera.contains(pixels).all():
            continue
        (left, top), (right, bottom) = np.floor(pixels.min(axis=0)).astype(int), np.ceil(pixels.max(axis=0)).astype(int)
        part = linear(view.picture[top : bottom + 1, left : right + 1]).mean(axis=2)
        veil = float(np.percentile(part, 5)) / max(float(colour.mean()), 1e-3)
        if 0.05 < veil < 0.95:
            found.append(-float(depth.mean()) / float(np.log(1 - veil)))
    low, usual, high = FOG_SIGHTS_M
    return float(np.clip(np.median(found), low, high)) if len(found) >= 3 else usual


def _blur(source: Rgb) -> float:
    """Return the blur in pixels (sigma): how steep the steepest edges are over one pixel against over three."""
    level = source[::4].astype(np.float32).mean(axis=2)
    one = np.percentile(np.abs(level[:, 1:] - level[:, :-1]), 99.9)
    three = np.percentile(np.abs(level[:, 3:] - level[:, :-3]), 99.9)
    sigmas = np.arange(0.3, 2.01, 0.05)
    ratios = special.erf(0.5 / (sigmas * 2**0.5)) / special.erf(1.5 / (sigmas * 2**0.5))
    best = int(np.argmin(np.abs(ratios - one / max(float(three), 1e-6))))
    return float(sigmas[best])
