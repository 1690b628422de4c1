"""Mirror images: of the hazard in a wet road, of what stands beyond in standing water."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy import ndimage

from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.scene3d.mesh import Mesh

WATER_INDEX_SHARE: Final = 0.02
"""Share of light that water mirrors when looked at straight from above (refractive index 1.33)."""


def mirrored(mesh: Mesh, ground: GroundPlane) -> Mesh:
    """Return a mesh's mirror image below the ground, upright hazards only: heights change sign."""
    below = mesh.vertices.copy()
    below[:, 2] = 2 * ground.height_at(mesh.vertices) - mesh.vertices[:, 2]
    return Mesh(below, mesh.faces, mesh.colours, mesh.materials)


def fresnel(rays: Array, ground: GroundPlane) -> Array:
    """Return the share (...) of light that water on the ground mirrors towards viewing rays (..., 3) (Schlick 1994)."""
    steep = np.abs(rays @ _normal(ground)) / np.linalg.norm(rays, axis=-1)
    return WATER_INDEX_SHARE + (1 - WATER_INDEX_SHARE) * (1 - np.clip(steep, 0.0, 1.0)) ** 5


def beyond(picture: Array, camera: PinholeCamera, rays: Array, ground: GroundPlane) -> Array:
    """Return what level water mirrors towards unit viewing rays (N, 3): the picture's colours (N, 3) far beyond.

    What is mirrored is taken to be far away, so that its mirror image lies as far above the horizon as the water lies
    below; rays that lead out of the picture get the colour at its edge.

    Args:
        picture: (H, W, 3) linear light.
        camera: the picture's camera.
        rays: unit viewing directions in the ego frame.
        ground: the level that mirrors.
    """
    normal = _normal(ground)
    upward = rays - 2 * (rays @ normal)[:, None] * normal
    image = upward @ camera.ego_to_camera.rotation.T @ camera.intrinsics.T
    pixels = image[:, :2] / np.maximum(image[:, 2:3], 1e-6)
    coarse = picture[::4, ::4]
    soft = ndimage.gaussian_filter(coarse, (1.2, 0.8, 0))
    at = [pixels[:, 1] / 4, pixels[:, 0] / 4]
    return np.stack([ndimage.map_coordinates(soft[..., c], at, order=1, mode="nearest") for c in range(3)], axis=-1)


def _normal(ground: GroundPlane) -> Array:
    normal = np.array([-ground.slope_x, -ground.slope_y, 1.0])
    return normal / float(np.linalg.norm(normal))
