"""Houses along streets and the skyline behind them.

A front is a lattice of wall pieces with real holes: windows lie 14 cm deep in them, with frames, bars and sills. By day
windows are glass; `lit` is the share of them that glows (Condition.lit_windows). A house's own frame: x along its
front from its first corner, y away from the street, z up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array, Transform, yaw_rotation
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import Colour
from data_registry.sources.streetset.axes import Axis, Reach
from data_registry.sources.streetset.noise import raw_bytes
from data_registry.sources.streetset.panes import blocks, panes, spanned

RENDERS: Final[tuple[Colour, ...]] = (
    (0.33, 0.16, 0.115),
    (0.50, 0.45, 0.36),
    (0.40, 0.39, 0.37),
    (0.45, 0.33, 0.22),
    (0.56, 0.54, 0.50),
    (0.29, 0.21, 0.17),
    (0.42, 0.42, 0.35),
    (0.52, 0.42, 0.34),
    (0.36, 0.40, 0.42),
)
ROOFS: Final[tuple[Colour, ...]] = ((0.22, 0.09, 0.06), (0.10, 0.10, 0.11), (0.17, 0.11, 0.08), (0.13, 0.13, 0.13))
SIGNS: Final[tuple[Colour, ...]] = (
    (0.08, 0.13, 0.19),
    (0.26, 0.06, 0.05),
    (0.06, 0.14, 0.09),
    (0.04, 0.04, 0.05),
    (0.32, 0.24, 0.08),
)
STONE: Final[Colour] = (0.48, 0.46, 0.42)
FRAME: Final[Colour] = (0.55, 0.54, 0.52)
DARK: Final[Colour] = (0.05, 0.05, 0.055)
PANE: Final[Colour] = (0.035, 0.042, 0.05)
CURTAIN: Final[Colour] = (0.16, 0.155, 0.14)
WARM: Final[Colour] = (0.95, 0.62, 0.28)
COOL: Final[Colour] = (0.70, 0.74, 0.72)
DEEP: Final = 0.14
"""How far windows lie behind the wall, metres."""
FOOTING_M: Final = 2.0
"""How far walls go into the ground, so that a house on a slope stands on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Dice:
    """Random numbers of one house, drawn one after the other from its own bytes."""

    values: npt.NDArray[np.float64]

    @classmethod
    def of(cls, seed: int) -> Dice:
        """Return the numbers for a seed."""
        return cls(raw_bytes(seed * 7919 + 101, 512).astype(np.float64) / 256)

    def between(self, index: int, low: float, high: float) -> float:
        """Return number `index` scaled to low..high."""
        return low + (high - low) * float(self.values[index])

    def pick(self, index: int, choices: tuple[Colour, ...]) -> Colour:
        """Return one of some colours."""
        return choices[int(self.values[index] * len(choices))]

    def many(self, index: int, count: int) -> Array:
        """Return `count` numbers in 0..1 from `index` on, repeating after the last."""
        return self.values[(index + np.arange(count)) % len(self.values)]


@dataclass(frozen=True, slots=True)
class House:
    """Measures of one house: width, depth, height of its walls in metres; wall colour; share of lit windows."""

    width: float
    depth: float
    height: float
    colour: Colour
    lit: float


@dataclass(frozen=True, slots=True, eq=False)
class Holes:
    """Openings of a front: columns (C, 2) along it and rows (R, 2) up, metres; every column is open in every row."""

    columns: Array
    rows: Array

    def spans(self) -> tuple[Array, Array, Array, Array]:
        """Return x0, x1, z0, z1 of all openings, (C * R,) each."""
        column = np.repeat(np.arange(len(self.columns)), len(self.rows))
        storey = np.tile(np.arange(len(self.rows)), len(self.columns))
        return (*self.columns[column].T, *self.rows[storey].T)


