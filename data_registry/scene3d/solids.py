"""Simple solids that the shapes are put together from: boxes, lofts, tubes, ellipsoids and flat panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.mesh import Mesh

Colour = tuple[float, float, float]
Point = tuple[float, float, float]

_BOX_QUADS: Final = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def quads(vertices: Array, corners: Sequence[tuple[int, int, int, int]], colour: Colour) -> Mesh:
    """Return two triangles for every four vertex indices, all in one colour."""
    faces = [part for a, b, c, d in corners for part in ((a, b, c), (a, c, d))]
    return Mesh(
        np.asarray(vertices, dtype=np.float64), np.array(faces, dtype=np.int64), np.tile(colour, (len(faces), 1))
    )


def box(low: Point, high: Point, colour: Colour) -> Mesh:
    """Return an axis-aligned box between two corners, metres."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    ring = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    vertices = np.concatenate([np.column_stack([ring, np.full(4, z)]) for z in (z0, z1)])
    return quads(vertices, _BOX_QUADS, colour)


def panel(corners: Sequence[Point], colour: Colour) -> Mesh:
    """Return a flat convex polygon through the given corners, as a fan."""
    vertices = np.array(corners, dtype=np.float64)
    faces = np.array([(0, index, index + 1) for index in range(1, len(vertices) - 1)], dtype=np.int64)
    return Mesh(vertices, faces, np.tile(colour, (len(faces), 1)))


def loft(rings: Sequence[Array], colour: Colour) -> Mesh:
    """Return the closed skin over rings of equally many points (K, 3), with both ends closed."""
    size = len(rings[0])
    vertices = np.concatenate(rings)
    sides = [
        (level * size + index, level * size + after, (level + 1) * size + after, (level + 1) * size + index)
        for level in range(len(rings) - 1)
        for index, after in zip(range(size), [*range(1, size), 0], strict=True)
    ]
    skin = quads(vertices, sides, colour)
    last = (len(rings) - 1) * size
    caps = [(start, start + index, start + index + 1) for start in (0, last) for index in range(1, size - 1)]
    faces = np.concatenate([skin.faces, np.array(caps, dtype=np.int64)])
    return Mesh(vertices, faces, np.tile(colour, (len(faces), 1)))


def tube(start: Point, end: Point, radii: tuple[float, float], colour: Colour, sides: int = 8) -> Mesh:
    """Return a round tapered bar from start to end with a radius at each end, metres."""
    axis = np.subtract(end, start)
    axis = axis / np.linalg.norm(axis)
    across = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.9 else (0.0, 1.0, 0.0))
    across /= np.linalg.norm(across)
    turn = np.arange(sides) * (2 * np.pi / sides)
    circle = np.cos(turn)[:, None] * across + np.sin(turn)[:, None] * np.cross(axis, across)
    return loft([np.asarray(start) + radii[0] * circle, np.asarray(end) + radii[1] * circle], colour)


def ellipsoid(centre: Point, radii: Point, colour: Colour, detail: int = 8) -> Mesh:
    """Return an ellipsoid of detail x detail/2 patches, its poles up and down."""
    turn = np.arange(detail) * (2 * np.pi / detail)
    tilts = np.linspace(-np.pi / 2, np.pi / 2, detail // 2 + 1)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    rings: list[Array] = []
    for tilt in tilts.tolist():
        ring: Array = np.column_stack([np.cos(tilt) * circle, np.full(detail, float(np.sin(tilt)))])
        rings.append(np.array(centre) + ring * np.array(radii))
    return loft(rings, colour)


def disc(centre: Point, radius: float, colour: Colour, sides: int = 14) -> Mesh:
    """Return an upright disc that looks along y, centred, metres."""
    turn = np.arange(sides) * (2 * np.pi / sides)
    return panel([(centre[0] + radius * np.cos(a), centre[1], centre[2] + radius * np.sin(a)) for a in turn], colour)
