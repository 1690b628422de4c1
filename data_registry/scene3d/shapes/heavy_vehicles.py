"""Large vehicles: delivery truck and bus. Both drive towards +x."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import (
    AMBER_LAMP,
    DARK_STEEL,
    GLASS,
    LAMP,
    LIT_AMBER,
    PLATE,
    REFLECTIVE,
    RIM,
    STEEL,
    TAIL_LAMP,
    TRIM,
    fitted,
    paint,
    shaded,
    wheel,
)
from data_registry.scene3d.solids import Coat, Colour, Finish, both_sides, box, loft, panel, sheet, slab, tube

MIRROR_M: Final = 0.10
"""How far mirrors stand out on each side."""


def box_truck(length: float, width: float, height: float, colour: Colour = (0.62, 0.63, 0.64)) -> Mesh:
    """Return a delivery truck: cargo box with rear doors, cab, chassis, twin rear wheels, lamps; `colour`: the box."""
    half, front, back = width / 2 - MIRROR_M, length / 2, -length / 2
    cab_back = front - min(0.30 * length, 2.1)
    floor = min(0.30 * height, 1.0)
    radius = min(0.47, 0.16 * height + 0.02)
    body: list[Mesh] = [
        *_cargo_box((back, cab_back - 0.10), half + 0.6 * MIRROR_M, (floor, height), paint(colour)),
        box((back + 0.15, -0.42 * half, 0.55 * floor), (front - 0.5, 0.42 * half, floor + 0.01), DARK_STEEL),
        box((cab_back - 0.12, -0.4 * half, 0.6 * floor), (cab_back + 0.05, 0.4 * half, floor + 0.5), DARK_STEEL),
        *_truck_rear(back, half, floor, height),
        *_cab((cab_back, front), half, min(0.80 * height, floor + 1.75), floor, radius),
        both_sides(_truck_side(back, cab_back, half, floor, radius)),
    ]
    for x in (back + 0.24 * length, front - 0.50 * (front - cab_back)):
        body.append(both_sides([wheel((x, 0.98 * half, radius), radius, 0.28, 6)]))
        body.append(tube((x, -half + 0.1, radius), (x, half - 0.1, radius), (0.07, 0.07), DARK_STEEL))
    return fitted(joined(body), (length, width, height))


def _cargo_box(span: tuple[float, float], half: float, levels: tuple[float, float], coat: Finish) -> list[Mesh]:
    """Return the box with edge rails, a stripe of reflecting tape, and a band in a second colour."""
    (back, front), (low, high) = span, levels
    rail = paint(shaded(coat.colour, 0.62))
    parts = [box((back + 0.02, -half + 0.01, low), (front, half - 0.01, high - 0.01), coat)]
    for y in (half, -half):
        y0, y1 = sorted((y, y * (1 - 0.02 / half)))
        parts += [box((back, y0, z), (front + 0.01, y1, z + 0.09), rail) for z in (low - 0.01, high - 0.09)]
        parts += [box((x, y0, low), (x + 0.07, y1, high), rail) for x in (back, front - 0.06)]
        side = y * (1 - 0.004 / half)
        stripe = 0.28 * (high - low)
        band = [
            (back + 0.15, low + stripe),
            (front - 0.15, low + stripe),
            (front - 0.15, low + 1.35 * stripe),
            (back + 0.15, low + 1.9 * stripe),
        ]
        parts.append(panel([(x, side, z) for x, z in band], Finish((0.06, 0.17, 0.36), coat.material)))
        for x in np.arange(back + 0.3, front - 0.4, 0.8).tolist():
            parts.append(box((x, min(y, side), low + 0.12), (x + 0.3, max(y, side), low + 0.17), REFLECTIVE))
    return parts


def _truck_side(back: float, cab_back: float, half: float, floor: float, radius: float) -> list[Mesh]:
    """Return the left side's guard rails, tank, mudguards and marker lamps."""
    wheel_x, side = back + 0.24 * (2 * abs(back)), 0.93 * half
    ahead = wheel_x + 1.35 * radius
    parts = [
        box((ahead, side - 0.03, z), (cab_back - 0.75, side, z + 0.10), STEEL) for z in (0.42 * floor, 0.66 * floor)
    ]
    parts += [
        box((x, side - 0.05, 0.42 * floor), (x + 0.05, side - 0.02, floor), STEEL)
        for x in (ahead + 0.2, cab_back - 1.1)
    ]
    parts.append(box((cab_back - 0.72, 0.40 * half, 0.40 * floor), (cab_back - 0.16, side, 0.92 * floor), STEEL))
    parts.append(
        box((wheel_x - 1.28 * radius, 0.62 * half, 0.62 * floor), (wheel_x - 1.2 * radius, 0.97 * half, floor), TRIM)
    )
    parts += [
        box((x, side - 0.01, 0.86 * floor), (x + 0.09, half, 0.92 * floor), AMBER_LAMP)
        for x in (ahead + 0.2, cab_back - 1.1)
    ]
    return parts


