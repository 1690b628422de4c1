"""Roads that have given way: a pothole and a cave-in, with ragged edges, visible layers, cracks and rubble.

Both are shallow: only they are drawn, not the road in front of them, so a deep floor would show through the near edge.
Darkness, layers and stones give the depth instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.outlines import (
    HeightAt,
    Star,
    band,
    draped,
    noise,
    raised,
    speckled,
    star,
)
from data_registry.scene3d.shapes.rubble import chunk, slab_of_road, stone
from data_registry.scene3d.solids import Coat, Colour, Finish, coated

SPOKES: Final = 80
BROKEN: Final = Material.MASONRY
"""As rough as asphalt, but it holds no film of water that mirrors the sky."""
SINK_M: Final = 0.035
"""Depth of a pothole's floor, metres."""
RIM_M: Final = 0.012
"""Height of its crumbled rim, metres."""
PROUD_M: Final = 0.14
"""No stone or slab stands higher above the road, metres."""


@dataclass(frozen=True, slots=True)
class Collapse:
    """One kind of broken road.

    Attributes:
        edge: share of the outline's reach at which the road breaks off, on average.
        rough: how far the edge wanders from that, as a share.
        sink: depth of the floor, metres.
        layers: bands from the edge inwards: share of the edge where each ends, share of the depth, colour.
        cracks: number of cracks that radiate from the edge.
        stones: number of stones on the floor.
    """

    edge: float
    rough: float
    sink: float
    layers: tuple[tuple[float, float, Colour], ...]
    cracks: int
    stones: int


POTHOLE: Final = Collapse(
    edge=0.76,
    rough=0.13,
    sink=SINK_M,
    layers=(
        (0.965, 0.35, (0.040, 0.040, 0.042)),
        (0.925, 0.45, (0.135, 0.120, 0.100)),
        (0.86, 0.95, (0.016, 0.015, 0.014)),
        (0.66, 1.00, (0.034, 0.031, 0.027)),
        (0.36, 0.86, (0.070, 0.060, 0.048)),
    ),
    cracks=15,
    stones=56,
)

CAVE_IN: Final = Collapse(
    edge=0.74,
    rough=0.12,
    sink=0.055,
    layers=(
        (0.965, 0.25, (0.038, 0.038, 0.040)),
        (0.93, 0.32, (0.090, 0.088, 0.085)),
        (0.885, 0.45, (0.200, 0.175, 0.140)),
        (0.845, 0.60, (0.150, 0.095, 0.050)),
        (0.74, 0.98, (0.010, 0.009, 0.008)),
        (0.50, 1.00, (0.020, 0.017, 0.013)),
        (0.25, 0.80, (0.060, 0.042, 0.026)),
    ),
    cracks=22,
    stones=40,
)


def pothole(outline: Array, height_at: HeightAt) -> Mesh:
    """Return a broken hole in the asphalt within an outline (K, 2): ragged edge, layered rim, cracks, rubble inside.

    It is the same for the same outline and never leaves it.

    Raises:
        GeometryError: the outline is not usable.
    """
    shape = star(outline, SPOKES)
    edge = _edge(shape, POTHOLE)
    parts = [*_hole(shape, edge, POTHOLE), *_cracks(shape, edge, POTHOLE), *_rubble(shape, edge, POTHOLE)]
    return draped(joined(parts), height_at)


def cave_in(outline: Array, height_at: HeightAt) -> Mesh:
    """Return a collapsed road within an outline (K, 2): tilted slabs around a dark pit, layers, wide cracks, rubble.

    Raises:
        GeometryError: the outline is not usable.
    """
    shape = star(outline, SPOKES)
    edge = _edge(shape, CAVE_IN)
    parts = [*_hole(shape, edge, CAVE_IN), *_cracks(shape, edge, CAVE_IN), *_rubble(shape, edge, CAVE_IN)]
    parts += _ring_cracks(shape, edge)
    slabs = [_slab(shape, edge, number) for number in range(9)]
    return draped(joined([*parts, *(slab for slab in slabs if shape.holds(slab))]), height_at)


