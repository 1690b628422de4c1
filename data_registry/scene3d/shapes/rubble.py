"""Stones, lumps and broken plates: small irregular solids that lie at a place; each seed gives another one."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.outlines import noise, speckled
from data_registry.scene3d.solids import Coat, Finish, Point, coated, loft

Rows = tuple[tuple[float, float], ...]
"""Rings of a lump from below: share of the radius, height as a share of the radius; the last is the top's point."""

_STONE: Final[Rows] = ((0.72, 0.0), (1.0, 0.30), (0.72, 0.68), (0.0, 0.85))
_CHUNK: Final[Rows] = ((0.9, 0.0), (1.0, 0.15), (0.80, 0.55), (0.0, 0.62))
_PEBBLE: Final[Rows] = ((1.0, 0.0), (0.72, 0.50), (0.0, 0.72))


def stone(place: Point, radius: float, seed: int, coat: Coat) -> Mesh:
    """Return a rounded stone on a place (its lowest point there): no point is farther than `radius` in plan."""
    return _lump(place, radius, seed, coat, _STONE, 6)


def chunk(place: Point, radius: float, seed: int, coat: Coat) -> Mesh:
    """Return an angular lump with a flat top, as of broken asphalt."""
    return _lump(place, radius, seed, coat, _CHUNK, 6)


def pebble(place: Point, radius: float, seed: int, coat: Coat) -> Mesh:
    """Return a small stone of few faces, for heaps of many."""
    return _lump(place, radius, seed, coat, _PEBBLE, 5)


def _lump(place: Point, radius: float, seed: int, coat: Coat, rows: Rows, sides: int) -> Mesh:
    values = noise(2 * sides + 2, seed)
    turn = (np.arange(sides) + 0.5 * values[:sides]) * (2 * np.pi / sides)
    uneven = 0.62 + 0.38 * values[sides : 2 * sides]
    squeeze = np.array([1.0, 0.65 + 0.35 * values[-1]])
    plan = np.column_stack([np.cos(turn), np.sin(turn)]) * uneven[:, None] * squeeze
    spin = 6.283 * values[-2]
    plan = plan @ np.array([[np.cos(spin), np.sin(spin)], [-np.sin(spin), np.cos(spin)]])
    rings = [np.column_stack([share * radius * plan, np.full(sides, level * radius)]) for share, level in rows[:-1]]
    tip = [[0.0, 0.0, rows[-1][1] * radius]]
    points = np.asarray(np.vstack([*rings, tip]) + np.array(place), dtype=np.float64)
    index = np.arange(sides)
    after = (index + 1) % sides
    faces: list[Any] = []
    for level in range(len(rings) - 1):
        low, high = level * sides, (level + 1) * sides
        faces += [
            np.column_stack([low + index, low + after, high + after]),
            np.column_stack([low + index, high + after, high + index]),
        ]
    top = (len(rings) - 1) * sides
    faces.append(np.column_stack([top + index, top + after, np.full(sides, len(points) - 1)]))
    mesh = coated(points, np.concatenate(faces).astype(np.int64), coat)
    return speckled(mesh, 0.8 + 0.4 * noise(len(mesh.faces), seed + 7))


def slab_of_road(place: Point, radius: float, turn: float, tilt: float, seed: int) -> Mesh:
    """Return a broken plate of road in two layers: its outer end (along `turn`) is `tilt` metres above its middle."""
    values = noise(14, seed)
    angles = (np.arange(7) + 0.6 * values[:7]) * (2 * np.pi / 7)
    plan = np.column_stack([np.cos(angles), np.sin(angles)]) * (radius * (0.62 + 0.38 * values[7:]))[:, None]
    lift = plan @ np.array([np.cos(turn), np.sin(turn)]) / radius * tilt
    thick = min(0.045, 0.3 * radius)

    def ring(level: float, share: float) -> Array:
        return np.column_stack([share * plan, lift + level]) + np.array(place)

    top = Finish((0.088, 0.088, 0.090), Material.ASPHALT)
    base = Finish((0.165, 0.150, 0.125), Material.ASPHALT)
    upper = loft([ring(0.4 * thick, 1.0), ring(0.92 * thick, 1.0), ring(thick, 0.95)], top)
    lower = loft([ring(0.0, 0.93), ring(0.41 * thick, 0.97)], base)
    return joined([upper, lower])
