"""Street trees and lamp posts: not annotated, but they give the pictures depth and the road its shadows."""

from __future__ import annotations

from typing import Final

import numpy as np

from data_registry.geometry import Array, Transform
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import box, ellipsoid, tube
from data_registry.sources.streetset.layout import PAVEMENT_Z, STREET_END
from data_registry.sources.streetset.noise import raw_bytes

LEAVES: Final = 640
LEAF_M: Final = 0.25


def tree(seed: int) -> tuple[Mesh, Mesh]:
    """Return a tree of about 6.5 m and the simpler shape that casts its shadow."""
    bark = (0.11, 0.085, 0.065)
    random = raw_bytes(seed, 64).astype(np.float64) / 255
    wood = [
        tube((0, 0, 0), (0.05, 0, 3.0), (0.15, 0.10), bark),
        tube((0.05, 0, 2.6), (0.6, 0.4, 4.2), (0.08, 0.04), bark),
    ]
    wood.append(tube((0.05, 0, 2.6), (-0.5, -0.3, 4.3), (0.08, 0.04), bark))
    turn, reach = np.arange(9) * 2.4, 0.35 + 0.75 * random[:9]
    centres = np.column_stack([reach * np.cos(turn), reach * np.sin(turn), 3.7 + 2.1 * (np.arange(9) * 4 % 9) / 8])
    radii = 0.70 + 0.35 * random[20:29]
    lumps = list(zip(centres.tolist(), radii.tolist(), strict=True))
    inside = [ellipsoid((x, y, z), (r * 0.8, r * 0.8, r * 0.6), (0.030, 0.060, 0.016)) for (x, y, z), r in lumps]
    outline = [ellipsoid((x, y, z), (r, r, r * 0.75), (0.05, 0.1, 0.02), 12) for (x, y, z), r in lumps]
    return joined([*wood, *inside, _leaves(centres, radii, seed)]), joined([*wood, *outline])


def _leaves(centres: Array, radii: Array, seed: int) -> Mesh:
    """Return tufts of leaves as small squares all over the lumps of a crown, of different greens and tilts."""
    random = raw_bytes(seed + 5000, 8 * LEAVES).reshape(8, LEAVES).astype(np.float64) / 255
    lump = np.arange(LEAVES) % len(radii)
    turn, rise = 2 * np.pi * random[0], 2 * random[1] - 1
    flat = np.sqrt(1 - rise**2)
    outward = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), rise])
    middle = centres[lump] + outward * (radii[lump] * (0.72 + 0.36 * random[2]))[:, None] * (1.0, 1.0, 0.78)
    first = np.cross(outward, random[3:6].T - 0.5)
    first /= np.maximum(np.linalg.norm(first, axis=1), 1e-6)[:, None]
    second = np.cross(outward, first) + 0.5 * outward
    size = (LEAF_M * (0.5 + 0.6 * random[6]))[:, None]
    corners = [middle + size * (a * first + b * second) for a, b in ((1, 0.2), (0.1, 1), (-1, -0.1), (-0.2, -1))]
    vertices = np.stack(corners, axis=1).reshape(-1, 3)
    start = 4 * np.arange(LEAVES)
    faces = np.stack([np.column_stack([start, start + k, start + k + 1]) for k in (1, 2)], axis=1).reshape(-1, 3)
    greens = np.array([0.070, 0.128, 0.028]) * (0.55 + 0.9 * random[7])[:, None]
    return Mesh(vertices, faces, np.repeat(greens, 2, axis=0))


def lamp_post(side: float) -> Mesh:
    """Return a lamp post of 6.5 m whose arm reaches over the road; `side` is +1 when the road lies to its left."""
    steel = (0.12, 0.13, 0.14)
    return joined(
        [
            tube((0, 0, 0), (0, 0, 6.4), (0.08, 0.05), steel),
            tube((0, 0, 0), (0, 0, 0.9), (0.12, 0.11), steel),
            tube((0, 0, 6.3), (0, side * 1.5, 6.6), (0.045, 0.035), steel, sides=6),
            box((-0.13, side * 1.5 - 0.35, 6.53), (0.13, side * 1.5 + 0.35, 6.65), (0.35, 0.36, 0.36)),
        ]
    )


def furniture() -> list[tuple[Mesh, Mesh]]:
    """Return all trees and lamp posts with what casts their shadow, placed in the street frame."""
    placed: list[tuple[Mesh, Mesh]] = []
    for number, s in enumerate(np.arange(9.0, STREET_END, 17.0)):
        for side, t in enumerate((-4.75, 5.95)):
            where = Transform(np.eye(3), np.array([s + 6.0 * side, t, PAVEMENT_Z]))
            seen, caster = tree(200 + 2 * number + side)
            placed.append((seen.placed(where), caster.placed(where)))
    for s in np.arange(3.0, STREET_END, 34.0):
        for side, along, t in ((1.0, 14.5, -4.5), (-1.0, 3.5, 5.75)):
            post = lamp_post(side).placed(Transform(np.eye(3), np.array([s + along, t, PAVEMENT_Z])))
            placed.append((post, post))
    return placed