def _truck_rear(back: float, half: float, floor: float, height: float) -> list[Mesh]:
    """Return what one sees from behind: doors with locking rods and hinges, lamps, an underrun bar, a plate."""
    x = back + 0.012
    door: Coat = paint((0.52, 0.53, 0.54))
    left = [
        box((x - 0.002, 0.015, floor + 0.08), (x + 0.02, 0.97 * half, height - 0.10), door),
        *[
            tube((x - 0.014, y * half, floor + 0.09), (x - 0.014, y * half, height - 0.11), (0.014, 0.014), RIM, 5)
            for y in (0.14, 0.52)
        ],
        *[
            box((x - 0.012, 0.90 * half, z), (x + 0.01, 1.04 * half, z + 0.10), STEEL)
            for z in np.linspace(floor + 0.25, height - 0.45, 3).tolist()
        ],
        box((x - 0.012, 0.14 * half, floor + 0.55), (x + 0.01, 0.36 * half, floor + 0.60), RIM),
        box((back, 0.60 * half, 0.68 * floor), (back + 0.16, 0.74 * half, 0.86 * floor), AMBER_LAMP),
        box((back, 0.74 * half, 0.68 * floor), (back + 0.16, 0.94 * half, 0.86 * floor), TAIL_LAMP),
        box((back + 0.06, 0.50 * half, 0.44 * floor), (back + 0.12, 0.58 * half, floor), DARK_STEEL),
        *[
            box((x - 0.010, a * half, floor + 0.1), (x, (a + 0.12) * half, floor + 0.15), REFLECTIVE)
            for a in (0.18, 0.42, 0.66)
        ],
        box((x - 0.012, 0.80 * half, height - 0.085), (x + 0.02, 0.98 * half, height - 0.05), TAIL_LAMP),
    ]
    return [
        both_sides(left),
        box((x - 0.003, -0.012, floor + 0.02), (x + 0.02, 0.012, height - 0.08), TRIM),
        box((back + 0.02, -half, 0.86 * floor), (back + 0.20, half, floor), DARK_STEEL),
        box((back, -0.92 * half, 0.40 * floor), (back + 0.1, 0.92 * half, 0.52 * floor), DARK_STEEL),
        box((back - 0.004, -0.26, 0.57 * floor), (back + 0.05, 0.26, 0.57 * floor + 0.11), PLATE),
        box((back + 0.04, -0.30, 0.5 * floor), (back + 0.1, 0.30, 0.8 * floor), TRIM),
    ]


