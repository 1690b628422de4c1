"""The builder of car bodies: a lofted body with real wheel arches, a cabin with windows, and what is fixed to them.

Measures are shares: along x of the length, across of the half width, up of the height. One `CarBody` is one model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.shapes.parts import (
    AMBER_LAMP,
    GLASS,
    LAMP,
    LIT_AMBER,
    PLATE,
    STEEL,
    TAIL_LAMP,
    TRIM,
    Size,
    paint,
    wheel,
)
from data_registry.scene3d.solids import Coat, Colour, Point, both_sides, box, loft, panel, quads, sheet, tube

FLANK: Final = 0.95
"""Half width of the body as a share of the box's: the mirrors reach the box."""


GLASS_OUT_M: Final = 0.014
"""How far windows stand out of the cabin, metres."""


BULGE_M: Final = 0.05
"""How far windscreen and rear window bow out in their middle, metres."""


@dataclass(frozen=True, slots=True)
class Cabin:
    """A greenhouse: (back, front, half width, level) of its foot at the waist and of its roof's edge, as shares."""

    foot: tuple[float, float, float, float]
    roof: tuple[float, float, float, float]
    windows: tuple[tuple[float, float], ...]
    rear_window: tuple[float, float] = (0.10, 0.90)


@dataclass(frozen=True, slots=True)
class CarBody:
    """One model of car, in shares.

    Attributes:
        knots: stations from back to front: x, half width, shoulder level, deck level.
        waist: level of the widest line of the flanks.
        sill: level of the under side.
        axles: x of the rear and of the front axle.
        wheel: radius as a share of the height.
        cabin: the greenhouse.
        seams: x of the door seams.
        tail: levels of the rear lamps, low and high.
        mouth: levels of headlamps and grille, low and high.
    """

    knots: tuple[tuple[float, float, float, float], ...]
    waist: float
    sill: float
    axles: tuple[float, float]
    wheel: float
    cabin: Cabin
    seams: tuple[float, ...]
    tail: tuple[float, float]
    mouth: tuple[float, float]


@dataclass(frozen=True, slots=True)
class CarState:
    """What may differ in a car of one model: its paint, whether the bonnet is cut open, whether the hazards blink."""

    colour: Colour
    hazards: bool = False


def car_parts(body: CarBody, size: Size, state: CarState) -> list[Mesh]:
    """Return all of a car but its bonnet's inside, in a box of about `size`."""
    length, width, height = size
    scale = np.array([length, FLANK * width / 2, height])
    coat = paint(state.colour)
    return [
        *_shell(body, scale, coat),
        *_greenhouse(body.cabin, scale, coat),
        both_sides(_flank(body, scale, coat)),
        *_nose(body, scale, state),
        *_tail(body, scale, state),
        both_sides(_wheels(body, scale)),
    ]


def _stations(body: CarBody, scale: Array) -> tuple[Array, Array]:
    """Return the x (N,) of all stations, and the level of the lower edge there: the sill's or the arch's, metres."""
    arch = 1.17 * body.wheel * scale[2]
    turn = np.linspace(0.0, np.pi, 11)
    arches = np.concatenate([axle * scale[0] + arch * np.cos(turn) for axle in body.axles])
    knots = np.array([knot[0] for knot in body.knots]) * scale[0]
    ahead = np.concatenate([axle * scale[0] + arch * np.array([-1.001, 1.001]) for axle in body.axles])
    x = np.asarray(np.unique(np.round(np.concatenate([knots, arches, ahead]), 6)), dtype=np.float64)
    low = np.full(len(x), body.sill * scale[2])
    for axle in body.axles:
        rise = np.sqrt(np.maximum(arch**2 - (x - axle * scale[0]) ** 2, 0.0))
        low = np.maximum(low, np.where(rise > 0, body.wheel * scale[2] + rise, 0.0))
    return x, low