def _evenly(width: float, pitch: float, opening: float, margin: float = 0.5) -> Array:
    """Return openings (C, 2) evenly along a width."""
    count = max(1, int((width - 2 * margin) / pitch))
    middle = margin + (np.arange(count) + 0.5) * (width - 2 * margin) / count
    return np.column_stack([middle - opening / 2, middle + opening / 2])


def _storeys(low: float, count: int, pitch: float, sill: float, opening: float) -> Array:
    bottom = low + np.arange(count) * pitch + sill
    return np.column_stack([bottom, bottom + opening])


def _wall(holes: Holes, width: float, low: float, high: float, colour: Colour) -> Mesh:
    """Return a front at y = 0 from low to high with its openings left out."""
    xs = np.concatenate([[0.0], holes.columns.ravel(), [width]])
    zs = np.concatenate([[low], holes.rows.ravel(), [high]])
    column = np.repeat(np.arange(len(xs) - 1), len(zs) - 1)
    level = np.tile(np.arange(len(zs) - 1), len(xs) - 1)
    solid = ~((column % 2 == 1) & (level % 2 == 1))
    column, level = column[solid], level[solid]
    corners = spanned((xs[column], 0.0, zs[level]), (xs[column + 1], 0.0, zs[level + 1]))
    return panes(corners, colour, Material.MASONRY)


def _reveals(holes: Holes, colour: Colour) -> Mesh:
    """Return the four sides of every opening's recess."""
    x0, x1, z0, z1 = holes.spans()
    sides = [
        spanned((x0, 0.0, z0), (x0, DEEP, z1)),
        spanned((x1, 0.0, z0), (x1, DEEP, z1)),
        spanned((x0, 0.0, z0), (x1, DEEP, z0)),
        spanned((x0, 0.0, z1), (x1, DEEP, z1)),
    ]
    return panes(np.concatenate(sides), (0.8 * colour[0], 0.8 * colour[1], 0.8 * colour[2]), Material.MASONRY)


def _glass(holes: Holes, dice: Dice, lit: float, first: int) -> Mesh:
    """Return what fills the openings: panes of glass, some with curtains, some of them lit."""
    x0, x1, z0, z1 = holes.spans()
    count = len(x0)
    chance, tone = dice.many(first, count), dice.many(first + 211, count)
    glows = chance < lit
    parts: list[Mesh] = []
    if (~glows).any():
        dark = ~glows
        curtain = (tone > 0.6)[:, None]
        paint = np.where(curtain, np.array(CURTAIN), np.array(PANE) * (0.7 + 0.6 * tone[:, None]))[dark]
        corners = spanned((x0[dark], DEEP, z0[dark]), (x1[dark], DEEP, z1[dark]))
        parts.append(panes(corners, paint, Material.GLASS))
    if glows.any():
        strength = (0.18 + 0.5 * tone**2)[glows, None]
        warm = (dice.many(first + 97, count)[glows] < 0.75)[:, None]
        paint = strength * np.where(warm, np.array(WARM), np.array(COOL))
        # Brighter below, where the lamp's light falls, than behind the curtain above: two panes.
        middle = z0[glows] + 0.6 * (z1 - z0)[glows]
        for low, high, share in ((z0[glows], middle, 1.0), (middle, z1[glows], 0.7)):
            corners = spanned((x0[glows], DEEP, low), (x1[glows], DEEP, high))
            parts.append(panes(corners, paint * share, Material.GLOWING))
    return joined(parts)


def _bars(holes: Holes, colour: Colour, thick: float = 0.06, cross: float = 0.35) -> Mesh:
    """Return frames around the panes, a bar down the middle, and one across below the top."""
    x0, x1, z0, z1 = holes.spans()
    y, middle, level = DEEP - 0.02, (x0 + x1) / 2, z1 - cross * (z1 - z0)
    half = thick / 2
    corners = [
        spanned((x0, y, z0), (x0 + thick, y, z1)),
        spanned((x1 - thick, y, z0), (x1, y, z1)),
        spanned((middle - half, y, z0), (middle + half, y, z1)),
        spanned((x0, y - 0.002, z0), (x1, y - 0.002, z0 + thick)),
        spanned((x0, y - 0.002, z1 - thick), (x1, y - 0.002, z1)),
        spanned((x0, y - 0.002, level - half), (x1, y - 0.002, level + half)),
    ]
    return panes(np.concatenate(corners), colour)


