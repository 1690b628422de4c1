"""Street furniture: lamps, signals, signs, poles, rails and fences; origin on the ground below the middle.

Things that look at traffic look to -x: stand them with `Axis.pose(s, offset)` for traffic along the axis, turned by pi
for traffic against it.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from data_registry.geometry import Array, Transform
from data_registry.scene3d.light import Lamp
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import Colour, Point, box, ellipsoid, panel, tube
from data_registry.sources.streetset.axes import Axis, Reach
from data_registry.sources.streetset.ground import lattice
from data_registry.sources.streetset.layout import PAVEMENT_Z, STREET_END
from data_registry.sources.streetset.noise import raw_bytes
from data_registry.sources.streetset.panes import panes, spanned

LEAVES: Final = 640
LEAF_M: Final = 0.25


def tree(seed: int) -> tuple[Mesh, Mesh]:
    """Return a tree of about 6.5 m and the simpler shape that casts its shadow."""
    bark = (0.11, 0.085, 0.065)
    random = raw_bytes(seed, 64).astype(np.float64) / 255
    wood = [
        tube((0, 0, 0), (0.05, 0, 3.0), (0.15, 0.10), bark),
        tube((0.05, 0, 2.6), (0.6, 0.4, 4.2), (0.08, 0.04), bark),
    ]
    wood.append(tube((0.05, 0, 2.6), (-0.5, -0.3, 4.3), (0.08, 0.04), bark))
    turn, reach = np.arange(9) * 2.4, 0.35 + 0.75 * random[:9]
    centres = np.column_stack([reach * np.cos(turn), reach * np.sin(turn), 3.7 + 2.1 * (np.arange(9) * 4 % 9) / 8])
    radii = 0.70 + 0.35 * random[20:29]
    lumps = list(zip(centres.tolist(), radii.tolist(), strict=True))
    inside = [ellipsoid((x, y, z), (r * 0.8, r * 0.8, r * 0.6), (0.030, 0.060, 0.016)) for (x, y, z), r in lumps]
    outline = [ellipsoid((x, y, z), (r, r, r * 0.75), (0.05, 0.1, 0.02), 12) for (x, y, z), r in lumps]
    return joined([*wood, *inside, _leaves(centres, radii, seed)]), joined([*wood, *outline])


def _leaves(centres: Array, radii: Array, seed: int) -> Mesh:
    """Return tufts of leaves as small squares all over the lumps of a crown, of different greens and tilts."""
    random = raw_bytes(seed + 5000, 8 * LEAVES).reshape(8, LEAVES).astype(np.float64) / 255
    lump = np.arange(LEAVES) % len(radii)
    turn, rise = 2 * np.pi * random[0], 2 * random[1] - 1
    flat = np.sqrt(1 - rise**2)
    outward = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), rise])
    middle = centres[lump] + outward * (radii[lump] * (0.72 + 0.36 * random[2]))[:, None] * (1.0, 1.0, 0.78)
    first = np.cross(outward, random[3:6].T - 0.5)
    first /= np.maximum(np.linalg.norm(first, axis=1), 1e-6)[:, None]
    second = np.cross(outward, first) + 0.5 * outward
    size = (LEAF_M * (0.5 + 0.6 * random[6]))[:, None]
    corners = [middle + size * (a * first + b * second) for a, b in ((1, 0.2), (0.1, 1), (-1, -0.1), (-0.2, -1))]
    vertices = np.stack(corners, axis=1).reshape(-1, 3)
    start = 4 * np.arange(LEAVES)
    faces = np.stack([np.column_stack([start, start + k, start + k + 1]) for k in (1, 2)], axis=1).reshape(-1, 3)
    greens = np.array([0.070, 0.128, 0.028]) * (0.55 + 0.9 * random[7])[:, None]
    return Mesh(vertices, faces, np.repeat(greens, 2, axis=0))


def lamp_post(side: float) -> Mesh:
    """Return a lamp post of 6.5 m whose arm reaches over the road; `side` is +1 when the road lies to its left."""
    steel = (0.12, 0.13, 0.14)
    return joined(
        [
            tube((0, 0, 0), (0, 0, 6.4), (0.08, 0.05), steel),
            tube((0, 0, 0), (0, 0, 0.9), (0.12, 0.11), steel),
            tube((0, 0, 6.3), (0, side * 1.5, 6.6), (0.045, 0.035), steel, sides=6),
            box((-0.13, side * 1.5 - 0.35, 6.53), (0.13, side * 1.5 + 0.35, 6.65), (0.35, 0.36, 0.36)),
        ]
    )


def furniture() -> list[tuple[Mesh, Mesh]]:
    """Return all trees and lamp posts with what casts their shadow, placed in the street frame."""
    placed: list[tuple[Mesh, Mesh]] = []
    for number, s in enumerate(np.arange(9.0, STREET_END, 17.0)):
        for side, t in enumerate((-4.75, 5.95)):
            where = Transform(np.eye(3), np.array([s + 6.0 * side, t, PAVEMENT_Z]))
            seen, caster = tree(200 + 2 * number + side)
            placed.append((seen.placed(where), caster.placed(where)))
    for s in np.arange(3.0, STREET_END, 34.0):
        for side, along, t in ((1.0, 14.5, -4.5), (-1.0, 3.5, 5.75)):
            post = lamp_post(side).placed(Transform(np.eye(3), np.array([s + along, t, PAVEMENT_Z])))
            placed.append((post, post))
    return placed


STEEL: Final[Colour] = (0.12, 0.13, 0.14)
ZINC: Final[Colour] = (0.34, 0.35, 0.36)
BLACK: Final[Colour] = (0.02, 0.02, 0.022)
WOOD: Final[Colour] = (0.17, 0.11, 0.07)
RED: Final[Colour] = (0.50, 0.025, 0.025)
WHITE: Final[Colour] = (0.72, 0.72, 0.70)
BLUE: Final[Colour] = (0.02, 0.09, 0.34)
SODIUM: Final[Colour] = (1.0, 0.74, 0.42)
"""Light of street lamps."""
LAMP_POWER: Final = 52.0


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
    """Return a signal post of 3.3 m with a head that looks to -x (traffic comes along +x); state red, amber, green, off.

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
        lens = _round((x - 0.125, y, level), 0.105, paint)
        parts.append(lens.made_of(Material.GLOWING if lit else Material.GLASS))
        parts.append(_hood((x - 0.12, y, level)))
    return joined(parts)


