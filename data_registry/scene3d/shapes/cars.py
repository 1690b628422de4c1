"""Passenger cars and vans: hatchback, saloon, suv, van, and what a car in trouble shows: open bonnet, lone door."""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.car_body import Cabin, CarBody, CarState, car_parts
from data_registry.scene3d.shapes.parts import (
    DARK_STEEL,
    GLASS,
    PLATE,
    RED,
    REFLECTIVE,
    STEEL,
    TAIL_LAMP,
    TRIM,
    fitted,
    paint,
    shaded,
    shifted,
)
from data_registry.scene3d.solids import Colour, Point, both_sides, box, loft, panel, sheet, sweep

HATCHBACK: Final = CarBody(
    knots=(
        (-0.500, 0.84, 0.50, 0.58),
        (-0.482, 0.92, 0.56, 0.62),
        (-0.450, 0.965, 0.60, 0.635),
        (-0.380, 0.99, 0.61, 0.64),
        (-0.200, 1.00, 0.61, 0.63),
        (0.050, 1.00, 0.595, 0.62),
        (0.220, 1.00, 0.575, 0.615),
        (0.330, 0.985, 0.545, 0.59),
        (0.420, 0.96, 0.505, 0.55),
        (0.470, 0.90, 0.46, 0.50),
        (0.492, 0.80, 0.42, 0.455),
        (0.500, 0.70, 0.38, 0.41),
    ),
    waist=0.40,
    sill=0.13,
    axles=(-0.30, 0.31),
    wheel=0.215,
    cabin=Cabin((-0.475, 0.255, 0.92, 0.60), (-0.385, 0.075, 0.73, 0.945), ((0.07, 0.24), (0.27, 0.56), (0.59, 0.91))),
    seams=(-0.175, 0.02, 0.215),
    tail=(0.45, 0.58),
    mouth=(0.36, 0.44),
)

SALOON: Final = CarBody(
    knots=(
        (-0.500, 0.82, 0.50, 0.57),
        (-0.485, 0.91, 0.57, 0.62),
        (-0.440, 0.96, 0.605, 0.655),
        (-0.330, 0.99, 0.615, 0.665),
        (-0.200, 1.00, 0.615, 0.655),
        (0.050, 1.00, 0.60, 0.635),
        (0.190, 1.00, 0.58, 0.63),
        (0.330, 0.985, 0.55, 0.595),
        (0.430, 0.95, 0.505, 0.55),
        (0.475, 0.89, 0.46, 0.50),
        (0.494, 0.79, 0.42, 0.455),
        (0.500, 0.70, 0.38, 0.41),
    ),
    waist=0.40,
    sill=0.12,
    axles=(-0.29, 0.30),
    wheel=0.22,
    cabin=Cabin((-0.385, 0.225, 0.92, 0.615), (-0.245, 0.045, 0.73, 0.94), ((0.13, 0.51), (0.54, 0.90)), (0.14, 0.92)),
    seams=(-0.18, -0.005, 0.185),
    tail=(0.46, 0.585),
    mouth=(0.37, 0.45),
)

SUV: Final = CarBody(
    knots=(
        (-0.500, 0.86, 0.50, 0.58),
        (-0.485, 0.93, 0.55, 0.61),
        (-0.450, 0.97, 0.58, 0.62),
        (-0.380, 0.99, 0.59, 0.62),
        (-0.200, 1.00, 0.59, 0.615),
        (0.050, 1.00, 0.585, 0.61),
        (0.230, 1.00, 0.575, 0.61),
        (0.360, 0.99, 0.555, 0.60),
        (0.440, 0.965, 0.525, 0.57),
        (0.478, 0.91, 0.49, 0.53),
        (0.495, 0.82, 0.45, 0.48),
        (0.500, 0.74, 0.41, 0.44),
    ),
    waist=0.41,
    sill=0.165,
    axles=(-0.30, 0.31),
    wheel=0.215,
    cabin=Cabin((-0.482, 0.27, 0.93, 0.58), (-0.43, 0.105, 0.78, 0.945), ((0.07, 0.26), (0.29, 0.57), (0.60, 0.91))),
    seams=(-0.18, 0.02, 0.225),
    tail=(0.46, 0.59),
    mouth=(0.38, 0.46),
)

VAN: Final = CarBody(
    knots=(
        (-0.500, 0.95, 0.46, 0.52),
        (-0.492, 0.985, 0.47, 0.52),
        (-0.400, 1.00, 0.48, 0.52),
        (0.050, 1.00, 0.48, 0.52),
        (0.330, 1.00, 0.47, 0.52),
        (0.400, 0.985, 0.45, 0.50),
        (0.455, 0.95, 0.42, 0.465),
        (0.485, 0.88, 0.38, 0.42),
        (0.500, 0.74, 0.34, 0.37),
    ),
    waist=0.33,
    sill=0.11,
    axles=(-0.31, 0.31),
    wheel=0.165,
    cabin=Cabin((-0.489, 0.385, 0.965, 0.47), (-0.485, 0.225, 0.84, 0.945), ((0.745, 0.925),), (0.20, 0.70)),
    seams=(-0.16, 0.13, 0.325),
    tail=(0.30, 0.45),
    mouth=(0.30, 0.37),
)


