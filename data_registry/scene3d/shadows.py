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

from data_registry.compiled import compiled
from data_registry.geometry import Array, PinholeCamera
from data_registry.scene3d.light import Light
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined, triple
from data_registry.scene3d.spans import Grid, Ints, Pieces, Single, draw, plane_through, touches

Pair = tuple[float, float]
Triple = tuple[float, float, float]
Axes = tuple[Triple, Triple, Triple]
Surface = tuple[Array, Ints]
"""Vertices (N, 3), metres, and faces (M, 3) of some of a mesh; heights are along the last coordinate."""

TEXELS: Final = 1536
FINE_M: Final = 0.04
COARSE_M: Final = 0.14
"""Texels of the two maps of the sun."""
FINE_AHEAD_M: Final = 22.0
COARSE_AHEAD_M: Final = 100.0
"""How far ahead of the camera their middles lie."""
RELIEF_M: Final = 0.015
CREASE_TEXELS: Final = 2.5
"""What lies fewer texels than this nearer to the sun than a place does not shade it: the other side of a crease."""

FEET_TEXELS: Final = 700
FEET_TEXEL_M: Final = 0.1
FEET_AHEAD_M: Final = 31.0
FEET_HEIGHT_M: Final = 0.9
"""What hangs lower than this above the ground takes sky from it."""
STEP_M: Final = 0.05
"""What lies lower than this above the ground is part of it."""
WALL_M: Final = 0.3
"""Faces that are steep and rise more than this stand on the ground like walls."""
GROUNDS: Final = (Material.ASPHALT, Material.PAVING, Material.GRASS, Material.MARKING, Material.WATER, Material.ICE)
NO_GROUND_M: Final = 1e9
FEET_BLUR_M: Final = 0.5
FEET_SHARE: Final = 0.85
"""Share of the sky that is lost below a large body."""


class Cover(NamedTuple):
    """The maps in plain arrays and numbers; nothing is taken where the arrays are empty.

    Attributes:
        sun: (2, N, N), distance along the sun's direction of what is first lit, -inf where nothing is.
        axes: unit vectors right, up and towards the sun.
        origins: (right, up) of the first texel of each sun map, metres.
        ground: (K, K), height of the ground, NO_GROUND_M where nothing is; first axis y, second x.
        feet: (K, K), share of the sky lost just above the ground.
        feet_origin: (x, y) of the first texel of both.
    """

    sun: Single
    axes: Axes
    origins: tuple[Pair, Pair]
    ground: Single
    feet: Single
    feet_origin: Pair


_NO_MAP: Final = np.zeros((0, 0), dtype=np.float32)
_UNIT: Final = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_COVER: Final = Cover(
    np.zeros((0, 0, 0), dtype=np.float32), _UNIT, ((0.0, 0.0), (0.0, 0.0)), _NO_MAP, _NO_MAP, (0.0, 0.0)
)


