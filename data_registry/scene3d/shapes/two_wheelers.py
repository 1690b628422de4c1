"""Bicycle, cyclist and motorcyclist, riding towards +x. Measures are metres of a machine of common size."""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.figures import Limbs, Look, Pose, figure, head_frame
from data_registry.scene3d.shapes.parts import (
    AMBER_LAMP,
    DARK_STEEL,
    GLASS,
    LAMP,
    PLATE,
    RIM,
    RUBBER,
    STEEL,
    TAIL_LAMP,
    TRIM,
    cloth,
    fitted,
    paint,
    shaded,
)
from data_registry.scene3d.solids import (
    Coat,
    Colour,
    Finish,
    Point,
    both_sides,
    box,
    ellipsoid,
    hoop,
    loft,
    panel,
    sheet,
    sweep,
    tube,
)

WHEEL_M: Final = 0.335
"""Radius of a 28 inch wheel, tyre included."""


def bicycle(length: float, width: float, height: float, colour: Colour = (0.04, 0.20, 0.14)) -> Mesh:
    """Return a city bicycle without a rider; its width is the handlebar's."""
    return fitted(joined(_bicycle(paint(colour))), (length, width, height))


def _bicycle(coat: Coat) -> list[Mesh]:
    """Return a bicycle of 1.75 x 0.6 x 1.05 m; z = 0 is the ground."""
    rear, front = (-0.52, 0.0, WHEEL_M), (0.53, 0.0, WHEEL_M)
    crank, seat, neck = (-0.08, 0.0, 0.29), (-0.26, 0.0, 0.80), (0.36, 0.0, 0.80)
    bars: list[tuple[Point, Point, float]] = [
        (crank, seat, 0.018),
        (crank, (0.37, 0.0, 0.70), 0.021),
        ((-0.235, 0.0, 0.72), neck, 0.018),
        ((0.375, 0.0, 0.66), (0.335, 0.0, 0.92), 0.019),
        (seat, (-0.285, 0.0, 0.93), 0.014),
    ]
    frame = [tube(start, end, (radius, radius), coat, 8) for start, end, radius in bars]
    stays: list[Mesh] = []
    for y in (0.05, -0.05):
        stays.append(tube((-0.25, 0.3 * y, 0.74), (rear[0], y, rear[2]), (0.009, 0.009), coat, 6))
        stays.append(tube((crank[0], 0.5 * y, crank[2]), (rear[0], y, rear[2]), (0.011, 0.010), coat, 6))
        fork: list[Point] = [(0.375, 0.4 * y, 0.68), (0.42, y, 0.58), (0.50, y, 0.40), front]
        stays.append(sweep(fork, [0.015, 0.014, 0.011, 0.009], coat, 6))
    wheels = [part for hub in (rear, front) for part in _spoked_wheel(hub)]
    return [*frame, *stays, *wheels, *_bicycle_fittings(crank, rear)]


def _spoked_wheel(hub: Point) -> list[Mesh]:
    x, _, z = hub
    parts = [hoop(hub, WHEEL_M - 0.021, 0.021, RUBBER, (22, 5)), hoop(hub, WHEEL_M - 0.047, 0.011, RIM, (22, 3))]
    parts.append(tube((x, -0.055, z), (x, 0.055, z), (0.02, 0.02), STEEL, 8))
    for angle in np.arange(12) * (np.pi / 6):
        reach = WHEEL_M - 0.04
        flat = (-1) ** round(angle / (np.pi / 6)) * 0.02
        parts.append(
            tube((x, flat, z), (x + reach * np.cos(angle), 0.0, z + reach * np.sin(angle)), (0.0022, 0.0022), STEEL, 3)
        )
    return parts