def _cab(span: tuple[float, float], half: float, top: float, floor: float, radius: float) -> list[Mesh]:
    """Return a forward-control cab: raked windscreen, side windows, doors, bumper, lamps, mirrors, wheel arch."""
    back, front = span
    coat, rake, low = paint((0.10, 0.16, 0.34)), 0.20, 0.34
    waist, wheel_x = 0.56 * top, front - 0.50 * (front - back)
    lower = 2.25 * radius
    upper = [
        (back, lower),
        (front, lower),
        (front, waist),
        (front - rake, top - 0.10),
        (front - rake - 0.16, top),
        (back + 0.1, top),
        (back, top - 0.06),
    ]
    parts = [slab([(x - 0.02, z) for x, z in upper], -0.97 * half, 0.97 * half, coat)]
    for x0, x1 in ((back, wheel_x - 1.18 * radius), (wheel_x + 1.18 * radius, front)):
        parts.append(box((x0 - 0.02, -0.97 * half, low), (x1 - 0.02, 0.97 * half, lower + 0.01), coat))
    parts.append(box((back, -0.62 * half, low), (front - 0.1, 0.62 * half, lower), TRIM))
    bent = ((0.86, -0.05), (0.45, -0.005), (0.0, 0.006), (-0.45, -0.005), (-0.86, -0.05))
    rows = [
        [(x + out, y * half, z) for y, out in bent]
        for x, z in ((front - 0.008, waist + 0.05), (front - rake + 0.008, top - 0.15))
    ]
    parts.append(sheet(np.array(rows), GLASS))
    parts += [
        box((front - 0.12, -0.97 * half, low - 0.04), (front, 0.97 * half, low + 0.24), TRIM),
        box((front - 0.03, -0.55 * half, low + 0.36), (front - 0.008, 0.55 * half, waist - 0.12), TRIM),
        *[
            box((front - 0.03, -0.53 * half, z), (front - 0.002, 0.53 * half, z + 0.025), STEEL)
            for z in (low + 0.45, low + 0.58)
        ],
        box((front - 0.03, -0.26, low + 0.03), (front + 0.006, 0.26, low + 0.14), PLATE),
        both_sides(_cab_side(span, half, (low, waist, top), rake)),
    ]
    return parts


def _cab_side(span: tuple[float, float], half: float, levels: tuple[float, float, float], rake: float) -> list[Mesh]:
    (back, front), (low, waist, top) = span, levels
    y = 0.974 * half
    window = [
        (back + 0.42, waist + 0.02),
        (front - 0.16, waist + 0.02),
        (front - rake - 0.10, top - 0.20),
        (back + 0.42, top - 0.20),
    ]
    seams = [[(x, y, low + 0.1), (x, y, top - 0.16)] for x in (back + 0.32, back + 0.335)]
    return [
        panel([(x, y, z) for x, z in window], GLASS),
        sheet(np.array(seams), TRIM),
        box((back + 0.45, y - 0.01, waist - 0.14), (back + 0.62, y + 0.015, waist - 0.10), TRIM),
        box((front - 0.07, 0.60 * half, low + 0.26), (front - 0.002, 0.92 * half, low + 0.40), LAMP),
        box((front - 0.10, 0.86 * half, low + 0.40), (front - 0.012, 0.98 * half, low + 0.47), AMBER_LAMP),
        box((front - rake - 0.16, y - 0.02, top - 0.26), (front - rake - 0.10, y + 0.08, top - 0.22), TRIM),
        box((front - rake - 0.20, y + 0.02, waist + 0.12), (front - rake - 0.08, half + MIRROR_M, top - 0.22), TRIM),
        box((back + 0.36, y - 0.2, low - 0.02), (front - 1.2, y, low + 0.06), TRIM)
        if front - 1.2 > back + 0.4
        else joined([]),
    ]


def bus(length: float, width: float, height: float, colour: Colour = (0.58, 0.08, 0.05)) -> Mesh:
    """Return a city bus: glazed sides, doors on the right, destination display, lamps, mirrors, roof units."""
    half, front, back = width / 2 - MIRROR_M, length / 2 - 0.02, -length / 2 + 0.02
    coat, sill, waist, roof = paint(colour), 0.10 * height, 0.40 * height, 0.93 * height
    axles = (back + 0.27 * length, front - 0.235 * length)
    parts = [
        *_bus_shell((back, front), half, (sill, roof), axles, coat),
        both_sides(_bus_side((back, front), half, (sill, waist, roof), axles)),
        *_bus_front(front, half, (sill, waist, roof)),
        *_bus_rear(back, half, (sill, waist, roof)),
        *_bus_doors((back, front), half, (sill, roof), axles),
        box(
            (back + 0.15 * length, -0.62 * half, roof),
            (back + 0.42 * length, 0.62 * half, height),
            paint(shaded(colour, 0.85)),
        ),
        box(
            (front - 0.30 * length, -0.55 * half, roof),
            (front - 0.16 * length, 0.55 * half, 0.5 * (roof + height)),
            paint(shaded(colour, 0.85)),
        ),
    ]
    return fitted(joined(parts), (length, width, height))