def car(length: float, width: float, height: float, colour: Colour = (0.32, 0.05, 0.045)) -> Mesh:
    """Return a hatchback: body with wheel arches, cabin with windows, lamps, mirrors, plates."""
    return _built(HATCHBACK, (length, width, height), CarState(colour))


def saloon(length: float, width: float, height: float, colour: Colour = (0.06, 0.09, 0.15)) -> Mesh:
    """Return a saloon: a boot behind the cabin."""
    return _built(SALOON, (length, width, height), CarState(colour))


def suv(length: float, width: float, height: float, colour: Colour = (0.30, 0.31, 0.32)) -> Mesh:
    """Return a tall estate with roof rails."""
    rail = [
        (x * length, 0.56 * width / 2 * 1.0, z * height)
        for x, z in ((-0.36, 0.975), (-0.34, 1.0), (0.05, 1.0), (0.07, 0.97))
    ]
    rails = both_sides([sweep(rail, [0.018] * 4, DARK_STEEL, 6)])
    return fitted(joined([*car_parts(SUV, (length, width, height), CarState(colour)), rails]), (length, width, height))


def van(length: float, width: float, height: float, colour: Colour = (0.66, 0.66, 0.64)) -> Mesh:
    """Return a panel van: blank sides behind the cab, two rear doors with windows."""
    half, back = 0.95 * width / 2, -0.5 * length
    middle = box((back - 0.02, -0.014, 0.32 * height), (back + 0.10, 0.014, 0.93 * height), TRIM)
    left = [
        box((back - 0.016, 0.03, 0.43 * height), (back + 0.03, 0.10, 0.46 * height), TRIM),
        box((-0.47 * length, 0.97 * half, 0.395 * height), (0.11 * length, 1.012 * half, 0.405 * height), TRIM),
    ]
    parts = [*car_parts(VAN, (length, width, height), CarState(colour)), middle, both_sides(left)]
    return fitted(joined(parts), (length, width, height))


def _built(body: CarBody, size: tuple[float, float, float], state: CarState) -> Mesh:
    return fitted(joined(car_parts(body, size, state)), size)


TRIANGLE_M: Final = 0.45
"""Side of a warning triangle (ECE R27: about 0.5 m)."""


def broken_down_car(length: float, width: float, height: float, colour: Colour = (0.08, 0.17, 0.30)) -> Mesh:
    """Return a broken-down hatchback: bonnet open, hazard lights lit, a warning triangle behind it, all in the box.

    The triangle stands at the box's rear end; the car keeps about 0.83 of the length, never over 4.4 m.
    """
    car_length = min(0.83 * length, 4.4)
    lifted = 0.93 * height
    size = (car_length, width, lifted)
    shift = length / 2 - car_length / 2
    parts = [*car_parts(HATCHBACK, size, CarState(colour, hazards=True)), *_open_bonnet(size, height, colour)]
    whole = joined(parts)
    moved = shifted(whole, (shift, 0.0, 0.0))
    return fitted(joined([moved, warning_triangle((-length / 2 + 0.08, 0.0, 0.0))]), (length, width, height))


def _open_bonnet(size: tuple[float, float, float], top: float, colour: Colour) -> list[Mesh]:
    """Return the engine bay, the bonnet that stands open above it, and its stay."""
    length, half, height = size[0], 0.95 * size[1] / 2, size[2]
    hinge, nose = 0.245 * length, 0.47 * length
    bay = [(x, y, z * height + 0.012) for x, z in ((hinge, 0.60), (nose, 0.495)) for y in (0.74 * half, -0.74 * half)]
    reach, foot = nose - hinge, 0.615 * height
    tip = (hinge + 0.30 * reach, top)
    rows = [
        [(x, y, z) for y in (0.80 * half, 0.4 * half, 0.0, -0.4 * half, -0.80 * half)]
        for x, z in ((hinge, foot), (hinge + 0.08 * reach, 0.5 * (foot + tip[1])), tip)
    ]
    lid = np.asarray(rows, dtype=np.float64)
    engine = 0.54 * height
    return [
        panel([bay[0], bay[1], bay[3], bay[2]], TRIM),
        box((hinge + 0.12, -0.36 * half, engine), (nose - 0.28, 0.30 * half, engine + 0.10), DARK_STEEL),
        box((hinge + 0.15, 0.40 * half, engine), (hinge + 0.42, 0.64 * half, engine + 0.13), STEEL),
        sheet(lid, paint(colour)),
        sheet(_ahead(lid, 0.014), paint(shaded(colour, 0.45))),
        sweep([(nose - 0.2, 0.6 * half, engine), (tip[0] + 0.01, 0.62 * half, top - 0.12)], [0.012, 0.012], STEEL, 5),
    ]