@dataclass(frozen=True, slots=True, eq=False)
class Shadows:
    """What some things take from each other around one camera; made by `cast_shadows`, read by `render`."""

    cover: Cover

    def sun_share(self, points: Array, normals: Array) -> Array:
        """Return the share (N,) of the sun that reaches points (N, 3) of faces with unit normals (N, 3).

        Of faces that look away from the sun the answer means nothing: they get none anyway.
        """
        shares = np.ones(len(points))
        take_sun(self.cover, np.ascontiguousarray(points.T), np.ascontiguousarray(normals.T), shares)
        return shares

    def sky_share(self, points: Array) -> Array:
        """Return the share (N,) of the sky that things near the ground leave to points (N, 3)."""
        shares = np.ones(len(points))
        take_sky(self.cover, np.ascontiguousarray(points.T), shares)
        return shares


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
    axes = _axes(light.direction)
    ahead = camera.ego_to_camera.rotation[2] * np.array([1.0, 1.0, 0.0])
    ahead /= max(float(np.linalg.norm(ahead)), 1e-6)
    fine = _corner(axes[:2] @ (camera.position + FINE_AHEAD_M * ahead), FINE_M, TEXELS)
    coarse = _corner(axes[:2] @ (camera.position + COARSE_AHEAD_M * ahead), COARSE_M, TEXELS)
    feet_origin = _corner(camera.position[:2] + FEET_AHEAD_M * ahead[:2], FEET_TEXEL_M, FEET_TEXELS)
    if light.direction[2] > 0:
        turned = _turned(whole.vertices, axes)
        sun = np.full((2, TEXELS, TEXELS), -np.inf, dtype=np.float32)
        _raise(sun[0], (turned, whole.faces), fine, FINE_M)
        _raise(sun[1], (turned, whole.faces), coarse, COARSE_M)
    else:
        sun = NO_COVER.sun
    lying = np.isin(whole.materials, GROUNDS)
    ground = _ground(whole, lying, feet_origin)
    feet = _feet((whole.vertices, whole.faces[~lying]), ground, feet_origin)
    origins = _pair(fine), _pair(coarse)
    rows = triple(axes[0]), triple(axes[1]), triple(axes[2])
    return Shadows(Cover(sun, rows, origins, ground, feet, _pair(feet_origin)))


def _pair(values: Array) -> Pair:
    return float(values[0]), float(values[1])


def _axes(direction: Array) -> Array:
    """Return rows right, up and towards the sun: an orthonormal frame."""
    right = np.cross((0.0, 0.0, 1.0) if abs(direction[2]) < 0.99 else (0.0, 1.0, 0.0), direction)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(direction, right), direction])


