"""What lies on a road and does not belong there: spilled crates, a fallen tree, a ball."""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.geometry import Array, Transform
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import WHITE, Size, cloth, fitted, shaded
from data_registry.scene3d.solids import Coat, Colour, Finish, Point, box, coated, panel, sheet, sweep

WOOD: Final[Colour] = (0.36, 0.23, 0.11)
CARDBOARD: Final[Colour] = (0.34, 0.21, 0.105)
TAPE: Final = cloth((0.50, 0.38, 0.20))
GOLDEN: Final = np.pi * (3 - 5**0.5)
"""Turns by this angle spread points evenly without repeating."""


def ball(length: float, width: float, height: float, colour: Colour = (0.62, 0.06, 0.04)) -> Mesh:
    """Return a ball in two colours, white fields between coloured ones."""
    turn, tilt = np.arange(21) * (2 * np.pi / 20), np.linspace(-np.pi / 2, np.pi / 2, 13)
    flat = np.cos(tilt)[:, None]
    rise = np.broadcast_to(np.sin(tilt)[:, None], (13, 21))
    grid = np.asarray(np.stack([flat * np.cos(turn), flat * np.sin(turn), rise], axis=2), dtype=np.float64)
    fields = [sheet(grid[:, start : start + 3], WHITE if start % 4 else cloth(colour)) for start in range(0, 20, 2)]
    return fitted(joined(fields), (length, width, height))


def turned(mesh: Mesh, yaw: float, offset: Point, roll: float = 0.0) -> Mesh:
    """Return a mesh rolled about its x axis, turned about z, lowered onto z = offset's z, and shifted."""
    a, b, c, d = np.cos(yaw), np.sin(yaw), np.cos(roll), np.sin(roll)
    about_z, about_x = [[a, -b, 0], [b, a, 0], [0, 0, 1.0]], [[1, 0, 0], [0, c, -d], [0, d, c]]
    rotation = np.asarray(np.array(about_z) @ np.array(about_x), dtype=np.float64)
    moved = mesh.placed(Transform(rotation, np.zeros(3)))
    x, y, z = offset
    return mesh.placed(Transform(rotation, np.array([x, y, z - float(moved.vertices[:, 2].min())])))


def crates(length: float, width: float, height: float, colour: Colour = CARDBOARD) -> Mesh:
    """Return a spilled load: a pallet with boxes left on it, fallen ones around, one burst; `colour`: cardboard."""
    unit = (length, width, height)

    def carton(size: tuple[float, float, float], shade: float) -> Mesh:
        return _carton((size[0] * length, size[1] * width, size[2] * height), cloth(shaded(colour, shade)))

    deck = 0.13 * height
    parts = [
        turned(_pallet((0.62 * length, 0.50 * width, deck)), 0.12, (-0.10 * length, 0.14 * width, 0.0)),
        turned(carton((0.27, 0.23, 0.40), 1.0), 0.15, (-0.24 * length, 0.24 * width, deck)),
        turned(carton((0.28, 0.22, 0.36), 1.15), 0.05, (0.04 * length, 0.25 * width, deck)),
        turned(carton((0.26, 0.22, 0.42), 0.9), 0.2, (-0.22 * length, 0.02 * width, deck)),
        turned(carton((0.30, 0.26, 0.47), 1.05), 0.45, (-0.21 * length, 0.17 * width, deck + 0.40 * height)),
        turned(carton((0.28, 0.22, 0.38), 1.1), 0.9, (0.30 * length, -0.10 * width, 0.0), 0.0),
        turned(carton((0.24, 0.20, 0.34), 0.85), -0.5, (0.02 * length, -0.30 * width, 0.0), np.pi / 2),
        turned(carton((0.22, 0.18, 0.28), 1.0), 2.2, (-0.34 * length, -0.33 * width, 0.0), 0.0),
        turned(carton((0.20, 0.17, 0.26), 1.2), 0.3, (0.36 * length, 0.36 * width, 0.0), 0.0),
        *_burst((0.24 * length, -0.37 * width), unit, cloth(shaded(colour, 0.95))),
    ]
    return fitted(joined(parts), unit)


def _carton(size: Size, coat: Coat) -> Mesh:
    """Return a carton, its centre below at the origin: tape along the top, a label on each long side."""
    x, y, z = size[0] / 2, size[1] / 2, size[2]
    flap, out = 0.12 * y, 0.003
    parts = [
        box((-x, -y, 0.0), (x, y, z), coat),
        panel([(-x, -flap, z + out), (x, -flap, z + out), (x, flap, z + out), (-x, flap, z + out)], TAPE),
    ]
    for side in (x + out, -x - out):
        parts.append(panel([(side, -flap, 0.72 * z), (side, flap, 0.72 * z), (side, flap, z), (side, -flap, z)], TAPE))
    for side in (y + out, -y - out):
        parts.append(
            panel([(a * x, side, b * z) for a, b in ((0.1, 0.45), (0.7, 0.45), (0.7, 0.8), (0.1, 0.8))], WHITE)
        )
    return joined(parts)


