"""Houses along streets: rows of town houses with shops, suburban houses, offices, halls.

By day windows are glass; `lit` is the share of them that glows (Condition.lit_windows).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.geometry import Array, Transform, yaw_rotation
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import Colour
from data_registry.sources.streetset.alignment import Alignment, Reach
from data_registry.sources.streetset.fronts import (
    DARK,
    DEEP,
    FOOTING_M,
    FRAME,
    RENDERS,
    ROOFS,
    SIGNS,
    STONE,
    Dice,
    Holes,
    House,
    bars,
    dormers,
    entry,
    evenly,
    flat_roof,
    gable_roof,
    glass,
    reveals,
    shell,
    storeys,
    wall,
    windows,
)
from data_registry.sources.streetset.panes import blocks, panes, spanned

SHOP_M: Final = 3.6
"""Height of a ground floor with shops, metres."""


def _shop(house: House, dice: Dice) -> list[Mesh]:
    """Return a ground floor: pillars between shop windows, a door, a plinth, a sign board, often an awning."""
    columns = evenly(house.width, 3.2, 2.3, 0.4)
    door = int(dice.values[20] * len(columns))
    shown = np.delete(columns, door, axis=0)
    base = tuple(0.75 * part for part in STONE) if dice.values[21] > 0.5 else house.colour
    paint = (float(base[0]), float(base[1]), float(base[2]))
    sign = dice.pick(22, SIGNS)
    opening = Holes(columns[door : door + 1] + np.array([[0.5, -0.5]]), np.array([[0.02, 2.6]]))
    windows = Holes(shown, np.array([[0.5, 2.75]]))
    parts = [_shop_wall(columns, door, house.width, paint), *entry(opening, sign)]
    if len(shown):
        bright = 1.0 if dice.values[23] < 2.2 * house.lit else 0.0
        parts += [reveals(windows, paint), glass(windows, dice, bright, 30, 0.45), bars(windows, sign, 0.07, 0.22)]
        parts.append(_goods(windows, dice))
    board = blocks((0.3, -0.10, 2.95), (house.width - 0.3, 0.0, 3.45))
    parts.append(panes(board, sign))
    parts.append(_letters(house, dice))
    if dice.values[24] > 0.45 and len(shown):
        parts.append(_awning(house.width, dice.pick(25, SIGNS)))
    return parts


def _shop_wall(columns: Array, door: int, width: float, paint: Colour) -> Mesh:
    """Return the pillars, the strip above, and below the windows a plinth: the door goes down to the pavement."""
    shown = Holes(columns, np.array([[0.5, 2.75]]))
    solid = wall(shown, width, -FOOTING_M, SHOP_M, paint)
    left, right = columns[door]
    jambs = [
        spanned((left, 0.0, 0.5), (left + 0.5, 0.0, 2.75)),
        spanned((right - 0.5, 0.0, 0.5), (right, 0.0, 2.75)),
        spanned((left, 0.0, 2.6), (right, 0.0, 2.75)),
    ]
    return joined([solid, panes(np.concatenate(jambs), paint, Material.MASONRY)])


def _goods(windows: Holes, dice: Dice) -> Mesh:
    """Return what stands behind a shop's panes: boxes and figures of many sizes, close to the glass."""
    x0, x1, z0, _ = windows.spans()
    each = 5
    count = each * len(x0)
    left, right, low = (np.repeat(value, each) for value in (x0 + 0.12, x1 - 0.12, z0))
    pitch = (right - left) / each
    start = left + pitch * (np.tile(np.arange(each), len(x0)) + 0.2 * dice.many(400, count))
    high = low + 0.20 + 0.9 * dice.many(433, count) ** 2
    tint = np.column_stack([dice.many(index, count) for index in (460, 467, 481)])
    tone = (0.03 + 0.16 * dice.many(490, count)[:, None]) * (0.6 + 0.8 * tint)
    corners = spanned(
        (start, DEEP - 0.008, low), (start + pitch * (0.55 + 0.40 * dice.many(450, count)), DEEP - 0.008, high)
    )
    return panes(corners, tone)


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
        evenly(house.width, dice.between(11, 2.1, 2.9), dice.between(12, 0.95, 1.35)),
        storeys(SHOP_M, count, storey, 0.75, dice.between(13, 1.5, 1.8)),
    )
    parts = [wall(holes, house.width, SHOP_M, house.height, house.colour), *windows(holes, house, dice, 120)]
    parts += [*_shop(house, dice), shell(house)]
    parts.append(panes(blocks((0.0, -0.08, SHOP_M - 0.08), (house.width, 0.0, SHOP_M + 0.10)), STONE, Material.MASONRY))
    if dice.values[14] < 0.5:
        rise = dice.between(15, 2.2, 3.6)
        return joined([*parts, gable_roof(house, dice.pick(16, ROOFS), rise), dormers(house, rise, dice)])
    return joined([*parts, flat_roof(house)])


