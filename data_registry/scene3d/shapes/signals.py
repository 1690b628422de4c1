"""Traffic signals with the red lamp lit. All heads look to +x: to stop a driver, the placement's x points at them.

A mounted signal's box is its head alone. `mounted_signal_post` and `mounted_portable_signal` build head and support
together from the head's size and the height of its under side above the ground; the standing shapes fill their box
with the whole thing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.geometry import GeometryError
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import (
    DARK_STEEL,
    LIT_RED,
    REFLECTIVE,
    RUBBER,
    STEEL,
    TRIM,
    WHITE,
    fitted,
    paint,
    shifted,
)
from data_registry.scene3d.solids import Colour, Finish, Point, both_sides, box, button, sheet, tube

HOUSING: Final[Colour] = (0.025, 0.027, 0.026)
UNLIT_AMBER: Final = Finish((0.10, 0.055, 0.008), Material.MATTE)
UNLIT_GREEN: Final = Finish((0.008, 0.060, 0.035), Material.MATTE)
TRAILER: Final = paint((0.70, 0.36, 0.02))


def signal_head(length: float, width: float, height: float, colour: Colour = HOUSING) -> Mesh:
    """Return a three-lamp head that looks to +x: backing board with white rim, housing, visors, red lit on top.

    z = 0 is its under side: the placement says how far above the ground that is.
    """
    return fitted(_head(length, width, height, Finish(colour, Material.MATTE)), (length, width, height))


def _head(length: float, width: float, height: float, coat: Finish) -> Mesh:
    """Return a head about as large as its box, its under side at z = 0."""
    back, half = -length / 2, width / 2
    depth = 0.40 * length
    body = min(0.74 * half, 0.19 * height)
    face = back + depth + 0.02 * length
    parts = [
        box((back + 0.30 * depth, -half, 0.0), (back + 0.36 * depth, half, height), TRIM),
        *_rim(back + 0.37 * depth, half, height),
    ]
    lens = min(0.84 * body, 0.135 * height)
    for z, lamp in ((0.80 * height, LIT_RED), (0.50 * height, UNLIT_AMBER), (0.20 * height, UNLIT_GREEN)):
        parts.append(box((back, -body, z - 0.148 * height), (back + depth, body, z + 0.148 * height), coat))
        parts.append(button((back + depth - 0.004, 0.0, z), 1.05 * lens, 0.03 * length, coat, 16))
        parts.append(button((face, 0.0, z), lens, 0.05 * length, lamp, 16))
        parts.append(_visor((face, z), 1.08 * lens, length / 2, coat))
    return joined(parts)


def _rim(x: float, half: float, height: float) -> list[Mesh]:
    """Return the white edge of the backing board."""
    edge = min(0.07 * half * 2, 0.03)
    return [box((x - 0.004, -half, z), (x, half, z + edge), WHITE) for z in (0.0, height - edge)] + [
        box((x - 0.004, y, 0.0), (x, y + edge, height), WHITE) for y in (-half, half - edge)
    ]


def _visor(middle: tuple[float, float], radius: float, front: float, coat: Finish) -> Mesh:
    """Return a lamp's hood, longest above."""
    x, z = middle
    turn = np.linspace(-0.28 * np.pi, 1.28 * np.pi, 15)
    reach = x + (front - x) * np.clip(0.45 + 0.55 * np.sin(turn) + 0.35 * (np.sin(turn) > 0), 0.12, 1.0)
    y, up = radius * np.cos(turn), z + radius * np.sin(turn)
    return sheet(np.stack([np.column_stack([np.full(15, x - 0.01), y, up]), np.column_stack([reach, y, up])]), coat)


def _check(size: tuple[float, float, float], underside_m: float) -> None:
    if min(size) <= 0 or underside_m < 0.5 - 1e-6:  # heights are kept to a micrometre
        raise GeometryError(
            f"a mounted signal needs a head of positive size 0.5 m up or higher, got {size} at {underside_m} m"
        )


def mounted_signal_post(
    length: float, width: float, height: float, underside_m: float, colour: Colour = HOUSING
) -> Mesh:
    """Return a signal head on a post: the head fills its box from z = underside_m, the post stands below and behind it.

    Args:
        length: the head's depth along x, which it looks along, metres.
        width: the head's width, metres.
        height: the head's height, metres.
        underside_m: height of the head's under side above the ground, metres; at least 0.5.
        colour: the housing's.

    Returns:
        The mesh with z = 0 on the ground below the head's centre.

    Raises:
        GeometryError: the head has no size or hangs below 0.5 m.
    """
    _check((length, width, height), underside_m)
    head = shifted(signal_head(length, width, height, colour), (0.0, 0.0, underside_m))
    # The post stands just behind the housing, within the box's depth, so the mask keeps to the head and the post.
    return joined([head, *_post(-0.5 * length + 0.02, (0.25, 0.8), underside_m, underside_m + 0.9 * height)])