def _bicycle_fittings(crank: Point, rear: Point) -> list[Mesh]:
    """Return handlebar, saddle, pedals, chain, mudguards, carrier and lamps."""
    x, _, z = crank
    handle: list[Point] = [(0.22, 0.30, 0.985), (0.33, 0.25, 0.995), (0.37, 0.12, 0.99), (0.365, 0.0, 0.97)]
    handle += [(a, -b, c) for a, b, c in handle[-2::-1]]
    grips = both_sides([sweep([(0.19, 0.30, 0.98), (0.27, 0.285, 0.99)], [0.017, 0.017], TRIM, 6)])
    stem = tube((0.335, 0.0, 0.90), (0.365, 0.0, 0.975), (0.015, 0.015), STEEL, 6)
    saddle = loft(
        [np.array([(a, h, c - 0.03), (a, 0.8 * h, c), (a, -0.8 * h, c), (a, -h, c - 0.03)]) for a, h, c in _SADDLE],
        TRIM,
    )
    pedals = [
        tube((x, 0.06, z), (x + 0.15, 0.07, z - 0.07), (0.010, 0.008), STEEL, 5),
        tube((x, -0.06, z), (x - 0.15, -0.07, z + 0.07), (0.010, 0.008), STEEL, 5),
        tube((x, -0.06, z), (x, 0.06, z), (0.02, 0.02), STEEL, 6),
        box((x + 0.11, 0.07, z - 0.085), (x + 0.20, 0.16, z - 0.065), TRIM),
        box((x - 0.20, -0.16, z + 0.065), (x - 0.11, -0.07, z + 0.085), TRIM),
        hoop((x, -0.045, z), 0.085, 0.008, DARK_STEEL, (14, 4)),
        tube((x, -0.045, z + 0.085), (rear[0], -0.045, rear[2] + 0.03), (0.006, 0.006), DARK_STEEL, 4),
        tube((x, -0.045, z - 0.085), (rear[0], -0.045, rear[2] - 0.03), (0.006, 0.006), DARK_STEEL, 4),
    ]
    lamps = [
        ellipsoid((0.43, 0.0, 0.80), (0.04, 0.035, 0.035), LAMP, 8),
        tube((0.36, 0.0, 0.80), (0.42, 0.0, 0.80), (0.01, 0.01), STEEL, 5),
        box((-0.80, -0.04, 0.66), (-0.77, 0.04, 0.71), TAIL_LAMP),
    ]
    return [sweep(handle, [0.012] * len(handle), STEEL, 6), grips, stem, saddle, *pedals, *lamps, *_carrier(rear)]


_SADDLE: Final = (
    (-0.41, 0.07, 0.965),
    (-0.37, 0.10, 0.975),
    (-0.30, 0.085, 0.965),
    (-0.22, 0.035, 0.96),
    (-0.13, 0.02, 0.955),
)


def _carrier(rear: Point) -> list[Mesh]:
    """Return the mudguards and the luggage carrier."""
    guards: list[Mesh] = []
    for hub, start, end in ((rear[0], 0.15, 0.95), (0.53, 0.22, 0.78)):
        turn = np.linspace(start * np.pi, end * np.pi, 9) if hub < 0 else np.linspace(start * np.pi, end * np.pi, 7)
        reach = WHEEL_M + 0.022
        arc = np.column_stack([hub + reach * np.cos(turn), np.zeros(len(turn)), WHEEL_M + reach * np.sin(turn)])
        guards.append(sheet(np.stack([arc + np.array([0, y, 0]) for y in (-0.028, 0.028)]), DARK_STEEL))
    rails = both_sides([tube((-0.80, 0.06, 0.72), (-0.27, 0.05, 0.72), (0.008, 0.008), STEEL, 5)])
    cross = [box((a, -0.065, 0.713), (a + 0.015, 0.065, 0.727), STEEL) for a in (-0.80, -0.62, -0.45)]
    legs = both_sides([tube((-0.66, 0.06, 0.72), (rear[0], 0.055, rear[2]), (0.006, 0.006), STEEL, 5)])
    rests = [tube((0.53, 0.0, 2 * WHEEL_M + 0.022), (0.42, 0.03, 0.58), (0.006, 0.006), STEEL, 4)]
    rests.append(tube((rear[0], 0.0, 2 * WHEEL_M + 0.022), (rear[0], 0.0, 0.72), (0.01, 0.01), STEEL, 4))
    return [*guards, rails, *cross, legs, *rests]


def cyclist(length: float, width: float, height: float, colour: Colour = (0.60, 0.25, 0.03)) -> Mesh:
    """Return a rider with a helmet on a bicycle; `colour` is the jacket's."""
    tall = 1.74
    left = Limbs((0.20, 0.085, 0.555), (0.035, 0.115, 0.185), (0.075, 0.185, 0.735), (0.155, 0.170, 0.590), -0.15)
    right = Limbs((0.215, -0.085, 0.63), (-0.135, -0.115, 0.262), (0.075, -0.185, 0.735), (0.155, -0.170, 0.590), -0.1)
    look = Look(
        cloth(colour),
        cloth((0.035, 0.040, 0.055)),
        shoes=cloth((0.40, 0.40, 0.40)),
        bands=((0.46, 0.54, cloth(shaded(colour, 0.35))),),
    )
    pose = Pose(left, right, pelvis=(-0.165, 0.0, 0.585), neck=(-0.035, 0.0, 0.875))
    rider = joined([*figure(pose, look), *_cycle_helmet(pose, Finish((0.62, 0.62, 0.64), Material.PAINTWORK))]).scaled(
        tall
    )
    return fitted(joined([*_bicycle(paint((0.03, 0.05, 0.08))), rider]), (length, width, height))


