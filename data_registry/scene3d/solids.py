"""Simple solids that the shapes are put together from: boxes, lofts, sheets, sweeps, tubes, ellipsoids and panels.

Every solid takes a colour (matte then) or a `Finish`, which says the material too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Faces, Mesh, joined

Colour = tuple[float, float, float]
Point = tuple[float, float, float]

_BOX_QUADS: Final = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


class Finish(NamedTuple):
    """How a surface looks: its linear RGB and what it is made of."""

    colour: Colour
    material: Material


Coat: TypeAlias = Colour | Finish
"""A colour alone is matte."""


def coated(vertices: Array, faces: Faces, coat: Coat) -> Mesh:
    """Return a mesh with one coat on all faces: vertices (N, 3) metres, faces (M, 3)."""
    colour, material = coat if isinstance(coat, Finish) else (coat, Material.MATTE)
    codes = np.full(len(faces), material, dtype=np.uint8)
    return Mesh(np.asarray(vertices, dtype=np.float64), faces, np.tile(colour, (len(faces), 1)), codes)


def quads(vertices: Array, corners: Sequence[tuple[int, int, int, int]], colour: Coat) -> Mesh:
    """Return two triangles for every four vertex indices, all in one coat."""
    faces = [part for a, b, c, d in corners for part in ((a, b, c), (a, c, d))]
    return coated(vertices, np.array(faces, dtype=np.int64), colour)


def box(low: Point, high: Point, colour: Coat) -> Mesh:
    """Return an axis-aligned box between two corners, metres."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    ring = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    vertices = np.concatenate([np.column_stack([ring, np.full(4, z)]) for z in (z0, z1)])
    return quads(vertices, _BOX_QUADS, colour)


def panel(corners: Sequence[Point], colour: Coat) -> Mesh:
    """Return a flat convex polygon through the given corners, as a fan."""
    vertices = np.array(corners, dtype=np.float64)
    faces = np.array([(0, index, index + 1) for index in range(1, len(vertices) - 1)], dtype=np.int64)
    return coated(vertices, faces, colour)


def sheet(grid: Array, colour: Coat) -> Mesh:
    """Return the open skin over a grid of points (N, K, 3)."""
    rows, columns = grid.shape[:2]
    start = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    one = np.column_stack([start, start + 1, start + columns + 1])
    other = np.column_stack([start, start + columns + 1, start + columns])
    return coated(grid.reshape(-1, 3), np.stack([one, other], axis=1).reshape(-1, 3), colour)


def loft(rings: Sequence[Array], colour: Coat) -> Mesh:
    """Return the closed skin over rings of equally many points (K, 3), with both ends closed."""
    size, count = len(rings[0]), len(rings)
    index = np.arange(size)
    after = (index + 1) % size
    start = (np.arange(count - 1) * size)[:, None]
    a, b = (start + index).ravel(), (start + after).ravel()
    sides = np.stack([np.column_stack([a, b, b + size]), np.column_stack([a, b + size, a + size])], axis=1)
    fan = np.column_stack([np.zeros(size - 2, dtype=np.int64), index[1:-1], index[2:]])
    faces = np.concatenate([sides.reshape(-1, 3), fan, fan + (count - 1) * size])
    return coated(np.concatenate(rings), faces, colour)


def tube(start: Point, end: Point, radii: tuple[float, float], colour: Coat, sides: int = 8) -> Mesh:
    """Return a round tapered bar from start to end with a radius at each end, metres."""
    axis = np.subtract(end, start)
    axis = axis / np.linalg.norm(axis)
    across = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.9 else (0.0, 1.0, 0.0))
    across /= np.linalg.norm(across)
    turn = np.arange(sides) * (2 * np.pi / sides)
    circle = np.cos(turn)[:, None] * across + np.sin(turn)[:, None] * np.cross(axis, across)
    return loft([np.asarray(start) + radii[0] * circle, np.asarray(end) + radii[1] * circle], colour)


def sweep(path: Sequence[Point], radii: Sequence[float], colour: Coat, sides: int = 8) -> Mesh:
    """Return a round bar along a bent path with a radius at each of its points, metres; bends are mitred."""
    points, along = np.array(path, dtype=np.float64), np.gradient(np.array(path, dtype=np.float64), axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1), 1e-9)[:, None]
    across = np.cross(along[0], (0.0, 1.0, 0.0) if abs(along[0, 1]) < 0.8 else (1.0, 0.0, 0.0))
    turn = np.arange(sides) * (2 * np.pi / sides)
    rings: list[Array] = []
    for centre, axis, radius in zip(points, along, radii, strict=True):
        # Carrying the frame along keeps the skin from twisting between two rings.
        across = across - axis * float(across @ axis)
        across = across / np.linalg.norm(across)
        rings.append(
            centre + radius * (np.cos(turn)[:, None] * across + np.sin(turn)[:, None] * np.cross(axis, across))
        )
    return loft(rings, colour)


def hoop(centre: Point, radius: float, thickness: float, colour: Coat, detail: tuple[int, int] = (20, 6)) -> Mesh:
    """Return an upright ring whose axis is y: `radius` to the middle of its bar, `thickness` the bar's radius."""
    turns, sides = detail
    turn = np.arange(turns + 1) * (2 * np.pi / turns)
    bar = np.arange(sides + 1) * (2 * np.pi / sides)
    reach = radius + thickness * np.cos(bar)
    x, z = np.cos(turn)[:, None] * reach, np.sin(turn)[:, None] * reach
    y = np.broadcast_to(thickness * np.sin(bar), x.shape)
    return sheet(np.array(centre) + np.stack([x, y, z], axis=2), colour)


def ellipsoid(centre: Point, radii: Point, colour: Coat, detail: int = 8) -> Mesh:
    """Return an ellipsoid of detail x detail/2 patches, its poles up and down."""
    turn = np.arange(detail) * (2 * np.pi / detail)
    tilts = np.linspace(-np.pi / 2, np.pi / 2, detail // 2 + 1)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    rings: list[Array] = []
    for tilt in tilts.tolist():
        ring: Array = np.column_stack([np.cos(tilt) * circle, np.full(detail, float(np.sin(tilt)))])
        rings.append(np.array(centre) + ring * np.array(radii))
    return loft(rings, colour)


def disc(centre: Point, radius: float, colour: Coat, sides: int = 14) -> Mesh:
    """Return an upright disc that looks along y, centred, metres."""
    turn = np.arange(sides) * (2 * np.pi / sides)
    return panel([(centre[0] + radius * np.cos(a), centre[1], centre[2] + radius * np.sin(a)) for a in turn], colour)


def button(centre: Point, radius: float, depth: float, colour: Coat, sides: int = 12) -> Mesh:
    """Return a round lamp or knob that looks along x: from `centre` it stands out by `depth` (back if negative)."""
    x, y, z = centre
    return tube((x, y, z), (x + depth, y, z), (radius, 0.94 * radius), colour, sides)


def slab(outline: Sequence[tuple[float, float]], low: float, high: float, colour: Coat) -> Mesh:
    """Return a convex side view, (x, z) corners, drawn out across from y = low to y = high."""
    return loft([np.array([(x, y, z) for x, z in outline]) for y in (low, high)], colour)


def mirrored(mesh: Mesh) -> Mesh:
    """Return the mesh on the other side: y becomes -y."""
    return mesh.scaled((1.0, -1.0, 1.0))


def both_sides(meshes: Sequence[Mesh]) -> Mesh:
    """Return the meshes of the left side (y > 0) and their mirror images."""
    left = joined(meshes)
    return joined([left, mirrored(left)])