def _pallet(size: Size) -> Mesh:
    """Return a wooden pallet: seven deck boards on three rows of blocks on three runners."""
    x, y, z = size[0] / 2, size[1] / 2, size[2]
    parts: list[Mesh] = []
    for index, middle in enumerate(np.linspace(-0.88 * x, 0.88 * x, 7).tolist()):
        wood = cloth(shaded(WOOD, 0.85 + 0.1 * (index % 3)))
        parts.append(box((middle - 0.10 * x, -y, 0.82 * z), (middle + 0.10 * x, y, z), wood))
    for across in (-0.86 * y, 0.0, 0.86 * y):
        parts.append(box((-x, across - 0.12 * y, 0.66 * z), (x, across + 0.12 * y, 0.83 * z), cloth(shaded(WOOD, 0.7))))
        parts.append(box((-x, across - 0.12 * y, 0.0), (x, across + 0.12 * y, 0.16 * z), cloth(shaded(WOOD, 0.9))))
        for along in (-0.85 * x, 0.0, 0.85 * x):
            low = (along - 0.14 * x, across - 0.12 * y, 0.15 * z)
            parts.append(box(low, (along + 0.14 * x, across + 0.12 * y, 0.67 * z), cloth(shaded(WOOD, 0.75))))
    return joined(parts)


def _burst(place: tuple[float, float], size: Size, coat: Coat) -> list[Mesh]:
    """Return an open carton with raised flaps and the goods that rolled out of it."""
    x, y, z = 0.11 * size[0], 0.09 * size[1], 0.24 * size[2]
    walls = [
        box((-x, -y, 0.0), (x, y, 0.75 * z), coat),
        panel([(-x, -y, 0.75 * z), (-x, y, 0.75 * z), (-1.7 * x, y, 1.2 * z), (-1.7 * x, -y, 1.2 * z)], coat),
        panel([(x, -y, 0.75 * z), (x, y, 0.75 * z), (1.6 * x, y, 1.25 * z), (1.6 * x, -y, 1.25 * z)], coat),
        panel([(-x, -y, 0.75 * z), (x, -y, 0.75 * z), (x, -1.7 * y, 1.15 * z), (-x, -1.7 * y, 1.15 * z)], coat),
        panel(
            [
                (-0.9 * x, -0.9 * y, 0.77 * z),
                (0.9 * x, -0.9 * y, 0.77 * z),
                (0.9 * x, 0.9 * y, 0.77 * z),
                (-0.9 * x, 0.9 * y, 0.77 * z),
            ],
            cloth((0.04, 0.03, 0.02)),
        ),
    ]
    goods: list[Mesh] = []
    colours = ((0.06, 0.22, 0.42), (0.55, 0.50, 0.10), (0.50, 0.10, 0.08))
    for index in range(9):
        turn, reach = index * GOLDEN, 0.10 + 0.018 * index
        middle = (place[0] + reach * size[0] * np.cos(turn) * 0.9, place[1] + reach * size[1] * np.sin(turn) * 0.5, 0.0)
        side = 0.035 * min(size)
        goods.append(
            turned(
                box((-side, -1.4 * side, 0), (side, 1.4 * side, 1.2 * side), cloth(colours[index % 3])), turn, middle
            )
        )
    return [turned(joined(walls), -0.3, (place[0], place[1], 0.0)), *goods]


LEAVES: Final = 1100
BARK: Final = Finish((0.125, 0.098, 0.075), Material.FOLIAGE)


def fallen_tree(length: float, width: float, height: float, colour: Colour = (0.052, 0.078, 0.026)) -> Mesh:
    """Return an uprooted tree across the road: roots at -y, trunk along y, crown at +y; `colour` is the leaves'."""
    half, reach = width / 2, length / 2
    thick = min(0.20, 0.14 * height, 0.06 * width)
    trunk: list[Point] = [
        (0.05 * reach, -0.80 * half, 1.10 * thick),
        (0.0, -0.5 * half, thick),
        (0.06 * reach, -0.1 * half, 1.1 * thick),
        (0.0, 0.25 * half, 1.5 * thick),
        (0.10 * reach, 0.62 * half, 2.0 * thick),
        (0.05 * reach, 0.93 * half, 2.4 * thick),
    ]
    parts = [_barked(sweep(trunk, [thick * s for s in (1.25, 1.0, 0.9, 0.72, 0.45, 0.12)], BARK, 22))]
    tips = _branches(reach, half, height, thick)
    for start, middle, tip in tips:
        parts.append(sweep([start, middle, tip], [0.36 * thick, 0.24 * thick, 0.06 * thick], BARK, 6))
    parts += _roots(half, height, thick)
    parts.append(_foliage(np.array([[tip, middle] for _, middle, tip in tips]), (reach, half, height), colour))
    return fitted(joined(parts), (length, width, height))


