"""From samples to pixels: every piece that a pixel's samples hit is shaded once, at their middle, in compiled loops.

The light of a place is sun and sky on its own colour with grain (Lambert), the sky and highlights of sun and lamps
that it mirrors (Schlick, Blinn-Phong), darker and shinier where it is wet, seen through the air. Nothing mirrors
other things: a wet road mirrors the sky and the lamps.

A row of pixels is gathered into a table of fragments, which passes fill column by column. A pass takes its arrays out
of their tuples once: inside a loop that would count references for every fragment, which costs more than the shading.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from data_registry.compiled import compiled
from data_registry.geometry import Array
from data_registry.scene3d.fragments import (
    DISTANCE,
    EYE_X,
    EYE_Y,
    EYE_Z,
    FACING,
    GLOSS_HERE,
    LAMP_RED,
    MIRROR_HERE,
    NORMAL_X,
    NORMAL_Y,
    NORMAL_Z,
    RED,
    ROWS,
    SHARPNESS_HERE,
    SHINE_BLUE,
    SHINE_GREEN,
    SHINE_RED,
    SKY,
    SUNLIT,
    WEIGHT,
    Indices,
    Row,
    Triple,
    X,
    Y,
    Z,
    dot,
    gather,
    vector_at,
)
from data_registry.scene3d.grain import noise
from data_registry.scene3d.light import SKY_SHARE_LEVEL, SKY_SHARE_SLOPE
from data_registry.scene3d.materials import FILM, GLOSS, GLOW, GRAIN, GRAIN_M, MIRROR, SHARPNESS, SOAKS
from data_registry.scene3d.mesh import Materials
from data_registry.scene3d.shadows import Cover, take_sky, take_sun
from data_registry.scene3d.spans import Grid, Pieces, Single

CLOUDS: Final = 9.3
"""A second, coarser layer of grain: this many times larger, so that the tile's period does not show."""
FILM_GLOSS: Final = 0.02
"""Share of light that water mirrors square on (refraction index 1.33)."""
FILM_SHARPNESS: Final = 110.0
PUDDLE_M: Final = 0.06
"""Puddles: size of the finest grain of the noise that decides where water stands, metres."""


class Skin(NamedTuple):
    """What faces look like: unit normals to the viewer's side (M, 3), colours (M, 3), materials (M,), and `TABLE`."""

    normals: Array
    colours: Array
    materials: Materials
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


class Scene(NamedTuple):
    """All that shading reads."""

    pieces: Pieces
    skin: Skin
    viewer: View
    weather: Weather
    cover: Cover


Buffers = tuple[Single, Indices]
"""Of each sample the greatest inverse depth, and the index of the piece that has it, -1 for none."""


@compiled
def _smooth(share: float) -> float:
    """Return an S curve from 0 to 1."""
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


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
def _sky(far: Triple, high: Triple, climb: float) -> Triple:
    """Return the light that comes from above (1) to the horizon (0) and the ground below it (-1)."""
    up = _smooth(climb * 2.5)
    dim = 1.0 + 0.65 * min(max(climb * 4.0, -1.0), 0.0)
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
    lobe = np.exp(look.sharpness * (half - 1.0)) * (look.sharpness + 2.0)  # Blinn-Phong's power, for half near 1
    return _mirrored(look, seen) * lobe / (8.0 * max(look.facing, dot(normal, to), 0.05))


@compiled
def _locate(count: int, fragments: Row, pieces: Pieces, skin: Skin, view: View) -> None:
    """Turn picture positions into places in space, and note their normals and the way to the viewer."""
    table, planes, faces, normals = fragments.table, pieces.planes, pieces.faces, skin.normals
    start, rays = view.position, view.rays
    for at in range(count):
        piece = fragments.pieces[at]
        face = faces[piece]
        fragments.faces[at] = face
        u, v = table[X, at], table[Y, at]
        depth = 1.0 / (planes[piece, 0] * u + planes[piece, 1] * v + planes[piece, 2])
        x = depth * (rays[0][0] * u + rays[0][1] * v + rays[0][2])
        y = depth * (rays[1][0] * u + rays[1][1] * v + rays[1][2])
        z = depth * (rays[2][0] * u + rays[2][1] * v + rays[2][2])
        distance = np.sqrt(x * x + y * y + z * z)
        table[X, at], table[Y, at], table[Z, at] = start[0] + x, start[1] + y, start[2] + z
        table[EYE_X, at], table[EYE_Y, at], table[EYE_Z, at] = -x / distance, -y / distance, -z / distance
        for axis in range(3):
            table[NORMAL_X + axis, at] = normals[face, axis]
        eye = (table[EYE_X, at], table[EYE_Y, at], table[EYE_Z, at])
        table[FACING, at] = max(dot(vector_at(table, at, NORMAL_X), eye), 0.02)
        table[DISTANCE, at] = distance


