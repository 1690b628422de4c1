"""Loose things spread over a road: spilled debris of many kinds, and a heap of gravel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.obstacles import turned
from data_registry.scene3d.shapes.outlines import HeightAt, Star, band, draped, noise, outline_area, raised, star
from data_registry.scene3d.shapes.parts import WHITE, cloth, shaded, shifted
from data_registry.scene3d.shapes.rubble import chunk, pebble, stone
from data_registry.scene3d.solids import Colour, Finish, box, coated, panel, sheet

TALLEST_M: Final = 0.16
"""Nothing of debris or gravel stands higher above the road, metres."""

TRIES: Final = 40
"""Places tried for one piece before it is made smaller."""

WOOD: Final[Colour] = (0.34, 0.22, 0.11)
RUBBER: Final[Colour] = (0.016, 0.016, 0.017)


@dataclass(frozen=True, slots=True)
class _Piece:
    """One kind of debris: how to build it about the origin for a size in metres and a seed, and how many there are."""

    build: Callable[[float, int], Mesh]
    sizes: tuple[float, float]
    count: int


def debris(outline: Array, height_at: HeightAt) -> Mesh:
    """Return a spilled load within an outline (K, 2): planks, tyre shreds, sheet metal, stones and bits.

    Every piece lies wholly in the outline and on the ground; a small outline gets smaller pieces.

    Raises:
        GeometryError: the outline is not usable.
    """
    area = outline_area(outline)
    seed = round(area.centroid.x * 50) * 31 + round(area.centroid.y * 50)
    fit = min(1.0, float(np.sqrt(area.area)) / 2.2)
    shapely.prepare(area)
    parts: list[Mesh] = []
    for number, piece in enumerate(_PIECES):
        for index in range(piece.count):
            mark = seed + 1000 * number + 17 * index
            share = float(noise(1, mark)[0])
            size = fit * (piece.sizes[0] + share * (piece.sizes[1] - piece.sizes[0]))
            found = _placed(area, piece, size, mark)
            parts += [] if found is None else [found]
    return draped(joined(parts), height_at)


def _placed(area: Any, piece: _Piece, size: float, seed: int) -> Mesh | None:
    """Return a piece somewhere in the outline, made smaller until it fits; None where not even a crumb does."""
    low, high = np.asarray(area.bounds)[:2], np.asarray(area.bounds)[2:]
    for shrink in (1.0, 0.7, 0.45, 0.25, 0.12):
        mesh = piece.build(shrink * size, seed)
        hull = np.asarray(shapely.get_coordinates(shapely.convex_hull(shapely.multipoints(mesh.vertices[:, :2]))))
        places = low + np.column_stack([noise(TRIES, seed + 3), noise(TRIES, seed + 5)]) * (high - low)
        polygons = shapely.polygons(places[:, None, :] + hull)
        inside = np.flatnonzero(shapely.contains(area, polygons))
        if len(inside):
            x, y = places[inside[0]].tolist()
            return shifted(mesh, (x, y, 0.0))
    return None


def _plank(size: float, seed: int) -> Mesh:
    """Return a board with splintered ends, one end sometimes propped up."""
    values = noise(6, seed)
    half, wide, thick = size / 2, 0.055 + 0.03 * values[0], 0.022
    wide = min(wide, 0.2 * size)
    coat = cloth(shaded(WOOD, 0.7 + 0.7 * float(values[1])))
    body = box((-half, -wide, 0.0), (0.92 * half, wide, thick), coat)
    splinters = [
        panel(
            [
                (0.92 * half, a * wide, thick),
                (0.92 * half, b * wide, thick),
                ((0.95 + 0.05 * float(values[k])) * half, (a + b) / 2 * wide, 0.6 * thick),
            ],
            cloth(shaded(WOOD, 1.5)),
        )
        for k, (a, b) in enumerate(((-1.0, -0.4), (-0.4, 0.1), (0.1, 0.6), (0.6, 1.0)))
    ]
    nails = [
        box((x * half, -0.01, thick), (x * half + 0.015, 0.01, thick + 0.003), Finish((0.2, 0.2, 0.2), Material.METAL))
        for x in (-0.9, -0.2)
    ]
    mesh = joined([body, *splinters, *nails])
    slope = 0.03 + 0.05 * float(values[2]) if values[3] > 0.55 else 0.0
    lifted = mesh.vertices + np.column_stack(
        [np.zeros((len(mesh.vertices), 2)), np.minimum((mesh.vertices[:, 0] + half) * slope, 0.11)]
    )
    # A propped end rests on a stone; the other end stays on the ground.
    tilted = Mesh(lifted, mesh.faces, mesh.colours, mesh.materials)
    prop = (
        [stone((0.8 * half, 0.0, 0.0), max(0.02, 1.05 * slope * size), seed, cloth((0.12, 0.11, 0.10)))]
        if slope
        else []
    )
    return turned(joined([tilted, *prop]), 6.283 * float(values[4]), (0.0, 0.0, 0.0))


def _shred(size: float, seed: int) -> Mesh:
    """Return a torn strip of tyre tread, curled up, with grooves and a frayed edge."""
    values = noise(20, seed)
    steps, across = 12, 5
    arc = np.linspace(0.0, 1.0, steps)
    curl = 2.4 + 1.6 * values[0]
    radius = size / curl
    flat = min(1.0, 0.13 / (radius * (1 - np.cos(min(curl, np.pi)))))
    x = radius * np.sin(curl * (arc - 0.5))
    z = flat * radius * (np.cos(curl * 0.5) * -1 + np.cos(curl * (arc - 0.5)))
    z = (z - z.min()) + 0.004
    half = 0.085 * min(1.0, size / 0.5)
    fray = 1 - 0.45 * values[1 : 1 + steps] * (np.abs(arc - 0.5) * 2) ** 2
    grid = np.stack(
        [np.column_stack([x, y * half * fray, z + 0.004 * (k % 2)]) for k, y in enumerate(np.linspace(-1, 1, across))],
        axis=1,
    )
    tread = sheet(grid, cloth(RUBBER))
    inside = sheet(grid - (0, 0, 0.004), cloth((0.045, 0.043, 0.042)))
    return turned(joined([tread, inside]), 6.283 * float(values[-1]), (0.0, 0.0, 0.0))


def _plate(size: float, seed: int) -> Mesh:
    """Return a buckled piece of sheet metal."""
    values = noise(30, seed)
    count = 5
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, count), np.linspace(-0.35, 0.35, count), indexing="ij")
    bumps = 0.09 * size * values[: count * count].reshape(count, count) + 0.16 * size * u**2
    grid = np.stack([size * u, size * v, np.minimum(bumps - bumps.min(), 0.11)], axis=2)
    return turned(sheet(grid, Finish((0.30, 0.31, 0.32), Material.METAL)), 6.283 * float(values[-1]), (0.0, 0.0, 0.0))


def _block(size: float, seed: int) -> Mesh:
    """Return a piece of broken brick or concrete."""
    tone = ((0.24, 0.085, 0.05), (0.24, 0.23, 0.21), (0.09, 0.09, 0.092))[seed % 3]
    return chunk((0.0, 0.0, 0.0), size, seed, Finish(tone, Material.MASONRY))


def _pebble(size: float, seed: int) -> Mesh:
    return stone((0.0, 0.0, 0.0), size, seed, cloth(shaded((0.20, 0.185, 0.165), 0.6 + 0.7 * float(noise(1, seed)[0]))))


def _bit(size: float, seed: int) -> Mesh:
    """Return a splinter: plastic, glass or paper, flat on the ground."""
    values = noise(6, seed)
    tones = (WHITE.colour, (0.45, 0.04, 0.03), (0.04, 0.10, 0.30), (0.03, 0.03, 0.03), (0.50, 0.30, 0.03))
    rise = 0.3 * size * float(values[0])
    corners = [
        (-size, -0.4 * size, 0.002),
        (0.8 * size, -0.5 * size, 0.004),
        (size, 0.4 * size, 0.004 + rise),
        (-0.6 * size, 0.6 * size, 0.003 + rise),
    ]
    return turned(panel(corners, cloth(tones[seed % 5])), 6.283 * float(values[1]), (0.0, 0.0, 0.002))


_PIECES: Final = (
    _Piece(_plank, (0.75, 1.5), 6),
    _Piece(_shred, (0.40, 0.75), 4),
    _Piece(_plate, (0.35, 0.65), 2),
    _Piece(_block, (0.05, 0.14), 12),
    _Piece(_pebble, (0.015, 0.05), 30),
    _Piece(_bit, (0.02, 0.06), 30),
)

SPOKES: Final = 40


def gravel(outline: Array, height_at: HeightAt) -> Mesh:
    """Return a spread heap of gravel within an outline (K, 2): a low dome with stones on and around it.

    Raises:
        GeometryError: the outline is not usable.
    """
    shape = star(outline, SPOKES)
    top = min(0.11, 0.16 * float(shape.reach.mean()))
    edge = np.clip(
        0.80 + 0.14 * (noise(SPOKES, shape.seed) - 0.5) + 0.04 * np.sin(3 * shape.turn + shape.seed), 0.5, 0.95
    )
    rings = ((1.0, 0.0), (0.88, 0.22), (0.68, 0.55), (0.44, 0.85), (0.2, 1.0))
    base = Finish((0.205, 0.185, 0.155), Material.PAVING)
    points = [
        raised(shape.ring(edge * share), top * level * (0.84 + 0.16 * noise(SPOKES, shape.seed + 9 + number)))
        for number, (share, level) in enumerate(rings)
    ]
    parts = [
        band(outer, inner, base, 0.88 + 0.24 * noise(2 * SPOKES, shape.seed + 30 + number))
        for number, (outer, inner) in enumerate(pairwise(points))
    ]
    index = np.arange(SPOKES)
    fan = np.column_stack([index, (index + 1) % SPOKES, np.full(SPOKES, SPOKES)])
    parts.append(coated(np.vstack([points[-1], [*shape.centre, 0.9 * top]]), fan, base))
    return draped(joined([*parts, *_gravel_stones(shape, edge, top)]), height_at)


def _gravel_stones(shape: Star, edge: Array, top: float) -> list[Mesh]:
    """Return stones half sunk in the heap, and strays around its foot."""
    parts: list[Mesh] = []
    levels = ((0.0, 1.0), (0.2, 1.0), (0.44, 0.85), (0.68, 0.55), (0.88, 0.22), (1.0, 0.0), (2.0, 0.0))
    for number in range(128):
        values = noise(4, shape.seed + 500 + number)
        spoke = int(values[0] * SPOKES) % SPOKES
        stray = number % 4 == 0
        share = float(values[1]) ** 0.5 if not stray else 1.0 + 0.18 * float(values[1])
        room = float(shape.reach[spoke]) * (0.99 - min(share * float(edge[spoke]), 0.95))
        size = min(0.026 + 0.038 * float(values[2]), 0.07 * float(shape.reach.min()), max(room, 0.004))
        level = 0.96 * top * float(np.interp(share, *np.array(levels).T))
        x, y = shape.at(np.array([spoke]), min(share * float(edge[spoke]), 0.95))[0].tolist()
        sunk = max(0.0, level - 0.35 * size)
        tone = shaded((0.24, 0.22, 0.19), 0.40 + 1.1 * float(values[3]))
        lump = pebble((x, y, sunk), size, shape.seed + number, Finish(tone, Material.PAVING))
        parts += [lump] if shape.holds(lump) else []
    return parts