def _section(body: CarBody, scale: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return half width, shoulder and deck (N,) at x, metres."""
    knots = np.array(body.knots)
    half, shoulder, deck = (np.interp(x / scale[0], knots[:, 0], knots[:, column]) for column in (1, 2, 3))
    return half * scale[1], shoulder * scale[2], deck * scale[2]


def _shell(body: CarBody, scale: Array, coat: Coat) -> list[Mesh]:
    """Return the painted skin, the dark under side with the wheel houses, and both ends."""
    x, low = _stations(body, scale)
    half, shoulder, deck = _section(body, scale, x)
    waist = np.maximum(body.waist * scale[2], low + 0.012)
    end = np.array([body.knots[0][0], body.knots[-1][0]]) * scale[0]
    ends = np.isin(x, np.round(end, 6))
    low = np.where(ends, low + 0.04 * scale[2], low)
    profile = (
        (0.965, low),
        (1.0, np.minimum(waist, shoulder - 0.02)),
        (0.985, 0.35 * waist + 0.65 * shoulder),
        (0.94, shoulder),
        (0.78, 0.25 * shoulder + 0.75 * deck),
        (0.40, deck),
    )
    left = np.stack([np.column_stack([x, share * half, z]) for share, z in profile], axis=1)
    skin = np.concatenate([left, left[:, ::-1] * (1.0, -1.0, 1.0)], axis=1)
    under = np.stack([skin[:, 0], skin[:, -1]], axis=1)
    inside = 0.70 * scale[1]
    core = box(
        (body.axles[0] * scale[0] - 0.12 * scale[0], -inside, body.sill * scale[2] + 0.01),
        (body.axles[1] * scale[0] + 0.10 * scale[0], inside, 0.9 * float(deck.min())),
        TRIM,
    )
    caps = [_cap(skin[index], coat) for index in (0, -1)]
    return [sheet(skin, coat), sheet(under, TRIM), core, *caps]


def _cap(ring: Array, coat: Coat) -> Mesh:
    """Close an end, mirrored: strips between the left and the right points of a ring (2K, 3)."""
    count = len(ring) // 2
    corners = [(i, i + 1, 2 * count - 2 - i, 2 * count - 1 - i) for i in range(count - 1)]
    return quads(ring, corners, coat)


def _at(cabin: Cabin, scale: Array, along: float, across: float, up: float) -> Point:
    """Give a point of the cabin's skin: along 0 (back) to 1 (front), across -1..1, up 0 (waist) to 1 (roof's edge)."""
    back, front, half, z = (foot + up * (roof - foot) for foot, roof in zip(cabin.foot, cabin.roof, strict=True))
    bulge = 2 * BULGE_M * (along - 0.5) * (1.0 - across**2)
    x = back + along * (front - back)
    return float(x * scale[0] + bulge), float(across * half * scale[1]), float(z * scale[2])


ACROSS: Final = (1.0, 0.5, 0.0, -0.5, -1.0)


def _greenhouse(cabin: Cabin, scale: Array, coat: Coat) -> list[Mesh]:
    """Return pillars and rounded roof in the car's paint, and glass a centimetre outside."""

    def ring(up: float, shrink: float, level: float | None) -> Array:
        points = [_at(cabin, scale, 1.0, across, up) for across in ACROSS]
        points += [_at(cabin, scale, 0.5, -1.0, up)] + [_at(cabin, scale, 0.0, -across, up) for across in ACROSS]
        points += [_at(cabin, scale, 0.5, 1.0, up)]
        whole = np.array(points)
        middle = whole.mean(axis=0) * (1, 0, 1)
        whole = middle + (whole - middle) * (shrink, shrink, 1.0)
        if level is not None:
            whole[:, 2] = level
        return whole

    top, edge = scale[2], cabin.roof[3] * scale[2]
    rings = [ring(-0.2, 1.0, None), ring(0.0, 1.0, None), ring(1.0, 1.0, None)]
    rings += [
        ring(1.0, 0.965, 0.45 * edge + 0.55 * top),
        ring(1.0, 0.82, 0.12 * edge + 0.88 * top),
        ring(1.0, 0.5, top),
    ]
    out = _outset(cabin, scale)
    glass = [_screen(cabin, scale, 1.0 + 2 * out, (0.06, 0.93)), _screen(cabin, scale, -out, cabin.rear_window)]
    sides: list[Mesh] = []
    for start, end in cabin.windows:
        corners = [(start, 0.10), (end, 0.10), (end - 0.015, 0.90), (start + 0.02, 0.90)]
        sides.append(panel([_at(cabin, scale, along, 1.014, up) for along, up in corners], GLASS))
    return [loft(rings, coat), *glass, both_sides(sides)] if sides else [loft(rings, coat), *glass]


