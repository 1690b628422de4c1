"""Animals that walk towards +x: dog and deer. Measures are shares of the shoulder-high animal's length and height."""

from __future__ import annotations

import numpy as np

from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import TRIM, cloth, fitted, shaded
from data_registry.scene3d.solids import Coat, Colour, Finish, Point, both_sides, ellipsoid, loft, panel, sweep

Rows = tuple[tuple[float, float, float, float], ...]


def _trunk(rows: Rows, coat: Coat) -> Mesh:
    """Return a rounded body along x from rows of x, z of its middle, half width, half height."""
    turn = np.arange(12) * (2 * np.pi / 12)
    return loft(
        [np.column_stack([np.full(12, x), half * np.cos(turn), z + tall * np.sin(turn)]) for x, z, half, tall in rows],
        coat,
    )


def _leg(path: list[Point], radii: list[float], coat: Coat, paw: Coat) -> list[Mesh]:
    x, y, z = path[-1]
    radius = radii[-1]
    foot = sweep(
        [(x - 0.5 * radius, y, z), (x + 1.2 * radius, y, 0.8 * z), (x + 2.2 * radius, y, 0.6 * z)],
        [0.6 * z, 0.9 * z, 0.5 * z],
        paw,
        8,
    )
    return [sweep(path, radii, coat, 8), foot]


def dog(length: float, width: float, height: float, colour: Colour = (0.20, 0.10, 0.04)) -> Mesh:
    """Return a trotting dog with a red collar; `colour` is the coat's."""
    coat, pale = cloth(colour), cloth(shaded(colour, 1.9))
    trunk: Rows = (
        (-0.30, 0.47, 0.03, 0.04),
        (-0.27, 0.46, 0.075, 0.085),
        (-0.12, 0.445, 0.075, 0.080),
        (0.06, 0.43, 0.088, 0.105),
        (0.18, 0.44, 0.080, 0.105),
        (0.25, 0.47, 0.045, 0.06),
    )
    neck = sweep([(0.17, 0, 0.48), (0.25, 0, 0.56), (0.32, 0, 0.635)], [0.085, 0.07, 0.058], coat, 10)
    collar = sweep([(0.255, 0, 0.568), (0.275, 0, 0.59)], [0.075, 0.073], cloth((0.45, 0.03, 0.03)), 10)
    skull = ellipsoid((0.345, 0, 0.66), (0.085, 0.06, 0.06), coat, 10)
    muzzle = sweep([(0.38, 0, 0.648), (0.46, 0, 0.632), (0.495, 0, 0.630)], [0.045, 0.034, 0.022], pale, 8)
    nose = ellipsoid((0.50, 0, 0.638), (0.016, 0.018, 0.014), TRIM, 6)
    face = both_sides(
        [
            ellipsoid((0.395, 0.042, 0.683), (0.010, 0.010, 0.012), TRIM, 6),
            loft(
                [
                    np.array([(0.33, 0.045, 0.71), (0.27, 0.055, 0.70), (0.30, 0.062, 0.69)]),
                    np.array([(0.315, 0.085, 0.64), (0.265, 0.085, 0.62), (0.28, 0.08, 0.61)]),
                ],
                cloth(shaded(colour, 0.6)),
            ),
        ]
    )
    tail = sweep(
        [(-0.28, 0, 0.50), (-0.36, 0, 0.54), (-0.44, 0, 0.62), (-0.48, 0, 0.70)], [0.028, 0.024, 0.018, 0.008], coat, 8
    )
    legs: list[Mesh] = []
    for side, stride in ((1, 1), (-1, -1)):
        y = 0.055 * side
        legs += _leg(
            [
                (0.16, y, 0.42),
                (0.13 + 0.05 * stride, y, 0.26),
                (0.15 + 0.09 * stride, y, 0.13),
                (0.13 + 0.10 * stride, y, 0.022),
            ],
            [0.055, 0.036, 0.026, 0.022],
            coat,
            pale,
        )
        legs += _leg(
            [
                (-0.22, y, 0.43),
                (-0.19 - 0.05 * stride, y, 0.28),
                (-0.27 - 0.08 * stride, y, 0.17),
                (-0.25 - 0.08 * stride, y, 0.022),
            ],
            [0.072, 0.045, 0.026, 0.022],
            coat,
            pale,
        )
    belly = _trunk(((-0.10, 0.40, 0.05, 0.04), (0.06, 0.375, 0.065, 0.055), (0.18, 0.40, 0.05, 0.065)), pale)
    return fitted(
        joined([_trunk(trunk, coat), belly, neck, collar, skull, muzzle, nose, face, tail, *legs]),
        (length, width, height),
    )


