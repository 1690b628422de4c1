"""Traffic signs and billboards on their posts; origin on the ground below the middle, faces to -x."""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.raw_noise import raw_bytes
from data_registry.scene3d.solids import Colour, box, panel, tube
from data_registry.sources.streetset.fittings import BLACK, BLUE, RED, STEEL, WHITE, ZINC, round_plate
from data_registry.sources.streetset.panes import panes, spanned


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
        "stop": [back, regular(0, 0.36, WHITE, 8), regular(1, 0.33, RED, 8), *_written("STOP", z)],
        "warning": [regular(-1, 0.42, ZINC, 3), regular(0, 0.42, RED, 3), regular(1, 0.31, WHITE, 3), *figure],
        "give_way": [regular(-1, 0.42, ZINC, 3, 0.0), regular(0, 0.42, RED, 3, 0.0), regular(1, 0.29, WHITE, 3, 0.0)],
        "crossing": [
            bar(-1, (-0.32, 0.32, -0.32, 0.32), ZINC),
            bar(0, (-0.32, 0.32, -0.32, 0.32), BLUE),
            regular(1, 0.27, WHITE, 3),
            *_walker(z),
        ],
    }
    return joined(layers[kind])


GLYPHS: Final = {
    "S": ("###", "#..", "###", "..#", "###"),
    "T": ("###", ".#.", ".#.", ".#.", ".#."),
    "O": ("###", "#.#", "#.#", "#.#", "###"),
    "P": ("###", "#.#", "###", "#..", "#.."),
}


def _written(word: str, z: float) -> list[Mesh]:
    """Return white capitals 0.16 m high, centred, to be read by who looks along x."""
    dot = 0.032
    left = dot * (4 * len(word) - 1) / 2
    corners = [
        spanned(
            (-0.012, left - dot * (4 * place + column + 1), z + dot * (1.5 - line)),
            (-0.012, left - dot * (4 * place + column), z + dot * (2.5 - line)),
        )
        for place, letter in enumerate(word)
        for line, row in enumerate(GLYPHS[letter])
        for column, mark in enumerate(row)
        if mark == "#"
    ]
    return [panes(np.concatenate(corners), WHITE)]


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
    return [body, *legs, round_plate((-0.015, 0.0, z + 0.115), 0.03, BLACK, 8)]


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
        round_plate((-0.056, (float(dice[10]) - 0.5) * half, middle), 0.16 * width, _colour(colours[2]), 24),
        panes(spanned((-0.056, -0.8 * half, low + 0.25), (-0.056, 0.3 * half, low + 0.45)), WHITE),
    ]
    return joined([joined([*posts, frame]).made_of(Material.METAL), *art])


def _colour(values: Array) -> Colour:
    return float(values[0]), float(values[1]), float(values[2])
