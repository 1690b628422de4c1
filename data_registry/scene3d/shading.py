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
    """Where rays start (3,), how (column, row, 1) becomes a ray of unit depth (3, 3), and a pixel's width at 1 m."""

    position: Array
    rays: Array
    pixel: float


class Weather(NamedTuple):
    """A `Light` as plain arrays; lamps (L, 12): position, colour, direction, cosines of full and no light, reach²."""

    direction: Array
    sun: Array
    ambient: Array
    lamps: Array
    air: Array
    fog: float
    wetness: float
    grain: Single


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
def _grain(weather: Weather, point: Triple, normal: Array, unit: float, footprint: float) -> float:
    """Return noise at a point of a face, on the plane of axes that the face lies in best."""
    x, y, z = point
    across = max(abs(normal[0]), abs(normal[1]))
    if abs(normal[2]) >= across:
        u, v = x, y
    elif abs(normal[0]) == across:
        u, v = y, z
    else:
        u, v = x, z
    fine = noise(weather.grain, u * unit, v * unit, footprint * unit)
    coarse = unit / CLOUDS
    return 0.7 * fine + 0.6 * noise(weather.grain, v * coarse + 71.3, u * coarse + 37.7, footprint * coarse)


@compiled
def _sky(weather: Weather, climb: float) -> Triple:
    """Return the light that comes from above (1) to the horizon (0) and the ground below it (-1)."""
    up = _smooth(climb * 2.5)
    if climb < 0.0:
        up = 0.0
    dim = 1.0 + 0.65 * max(climb * 4.0, -1.0) if climb < 0.0 else 1.0
    red, green, blue = weather.ambient
    far = weather.air
    return (
        dim * (far[0] + (red - far[0]) * up),
        dim * (far[1] + (green - far[1]) * up),
        dim * (far[2] + (blue - far[2]) * up),
    )


@compiled
def _highlight(normal: Array, eye: Triple, to: Triple, sharpness: float, facing: float) -> Triple:
    """Return (lobe, cosine to its half vector, cosine to the source) of a highlight: times mirror share times light."""
    x, y, z = eye[0] + to[0], eye[1] + to[1], eye[2] + to[2]
    length = np.sqrt(x * x + y * y + z * z) + 1e-12
    half = (normal[0] * x + normal[1] * y + normal[2] * z) / length
    seen = (eye[0] * x + eye[1] * y + eye[2] * z) / length
    source = normal[0] * to[0] + normal[1] * to[1] + normal[2] * to[2]
    if half <= 0.0 or source <= 0.0 or sharpness * (1.0 - half) > 7.0:
        return 0.0, seen, source
    lobe = np.exp(sharpness * np.log(half)) * (sharpness + 2.0) / (8.0 * max(facing, source, 0.05))
    return lobe, seen, source


@compiled
def _mirrored(gloss: float, mirror: float, cosine: float) -> float:
    """Return the share of light that is mirrored at an angle (Schlick 1994)."""
    flat = 1.0 - min(max(cosine, 0.0), 1.0)
    square = flat * flat
    return gloss + (mirror - gloss) * square * square * flat


@compiled
def _lamp(lamp: Array, point: Triple, normal: Array) -> tuple[float, float, float, float]:
    """Return the unit vector to a lamp and its strength at a point before Lambert's cosine; 0 when it does not reach."""
    x, y, z = lamp[0] - point[0], lamp[1] - point[1], lamp[2] - point[2]
    square = x * x + y * y + z * z
    if square >= lamp[11] or normal[0] * x + normal[1] * y + normal[2] * z <= 0.0:
        return 0.0, 0.0, 1.0, 0.0
    inverse = 1.0 / np.sqrt(max(square, 1e-4))
    along = -(lamp[6] * x + lamp[7] * y + lamp[8] * z) * inverse
    if along <= lamp[10]:
        return 0.0, 0.0, 1.0, 0.0
    beam = _smooth((along - lamp[10]) / (lamp[9] - lamp[10]))
    end = min(4.0 * (1.0 - square / lamp[11]), 1.0)
    return x * inverse, y * inverse, z * inverse, beam * end * inverse * inverse


