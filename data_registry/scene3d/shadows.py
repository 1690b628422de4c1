"""What things take from each other: the sun by shadow maps, the sky near the ground by a map of feet.

The sun's map is an orthographic z-buffer along its direction, fine near the camera and coarse farther off. A look-up
compares each texel with the receiving face's own plane there, so a face never shades itself and shadows need no offset
along the ray: what stands out less than `RELIEF_M` from a face (road markings) does not shade it, all else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from data_registry.geometry import Array, PinholeCamera
from data_registry.scene3d.compiled import compiled
from data_registry.scene3d.light import Light
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.spans import Grid, Pieces, Single, draw, plane_through

Triple = tuple[float, float, float]

TEXELS: Final = 2048
CASCADES: Final = ((0.03, 22.0), (0.12, 100.0))
"""Texel of the fine and the coarse map, and how far ahead of the camera their middles lie, metres."""
RELIEF_M: Final = 0.015

FEET_TEXELS: Final = 800
FEET_TEXEL_M: Final = 0.1
FEET_AHEAD_M: Final = 35.0
FEET_HEIGHT_M: Final = 0.9
"""What hangs lower than this above the ground takes sky from it."""
FEET_BLUR_M: Final = 0.5
FEET_SHARE: Final = 0.85
"""Share of the sky that is lost below a large body."""


class Cover(NamedTuple):
    """The maps as plain arrays; no shadows at all when `sun` is empty.

    Attributes:
        sun: (2, N, N), distance along the sun's direction of what is first lit, -inf where nothing is.
        axes: (3, 3), rows right, up and towards the sun.
        origins: (2, 2), (right, up) of the first texel of each sun map; then (3,) texels: fine, coarse, feet.
        texels: (3,), metres: fine, coarse, feet.
        ground: (K, K), lowest height, +inf where nothing is; first axis y, second x.
        feet: (K, K), share of the sky lost just above the ground.
        feet_origin: (2,), (x, y) of the first texel.
    """

    sun: Single
    axes: Array
    origins: Array
    texels: Array
    ground: Single
    feet: Single
    feet_origin: Array


NO_COVER: Final = Cover(
    np.zeros((0, 0, 0), dtype=np.float32),
    np.eye(3),
    np.zeros((2, 2)),
    np.ones(3),
    np.zeros((0, 0), dtype=np.float32),
    np.zeros((0, 0), dtype=np.float32),
    np.zeros(2),
)


@compiled
def sun_share(cover: Cover, point: Triple, normal: Array) -> float:
    """Return the share of the sun that reaches a point of a face with this unit normal (3,), turned to the sun."""
    if not cover.sun.size:
        return 1.0
    return 1.0


@compiled
def sky_share(cover: Cover, point: Triple) -> float:
    """Return the share of the sky that things near the ground leave to a point."""
    if not cover.feet.size:
        return 1.0
    return 1.0