def deer(length: float, width: float, height: float, colour: Colour = (0.22, 0.115, 0.05)) -> Mesh:
    """Return a roebuck that walks, with antlers, white rump patch and dark hooves."""
    coat, pale = cloth(colour), cloth(shaded(colour, 2.2))
    trunk: Rows = (
        (-0.62, 0.90, 0.05, 0.07),
        (-0.58, 0.88, 0.13, 0.15),
        (-0.42, 0.87, 0.165, 0.19),
        (-0.10, 0.85, 0.165, 0.19),
        (0.18, 0.86, 0.155, 0.20),
        (0.34, 0.90, 0.12, 0.16),
        (0.42, 0.95, 0.06, 0.09),
    )
    neck = sweep(
        [(0.28, 0, 0.92), (0.42, 0, 1.10), (0.50, 0, 1.28), (0.54, 0, 1.36)], [0.135, 0.095, 0.075, 0.065], coat, 10
    )
    head = sweep(
        [(0.48, 0, 1.38), (0.56, 0, 1.385), (0.66, 0, 1.335), (0.76, 0, 1.275), (0.80, 0, 1.255)],
        [0.05, 0.078, 0.062, 0.042, 0.028],
        coat,
        10,
    )
    muzzle = sweep([(0.765, 0, 1.272), (0.80, 0, 1.255), (0.815, 0, 1.25)], [0.043, 0.034, 0.018], TRIM, 8)
    left = [
        ellipsoid((0.60, 0.062, 1.395), (0.018, 0.012, 0.018), TRIM, 6),
        loft(
            [
                np.array([(0.50, 0.045, 1.43), (0.47, 0.06, 1.41), (0.51, 0.07, 1.40)]),
                np.array([(0.46, 0.13, 1.50), (0.43, 0.15, 1.46), (0.47, 0.15, 1.45)]),
                np.array([(0.43, 0.19, 1.53), (0.425, 0.195, 1.525), (0.43, 0.2, 1.52)]),
            ],
            coat,
        ),
    ]
    horn = Finish((0.16, 0.12, 0.08), Material.MATTE)
    left.append(
        sweep(
            [(0.52, 0.035, 1.44), (0.50, 0.07, 1.56), (0.53, 0.11, 1.68), (0.50, 0.12, 1.80)],
            [0.018, 0.016, 0.012, 0.004],
            horn,
            6,
        )
    )
    left.append(sweep([(0.505, 0.075, 1.58), (0.58, 0.09, 1.66)], [0.012, 0.004], horn, 5))
    left.append(sweep([(0.525, 0.11, 1.68), (0.44, 0.13, 1.75)], [0.010, 0.003], horn, 5))
    rump = panel(
        [
            (-0.625, y, z)
            for y, z in ((-0.06, 0.83), (0.06, 0.83), (0.085, 0.90), (0.05, 0.97), (-0.05, 0.97), (-0.085, 0.90))
        ],
        cloth((0.60, 0.56, 0.48)),
    )
    tail = sweep(
        [(-0.60, 0, 0.99), (-0.66, 0, 0.95), (-0.67, 0, 0.88)], [0.03, 0.03, 0.012], cloth((0.55, 0.50, 0.42)), 6
    )
    belly = _trunk(((-0.40, 0.75, 0.08, 0.06), (-0.10, 0.72, 0.10, 0.07), (0.18, 0.74, 0.09, 0.08)), pale)
    legs = [part for side in (1, -1) for part in _deer_legs(side, coat)]
    return fitted(
        joined([_trunk(trunk, coat), belly, neck, head, muzzle, both_sides(left), rump, tail, *legs]),
        (length, width, height),
    )


def _deer_legs(side: int, coat: Coat) -> list[Mesh]:
    """Return fore and hind leg of a side; left and right are half a step apart."""
    y, step = 0.09 * side, 0.10 * side
    fore: list[Point] = [
        (0.26, y, 0.86),
        (0.24 + 0.3 * step, y, 0.66),
        (0.27 + 0.9 * step, y, 0.42),
        (0.25 + 1.2 * step, y, 0.18),
        (0.26 + 1.5 * step, y, 0.045),
    ]
    hind: list[Point] = [
        (-0.46, y, 0.86),
        (-0.40 - 0.3 * step, y, 0.66),
        (-0.56 - 0.9 * step, y, 0.44),
        (-0.52 - 1.2 * step, y, 0.18),
        (-0.51 - 1.3 * step, y, 0.045),
    ]
    return [
        *_leg(fore, [0.11, 0.065, 0.038, 0.025, 0.024], coat, TRIM),
        *_leg(hind, [0.15, 0.095, 0.042, 0.027, 0.025], coat, TRIM),
    ]
