"""The builder of people: rounded limbs between joints, a torso, a head with a face, hands and shoes.

Joints are in a frame of the figure's own: metres for a person of height 1, x to the front, y left, z up. Builders
scale the result. Clothes are a `Look`, joints a `Pose`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes.parts import HAIR, SKIN, TRIM
from data_registry.scene3d.solids import Coat, Point, ellipsoid, loft, panel, sweep

TORSO: Final = (
    # share from pelvis to neck, depth, half width
    (-0.14, 0.044, 0.070),
    (-0.06, 0.064, 0.090),
    (0.05, 0.066, 0.092),
    (0.22, 0.061, 0.086),
    (0.42, 0.062, 0.090),
    (0.62, 0.067, 0.101),
    (0.78, 0.065, 0.108),
    (0.90, 0.054, 0.104),
    (0.97, 0.042, 0.078),
    (1.02, 0.030, 0.036),
)
"""Rings of a dressed trunk; proportions after the eight-heads figure of drawing manuals."""

HEAD: Final = (
    # height above the chin, front, back, half width, in head heights of 0.135
    (0.00, 0.30, -0.05, 0.14),
    (0.08, 0.40, -0.16, 0.24),
    (0.22, 0.43, -0.27, 0.30),
    (0.42, 0.44, -0.36, 0.34),
    (0.60, 0.44, -0.42, 0.355),
    (0.78, 0.40, -0.42, 0.345),
    (0.92, 0.24, -0.32, 0.25),
    (1.00, 0.04, -0.14, 0.09),
)


@dataclass(frozen=True, slots=True)
class Limbs:
    """Joints of one side: knee, ankle and the sole's direction in the xz-plane (rise of the toes), elbow, wrist."""

    knee: Point
    ankle: Point
    elbow: Point
    wrist: Point
    toes_up: float = 0.0


@dataclass(frozen=True, slots=True)
class Pose:
    """Joints of a figure; shoulders and hips follow from pelvis and neck."""

    left: Limbs
    right: Limbs
    pelvis: Point = (0.0, 0.0, 0.52)
    neck: Point = (0.005, 0.0, 0.845)
    head_share: float = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """What a figure wears."""

    jacket: Coat
    trousers: Coat
    shoes: Coat = TRIM
    sleeves: Coat | None = None
    forearms: Coat | None = None
    calves: Coat | None = None
    skin: Coat = SKIN
    hair: Coat = HAIR
    hands: Coat = SKIN
    long_hair: bool = False
    bands: tuple[tuple[float, float, Coat], ...] = field(default=())


def figure(pose: Pose, look: Look) -> list[Mesh]:
    """Return the whole person for a height of 1."""
    hem = -0.08
    parts = [
        _torso(pose, look.jacket, _between(hem, 1.02), 1.0),
        _torso(pose, look.trousers, _between(-0.14, 0.06), 0.97),
    ]
    for low, high, coat in look.bands:
        parts.append(_torso(pose, coat, _between(low, high), 1.035))
    parts += head(pose, look)
    for side, limbs in ((1.0, pose.left), (-1.0, pose.right)):
        parts += _leg(pose, limbs, side, look)
        parts += _arm(pose, limbs, side, look)
    return parts


def _axes(pose: Pose) -> tuple[Array, Array, Array]:
    """Return pelvis, the way from pelvis to neck, and the unit vector to the chest's front."""
    pelvis = np.array(pose.pelvis)
    spine = np.array(pose.neck) - pelvis
    front = np.array([spine[2], 0.0, -spine[0]])
    return pelvis, spine, front / np.linalg.norm(front)


def _between(low: float, high: float) -> tuple[tuple[float, float, float], ...]:
    """Return the trunk's rings between two shares, interpolated."""
    table = np.array(TORSO)
    shares = [low, *[share for share, _, _ in TORSO if low < share < high], high]
    return tuple(
        (s, float(np.interp(s, table[:, 0], table[:, 1])), float(np.interp(s, table[:, 0], table[:, 2])))
        for s in shares
    )