def _edge(shape: Star, kind: Collapse) -> Array:
    """Return the share of the reach (S,) at which the road breaks off: straight runs between corners, with teeth."""
    corners = 17
    place = (np.arange(corners) + 0.7 * noise(corners, shape.seed)) * (SPOKES / corners)
    value = 2 * noise(corners, shape.seed + 1) - 1
    spoke = np.arange(SPOKES)
    broken = np.interp(spoke, np.r_[place[-1] - SPOKES, place, place[0] + SPOKES], np.r_[value[-1], value, value[0]])
    teeth = 0.35 * (noise(SPOKES, shape.seed + 2) - 0.5)
    return np.clip(kind.edge * (1 + kind.rough * (broken + teeth)), 0.45, 0.93)


def _hole(shape: Star, edge: Array, kind: Collapse) -> list[Mesh]:
    """Return the crumbled border, the layered wall and the rough floor."""
    fray = 0.015 + 0.075 * noise(SPOKES, shape.seed + 3) ** 2
    border = raised(shape.ring(np.minimum(edge + fray, 0.985)), 0.0)
    rim = raised(shape.ring(edge), RIM_M)
    crumbs = Finish((0.105, 0.103, 0.100), Material.ASPHALT)
    parts = [band(border, rim, crumbs, 0.6 + 0.8 * noise(2 * SPOKES, shape.seed + 4))]
    outer = rim
    for number, (share, depth, colour) in enumerate(kind.layers):
        jitter = 1 - 0.035 * noise(SPOKES, shape.seed + 20 + number)
        inner = raised(shape.ring(edge * share * jitter), -kind.sink * depth)
        # Long thin faces towards the middle: their shades must stay close, or the floor reads as a star.
        spread = 0.6 if share > 0.8 else 0.18
        shades = 1 - 0.5 * spread + spread * noise(2 * SPOKES, shape.seed + 60 + number)
        parts.append(band(outer, inner, Finish(colour, BROKEN), shades))
        outer = inner
    size = np.arange(SPOKES)
    fan = np.column_stack([size, (size + 1) % SPOKES, np.full(SPOKES, SPOKES)])
    middle = np.vstack([outer, [*shape.centre, -kind.sink]])
    floor = coated(middle, fan, Finish(kind.layers[-1][2], BROKEN))
    return [*parts, speckled(floor, 0.9 + 0.2 * noise(SPOKES, shape.seed + 90))]


def _cracks(shape: Star, edge: Array, kind: Collapse) -> list[Mesh]:
    """Return dark zigzag cracks from the edge outwards, widest at the edge, some of them forked."""
    black: Coat = Finish((0.012, 0.012, 0.012), Material.MATTE)
    parts: list[Mesh] = []
    for number in range(kind.cracks):
        values = noise(12, shape.seed + 100 + number)
        spoke = ((number + 0.8 * values[0]) / kind.cracks) * SPOKES
        first = edge[int(spoke) % SPOKES]
        far = first + (0.985 - first) * (0.45 + 0.55 * values[1])
        for fork in range(1 + (number % 3 == 0)):
            start = first - 0.02 if fork == 0 else first + 0.4 * (far - first)
            wander = np.cumsum(np.r_[0.0, 1.5 * (values[2 + fork : 6 + fork] - 0.5) + (0.8 * fork)])
            shares = np.linspace(start, far, 5)
            wide = (0.016 if fork == 0 else 0.009) * (0.6 + 0.8 * values[7])
            parts.append(_crack(shape, spoke + wander, shares, wide, black))
    # A step over several spokes may cut off a corner of the outline.
    return [
        crack for crack in parts if shapely.contains(shape.area, shapely.polygons(crack.triangles()[..., :2])).all()
    ]


