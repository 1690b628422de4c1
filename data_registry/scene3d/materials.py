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


COLUMNS: Final = ("grain", "grain_m", "gloss", "mirror", "sharpness", "glow", "soaks", "film")
"""grain: strength of the texture, share of the colour; grain_m: size of its finest grains, metres; gloss: share of
light that is mirrored square on; mirror: the same at a flat angle (Schlick goes from one to the other); sharpness:
exponent of highlights (Blinn-Phong); glow: 1 when the colour is light sent out; soaks: share of the colour that is lost
when it is wet; film: share of a water's mirror that it gets when it is wet and level."""

GRAIN, GRAIN_M, GLOSS, MIRROR, SHARPNESS, GLOW, SOAKS, FILM = range(len(COLUMNS))

TABLE: Final[Array] = np.array(
    [
        (0.00, 0.02, 0.000, 0.00, 8.0, 0.0, 0.25, 0.0),
        (0.30, 0.012, 0.000, 0.00, 8.0, 0.0, 0.45, 1.0),
        (0.16, 0.02, 0.000, 0.00, 8.0, 0.0, 0.35, 0.8),
        (0.50, 0.03, 0.000, 0.00, 8.0, 0.0, 0.20, 0.0),
        (0.20, 0.02, 0.000, 0.00, 8.0, 0.0, 0.30, 0.1),
        (0.55, 0.04, 0.000, 0.00, 8.0, 0.0, 0.15, 0.0),
        (0.00, 0.02, 0.045, 0.70, 90.0, 0.0, 0.00, 0.0),
        (0.05, 0.02, 0.120, 0.45, 40.0, 0.0, 0.00, 0.0),
        (0.00, 0.02, 0.080, 0.95, 300.0, 0.0, 0.00, 0.0),
        (0.22, 0.015, 0.000, 0.00, 8.0, 0.0, 0.12, 0.9),
        (0.02, 0.05, 0.020, 1.00, 300.0, 0.0, 0.00, 0.0),
        (0.12, 0.05, 0.030, 0.60, 60.0, 0.0, 0.00, 0.0),
        (0.00, 0.02, 0.000, 0.00, 8.0, 1.0, 0.00, 0.0),
        (0.02, 0.02, 0.000, 0.00, 8.0, 0.0, 0.10, 0.0),
    ]
)
"""One row a material, one column a property. Matte faces have no grain: they are what figures are checked with.
What is rough mirrors nothing: its sheen would not be seen but would cost a third of a picture with lamps."""