def _barked(trunk: Mesh) -> Mesh:
    """Return a trunk whose strips differ, as ridges of bark do."""
    tone = 0.6 + 0.85 * ((np.arange(len(trunk.faces)) // 2 * 0.618034) % 1.0)
    return Mesh(trunk.vertices, trunk.faces, trunk.colours * tone[:, None], trunk.materials)


def _branches(reach: float, half: float, height: float, thick: float) -> list[tuple[Point, Point, Point]]:
    """Return start, bend and tip of the crown's branches."""
    result: list[tuple[Point, Point, Point]] = []
    for index in range(11):
        along = 0.05 + 0.08 * index
        turn = index * GOLDEN
        out, rise = np.cos(turn), np.sin(turn)
        y = (along + 0.10) * half
        start = (0.05 * reach, along * half, thick * (1.3 + along))
        tall = height * (0.45 + 0.42 * rise) if rise > -0.2 else 0.14 * height
        bend = (0.45 * reach * out, y, 0.5 * (start[2] + tall))
        tip = (0.86 * reach * out, min(y + 0.16 * half, 0.93 * half), tall)
        result.append((start, bend, tip))
    return result


def _roots(half: float, height: float, thick: float) -> list[Mesh]:
    """Return the torn-out root plate: a disc of soil with broken roots."""
    soil: Coat = cloth((0.06, 0.04, 0.025))
    y, centre = -0.84 * half, 0.40 * min(0.62 * height, 4.2 * thick)
    turn = np.arange(14) * (2 * np.pi / 14)
    ragged = 1 + 0.18 * np.sin(3 * turn + 1) + 0.10 * np.sin(5 * turn)
    rows = ((0.10, 0.55), (0.0, 1.0), (-0.06, 0.92), (-0.12, 0.4))
    rings = [
        np.column_stack(
            [
                share * centre * ragged * np.cos(turn),
                np.full(14, y + off * half),
                np.maximum(centre + share * centre * ragged * np.sin(turn), 0.0),
            ]
        )
        for off, share in rows
    ]
    from_soil = [sheet(np.stack([np.vstack([ring, ring[:1]]) for ring in rings]), soil)]
    caps = [panel([(a, b, c) for a, b, c in rings[index].tolist()], soil) for index in (0, -1)]
    for index in range(9):
        angle = index * GOLDEN
        start = (0.5 * centre * np.cos(angle), y - 0.05 * half, centre + 0.5 * centre * np.sin(angle))
        end = (1.15 * centre * np.cos(angle), -half, max(0.03, centre + 1.1 * centre * np.sin(angle)))
        from_soil.append(sweep([start, end], [0.22 * thick, 0.05 * thick], BARK, 5))
    return [*from_soil, *caps]


def _foliage(branches: Array, size: tuple[float, float, float], colour: Colour) -> Mesh:
    """Return leaves in tufts along the branches (N, 2, 3: tip, bend), all within the box, different greens."""
    index = np.arange(LEAVES)
    which, share = index % len(branches), (index * 0.618034) % 1.0
    line = branches[which]
    root = line[:, 0] + (1.05 * share).clip(0.0, 1.0)[:, None] * (line[:, 1] - line[:, 0])
    turn, rise = index * GOLDEN, 2 * ((index * 0.754877) % 1.0) - 1
    flat = np.sqrt(1 - rise**2)
    outward = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), rise])
    reach, half, height = size
    spread = 0.30 * min(reach, height, half)
    leaf = 0.055 * min(2 * reach, height, half) ** 0.5 * (0.7 + 0.6 * ((index * 0.569840) % 1.0))
    middle = root + spread * (0.35 + 0.75 * (index * 0.31) % 1.0)[:, None] * outward
    first = np.cross(outward, np.column_stack([np.sin(3 * turn), np.cos(2 * turn), np.full(LEAVES, 0.6)]))
    first /= np.linalg.norm(first, axis=1)[:, None]
    second = np.cross(outward, first) + 0.4 * outward
    corners = [
        middle + leaf[:, None] * (a * first + b * second) for a, b in ((1, 0.2), (0.1, 0.7), (-1, -0.1), (-0.2, -0.7))
    ]
    vertices = np.stack(corners, axis=1).reshape(-1, 3)
    vertices[:, 2] = np.clip(vertices[:, 2], 0.005, height)
    vertices[:, 0] = np.clip(vertices[:, 0], -reach, reach)
    vertices[:, 1] = np.clip(vertices[:, 1], -half, half)
    start = 4 * index
    # The third face is the leaf's twig: from the branch to two of its corners' middle, a hair wide.
    twigs = np.column_stack([start, 4 * LEAVES + 2 * index, 4 * LEAVES + 2 * index + 1])
    blades = [np.column_stack([start, start + k, start + k + 1]) for k in (1, 2)]
    faces = np.stack([*blades, twigs], axis=1).reshape(-1, 3)
    feet = np.stack([root, root + np.array([0.0, 0.0, 0.008])], axis=1).reshape(-1, 3)
    vertices = np.concatenate([vertices, feet])
    mesh = coated(vertices, faces, Finish(colour, Material.FOLIAGE))
    greens = np.array(colour) * (0.55 + 0.9 * ((index * 0.438579) % 1.0))[:, None]
    return Mesh(mesh.vertices, mesh.faces, np.repeat(greens, 3, axis=0), mesh.materials)