def _round(centre: Point, radius: float, colour: Colour, sides: int = 16) -> Mesh:
    """Return an upright disc that looks along x."""
    turn = np.arange(sides) * (2 * np.pi / sides)
    return panel([(centre[0], centre[1] + radius * np.cos(a), centre[2] + radius * np.sin(a)) for a in turn], colour)


def _hood(centre: Point) -> Mesh:
    """Return the upper half of a short tube in front of a lens."""
    x, y, z = centre
    turn = np.linspace(0.0, np.pi, 9)
    rim = np.column_stack([np.full(9, x), y + 0.125 * np.cos(turn), z + 0.125 * np.sin(turn)])
    out = rim - (0.2, 0.0, 0.0)
    return panes(np.stack([rim[:-1], rim[1:], out[1:], out[:-1]], axis=1), BLACK)


def sign(kind: str = "no_entry", height: float = 2.2) -> Mesh:
    """Return a traffic sign on a post that looks to -x; kind: no_entry, warning, give_way, crossing, stop, speed."""
    post = tube((0.03, 0, -0.2), (0.03, 0, height + 0.6), (0.03, 0.03), ZINC, 6).made_of(Material.METAL)
    return joined([post, _face(kind, height + 0.33).made_of(Material.MARKING)])


def _face(kind: str, z: float) -> Mesh:
    """Return a sign's layers, each a few millimetres before the one behind it, centred at height z."""

    def regular(layer: int, radius: float, colour: Colour, sides: int, first: float = 0.5) -> Mesh:
        turn = (np.arange(sides) + first) * (2 * np.pi / sides) - np.pi / 2
        x = -0.005 * layer
        return panel([(x, radius * np.cos(a), z + radius * np.sin(a)) for a in turn], colour)

    def bar(layer: int, reach: tuple[float, float, float, float], colour: Colour) -> Mesh:
        y0, y1, z0, z1 = reach
        return panes(spanned((-0.005 * layer, y0, z + z0), (-0.005 * layer, y1, z + z1)), colour)

    back = regular(-1, 0.30, ZINC, 20)
    figure = [bar(3, (-0.03, 0.03, -0.10, 0.10), BLACK), bar(3, (-0.03, 0.03, -0.17, -0.13), BLACK)]
    layers = {
        "no_entry": [
            back,
            regular(0, 0.32, WHITE, 24),
            regular(1, 0.30, RED, 24),
            bar(2, (-0.22, 0.22, -0.05, 0.05), WHITE),
        ],
        "speed": [back, regular(0, 0.32, RED, 24), regular(1, 0.25, WHITE, 24), *_digits(z)],
        "stop": [
            back,
            regular(0, 0.36, WHITE, 8),
            regular(1, 0.33, RED, 8),
            bar(2, (-0.22, 0.22, -0.055, 0.055), WHITE),
        ],
        "warning": [regular(0, 0.42, RED, 3), regular(1, 0.31, WHITE, 3), *figure],
        "give_way": [regular(0, 0.42, RED, 3, 0.0), regular(1, 0.29, WHITE, 3, 0.0)],
        "crossing": [bar(0, (-0.32, 0.32, -0.32, 0.32), BLUE), regular(1, 0.27, WHITE, 3), *_walker(z)],
    }
    return joined(layers[kind])