def _crack(shape: Star, spokes: Array, shares: Array, wide: float, coat: Coat) -> Mesh:
    """Return one tapering crack through points on fractional spokes."""
    whole = np.round(spokes).astype(np.int64) % SPOKES
    middle = shape.at(whole, shares)
    taper = np.linspace(1.0, 0.15, len(shares))
    width = np.minimum(wide, 0.012 * shape.reach[whole]) * taper
    side = np.column_stack([-np.sin(shape.turn[whole]), np.cos(shape.turn[whole])])
    inward = middle - 1e-3 * (middle - shape.centre)
    left, right = (raised(inward + sign * 0.5 * width[:, None] * side, 0.003) for sign in (1, -1))
    count = len(shares)
    index = np.arange(count - 1)
    faces = np.concatenate(
        [
            np.column_stack([index, index + 1, index + count]),
            np.column_stack([index + 1, index + count, index + count + 1]),
        ]
    )
    return coated(np.concatenate([left, right]), faces, coat)


def _ring_cracks(shape: Star, edge: Array) -> list[Mesh]:
    """Return cracks that run around the pit, where the next slabs will break off."""
    parts: list[Mesh] = []
    black: Coat = Finish((0.014, 0.014, 0.014), Material.MATTE)
    for number in range(6):
        values = noise(20, shape.seed + 200 + number)
        length = 7 + int(6 * values[0])
        spokes = (int(number / 6 * SPOKES) + np.arange(length)) % SPOKES
        share = edge[spokes] + (0.97 - edge[spokes]) * np.clip(0.45 + 0.5 * (values[1 : 1 + length] - 0.5), 0.1, 0.9)
        wide = np.minimum(0.014, 0.012 * shape.reach[spokes]) / shape.reach[spokes]
        outer, inner = raised(shape.at(spokes, share), 0.003), raised(shape.at(spokes, share - wide), 0.003)
        index = np.arange(length - 1)
        faces = np.concatenate(
            [
                np.column_stack([index, index + 1, index + length]),
                np.column_stack([index + 1, index + length, index + length + 1]),
            ]
        )
        parts.append(coated(np.concatenate([outer, inner]), faces, black))
    return parts


def _rubble(shape: Star, edge: Array, kind: Collapse) -> list[Mesh]:
    """Return stones and lumps of asphalt on the floor and a few thrown onto the border."""
    parts: list[Mesh] = []
    asphalt, gravel = (0.075, 0.075, 0.077), (0.190, 0.165, 0.130)
    for number in range(kind.stones):
        values = noise(5, shape.seed + 400 + number)
        spoke = int(values[0] * SPOKES) % SPOKES
        out = number % 6 == 0
        share = edge[spoke] * (1.0 + 0.10 * values[1] if out else 0.12 + 0.72 * values[1] ** 0.7)
        size = min((0.022 + 0.075 * values[2] ** 2) * (0.6 if out else 1.0), 0.07 * float(shape.reach.min()))
        middle = shape.at(np.array([spoke]), min(share, 0.93))[0]
        coat = Finish(asphalt if number % 3 else gravel, Material.ASPHALT)
        level = 0.0 if out else -kind.sink
        builder = chunk if number % 3 else stone
        lump = builder((float(middle[0]), float(middle[1]), level), size, shape.seed + number, coat)
        parts += [lump] if shape.holds(lump) else []
    return parts


def _slab(shape: Star, edge: Array, number: int) -> Mesh:
    """Return a broken plate of road that leans into the pit, its outer end proud of the road."""
    values = noise(6, shape.seed + 300 + number)
    spoke = int(((number + 0.6 * values[0]) / 9) * SPOKES) % SPOKES
    size = (0.24 + 0.14 * float(values[2])) * min(float(shape.reach[spoke]), 1.6 * float(shape.reach.min()))
    middle = shape.at(np.array([spoke]), float(edge[spoke]) * (0.60 + 0.20 * float(values[1])))[0]
    tilt = min(0.10 * size, 0.045) + 0.02 * float(values[3])
    place = (float(middle[0]), float(middle[1]), -0.4 * CAVE_IN.sink)
    turn = float(shape.turn[spoke]) + 0.6 * (float(values[4]) - 0.5)
    slab = slab_of_road(place, 0.5 * size, turn, tilt, shape.seed + spoke)
    # The lower end is buried in the pit's floor, which is all that is drawn of what lies below.
    sunk = np.maximum(slab.vertices, (-np.inf, -np.inf, -CAVE_IN.sink))
    return Mesh(sunk, slab.faces, slab.colours, slab.materials)
