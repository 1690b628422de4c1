"""Trees, hedges, bushes and grass tufts; origin on the ground below the middle.

Crowns are clumps of leaves about boughs, not one ball: dark lumps inside, and over them small leaves of many greens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.raw_noise import raw_bytes
from data_registry.scene3d.solids import Colour, ellipsoid, tube
from data_registry.sources.streetset.alignment import Alignment, Reach
from data_registry.sources.streetset.panes import panes


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of tree, all lengths as shares of its height.

    Attributes:
        stem: where the crown begins.
        reach: radius of the crown at its widest.
        widest: height at which the crown is widest, 0 bottom to 1 top of the crown.
        lumps: number of clumps.
        leaf: size of a leaf tuft.
        green: of the leaves.
        bark: of the trunk.
    """

    stem: float
    reach: float
    widest: float
    lumps: int
    leaf: float
    green: Colour
    bark: Colour


KINDS: Final[dict[str, Kind]] = {
    "linden": Kind(0.30, 0.26, 0.40, 13, 0.024, (0.060, 0.110, 0.026), (0.105, 0.085, 0.065)),
    "plane": Kind(0.28, 0.38, 0.50, 17, 0.025, (0.075, 0.120, 0.032), (0.210, 0.195, 0.150)),
    "birch": Kind(0.26, 0.20, 0.35, 12, 0.020, (0.095, 0.140, 0.036), (0.480, 0.470, 0.440)),
    "poplar": Kind(0.14, 0.13, 0.40, 13, 0.020, (0.055, 0.100, 0.030), (0.130, 0.115, 0.090)),
    "pine": Kind(0.16, 0.22, 0.06, 15, 0.021, (0.026, 0.060, 0.028), (0.130, 0.085, 0.060)),
}
"""Kinds of trees by name."""

LEAVES: Final = 1100


@lru_cache(maxsize=64)
def tree(kind: str = "linden", height: float = 7.0, seed: int = 0, detail: float = 1.0) -> Mesh:
    """Return a tree of that height, metres; equal arguments give an equal tree.

    detail: share of its leaves, which are larger then; 0.2 looks the same from 60 m on and costs a fifth.
    """
    plan = KINDS[kind]
    centres, radii = _lumps(plan, height, seed)
    top = (0.04 * height, 0.0, (plan.stem + 0.35 * (1 - plan.stem)) * height)
    thick = 0.022 * height
    wood = [
        tube((0, 0, -0.3), (0.01 * height, 0, plan.stem * height), (thick, 0.75 * thick), plan.bark),
        tube((0.01 * height, 0, plan.stem * height), top, (0.75 * thick, 0.4 * thick), plan.bark),
    ]
    start = (0.01 * height, 0.0, 0.85 * plan.stem * height)
    for x, y, z in centres[:: max(1, len(centres) // 5)].tolist():
        wood.append(tube(start, (0.8 * x, 0.8 * y, max(z, start[2] + 0.2)), (0.35 * thick, 0.15 * thick), plan.bark, 5))
    dark = (0.45 * plan.green[0], 0.5 * plan.green[1], 0.5 * plan.green[2])
    inside = [
        ellipsoid((x, y, z), (0.80 * r, 0.80 * r, 0.64 * r), dark, 8 if detail > 0.5 else 6)
        for (x, y, z), r in zip(centres.tolist(), radii.tolist(), strict=True)
    ]
    leaf = plan.leaf * height * detail**-0.35
    leaves = _leaves(centres, radii, leaf, plan.green, (seed, max(40, round(detail * LEAVES))))
    return joined([joined(wood).made_of(Material.MASONRY), joined(inside).made_of(Material.FOLIAGE), leaves])


def _lumps(plan: Kind, height: float, seed: int) -> tuple[Array, Array]:
    """Return centres (N, 3) and radii (N,) of a crown's clumps: a spiral that is widest where its kind is."""
    dice = raw_bytes(seed * 31 + 200, 4 * plan.lumps).reshape(4, -1).astype(np.float64) / 255
    share = (np.arange(plan.lumps) + 0.5) / plan.lumps
    below = share < plan.widest
    wide = np.where(
        below,
        0.55 + 0.45 * share / plan.widest,
        1.0 - 0.92 * np.maximum((share - plan.widest) / (1 - plan.widest), 0.0) ** 1.3,
    )
    radii = plan.reach * height * (0.30 + 0.28 * wide) * (0.85 + 0.3 * dice[0])
    out = np.maximum(plan.reach * height * wide - 0.75 * radii, 0.0) * (0.75 + 0.25 * dice[1])
    turn = np.arange(plan.lumps) * 2.4 + 0.8 * dice[2] + seed
    low, high = plan.stem * height + 0.4 * radii, height - 0.8 * radii
    level = low + (high - low) * share
    return np.column_stack([out * np.cos(turn), out * np.sin(turn), level]), radii


def _leaves(centres: Array, radii: Array, size: float, green: Colour, source: tuple[int, int]) -> Mesh:
    """Return leaves as small quads all over clumps, of different greens and tilts; source: seed, most leaves."""
    seed, most = source
    dice = raw_bytes(seed + 5000, 20 * most).reshape(10, 2 * most).astype(np.float64) / 255
    share = np.cumsum(radii**2)
    lump = np.searchsorted(share / share[-1], (np.arange(2 * most) + 0.5) / (2 * most))
    turn, rise = 2 * np.pi * dice[0], 2 * dice[1] - 1
    flat = np.sqrt(1 - rise**2)
    outward = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), rise])
    middle = centres[lump] + outward * (radii[lump] * (0.76 + 0.20 * dice[2]))[:, None] * (1.0, 1.0, 0.80)
    # Leaves within other clumps are never seen.
    gap = np.linalg.norm((middle[:, None] - centres) / (1.0, 1.0, 0.80), axis=2) / radii
    chosen = np.flatnonzero((gap > 0.75).all(axis=1))
    chosen = chosen[np.linspace(0, len(chosen) - 1, min(most, len(chosen))).astype(int)]
    dice, outward, middle = dice[:, chosen], outward[chosen], middle[chosen]
    rise, count = rise[chosen], len(chosen)
    first = np.cross(outward, dice[3:6].T - 0.5)
    first /= np.maximum(np.linalg.norm(first, axis=1), 1e-6)[:, None]
    second = np.cross(outward, first) + (dice[8] - 0.3)[:, None] * outward
    reach = (size * (0.6 + 0.8 * dice[6]))[:, None]
    corners = np.stack(
        [middle + reach * (a * first + b * second) for a, b in ((1, 0.2), (0.1, 1), (-1, -0.1), (-0.2, -1))], axis=1
    )
    # Leaves that look up are lighter than those below, each a little different.
    tone = (0.62 + 0.55 * dice[7]) * (0.85 + 0.30 * rise)
    paint = np.array(green) * tone[:, None] * np.column_stack([0.85 + 0.35 * dice[9], np.ones(count), np.ones(count)])
    return panes(corners, paint, Material.FOLIAGE)