def _post(x: float, plate: tuple[float, float], low: float, top: float) -> list[Mesh]:
    """Return a steel post at x with a base flange, a service door, a push button and brackets to the head."""
    _, button_z = plate
    radius = 0.055
    x = x - radius
    parts = [
        tube((x, 0, 0.0), (x, 0, 0.05), (0.16, 0.14), STEEL, 14),
        tube((x, 0, 0.03), (x, 0, 0.55), (0.085, 0.075), STEEL, 14),
        tube((x, 0, 0.5), (x, 0, top), (radius, radius), STEEL, 12),
        tube((x, 0, top), (x, 0, top + 0.03), (radius, 0.02), TRIM, 12),
    ]
    if low > button_z + 0.3:
        parts.append(
            box(
                (x + 0.02, -0.055, button_z),
                (x + 0.11, 0.055, button_z + 0.20),
                Finish((0.65, 0.45, 0.02), Material.MATTE),
            )
        )
        parts.append(button((x + 0.11, 0.0, button_z + 0.10), 0.028, 0.012, TRIM, 10))
    for z in (low + 0.12 * (top - low), low + 0.88 * (top - low)):
        parts.append(box((x - 0.01, -0.03, z - 0.02), (x + radius + 0.06, 0.03, z + 0.02), DARK_STEEL))
    return parts


def mounted_portable_signal(
    length: float, width: float, height: float, underside_m: float, colour: Colour = HOUSING
) -> Mesh:
    """Return a portable signal: the head fills its box from z = underside_m, below it a mast on a two-wheeled trailer.

    Arguments, frame and errors are those of `mounted_signal_post`; the trailer takes about 1.1 x 1.0 m around the mast.
    """
    _check((length, width, height), underside_m)
    head = shifted(signal_head(length, width, height, colour), (0.0, 0.0, underside_m))
    x = -0.5 * length - 0.03
    mast = [
        box((x - 0.04, -0.04, 0.30), (x + 0.04, 0.04, underside_m + 0.9 * height), STEEL),
        box((x - 0.055, -0.055, 0.30), (x + 0.055, 0.055, 0.30 + 0.4 * (underside_m - 0.3)), DARK_STEEL),
    ]
    mast += [
        box(
            (x, -0.03, underside_m + share * height - 0.02),
            (x + 0.09, 0.03, underside_m + share * height + 0.02),
            STEEL,
        )
        for share in (0.2, 0.8)
    ]
    return joined([head, *mast, *_trailer(x, min(underside_m, 0.62))])


def _trailer(x: float, top: float) -> list[Mesh]:
    """Return the battery trailer around a mast at x: box, wheels, drawbar, outriggers, reflectors."""
    low, high = 0.22, max(0.45, top - 0.02)
    left = [
        _small_wheel((x - 0.05, 0.46, 0.17)),
        box((x - 0.15, 0.28, 0.30), (x + 0.05, 0.46, 0.33), TRIM),
        tube((x + 0.36, 0.26, low + 0.04), (x + 0.44, 0.40, 0.02), (0.02, 0.02), STEEL, 6),
        tube((x + 0.44, 0.40, 0.0), (x + 0.44, 0.40, 0.03), (0.05, 0.05), DARK_STEEL, 8),
        tube((x - 0.36, 0.26, low + 0.04), (x - 0.44, 0.40, 0.02), (0.02, 0.02), STEEL, 6),
        tube((x - 0.44, 0.40, 0.0), (x - 0.44, 0.40, 0.03), (0.05, 0.05), DARK_STEEL, 8),
        box((x + 0.385, 0.14, low + 0.1), (x + 0.394, 0.26, low + 0.18), REFLECTIVE),
    ]
    lid = Finish((0.10, 0.11, 0.12), Material.METAL)
    return [
        both_sides(left),
        box((x - 0.38, -0.30, low), (x + 0.39, 0.30, high - 0.03), TRAILER),
        box((x - 0.40, -0.32, high - 0.03), (x + 0.41, 0.32, high), lid),
        box((x - 0.05, -0.46, 0.155), (x - 0.02, 0.46, 0.185), DARK_STEEL),
        box((x - 0.04, -0.2, 0.17), (x - 0.03, 0.2, 0.24), DARK_STEEL),
        box((x + 0.38, -0.12, high - 0.14), (x + 0.396, 0.12, high - 0.08), TRIM),
        tube((x - 0.36, 0.0, low + 0.05), (x - 0.62, 0.0, low + 0.05), (0.025, 0.025), STEEL, 6),
    ]


def _small_wheel(hub: Point) -> Mesh:
    x, y, z = hub
    tyre = tube((x, y - 0.09, z), (x, y, z), (z, z), RUBBER, 14)
    rim = tube((x, y - 0.02, z), (x, y + 0.006, z), (0.55 * z, 0.5 * z), STEEL, 10)
    return joined([tyre, rim])


def signal_post(length: float, width: float, height: float, colour: Colour = HOUSING) -> Mesh:
    """Return a whole signal on a post, which fills its box from the ground to its top; the head is 1 m tall at most."""
    tall = min(1.0, 0.34 * height)
    deep = max(0.3, 0.6 * length)
    whole = mounted_signal_post(deep, max(0.25, 0.9 * width), tall, max(0.5, height - tall), colour)
    return fitted(whole, (length, width, height))


def portable_signal(length: float, width: float, height: float, colour: Colour = HOUSING) -> Mesh:
    """Return a whole portable signal on its trailer, box filled from the ground to its top."""
    tall = min(0.95, 0.38 * height)
    whole = mounted_portable_signal(0.30, 0.36, tall, max(0.5, height - tall), colour)
    return fitted(whole, (length, width, height))
