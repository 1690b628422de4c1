"""Hazards that are part of the road: broken asphalt with the road's own colour and texture, water, ice.

What is drawn keeps the source's fine texture, so that new asphalt has the grain of the old; water shows what stands
beyond it upside down; ice lets the road shine through.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.rasteriser import Rendering
from models.editors.appearance import ASPHALT, Look
from models.editors.reflections import beyond, fresnel

Bools = npt.NDArray[np.bool_]

WET: Final = (Material.WATER, Material.ICE)
SHORE: Final = 3
DAMP: Final = 0.62
"""Index of the damp edge among the layers, and how much light wet asphalt sends back compared with dry."""
TEXTURE_SHARE: Final = 0.7
TEXTURE_PX: Final = 4.0
TEXTURE_RANGE: Final = (0.86, 1.16)
"""What may be asphalt's texture: edges of road markings are stronger, and a hole has none."""
WATER_BODY: Final = np.array([0.52, 0.50, 0.46])
"""Colour of shallow dirty water relative to the road below it."""
RIPPLE: Final = 0.006
"""How far ripples turn the mirrored view, radians."""
ICE_WHITE: Final = 0.6
"""Reflectance of rough ice and the snow in it."""
ICE_COVER: Final = 0.80
"""How much of the road ice hides in the middle."""
ICE_EDGE_PX: Final = 3.5
ICE_MIRROR: Final = 0.32
"""Share of water's mirroring that ice has."""


@dataclass(frozen=True, slots=True, eq=False)
class Backdrop:
    """What lies behind a window: the whole picture and the window's part in linear light, viewing rays (H, W, 3)."""

    picture: Array
    part: Array
    rays: Array


def layers(mesh: Mesh) -> list[Mesh]:
    """Split a surface into what is solid, water, ice, and the damp asphalt around these; some may be empty."""
    liquid = np.isin(mesh.materials, WET)
    damp = (mesh.materials == Material.ASPHALT) & bool(liquid.any())
    parts = [~liquid & ~damp, *(mesh.materials == material for material in WET), damp]
    return [Mesh(mesh.vertices, mesh.faces[part], mesh.colours[part], mesh.materials[part]) for part in parts]


def painted(drawn: Rendering, look: Look, back: Backdrop, camera: PinholeCamera, ground: GroundPlane) -> Array:
    """Return the surface's linear RGB (H, W, 3), premultiplied by coverage.

    Args:
        drawn: the layers of `layers`, rendered.
        look: light and road at the place.
        back: what is behind.
        camera: the picture's camera.
        ground: the road.
    """
    expected = ASPHALT * (look.light.irradiance(np.array([[0.0, 0.0, 1.0]]))[0])
    own = np.clip(look.road / np.maximum(expected, 1e-4), 0.5, 1.8)
    texture = back.part.mean(axis=2)
    fine = texture / np.maximum(ndimage.gaussian_filter(texture, TEXTURE_PX), 1e-3)
    rgb = drawn.rgb * own * np.clip(fine, *TEXTURE_RANGE)[..., None] ** TEXTURE_SHARE
    shore = drawn.owner == SHORE
    rgb[shore] = back.part[shore] * (DAMP * drawn.coverage[shore])[:, None]
    for index, paint in ((1, _water), (2, _ice)):
        inside = drawn.owner == index
        if inside.any():
            colours = paint(look, back, inside, camera, ground)
            rgb[inside] = colours * drawn.coverage[inside][:, None]
    return rgb


def _mirror(back: Backdrop, inside: Bools, camera: PinholeCamera, ground: GroundPlane) -> tuple[Array, Array]:
    """Return what is mirrored (N, 3) and how strongly (N, 1), with ripples that grow with nearness."""
    rays = back.rays[inside]
    rays = rays / np.linalg.norm(rays, axis=1, keepdims=True)
    flat = ground.intersect(camera.position, rays)[:, :2]
    tilt = np.column_stack([np.zeros((len(rays), 2)), RIPPLE * (_clouds(flat, 0.35) + 0.5 * _clouds(flat, 0.12))])
    turned = rays + tilt
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return beyond(back.picture, camera, turned, ground), fresnel(rays, ground)[:, None]


def _water(look: Look, back: Backdrop, inside: Bools, camera: PinholeCamera, ground: GroundPlane) -> Array:
    image, share = _mirror(back, inside, camera, ground)
    depth = _inwards(inside, 6.0)[:, None]
    bed = ndimage.gaussian_filter(back.part, (1.0, 1.0, 0))[inside]
    body = bed * (1 - depth) * 0.7 + depth * (0.35 * bed + 0.65 * look.road) * WATER_BODY
    return image * share * (0.35 + 0.65 * depth) + body * (1 - share * (0.35 + 0.65 * depth))


def _ice(look: Look, back: Backdrop, inside: Bools, camera: PinholeCamera, ground: GroundPlane) -> Array:
    image, share = _mirror(back, inside, camera, ground)
    flat = ground.intersect(camera.position, back.rays[inside])[:, :2]
    patchy = np.clip(0.6 + 0.5 * _clouds(flat, 0.9) + 0.25 * _clouds(flat, 0.2), 0.0, 1.3)
    depth = _inwards(inside, ICE_EDGE_PX)
    cover = (ICE_COVER * depth * (0.4 + 0.6 * patchy))[:, None]
    # What lamps add does not fall from the sky, but the road shows it.
    told = ICE_WHITE / ASPHALT * look.road if look.is_night else np.zeros(3)
    white = np.maximum(ICE_WHITE * look.light.irradiance(np.array([[0.0, 0.0, 1.0]])), told)
    under = back.part[inside] * (1 - cover) + white * cover
    mirrored = share * ICE_MIRROR * depth[:, None]
    return under * (1 - mirrored) + image * mirrored


def _inwards(inside: Bools, width_px: float) -> Array:
    """Return for pixels inside (N,) how far in they lie, 0 at the edge to 1 `width_px` inside."""
    # what floats on it makes no shore
    distance: Any = ndimage.distance_transform_edt(ndimage.binary_fill_holes(inside))
    return np.clip(distance[inside] / width_px, 0.0, 1.0)


@cache
def _tile() -> Array:
    """Return a periodic field (64, 64) of smooth bumps with unit spread, always the same."""
    white = np.random.Generator(np.random.PCG64(1)).standard_normal((64, 64))
    smooth = ndimage.gaussian_filter(white, 1.0, mode="wrap")
    return smooth / float(smooth.std())


def _clouds(points: Array, size_m: float) -> Array:
    """Return smooth noise (N,) of unit spread at plan points (N, 2), its bumps about `size_m` wide."""
    places = np.nan_to_num(points).T / size_m * 2.0
    return ndimage.map_coordinates(_tile(), places, order=1, mode="grid-wrap")
