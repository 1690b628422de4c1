"""Houses along streets and the skyline behind them.

By day windows are glass; `lit` is the share of them that glows (Condition.lit_windows).
"""

from __future__ import annotations

from data_registry.scene3d.mesh import Mesh
from data_registry.sources.streetset.axes import Axis, Reach

STYLES = ("town", "suburb", "offices", "industry")


def row(axis: Axis, offset: float, reach: Reach, style: str = "town", seed: int = 0, lit: float = 0.0) -> Mesh:
    """Return houses side by side whose fronts stand at `offset` (positive: left of the axis) and look at the axis.

    town: 3-5 storeys wall to wall with shops; suburb: detached houses with pitched roofs and gaps; offices: glass
    fronts; industry: long low halls with gates. No part but awnings and sills (at most 0.9 m) comes nearer than that.
    """
    raise NotImplementedError


def skyline(centre: tuple[float, float, float], seed: int = 0, radius: float = 350.0, lit: float = 0.0) -> Mesh:
    """Return a ring of far blocks and, behind them, hills about a centre (x, y, z of the ground there)."""
    raise NotImplementedError
