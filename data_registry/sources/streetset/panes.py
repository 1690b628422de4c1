"""Many flat four-cornered pieces at once: what houses and furniture are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.solids import Colour

_LEVEL: Final = ((0, 1, 2), (3, 1, 2), (3, 4, 2), (0, 4, 2))
_UPRIGHT: Final = ((0, 1, 2), (3, 4, 2), (3, 4, 5), (0, 1, 5))
"""The corners of a quad: which of x0, y0, z0, x1, y1, z1 its coordinates are."""


def panes(corners: Array, colours: Array | Colour, material: Material = Material.MATTE) -> Mesh:
    """Return quads (K, 4, 3), their corners in order around, with colours (K, 3) or one for all."""
    count = len(corners)
    start = 4 * np.arange(count, dtype=np.int64)
    faces = (start[:, None] + np.array((0, 1, 2, 0, 2, 3))).reshape(-1, 3)
    paint = np.repeat(np.broadcast_to(np.asarray(colours, dtype=np.float64), (count, 3)), 2, axis=0)
    return Mesh(corners.reshape(-1, 3), faces, paint, np.full(len(faces), material, dtype=np.uint8))


def spanned(low: Sequence[Array | float], high: Sequence[Array | float]) -> Array:
    """Return quads (K, 4, 3) between corners low and high (x, y, z; scalars or (K,)): one of the three must be equal.

    The quad is upright or level: it spans the two coordinates that differ.
    """
    ends = [np.asarray(value, dtype=np.float64) for value in (*low, *high)]
    count = max(end.size for end in ends)
    level = bool((np.abs(ends[2] - ends[5]) < 1e-12).all())
    result = np.empty((count, 4, 3))
    for corner, coordinates in enumerate(_LEVEL if level else _UPRIGHT):
        for axis, end in enumerate(coordinates):
            result[:, corner, axis] = ends[end]
    return result


def blocks(low: Sequence[Array | float], high: Sequence[Array | float]) -> Array:
    """Return the six sides of boxes, quads (6 K, 4, 3), between corners low and high (x, y, z; scalars or (K,))."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    sides = (
        spanned((x0, y0, z0), (x1, y1, z0)),
        spanned((x0, y0, z1), (x1, y1, z1)),
        spanned((x0, y0, z0), (x1, y0, z1)),
        spanned((x0, y1, z0), (x1, y1, z1)),
        spanned((x0, y0, z0), (x0, y1, z1)),
        spanned((x1, y0, z0), (x1, y1, z1)),
    )
    count = max(len(side) for side in sides)
    return np.concatenate([np.broadcast_to(side, (count, 4, 3)) for side in sides])