@compiled
def _lit_by_lamps(weather: Weather, point: Triple, eye: Triple, normal: Array, look: Triple) -> Array:
    """Return the lamps' light on a face and, after it, what the face mirrors of them, (6,)."""
    result = np.zeros(6)
    gloss, mirror, sharpness = look
    facing = normal[0] * eye[0] + normal[1] * eye[1] + normal[2] * eye[2]
    for index in range(len(weather.lamps)):
        lamp = weather.lamps[index]
        x, y, z, strength = _lamp(lamp, point, normal)
        if strength <= 0.0:
            continue
        lobe, seen, source = 0.0, 1.0, normal[0] * x + normal[1] * y + normal[2] * z
        if mirror > 0.0:
            lobe, seen, source = _highlight(normal, eye, (x, y, z), sharpness, facing)
        share = lobe * _mirrored(gloss, mirror, seen)
        for channel in range(3):
            light = lamp[3 + channel] * strength * source
            result[channel] += light
            result[3 + channel] += light * share
    return result


@compiled
def _wet(weather: Weather, look: Array, point: Triple, normal: Array, footprint: float) -> tuple[float, float]:
    """Return how wet a face is, and the share of a water's mirror that it has."""
    level = _smooth((normal[2] - 0.6) * 3.0)
    wet = weather.wetness * level
    film = wet * look[FILM]
    if film <= 0.0:
        return wet, 0.0
    unit = 1.0 / PUDDLE_M
    pool = noise(weather.grain, point[0] * unit, point[1] * unit, footprint * unit)
    return wet, film * (0.35 + 0.65 * _smooth(0.5 + 1.6 * pool))


@compiled
def _shade(point: Triple, view: View, skin: Skin, face: int, scene: tuple[Weather, Cover]) -> Triple:
    """Return the light that a place on a face sends to the viewer, linear RGB."""
    weather, cover = scene
    look, normal, colour = skin.looks[face], skin.normals[face], skin.colours[face]
    x, y, z = view.position[0] - point[0], view.position[1] - point[1], view.position[2] - point[2]
    distance = np.sqrt(x * x + y * y + z * z)
    eye = (x / distance, y / distance, z / distance)
    clear = np.exp(-distance * weather.fog)
    air, fog = weather.air, 1.0 - clear
    if look[GLOW] > 0.0:
        return (colour[0] * clear + air[0] * fog, colour[1] * clear + air[1] * fog, colour[2] * clear + air[2] * fog)
    facing = max(normal[0] * eye[0] + normal[1] * eye[1] + normal[2] * eye[2], 0.02)
    footprint = distance * view.pixel * facing**-0.6  # between a pixel's width and its length on the face
    wet, film = _wet(weather, look, point, normal, footprint) if weather.wetness > 0.0 else (0.0, 0.0)
    tone = 1.0 - wet * look[SOAKS]
    if look[GRAIN] > 0.0:
        tone *= max(1.0 + look[GRAIN] * _grain(weather, point, normal, 1.0 / look[GRAIN_M], footprint), 0.05)
    gloss, mirror = max(look[GLOSS], film * FILM_GLOSS), max(look[MIRROR], film)
    sharpness = look[SHARPNESS] + (FILM_SHARPNESS - look[SHARPNESS]) * film
    open_sky = sky_share(cover, point)
    sky = (SKY_SHARE_LEVEL + SKY_SHARE_SLOPE * normal[2]) * open_sky
    to = (weather.direction[0], weather.direction[1], weather.direction[2])
    sunlit = max(normal[0] * to[0] + normal[1] * to[1] + normal[2] * to[2], 0.0)
    sunlit *= sun_share(cover, point, normal) if sunlit > 0.0 else 1.0
    lamps = _lit_by_lamps(weather, point, eye, normal, (gloss, mirror, sharpness))
    shine, reflected, glint = 0.0, 0.0, (0.0, 0.0, 0.0)
    if mirror > 0.0:
        shine = _mirrored(gloss, mirror, facing)
        lobe, seen, _ = _highlight(normal, eye, to, sharpness, facing)
        reflected = lobe * _mirrored(gloss, mirror, seen) * sunlit
        glint = _sky(weather, 2.0 * facing * normal[2] - eye[2])
    light = weather.sun, weather.ambient
    result = np.empty(3)
    for channel in range(3):
        inward = light[0][channel] * sunlit + light[1][channel] * sky + lamps[channel]
        sent = colour[channel] * tone * inward * (1.0 - shine) + shine * open_sky * glint[channel]
        sent += light[0][channel] * reflected + lamps[3 + channel]
        result[channel] = sent * clear + air[channel] * fog
    return result[0], result[1], result[2]


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
        start[0] + depth * (rays[0, 0] * u + rays[0, 1] * v + rays[0, 2]),
        start[1] + depth * (rays[1, 0] * u + rays[1, 1] * v + rays[1, 2]),
        start[2] + depth * (rays[2, 0] * u + rays[2, 1] * v + rays[2, 2]),
    )
