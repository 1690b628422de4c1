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
import numpy.typing as npt
from scipy.ndimage import uniform_filter

from data_registry.geometry import Array, PinholeCamera
from data_registry.scene3d.compiled import compiled
from data_registry.scene3d.light import Light
from data_registry.scene3d.materials import Material
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
STEP_M: Final = 0.05
"""What lies lower than this above the ground is part of it."""
WALL_M: Final = 0.3
"""Faces that are steep and rise more than this stand on the ground like walls."""
GROUNDS: Final = (Material.ASPHALT, Material.PAVING, Material.GRASS, Material.MARKING, Material.WATER, Material.ICE)
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


@dataclass(frozen=True, slots=True, eq=False)
class Shadows:
    """What some things take from each other around one camera; made by `cast_shadows`, read by `render`."""

    cover: Cover

    def sun_share(self, points: Array, normals: Array) -> Array:
        """Return the share (N,) of the sun that reaches points (N, 3) of faces with unit normals (N, 3).

        Of faces that look away from the sun the answer means nothing: they get none anyway.
        """
        return _sun_shares(self.cover, np.ascontiguousarray(points), np.ascontiguousarray(normals))

    def sky_share(self, points: Array) -> Array:
        """Return the share (N,) of the sky that things near the ground leave to points (N, 3)."""
        return _sky_shares(self.cover, np.ascontiguousarray(points))


def cast_shadows(casters: Sequence[Mesh], camera: PinholeCamera, light: Light) -> Shadows:
    """Map what meshes take from each other and from themselves, sharp near the camera.

    The maps depend on the camera, never on a window. The sun's maps reach about 50 m ahead in detail and 220 m at all;
    beyond, nothing is in shadow. Lamps cast no shadows.

    Args:
        casters: ego frame at time 0; ground that lies under others belongs to them, a sky dome does not.
        camera: the reading to render for.
        light: its sun's direction counts; from below the horizon it casts nothing.
    """
    whole = joined(casters)
    triangles = whole.triangles()
    axes = _axes(light.direction)
    ahead = camera.ego_to_camera.rotation[2] * np.array([1.0, 1.0, 0.0])
    ahead /= max(float(np.linalg.norm(ahead)), 1e-6)
    origins = np.array([_corner(axes[:2] @ (camera.position + far * ahead), texel, TEXELS) for texel, far in CASCADES])
    texels = np.array([*(texel for texel, _ in CASCADES), FEET_TEXEL_M])
    feet_origin = _corner(camera.position[:2] + FEET_AHEAD_M * ahead[:2], FEET_TEXEL_M, FEET_TEXELS)
    if light.direction[2] > 0:
        sun = np.stack([_heights(triangles, axes, origins[k], texels[k], TEXELS) for k in range(len(CASCADES))])
    else:
        sun = NO_COVER.sun
    lying = np.isin(whole.materials, GROUNDS)
    ground = _ground(triangles, lying, feet_origin)
    feet = _feet(triangles[~lying], ground, feet_origin)
    return Shadows(Cover(sun, axes, origins, texels, ground, feet, feet_origin))


def _axes(direction: Array) -> Array:
    """Return rows right, up and towards the sun: an orthonormal frame."""
    right = np.cross((0.0, 0.0, 1.0) if abs(direction[2]) < 0.99 else (0.0, 1.0, 0.0), direction)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(direction, right), direction])