@compiled
def _dress(count: int, fragments: Row, skin: Skin, weather: Weather, pixel: float) -> None:
    """Note the colours with grain and wetness, and how the places mirror."""
    table, faces = fragments.table, fragments.faces
    colours, looks, levels, wetness = skin.colours, skin.looks, weather.grain, weather.wetness
    materials = skin.materials
    for at in range(count):
        face = faces[at]
        made = materials[face]
        point, normal = vector_at(table, at, X), vector_at(table, at, NORMAL_X)
        footprint = table[DISTANCE, at] * pixel / np.sqrt(table[FACING, at])  # between width and length on the face
        wet = wetness * _smooth((normal[2] - 0.6) * 3.0)
        film = wet * looks[made, FILM]
        if film > 0.0:
            film = _film(levels, film, point, footprint)
        tone = 1.0 - wet * looks[made, SOAKS]
        if looks[made, GRAIN] > 0.0:
            grain = _grain(levels, point, normal, 1.0 / looks[made, GRAIN_M], footprint)
            tone *= max(1.0 + looks[made, GRAIN] * grain, 0.05)
        for channel in range(3):
            table[RED + channel, at] = colours[face, channel] * tone
        table[GLOSS_HERE, at] = max(looks[made, GLOSS], film * FILM_GLOSS)
        table[MIRROR_HERE, at] = max(looks[made, MIRROR], film)
        table[SHARPNESS_HERE, at] = looks[made, SHARPNESS] + (FILM_SHARPNESS - looks[made, SHARPNESS]) * film


@compiled
def _film(levels: Single, film: float, point: Triple, footprint: float) -> float:
    """Return how much of a water's mirror lies on wet ground: more in puddles."""
    unit = 1.0 / PUDDLE_M
    pool = noise(levels, point[0] * unit, point[1] * unit, max(footprint * unit, 16.0))  # clouds only
    return film * (0.45 + 0.55 * _smooth(0.3 + 2.0 * pool))


@compiled
def _light(count: int, table: Array, cover: Cover, toward: Triple) -> None:
    """Note how much of sun and sky each place gets."""
    for at in range(count):
        table[SUNLIT, at] = max(dot(vector_at(table, at, NORMAL_X), toward), 0.0)
        table[SKY, at] = 1.0
    points, normals = table[X : Z + 1, :count], table[NORMAL_X : NORMAL_Z + 1, :count]
    take_sun(cover, points, normals, table[SUNLIT, :count])
    take_sky(cover, points, table[SKY, :count])


@compiled
def _add_lamps(count: int, table: Array, lamps: Array, light: Array) -> None:
    """Note the lamps' light on each place, and what it mirrors of them; `light` (N,) is room to work in."""
    for row in range(LAMP_RED, SHINE_BLUE + 1):
        table[row, :count] = 0.0
    for index in range(lamps.shape[0]):
        lamp = (lamps[index, 0], lamps[index, 1], lamps[index, 2])
        beam = (lamps[index, 6], lamps[index, 7], lamps[index, 8])
        _shine(count, table, lamp, beam, (lamps[index, 9], lamps[index, 10], lamps[index, 11]), light)
        for channel in range(3):
            colour = lamps[index, 3 + channel]
            for at in range(count):
                table[LAMP_RED + channel, at] += light[at] * colour
        for at in range(count):
            if light[at] > 0.0 and table[MIRROR_HERE, at] > 0.0:
                _add_glint(table, at, lamp, (lamps[index, 3], lamps[index, 4], lamps[index, 5]), light[at])


@compiled
def _shine(count: int, table: Array, lamp: Triple, beam: Triple, limits: Triple, light: Array) -> None:
    """Write how strongly a lamp shines on each place: one plain loop, which the compiler turns into wide ones."""
    none, reach = limits[1], limits[2]
    share, fade = 1.0 / reach, 1.0 / (limits[0] - none)
    for at in range(count):
        x, y, z = lamp[0] - table[X, at], lamp[1] - table[Y, at], lamp[2] - table[Z, at]
        source = table[NORMAL_X, at] * x + table[NORMAL_Y, at] * y + table[NORMAL_Z, at] * z
        square = max(x * x + y * y + z * z, 1e-4)
        inverse = 1.0 / np.sqrt(square)
        along = -(beam[0] * x + beam[1] * y + beam[2] * z) * inverse
        end = min(4.0 * (1.0 - square * share), 1.0)
        strength = _smooth((along - none) * fade) * end * source * inverse * inverse * inverse
        light[at] = strength if source > 0.0 and square < reach and along > none else 0.0


