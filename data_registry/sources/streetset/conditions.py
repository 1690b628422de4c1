"""Named conditions of weather and daytime: light, sky, air and sensor for each.

`world(...)` in painting.py puts meshes into a condition. What a scene itself must do: light windows by
`Condition.lit_windows`, and pass the lamps of its furniture and vehicles where `Condition.lamps_lit`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from data_registry.geometry import yaw_rotation
from data_registry.scene3d.light import Air, Lamp, Light
from data_registry.scene3d.solids import Colour
from data_registry.sources.streetset.sky import Sky


@dataclass(frozen=True, slots=True)
class Sensor:
    """How light becomes pixels.

    Attributes:
        exposure: factor on linear light.
        noise: standard deviation of the noise at mid grey, steps of 8 bits.
        dark_noise: standard deviation of the noise at black.
        vignette: share of light lost in the picture's corners.
        softness: share of a pixel's light that its four neighbours get together.
        bloom: share of very bright light that spreads about its place in the lens.
    """

    exposure: float = 1.0
    noise: float = 1.1
    dark_noise: float = 1.1
    vignette: float = 0.12
    softness: float = 0.22
    bloom: float = 0.0


@dataclass(frozen=True, slots=True)
class Condition:
    """Everything but the meshes.

    Attributes:
        name: day, overcast, dusk, night, rain or fog.
        light: sun, ambient and air; without lamps.
        sky: what is behind everything.
        sensor: exposure and noise.
        lamp_share: how bright street lamps and headlamps are in this exposure; 0: they are off.
        lit_windows: share of windows that are lit, for buildings.row and its kin.
    """

    name: str
    light: Light
    sky: Sky
    sensor: Sensor
    lamp_share: float
    lit_windows: float

    @property
    def lamps_lit(self) -> bool:
        """Whether street lamps and headlamps are on."""
        return self.lamp_share > 0.0

    def facing(self, yaw: float) -> Condition:
        """Return the condition with its sun turned about the vertical by `yaw` radians.

        Unturned, the sun stands left behind whoever looks along x by day, and left ahead of them at dusk.
        """
        direction = yaw_rotation(yaw) @ self.light.direction
        return replace(self, light=replace(self.light, direction=direction / np.linalg.norm(direction)))

    def light_with(self, lamps: tuple[Lamp, ...]) -> Light:
        """Return the light with lamps added where this condition has them lit."""
        if not self.lamps_lit:
            return self.light
        return replace(self.light, lamps=tuple(replace(lamp, colour=self.lamp_share * lamp.colour) for lamp in lamps))


def _light(
    towards: tuple[float, float, float], sun: Colour, ambient: Colour, air: Colour, sight_m: float, wetness: float = 0.0
) -> Light:
    direction = np.array(towards) / np.linalg.norm(towards)
    return Light(direction, np.array(sun), np.array(ambient), (), Air(np.array(air), sight_m, wetness))


CONDITIONS: Final[dict[str, Condition]] = {
    condition.name: condition
    for condition in (
        Condition(
            "day",
            _light((-0.55, 0.42, 0.72), (1.32, 1.22, 1.05), (0.46, 0.52, 0.62), (0.52, 0.62, 0.76), 1100.0),
            Sky((0.09, 0.21, 0.53), (0.50, 0.63, 0.80), (0.30, 0.31, 0.29), (0.7, 0.65, 0.5), (0.90, 0.91, 0.93), 0.46),
            Sensor(exposure=1.15),
            lamp_share=0.0,
            lit_windows=0.0,
        ),
        Condition(
            "overcast",
            _light((-0.2, 0.3, 0.93), (0.10, 0.10, 0.10), (0.74, 0.77, 0.82), (0.62, 0.65, 0.69), 600.0),
            Sky((0.52, 0.55, 0.60), (0.72, 0.74, 0.77), (0.28, 0.28, 0.28), cloud=(0.66, 0.68, 0.72), cloud_share=0.75),
            Sensor(noise=1.3, dark_noise=1.3),
            lamp_share=0.0,
            lit_windows=0.05,
        ),
        Condition(
            "dusk",
            _light((0.90, 0.38, 0.20), (1.05, 0.56, 0.26), (0.20, 0.21, 0.29), (0.58, 0.40, 0.32), 900.0),
            Sky(
                (0.09, 0.13, 0.29),
                (0.86, 0.50, 0.28),
                (0.12, 0.10, 0.10),
                (1.1, 0.6, 0.25),
                (0.50, 0.30, 0.27),
                0.28,
                4.2,
            ),
            Sensor(noise=1.8, dark_noise=2.2, bloom=0.35),
            lamp_share=0.4,
            lit_windows=0.22,
        ),
        Condition(
            "night",
            _light((0.3, -0.4, 0.87), (0.012, 0.014, 0.020), (0.034, 0.038, 0.052), (0.030, 0.027, 0.030), 350.0),
            Sky((0.006, 0.008, 0.015), (0.050, 0.040, 0.036), (0.006, 0.006, 0.007), steepness=5.0),
            Sensor(noise=2.2, dark_noise=3.2, bloom=0.9),
            lamp_share=1.0,
            lit_windows=0.30,
        ),
        Condition(
            "rain",
            _light((-0.3, 0.2, 0.93), (0.03, 0.03, 0.03), (0.37, 0.395, 0.43), (0.36, 0.385, 0.415), 190.0, 1.0),
            Sky(
                (0.30, 0.325, 0.36), (0.40, 0.425, 0.455), (0.15, 0.15, 0.16), cloud=(0.34, 0.36, 0.39), cloud_share=0.7
            ),
            Sensor(noise=1.7, dark_noise=2.0, softness=0.34, bloom=0.4),
            lamp_share=0.45,
            lit_windows=0.18,
        ),
        Condition(
            "fog",
            _light((-0.3, 0.2, 0.93), (0.05, 0.05, 0.05), (0.58, 0.60, 0.62), (0.60, 0.615, 0.63), 62.0, 0.15),
            Sky((0.58, 0.60, 0.62), (0.60, 0.615, 0.63), (0.5, 0.51, 0.52)),
            Sensor(noise=1.5, dark_noise=1.6, softness=0.34, bloom=0.3),
            lamp_share=0.4,
            lit_windows=0.12,
        ),
    )
}
"""By name: day, overcast, dusk, night, rain, fog."""

HEADLIGHT: Final = np.array([1.0, 0.95, 0.86])
HEADLAMP_POWER: Final = 60.0
EGO_BEAMS: Final = ((16.0, 0.50), (16.0, 0.32), (24.0, 0.20), (50.0, 0.12), (180.0, 0.065))
"""The ego's beam in layers, power and half angle: wide and weak, narrow and strong, so that its patch has no rim."""


def headlamps(position: tuple[float, float, float], yaw: float) -> tuple[Lamp, ...]:
    """Return the dipped beam of a vehicle's two headlamps, as one lamp: each lamp costs time in every pixel.

    Args:
        position: middle of its front, scene frame, metres (z: the lamps' height, about 0.65).
        yaw: where it looks, radians.
    """
    return (_beam(position, yaw, HEADLAMP_POWER, 0.19),)


def ego_headlamps(position: tuple[float, float, float], yaw: float) -> tuple[Lamp, ...]:
    """Return the ego vehicle's beam, which one sees from above: several lamps in one place; as `headlamps`."""
    return tuple(_beam(position, yaw, power, spread) for power, spread in EGO_BEAMS)


def _beam(position: tuple[float, float, float], yaw: float, power: float, spread: float) -> Lamp:
    beam = np.array([np.cos(yaw), np.sin(yaw), -0.04])
    return Lamp(np.array(position), power * HEADLIGHT, beam / np.linalg.norm(beam), spread)
