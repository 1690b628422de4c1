"""The sky behind everything: gradient, clouds, the sun's glow, city glow by night, for every viewing ray."""

from __future__ import annotations

from dataclasses import dataclass

from data_registry.scene3d.solids import Colour


@dataclass(frozen=True, slots=True)
class Sky:
    """Colours are linear RGB light in the picture's exposure.

    Attributes:
        zenith: straight up.
        horizon: at the horizon.
        ground: below the horizon, where no mesh is.
        glow: added about the sun (towards the light's direction), at its centre.
        cloud: colour of clouds.
        cloud_share: 0 none to 1 closed.
        steepness: how fast the horizon's colour gives way to the zenith's with elevation.
        seed: of the clouds' pattern.
    """

    zenith: Colour
    horizon: Colour
    ground: Colour
    glow: Colour = (0.0, 0.0, 0.0)
    cloud: Colour = (0.9, 0.9, 0.9)
    cloud_share: float = 0.0
    steepness: float = 3.2
    seed: int = 0
