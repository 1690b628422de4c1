"""People: walking adult, running child, road worker, traffic controller. All look along +x."""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.figures import Limbs, Look, Pose, figure, head_frame, standing
from data_registry.scene3d.shapes.parts import DARK_STEEL, RED, REFLECTIVE, WHITE, cloth, fitted, shaded
from data_registry.scene3d.solids import Coat, Colour, Finish, Point, button, loft, sweep

HI_VIS: Final[Colour] = (0.62, 0.80, 0.04)
"""Fluorescent yellow of EN ISO 20471, as linear RGB that the picture can show."""

BELTS: Final = ((0.20, 0.29, REFLECTIVE), (0.46, 0.55, REFLECTIVE))


def _span(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def pedestrian(length: float, width: float, height: float, colour: Colour = (0.05, 0.12, 0.30)) -> Mesh:
    """Return an adult in mid-stride towards +x; `length` is the stride's extent, `colour` the jacket's.

    Heel and toes are both on the ground, as in the middle of a step: a foot in the air would look farther away.
    """
    stride = _span(0.5 * length / height - 0.075, 0.05, 0.24)
    swing = 0.75 * stride
    out = _span(0.5 * width / height - 0.025, 0.125, 0.17)
    lift = 0.42 * stride
    left = Limbs(
        knee=(0.55 * stride + 0.045, 0.055, 0.285),
        ankle=(stride - 0.02, 0.055, 0.052),
        elbow=(-0.30 * swing - 0.03, out - 0.008, 0.655),
        wrist=(-0.75 * swing + 0.02, out, 0.535),
        toes_up=0.25,
    )
    right = Limbs(
        knee=(-0.30 * stride + 0.03, -0.050, 0.285),
        ankle=(-stride - 0.005, -0.052, 0.062 + 0.3 * lift),
        elbow=(0.20 * swing, -out + 0.008, 0.655),
        wrist=(0.75 * swing + 0.06, -out + 0.012, 0.565),
        toes_up=-0.55,
    )
    look = Look(
        cloth(colour),
        cloth((0.050, 0.055, 0.070)),
        shoes=cloth((0.10, 0.06, 0.04)),
        bands=((0.93, 1.01, cloth((0.50, 0.47, 0.42))), (-0.08, -0.04, cloth(shaded(colour, 0.5)))),
    )
    whole = joined([*figure(Pose(standing(left), standing(right)), look), _backpack(cloth((0.13, 0.10, 0.07)))])
    return fitted(whole, (length, width, height))


def _backpack(coat: Coat) -> Mesh:
    """Return a small rucksack with straps for a figure of height 1 that stands upright."""
    rows = (
        (0.60, 0.030, 0.060),
        (0.62, 0.048, 0.072),
        (0.70, 0.055, 0.075),
        (0.78, 0.045, 0.070),
        (0.81, 0.020, 0.050),
    )
    turn = np.arange(10) * (2 * np.pi / 10)
    bag = loft(
        [
            np.column_stack([-0.062 - 0.028 + deep * np.cos(turn), half * np.sin(turn), np.full(10, z)])
            for z, deep, half in rows
        ],
        coat,
    )
    straps = [
        sweep(
            [
                (-0.06, y, 0.80),
                (0.0, y * 1.05, 0.842),
                (0.052, y, 0.80),
                (0.068, y * 1.15, 0.72),
                (0.0, y * 1.55, 0.66),
            ],
            [0.008] * 5,
            coat,
            5,
        )
        for y in (0.06, -0.06)
    ]
    return joined([bag, *straps])


def child(length: float, width: float, height: float, colour: Colour = (0.55, 0.07, 0.05)) -> Mesh:
    """Return a running child of about six: big head, bare forearms and calves; `colour` is the shirt's."""
    stride = _span(0.5 * length / height - 0.10, 0.08, 0.26)
    out = _span(0.5 * width / height - 0.03, 0.13, 0.19)
    left = Limbs(
        knee=(0.60 * stride + 0.10, 0.055, 0.36),
        ankle=(0.85 * stride, 0.055, 0.13),
        elbow=(-0.13, out - 0.02, 0.62),
        wrist=(-0.07, out, 0.52),
        toes_up=0.25,
    )
    right = Limbs(
        knee=(-0.25 * stride, -0.05, 0.265),
        ankle=(-stride, -0.05, 0.075),
        elbow=(0.07, -out + 0.01, 0.63),
        wrist=(0.17, -out + 0.035, 0.70),
        toes_up=-0.6,
    )
    look = Look(
        cloth(colour),
        cloth((0.06, 0.10, 0.22)),
        shoes=cloth((0.62, 0.62, 0.60)),
        forearms=Finish((0.50, 0.30, 0.22), Material.SKIN),
        calves=Finish((0.50, 0.30, 0.22), Material.SKIN),
        skin=Finish((0.52, 0.32, 0.24), Material.SKIN),
        hair=cloth((0.10, 0.055, 0.025)),
        bands=((0.42, 0.52, WHITE),),
    )
    pose = Pose(left, right, pelvis=(-0.02, 0.0, 0.475), neck=(0.03, 0.0, 0.775), head_share=1.45)
    return fitted(joined(figure(pose, look)), (length, width, height))


def construction_worker(length: float, width: float, height: float, colour: Colour = (0.70, 0.20, 0.02)) -> Mesh:
    """Return a road worker with helmet, hi-vis vest and shovel; `colour` is the vest's, orange unless said."""
    left = Limbs((0.04, 0.075, 0.285), (0.02, 0.085, 0.042), (0.05, 0.16, 0.66), (0.16, 0.10, 0.60))
    right = Limbs((0.0, -0.075, 0.285), (-0.05, -0.085, 0.042), (0.02, -0.17, 0.67), (0.15, -0.12, 0.74))
    look = Look(
        cloth(colour),
        cloth((0.07, 0.08, 0.12)),
        sleeves=cloth((0.06, 0.07, 0.12)),
        bands=BELTS,
        hands=cloth((0.35, 0.24, 0.08)),
    )
    pose = Pose(left, right)
    shovel = [
        sweep([(0.19, 0.11, 0.05), (0.18, -0.13, 0.86)], [0.010, 0.010], cloth((0.35, 0.22, 0.10)), 6),
        loft(_blade(), DARK_STEEL),
    ]
    parts = [*figure(pose, look), *_helmet(pose, Finish((0.75, 0.50, 0.02), Material.PAINTWORK)), *_braces(), *shovel]
    return fitted(joined(parts), (length, width, height))


def _blade() -> list[Array]:
    rows = ((0.0, 0.020), (0.05, 0.062), (0.14, 0.066), (0.16, 0.02))
    return [
        np.array(
            [
                (0.185, 0.115 - half, z),
                (0.205, 0.115 - half, z),
                (0.215, 0.115, z),
                (0.205, 0.115 + half, z),
                (0.185, 0.115 + half, z),
            ]
        )
        for z, half in rows
    ]


def _helmet(pose: Pose, coat: Coat) -> list[Mesh]:
    """Return a safety helmet: dome, brim and ridge."""
    chin, size = head_frame(pose)
    turn = np.arange(14) * (2 * np.pi / 14)
    rows = (
        (0.72, 0.58, 0.45),
        (0.75, 0.60, 0.46),
        (0.77, 0.50, 0.44),
        (0.95, 0.44, 0.40),
        (1.08, 0.28, 0.26),
        (1.14, 0.08, 0.08),
    )
    rings = [
        chin
        + size
        * np.column_stack([np.where(np.cos(turn) > 0, reach, half) * np.cos(turn), half * np.sin(turn), np.full(14, z)])
        for z, reach, half in rows
    ]
    return [loft(rings, coat)]


def _braces() -> list[Mesh]:
    """Return the two reflecting strips over the shoulders of a vest, for an upright figure of height 1."""
    return [
        sweep(
            [
                (0.066, y, 0.67),
                (0.071, y, 0.76),
                (0.055, y, 0.82),
                (0.0, y * 0.95, 0.846),
                (-0.055, y, 0.82),
                (-0.066, y, 0.67),
            ],
            [0.010] * 6,
            REFLECTIVE,
            5,
        )
        for y in (0.062, -0.062)
    ]


def traffic_controller(length: float, width: float, height: float, colour: Colour = HI_VIS) -> Mesh:
    """Return a person in a hi-vis vest who faces +x, right arm raised with a stop paddle, left palm held out to +x.

    The box's height includes the paddle: the person is about 0.86 of it. To stop a driver, the placement's x must point
    at that driver.
    """
    left = Limbs((0.015, 0.07, 0.285), (0.0, 0.08, 0.042), (0.06, 0.15, 0.69), (0.17, 0.16, 0.755))
    right = Limbs((0.01, -0.07, 0.285), (-0.02, -0.08, 0.042), (0.03, -0.20, 0.80), (0.06, -0.205, 0.945))
    look = Look(cloth(colour), cloth((0.035, 0.045, 0.085)), sleeves=cloth((0.045, 0.06, 0.12)), bands=BELTS)
    pose = Pose(left, right)
    cap = _helmet(pose, cloth((0.05, 0.06, 0.10)))
    parts = [*figure(pose, look), *cap, *_braces(), *_paddle((0.075, -0.205, 1.09))]
    return fitted(joined(parts), (length, width, height))


def _paddle(centre: Point) -> list[Mesh]:
    """Return a stop paddle seen from both sides: white rim, red disc, white bar, lamps."""
    x, y, z = centre
    parts = [sweep([(x - 0.005, y, z - 0.20), (x - 0.005, y, z)], [0.009, 0.009], DARK_STEEL, 6)]
    for side in (1.0, -1.0):
        parts.append(button((x, y, z), 0.080, side * 0.006, WHITE, 16))
        parts.append(button((x, y, z), 0.067, side * 0.009, RED, 16))
        bar = sorted((x, x + side * 0.011))
        parts.append(
            loft(
                [
                    np.array(
                        [
                            (bar[i], y - 0.05, z - 0.014),
                            (bar[i], y + 0.05, z - 0.014),
                            (bar[i], y + 0.05, z + 0.014),
                            (bar[i], y - 0.05, z + 0.014),
                        ]
                    )
                    for i in (0, 1)
                ],
                WHITE,
            )
        )
    return parts