def _torso(pose: Pose, coat: Coat, rings: tuple[tuple[float, float, float], ...], grown: float) -> Mesh:
    pelvis, spine, front = _axes(pose)
    turn = np.arange(14) * (2 * np.pi / 14)
    # Between an ellipse and a box: chests are flatter than ellipses.
    deep, wide = (np.sign(v) * np.abs(v) ** 0.8 for v in (np.cos(turn), np.sin(turn)))
    across = np.array([0.0, 1.0, 0.0])
    bend = 0.5 * (spine[0] / max(float(np.linalg.norm(spine)), 1e-6)) * 0.12
    return loft(
        [
            pelvis
            + share * spine
            - 4.0 * bend * share * (1.0 - share) * front * (0.0 < share < 1.0)
            + grown * (depth * deep[:, None] * front + half * wide[:, None] * across)
            for share, depth, half in rings
        ],
        coat,
    )


def head_frame(pose: Pose) -> tuple[Array, float]:
    """Return the chin's place under the skull's middle, and the head's height, for a person of height 1."""
    _, spine, front = _axes(pose)
    up = spine / np.linalg.norm(spine)
    lean = 0.5 * up + np.array([0.0, 0.0, 0.5])
    return np.array(pose.neck) + 0.022 * lean + 0.008 * front, 0.135 * pose.head_share


def head(pose: Pose, look: Look) -> list[Mesh]:
    """Return neck, skull, hair, ears, nose, eyes and brows; heads stay upright whatever the trunk does."""
    chin, size = head_frame(pose)
    turn = np.arange(12) * (2 * np.pi / 12)
    cos, sin = np.cos(turn), np.sin(turn)

    def ring(level: float, front: float, back: float, half: float) -> Array:
        reach = np.where(cos > 0, front, -back) * cos
        return chin + size * np.column_stack([reach, half * sin, np.full(12, level)])

    skull = loft([ring(*row) for row in HEAD], look.skin)
    neck = sweep(
        [tuple(np.array(pose.neck) - (0.004, 0, 0.03)), tuple(chin + size * np.array([-0.05, 0, 0.25]))],
        [0.034, 0.030],
        look.skin,
        10,
    )
    fringe = [(0.30, -0.10, -0.44, 0.33), (0.50, 0.02, -0.47, 0.385), (0.70, 0.20, -0.475, 0.40)]
    fringe += [(0.80, 0.43, -0.46, 0.395), (0.94, 0.34, -0.38, 0.31), (1.05, 0.06, -0.18, 0.12)]
    if look.long_hair:
        fringe = [(-0.35, -0.12, -0.40, 0.30), (-0.05, -0.10, -0.46, 0.36), *fringe]
    parts = [skull, neck, loft([ring(*row) for row in fringe], look.hair)]
    return parts + _face(chin, size, look)


def _face(chin: Array, size: float, look: Look) -> list[Mesh]:
    def at(x: float, y: float, z: float) -> Point:
        a, b, c = (chin + size * np.array([x, y, z])).tolist()
        return a, b, c

    dark: Coat = (0.03, 0.02, 0.018)
    lips: Coat = (0.30, 0.11, 0.09)
    parts = [
        loft(
            [
                np.array([at(0.42, 0.05, z), at(0.42, -0.05, z), at(tip, 0.0, z)])
                for z, tip in ((0.30, 0.52), (0.52, 0.45))
            ],
            look.skin,
        )
    ]
    parts.append(
        panel([at(0.435, 0.10, 0.19), at(0.435, -0.10, 0.19), at(0.445, -0.08, 0.225), at(0.445, 0.08, 0.225)], lips)
    )
    for side in (1.0, -1.0):
        eye = [(0.425, 0.20, 0.51), (0.445, 0.09, 0.51), (0.445, 0.09, 0.56), (0.425, 0.20, 0.56)]
        brow = [(0.415, 0.22, 0.61), (0.45, 0.07, 0.62), (0.45, 0.07, 0.65), (0.415, 0.22, 0.645)]
        parts += [
            panel([at(x, side * y, z) for x, y, z in eye], dark),
            panel([at(x, side * y, z) for x, y, z in brow], look.hair),
        ]
        parts.append(ellipsoid(at(-0.04, side * 0.36, 0.42), (0.07 * size, 0.05 * size, 0.13 * size), look.skin, 6))
    return parts


def _mixed(one: Array, other: Array, share: float) -> Point:
    a, b, c = (one + share * (other - one)).tolist()
    return a, b, c


