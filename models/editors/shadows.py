"""How a standing hazard darkens the ground: it keeps the sky away close by, and the sun along its shadow."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import shapely
from scipy import ndimage

from data_registry.geometry import Array, GroundPlane
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.rasteriser import shadow_polygon
from models.editors.appearance import Look

UNDER: Final = 0.80
"""Darkness right below the hazard."""
REACH_SHARE: Final = 0.22
REACH_LIMITS_M: Final = (0.10, 0.55)
"""How far the missing sky is felt, as a share of the hazard's height, metres."""
LOW_M: Final = 0.25
"""Parts below this height touch, or nearly touch, the ground."""
PENUMBRA_PX: Final = 1.5


def shade_ground(points: Array, mesh: Mesh, look: Look, ground: GroundPlane) -> Array:
    """Return the darkness (H, W) in 0..1 of ground seen at plan points (H, W, 2), NaN where no ground is."""
    known = np.isfinite(points).all(axis=2)
    flat = points[known]
    near = _contact(flat, mesh, ground)
    cast = _sunless(flat, mesh, look, ground)
    dark = np.zeros(points.shape[:2])
    dark[known] = cast
    dark = ndimage.gaussian_filter(dark, PENUMBRA_PX)
    contact = np.zeros(points.shape[:2])
    contact[known] = near
    return 1.0 - (1.0 - dark) * (1.0 - contact)


def _contact(points: Array, mesh: Mesh, ground: GroundPlane) -> Array:
    """Darken below the hull of the lowest parts and softly around it."""
    height = mesh.vertices[:, 2] - ground.height_at(mesh.vertices)
    reach = float(np.clip(REACH_SHARE * height.max(), *REACH_LIMITS_M))
    low = mesh.vertices[height <= max(LOW_M, 0.2 * float(height.max()))][:, :2]
    hull: Any = shapely.convex_hull(shapely.multipoints(low))
    darkness = np.zeros(len(points))
    left, bottom, right, top = hull.buffer(3 * reach).bounds
    near = (points[:, 0] > left) & (points[:, 0] < right) & (points[:, 1] > bottom) & (points[:, 1] < top)
    distance = _distance_to_convex(points[near], np.asarray(hull.exterior.coords))
    darkness[near] = UNDER * np.exp(-((distance / reach) ** 2))
    return darkness


def _distance_to_convex(points: Array, ring: Array) -> Array:
    """Return the distance (N,) of points (N, 2) to a closed convex ring (K, 2), 0 inside."""
    nearest = np.full(len(points), np.inf)
    inside = shapely.contains_xy(shapely.Polygon(ring), points[:, 0], points[:, 1])
    for start, end in pairwise(ring):
        way = end - start
        along = np.clip((points - start) @ way / float(way @ way), 0.0, 1.0)
        nearest = np.minimum(nearest, np.hypot(*(points - start - along[:, None] * way).T))
    return np.where(inside, 0.0, nearest)


def _sunless(points: Array, mesh: Mesh, look: Look, ground: GroundPlane) -> Array:
    """Take the sun's share of the light away where the hazard stands between sun and ground."""
    shadow = shadow_polygon(mesh, look.light, ground)
    if shadow.is_empty:
        return np.zeros(len(points))
    shapely.prepare(shadow)
    return np.where(shapely.contains_xy(shadow, points[:, 0], points[:, 1]), look.sun_share, 0.0)
