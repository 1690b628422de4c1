"""Many flat four-cornered pieces at once: what houses and furniture are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.solids import Colour


def panes(corners: Array, colours: Array | Colour, material: Material = Material.MATTE) -> Mesh:
    """Return quads (K, 4, 3), their corners in order around, with colours (K, 3) or one for all."""
    count = len(corners)
    start = 4 * np.arange(count, dtype=np.int64)
    faces = np.stack([np.column_stack([start, start + k, start + k + 1]) for k in (1, 2)], axis=1).reshape(-1, 3)
    paint = np.repeat(np.broadcast_to(np.asarray(colours, dtype=np.float64), (count, 3)), 2, axis=0)
    return Mesh(corners.reshape(-1, 3), faces, paint).made_of(material)


def spanned(low: Sequence[Array | float], high: Sequence[Array | float]) -> Array:
    """Return quads (K, 4, 3) between corners low and high (x, y, z; scalars or (K,)): one of the three must be equal.

    The quad is upright or level: it spans the two coordinates that differ.
    """
    ends = np.broadcast_arrays(*(np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in (*low, *high)))
    x0, y0, z0, x1, y1, z1 = ends
    level = bool((np.abs(z0 - z1) < 1e-12).all())
    rounds = (
        [(x0, y0, z0), (x1, y0, z0), (x1, y1, z0), (x0, y1, z0)]
        if level
        else [(x0, y0, z0), (x1, y1, z0), (x1, y1, z1), (x0, y0, z1)]
    )
    return np.stack([np.stack(corner, axis=1) for corner in rounds], axis=1)


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