def _digits(z: float) -> list[Mesh]:
    """Return a plain "30" of bars."""
    strokes = [(0.02, 0.12, level, level + 0.035) for level in (-0.12, -0.017, 0.085)]
    strokes += [(0.02, 0.05, -0.12, 0.12), (-0.05, -0.02, -0.12, 0.12), (-0.14, -0.11, -0.12, 0.12)]
    strokes += [(-0.14, -0.02, -0.12, -0.085), (-0.14, -0.02, 0.085, 0.12)]
    return [panes(spanned((-0.015, y0, z + z0), (-0.015, y1, z + z1)), BLACK) for y0, y1, z0, z1 in strokes]


def _walker(z: float) -> list[Mesh]:
    """Return a walking figure: head, body, two legs."""
    legs = [
        panel(
            [
                (-0.015, y, z - 0.02),
                (-0.015, y + 0.04, z - 0.02),
                (-0.015, 2.6 * y + 0.05, z - 0.12),
                (-0.015, 2.6 * y, z - 0.12),
            ],
            BLACK,
        )
        for y in (-0.04, 0.02)
    ]
    body = panes(spanned((-0.015, -0.035, z - 0.03), (-0.015, 0.035, z + 0.08)), BLACK)
    return [body, *legs, _round((-0.015, 0.0, z + 0.115), 0.03, BLACK, 8)]