def bush(size: tuple[float, float, float] = (1.2, 1.2, 1.0), seed: int = 0) -> Mesh:
    """Return a bush that fills about length x width x height, metres."""
    dice = raw_bytes(seed + 700, 32).astype(np.float64) / 255
    turn = np.arange(6) * 1.05 + dice[:6]
    centres = np.column_stack([0.24 * np.cos(turn), 0.24 * np.sin(turn), 0.26 + 0.42 * (np.arange(6) % 3) / 2])
    radii = 0.25 + 0.05 * dice[12:18]
    green = (0.05 + 0.03 * float(dice[20]), 0.095 + 0.03 * float(dice[21]), 0.03)
    dark = (0.025, 0.045, 0.015)
    inside = [
        ellipsoid((x, y, z), (0.78 * r, 0.78 * r, 0.62 * r), dark, 6)
        for (x, y, z), r in zip(centres.tolist(), radii.tolist(), strict=True)
    ]
    inside.append(ellipsoid((0.0, 0.0, 0.25), (0.36, 0.36, 0.30), dark, 8))
    leaves = _leaves(centres, radii, 0.05, green, (seed + 90, 300))
    return joined([joined(inside).made_of(Material.FOLIAGE), leaves]).scaled(size)


def hedge(axis: Alignment, offset: float, reach: Reach, height: float = 1.1, seed: int = 0) -> Mesh:
    """Return a clipped hedge 0.6 m thick along an axis, in the scene's frame."""
    stations = axis.cuts(reach, 0.5)
    if len(stations) < 2:
        return joined([])
    dice = raw_bytes(seed + 800, 5 * len(stations)).reshape(5, -1).astype(np.float64) / 255 - 0.5
    profile = ((-0.30, -0.2), (-0.28, 0.85), (-0.20, 1.0), (0.20, 1.0), (0.28, 0.85), (0.30, -0.2))
    rows = [
        axis.at(stations, offset + y + 0.07 * dice[k % 5], z * height + 0.08 * dice[(k + 2) % 5] * (z > 0))
        for k, (y, z) in enumerate(profile)
    ]
    ring = np.stack(rows, axis=1)
    sides = [
        np.stack([ring[:-1, k], ring[1:, k], ring[1:, k + 1], ring[:-1, k + 1]], axis=1) for k in range(len(rows) - 1)
    ]
    caps = [
        np.stack([ring[end, k], ring[end, k + 1], ring[end, 4 - k], ring[end, 5 - k]])[None]
        for end in (0, -1)
        for k in (0, 1)
    ]
    corners = np.concatenate([*sides, *caps])
    tone = 0.92 + 0.16 * raw_bytes(seed + 801, len(corners)).astype(np.float64)[:, None] / 255
    return panes(corners, tone * np.array((0.045, 0.085, 0.025)), Material.FOLIAGE)


def tufts(axis: Alignment, right: float, left: float, reach: Reach, seed: int = 0, lift: float = 0.0) -> Mesh:
    """Return scattered tufts of grass (about one a square metre) between two offsets, in the scene's frame."""
    low, high = max(reach[0], 0.0), min(reach[1], axis.length)
    count = int((left - right) * (high - low))
    if count < 1:
        return joined([])
    dice = raw_bytes(seed + 900, 6 * count).reshape(6, count).astype(np.float64) / 255
    # The bytes come in 256 steps: a second one moves each tuft within its step.
    s = low + (high - low) * (dice[0] + dice[5] / 256) / 1.004
    offset = right + (left - right) * dice[1]
    foot = axis.at(s, offset, lift - 0.02)
    turn, size = np.pi * dice[2], 0.08 + 0.10 * dice[3]
    along = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(count)]) * size[:, None]
    up = np.array((0.0, 0.0, 1.0)) * (0.6 + 0.8 * dice[4])[:, None] * size[:, None] * 1.3
    first = np.stack(
        [foot - 0.4 * along, foot + 0.3 * along, foot + 0.9 * along + up, foot + 0.75 * along + up], axis=1
    )
    across = along[:, [1, 0, 2]] * (-1.0, 1.0, 1.0)
    second = np.stack(
        [foot - 0.3 * across, foot + 0.4 * across, foot - 0.5 * across + up, foot - 0.7 * across + up], axis=1
    )
    tone: Array = np.tile(0.7 + 0.6 * dice[4], 2)[:, None]
    return panes(np.concatenate([first, second]), tone * np.array((0.085, 0.108, 0.040)), Material.GRASS)