def _sills(holes: Holes, colour: Colour = STONE) -> Mesh:
    x0, x1, z0, _ = holes.spans()
    return panes(blocks((x0 - 0.08, -0.09, z0 - 0.08), (x1 + 0.08, 0.02, z0)), colour, Material.MASONRY)


def _windows(holes: Holes, house: House, dice: Dice, first: int) -> list[Mesh]:
    return [
        _reveals(holes, house.colour),
        _glass(holes, dice, house.lit, first),
        _bars(holes, FRAME if dice.values[9] > 0.3 else DARK),
        _sills(holes),
    ]


def _shell(house: House, low: float = -FOOTING_M) -> Mesh:
    """Return both side walls and the back, without the front."""
    w, d, h = house.width, house.depth, house.height
    sides = [spanned((x, 0.0, low), (x, d, h)) for x in (0.0, w)]
    paint = (0.92 * house.colour[0], 0.92 * house.colour[1], 0.92 * house.colour[2])
    return panes(np.concatenate([*sides, spanned((0.0, d, low), (w, d, h))]), paint, Material.MASONRY)


def _flat_roof(house: House) -> Mesh:
    """Return a cornice that stands out 0.3 m, a parapet and the roof behind it."""
    w, d, h = house.width, house.depth, house.height
    rim = np.concatenate(
        [blocks((0.0, -0.30, h - 0.25), (w, 0.0, h)), blocks((0.0, -0.12, h - 0.5), (w, 0.0, h - 0.25))]
    )
    parapet = blocks((0.0, -0.05, h), (w, 0.25, h + 0.5))
    return joined(
        [
            panes(rim, STONE, Material.MASONRY),
            panes(parapet, house.colour, Material.MASONRY),
            panes(spanned((0.0, 0.0, h), (w, d, h)), (0.12, 0.12, 0.12)),
        ]
    )


def _gable_roof(house: House, colour: Colour, rise: float, eaves: float = 0.35) -> Mesh:
    """Return a roof with its ridge along the street, eaves in front, gables at both sides, a chimney."""
    w, d, h = house.width, house.depth, house.height
    low = h - rise * eaves / (d / 2)
    front = np.array([[(0, -eaves, low), (w, -eaves, low), (w, d / 2, h + rise), (0, d / 2, h + rise)]], dtype=float)
    back = front * (1, -1, 1) + (0, d, 0)
    gables = np.array(
        [[(x, 0, h), (x, d, h), (x, d / 2, h + rise), (x, d / 2, h + rise)] for x in (0.0, w)], dtype=float
    )
    gutter = blocks((0.0, -eaves - 0.1, low - 0.12), (w, -eaves + 0.02, low))
    top = h + rise
    chimney = blocks((0.7 * w, d / 2 - 0.5, top - 0.8), (0.7 * w + 0.6, d / 2 + 0.1, top + 0.9))
    return joined(
        [
            panes(np.concatenate([front, back]), colour, Material.MASONRY),
            panes(np.concatenate([gables, chimney]), house.colour, Material.MASONRY),
            panes(gutter, (0.2, 0.2, 0.2), Material.METAL),
        ]
    )


def _dormers(house: House, rise: float, dice: Dice) -> Mesh:
    """Return small windows in the front slope of a gable roof."""
    columns = _evenly(house.width, 3.4, 1.1)
    y = 0.12 * house.depth
    low, high = house.height + 0.25 * rise, house.height + 0.25 * rise + 1.2
    x0, x1 = columns.T
    cheeks = blocks((x0 - 0.1, y, low - 0.6), (x1 + 0.1, house.depth / 2, high + 0.12))
    glass = spanned((x0, y - 0.02, low), (x1, y - 0.02, high))
    lit = dice.many(300, len(x0)) < house.lit
    parts = [panes(cheeks, house.colour, Material.MASONRY)]
    for chosen, paint, material in ((~lit, PANE, Material.GLASS), (lit, (0.45, 0.28, 0.12), Material.GLOWING)):
        if chosen.any():
            parts.append(panes(glass[chosen], paint, material))
    return joined(parts)