def _leg(pose: Pose, limbs: Limbs, side: float, look: Look) -> list[Mesh]:
    """Return thigh, calf and shoe; the knee stays round."""
    x, y, z = pose.pelvis
    hip = np.array([x, y + side * 0.048, z - 0.015])
    knee, ankle = np.array(limbs.knee), np.array(limbs.ankle)
    path = [_mixed(hip, knee, s) for s in (0.0, 0.3, 0.65, 0.93)]
    calf = [_mixed(knee, ankle, s) for s in (0.07, 0.35, 0.7, 1.0)]
    radii = [0.052, 0.054, 0.044, 0.037, 0.036, 0.037, 0.030, 0.027]
    if look.calves is None:
        legs = [sweep([*path, *calf], radii, look.trousers, 10)]
    else:
        legs = [
            sweep([*path, calf[0]], [0.054, 0.058, 0.052, 0.046, 0.044], look.trousers, 10),
            sweep([path[-1], *calf], [0.030, 0.031, 0.033, 0.024, 0.019], look.calves, 10),
        ]
    return [*legs, _shoe(ankle, limbs.toes_up, look.shoes)]


def _shoe(ankle: Array, toes_up: float, coat: Coat) -> Mesh:
    """Return a shoe whose sole is 0.042 below the ankle, turned up at the toes by `toes_up` radians."""
    rows = (
        (-0.040, 0.020, 0.050),
        (-0.025, 0.027, 0.060),
        (0.020, 0.026, 0.058),
        (0.060, 0.030, 0.036),
        (0.095, 0.028, 0.026),
        (0.115, 0.014, 0.018),
    )
    cos, sin = np.cos(toes_up), np.sin(toes_up)
    rings: list[Array] = []
    for x, half, tall in rows:
        ring = [(x, half, 0.0), (x, 0.95 * half, 0.6 * tall), (x, 0.55 * half, tall)]
        whole = np.array([*ring, *((a, -b, c) for a, b, c in ring[::-1])]) - (0.0, 0.0, 0.042)
        turned = np.column_stack(
            [cos * whole[:, 0] - sin * whole[:, 2], whole[:, 1], sin * whole[:, 0] + cos * whole[:, 2]]
        )
        rings.append(ankle + turned)
    return loft(rings, coat)


def standing(limbs: Limbs) -> Limbs:
    """Return the limbs with the ankle at the height at which the shoe just touches the ground."""
    lowest = float(_shoe(np.array(limbs.ankle), limbs.toes_up, (0.0, 0.0, 0.0)).vertices[:, 2].min())
    x, y, z = limbs.ankle
    return replace(limbs, ankle=(x, y, z - lowest))


def _arm(pose: Pose, limbs: Limbs, side: float, look: Look) -> list[Mesh]:
    """Return sleeve, forearm, hand with thumb; the shoulder is a round cap."""
    pelvis, spine, _ = _axes(pose)
    shoulder = pelvis + 0.90 * spine + (0.0, side * 0.098, 0.0)
    elbow, wrist = np.array(limbs.elbow), np.array(limbs.wrist)
    sleeves = look.sleeves or look.jacket
    upper = [_mixed(shoulder, elbow, s) for s in (-0.08, 0.08, 0.4, 0.75, 0.95)]
    lower = [_mixed(elbow, wrist, s) for s in (0.05, 0.35, 0.75, 1.0)]
    thick, thin = [0.024, 0.037, 0.034, 0.030, 0.029], [0.028, 0.028, 0.024, 0.021]
    if look.forearms is None:
        parts = [sweep([*upper, *lower], thick + thin, sleeves, 8)]
    else:
        parts = [
            sweep(upper[:4], [0.026, 0.040, 0.040, 0.038], sleeves, 10),
            sweep([upper[2], upper[4], *lower], [0.027, 0.025, 0.025, 0.025, 0.020, 0.016], look.forearms, 10),
        ]
    along = (wrist - elbow) / max(float(np.linalg.norm(wrist - elbow)), 1e-6)
    palm = [_mixed(wrist, wrist + along, s) for s in (-0.01, 0.02, 0.05, 0.075, 0.09)]
    thumb = [_mixed(wrist, wrist + along + (0.5, 0, 0), s) for s in (0.01, 0.04, 0.055)]
    parts.append(sweep(palm, [0.015, 0.021, 0.022, 0.015, 0.005], look.hands, 6))
    parts.append(sweep([(x + 0.012, y, z) for x, y, z in thumb], [0.008, 0.008, 0.004], look.hands, 5))
    return parts


def scaled(parts: list[Mesh], height: float) -> Mesh:
    """Return the joined figure for a height in metres."""
    return joined(parts).scaled(height)