def _outset(cabin: Cabin, scale: Array) -> float:
    """Return the share of the cabin's length that puts glass just outside its back."""
    return GLASS_OUT_M / float((cabin.roof[1] - cabin.roof[0]) * scale[0])


def _screen(cabin: Cabin, scale: Array, along: float, levels: tuple[float, float]) -> Mesh:
    """Return the windscreen or the rear window, bent across."""
    rows = [
        [_at(cabin, scale, along, 0.90 * across, up) for across in ACROSS]
        for up in (levels[0], sum(levels) / 2, levels[1])
    ]
    return sheet(np.array(rows), GLASS)


def _flank(body: CarBody, scale: Array, coat: Coat) -> list[Mesh]:
    """Return seams, handles, sill strip, arch lips and the mirror of the left side."""
    parts: list[Mesh] = []
    low, high = (body.sill + 0.05) * scale[2], body.cabin.foot[3] * scale[2] - 0.02

    def flank(x: float, z: float) -> float:
        """Give y just outside the flank."""
        half, shoulder, _ = (float(value[0]) for value in _section(body, scale, np.array([x])))
        waist = body.waist * float(scale[2])
        levels = (body.sill * float(scale[2]), waist, 0.35 * waist + 0.65 * shoulder, shoulder)
        return float(np.interp(z, levels, (0.965, 1.0, 0.985, 0.94))) * half + 0.006

    for seam in body.seams:
        x = seam * float(scale[0])
        levels = [float(z) for z in np.linspace(low, high, 4)]
        rows = [[(x - 0.007, flank(x, z), z), (x + 0.007, flank(x, z), z)] for z in levels]
        parts.append(sheet(np.array(rows), TRIM))
    for seam in body.seams[:-1]:
        x, z = (seam + 0.035) * float(scale[0]), 0.86 * high
        y = flank(x, z) - 0.02
        parts.append(box((x, y, z), (x + 0.17, y + 0.035, z + 0.03), coat))
    x0, x1 = (axle * float(scale[0]) for axle in body.axles)
    reach, z = 1.2 * body.wheel * float(scale[2]), (body.sill + 0.01) * float(scale[2])
    y = 0.972 * float(scale[1])
    parts.append(box((x0 + reach, y - 0.03, z), (x1 - reach, y + 0.012, z + 0.05 * float(scale[2])), TRIM))
    return [*parts, *_mirror(body, scale, coat)]


def _mirror(body: CarBody, scale: Array, coat: Coat) -> list[Mesh]:
    """Return the left mirror: it reaches the box's side."""
    foot = body.cabin.foot
    x, z = (foot[1] - 0.055) * float(scale[0]), (foot[3] + 0.045) * float(scale[2])
    inner, outer = (foot[2] - 0.06) * float(scale[1]), float(scale[1]) / FLANK
    return [
        box((x - 0.02, inner, z - 0.03), (x + 0.05, inner + 0.12, z + 0.01), TRIM),
        box((x - 0.06, inner + 0.08, z - 0.03), (x + 0.08, outer, z + 0.11), coat),
        panel([(x - 0.064, y, h) for y, h in _square(inner + 0.1, outer - 0.015, z - 0.01, z + 0.09)], GLASS),
    ]


def _square(y0: float, y1: float, z0: float, z1: float) -> tuple[tuple[float, float], ...]:
    return (y0, z0), (y1, z0), (y1, z1), (y0, z1)


def _wheels(body: CarBody, scale: Array) -> list[Mesh]:
    radius = body.wheel * float(scale[2])
    y = 0.985 * float(scale[1])
    axles = [axle * float(scale[0]) for axle in body.axles]
    rods = [tube((x, 0.0, radius), (x, y - 0.1, radius), (0.05, 0.05), TRIM, 6) for x in axles]
    return [*rods, *(wheel((x, y, radius), radius, 0.22 * float(scale[1])) for x in axles)]