SHOP_M: Final = 3.6
"""Height of a ground floor with shops, metres."""


def _shop(house: House, dice: Dice) -> list[Mesh]:
    """Return a ground floor: pillars between shop windows, a door, a plinth, a sign board, often an awning."""
    columns = _evenly(house.width, 3.2, 2.3, 0.4)
    door = int(dice.values[20] * len(columns))
    shown = np.delete(columns, door, axis=0)
    base = tuple(0.75 * part for part in STONE) if dice.values[21] > 0.5 else house.colour
    paint = (float(base[0]), float(base[1]), float(base[2]))
    sign = dice.pick(22, SIGNS)
    entry = Holes(columns[door : door + 1] + np.array([[0.5, -0.5]]), np.array([[0.02, 2.6]]))
    windows = Holes(shown, np.array([[0.5, 2.75]]))
    parts = [_shop_wall(columns, door, house.width, paint), *_entry(entry, sign)]
    if len(shown):
        bright = 1.0 if dice.values[23] < 2.2 * house.lit else 0.0
        parts += [_reveals(windows, paint), _glass(windows, dice, bright, 30), _bars(windows, sign, 0.07, 0.22)]
    board = blocks((0.3, -0.10, 2.95), (house.width - 0.3, 0.0, 3.45))
    parts.append(panes(board, sign))
    parts.append(_letters(house, dice))
    if dice.values[24] > 0.45 and len(shown):
        parts.append(_awning(house.width, dice.pick(25, SIGNS)))
    return parts


def _shop_wall(columns: Array, door: int, width: float, paint: Colour) -> Mesh:
    """Return the pillars, the strip above, and below the windows a plinth: the door goes down to the pavement."""
    shown = Holes(columns, np.array([[0.5, 2.75]]))
    wall = _wall(shown, width, -FOOTING_M, SHOP_M, paint)
    left, right = columns[door]
    jambs = [
        spanned((left, 0.0, 0.5), (left + 0.5, 0.0, 2.75)),
        spanned((right - 0.5, 0.0, 0.5), (right, 0.0, 2.75)),
        spanned((left, 0.0, 2.6), (right, 0.0, 2.75)),
    ]
    return joined([wall, panes(np.concatenate(jambs), paint, Material.MASONRY)])


def _entry(hole: Holes, paint: Colour) -> list[Mesh]:
    """Return a door leaf with a window and a handle, standing in front of the plinth, in a frame."""
    x0, x1 = (float(value) for value in hole.columns[0])
    z0, z1 = (float(value) for value in hole.rows[0])
    frame = np.concatenate(
        [blocks((x0 - 0.1, -0.06, 0.0), (x0, 0.0, z1 + 0.1)), blocks((x1, -0.06, 0.0), (x1 + 0.1, 0.0, z1 + 0.1))]
    )
    lintel = blocks((x0, -0.06, z1), (x1, 0.0, z1 + 0.1))
    step = blocks((x0 - 0.15, -0.35, -0.4), (x1 + 0.15, 0.0, 0.06))
    return [
        panes(np.concatenate([frame, lintel]), FRAME),
        panes(spanned((x0, -0.02, z0), (x1, -0.02, z1)), paint),
        panes(spanned((x0 + 0.18, -0.03, 1.1), (x1 - 0.18, -0.03, z1 - 0.2)), PANE, Material.GLASS),
        panes(blocks((x1 - 0.14, -0.09, 0.95), (x1 - 0.10, -0.02, 1.15)), (0.4, 0.38, 0.33), Material.METAL),
        panes(step, STONE, Material.PAVING),
    ]