def _bus_shell(
    span: tuple[float, float], half: float, levels: tuple[float, float], axles: tuple[float, float], coat: Finish
) -> list[Mesh]:
    """Return the body with rounded roof edges and cut-out wheel arches."""
    (back, front), (sill, roof) = span, levels
    radius = 0.155 * roof
    arch = 2.15 * radius
    profile = [
        (half, arch),
        (half, roof - 0.22),
        (0.965 * half, roof - 0.09),
        (0.88 * half, roof - 0.02),
        (0.75 * half, roof),
    ]
    ring = [*profile, *[(-y, z) for y, z in profile[::-1]]]
    ends = ((back, 0.965), (back + 0.08, 1.0), (front - 0.10, 1.0), (front, 0.955))
    parts = [
        loft(
            [np.array([(x, share * y, arch + (z - arch) * (0.5 + 0.5 * share)) for y, z in ring]) for x, share in ends],
            coat,
        )
    ]
    cuts = [
        back,
        axles[0] - 1.25 * radius,
        axles[0] + 1.25 * radius,
        axles[1] - 1.25 * radius,
        axles[1] + 1.25 * radius,
        front,
    ]
    for x0, x1 in (cuts[0:2], cuts[2:4], cuts[4:6]):
        parts.append(box((x0 + 0.004, -0.985 * half, sill), (x1 - 0.004, 0.985 * half, arch + 0.01), coat))
    parts.append(box((back + 0.1, -0.64 * half, sill + 0.02), (front - 0.1, 0.64 * half, arch), TRIM))
    for x in axles:
        parts.append(both_sides([wheel((x, 0.97 * half, radius), radius, 0.30, 8)]))
        parts.append(tube((x, -0.9 * half, radius), (x, 0.9 * half, radius), (0.08, 0.08), TRIM))
    return parts


def _bus_side(
    span: tuple[float, float], half: float, levels: tuple[float, float, float], axles: tuple[float, float]
) -> list[Mesh]:
    """Return the left side's windows with pillars, skirt line and marker lamps."""
    (back, front), (sill, waist, roof) = span, levels
    y, count = half + 0.008, max(3, round((front - back) / 1.7))
    edges = np.linspace(back + 0.35, front - 0.45, count + 1).tolist()
    parts = [
        panel(
            [(a + 0.045, y, waist), (b - 0.045, y, waist), (b - 0.045, y, roof - 0.28), (a + 0.045, y, roof - 0.28)],
            GLASS,
        )
        for a, b in pairwise(edges)
    ]
    parts.append(
        panel(
            [
                (back + 0.3, y - 0.004, waist - 0.06),
                (front - 0.2, y - 0.004, waist - 0.06),
                (front - 0.2, y - 0.004, roof - 0.24),
                (back + 0.3, y - 0.004, roof - 0.24),
            ],
            TRIM,
        )
    )
    parts.append(box((axles[0] + 0.8, 0.98 * half, sill + 0.02), (axles[1] - 0.8, half + 0.004, sill + 0.10), TRIM))
    for x in edges[1:-1]:
        if min(abs(x - axle) for axle in axles) > 0.6:
            parts.append(box((x, 0.98 * half, sill + 0.22), (x + 0.09, half + 0.008, sill + 0.27), AMBER_LAMP))
    arm = box((front - 0.06, 0.8 * half, roof - 0.30), (front + 0.02, half + 0.06, roof - 0.26), TRIM)
    mirror = box((front - 0.06, half + 0.0, roof - 0.72), (front + 0.02, half + MIRROR_M, roof - 0.26), TRIM)
    return [*parts, arm, mirror]