def _suburb_house(house: House, dice: Dice) -> Mesh:
    """Return a detached house of one or two storeys with a door, windows and a pitched roof."""
    count = max(1, int(house.height / 2.6))
    holes = Holes(evenly(house.width, 2.8, 1.3, 0.6), storeys(0.0, count, 2.75, 1.0, 1.3))
    middle = float(holes.columns[len(holes.columns) // 2].mean())
    beside = middle + 0.5 * float(holes.columns[0, 1] - holes.columns[0, 0]) + 0.2
    opening = Holes(np.array([[beside, beside + 0.9]]), np.array([[0.06, 2.15]]))
    front = [wall(holes, house.width, -FOOTING_M, house.height, house.colour), *windows(holes, house, dice, 120)]
    front += entry(opening, dice.pick(22, SIGNS))
    rise = dice.between(15, 2.0, 3.2)
    return joined([*front, shell(house), gable_roof(house, dice.pick(16, ROOFS), rise, 0.5)])


def _offices(house: House, dice: Dice) -> Mesh:
    """Return a tall front of long windows between slim pillars over a set of glass doors."""
    count = max(2, int((house.height - 0.8) / 3.5))
    holes = Holes(evenly(house.width, 2.4, 1.95, 0.3), storeys(0.0, count, 3.5, 0.75, 2.1))
    parts = [wall(holes, house.width, -FOOTING_M, house.height, house.colour), reveals(holes, house.colour)]
    parts += [glass(holes, dice, house.lit, 120), bars(holes, DARK, 0.05, 0.3)]
    return joined([*parts, shell(house), flat_roof(house)])


def _hall(house: House, dice: Dice) -> Mesh:
    """Return a long low hall of ribbed sheet with gates and a band of windows."""
    holes = Holes(evenly(house.width, 3.2, 2.4, 0.5), np.array([[house.height - 2.0, house.height - 1.0]]))
    ribs = np.arange(0.0, house.width, 0.5)
    sheet = panes(blocks((ribs, -0.03, 0.5), (ribs + 0.12, 0.0, house.height - 2.2)), house.colour, Material.METAL)
    gates = evenly(house.width, 9.0, 4.0, 1.0)
    x0, x1 = gates.T
    gate = panes(spanned((x0, -0.05, 0.0), (x1, -0.05, 3.8)), dice.pick(22, SIGNS), Material.METAL)
    lines = np.concatenate([spanned((x0, -0.055, z), (x1, -0.055, z + 0.03)) for z in (0.75, 1.5, 2.25, 3.0)])
    parts = [wall(holes, house.width, -FOOTING_M, house.height, house.colour), *windows(holes, house, dice, 120)]
    return joined([*parts, sheet, gate, panes(lines, DARK), shell(house), flat_roof(house)])


def _flanks(house: House, dice: Dice, floors: tuple[float, float]) -> Mesh:
    """Return windows in both side walls: nothing at all in a big wall looks unfinished.

    They lie on the wall, not in it: a neighbour hides them where one stands.

    Args:
        house: what it is on.
        dice: where they are.
        floors: height of the lowest sill and from storey to storey, metres.
    """
    sill, storey = floors
    count = max(1, int((house.height - sill - 1.4) / storey) + 1)
    columns = evenly(house.depth, dice.between(70, 2.9, 3.9), 0.95, 0.9)
    holes = Holes(columns, storeys(sill, count, storey, 0.0, 1.3))
    x0, x1, z0, z1 = holes.spans()
    frame = panes(spanned((x0 - 0.08, DEEP + 0.01, z0 - 0.08), (x1 + 0.08, DEEP + 0.01, z1 + 0.08)), STONE)
    front = joined([frame, glass(holes, dice, house.lit, 150), bars(holes, FRAME)])
    out = np.array([0.0, -DEEP - 0.03, 0.0])
    sides = (
        (-np.pi / 2, np.array([0.0, house.depth, 0.0])),
        (np.pi / 2, np.array([house.width, 0.0, 0.0])),
    )
    turns = [(yaw_rotation(yaw), foot) for yaw, foot in sides]
    return joined([front.placed(Transform(turn, foot + turn @ out)) for turn, foot in turns])


@dataclass(frozen=True, slots=True)
class Style:
    """How houses of one kind are measured, and who builds one.

    Widths, gaps between and heights are (low, high), metres; floors: lowest sill and from storey to storey at the
    sides, metres, None: no windows there.
    """

    widths: tuple[float, float]
    gaps: tuple[float, float]
    heights: tuple[float, float]
    depth: float
    build: Callable[[House, Dice], Mesh]
    floors: tuple[float, float] | None


STYLES: Final[dict[str, Style]] = {
    "town": Style((7.5, 15.0), (0.0, 0.0), (10.0, 18.5), 11.0, _town_house, (4.35, 3.1)),
    "suburb": Style((8.5, 12.5), (4.0, 8.0), (3.0, 5.8), 8.5, _suburb_house, (1.0, 2.75)),
    "offices": Style((18.0, 32.0), (2.0, 6.0), (14.0, 32.0), 16.0, _offices, (0.75, 3.5)),
    "industry": Style((24.0, 45.0), (6.0, 12.0), (6.5, 9.0), 22.0, _hall, None),
}
"""Kinds of rows by name."""


def row(axis: Alignment, offset: float, reach: Reach, style: str = "town", seed: int = 0, lit: float = 0.0) -> Mesh:
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
        if kind.floors and (kind.gaps[1] > 0 or number == 0 or end - (s + width) < 0.6 * kind.widths[0]):
            result.append(_flanks(house, dice, kind.floors).placed(place))
        s, number = s + width + dice.between(1, *kind.gaps), number + 1
    return joined(result)


def _placed(
    axis: Alignment, offset: float, reach: Reach, dice: Dice, kind: Style, lit: float
) -> tuple[House, Transform]:
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