def _letters(house: House, dice: Dice) -> Mesh:
    """Return strokes on the sign board that look like writing from afar."""
    count = int(dice.between(26, 7, 14))
    middle = house.width / 2
    x = middle + (np.arange(count) - count / 2) * 0.26
    wide = 0.10 + 0.10 * dice.many(60, count)
    high = 3.30 + 0.08 * (dice.many(90, count) > 0.6)
    return panes(spanned((x, -0.105, 3.10), (x + wide, -0.105, high)), (0.55, 0.53, 0.47))


def _awning(width: float, colour: Colour) -> Mesh:
    """Return a striped cloth that stands out 0.9 m over the shop windows."""
    edges = np.linspace(0.4, width - 0.4, max(3, int((width - 0.8) / 0.6)) + 1)
    x0, x1 = edges[:-1], edges[1:]
    top = np.stack(
        [
            np.column_stack([x, np.full(len(x), y), np.full(len(x), z)])
            for x, y, z in ((x0, -0.1, 2.95), (x1, -0.1, 2.95), (x1, -0.9, 2.45), (x0, -0.9, 2.45))
        ],
        axis=1,
    )
    flap = spanned((x0, -0.9, 2.25), (x1, -0.9, 2.45))
    stripes = np.where(np.arange(len(x0))[:, None] % 2 == 0, np.array(colour), np.array((0.5, 0.48, 0.44)))
    return panes(np.concatenate([top, flap]), np.concatenate([stripes, stripes]))


def _town_house(house: House, dice: Dice) -> Mesh:
    """Return three to five storeys over a shop or a plain ground floor, wall to wall with its neighbours."""
    storey = dice.between(10, 2.9, 3.3)
    count = max(1, int((house.height - SHOP_M - 0.7) / storey))
    holes = Holes(
        _evenly(house.width, dice.between(11, 2.1, 2.9), dice.between(12, 0.95, 1.35)),
        _storeys(SHOP_M, count, storey, 0.75, dice.between(13, 1.5, 1.8)),
    )
    parts = [_wall(holes, house.width, SHOP_M, house.height, house.colour), *_windows(holes, house, dice, 120)]
    parts += [*_shop(house, dice), _shell(house)]
    parts.append(panes(blocks((0.0, -0.08, SHOP_M - 0.08), (house.width, 0.0, SHOP_M + 0.10)), STONE, Material.MASONRY))
    if dice.values[14] < 0.5:
        rise = dice.between(15, 2.2, 3.6)
        return joined([*parts, _gable_roof(house, dice.pick(16, ROOFS), rise), _dormers(house, rise, dice)])
    return joined([*parts, _flat_roof(house)])