def _bus_front(front: float, half: float, levels: tuple[float, float, float]) -> list[Mesh]:
    sill, waist, roof = levels
    bent = ((0.93, -0.07), (0.90, -0.002), (0.4, 0.006), (-0.4, 0.006), (-0.90, -0.002), (-0.93, -0.07))
    screen = [[(front + out, y * half, z) for y, out in bent] for z in (waist - 0.12, roof - 0.40)]
    left = [
        box((front - 0.05, 0.62 * half, sill + 0.28), (front + 0.012, 0.90 * half, sill + 0.46), LAMP),
        box((front - 0.05, 0.62 * half, sill + 0.48), (front + 0.010, 0.90 * half, sill + 0.54), AMBER_LAMP),
    ]
    display = Finish((0.9, 0.42, 0.05), LIT_AMBER.material)
    letters = [
        box((front, y, roof - 0.30), (front + 0.014, y + w, roof - 0.17), display)
        for y, w in ((0.42, 0.10), (0.27, 0.10), (-0.05, 0.22), (-0.30, 0.20), (-0.58, 0.22))
    ]
    return [
        sheet(np.array(screen), GLASS),
        box((front - 0.05, -0.76 * half, roof - 0.36), (front + 0.008, 0.76 * half, roof - 0.10), TRIM),
        *[part for part in letters if abs(part.vertices[:, 1]).max() < 0.75 * half],
        box((front - 0.05, -0.94 * half, sill), (front + 0.018, 0.94 * half, sill + 0.20), TRIM),
        box((front - 0.05, -0.26, sill + 0.06), (front + 0.024, 0.26, sill + 0.17), PLATE),
        *[
            tube(
                (front + 0.014, y * half, waist - 0.08),
                (front + 0.014, (y + 0.5) * half, waist + 0.35),
                (0.012, 0.008),
                TRIM,
                4,
            )
            for y in (-0.75, 0.05)
        ],
        both_sides(left),
    ]


def _bus_rear(back: float, half: float, levels: tuple[float, float, float]) -> list[Mesh]:
    sill, waist, roof = levels
    window = [
        (back - 0.006, y * half, z)
        for y, z in ((-0.78, waist + 0.25), (0.78, waist + 0.25), (0.74, roof - 0.30), (-0.74, roof - 0.30))
    ]
    left = [
        box((back - 0.012, 0.80 * half, sill + 0.72), (back + 0.05, 0.93 * half, sill + 0.88), AMBER_LAMP),
        box((back - 0.012, 0.80 * half, sill + 0.42), (back + 0.05, 0.93 * half, sill + 0.70), TAIL_LAMP),
        box((back - 0.012, 0.78 * half, roof - 0.20), (back + 0.05, 0.90 * half, roof - 0.14), TAIL_LAMP),
    ]
    grille = [
        box((back - 0.010, -0.62 * half, z), (back + 0.05, 0.62 * half, z + 0.035), TRIM)
        for z in np.linspace(sill + 0.45, waist - 0.05, 7).tolist()
    ]
    return [
        panel(window, GLASS),
        box((back - 0.008, -0.66 * half, sill + 0.40), (back + 0.05, 0.66 * half, sill + 0.42), TRIM),
        *grille,
        box((back - 0.015, -0.94 * half, sill), (back + 0.05, 0.94 * half, sill + 0.22), TRIM),
        box((back - 0.02, -0.26, sill + 0.26), (back + 0.05, 0.26, sill + 0.37), PLATE),
        box((back - 0.010, -0.45, roof - 0.22), (back + 0.05, 0.10, roof - 0.08), TRIM),
        box((back - 0.013, -0.40, roof - 0.20), (back + 0.05, -0.16, roof - 0.10), LIT_AMBER),
        both_sides(left),
    ]


def _bus_doors(
    span: tuple[float, float], half: float, levels: tuple[float, float], axles: tuple[float, float]
) -> list[Mesh]:
    """Return the two double doors of the right side (the kerb's in right-hand traffic)."""
    (_, front), (sill, roof) = span, levels
    y = -half - 0.012
    parts: list[Mesh] = []
    for x0, x1 in ((front - 1.45, front - 0.28), (sum(axles) / 2 - 0.5, sum(axles) / 2 + 0.8)):
        parts.append(box((x0, y, sill + 0.06), (x1, -0.98 * half, roof - 0.26), TRIM))
        middle = 0.5 * (x0 + x1)
        for a, b in ((x0 + 0.05, middle - 0.03), (middle + 0.03, x1 - 0.05)):
            parts.append(
                panel(
                    [
                        (a, y - 0.004, sill + 0.18),
                        (b, y - 0.004, sill + 0.18),
                        (b, y - 0.004, roof - 0.32),
                        (a, y - 0.004, roof - 0.32),
                    ],
                    GLASS,
                )
            )
    return parts
