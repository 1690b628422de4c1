"""The street itself, pixel by pixel: sky, house fronts, road, pavements, kerbs and markings.

The street is a box without a lid: every viewing ray meets one wall or the floor, so its surfaces are drawn where the
rays meet their planes, in world coordinates and averaged over what a pixel covers. Only things that stand in it are
meshes. All arrays are float32 and flat, colours (3, N); the camera and the planes are in the street frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array, PinholeCamera
from data_registry.scene3d.light import SKY_SHARE_LEVEL
from data_registry.sources.streetset import facades
from data_registry.sources.streetset.layout import (
    BAY_EDGE,
    CENTRE_LINE,
    CROSSING,
    KERB_LEFT,
    KERB_RIGHT,
    PAVEMENT_Z,
    STOP_GAP,
    STREET_END,
    STREET_LIGHT,
    STREET_START,
    WALL_LEFT,
    WALL_RIGHT,
)
from data_registry.sources.streetset.noise import Single, band, clouds, rgb, texture

Index = npt.NDArray[np.int64]

HAZE: Final = rgb(0.66, 0.74, 0.84)
HAZE_M: Final = 700.0
ZENITH: Final = rgb(0.13, 0.30, 0.66)
HORIZON: Final = rgb(0.62, 0.74, 0.88)
CLOUD: Final = rgb(0.92, 0.93, 0.95)
ASPHALT: Final = rgb(0.118, 0.116, 0.113)
SLAB: Final = rgb(0.30, 0.285, 0.26)
GRANITE: Final = rgb(0.36, 0.35, 0.34)
PAINT: Final = rgb(0.62, 0.61, 0.58)
LOWEST_ROOF: Final = 8.0
BAND_ROWS: Final = 50
"""Rows drawn at once: arrays that fit the processor's cache take half the time."""
SUN: Final = rgb(*STREET_LIGHT.sun.tolist())
SKY: Final = rgb(*STREET_LIGHT.ambient.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Viewing rays of a camera: position + k * direction at depth k, and how directions change from pixel to pixel.

    Attributes:
        position: (3,) street frame.
        directions: three arrays (H * W,), one a coordinate.
        per_column: (3,) change of direction by one column.
        per_row: (3,) change of direction by one row.
    """

    position: Array
    directions: tuple[Single, Single, Single]
    per_column: Array
    per_row: Array


@dataclass(frozen=True, slots=True, eq=False)
class Shadows:
    """Share of sun and of sky that things in the street take from the ground behind a pixel, both (H, W)."""

    sun: Array
    sky: Array


def view_of(camera: PinholeCamera, rows: range) -> View:
    """Return a camera's viewing rays for some rows of its picture."""
    turn = camera.ego_to_camera.rotation.T
    inverse = np.linalg.inv(camera.intrinsics)
    column, row, origin = (turn @ inverse).T
    u, v = np.arange(camera.width), np.array(rows)
    directions = [(origin[k] + u * column[k] + v.reshape(-1, 1) * row[k]).astype(np.float32).ravel() for k in range(3)]
    return View(camera.position, (directions[0], directions[1], directions[2]), column, row)


def draw(camera: PinholeCamera, shadows: Shadows) -> Single:
    """Return the empty street (3, H, W) in linear light as a camera sees it."""
    bands = [range(top, min(top + BAND_ROWS, camera.height)) for top in range(0, camera.height, BAND_ROWS)]
    return np.concatenate([_draw_band(camera, shadows, rows) for rows in bands], axis=1)


def _draw_band(camera: PinholeCamera, shadows: Shadows, rows: range) -> Single:
    view = view_of(camera, rows)
    wall, depth = _nearest_wall(view)
    height = np.float32(view.position[2]) + depth * view.directions[2]
    picture = np.empty((3, camera.width * len(rows)), dtype=np.float32)
    floor = height < PAVEMENT_Z
    high = np.flatnonzero(height > LOWEST_ROOF)
    picture[:, high] = _sky(view, high)
    for number, plane in enumerate(WALLS):
        here = np.flatnonzero((wall == number) & ~floor & (height < 18.0))
        if len(here):
            _draw_wall(picture, view, plane, here, depth[here])
    cut = slice(rows.start, rows.stop)
    _draw_floor(picture, view, np.flatnonzero(floor), Shadows(shadows.sun[cut], shadows.sky[cut]))
    return picture.reshape(3, len(rows), camera.width)


@dataclass(frozen=True, slots=True)
class Wall:
    """A vertical plane: axis across it (0 = s, 1 = t), where it is, which row of houses stands on it, its light."""

    axis: int
    place: float
    houses: tuple[int, float, float, float, float]
    facing: float


WALLS: Final = (
    Wall(1, WALL_RIGHT, facades.RIGHT_ROW, 1.0),
    Wall(1, WALL_LEFT, facades.LEFT_ROW, -1.0),
    Wall(0, STREET_END, facades.END_ROW, -1.0),
    Wall(0, STREET_START, facades.END_ROW, 1.0),
)


def _nearest_wall(view: View) -> tuple[npt.NDArray[np.int8], Single]:
    """Return for each pixel the wall that its ray leaves the street through, and the depth there."""
    depths: list[Single] = []
    for axis, low, high in ((1, WALL_RIGHT, WALL_LEFT), (0, STREET_START, STREET_END)):
        direction, start = view.directions[axis], view.position[axis]
        safe = np.where(np.abs(direction) < 1e-7, np.float32(1e-7), direction)
        depths.append((np.where(safe < 0, low - start, high - start) / safe).astype(np.float32))
    side, end = depths
    right, ahead = view.directions[1] < 0, view.directions[0] > 0
    wall = np.where(side < end, np.where(right, 0, 1), np.where(ahead, 2, 3)).astype(np.int8)
    return wall, np.minimum(side, end)


def _reach(view: View, here: Index, depth: Single, axis: int, across: int) -> Single:
    """Return how many metres of coordinate `axis` a pixel covers on a plane of constant coordinate `across`."""
    slope = view.directions[axis][here] / view.directions[across][here]
    column = view.per_column[axis] - slope * np.float32(view.per_column[across])
    row = view.per_row[axis] - slope * np.float32(view.per_row[across])
    return (np.abs(depth * column) + np.abs(depth * row)).astype(np.float32)


def _sky(view: View, here: Index) -> Single:
    s, t, z = (direction[here] for direction in view.directions)
    length = np.sqrt(s * s + t * t + z * z)
    up = np.maximum(z / length, 0.02)
    colour = ZENITH + (HORIZON - ZENITH) * np.exp(-3.2 * up)
    towards = (s * STREET_LIGHT.direction[0] + t * STREET_LIGHT.direction[1] + z * STREET_LIGHT.direction[2]) / length
    glow = np.maximum(towards, 0).astype(np.float32) ** 16
    x, y = s / length / up, t / length / up
    cloud = clouds(x, y, 22.0) + 0.45 * clouds(x + 5, y * 1.4, 7.0)
    share = np.clip(cloud * 1.1 - 0.15, 0, 0.85) * np.clip(up * 5, 0, 1)
    colour += (CLOUD - colour) * share
    return colour + glow * rgb(0.5, 0.45, 0.35)


def _hazed(colour: Single, distance: Single) -> Single:
    return colour + (HAZE - colour) * (1 - np.exp(-distance / np.float32(HAZE_M)))


def _draw_wall(picture: Single, view: View, wall: Wall, here: Index, depth: Single) -> None:
    """Draw the house fronts on one plane over the sky behind their roofs."""
    along_axis = 1 - wall.axis
    along = (view.position[along_axis] + depth * view.directions[along_axis][here]).astype(np.float32)
    height = (view.position[2] + depth * view.directions[2][here]).astype(np.float32)
    reach_height = _reach(view, here, depth, 2, wall.axis)
    houses = facades.row(*wall.houses)
    cover = np.clip((houses.heights[houses.house(along)] - height) / reach_height + 0.5, 0, 1).astype(np.float32)
    seen = np.flatnonzero(cover > 0)
    patch = facades.Patch(
        along[seen], height[seen], _reach(view, here, depth, along_axis, wall.axis)[seen], reach_height[seen]
    )
    shine = max(0.0, wall.facing * float(STREET_LIGHT.direction[wall.axis]))
    occluded = np.exp(-(patch.height - PAVEMENT_Z) / 1.2)
    ambient = SKY_SHARE_LEVEL * (1 - 0.35 * occluded) * SKY
    colour = facades.reflectance(houses, patch, shine > 0) * (ambient + np.float32(1.6 * shine) * SUN)
    colour = _hazed(colour, depth[seen])
    share = cover[seen]
    place = here[seen]
    behind = np.where(patch.height > LOWEST_ROOF, picture[:, place], 0)
    picture[:, place] = colour * share + behind * (1 - share)


def wall_shadow(s: Single, t: Single, height: float) -> Single:
    """Return the share of the sun that reaches points past the houses on its side, 0..1, softened over 0.3 m."""
    sun = STREET_LIGHT.direction
    steps = (WALL_LEFT - t) / np.float32(sun[1])
    houses = facades.row(*facades.LEFT_ROW)
    roof = houses.heights[houses.house(s + steps * np.float32(sun[0]))]
    return np.clip((height + steps * np.float32(sun[2]) - roof) / 0.3 + 0.5, 0, 1)


def _draw_floor(picture: Single, view: View, here: Index, shadows: Shadows) -> None:
    """Draw pavements, and between the kerbs the road, which lies deeper; what is neither is the kerb's face."""
    raised = _floor_patch(view, here, PAVEMENT_Z)
    paved = (raised.t < KERB_RIGHT) | (raised.t > KERB_LEFT)
    level = _floor_patch(view, here, 0.0)
    kerb = ~paved & ((level.t < KERB_RIGHT) | (level.t > KERB_LEFT))
    for part, colour_of, patch, height in (
        (np.flatnonzero(paved), _pavement, raised, PAVEMENT_Z),
        (np.flatnonzero(~paved & ~kerb), _road, level, 0.0),
        (np.flatnonzero(kerb), _kerb_face, level, 0.0),
    ):
        place, spot = here[part], patch.part(part)
        sun = wall_shadow(spot.s, spot.t, height) * (1 - shadows.sun.ravel()[place].astype(np.float32))
        sky = 1 - shadows.sky.ravel()[place].astype(np.float32)
        light = (sun * np.float32(STREET_LIGHT.direction[2])) * SUN + sky * SKY
        picture[:, place] = _hazed(colour_of(spot) * light, spot.depth)


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """Points on the ground: place (s, t), what a pixel covers of both, depth; all (N,), metres."""

    s: Single
    t: Single
    reach_s: Single
    reach_t: Single
    depth: Single

    def part(self, index: Index) -> Floor:
        """Return some of the points."""
        return Floor(self.s[index], self.t[index], self.reach_s[index], self.reach_t[index], self.depth[index])


def _floor_patch(view: View, here: Index, height: float) -> Floor:
    depth = np.float32(height - view.position[2]) / np.minimum(view.directions[2][here], np.float32(-1e-6))
    s, t = ((view.position[k] + depth * view.directions[k][here]).astype(np.float32) for k in (0, 1))
    return Floor(s, t, _reach(view, here, depth, 0, 2), _reach(view, here, depth, 1, 2), depth)


def _road(spot: Floor) -> Single:
    widest = np.maximum(spot.reach_s, spot.reach_t)
    fine = texture(spot.s, spot.t, widest, 0.45)
    broad = clouds(spot.s * 0.4, spot.t, 19.0)
    tone = 1 + 0.24 * fine + 0.13 * broad
    for track in (-0.78, 0.78, 2.72, 4.28):
        tone = tone - 0.07 * np.exp(-(((spot.t - track) / 0.24) ** 2))
    gutter = np.minimum(spot.t - KERB_RIGHT, KERB_LEFT - spot.t)
    tone *= 1 - 0.25 * np.exp(-gutter / 0.18)
    colour = ASPHALT * tone
    seams = band(np.mod(spot.s + 3.0, 47.0), 0.0, 0.035, spot.reach_s) + band(
        np.abs(spot.t - 0.9), -1, 0.012, spot.reach_t
    )
    colour *= 1 - 0.45 * np.minimum(seams, 1)
    worn = np.clip(0.86 + 0.35 * fine, 0.3, 1.0) * markings(spot.s, spot.t, spot.reach_s, spot.reach_t)
    return colour + (PAINT - colour) * worn


def markings(s: Single, t: Single, reach_s: Single, reach_t: Single) -> Single:
    """Return the share of white paint at road points: centre dashes, bay line, bay ends, stop lines, crossing."""
    low, high = CROSSING
    free = 1 - band(s, low - 2.2, high + 2.2, reach_s)
    dash = band(np.mod(s, np.float32(6.0)), 0.0, 2.6, reach_s)
    centre = band(t, CENTRE_LINE - 0.17, CENTRE_LINE - 0.05, reach_t) + band(
        t, CENTRE_LINE + 0.05, CENTRE_LINE + 0.17, reach_t
    )
    edge = band(t, BAY_EDGE - 0.10, BAY_EDGE + 0.02, reach_t)
    ends = band(np.mod(s - 1.6, np.float32(6.4)), 0.0, 0.10, reach_s) * band(t, BAY_EDGE - 0.9, BAY_EDGE, reach_t)
    stripes = band(np.mod(t + 0.1, np.float32(0.9)), 0.0, 0.45, reach_t) * band(s, low, high, reach_s)
    stop = band(s, low - STOP_GAP[1], low - STOP_GAP[0], reach_s) * band(t, BAY_EDGE, CENTRE_LINE - 0.2, reach_t)
    stop = stop + band(s, high + STOP_GAP[0], high + STOP_GAP[1], reach_s) * band(
        t, CENTRE_LINE + 0.2, KERB_LEFT, reach_t
    )
    return np.clip(free * (centre * dash + edge + ends) + stripes + stop, 0, 1)


def _pavement(spot: Floor) -> Single:
    widest = np.maximum(spot.reach_s, spot.reach_t)
    tone = 1 + 0.12 * texture(spot.s, spot.t, widest, 0.6) + 0.08 * clouds(spot.s, spot.t, 13.0)
    to_kerb = np.maximum(KERB_RIGHT - spot.t, spot.t - KERB_LEFT)
    slab = np.floor(spot.s / 1.2) * 7 + np.floor(to_kerb / 0.9) * 13
    tone *= 0.94 + 0.12 * np.mod(slab * 0.618, 1.0)
    joints = band(np.mod(spot.s, np.float32(1.2)), 0.0, 0.018, spot.reach_s)
    joints = joints + band(np.mod(to_kerb - 0.3, np.float32(0.9)), 0.0, 0.018, spot.reach_t)
    tone *= 1 - 0.45 * np.minimum(joints, 1)
    to_wall = np.minimum(spot.t - WALL_RIGHT, WALL_LEFT - spot.t)
    tone *= 1 - 0.35 * np.exp(-np.maximum(to_wall, 0) / 0.6)
    stone = band(to_kerb, -1.0, 0.28, spot.reach_t)
    colour: Any = SLAB + (GRANITE - SLAB) * stone
    return colour * tone.astype(np.float32)


def _kerb_face(spot: Floor) -> Single:
    stones = 1 - 0.4 * band(np.mod(spot.s, np.float32(1.0)), 0.0, 0.02, spot.reach_s)
    return GRANITE * np.float32(0.7) * stones.astype(np.float32)