def _suburb_house(house: House, dice: Dice) -> Mesh:
    """Return a detached house of one or two storeys with a door, windows and a pitched roof."""
    count = max(1, int(house.height / 2.6))
    holes = Holes(_evenly(house.width, 2.8, 1.3, 0.6), _storeys(0.0, count, 2.75, 1.0, 1.3))
    middle = float(holes.columns[len(holes.columns) // 2].mean())
    beside = middle + 0.5 * float(holes.columns[0, 1] - holes.columns[0, 0]) + 0.2
    entry = Holes(np.array([[beside, beside + 0.9]]), np.array([[0.06, 2.15]]))
    front = [_wall(holes, house.width, -FOOTING_M, house.height, house.colour), *_windows(holes, house, dice, 120)]
    front += _entry(entry, dice.pick(22, SIGNS))
    rise = dice.between(15, 2.0, 3.2)
    return joined([*front, _shell(house), _gable_roof(house, dice.pick(16, ROOFS), rise, 0.5)])


def _offices(house: House, dice: Dice) -> Mesh:
    """Return a tall front of long windows between slim pillars over a set of glass doors."""
    count = max(2, int((house.height - 0.8) / 3.5))
    holes = Holes(_evenly(house.width, 2.4, 1.95, 0.3), _storeys(0.0, count, 3.5, 0.75, 2.1))
    parts = [_wall(holes, house.width, -FOOTING_M, house.height, house.colour), _reveals(holes, house.colour)]
    parts += [_glass(holes, dice, house.lit, 120), _bars(holes, DARK, 0.05, 0.3)]
    return joined([*parts, _shell(house), _flat_roof(house)])


def _hall(house: House, dice: Dice) -> Mesh:
    """Return a long low hall of ribbed sheet with gates and a band of windows."""
    holes = Holes(_evenly(house.width, 3.2, 2.4, 0.5), np.array([[house.height - 2.0, house.height - 1.0]]))
    ribs = np.arange(0.0, house.width, 0.5)
    sheet = panes(blocks((ribs, -0.03, 0.5), (ribs + 0.12, 0.0, house.height - 2.2)), house.colour, Material.METAL)
    gates = _evenly(house.width, 9.0, 4.0, 1.0)
    x0, x1 = gates.T
    gate = panes(spanned((x0, -0.05, 0.0), (x1, -0.05, 3.8)), dice.pick(22, SIGNS), Material.METAL)
    lines = np.concatenate([spanned((x0, -0.055, z), (x1, -0.055, z + 0.03)) for z in (0.75, 1.5, 2.25, 3.0)])
    parts = [_wall(holes, house.width, -FOOTING_M, house.height, house.colour), *_windows(holes, house, dice, 120)]
    return joined([*parts, sheet, gate, panes(lines, DARK), _shell(house), _flat_roof(house)])


@dataclass(frozen=True, slots=True)
class Style:
    """How houses of one kind are measured: widths, gaps between, heights, depth (low, high; metres) and who builds one."""

    widths: tuple[float, float]
    gaps: tuple[float, float]
    heights: tuple[float, float]
    depth: float
    build: Callable[[House, Dice], Mesh]


STYLES: Final[dict[str, Style]] = {
    "town": Style((7.5, 15.0), (0.0, 0.0), (10.0, 18.5), 11.0, _town_house),
    "suburb": Style((8.5, 12.5), (4.0, 8.0), (3.0, 5.8), 8.5, _suburb_house),
    "offices": Style((18.0, 32.0), (2.0, 6.0), (14.0, 32.0), 16.0, _offices),
    "industry": Style((24.0, 45.0), (6.0, 12.0), (6.5, 9.0), 22.0, _hall),
}
"""Kinds of rows by name."""


def row(axis: Axis, offset: float, reach: Reach, style: str = "town", seed: int = 0, lit: float = 0.0) -> Mesh:
    """Return houses side by side whose fronts stand at `offset` (positive: left of the axis) and look at the axis.

    town: 3-5 storeys wall to wall with shops; suburb: detached houses with pitched roofs and gaps; offices: glass
    fronts; industry: long low halls with gates. No part but awnings and sills (at most 0.9 m) comes nearer than that.
    """
    kind = STYLES[style]
    result: list[Mesh] = []
    s, number = max(reach[0], 0.0), 0
    end = min(reach[1], axis.length)
    while end - s > 0.6 * kind.widths[0]:
        dice = Dice.of(seed * 1009 + number)
        width = dice.between(0, *kind.widths)
        if end - (s + width) < 0.6 * kind.widths[0]:
            width = min(end - s, kind.widths[1])
        house, place = _placed(axis, offset, (s, s + width), dice, kind, lit)
        result.append(kind.build(house, dice).placed(place))
        s, number = s + width + dice.between(1, *kind.gaps), number + 1
    return joined(result)


def _placed(axis: Axis, offset: float, reach: Reach, dice: Dice, kind: Style, lit: float) -> tuple[House, Transform]:
    """Measure one house and stand it there: straight between its ends, pushed back where the axis bends towards it."""
    ends = reach if offset > 0 else (reach[1], reach[0])
    start, end = axis.at(list(ends), offset)
    along = (end - start)[:2]
    width = float(np.hypot(*along))
    yaw = float(np.arctan2(along[1], along[0]))
    turn = yaw_rotation(yaw)

    between = axis.at(axis.cuts(reach, 1.0), offset)
    toward = (between - start) @ turn[:, 1]
    back = max(0.0, float(toward.max()))
    level = float(0.6 * between[:, 2].min() + 0.4 * between[:, 2].max())
    house = House(width, kind.depth, round(dice.between(2, *kind.heights), 2), dice.pick(3, RENDERS), lit)
    return house, Transform(turn, np.array([*start[:2], level + 0.12]) + back * turn[:, 1])


def skyline(centre: tuple[float, float, float], seed: int = 0, radius: float = 350.0, lit: float = 0.0) -> Mesh:
    """Return a ring of far blocks and, behind them, hills about a centre (x, y, z of the ground there)."""
    dice = Dice(raw_bytes(seed + 4000, 2048).astype(np.float64) / 256)
    parts: list[Mesh] = [_hills(centre, radius * 1.5, dice)]
    for ring, (share, count, tall) in enumerate(((0.75, 70, 14.0), (1.0, 80, 26.0))):
        turn = (np.arange(count) + 0.6 * dice.many(ring * 300, count)) * (2 * np.pi / count)
        wide = radius * share * 2 * np.pi / count * (0.45 + 0.5 * dice.many(ring * 300 + 90, count))
        high = tall * (0.35 + 1.1 * dice.many(ring * 300 + 180, count) ** 2)
        for number, angle in enumerate(turn.tolist()):
            colour = RENDERS[(number * 5 + ring) % len(RENDERS)]
            block = _far_block(float(wide[number]), float(high[number]), colour, lit, number + 100 * ring)
            place = np.array(centre) + radius * share * np.array([np.cos(angle), np.sin(angle), 0.0])
            parts.append(block.placed(Transform(yaw_rotation(angle - np.pi / 2), place)))
    return joined(parts)


def _far_block(width: float, height: float, colour: Colour, lit: float, seed: int) -> Mesh:
    """Return a block with a few bands of windows, centred at x = 0, its front at y = 0 looking to -y."""
    half = width / 2
    body = panes(blocks((-half, 0.0, -15.0), (half, 14.0, height)), colour, Material.MASONRY)
    levels = np.arange(1.2, height - 1.5, 3.2)
    columns = np.arange(-half + 1.0, half - 1.8, 3.0)
    if not len(levels) or not len(columns):
        return body
    x, z = np.repeat(columns, len(levels)), np.tile(levels, len(columns))
    corners = spanned((x, -0.1, z), (x + 1.4, -0.1, z + 1.5))
    glows = raw_bytes(seed + 9000, len(x)).astype(np.float64) / 256 < lit
    parts = [body]
    for chosen, paint, material in ((~glows, PANE, Material.MATTE), (glows, (0.42, 0.29, 0.14), Material.GLOWING)):
        if chosen.any():
            parts.append(panes(corners[chosen], paint, material))
    return joined(parts)


def _hills(centre: tuple[float, float, float], radius: float, dice: Dice) -> Mesh:
    """Return a wooded ridge all around, 15 to 45 m high."""
    count = 96
    turn = np.arange(count) * (2 * np.pi / count)
    rise = sum(
        (
            wave * np.sin(turn * k + 6.28 * dice.values[1500 + k])
            for k, wave in ((2, 8.0), (5, 5.0), (11, 2.5), (23, 1.0))
        ),
        start=np.full(count, 26.0),
    )
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(count)])
    low = np.array(centre) + radius * circle - (0.0, 0.0, 20.0)
    high = np.array(centre) + 1.25 * radius * circle + rise[:, None] * (0.0, 0.0, 1.0)
    after = np.roll(np.arange(count), -1)
    corners = np.stack([low, low[after], high[after], high], axis=1)
    tone = (0.8 + 0.4 * dice.many(700, count))[:, None]
    return panes(corners, tone * np.array((0.05, 0.075, 0.035)), Material.FOLIAGE)
