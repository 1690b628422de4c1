"""Fittings of a street: lamps, signals, poles, bollards, bins, benches; origin on the ground below the middle.

Things that look at traffic look to -x: stand them with `Alignment.pose(s, offset)` for traffic along the alignment,
turned by pi for traffic against it.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from data_registry.geometry import Transform
from data_registry.scene3d.light import Lamp
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import Colour, Point, box, panel, tube
from data_registry.sources.streetset.panes import panes, spanned

STEEL: Final[Colour] = (0.12, 0.13, 0.14)
ZINC: Final[Colour] = (0.34, 0.35, 0.36)
BLACK: Final[Colour] = (0.02, 0.02, 0.022)
WOOD: Final[Colour] = (0.17, 0.11, 0.07)
RED: Final[Colour] = (0.50, 0.025, 0.025)
WHITE: Final[Colour] = (0.72, 0.72, 0.70)
BLUE: Final[Colour] = (0.02, 0.09, 0.34)
SODIUM: Final[Colour] = (1.0, 0.74, 0.42)
"""Light of street lamps."""
LAMP_POWER: Final = 44.0


def street_lamp(height: float = 6.5, arm: float = 1.5, lit: bool = False) -> tuple[Mesh, Lamp]:
    """Return a lamp post whose arm reaches along +y, and its light; both in the post's frame (`lamp_at` places it)."""
    head = (0.0, arm, height + 0.08)
    post = [
        tube((0, 0, -0.2), (0, 0, height - 0.1), (0.08, 0.05), STEEL),
        tube((0, 0, -0.2), (0, 0, 0.9), (0.12, 0.11), STEEL),
        tube((0, 0, height - 0.2), (0, arm, height + 0.12), (0.045, 0.035), STEEL, sides=6),
        box((-0.13, arm - 0.35, height + 0.04), (0.13, arm + 0.35, height + 0.15), ZINC),
    ]
    shade = panes(spanned((-0.11, arm - 0.32, height + 0.03), (0.11, arm + 0.32, height + 0.03)), *_lens(SODIUM, lit))
    if lit:
        shade = joined([shade, _bulb(head, SODIUM)])
    beam = np.array([0.0, 0.0, -1.0])
    power = LAMP_POWER * (height / 6.5) ** 2
    return joined([joined(post).made_of(Material.METAL), shade]), Lamp(
        np.array([0.0, arm, height - 0.1]), power * np.array(SODIUM), beam, 1.05
    )


def _lens(colour: Colour, lit: bool) -> tuple[Colour, Material]:
    """Return colour and material of a lamp's lens, on or off."""
    return (colour, Material.GLOWING) if lit else ((0.4, 0.4, 0.38), Material.GLASS)


def _bulb(centre: Point, colour: Colour) -> Mesh:
    """Return a small glowing body below a lamp's head: seen from the side, a lit lamp shows."""
    x, y, z = centre
    return box((x - 0.1, y - 0.28, z - 0.10), (x + 0.1, y + 0.28, z - 0.04), colour).made_of(Material.GLOWING)


def lamp_at(lamp: Lamp, pose: Transform) -> Lamp:
    """Return a lamp moved from a thing's frame to the pose's parent frame."""
    direction = None if lamp.direction is None else pose.rotation @ lamp.direction
    return Lamp(pose.apply(lamp.position[None])[0], lamp.colour, direction, lamp.spread)


LENSES: Final = {"red": (1.0, 0.04, 0.03), "amber": (1.0, 0.45, 0.02), "green": (0.05, 0.95, 0.35)}


def signal(state: str = "red", arm: float = 0.0) -> Mesh:
    """Return a signal post of 3.3 m with a head that looks to -x; state: red, amber, green or off.

    arm > 0: a mast with a second head above the road, `arm` metres along +y, 5.5 m up.
    """
    parts = [
        tube((0, 0, -0.2), (0, 0, 3.3), (0.06, 0.06), STEEL).made_of(Material.METAL),
        _head(state, (-0.1, 0.0, 2.3)),
    ]
    if arm > 0:
        parts.append(tube((0, 0, 3.2), (0, 0, 6.2), (0.07, 0.06), STEEL).made_of(Material.METAL))
        parts.append(tube((0, 0, 6.1), (0, arm + 0.2, 6.2), (0.06, 0.04), STEEL).made_of(Material.METAL))
        parts.append(_head(state, (-0.1, arm, 5.2)))
    return joined(parts)


def _head(state: str, foot: Point) -> Mesh:
    """Return a head of three lenses, 0.95 m high, with hoods and a back board; foot: middle of its lower edge."""
    x, y, z = foot
    board = box((x + 0.02, y - 0.24, z - 0.08), (x + 0.04, y + 0.24, z + 1.03), BLACK)
    parts = [board, box((x - 0.12, y - 0.15, z), (x + 0.02, y + 0.15, z + 0.95), BLACK)]
    for number, name in enumerate(("green", "amber", "red")):
        level = z + 0.17 + 0.305 * number
        red, green, blue = LENSES[name]
        lit = name == state
        paint = LENSES[name] if lit else (0.04 + 0.09 * red, 0.02 + 0.06 * green, 0.02 + 0.05 * blue)
        lens = round_plate((x - 0.125, y, level), 0.105, paint)
        parts.append(lens.made_of(Material.GLOWING if lit else Material.GLASS))
        parts.append(_hood((x - 0.12, y, level)))
    return joined(parts)


