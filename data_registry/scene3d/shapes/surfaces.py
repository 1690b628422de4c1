"""Areas laid onto the ground, and what covers it flat: standing water and ice."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import Array, GeometryError
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.outlines import HeightAt, Star, band, draped, noise, raised, star, waves
from data_registry.scene3d.solids import Coat, Finish, coated, panel


def ground_polygon(polygon: Any, height_at: HeightAt, colour: Coat) -> Mesh:
    """Return a polygon (K, 2) or any shapely area, holes included, laid onto the ground.

    Raises:
        GeometryError: the polygon is invalid.
    """
    area: Any = polygon if isinstance(polygon, shapely.Geometry) else shapely.Polygon(np.asarray(polygon))
    if not area.is_valid:
        raise GeometryError(f"ground polygon is invalid ({shapely.is_valid_reason(area)}): {area.wkt[:200]}")
    pieces = [part for part in shapely.get_parts(area) if part.geom_type == "Polygon" and part.area > 0]
    triangles = [triangle for part in pieces for triangle in _triangulated(part)]
    if not triangles:
        return joined([])
    plan = np.concatenate(triangles)
    faces = np.arange(len(plan), dtype=np.int64).reshape(-1, 3)
    return coated(np.column_stack([plan, height_at(plan)]), faces, colour)


def _triangulated(polygon: Any) -> list[Array]:
    """Cut a polygon into triangles (3, 2): the Delaunay triangles of its corners, cut at its outline."""
    shapely.prepare(polygon)
    triangles = shapely.get_parts(shapely.delaunay_triangles(polygon))
    inside = shapely.covers(polygon, triangles)
    across = triangles[~inside & shapely.intersects(polygon, triangles)]
    result = [np.asarray(shapely.get_coordinates(triangles[inside])).reshape(-1, 4, 2)[:, :3].reshape(-1, 2)]
    for piece in shapely.get_parts(shapely.intersection(polygon, across)):
        # Convex: a Delaunay triangle has no corner of the outline inside it, so only whole chords cut it.
        if piece.geom_type == "Polygon" and piece.area > 1e-12:
            hull = np.asarray(piece.exterior.coords)[:-1]
            result += [hull[[0, index, index + 1]] for index in range(1, len(hull) - 1)]
    return result


SPOKES: Final = 96
FILM_M: Final = 0.004
"""Height of water and ice above the road, metres: enough to lie on top of it, too little to be seen as a step."""


def flood(outline: Array, height_at: HeightAt) -> Mesh:
    """Return a large puddle within an outline (K, 2): it fills the low side and draws back from the high one.

    Raises:
        GeometryError: the outline is not usable.
    """
    shape = star(outline, SPOKES)
    edge = height_at(shape.ring(1.0))
    span = float(edge.max() - edge.min())
    high = (edge - edge.min()) / span if span > 1e-6 else np.zeros(SPOKES)
    shore = np.clip(0.93 - 0.10 * high + 0.06 * waves(shape.turn, shape.seed), 0.6, 0.985)
    wet = np.minimum(1.0, shore + 0.012 + 0.05 * noise(SPOKES, shape.seed + 1))
    water = Finish((0.030, 0.038, 0.042), Material.WATER)
    shallow = Finish((0.055, 0.056, 0.052), Material.WATER)
    damp = Finish((0.040, 0.040, 0.041), Material.ASPHALT)
    rings = [(wet, 0.0), (shore, FILM_M), (0.92 * shore, FILM_M), (0.55 * shore, FILM_M), (0.22 * shore, FILM_M)]
    points = [raised(shape.ring(share), level) for share, level in rings]
    parts = [band(points[0], points[1], damp), band(points[1], points[2], shallow)]
    parts += [band(points[2], points[3], water), band(points[3], points[4], water)]
    parts += [_lid(points[4], shape.centre, FILM_M, water), *_floating(shape, shore)]
    return draped(joined(parts), height_at)


def _lid(ring: Array, centre: Array, level: float, coat: Coat) -> Mesh:
    """Close the middle of a ring (S, 3) with a fan."""
    size = len(ring)
    index = np.arange(size)
    faces = np.column_stack([index, (index + 1) % size, np.full(size, size)])
    return coated(np.vstack([ring, [*centre, level]]), faces, coat)


def _floating(shape: Star, shore: Array) -> list[Mesh]:
    """Return leaves and twigs that drift near the shore."""
    count = 26
    spoke = (noise(count, shape.seed + 2) * SPOKES).astype(np.int64) % SPOKES
    share = shore[spoke] * (0.45 + 0.45 * noise(count, shape.seed + 3))
    plan, turn = shape.at(spoke, share), 6.283 * noise(count, shape.seed + 4)
    size = np.minimum(0.022 + 0.03 * noise(count, shape.seed + 5), 0.04 * shape.reach[spoke])
    colours = ((0.16, 0.09, 0.02), (0.22, 0.15, 0.03), (0.07, 0.08, 0.02))
    leaves: list[Mesh] = []
    for index in range(count):
        along = size[index] * np.array([np.cos(turn[index]), np.sin(turn[index])])
        across = 0.45 * np.array([-along[1], along[0]])
        corners = [plan[index] + along, plan[index] + across, plan[index] - along, plan[index] - across]
        leaf = [(float(x), float(y), FILM_M + 0.002) for x, y in corners]
        leaves.append(panel(leaf, Finish(colours[index % 3], Material.FOLIAGE)))
    return [leaf for leaf in leaves if shape.holds(leaf)]


def ice(outline: Array, height_at: HeightAt) -> Mesh:
    """Return a patch of ice within an outline (K, 2): frosted ragged edges, clear darker middle, fine cracks.

    Raises:
        GeometryError: the outline is not usable.
    """
    shape = star(outline, SPOKES)
    edge = np.clip(0.90 + 0.05 * waves(shape.turn, shape.seed) + 0.06 * (noise(SPOKES, shape.seed) - 0.5), 0.6, 0.99)
    ragged = 0.10 * noise(SPOKES, shape.seed + 1)
    frost = Finish((0.62, 0.65, 0.68), Material.ICE)
    rings = [
        (np.minimum(1.0, edge + 0.09 * noise(SPOKES, shape.seed + 2) ** 2), 0.0),
        (edge, FILM_M),
        (edge * (0.93 - ragged), FILM_M + 0.001),
        (edge * (0.80 - ragged), FILM_M + 0.001),
        (edge * 0.52, FILM_M + 0.001),
        (edge * 0.20, FILM_M + 0.001),
    ]
    tones = ((0.40, 0.43, 0.46), (0.62, 0.65, 0.68), (0.44, 0.49, 0.53), (0.25, 0.30, 0.34), (0.20, 0.25, 0.29))
    points = [raised(shape.ring(share), level) for share, level in rings]
    parts = [
        band(
            outer,
            inner,
            Finish(tone, Material.ICE),
            _even(number) * (noise(2 * SPOKES, shape.seed + 5 + number) - 0.5) + 1.0,
        )
        for number, (outer, inner, tone) in enumerate(zip(points[:-1], points[1:], tones, strict=True))
    ]
    parts.append(_lid(points[-1], shape.centre, FILM_M + 0.001, Finish(tones[-1], Material.ICE)))
    return draped(joined([*parts, *_ice_cracks(shape, edge, frost)]), height_at)


def _even(number: int) -> float:
    """Return how far shades of a band of ice may differ: less towards the middle, where faces are long and thin."""
    return 0.24 if number < 2 else 0.08


def _ice_cracks(shape: Star, edge: Array, coat: Coat) -> list[Mesh]:
    """Return white hairline cracks across the clear part."""
    parts: list[Mesh] = []
    for number in range(7):
        values = noise(8, shape.seed + 40 + number)
        spoke = int(values[0] * SPOKES)
        steps = np.arange(6)
        spokes = (spoke + np.cumsum(np.r_[0, np.round(3 * (values[2:7] - 0.5))]).astype(np.int64)) % SPOKES
        shares = edge[spokes] * np.linspace(0.12 + 0.2 * values[1], 0.86, 6)
        middle = shape.at(spokes, shares)
        width = np.minimum(0.004 + 0.006 * values[7], 0.01 * shape.reach[spokes])[:, None] * (1 - steps / 8)[:, None]
        side = np.column_stack([-np.sin(shape.turn[spokes]), np.cos(shape.turn[spokes])])
        left, right = (raised(middle + sign * width * side, FILM_M + 0.003) for sign in (1, -1))
        parts.append(coated(np.concatenate([left, right]), _strip(6), coat))
    return parts


def _strip(count: int) -> Any:
    """Return the faces between two lines of `count` points that follow one another."""
    index = np.arange(count - 1)
    one, other = (
        np.column_stack([index, index + 1, index + count]),
        np.column_stack([index + 1, index + count, index + count + 1]),
    )
    return np.concatenate([one, other])
