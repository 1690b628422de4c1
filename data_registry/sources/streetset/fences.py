"""What runs along a road: guard rails, railings, planks, construction fences, walls; in the scene's frame."""

from __future__ import annotations

import numpy as np

from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.raw_noise import raw_bytes
from data_registry.scene3d.solids import Colour, box
from data_registry.sources.streetset.alignment import Alignment, Reach
from data_registry.sources.streetset.fittings import BLACK, RED, WOOD, ZINC
from data_registry.sources.streetset.ground import lattice
from data_registry.sources.streetset.panes import panes


def guard_rail(axis: Alignment, offset: float, reach: Reach) -> Mesh:
    """Return a steel guard rail with posts every 2 m, in the scene's frame."""
    profile = [(offset, 0.45), (offset + 0.05, 0.52), (offset, 0.60), (offset + 0.05, 0.68), (offset, 0.75)]
    rail = lattice(axis, axis.cuts(reach, 2.0), profile, np.array(ZINC), Material.METAL)
    return joined([rail, posts(axis, offset - 0.03, reach, (2.0, 0.05, 0.72), ZINC)])


def posts(axis: Alignment, offset: float, reach: Reach, spacing: tuple[float, float, float], colour: Colour) -> Mesh:
    """Return square posts along an axis; spacing: pitch, half width, height, metres."""
    pitch, half, height = spacing
    low, high = max(reach[0], 0.0), min(reach[1], axis.length)
    post = box((-half, -half, -0.3), (half, half, height), colour).made_of(Material.METAL)
    return joined([post.placed(axis.pose(s, offset)) for s in np.arange(low, high + 1e-6, pitch).tolist()])


def fence(axis: Alignment, offset: float, reach: Reach, kind: str = "iron") -> Mesh:
    """Return a fence in the scene's frame.

    Kinds: iron (railings, 1.1 m), wood (planks, 1.4 m), works (construction fence, 2 m), wall (0.9 m).
    """
    stations = axis.cuts(reach, 2.0)

    def rail(low: float, high: float, colour: Colour, material: Material = Material.METAL) -> Mesh:
        ring = [
            (offset - 0.02, low),
            (offset + 0.02, low),
            (offset + 0.02, high),
            (offset - 0.02, high),
            (offset - 0.02, low),
        ]
        return lattice(axis, stations, ring, np.array(colour), material)

    if kind == "wall":
        ring = [(offset - 0.12, -0.4), (offset - 0.12, 0.82), (offset + 0.12, 0.82), (offset + 0.12, -0.4)]
        cap = [(offset + y, z) for y, z in ((-0.17, 0.82), (-0.17, 0.9), (0.17, 0.9), (0.17, 0.82), (-0.17, 0.82))]
        body = lattice(axis, stations, ring, np.array((0.34, 0.22, 0.16)), Material.MASONRY)
        return joined([body, lattice(axis, stations, cap, np.array((0.42, 0.41, 0.38)), Material.PAVING)])
    if kind == "wood":
        planks = [
            _planks(axis, offset, reach),
            posts(axis, offset + 0.05, reach, (2.0, 0.05, 1.35), WOOD).made_of(Material.MATTE),
        ]
        return joined([*planks, rail(0.3, 0.38, WOOD, Material.MATTE), rail(1.1, 1.18, WOOD, Material.MATTE)])
    if kind == "works":
        board = rail(0.15, 0.40, RED), rail(0.95, 1.0, ZINC), rail(1.95, 2.0, ZINC)
        return joined(
            [
                *board,
                posts(axis, offset, reach, (0.25, 0.006, 1.95), ZINC),
                posts(axis, offset, reach, (3.0, 0.03, 2.0), ZINC),
            ]
        )
    bars = posts(axis, offset, reach, (0.16, 0.009, 1.05), BLACK)
    return joined(
        [bars, posts(axis, offset, reach, (2.4, 0.03, 1.15), BLACK), rail(0.15, 0.19, BLACK), rail(0.96, 1.0, BLACK)]
    )


def _planks(axis: Alignment, offset: float, reach: Reach) -> Mesh:
    """Return upright planks with small gaps, each a little different."""
    low, high = max(reach[0], 0.0), min(reach[1], axis.length)
    s = np.arange(low, high - 0.11, 0.14)
    tone = 0.75 + 0.5 * raw_bytes(640, len(s)).astype(np.float64)[:, None] / 255
    corners = [axis.at(s + along, offset, lift) for along, lift in ((0.0, 0.05), (0.12, 0.05), (0.12, 1.4), (0.0, 1.4))]
    return panes(np.stack(corners, axis=1), tone * np.array(WOOD))
