"""Outlines that uneven surfaces grow in: a star around a centre that never leaves the outline, and repeatable noise.

Everything that varies follows from the outline's place and shape: the same outline gives the same surface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import Array, GeometryError
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.solids import Coat, coated

HeightAt = Callable[[Array], Array]
"""Ground heights (N,) under plan points (N, 2), metres."""

SMALLEST_M2: Final = 0.02
"""Outlines below this area are refused: nothing of a surface would be seen."""


@dataclass(frozen=True, slots=True, eq=False)
class Star:
    """The part of an outline that is seen from its centre.

    Attributes:
        area: the outline as a shapely polygon.
        centre: (2,) plan point inside the outline.
        turn: (S,) directions, radians, evenly spread.
        reach: (S,) metres; the polygon through centre + reach * direction lies within the outline.
        seed: whole number that stands for the outline's place.
    """

    area: Any
    centre: Array
    turn: Array
    reach: Array
    seed: int

    def ring(self, share: Array | float) -> Array:
        """Return the plan points (S, 2) at a share, or one share a direction, of the reach."""
        return self.at(np.arange(len(self.turn)), share)

    def at(self, spoke: Any, share: Array | float) -> Array:
        """Return the plan points (N, 2) on the given spokes at shares of the reach."""
        spread = np.asarray(self.reach)[spoke] * share
        direction = np.column_stack([np.cos(self.turn[spoke]), np.sin(self.turn[spoke])])
        return self.centre + np.asarray(spread)[:, None] * direction

    def holds(self, solid: Mesh) -> bool:
        """Say whether a small solid lies in the outline."""
        hull: Any = shapely.convex_hull(shapely.multipoints(solid.vertices[:, :2]))
        return bool(self.area.contains(hull))


def outline_area(outline: Array) -> Any:
    """Return a surface's outline (K, 2) as a polygon.

    Raises:
        GeometryError: it is not finite, crosses itself, or is too small.
    """
    corners = np.asarray(outline, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
        raise GeometryError(f"surface outline must be finite and (K, 2) with K >= 3, got shape {corners.shape}")
    area: Any = shapely.Polygon(corners)
    if not area.is_valid or area.area < SMALLEST_M2:
        reason = shapely.is_valid_reason(area)
        raise GeometryError(f"surface outline of {area.area:.4f} m2 is not usable ({reason}): {area.wkt[:200]}")
    return area


def star(outline: Array, spokes: int) -> Star:
    """Return the star in an outline (K, 2).

    Raises:
        GeometryError: the outline is not usable, or no point inside sees more than a sliver of it.
    """
    area = outline_area(outline)
    shapely.prepare(area)
    middle: Any = area.centroid if area.contains(area.centroid) else area.representative_point()
    centre = np.array([middle.x, middle.y])
    turn = np.arange(spokes) * (2 * np.pi / spokes)
    first = _first_hits(area, centre, turn)
    reach = 0.995 * (first if _is_convex(area) else _kept_inside(area, centre, first))
    if float(reach.min()) < 1e-3:
        raise GeometryError(f"surface outline leaves no room around its centre {centre.tolist()}: {area.wkt[:200]}")
    return Star(area, centre, turn, reach, round(float(centre[0]) * 50) * 31 + round(float(centre[1]) * 50))


def _is_convex(area: Any) -> bool:
    """Tell whether chords between points on an outline stay inside it."""
    return float(area.convex_hull.area - area.area) < 1e-9 * float(area.area)


def _kept_inside(area: Any, centre: Array, first: Array) -> Array:
    """Return reaches (S,), at most the given ones, whose chords from spoke to spoke stay inside an outline."""
    spokes = len(first)
    corner = np.asarray(area.exterior.coords)[:-1] - centre
    sector = np.floor((np.arctan2(corner[:, 1], corner[:, 0]) % (2 * np.pi)) / (2 * np.pi / spokes)).astype(np.int64)
    limit = np.minimum(first, np.roll(first, -1))
    # A corner of the outline between two spokes limits both of them, or their chord would cut it off.
    np.minimum.at(limit, sector % spokes, np.hypot(corner[:, 0], corner[:, 1]))
    return np.minimum(limit, np.roll(limit, 1))


def _first_hits(area: Any, centre: Array, turn: Array) -> Array:
    """Return how far the outline is from the centre in each direction (S,), metres: its first crossing."""
    low, high = np.asarray(area.bounds)[:2], np.asarray(area.bounds)[2:]
    far = 2 * float(np.hypot(*(high - low))) + 1.0
    ends = centre + far * np.column_stack([np.cos(turn), np.sin(turn)])
    rays = shapely.linestrings(np.stack([np.broadcast_to(centre, ends.shape), ends], axis=1))
    hits = shapely.intersection(rays, area.exterior)
    return np.asarray(shapely.distance(shapely.Point(*centre), hits), dtype=np.float64)


def noise(count: int, seed: int) -> Array:
    """Return `count` values in 0..1 without order, the same for the same seed."""
    wild = np.sin(np.arange(count) * 12.9898 + (seed % 9973) * 78.233 + 1.0) * 43758.5453
    return wild - np.floor(wild)


def waves(turn: Array, seed: int) -> Array:
    """Return a smooth closed wobble in -1..1 for directions (S,)."""
    phase = 6.283 * noise(4, seed)
    total = sum(np.sin(n * turn + phase[k]) / (k + 1) for k, n in enumerate((2, 3, 5, 9)))
    return np.asarray(total) / (25 / 12)


def band(inner: Array, outer: Array, coat: Coat, shades: Array | None = None) -> Mesh:
    """Return the closed strip between two rings of points (S, 3); `shades` (2S,) vary its colour face by face."""
    size = len(inner)
    index = np.arange(size)
    after = (index + 1) % size
    one, other = np.column_stack([index, after, after + size]), np.column_stack([index, after + size, index + size])
    mesh = coated(np.concatenate([inner, outer]), np.stack([one, other], axis=1).reshape(-1, 3), coat)
    return mesh if shades is None else speckled(mesh, shades)


def speckled(mesh: Mesh, shades: Array) -> Mesh:
    """Return the mesh with every face's colour times a factor (M,), never above white."""
    return Mesh(mesh.vertices, mesh.faces, np.clip(mesh.colours * shades[:, None], 0.0, 1.0), mesh.materials)


def raised(plan: Array, level: Array | float) -> Array:
    """Return plan points (N, 2) at heights above the ground: (N, 3)."""
    return np.column_stack([plan, np.broadcast_to(level, len(plan))])


def draped(mesh: Mesh, height_at: HeightAt) -> Mesh:
    """Return a mesh whose z counts from the ground, laid onto it."""
    vertices = mesh.vertices.copy()
    vertices[:, 2] += height_at(vertices[:, :2])
    return Mesh(vertices, mesh.faces, mesh.colours, mesh.materials)
