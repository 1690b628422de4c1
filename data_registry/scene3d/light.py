"""Sun, sky and lamps, fog and wet ground, Lambert shading, and the sRGB curve.

Linear values are reflectance times light; 1.0 is the brightest value that a picture shows. There is no tone curve: the
scene's light is chosen so that a white wall in the sun just fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array, GeometryError

Number = TypeVar("Number", np.float32, np.float64)

SKY_SHARE_LEVEL: Final = 0.8
SKY_SHARE_SLOPE: Final = 0.2
"""Share of the ambient light that reaches a face: 1.0 when it looks up, 0.8 sideways, 0.6 down."""


@dataclass(frozen=True, slots=True, eq=False)
class Lamp:
    """A small source of light: street lamp, headlamp, signal.

    Attributes:
        position: (3,) metres, the frame of the rendered meshes.
        colour: (3,) linear RGB that a white face square to it sends on at 1 m; it falls with distance squared.
        direction: (3,) unit vector of its beam; None when it shines all around.
        spread: half angle of the beam, radians; beyond it the light fades within a third of it.
    """

    position: Array
    colour: Array
    direction: Array | None = None
    spread: float = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Air:
    """What lies between camera and things, and how wet it has left the ground.

    Attributes:
        colour: (3,) linear RGB that distant things fade to.
        sight_m: distance at which 63 % of a thing's light is lost.
        wetness: 0 dry to 1 wet: level ground darkens, shines and mirrors.
    """

    colour: Array
    sight_m: float = 3000.0
    wetness: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """One distant sun, an ambient sky, lamps and the air.

    Attributes:
        direction: (3,) unit vector from the scene towards the sun, ego frame.
        sun: (3,) linear RGB that a white face square to the sun sends on.
        ambient: (3,) linear RGB that a white face looking up gets from the sky.
        lamps: small sources; they cast no shadows.
        air: haze and wetness; None for clear air on dry ground.
    """

    direction: Array
    sun: Array
    ambient: Array
    lamps: tuple[Lamp, ...] = ()
    air: Air | None = None

    def __post_init__(self) -> None:
        """Refuse directions that are not unit vectors and colours that are not (3,)."""
        if self.direction.shape != (3,) or abs(float(np.linalg.norm(self.direction)) - 1.0) > 1e-6:
            raise GeometryError(f"light direction must be a unit vector (3,), got {self.direction.tolist()}")
        if self.sun.shape != (3,) or self.ambient.shape != (3,):
            raise GeometryError(f"light colours must be (3,), got {self.sun.shape} and {self.ambient.shape}")

    def irradiance(self, normals: Array) -> Array:
        """Return the light (N, 3) on faces with unit normals (N, 3), nothing in between."""
        sunlit = np.maximum(normals @ self.direction, 0.0)
        sky = SKY_SHARE_LEVEL + SKY_SHARE_SLOPE * normals[:, 2]
        return sunlit[:, None] * self.sun + sky[:, None] * self.ambient

    def shade(self, colours: Array, normals: Array) -> Array:
        """Return the linear RGB (N, 3) of faces with reflectances (N, 3) and unit normals (N, 3) (Lambert)."""
        return colours * self.irradiance(normals)


def linear_from_srgb(values: Array) -> Array:
    """Return linear light for sRGB values in 0..1, any shape (IEC 61966-2-1)."""
    return np.where(values <= 0.04045, values / 12.92, ((np.maximum(values, 0.04045) + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return sRGB values in 0..1 for linear light of any shape; what is below 0 or above 1 is clipped.

    Single precision stays single: it is several times faster and exact enough for 8 bits.
    """
    light = np.clip(values, 0.0, 1.0)
    curve = 1.055 * np.maximum(light, 0.0031308) ** (1 / 2.4) - 0.055
    return np.where(light <= 0.0031308, light * 12.92, curve).astype(values.dtype, copy=False)
