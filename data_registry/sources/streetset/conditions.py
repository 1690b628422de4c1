"""Named conditions of weather and daytime: light, sky, air and sensor for each.

`world(...)` in painting.py puts meshes into a condition. What a scene itself must do: light windows by
`Condition.lit_windows`, and pass the lamps of its furniture and vehicles where `Condition.lamps_lit`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from data_registry.scene3d.light import Lamp, Light
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
    """

    exposure: float = 1.0
    noise: float = 1.1
    dark_noise: float = 1.1
    vignette: float = 0.12
    softness: float = 0.22


@dataclass(frozen=True, slots=True)
class Condition:
    """Everything but the meshes.

    Attributes:
        name: day, overcast, dusk, night, rain or fog.
        light: sun, ambient and air; without lamps.
        sky: what is behind everything.
        sensor: exposure and noise.
        lamps_lit: street lamps and headlamps are on.
        lit_windows: share of windows that are lit, for buildings.row and its kin.
    """

    name: str
    light: Light
    sky: Sky
    sensor: Sensor
    lamps_lit: bool
    lit_windows: float

    def light_with(self, lamps: tuple[Lamp, ...]) -> Light:
        """Return the light with lamps added where this condition has them lit."""
        return replace(self.light, lamps=lamps) if self.lamps_lit else self.light


CONDITIONS: Final[dict[str, Condition]] = {}
"""By name: day, overcast, dusk, night, rain, fog."""


def headlamps(position: tuple[float, float, float], yaw: float, width: float = 1.4) -> tuple[Lamp, ...]:
    """Return the two beams of a vehicle.

    Args:
        position: middle of its front, scene frame, metres (z: the lamps' height, about 0.65).
        yaw: where it looks, radians.
        width: metres between the lamps.
    """
    raise NotImplementedError
