"""Construction machines: a crawler excavator whose boom reaches to +x."""

from __future__ import annotations

import numpy as np

from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import (
    DARK_STEEL,
    GLASS,
    LAMP,
    LIT_AMBER,
    PLATE,
    RUBBER,
    STEEL,
    TAIL_LAMP,
    TRIM,
    fitted,
    paint,
    shaded,
)
from data_registry.scene3d.solids import Coat, Colour, both_sides, box, button, loft, panel, slab, tube


def excavator(length: float, width: float, height: float, colour: Colour = (0.72, 0.42, 0.02)) -> Mesh:
    """Return a crawler excavator: tracks, house with cab, boom, arm and bucket on the ground in front."""
    house = _house(paint(colour), colour)
    boom = _boom(paint(colour))
    # The model is 6.5 x 2.4 x 3.0 m; the stretch into the box keeps its looks within a third of that.
    return fitted(joined([both_sides(_track()), *house, *boom]), (length, width, height))


def _track() -> list[Mesh]:
    """Return the left crawler: belt with grousers, sprockets and rollers."""
    back, front, radius = -2.6, 0.15, 0.36
    turn = np.linspace(np.pi / 2, 3 * np.pi / 2, 7)
    ring = [(back + radius + radius * np.cos(a), radius + radius * np.sin(a)) for a in turn]
    ring += [(front - radius - radius * np.cos(a), radius - radius * np.sin(a)) for a in turn]
    belt = loft([np.array([(x, y, z) for x, z in ring]) for y in (0.62, 1.17)], RUBBER)
    parts = [belt]
    for x in np.arange(back + 0.4, front - 0.3, 0.22).tolist():
        parts.append(box((x, 0.61, 2 * radius - 0.01), (x + 0.07, 1.18, 2 * radius + 0.025), DARK_STEEL))
        parts.append(box((x, 0.61, 0.0), (x + 0.07, 1.18, 0.03), DARK_STEEL))
    for x in (back + radius, front - radius):
        parts.append(tube((x, 1.15, radius), (x, 1.20, radius), (0.25, 0.23), STEEL, 12))
    for x in np.linspace(back + 0.8, front - 0.8, 4).tolist():
        parts.append(tube((x, 1.15, 0.20), (x, 1.19, 0.20), (0.11, 0.10), STEEL, 8))
    parts.append(box((back + 0.5, 0.0, 0.32), (front - 0.5, 0.7, 0.62), DARK_STEEL))
    return parts


def _house(coat: Coat, colour: Colour) -> list[Mesh]:
    """Return slewing ring, counterweight, engine cover, cab with windows, rails, beacon and lamps."""
    counterweight = [(-3.05, 0.95), (-2.95, 0.88), (-2.3, 0.88), (-2.3, 1.75), (-2.85, 1.75), (-3.0, 1.60)]
    cab = [(-1.05, 0.95), (0.22, 0.95), (0.30, 1.55), (0.10, 2.70), (-0.05, 2.80), (-1.0, 2.80), (-1.05, 2.72)]
    parts = [
        tube((-1.2, 0, 0.60), (-1.2, 0, 0.90), (0.62, 0.62), DARK_STEEL, 16),
        box((-2.4, -1.15, 0.86), (0.15, 1.15, 1.0), TRIM),
        slab(counterweight, -1.12, 1.12, paint(shaded(colour, 0.25))),
        box((-2.32, -1.14, 1.0), (-1.1, 1.14, 1.72), coat),
        box((-1.12, -1.14, 1.0), (-0.05, -0.30, 1.50), coat),
        slab(cab, 0.28, 1.12, coat),
        box((-2.1, -0.9, 1.72), (-1.3, 0.7, 1.82), paint(shaded(colour, 0.6))),
        tube((-1.95, -0.75, 1.80), (-1.95, -0.75, 2.15), (0.06, 0.06), STEEL),
        tube((-0.8, 0.7, 2.79), (-0.8, 0.7, 2.84), (0.07, 0.07), TRIM, 8),
        tube((-0.8, 0.7, 2.83), (-0.8, 0.7, 3.0), (0.06, 0.05), LIT_AMBER, 8),
    ]
    for y in (1.126, 0.274):
        parts.append(panel([(x, y, z) for x, z in ((-0.95, 1.62), (-0.32, 1.62), (-0.32, 2.62), (-0.95, 2.62))], GLASS))
        parts.append(
            panel(
                [(x, y, z) for x, z in ((-0.24, 1.25), (0.20, 1.25), (0.22, 1.60), (0.04, 2.62), (-0.24, 2.62))], GLASS
            )
        )
    parts.append(panel([(0.236, 0.36, 1.05), (0.236, 1.04, 1.05), (0.306, 1.04, 1.52), (0.306, 0.36, 1.52)], GLASS))
    parts.append(panel([(0.312, 0.36, 1.60), (0.312, 1.04, 1.60), (0.128, 1.04, 2.64), (0.128, 0.36, 2.64)], GLASS))
    parts.append(panel([(-1.058, 0.38, 1.85), (-1.058, 1.02, 1.85), (-1.058, 1.02, 2.60), (-1.058, 0.38, 2.60)], GLASS))
    parts += [box((-2.2, y, z), (-1.4, y + 0.02, z + 0.04), TRIM) for y in (1.13, -1.15) for z in (1.2, 1.3, 1.4, 1.5)]
    parts.append(
        both_sides(
            [box((-3.06, 0.75, 1.25), (-2.9, 1.0, 1.37), TAIL_LAMP), button((0.15, 0.9, 0.93), 0.06, 0.04, LAMP)]
        )
    )
    stripes = [
        [
            (-3.0 - 0.052, y, 1.02),
            (-3.0 - 0.052, y + 0.12, 1.02),
            (-3.0 - 0.012, y + 0.26, 1.56),
            (-3.0 - 0.012, y + 0.14, 1.56),
        ]
        for y in np.arange(-0.9, 0.7, 0.4).tolist()
    ]
    parts += [panel([(a, b, c) for a, b, c in row], PLATE) for row in stripes]
    rails = [tube((x, -1.08, 1.5), (x, -1.08, 2.1), (0.02, 0.02), TRIM, 5) for x in (-1.0, -0.2)]
    return [*parts, *rails, tube((-1.02, -1.08, 2.1), (-0.18, -1.08, 2.1), (0.02, 0.02), TRIM, 5)]