def _nose(body: CarBody, scale: Array, state: CarState) -> list[Mesh]:
    """Return headlamps, grille, bumper with air intake, plate and indicators."""
    length, half, height = (float(value) for value in scale)
    front = body.knots[-1][0] * length
    low, high = body.mouth[0] * height, body.mouth[1] * height
    middle = 0.5 * (low + high)
    amber = LIT_AMBER if state.hazards else AMBER_LAMP
    left = [
        box((front - 0.13, 0.55 * half, low), (front - 0.012, 0.76 * half, high), LAMP),
        box((front - 0.28, 0.70 * half, low + 0.01), (front - 0.075, 0.885 * half, high), LAMP),
        box(
            (front - 0.17, 0.78 * half, low - (0.075 if state.hazards else 0.035)),
            (front - 0.068, 0.885 * half, low + 0.01),
            amber,
        ),
        box((front - 0.1, 0.56 * half, 0.74 * low), (front - 0.004, 0.68 * half, 0.86 * low), LAMP),
    ]
    return [
        both_sides(left),
        box((front - 0.08, -0.52 * half, low), (front + 0.004, 0.52 * half, high - 0.02), TRIM),
        box((front - 0.05, -0.50 * half, middle - 0.012), (front + 0.012, 0.50 * half, middle + 0.012), STEEL),
        box((front - 0.2, -0.70 * half, body.sill * height), (front + 0.008, 0.70 * half, 0.72 * low), TRIM),
        box((front - 0.05, -0.26, 0.76 * low), (front + 0.016, 0.26, 0.76 * low + 0.11), PLATE),
    ]


def _tail(body: CarBody, scale: Array, state: CarState) -> list[Mesh]:
    """Return rear lamps, bumper, plate in its recess, boot seam, high brake lamp."""
    length, half, height = (float(value) for value in scale)
    back = body.knots[0][0] * length
    low, high = body.tail[0] * height, body.tail[1] * height
    # Hazards blink amber on most of the lamp: they are what tells this car from a parked one.
    split = low + (0.62 if state.hazards else 0.33) * (high - low)
    amber = LIT_AMBER if state.hazards else AMBER_LAMP
    bumper = (body.sill + 0.02) * height
    left = [
        box((back - 0.008, 0.50 * half, split), (back + 0.10, 0.77 * half, high), TAIL_LAMP),
        box((back + 0.035, 0.70 * half, split), (back + 0.20, 0.872 * half, high), TAIL_LAMP),
        box((back - 0.007, 0.56 * half, low), (back + 0.10, 0.77 * half, split), amber),
        box((back + 0.036, 0.70 * half, low), (back + 0.17, 0.870 * half, split), amber),
        box(
            (back - 0.006, 0.50 * half, bumper + 0.11 * height),
            (back + 0.05, 0.70 * half, bumper + 0.13 * height),
            TAIL_LAMP,
        ),
    ]
    cabin = body.cabin
    brake = [
        _at(cabin, scale, -1.3 * _outset(cabin, scale), across, up)
        for across, up in ((-0.18, 0.95), (0.18, 0.95), (0.18, 1.0), (-0.18, 1.0))
    ]
    return [
        both_sides(left),
        panel(brake, TAIL_LAMP),
        box((back - 0.008, -0.74 * half, bumper), (back + 0.2, 0.74 * half, bumper + 0.07 * height), TRIM),
        box((back - 0.004, -0.33, 0.5 * (low + bumper)), (back + 0.05, 0.33, 0.5 * (low + bumper) + 0.15), TRIM),
        box(
            (back - 0.012, -0.26, 0.5 * (low + bumper) + 0.02), (back + 0.05, 0.26, 0.5 * (low + bumper) + 0.13), PLATE
        ),
        box((back - 0.006, -0.76 * half, low - 0.022), (back + 0.05, 0.76 * half, low - 0.008), TRIM),
    ]