def _cycle_helmet(pose: Pose, coat: Coat) -> list[Mesh]:
    """Return a cycling helmet: a long shell with dark vents."""
    chin, size = head_frame(pose)
    turn = np.arange(14) * (2 * np.pi / 14)
    rows = ((0.68, 0.48, 0.54, 0.43), (0.85, 0.47, 0.56, 0.44), (1.02, 0.34, 0.46, 0.35), (1.13, 0.10, 0.20, 0.14))
    rings = [
        chin
        + size
        * np.column_stack(
            [np.where(np.cos(turn) > 0, ahead, behind) * np.cos(turn), half * np.sin(turn), np.full(14, z)]
        )
        for z, ahead, behind, half in rows
    ]
    vents = [
        sweep(
            [tuple(chin + size * np.array(p)) for p in ((0.40, y, 0.98), (0.05, y * 1.2, 1.115), (-0.40, y, 1.0))],
            [0.007] * 3,
            TRIM,
            4,
        )
        for y in (0.16, 0.0, -0.16)
    ]
    return [loft(rings, coat), *vents]


def motorcyclist(length: float, width: float, height: float, colour: Colour = (0.05, 0.05, 0.06)) -> Mesh:
    """Return a rider with a full-face helmet on a motorcycle with lit headlamp; `colour` is the jacket's."""
    tall = 1.72
    left = Limbs((0.16, 0.125, 0.43), (-0.03, 0.115, 0.225), (0.09, 0.200, 0.66), (0.225, 0.175, 0.60))
    right = Limbs((0.16, -0.125, 0.43), (-0.03, -0.115, 0.225), (0.09, -0.200, 0.66), (0.225, -0.175, 0.60))
    look = Look(
        cloth(colour),
        cloth((0.022, 0.024, 0.030)),
        hands=TRIM,
        bands=((0.70, 0.76, cloth((0.45, 0.45, 0.44))),),
    )
    pose = Pose(left, right, pelvis=(-0.135, 0.0, 0.49), neck=(-0.005, 0.0, 0.785))
    rider = joined([*figure(pose, look), *_full_helmet(pose)]).scaled(tall)
    return fitted(joined([*_motorcycle(paint((0.36, 0.02, 0.02))), rider]), (length, width, height))


def _full_helmet(pose: Pose) -> list[Mesh]:
    chin, size = head_frame(pose)
    x, y, z = (chin + size * np.array([0.0, 0.0, 0.52])).tolist()
    shell = ellipsoid(
        (x, y, z), (0.60 * size, 0.52 * size, 0.64 * size), Finish((0.66, 0.66, 0.66), Material.PAINTWORK), 12
    )
    visor = ellipsoid((x + 0.07 * size, y, z + 0.06 * size), (0.565 * size, 0.49 * size, 0.25 * size), GLASS, 12)
    return [shell, visor]


def _motorcycle(coat: Coat) -> list[Mesh]:
    """Return a motorcycle of 2.1 x 0.8 m; z = 0 is the ground."""
    radius = 0.31
    rear, front = (-0.70, 0.0, radius), (0.72, 0.0, radius)
    wheels: list[Mesh] = []
    for (x, _, z), thick in ((rear, 0.075), (front, 0.055)):
        wheels += [
            hoop((x, 0, z), radius - thick, thick, RUBBER, (18, 6)),
            hoop((x, 0, z), radius - 2 * thick, 0.02, RIM, (18, 4)),
        ]
        wheels.append(tube((x, -0.09, z), (x, 0.09, z), (0.05, 0.05), DARK_STEEL, 10))
        for angle in np.arange(5) * (2 * np.pi / 5):
            tip = (x + (radius - 1.8 * thick) * np.cos(angle), 0.0, z + (radius - 1.8 * thick) * np.sin(angle))
            wheels.append(tube((x, 0, z), tip, (0.022, 0.016), RIM, 5))
    tank = _hull(
        (
            (-0.10, 0.10, 0.64, 0.78),
            (0.02, 0.15, 0.62, 0.88),
            (0.20, 0.16, 0.62, 0.93),
            (0.36, 0.11, 0.66, 0.90),
            (0.42, 0.06, 0.72, 0.84),
        ),
        coat,
    )
    seat = _hull(
        ((-0.80, 0.08, 0.78, 0.84), (-0.55, 0.13, 0.72, 0.83), (-0.25, 0.14, 0.66, 0.79), (-0.06, 0.10, 0.66, 0.80)),
        TRIM,
    )
    tail = _hull(((-0.92, 0.05, 0.76, 0.82), (-0.75, 0.10, 0.68, 0.79), (-0.35, 0.12, 0.58, 0.70)), coat)
    engine = _hull(
        ((-0.25, 0.15, 0.26, 0.60), (0.0, 0.19, 0.20, 0.64), (0.22, 0.17, 0.24, 0.66), (0.34, 0.10, 0.34, 0.62)),
        DARK_STEEL,
    )
    nose = _hull(
        ((0.38, 0.16, 0.84, 0.98), (0.50, 0.15, 0.80, 1.04), (0.58, 0.10, 0.82, 0.98), (0.62, 0.06, 0.85, 0.93)), coat
    )
    return [*wheels, tank, seat, tail, engine, nose, *_motorcycle_fittings(rear, front)]