def roadside_camera(height: float = 6.0) -> Mesh:
    """Return a pole with a camera unit that looks to -x: the V2X scene's roadside sensor, its lens at (-0.75, 0, height)."""
    parts = [
        tube((0, 0, -0.2), (0, 0, height + 0.5), (0.09, 0.06), ZINC),
        tube((0, 0, height + 0.25), (-0.5, 0, height + 0.25), (0.035, 0.03), ZINC, 6),
        box((-0.72, -0.09, height - 0.08), (-0.35, 0.09, height + 0.10), WHITE),
        box((-0.80, -0.11, height + 0.10), (-0.33, 0.11, height + 0.13), WHITE),
        box((-0.12, -0.22, 1.2), (0.14, 0.22, 1.9), ZINC),
        tube((-0.25, 0.0, height + 0.30), (-0.25, 0.0, height + 0.52), (0.10, 0.10), BLACK, 10),
    ]
    return joined(
        [joined(parts).made_of(Material.METAL), _round((-0.725, 0.0, height), 0.055, BLACK).made_of(Material.GLASS)]
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


def billboard(width: float = 4.0, seed: int = 0) -> Mesh:
    """Return a billboard on two posts that looks to -x: a frame and a plain design of bands and a disc."""
    dice = raw_bytes(seed + 600, 16).astype(np.float64) / 255
    colours = 0.08 + 0.40 * dice[:9].reshape(3, 3)
    half, low, high = width / 2, 1.8, 1.8 + 0.6 * width
    posts = [tube((0.08, y, -0.2), (0.08, y, low), (0.08, 0.08), STEEL) for y in (-0.6 * half, 0.6 * half)]
    frame = box((-0.04, -half - 0.08, low - 0.08), (0.12, half + 0.08, high + 0.08), STEEL)
    middle = low + (0.3 + 0.4 * float(dice[9])) * (high - low)
    art = [
        panes(spanned((-0.05, -half, low), (-0.05, half, middle)), colours[0]),
        panes(spanned((-0.05, -half, middle), (-0.05, half, high)), colours[1]),
        _round((-0.056, (float(dice[10]) - 0.5) * half, middle), 0.16 * width, _colour(colours[2]), 24),
        panes(spanned((-0.056, -0.8 * half, low + 0.25), (-0.056, 0.3 * half, low + 0.45)), WHITE),
    ]
    return joined([joined([*posts, frame]).made_of(Material.METAL), *art])


def _colour(values: Array) -> Colour:
    return float(values[0]), float(values[1]), float(values[2])


def guard_rail(axis: Axis, offset: float, reach: Reach) -> Mesh:
    """Return a steel guard rail with posts every 2 m, in the scene's frame."""
    profile = [(offset, 0.45), (offset + 0.05, 0.52), (offset, 0.60), (offset + 0.05, 0.68), (offset, 0.75)]
    rail = lattice(axis, axis.cuts(reach, 2.0), profile, np.array(ZINC), Material.METAL)
    return joined([rail, _posts(axis, offset - 0.03, reach, (2.0, 0.05, 0.72), ZINC)])


def _posts(axis: Axis, offset: float, reach: Reach, spacing: tuple[float, float, float], colour: Colour) -> Mesh:
    """Return square posts along an axis; spacing: pitch, half width, height, metres."""
    pitch, half, height = spacing
    low, high = max(reach[0], 0.0), min(reach[1], axis.length)
    post = box((-half, -half, -0.3), (half, half, height), colour).made_of(Material.METAL)
    return joined([post.placed(axis.pose(s, offset)) for s in np.arange(low, high + 1e-6, pitch).tolist()])


def fence(axis: Axis, offset: float, reach: Reach, kind: str = "iron") -> Mesh:
    """Return a fence; kind: iron (railings, 1.1 m), wood (planks, 1.4 m), works (construction fence, 2 m), wall (0.9 m)."""
    stations = axis.cuts(reach, 2.0)

    def rail(low: float, high: float, colour: Colour, material: Material = Material.METAL) -> Mesh:
        ring = [
            (offset - 0.02, low),
            (offset + 0.02, low),
            (offset + 0.02, high),
            (offset - 0.02, high),
            (offset - 0.02, low),
        ]
        return lattice(axis, stations, ring, np.array(colour), material)

    if kind == "wall":
        ring = [(offset - 0.12, -0.4), (offset - 0.12, 0.82), (offset + 0.12, 0.82), (offset + 0.12, -0.4)]
        cap = [(offset + y, z) for y, z in ((-0.17, 0.82), (-0.17, 0.9), (0.17, 0.9), (0.17, 0.82), (-0.17, 0.82))]
        body = lattice(axis, stations, ring, np.array((0.34, 0.22, 0.16)), Material.MASONRY)
        return joined([body, lattice(axis, stations, cap, np.array((0.42, 0.41, 0.38)), Material.PAVING)])
    if kind == "wood":
        planks = [
            _planks(axis, offset, reach),
            _posts(axis, offset + 0.05, reach, (2.0, 0.05, 1.35), WOOD).made_of(Material.MATTE),
        ]
        return joined([*planks, rail(0.3, 0.38, WOOD, Material.MATTE), rail(1.1, 1.18, WOOD, Material.MATTE)])
    if kind == "works":
        board = rail(0.15, 0.40, RED), rail(0.95, 1.0, ZINC), rail(1.95, 2.0, ZINC)
        return joined(
            [
                *board,
                _posts(axis, offset, reach, (0.25, 0.006, 1.95), ZINC),
                _posts(axis, offset, reach, (3.0, 0.03, 2.0), ZINC),
            ]
        )
    bars = _posts(axis, offset, reach, (0.16, 0.009, 1.05), BLACK)
    return joined(
        [bars, _posts(axis, offset, reach, (2.4, 0.03, 1.15), BLACK), rail(0.15, 0.19, BLACK), rail(0.96, 1.0, BLACK)]
    )


def _planks(axis: Axis, offset: float, reach: Reach) -> Mesh:
    """Return upright planks with small gaps, each a little different."""
    low, high = max(reach[0], 0.0), min(reach[1], axis.length)
    s = np.arange(low, high - 0.11, 0.14)
    tone = 0.75 + 0.5 * raw_bytes(640, len(s)).astype(np.float64)[:, None] / 255
    corners = [axis.at(s + along, offset, lift) for along, lift in ((0.0, 0.05), (0.12, 0.05), (0.12, 1.4), (0.0, 1.4))]
    return panes(np.stack(corners, axis=1), tone * np.array(WOOD))
