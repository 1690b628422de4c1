"""What surfaces are made of: how rough, glossy, bright or wet they look, by a small code that every face carries.

A face's colour is its reflectance; the material says everything else. Shading reads the table by row, so a new material
is a new row here and nothing more.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from data_registry.geometry import Array


class Material(IntEnum):
    """Codes of materials; the number is the row in `TABLE`."""

    MATTE = 0
    """Cloth, plastic, wood: even colour, no gloss."""
    ASPHALT = 1
    PAVING = 2
    """Concrete slabs and kerbs."""
    GRASS = 3
    MASONRY = 4
    FOLIAGE = 5
    PAINTWORK = 6
    """Varnished metal of vehicles."""
    METAL = 7
    GLASS = 8
    """Mirrors the sky."""
    MARKING = 9
    """Road paint: reflective beads, worn."""
    WATER = 10
    """Standing water: a mirror of the sky at flat angles."""
    ICE = 11
    GLOWING = 12
    """Its colour is light that it sends out, whatever shines on it: lamps, lit windows."""
    SKIN = 13


COLUMNS: Final = ("grain", "grain_m", "gloss", "sharpness", "mirror", "glow", "soaks")
"""grain: strength of the texture, share of the colour; grain_m: size of its finest grains, metres; gloss: strength of
highlights of sun and lamps; sharpness: their exponent (Blinn-Phong); mirror: share of the sky that is mirrored at a
flat angle; glow: 1 when the colour is light sent out; soaks: share of the colour that is lost when it is wet."""

TABLE: Final[Array] = np.array(
    [
        (0.04, 0.02, 0.00, 8.0, 0.00, 0.0, 0.25),
        (0.22, 0.02, 0.03, 12.0, 0.06, 0.0, 0.50),
        (0.14, 0.03, 0.02, 10.0, 0.04, 0.0, 0.35),
        (0.35, 0.05, 0.00, 8.0, 0.00, 0.0, 0.25),
        (0.16, 0.04, 0.00, 8.0, 0.00, 0.0, 0.30),
        (0.45, 0.10, 0.02, 8.0, 0.00, 0.0, 0.15),
        (0.02, 0.02, 0.35, 60.0, 0.25, 0.0, 0.00),
        (0.05, 0.02, 0.25, 30.0, 0.12, 0.0, 0.00),
        (0.00, 0.02, 0.60, 150.0, 0.55, 0.0, 0.00),
        (0.12, 0.03, 0.03, 12.0, 0.05, 0.0, 0.10),
        (0.02, 0.05, 0.80, 200.0, 0.85, 0.0, 0.00),
        (0.10, 0.06, 0.50, 80.0, 0.45, 0.0, 0.00),
        (0.00, 0.02, 0.00, 8.0, 0.00, 1.0, 0.00),
        (0.02, 0.02, 0.02, 10.0, 0.02, 0.0, 0.10),
    ]
)
"""One row a material, one column a property."""
