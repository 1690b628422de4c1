"""From samples to pixels: every face that a pixel's samples hit is shaded once, at their middle, in compiled loops.

The light of a place is sun and sky on its own colour with grain (Lambert), the sky and the highlights of sun and lamps
that it mirrors (Schlick, Blinn-Phong), darker and shinier where it is wet, seen through the air. Nothing mirrors other
things: a wet road mirrors the sky and the lamps.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array
from data_registry.scene3d.compiled import compiled
from data_registry.scene3d.grain import noise
from data_registry.scene3d.light import SKY_SHARE_LEVEL, SKY_SHARE_SLOPE
from data_registry.scene3d.materials import FILM, GLOSS, GLOW, GRAIN, GRAIN_M, MIRROR, SHARPNESS, SOAKS
from data_registry.scene3d.shadows import Cover, sky_share, sun_share
from data_registry.scene3d.spans import Grid, Pieces, Single

Triple = tuple[float, float, float]
Indices = npt.NDArray[np.int32]

CLOUDS: Final = 9.3
"""A second, coarser layer of grain: this many times larger, so that the tile's period does not show."""
FILM_GLOSS: Final = 0.02
"""Share of light that water mirrors square on (refraction index 1.33)."""
FILM_SHARPNESS: Final = 110.0
PUDDLE_M: Final = 0.11
"""Puddles: size of the finest grain of the noise that decides where water stands, metres."""


class Skin(NamedTuple):
    """What faces look like: unit normals towards the viewer (M, 3), colours (M, 3), rows of the material table (M, 8)."""

    normals: Array
    colours: Array
    looks: Array
    owners: Indices


class View(NamedTuple):
    """Where rays start, the rows of the matrix from (column, row, 1) to a ray of unit depth, a pixel's width at 1 m."""

    position: Triple
    rays: tuple[Triple, Triple, Triple]
    pixel: float


class Weather(NamedTuple):
    """A `Light` in plain numbers; lamps (L, 12): position, colour, direction, cosines of full and no light, reach²."""

    direction: Triple
    sun: Triple
    ambient: Triple
    air: Triple
    fog: float
    wetness: float
    lamps: Array
    grain: Single


class Look(NamedTuple):
    """How a place mirrors: shares of light square on and at a flat angle, exponent, cosine towards the viewer."""

    gloss: float
    mirror: float
    sharpness: float
    facing: float


class Picture(NamedTuple):
    """The result's planes, as `Rendering` names them."""

    rgb: Array
    coverage: Array
    depth: Array
    owner: Indices


@compiled
def _smooth(share: float) -> float:
    """Return an S curve from 0 to 1."""
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


@compiled
def _dot(one: Triple, other: Triple) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


@compiled
def _grain(levels: Single, point: Triple, normal: Triple, unit: float, footprint: float) -> float:
    """Return noise at a point of a face, on the plane of axes that the face lies in best."""
    x, y, z = point
    if abs(normal[2]) >= max(abs(normal[0]), abs(normal[1])):
        u, v = x, y
    elif abs(normal[0]) >= abs(normal[1]):
        u, v = y, z
    else:
        u, v = x, z
    coarse = unit / CLOUDS
    fine = noise(levels, u * unit, v * unit, footprint * unit)
    return 0.7 * fine + 0.6 * noise(levels, v * coarse + 71.3, u * coarse + 37.7, footprint * coarse)


@compiled
def _sky(weather: Weather, climb: float) -> Triple:
    """Return the light that comes from above (1) to the horizon (0) and the ground below it (-1)."""
    up = _smooth(climb * 2.5)
    dim = 1.0 + 0.65 * min(max(climb * 4.0, -1.0), 0.0)
    far, high = weather.air, weather.ambient
    return (
        dim * (far[0] + (high[0] - far[0]) * up),
        dim * (far[1] + (high[1] - far[1]) * up),
        dim * (far[2] + (high[2] - far[2]) * up),
    )


@compiled
def _mirrored(look: Look, cosine: float) -> float:
    """Return the share of light that is mirrored at an angle (Schlick 1994)."""
    flat = 1.0 - min(max(cosine, 0.0), 1.0)
    square = flat * flat
    return look.gloss + (look.mirror - look.gloss) * square * square * flat


@compiled
def _highlight(normal: Triple, eye: Triple, to: Triple, look: Look) -> float:
    """Return the share of a source's light that a face mirrors towards the eye, its rough mirror spread to a lobe."""
    x, y, z = eye[0] + to[0], eye[1] + to[1], eye[2] + to[2]
    length = np.sqrt(x * x + y * y + z * z) + 1e-12
    half = (normal[0] * x + normal[1] * y + normal[2] * z) / length
    if half <= 0.0 or look.sharpness * (1.0 - half) > 7.0:
        return 0.0
    seen = (eye[0] * x + eye[1] * y + eye[2] * z) / length
    lobe = np.exp(look.sharpness * np.log(half)) * (look.sharpness + 2.0)
    return _mirrored(look, seen) * lobe / (8.0 * max(look.facing, _dot(normal, to), 0.05))


