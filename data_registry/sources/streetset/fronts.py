"""Parts of houses: walls with real holes, recessed windows, doors, roofs.

A front is a lattice of wall pieces; its windows lie 14 cm deep, with frames, bars and sills. By day windows are glass;
a share of them may glow. A house's own frame: x along its front from its first corner, y away from the street, z up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.raw_noise import raw_bytes
from data_registry.scene3d.solids import Colour
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


def evenly(width: float, pitch: float, opening: float, margin: float = 0.5) -> Array:
    """Return openings (C, 2) evenly along a width."""
    count = max(1, int((width - 2 * margin) / pitch))
    middle = margin + (np.arange(count) + 0.5) * (width - 2 * margin) / count
    return np.column_stack([middle - opening / 2, middle + opening / 2])


def storeys(low: float, count: int, pitch: float, sill: float, opening: float) -> Array:
    """Return openings (R, 2) of `count` storeys from `low` on: metres above each floor, and how high."""
    bottom = low + np.arange(count) * pitch + sill
    return np.column_stack([bottom, bottom + opening])


def wall(holes: Holes, width: float, low: float, high: float, colour: Colour) -> Mesh:
    """Return a front at y = 0 from low to high with its openings left out."""
    xs = np.concatenate([[0.0], holes.columns.ravel(), [width]])
    zs = np.concatenate([[low], holes.rows.ravel(), [high]])
    column = np.repeat(np.arange(len(xs) - 1), len(zs) - 1)
    level = np.tile(np.arange(len(zs) - 1), len(xs) - 1)
    solid = ~((column % 2 == 1) & (level % 2 == 1))
    column, level = column[solid], level[solid]
    corners = spanned((xs[column], 0.0, zs[level]), (xs[column + 1], 0.0, zs[level + 1]))
    return panes(corners, colour, Material.MASONRY)


def reveals(holes: Holes, colour: Colour) -> Mesh:
    """Return the four sides of every opening's recess."""
    x0, x1, z0, z1 = holes.spans()
    sides = [
        spanned((x0, 0.0, z0), (x0, DEEP, z1)),
        spanned((x1, 0.0, z0), (x1, DEEP, z1)),
        spanned((x0, 0.0, z0), (x1, DEEP, z0)),
        spanned((x0, 0.0, z1), (x1, DEEP, z1)),
    ]
    return panes(np.concatenate(sides), (0.8 * colour[0], 0.8 * colour[1], 0.8 * colour[2]), Material.MASONRY)


def glass(holes: Holes, dice: Dice, lit: float, first: int, least: float = 0.18) -> Mesh:
    """Return what fills the openings: panes of glass, some with curtains; a share `lit` glows, at `least` so bright."""
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
        strength = (least + 0.5 * tone**2)[glows, None]
        warm = (dice.many(first + 97, count)[glows] < 0.75)[:, None]
        paint = strength * np.where(warm, np.array(WARM), np.array(COOL))
        # Brighter below, where the lamp's light falls, than behind the curtain above: two panes.
        middle = z0[glows] + 0.6 * (z1 - z0)[glows]
        for low, high, share in ((z0[glows], middle, 1.0), (middle, z1[glows], 0.7)):
            corners = spanned((x0[glows], DEEP, low), (x1[glows], DEEP, high))
            parts.append(panes(corners, paint * share, Material.GLOWING))
    return joined(parts)


def bars(holes: Holes, colour: Colour, thick: float = 0.06, cross: float = 0.35) -> Mesh:
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


def windows(holes: Holes, house: House, dice: Dice, first: int) -> list[Mesh]:
    """Return recesses, panes, bars and sills for a front's openings; `first`: where its dice begin."""
    return [
        reveals(holes, house.colour),
        glass(holes, dice, house.lit, first),
        bars(holes, FRAME if dice.values[9] > 0.3 else DARK),
        _sills(holes),
    ]


def shell(house: House, low: float = -FOOTING_M) -> Mesh:
    """Return both side walls and the back, without the front."""
    w, d, h = house.width, house.depth, house.height
    sides = [spanned((x, 0.0, low), (x, d, h)) for x in (0.0, w)]
    paint = (0.92 * house.colour[0], 0.92 * house.colour[1], 0.92 * house.colour[2])
    return panes(np.concatenate([*sides, spanned((0.0, d, low), (w, d, h))]), paint, Material.MASONRY)


def flat_roof(house: House) -> Mesh:
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


def gable_roof(house: House, colour: Colour, rise: float, eaves: float = 0.35) -> Mesh:
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


def dormers(house: House, rise: float, dice: Dice) -> Mesh:
    """Return small windows in the front slope of a gable roof."""
    columns = evenly(house.width, 3.4, 1.1)
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


def entry(hole: Holes, paint: Colour) -> list[Mesh]:
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