def _corner(middle: Array, texel: float, count: int) -> Array:
    """Return the first texel of a map around a middle (2,), on a lattice that does not move with the camera."""
    return (np.floor(middle / texel) - count // 2) * texel


def _heights(triangles: Array, axes: Array, origin: Array, texel: float, count: int) -> Single:
    """Return the greatest height along the last axis, (count, count), of what lies over each texel."""
    highest = np.full((count, count), -np.inf, dtype=np.float32)
    pieces = _flattened(triangles, axes, origin, texel)
    draw(pieces, Grid(0, 0, count, count, 1), highest, np.zeros((0, 0), dtype=np.int32))
    return highest


@compiled
def _flattened(triangles: Array, axes: Array, origin: Array, texel: float) -> Pieces:
    """Look at triangles (M, 3, 3) along the last axis: corners in texels, heights as planes."""
    corners, planes = np.empty((len(triangles), 3, 2)), np.empty((len(triangles), 3))
    heights = np.empty(3)
    count = 0
    for face in range(len(triangles)):
        for corner in range(3):
            x, y, z = triangles[face, corner]
            corners[count, corner, 0] = (axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z - origin[0]) / texel
            corners[count, corner, 1] = (axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z - origin[1]) / texel
            heights[corner] = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
        if plane_through(corners[count], heights, planes[count]):
            count += 1
    return Pieces(corners[:count], planes[:count], np.arange(count))


def _ground(triangles: Array, lying: npt.NDArray[np.bool_], origin: Array) -> Single:
    """Return the height (K, K) of what is made of a ground's material, elsewhere of the lowest thing."""
    known = _heights(triangles[lying], np.eye(3), origin, FEET_TEXEL_M, FEET_TEXELS)
    lowest = -_heights(triangles, np.diag([1.0, 1.0, -1.0]), origin, FEET_TEXEL_M, FEET_TEXELS)
    return np.where(np.isfinite(known), known, lowest)


def _feet(triangles: Array, ground: Single, origin: Array) -> Single:
    """Return the share (K, K) of the sky that low bodies take from the ground around them."""
    low, high = triangles[:, :, 2].min(axis=1), triangles[:, :, 2].max(axis=1)
    index = np.floor((triangles[:, :, :2].mean(axis=1) - origin) / FEET_TEXEL_M + 0.5).astype(np.int64)
    inside = ((index >= 0) & (index < FEET_TEXELS)).all(axis=1)
    column, row = np.where(inside[:, None], index, 0).T
    gap = low - ground[row, column]
    near = inside & (gap < FEET_HEIGHT_M)
    bodies = _heights(triangles[near & (gap > STEP_M)], np.eye(3), origin, FEET_TEXEL_M, FEET_TEXELS) - ground
    taken = ((bodies > STEP_M) & (bodies < FEET_HEIGHT_M)).astype(np.float32)
    _mark_walls(triangles[near & (high - low > WALL_M)], (origin[0], origin[1], FEET_TEXEL_M), taken)
    size = round(FEET_BLUR_M / FEET_TEXEL_M)
    for _ in range(2):
        taken = uniform_filter(taken, size, mode="constant")
    return (taken * np.float32(FEET_SHARE)).astype(np.float32)


@compiled
def _mark_walls(triangles: Array, lattice: Triple, taken: Single) -> None:
    """Mark the texels that steep faces (M, 3, 3) stand on: from above they are lines, which a map of heights misses."""
    left, bottom, texel = lattice
    for face in range(len(triangles)):
        for corner in range(3):
            start, end = triangles[face, corner], triangles[face, (corner + 1) % 3]
            across, along = end[0] - start[0], end[1] - start[1]
            rise = abs(end[2] - start[2])
            reach = np.sqrt(across * across + along * along)
            if rise > 0.5 * reach:
                continue  # not an edge that lies on the ground
            steps = int(np.ceil(reach / texel)) + 1
            for step in range(steps + 1):
                share = step / steps
                column = int(np.floor((start[0] + share * across - left) / texel + 0.5))
                row = int(np.floor((start[1] + share * along - bottom) / texel + 0.5))
                if 0 <= column < taken.shape[1] and 0 <= row < taken.shape[0]:
                    taken[row, column] = 1.0


@compiled
def _sun_shares(cover: Cover, points: Array, normals: Array) -> Array:
    result = np.empty(len(points))
    for index in range(len(points)):
        place = (points[index, 0], points[index, 1], points[index, 2])
        result[index] = sun_share(cover, place, normals[index])
    return result


@compiled
def _sky_shares(cover: Cover, points: Array) -> Array:
    result = np.empty(len(points))
    for index in range(len(points)):
        result[index] = sky_share(cover, (points[index, 0], points[index, 1], points[index, 2]))
    return result


@compiled
def sun_share(cover: Cover, point: Triple, normal: Array) -> float:
    """Return the share of the sun that reaches a point of a face with this unit normal (3,), turned to the sun."""
    axes = cover.axes
    right = axes[0, 0] * point[0] + axes[0, 1] * point[1] + axes[0, 2] * point[2]
    up = axes[1, 0] * point[0] + axes[1, 1] * point[1] + axes[1, 2] * point[2]
    for cascade in range(len(cover.sun)):
        texel = cover.texels[cascade]
        u, v = (right - cover.origins[cascade, 0]) / texel, (up - cover.origins[cascade, 1]) / texel
        if 1.0 <= u < TEXELS - 2 and 1.0 <= v < TEXELS - 2:
            return _lit_share(cover.sun[cascade], axes, (u, v, texel), point, normal)
    return 1.0


@compiled
def _lit_share(heights: Single, axes: Array, place: Triple, point: Triple, normal: Array) -> float:
    """Return the share of 3 x 3 texels, weighted by a smooth bump, whose first lit thing is the face or below it."""
    u, v, texel = place
    toward = axes[2]
    rise = max(normal[0] * toward[0] + normal[1] * toward[1] + normal[2] * toward[2], 1e-3)
    along_u = -(normal[0] * axes[0, 0] + normal[1] * axes[0, 1] + normal[2] * axes[0, 2]) / rise * texel
    along_v = -(normal[0] * axes[1, 0] + normal[1] * axes[1, 1] + normal[2] * axes[1, 2]) / rise * texel
    level = toward[0] * point[0] + toward[1] * point[1] + toward[2] * point[2] + RELIEF_M / rise
    column, row = int(np.floor(u + 0.5)), int(np.floor(v + 0.5))
    across, down = u - column, v - row
    shares = ((0.5 - across) ** 2 / 2, 0.75 - across**2, (0.5 + across) ** 2 / 2)
    lit = 0.0
    for step, weight in ((-1, (0.5 - down) ** 2 / 2), (0, 0.75 - down**2), (1, (0.5 + down) ** 2 / 2)):
        expected = level + along_v * (step - down) - along_u * across
        for aside in range(3):
            if heights[row + step, column + aside - 1] <= expected + along_u * (aside - 1):
                lit += weight * shares[aside]
    return lit


@compiled
def sky_share(cover: Cover, point: Triple) -> float:
    """Return the share of the sky that things near the ground leave to a point."""
    size = len(cover.feet)
    texel = cover.texels[2]
    u, v = (point[0] - cover.feet_origin[0]) / texel, (point[1] - cover.feet_origin[1]) / texel
    if not (0.0 <= u < size - 1 and 0.0 <= v < size - 1):
        return 1.0
    column, row = int(u), int(v)
    right, down = u - column, v - row
    feet = cover.feet
    upper = feet[row, column] * (1.0 - right) + feet[row, column + 1] * right
    lower = feet[row + 1, column] * (1.0 - right) + feet[row + 1, column + 1] * right
    height = point[2] - cover.ground[row, column]
    return 1.0 - (upper + (lower - upper) * down) * min(max(1.0 - height / FEET_HEIGHT_M, 0.0), 1.0)