@compiled
def _lit_by_lamps(
    lamps: Array, point: Triple, eye: Triple, normal: Triple, look: Look
) -> tuple[float, float, float, float, float, float]:
    """Return the lamps' light on a face and, after it, what the face mirrors of them."""
    red, green, blue, shine_red, shine_green, shine_blue = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for index in range(lamps.shape[0]):
        x, y, z = lamps[index, 0] - point[0], lamps[index, 1] - point[1], lamps[index, 2] - point[2]
        source = normal[0] * x + normal[1] * y + normal[2] * z
        square = max(x * x + y * y + z * z, 1e-4)
        if source <= 0.0 or square >= lamps[index, 11]:
            continue
        inverse = 1.0 / np.sqrt(square)
        along = -(lamps[index, 6] * x + lamps[index, 7] * y + lamps[index, 8] * z) * inverse
        none = lamps[index, 10]
        if along <= none:
            continue
        end = min(4.0 * (1.0 - square / lamps[index, 11]), 1.0)
        light = _smooth((along - none) / (lamps[index, 9] - none)) * end * source * inverse * inverse * inverse
        red += light * lamps[index, 3]
        green += light * lamps[index, 4]
        blue += light * lamps[index, 5]
        if look.mirror > 0.0:
            light *= _highlight(normal, eye, (x * inverse, y * inverse, z * inverse), look)
            shine_red += light * lamps[index, 3]
            shine_green += light * lamps[index, 4]
            shine_blue += light * lamps[index, 5]
    return red, green, blue, shine_red, shine_green, shine_blue


@compiled
def _film(weather: Weather, wet: float, point: Triple, footprint: float) -> float:
    """Return how much of a water's mirror lies on wet level ground: more in puddles."""
    unit = 1.0 / PUDDLE_M
    pool = noise(weather.grain, point[0] * unit, point[1] * unit, footprint * unit)
    return wet * (0.35 + 0.65 * _smooth(0.5 + 1.6 * pool))


@compiled
def _lit(
    place: tuple[Triple, Triple, Triple], colour: Triple, look: Look, weather: Weather, shares: tuple[float, float]
) -> Triple:
    """Return the light that leaves a place (point, normal, eye) towards the viewer, given its shares of sun and sky."""
    point, normal, eye = place
    sunlit, sky = shares
    sun, ambient = weather.sun, weather.ambient
    lamps = _lit_by_lamps(weather.lamps, point, eye, normal, look)
    level = (SKY_SHARE_LEVEL + SKY_SHARE_SLOPE * normal[2]) * sky
    red = colour[0] * (sun[0] * sunlit + ambient[0] * level + lamps[0])
    green = colour[1] * (sun[1] * sunlit + ambient[1] * level + lamps[1])
    blue = colour[2] * (sun[2] * sunlit + ambient[2] * level + lamps[2])
    if look.mirror <= 0.0:
        return red, green, blue
    shine = _mirrored(look, look.facing)
    glint = sunlit * _highlight(normal, eye, weather.direction, look) if sunlit > 0.0 else 0.0
    above = _sky(weather, 2.0 * look.facing * normal[2] - eye[2])
    return (
        red * (1.0 - shine) + shine * sky * above[0] + glint * sun[0] + lamps[3],
        green * (1.0 - shine) + shine * sky * above[1] + glint * sun[1] + lamps[4],
        blue * (1.0 - shine) + shine * sky * above[2] + glint * sun[2] + lamps[5],
    )