def _boom(coat: Coat) -> list[Mesh]:
    """Return boom, arm, hydraulic rams and the toothed bucket, which rests on the ground."""
    boom = [
        ((-0.5, 1.22), (-0.2, 1.05)),
        ((0.35, 2.45), (0.62, 2.12)),
        ((1.25, 2.98), (1.42, 2.62)),
        ((2.45, 2.62), (2.40, 2.42)),
    ]
    arm = [((2.10, 2.86), (2.22, 2.40)), ((2.62, 2.60), (2.42, 2.30)), ((3.02, 0.88), (2.84, 0.84))]
    parts = [_beam(boom, (-0.20, 0.20), coat), _beam(arm, (-0.15, 0.15), coat)]
    ram = [((-0.05, 1.18), (0.78, 2.20)), ((0.95, 2.98), (2.08, 2.84)), ((2.62, 2.35), (3.12, 1.10))]
    for (x0, z0), (x1, z1) in ram:
        middle = (0.45 * x0 + 0.55 * x1, 0.45 * z0 + 0.55 * z1)
        parts.append(tube((x0, 0.0, z0), (middle[0], 0.0, middle[1]), (0.075, 0.075), DARK_STEEL, 8))
        parts.append(tube((middle[0], 0.0, middle[1]), (x1, 0.0, z1), (0.045, 0.045), STEEL, 8))
    parts.append(tube((2.4, -0.24, 2.5), (2.4, 0.24, 2.5), (0.10, 0.10), STEEL, 10))
    parts.append(tube((3.12, -0.2, 1.10), (2.95, -0.2, 0.86), (0.05, 0.05), STEEL, 6))
    parts.append(tube((3.12, 0.2, 1.10), (2.95, 0.2, 0.86), (0.05, 0.05), STEEL, 6))
    parts.append(tube((3.12, -0.22, 1.10), (3.12, 0.22, 1.10), (0.06, 0.06), STEEL, 8))
    scoop = [(2.78, 0.92), (3.22, 0.98), (3.42, 0.70), (3.38, 0.35), (3.10, 0.10), (2.62, 0.06), (2.72, 0.5)]
    parts.append(slab(scoop, -0.48, 0.48, DARK_STEEL))
    parts += [box((2.48, y - 0.04, 0.0), (2.75, y + 0.04, 0.09), STEEL) for y in (-0.42, -0.21, 0.0, 0.21, 0.42)]
    return parts


def _beam(
    pairs: list[tuple[tuple[float, float], tuple[float, float]]], across: tuple[float, float], coat: Coat
) -> Mesh:
    """Return a welded box beam from pairs of upper and lower points (x, z)."""
    low, high = across
    return loft([np.array([(a, low, b), (a, high, b), (c, high, d), (c, low, d)]) for (a, b), (c, d) in pairs], coat)