def _ahead(points: Array, by: float) -> Array:
    """Return points (..., 3) moved along x, metres."""
    return np.asarray(points + np.array([by, 0.0, 0.0]), dtype=np.float64)


def warning_triangle(foot: Point) -> Mesh:
    """Return a warning triangle that looks along x, both ways, its foot's middle at a point."""
    x, y, z = foot
    rise = TRIANGLE_M * 3**0.5 / 2
    outer = [(x, y - TRIANGLE_M / 2, z + 0.05), (x, y + TRIANGLE_M / 2, z + 0.05), (x, y, z + 0.05 + rise)]
    centre = np.mean(outer, axis=0)
    ring = [
        np.array([centre + share * (np.array(corner) - centre) for corner in [*outer, outer[0]]])
        for share in (1.0, 0.74, 0.46)
    ]
    feet = [
        box((x - 0.10, y + side * 0.14 - 0.012, z), (x + 0.10, y + side * 0.14 + 0.012, z + 0.02), STEEL)
        for side in (1, -1)
    ]
    posts = [
        box((x - 0.012, y + side * 0.14 - 0.01, z), (x + 0.004, y + side * 0.14 + 0.01, z + 0.07), STEEL)
        for side in (1, -1)
    ]
    red, inner = sheet(np.stack(ring[:2]), TAIL_LAMP), sheet(_ahead(np.stack(ring[1:]), 0.002), RED)
    back = sheet(_ahead(np.stack([ring[0], ring[2]]), 0.008), REFLECTIVE)
    return joined([red, inner, back, *feet, *posts]).made_of(RED.material)


def car_door(length: float, width: float, height: float, colour: Colour = (0.32, 0.05, 0.045)) -> Mesh:
    """Return one open door: panel along x with its hinge at -x, its outer side at +y; window, handle, mirror.

    The box is thin across y. z = 0 is the door's lower edge: the placement says how far above the ground that is.
    """
    y = width / 2
    coat, inside = paint(colour), paint(shaded(colour, 0.5))
    sill = 0.56 * height
    lower = [(-0.5 * length, 0.03 * height), (-0.44 * length, 0.0), (0.42 * length, 0.0), (0.5 * length, 0.10 * height)]
    lower += [(0.5 * length, sill), (-0.5 * length, sill)]
    frame = [(-0.46 * length, sill), (0.5 * length, sill), (0.44 * length, height), (-0.06 * length, height)]
    middle = np.mean(frame, axis=0)
    inner = [tuple(middle + 0.86 * (np.array(point) - middle)) for point in frame]
    skin = 0.35 * y
    panels = [
        loft([np.array([(x, side, z) for x, z in lower]) for side in (skin - 0.4 * y, skin)], coat),
        loft([np.array([(x, side, z) for x, z in lower]) for side in (skin - 0.85 * y, skin - 0.4 * y)], inside),
    ]
    borders = zip([*frame], [*frame[1:], frame[0]], [*inner[1:], inner[0]], [*inner], strict=True)
    bars = [
        loft([np.array([(x, side, z) for x, z in corners]) for side in (skin - 0.5 * y, skin)], coat)
        for corners in borders
    ]
    glass = [panel([(x, skin - 0.25 * y, z) for x, z in inner], GLASS)]
    return fitted(joined([*panels, *bars, *glass, *_door_fittings(length, y, height, skin)]), (length, width, height))


def _door_fittings(length: float, y: float, height: float, skin: float) -> list[Mesh]:
    """Return handle, mirror, crease, arm rest and reflector."""
    sill = 0.56 * height
    return [
        box((0.28 * length, skin - 0.01, 0.84 * sill), (0.43 * length, 0.7 * y, 0.90 * sill), STEEL),
        box((-0.40 * length, skin - 0.01, 1.02 * sill), (-0.26 * length, y, 1.20 * sill), TRIM),
        box((-0.48 * length, skin - 0.01, 0.46 * sill), (0.48 * length, skin + 0.1 * y, 0.50 * sill), TRIM),
        box((-0.25 * length, -y, 0.62 * sill), (0.30 * length, skin - 0.6 * y, 0.74 * sill), TRIM),
        box((0.40 * length, -0.62 * y, 0.1 * sill), (0.46 * length, skin - 0.6 * y, 0.2 * sill), TAIL_LAMP),
        box(
            (-0.40 * length, -0.7 * y, 0.12 * sill),
            (0.25 * length, skin - 0.6 * y, 0.40 * sill),
            PLATE._replace(colour=(0.05, 0.05, 0.05)),
        ),
    ]