@compiled
def _shade(point: Triple, view: View, skin: Skin, face: int, scene: tuple[Weather, Cover]) -> Triple:
    """Return the light that a place on a face sends to the viewer through the air, linear RGB."""
    weather, cover = scene
    normal = (skin.normals[face, 0], skin.normals[face, 1], skin.normals[face, 2])
    red, green, blue = skin.colours[face, 0], skin.colours[face, 1], skin.colours[face, 2]
    looks = skin.looks
    x, y, z = view.position[0] - point[0], view.position[1] - point[1], view.position[2] - point[2]
    distance = np.sqrt(x * x + y * y + z * z)
    if looks[face, GLOW] <= 0.0:
        eye = (x / distance, y / distance, z / distance)
        facing = max(_dot(normal, eye), 0.02)
        footprint = distance * view.pixel / np.sqrt(facing)  # between a pixel's width and its length on the face
        wet = weather.wetness * _smooth((normal[2] - 0.6) * 3.0)
        film = wet * looks[face, FILM]
        if film > 0.0:
            film = _film(weather, film, point, footprint)
        tone = 1.0 - wet * looks[face, SOAKS]
        if looks[face, GRAIN] > 0.0:
            grain = _grain(weather.grain, point, normal, 1.0 / looks[face, GRAIN_M], footprint)
            tone *= max(1.0 + looks[face, GRAIN] * grain, 0.05)
        sharpness = looks[face, SHARPNESS] + (FILM_SHARPNESS - looks[face, SHARPNESS]) * film
        gloss, mirror = max(looks[face, GLOSS], film * FILM_GLOSS), max(looks[face, MIRROR], film)
        sunlit = max(_dot(normal, weather.direction), 0.0)
        if sunlit > 0.0:
            sunlit *= sun_share(cover, point, normal)
        colour, look = (red * tone, green * tone, blue * tone), Look(gloss, mirror, sharpness, facing)
        red, green, blue = _lit((point, normal, eye), colour, look, weather, (sunlit, sky_share(cover, point)))
    if weather.fog <= 0.0:
        return red, green, blue
    clear = np.exp(-distance * weather.fog)
    air = weather.air
    return (air[0] + (red - air[0]) * clear, air[1] + (green - air[1]) * clear, air[2] + (blue - air[2]) * clear)


@compiled
def _first_seen(winner: Indices, top: int, left: int, samples: int, index: int) -> bool:
    """Tell whether no earlier sample of a pixel hit the same piece as its sample number `index`."""
    piece = winner[top + index // samples, left + index % samples]
    for before in range(index):
        if winner[top + before // samples, left + before % samples] == piece:
            return False
    return True


@compiled
def _middle(winner: Indices, top: int, left: int, samples: int, index: int) -> tuple[int, float, float]:
    """Return how many samples of a pixel hit the piece of sample `index`, and their mean place in the pixel."""
    piece = winner[top + index // samples, left + index % samples]
    count, right, down = 0, 0, 0
    for other in range(index, samples * samples):
        if winner[top + other // samples, left + other % samples] == piece:
            count += 1
            right += other % samples
            down += other // samples
    return count, (right / count + 0.5) / samples - 0.5, (down / count + 0.5) / samples - 0.5


@compiled
def _nearest(highest: Single, winner: Indices, places: tuple[int, int, int], owners: Indices) -> tuple[float, int]:
    """Return the greatest inverse depth among a pixel's samples and whose it is, the first mesh of equal ones."""
    top, left, samples = places
    best, owner = np.float32(0.0), -1
    for index in range(samples * samples):
        row, column = top + index // samples, left + index % samples
        piece = winner[row, column]
        if piece >= 0:
            value = highest[row, column]
            if value > best or (value == best and owners[piece] < owner):
                best, owner = value, owners[piece]
    return best, owner


@compiled
def resolve(
    buffers: tuple[Single, Indices], pieces: Pieces, grid: Grid, skin: Skin, view: View, scene: tuple[Weather, Cover]
) -> Picture:
    """Average the samples of every pixel; a face is shaded once for all samples of a pixel that it covers."""
    highest, winner = buffers
    samples = grid.samples
    height, width = grid.rows // samples, grid.columns // samples
    rgb, coverage = np.zeros((height, width, 3)), np.zeros((height, width))
    depth, owner = np.full((height, width), np.inf), np.full((height, width), -1, dtype=np.int32)
    owners = skin.owners[pieces.faces]
    share = 1.0 / samples**2
    for row in range(height):
        for column in range(width):
            top, left = row * samples, column * samples
            for index in range(samples * samples):
                piece = winner[top + index // samples, left + index % samples]
                if piece < 0 or not _first_seen(winner, top, left, samples, index):
                    continue
                count, right, down = _middle(winner, top, left, samples, index)
                u, v = grid.left // samples + column + right, grid.top // samples + row + down
                a, b, c = pieces.planes[piece]
                point = _place(view, u, v, 1.0 / (a * u + b * v + c))
                red, green, blue = _shade(point, view, skin, pieces.faces[piece], scene)
                rgb[row, column, 0] += red * count * share
                rgb[row, column, 1] += green * count * share
                rgb[row, column, 2] += blue * count * share
                coverage[row, column] += count * share
            if coverage[row, column] > 0.0:
                best, owner[row, column] = _nearest(highest, winner, (top, left, samples), owners)
                depth[row, column] = 1.0 / best
    return Picture(rgb, coverage, depth, owner)


@compiled
def _place(view: View, u: float, v: float, depth: float) -> Triple:
    """Return the point that a picture position shows at a depth along the optical axis."""
    start, rays = view.position, view.rays
    return (
        start[0] + depth * (rays[0][0] * u + rays[0][1] * v + rays[0][2]),
        start[1] + depth * (rays[1][0] * u + rays[1][1] * v + rays[1][2]),
        start[2] + depth * (rays[2][0] * u + rays[2][1] * v + rays[2][2]),
    )