def _hull(rows: tuple[tuple[float, float, float, float], ...], coat: Coat) -> Mesh:
    """Return a rounded body along x from rows of x, half width, low and high."""
    turn = np.arange(10) * (2 * np.pi / 10)
    return loft(
        [
            np.column_stack([np.full(10, x), half * np.cos(turn), (low + high) / 2 + (high - low) / 2 * np.sin(turn)])
            for x, half, low, high in rows
        ],
        coat,
    )


def _motorcycle_fittings(rear: Point, front: Point) -> list[Mesh]:
    """Return forks, handlebar, mirrors, lamps, exhaust, mudguards, plate and foot rests."""
    left = [
        tube((front[0], 0.09, front[2]), (0.47, 0.09, 0.92), (0.026, 0.022), STEEL, 8),
        tube((rear[0], 0.08, rear[2]), (-0.15, 0.10, 0.38), (0.028, 0.035), DARK_STEEL, 6),
        sweep(
            [(0.44, 0.0, 0.96), (0.45, 0.16, 1.00), (0.40, 0.32, 1.02), (0.33, 0.36, 1.01)],
            [0.014, 0.014, 0.016, 0.018],
            TRIM,
            6,
        ),
        sweep([(0.43, 0.24, 1.01), (0.44, 0.30, 1.14)], [0.008, 0.008], TRIM, 5),
        ellipsoid((0.44, 0.34, 1.17), (0.025, 0.065, 0.045), TRIM, 8),
        ellipsoid((0.47, 0.16, 0.88), (0.03, 0.04, 0.025), AMBER_LAMP, 6),
        ellipsoid((-0.84, 0.12, 0.76), (0.03, 0.04, 0.025), AMBER_LAMP, 6),
        tube((-0.06, 0.10, 0.30), (-0.06, 0.26, 0.30), (0.012, 0.012), STEEL, 5),
    ]
    exhaust = sweep(
        [(0.18, -0.12, 0.28), (-0.10, -0.17, 0.25), (-0.40, -0.19, 0.36), (-0.82, -0.20, 0.50)],
        [0.028, 0.03, 0.05, 0.055],
        STEEL,
        8,
    )
    guards: list[Mesh] = []
    for hub, reach, half, start, end in ((front, 0.335, 0.07, 0.2, 0.85), (rear, 0.345, 0.085, 0.45, 0.85)):
        turn = np.linspace(start * np.pi, end * np.pi, 8)
        arc = np.column_stack([hub[0] + reach * np.cos(turn), np.zeros(8), hub[2] + reach * np.sin(turn)])
        rows = [arc + np.array([0, y, dz]) for y, dz in ((-half, -0.02), (0, 0.01), (half, -0.02))]
        guards.append(sheet(np.stack(rows), TRIM))
    stays = both_sides([tube((front[0], 0.05, 0.64), (0.61, 0.09, 0.58), (0.01, 0.01), TRIM, 4)])
    hanger = [
        box((-0.90, -0.03, 0.55), (-0.86, 0.03, 0.78), TRIM),
        tube((-0.88, 0, 0.6), (-0.92, 0, 0.64), (0.03, 0.03), TRIM, 4),
    ]
    plate = panel([(-0.935, y, z) for y, z in ((-0.09, 0.52), (0.09, 0.52), (0.09, 0.68), (-0.09, 0.68))], PLATE)
    lamps = [
        ellipsoid((0.60, 0.0, 0.90), (0.035, 0.085, 0.06), Finish((1.0, 0.96, 0.85), Material.GLOWING), 10),
        box((-0.935, -0.06, 0.755), (-0.90, 0.06, 0.80), TAIL_LAMP),
    ]
    screen = sheet(np.array([[(0.53, y, 1.02), (0.44, 0.85 * y, 1.20)] for y in (-0.11, -0.05, 0.05, 0.11)]), GLASS)
    return [both_sides(left), exhaust, *guards, stays, *hanger, plate, *lamps, screen]