@compiled
def _add_glint(table: Array, at: int, lamp: Triple, colour: Triple, light: float) -> None:
    """Add what a place mirrors of a lamp."""
    x, y, z = lamp[0] - table[X, at], lamp[1] - table[Y, at], lamp[2] - table[Z, at]
    inverse = 1.0 / np.sqrt(max(x * x + y * y + z * z, 1e-4))
    look = Look(table[GLOSS_HERE, at], table[MIRROR_HERE, at], table[SHARPNESS_HERE, at], table[FACING, at])
    normal, eye = vector_at(table, at, NORMAL_X), vector_at(table, at, EYE_X)
    light *= _highlight(normal, eye, (x * inverse, y * inverse, z * inverse), look)
    table[SHINE_RED, at] += light * colour[0]
    table[SHINE_GREEN, at] += light * colour[1]
    table[SHINE_BLUE, at] += light * colour[2]


@compiled
def _send(count: int, fragments: Row, skin: Skin, weather: Weather) -> None:
    """Turn the colours into the light that reaches the viewer through the air."""
    table, faces, looks, materials = fragments.table, fragments.faces, skin.looks, skin.materials
    sun, ambient, air, toward, fog = weather.sun, weather.ambient, weather.air, weather.direction, weather.fog
    for at in range(count):
        if looks[materials[faces[at]], GLOW] <= 0.0:
            normal, eye = vector_at(table, at, NORMAL_X), vector_at(table, at, EYE_X)
            look = Look(table[GLOSS_HERE, at], table[MIRROR_HERE, at], table[SHARPNESS_HERE, at], table[FACING, at])
            sunlit, sky = table[SUNLIT, at], table[SKY, at]
            level = (SKY_SHARE_LEVEL + SKY_SHARE_SLOPE * normal[2]) * sky
            shine, glint, above = 0.0, 0.0, air
            if look.mirror > 0.0:
                shine = _mirrored(look, look.facing)
                glint = sunlit * _highlight(normal, eye, toward, look) if sunlit > 0.0 else 0.0
                above = _sky(air, ambient, 2.0 * look.facing * normal[2] - eye[2])
            for channel in range(3):
                inward = sun[channel] * sunlit + ambient[channel] * level + table[LAMP_RED + channel, at]
                back = shine * sky * above[channel] + glint * sun[channel] + table[SHINE_RED + channel, at]
                table[RED + channel, at] = table[RED + channel, at] * inward * (1.0 - shine) + back
        clear = np.exp(-table[DISTANCE, at] * fog) if fog > 0.0 else 1.0
        for channel in range(3):
            table[RED + channel, at] = air[channel] + (table[RED + channel, at] - air[channel]) * clear


@compiled
def _write(row: int, count: int, fragments: Row, rgb: Array, coverage: Array) -> None:
    """Add a row's fragments to their pixels."""
    table, columns = fragments.table, fragments.columns
    for at in range(count):
        column, weight = columns[at], table[WEIGHT, at]
        for channel in range(3):
            rgb[row, column, channel] += table[RED + channel, at] * weight
        coverage[row, column] += weight


@compiled
def nearest(buffers: Buffers, grid: Grid, scene: Scene) -> tuple[Array, Indices]:
    """Return each pixel's depth and owner, as `Rendering` names them: of its nearest sample, of equal ones the first.

    The first mesh, that is: pieces are in the order of the meshes.
    """
    highest, winner = buffers
    height, width, samples = grid.rows // grid.samples, grid.columns // grid.samples, grid.samples
    depth, owner = np.full((height, width), np.inf), np.full((height, width), -1, dtype=np.int32)
    faces, owners = scene.pieces.faces, scene.skin.owners
    for row in range(height):
        for column in range(width):
            best, found = np.float32(0.0), -1
            for down in range(row * samples, (row + 1) * samples):
                for right in range(column * samples, (column + 1) * samples):
                    value, piece = highest[down, right], winner[down, right]
                    if piece >= 0 and (value > best or (value == best and piece < found)):
                        best, found = value, piece
            if found >= 0:
                depth[row, column], owner[row, column] = 1.0 / best, owners[faces[found]]
    return depth, owner


@compiled
def resolve(buffers: Buffers, grid: Grid, scene: Scene) -> tuple[Array, Array]:
    """Return rgb and coverage, as `Rendering` names them: a piece is shaded once for all its samples of a pixel."""
    height, width = grid.rows // grid.samples, grid.columns // grid.samples
    rgb, coverage = np.zeros((height, width, 3)), np.zeros((height, width))
    size = grid.columns * grid.samples
    numbers = np.empty((3, size), dtype=np.int64)
    fragments = Row(np.empty((ROWS, size)), numbers[0], numbers[1], numbers[2])
    light = np.empty(size)
    pieces, skin, weather = scene.pieces, scene.skin, scene.weather
    for row in range(height):
        count = gather(row, buffers[1], grid, fragments)
        _locate(count, fragments, pieces, skin, scene.viewer)
        _dress(count, fragments, skin, weather, scene.viewer.pixel)
        _light(count, fragments.table, scene.cover, weather.direction)
        _add_lamps(count, fragments.table, weather.lamps, light)
        _send(count, fragments, skin, weather)
        _write(row, count, fragments, rgb, coverage)
    return rgb, coverage
