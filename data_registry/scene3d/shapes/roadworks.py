"""Road works: cones, barriers, a closure across a lane and a row along it."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import (
    DARK_STEEL,
    LIT_AMBER,
    ORANGE,
    RED,
    REFLECTIVE,
    TRIM,
    WHITE,
    cloth,
    fitted,
    shifted,
)
from data_registry.scene3d.solids import Coat, Colour, Finish, Point, box, button, loft, panel, sheet, tube

CONE: Final[Colour] = (0.70, 0.13, 0.012)
SQUARE: Final = 16
"""Sides of a cone."""


def cone(length: float, width: float, height: float, colour: Colour = CONE) -> Mesh:
    """Return a traffic cone with a square foot and two reflecting sleeves."""
    return fitted(_cone(cloth(colour)), (length, width, height))


def _cone(coat: Coat) -> Mesh:
    """Return a cone of 0.4 x 0.4 x 0.75 m."""
    rows = [
        (0.030, 0.140),
        (0.05, 0.132),
        (0.26, 0.100),
        (0.40, 0.079),
        (0.48, 0.067),
        (0.60, 0.049),
        (0.73, 0.030),
        (0.75, 0.022),
    ]
    coats = [coat, coat, REFLECTIVE, coat, REFLECTIVE, coat, coat]
    turn = np.arange(SQUARE + 1) * (2 * np.pi / SQUARE)
    rings = [np.column_stack([r * np.cos(turn), r * np.sin(turn), np.full(SQUARE + 1, z)]) for z, r in rows]
    skin = [sheet(np.stack(pair), c) for *pair, c in zip(rings[:-1], rings[1:], coats, strict=True)]
    foot = [
        (0.2, 0.14),
        (0.14, 0.2),
        (-0.14, 0.2),
        (-0.2, 0.14),
        (-0.2, -0.14),
        (-0.14, -0.2),
        (0.14, -0.2),
        (0.2, -0.14),
    ]
    levels = ((0.0, 1.0), (0.022, 1.0), (0.034, 0.90))
    base = loft([np.array([(s * x, s * y, z) for x, y in foot]) for z, s in levels], TRIM)
    lid = panel([(x, y, 0.75) for x, y, _ in rings[-1][:-1].tolist()], TRIM)
    return joined([base, *skin, lid])


def _board(span: tuple[float, float], levels: tuple[float, float], x: float, first: Coat = RED) -> list[Mesh]:
    """Return a barrier board across y with slanted red and white fields on both faces."""
    (left, right), (low, high) = span, levels
    parts = [box((x - 0.014, left, low), (x + 0.014, right, high), WHITE)]
    count = max(2, round((right - left) / 0.42))
    step, lean = (right - left) / count, 0.6 * (high - low)
    for index in range(count):
        start = left + index * step
        cut = [start, start + 0.5 * step, start + 0.5 * step + lean, start + lean]
        corners = list(zip(cut, (low, low, high, high), strict=True))
        corners = [(min(y, right), z) for y, z in corners]
        for side in (x - 0.017, x + 0.017):
            parts.append(panel([(side, y, z) for y, z in corners], first))
    return parts


def _warning_lamp(foot: Point) -> list[Mesh]:
    """Return an amber warning lamp on its battery box, which looks along x both ways, standing on a point."""
    x, y, z = foot
    return [
        box((x - 0.035, y - 0.06, z), (x + 0.035, y + 0.06, z + 0.09), Finish((0.60, 0.36, 0.02), WHITE.material)),
        tube((x - 0.045, y, z + 0.17), (x + 0.045, y, z + 0.17), (0.092, 0.092), TRIM, 14),
        button((x - 0.045, y, z + 0.17), 0.080, -0.014, LIT_AMBER, 14),
        button((x + 0.045, y, z + 0.17), 0.080, 0.014, LIT_AMBER, 14),
    ]


def _stand(x: float, y: float, top: float, reach: float) -> list[Mesh]:
    """Return a post on a heavy rubber foot."""
    return [
        box((x - reach, y - 0.14, 0.0), (x + reach, y + 0.14, 0.10), TRIM),
        box((x - 0.025, y - 0.03, 0.08), (x + 0.025, y + 0.03, top), DARK_STEEL),
    ]


def barrier(length: float, width: float, height: float, colour: Colour = RED.colour) -> Mesh:
    """Return one barrier with two striped boards, its long side along y."""
    half, reach = width / 2, length / 2
    posts = [part for y in (0.78 * half, -0.78 * half) for part in _stand(0.0, y, height, reach)]
    boards = [
        *_board((-half, half), (0.74 * height, 0.97 * height), 0.039, cloth(colour)),
        *_board((-half, half), (0.32 * height, 0.48 * height), 0.039, cloth(colour)),
    ]
    rail = box((-0.02, -0.78 * half, 0.60 * height), (0.02, 0.78 * half, 0.64 * height), DARK_STEEL)
    return fitted(joined([*posts, *boards, rail]), (length, width, height))


def works_barrier(length: float, width: float, height: float, colour: Colour = RED.colour) -> Mesh:
    """Return a closure across a lane (along y): boards on posts, amber lamps lit on top, a row of cones on the -x side.

    The boards stand in the front half of the box (+x), the cones at its rear (-x): drivers come from -x.
    """
    half = width / 2
    lamp_m, line = 0.26, 0.22 * length
    top = height - lamp_m
    reach = min(0.28 * length, 0.40)
    sections = max(1, round(width / 1.7))
    edges = np.linspace(-half, half, sections + 1).tolist()
    parts: list[Mesh] = []
    for a, b in pairwise(edges):
        span = (a + 0.015, b - 0.015)
        parts += _board(span, (top - 0.26, top), line - 0.039, cloth(colour))
        parts += _board(span, (0.34 * top, 0.34 * top + 0.17), line - 0.039, cloth(colour))
        for y in (a + 0.22 * (b - a), b - 0.22 * (b - a)):
            parts += _stand(line, y, top, reach)
    lamps = np.linspace(-0.82 * half, 0.82 * half, sections + 1).tolist()
    parts += [part for y in lamps for part in _warning_lamp((line - 0.039, y, top - 0.01))]
    cones = max(2, 2 * round(width / 2.0))  # even: the disc in the middle stays in sight
    tall = min(0.75, 0.62 * height) / 0.75
    for y in np.linspace(-half + 0.2 * tall, half - 0.2 * tall, cones).tolist():
        parts.append(shifted(_cone(ORANGE).scaled(tall), (-0.5 * length + 0.2 * tall, y, 0.0)))
    parts += _sign(line - 0.06, top)
    return fitted(joined(parts), (length, width, height))


def _sign(x: float, top: float) -> list[Mesh]:
    """Return the no-entry disc in the middle of a closure, on its boards."""
    z = 0.56 * top
    radius = min(0.30, 0.27 * top)
    bar = [(x - 0.012, y, h) for y, h in ((-0.62, -0.16), (0.62, -0.16), (0.62, 0.16), (-0.62, 0.16))]
    return [
        button((x + 0.02, 0.0, z), radius, -0.024, WHITE, 20),
        button((x, 0.0, z), 0.90 * radius, -0.008, RED, 20),
        panel([(a, b * radius, z + c * radius) for a, b, c in bar], WHITE),
    ]


def barrier_row(length: float, width: float, height: float, colour: Colour = RED.colour) -> Mesh:
    """Return a row along x: striped beacons with lamps on every other, and cones between them."""
    count = max(2, round(length / 1.25))
    half = width / 2
    tall = min(0.75, 0.8 * height) / 0.75
    wide = min(1.0, 0.95 * width / 0.4)
    x: Array = np.linspace(-length / 2 + 0.22, length / 2 - 0.22, 2 * count - 1)
    parts: list[Mesh] = []
    for index, place in enumerate(x.tolist()):
        if index % 2:
            parts.append(shifted(_cone(ORANGE).scaled((min(tall, wide), min(tall, wide), tall)), (place, 0.0, 0.0)))
        else:
            parts += _beacon(place, half, height, lit=index % 4 == 0, coat=cloth(colour))
    return fitted(joined(parts), (length, width, height))


def _beacon(x: float, half: float, height: float, *, lit: bool, coat: Coat) -> list[Mesh]:
    """Return one guide beacon: a narrow striped board on a foot that faces along x."""
    top = height - 0.26
    board = min(0.125, 0.9 * half)
    parts = [
        box((x - 0.22, -half, 0.0), (x + 0.22, half, 0.09), TRIM),
        box((x - 0.018, -board, 0.07), (x + 0.018, board, top), WHITE),
    ]
    step = (top - 0.12) / 4
    for index in range(4):
        low = 0.12 + index * step
        field = [(-board, low), (board, low + 0.28 * step), (board, low + 0.78 * step), (-board, low + 0.5 * step)]
        parts += [panel([(x + side, y, z) for y, z in field], coat) for side in (-0.021, 0.021)]
    return [*parts, *(_warning_lamp((x, 0.0, top - 0.01)) if lit else [])]