def round_plate(centre: Point, radius: float, colour: Colour, sides: int = 16) -> Mesh:
    """Return an upright disc that looks along x."""
    turn = np.arange(sides) * (2 * np.pi / sides)
    return panel([(centre[0], centre[1] + radius * np.cos(a), centre[2] + radius * np.sin(a)) for a in turn], colour)


def _hood(centre: Point) -> Mesh:
    """Return the upper half of a short tube in front of a lens."""
    x, y, z = centre
    turn = np.linspace(0.0, np.pi, 9)
    rim = np.column_stack([np.full(9, x), y + 0.125 * np.cos(turn), z + 0.125 * np.sin(turn)])
    out = rim - (0.11, 0.0, 0.0)
    return panes(np.stack([rim[:-1], rim[1:], out[1:], out[:-1]], axis=1), BLACK)


def roadside_camera(height: float = 6.0) -> Mesh:
    """Return a pole with a camera unit that looks to -x, its lens at (-0.75, 0, height): a roadside sensor."""
    parts = [
        tube((0, 0, -0.2), (0, 0, height + 0.5), (0.09, 0.06), ZINC),
        tube((0, 0, height + 0.25), (-0.5, 0, height + 0.25), (0.035, 0.03), ZINC, 6),
        box((-0.72, -0.09, height - 0.08), (-0.35, 0.09, height + 0.10), WHITE),
        box((-0.80, -0.11, height + 0.10), (-0.33, 0.11, height + 0.13), WHITE),
        box((-0.12, -0.22, 1.2), (0.14, 0.22, 1.9), ZINC),
        tube((-0.25, 0.0, height + 0.30), (-0.25, 0.0, height + 0.52), (0.10, 0.10), BLACK, 10),
    ]
    return joined(
        [
            joined(parts).made_of(Material.METAL),
            round_plate((-0.725, 0.0, height), 0.055, BLACK).made_of(Material.GLASS),
        ]
    )


def bollard() -> Mesh:
    """Return a steel bollard of 0.95 m with a white band."""
    parts = [tube((0, 0, -0.1), (0, 0, 0.95), (0.055, 0.05), STEEL, 10)]
    parts.append(tube((0, 0, 0.70), (0, 0, 0.80), (0.058, 0.057), WHITE, 10))
    return joined(parts).made_of(Material.METAL)


def litter_bin() -> Mesh:
    """Return a litter bin of 0.95 m with a lid."""
    parts = [
        tube((0, 0, 0.0), (0, 0, 0.85), (0.19, 0.24), (0.04, 0.09, 0.06), 14),
        tube((0, 0, 0.85), (0, 0, 0.95), (0.25, 0.16), BLACK, 14),
    ]
    return joined(parts).made_of(Material.METAL)


def bench() -> Mesh:
    """Return a bench 1.6 m along x; its back is on its +y side, so one sits looking to -y."""
    slats = [box((-0.8, y, 0.42), (0.8, y + 0.10, 0.46), WOOD) for y in (-0.22, -0.08, 0.06)]
    slats += [box((-0.8, 0.22, z), (0.8, 0.26, z + 0.11), WOOD) for z in (0.56, 0.72)]
    feet = [box((x - 0.03, -0.20, 0.0), (x + 0.03, 0.20, 0.42), STEEL) for x in (-0.6, 0.6)]
    feet += [box((x - 0.03, 0.16, 0.42), (x + 0.03, 0.22, 0.85), STEEL) for x in (-0.6, 0.6)]
    return joined([joined(slats), joined(feet).made_of(Material.METAL)])


def power_pole(height: float = 8.5) -> Mesh:
    """Return a wooden pole with a cross-arm along y."""
    parts = [
        tube((0, 0, -0.5), (0, 0, height), (0.14, 0.10), WOOD),
        box((-0.06, -0.95, height - 0.55), (0.06, 0.95, height - 0.43), WOOD),
        *(tube((0, y, height - 0.43), (0, y, height - 0.25), (0.04, 0.03), WHITE, 6) for y in (-0.85, 0.0, 0.85)),
    ]
    return joined(parts)


def wires(poles: list[Transform], height: float = 8.5) -> Mesh:
    """Return three sagging wires between power poles that stand at the given poses, in the poses' parent frame."""
    spans: list[Mesh] = []
    share = np.linspace(0.0, 1.0, 9)[:, None]
    for one, two in itertools.pairwise(poles):
        for y in (-0.85, 0.0, 0.85):
            start, end = (pose.apply(np.array([[0.0, y, height - 0.25]]))[0] for pose in (one, two))
            line = start + share * (end - start) - 4 * share * (1 - share) * (0.0, 0.0, 0.6)
            thick = np.array([0.0, 0.0, 0.025])
            spans.append(panes(np.stack([line[:-1], line[1:], line[1:] + thick, line[:-1] + thick], axis=1), BLACK))
    return joined(spans)
