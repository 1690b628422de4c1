"""Trees, hedges, bushes and grass tufts; origin on the ground below the middle."""

from __future__ import annotations

from data_registry.scene3d.mesh import Mesh
from data_registry.sources.streetset.axes import Axis, Reach

KINDS = ("linden", "plane", "birch", "poplar", "pine")


def tree(kind: str = "linden", height: float = 7.0, seed: int = 0) -> Mesh:
    """Return a tree of that height, metres; equal arguments give an equal tree."""
    raise NotImplementedError


def bush(size: tuple[float, float, float] = (1.2, 1.2, 1.0), seed: int = 0) -> Mesh:
    """Return a bush that fills length x width x height, metres."""
    raise NotImplementedError


def hedge(axis: Axis, offset: float, reach: Reach, height: float = 1.1, seed: int = 0) -> Mesh:
    """Return a clipped hedge 0.6 m thick along an axis, in the scene's frame."""
    raise NotImplementedError


def tufts(axis: Axis, right: float, left: float, reach: Reach, seed: int = 0, lift: float = 0.0) -> Mesh:
    """Return scattered tufts of grass (about one a square metre) between two offsets, in the scene's frame."""
    raise NotImplementedError
