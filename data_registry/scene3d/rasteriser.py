"""A renderer with a z-buffer: what a camera sees of some meshes in some light.

This module is the door: it turns meshes, camera and light into plain arrays for the compiled loops of `spans` (which
face each sample hits) and `shading` (what it looks like). They are imported on the first picture, as numba is slow to
import. Ties in depth go to the earlier face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array, GeometryError, PinholeCamera
from data_registry.scene3d.light import Lamp, Light
from data_registry.scene3d.materials import TABLE
from data_registry.scene3d.mesh import Mesh, joined, triple

if TYPE_CHECKING:
    from data_registry.scene3d.shading import Buffers, Scene, Skin, View, Weather
    from data_registry.scene3d.shadows import Shadows
    from data_registry.scene3d.spans import Grid, Pieces

SAMPLES: Final = 2
"""Samples a pixel along each axis, unless asked otherwise."""
DARK: Final = 1e-3
"""Light of a lamp that no longer counts, linear: a tenth of a step of 8-bit brightness in the dark."""


@dataclass(frozen=True, slots=True, eq=False)
class Rendering:
    """What a camera sees of some meshes, for one window of its picture.

    Attributes:
        rgb: (H, W, 3) linear RGB, premultiplied by coverage.
        coverage: (H, W), share of the pixel's samples that hit a mesh, 0..1.
        depth: (H, W), metres along the optical axis of the pixel's nearest sample, infinite where nothing is.
        owner: (H, W) int32, index of the mesh of that sample, -1 where nothing is.
    """

    rgb: Array
    coverage: Array
    depth: Array
    owner: npt.NDArray[np.int32]


def render(
    meshes: Sequence[Mesh],
    camera: PinholeCamera,
    light: Light,
    window: tuple[int, int, int, int] | None = None,
    samples: int = SAMPLES,
    shadows: Shadows | None = None,
) -> Rendering:
    """Render meshes given in the ego frame at time 0.

    Args:
        meshes: nearer ones hide farther ones, whatever the order; `owner` counts in this order.
        camera: the reading to render for.
        light: sun, sky, lamps and air, ego frame.
        window: (left, top, right, bottom) pixels, right and bottom exclusive; the whole picture by default.
        samples: samples a pixel along each axis.
        shadows: what `cast_shadows` gives for this camera and light; without it everything is in full light.

    Raises:
        GeometryError: the window is empty or not in the picture, or samples is below 1.
    """
    from data_registry.scene3d.shading import nearest, resolve
    from data_registry.scene3d.spans import Grid

    left, top, right, bottom = window or (0, 0, camera.width, camera.height)
    if not (0 <= left < right <= camera.width and 0 <= top < bottom <= camera.height) or samples < 1:
        size = f"{camera.width}x{camera.height}"
        raise GeometryError(f"window {window} with {samples} samples a side is not part of a {size} picture")
    grid = Grid(left * samples, top * samples, (right - left) * samples, (bottom - top) * samples, samples)
    drawn = _drawn(meshes, camera, light, grid, shadows)
    return Rendering(*resolve(*drawn), *nearest(*drawn))


def photograph(
    meshes: Sequence[Mesh], camera: PinholeCamera, light: Light, shadows: Shadows | None = None
) -> tuple[Array, Array]:
    """Return `rgb` and `coverage` of what `render` gives for the whole picture, without the work for the rest."""
    from data_registry.scene3d.shading import resolve
    from data_registry.scene3d.spans import Grid

    grid = Grid(0, 0, camera.width * SAMPLES, camera.height * SAMPLES, SAMPLES)
    return resolve(*_drawn(meshes, camera, light, grid, shadows))


def _drawn(
    meshes: Sequence[Mesh], camera: PinholeCamera, light: Light, grid: Grid, shadows: Shadows | None
) -> tuple[Buffers, Grid, Scene]:
    """Return which piece each sample of a window hits, and all that shading reads."""
    from data_registry.scene3d.shading import Scene
    from data_registry.scene3d.shadows import NO_COVER
    from data_registry.scene3d.spans import draw, projected

    whole = joined(meshes)
    pieces = projected(camera.ego_to_camera.apply(whole.vertices), whole.faces, camera.intrinsics, grid)
    nearness = np.zeros((grid.rows, grid.columns), dtype=np.float32)
    winner = np.full((grid.rows, grid.columns), -1, dtype=np.int32)
    draw(pieces, grid, nearness, winner)
    skin = _skin(whole, [len(mesh.faces) for mesh in meshes], camera, pieces)
    cover = NO_COVER if shadows is None else shadows.cover
    return (nearness, winner), grid, Scene(pieces, skin, _view(camera), _weather(light), cover)


def _skin(whole: Mesh, counts: Sequence[int], camera: PinholeCamera, pieces: Pieces) -> Skin:
    from data_registry.scene3d.fragments import normals_towards
    from data_registry.scene3d.shading import Skin

    owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    normals = normals_towards(whole.vertices, whole.faces, pieces.faces, triple(camera.position))
    return Skin(normals, np.ascontiguousarray(whole.colours, dtype=np.float64), whole.materials, TABLE, owners)


def _view(camera: PinholeCamera) -> View:
    from data_registry.scene3d.shading import View

    rays = camera.ego_to_camera.rotation.T @ np.linalg.inv(camera.intrinsics)
    rows = triple(rays[0]), triple(rays[1]), triple(rays[2])
    return View(triple(camera.position), rows, 1.0 / float(camera.intrinsics[0, 0]))


def _weather(light: Light) -> Weather:
    from data_registry.scene3d.grain import noise_levels
    from data_registry.scene3d.shading import Weather

    air = light.air
    lamps = np.array([_lamp_row(lamp) for lamp in light.lamps]).reshape(-1, 12)
    sun, ambient = triple(light.sun), triple(light.ambient)
    far = ambient if air is None else triple(air.colour)
    fog, wetness = (0.0, 0.0) if air is None else (1.0 / air.sight_m, float(air.wetness))
    return Weather(triple(light.direction), sun, ambient, far, fog, wetness, lamps, noise_levels())


def _lamp_row(lamp: Lamp) -> list[float]:
    """Return position, colour, direction, cosines between which the beam fades, and the square of its reach."""
    direction = np.zeros(3) if lamp.direction is None else lamp.direction
    full, none = float(np.cos(lamp.spread)), float(np.cos(min(lamp.spread * 4 / 3, np.pi)))
    fades = (-2.0, -3.0) if lamp.direction is None else (full, none)
    return [*lamp.position, *lamp.colour, *direction, *fades, max(float(lamp.colour.max()), 0.0) / DARK]