def _corner(middle: Array, texel: float, count: int) -> Array:
    """Return the first texel of a map around a middle (2,), on a lattice that does not move with the camera."""
    return (np.floor(middle / texel) - count // 2) * texel


@compiled
def _turned(vertices: Array, axes: Array) -> Array:
    """Return vertices (N, 3) along axes."""
    result = np.empty((len(vertices), 3))
    for vertex in range(len(vertices)):
        x, y, z = vertices[vertex, 0], vertices[vertex, 1], vertices[vertex, 2]
        for axis in range(3):
            result[vertex, axis] = axes[axis, 0] * x + axes[axis, 1] * y + axes[axis, 2] * z
    return result


def _raise(highest: Single, surface: Surface, origin: Array, texel: float) -> None:
    """Raise a map (N, N) to the greatest height of what lies over each texel."""
    grid = Grid(0, 0, len(highest), len(highest), 1)
    pieces = _flattened(*surface, (origin[0], origin[1], texel), grid)
    draw(pieces, grid, highest, np.zeros((0, 0), dtype=np.int32))


def _heights(surface: Surface, origin: Array) -> Single:
    """Return a map of feet's size (K, K) with the greatest height, -inf where nothing is."""
    highest = np.full((FEET_TEXELS, FEET_TEXELS), -np.inf, dtype=np.float32)
    _raise(highest, surface, origin, FEET_TEXEL_M)
    return highest


def _depths(surface: Surface, origin: Array) -> Single:
    """Return a map of feet's size (K, K) with the least height, inf where nothing is."""
    vertices, faces = surface
    return -_heights((vertices * (1.0, 1.0, -1.0), faces), origin)


@compiled
def _flattened(vertices: Array, faces: Ints, lattice: Triple, grid: Grid) -> Pieces:
    """Look down at faces (M, 3): corners in texels, heights as planes, without those outside."""
    corners, planes = np.empty((len(faces), 3, 2)), np.empty((len(faces), 3))
    heights = np.empty(3)
    left, bottom, texel = lattice
    count = 0
    for face in range(len(faces)):
        for corner in range(3):
            vertex = faces[face, corner]
            corners[count, corner, 0] = (vertices[vertex, 0] - left) / texel
            corners[count, corner, 1] = (vertices[vertex, 1] - bottom) / texel
            heights[corner] = vertices[vertex, 2]
        if touches(corners, count, grid) and plane_through(corners[count], heights, planes[count]):
            count += 1
    return Pieces(corners[:count], planes[:count], np.arange(count))


def _ground(whole: Mesh, lying: npt.NDArray[np.bool_], origin: Array) -> Single:
    """Return the height (K, K) of what is made of a ground's material, elsewhere of the lowest thing."""
    known = _heights((whole.vertices, whole.faces[lying]), origin)
    covered = np.isfinite(known)
    if not covered.all():
        known = np.where(covered, known, _depths((whole.vertices, whole.faces), origin))
    return np.minimum(known, np.float32(NO_GROUND_M))


def _feet(surface: Surface, ground: Single, origin: Array) -> Single:
    """Return the share (K, K) of the sky that low bodies take from the ground around them."""
    vertices, faces = surface
    raised, steep = _near_ground(vertices, faces, ground, (origin[0], origin[1], FEET_TEXEL_M))
    bodies = _depths((vertices, faces[raised]), origin) - ground
    taken = ((bodies > STEP_M) & (bodies < FEET_HEIGHT_M)).astype(np.float32)
    _mark_walls(vertices, faces[steep], (origin[0], origin[1], FEET_TEXEL_M), taken)
    size = round(FEET_BLUR_M / FEET_TEXEL_M)
    for _ in range(2):
        taken = uniform_filter(taken, size, mode="constant")
    return (taken * np.float32(FEET_SHARE)).astype(np.float32)


@compiled
def _near_ground(vertices: Array, faces: Ints, ground: Single, lattice: Triple) -> tuple[Ints, Ints]:
    """Return which faces (M, 3) near the ground hang above it, and which stand on it like walls."""
    left, bottom, texel = lattice
    raised, steep = np.empty(len(faces), dtype=np.int64), np.empty(len(faces), dtype=np.int64)
    hanging, standing = 0, 0
    for face in range(len(faces)):
        first, second, third = faces[face, 0], faces[face, 1], faces[face, 2]
        x = (vertices[first, 0] + vertices[second, 0] + vertices[third, 0]) / 3.0
        y = (vertices[first, 1] + vertices[second, 1] + vertices[third, 1]) / 3.0
        column, row = np.floor((x - left) / texel + 0.5), np.floor((y - bottom) / texel + 0.5)
        if not (0.0 <= column < ground.shape[1] and 0.0 <= row < ground.shape[0]):
            continue
        low = min(vertices[first, 2], vertices[second, 2], vertices[third, 2])
        high = max(vertices[first, 2], vertices[second, 2], vertices[third, 2])
        gap = low - ground[int(row), int(column)]
        if gap >= FEET_HEIGHT_M:
            continue
        if gap > STEP_M:
            raised[hanging] = face
            hanging += 1
        if high - low > WALL_M:
            steep[standing] = face
            standing += 1
    return raised[:hanging], steep[:standing]


@compiled
def _mark_walls(vertices: Array, faces: Ints, lattice: Triple, taken: Single) -> None:
    """Mark the texels that steep faces (M, 3) stand on: from above they are lines, which a map of heights misses."""
    left, bottom, texel = lattice
    for face in range(len(faces)):
        for corner in range(3):
            start, end = vertices[faces[face, corner]], vertices[faces[face, (corner + 1) % 3]]
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
def take_sun(cover: Cover, points: Array, normals: Array, sunlit: Array) -> None:
    """Multiply light of the sun (N,) by its share that reaches points (3, N) of faces with unit normals (3, N).

    The faces look to the sun. A loop of its own and not a function of a point: its many arguments would cost more.
    """
    if not cover.sun.size:
        return
    heights, origins, (across, upwards, toward) = cover.sun.ravel(), cover.origins, cover.axes
    for at in range(len(sunlit)):
        if sunlit[at] <= 0.0:
            continue
        x, y, z = points[0, at], points[1, at], points[2, at]
        right = across[0] * x + across[1] * y + across[2] * z
        up = upwards[0] * x + upwards[1] * y + upwards[2] * z
        level, texel = 0, FINE_M
        u, v = (right - origins[0][0]) / texel, (up - origins[0][1]) / texel
        if not (1.0 <= u < TEXELS - 2 and 1.0 <= v < TEXELS - 2):
            level, texel = 1, COARSE_M
            u, v = (right - origins[1][0]) / texel, (up - origins[1][1]) / texel
            if not (1.0 <= u < TEXELS - 2 and 1.0 <= v < TEXELS - 2):
                continue
        height = toward[0] * x + toward[1] * y + toward[2] * z
        column, row = int(u + 0.5), int(v + 0.5)
        # Without a sign: a negative index would have to be looked for in every texel.
        first = np.uintp((level * TEXELS + row - 1) * TEXELS + column - 1)
        least = height + CREASE_TEXELS * texel
        if _highest(heights, first) <= least:
            continue  # most places are in full sun
        nx, ny, nz = normals[0, at], normals[1, at], normals[2, at]
        rise = max(nx * toward[0] + ny * toward[1] + nz * toward[2], 1e-3)
        along_u = -(nx * across[0] + ny * across[1] + nz * across[2]) / rise * texel
        along_v = -(nx * upwards[0] + ny * upwards[1] + nz * upwards[2]) / rise * texel
        plane = (height + RELIEF_M / rise, along_u, along_v)
        sunlit[at] *= _lit_share(heights, first, (u - column, v - row), plane, least)


@compiled
def _highest(heights: Single, first: np.uintp) -> float:
    """Return the greatest of 3 x 3 texels from a first one on."""
    one, two, line = np.uintp(1), np.uintp(2), np.uintp(TEXELS)
    second, third = first + line, first + line + line
    upper = max(heights[first], heights[first + one], heights[first + two])
    middle = max(heights[second], heights[second + one], heights[second + two])
    return max(upper, middle, max(heights[third], heights[third + one], heights[third + two]))


@compiled
def _lit_share(heights: Single, first: np.uintp, place: Pair, plane: Triple, least: float) -> float:
    """Return the share of 3 x 3 texels, weighted by a smooth bump, with nothing above the face's plane and `least`."""
    across, down = place
    height, along_u, along_v = plane
    one, two, line = np.uintp(1), np.uintp(2), np.uintp(TEXELS)
    left, middle, right = (0.5 - across) ** 2 * 0.5, 0.75 - across * across, (0.5 + across) ** 2 * 0.5
    hidden = 0.0
    for step in range(-1, 2):
        weight = 0.75 - down * down if step == 0 else (0.5 + step * down) ** 2 * 0.5
        expected = height + along_v * (step - down) - along_u * across
        part = left * (heights[first] > max(expected - along_u, least))
        part += middle * (heights[first + one] > max(expected, least))
        part += right * (heights[first + two] > max(expected + along_u, least))
        hidden += weight * part
        first += line
    return max(1.0 - hidden, 0.0)


@compiled
def take_sky(cover: Cover, points: Array, shares: Array) -> None:
    """Multiply light of the sky (N,) by its share that things near the ground leave to points (3, N)."""
    feet, ground, corner = cover.feet, cover.ground, cover.feet_origin
    size = len(feet)
    for at in range(len(shares)):
        u, v = (points[0, at] - corner[0]) / FEET_TEXEL_M, (points[1, at] - corner[1]) / FEET_TEXEL_M
        if not (0.0 <= u < size - 1 and 0.0 <= v < size - 1):
            continue
        height = points[2, at] - ground[int(v + 0.5), int(u + 0.5)]
        if height >= FEET_HEIGHT_M:
            continue
        column, row = int(u), int(v)
        right, down = u - column, v - row
        upper = feet[row, column] * (1.0 - right) + feet[row, column + 1] * right
        lower = feet[row + 1, column] * (1.0 - right) + feet[row + 1, column + 1] * right
        shares[at] *= 1.0 - (upper + (lower - upper) * down) * min(1.0 - height / FEET_HEIGHT_M, 1.0)
