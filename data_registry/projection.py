"""Outlines of convex things in a camera's picture."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import shapely

from data_registry.geometry import NEAREST_DEPTH_M, Array, PinholeCamera


def outline(points: Array, camera: PinholeCamera) -> Any:
    """Return the picture area (pixels) that the convex hull of ego points (N, 3) covers, clipped to the picture.

    What lies nearer to the camera's plane than NEAREST_DEPTH_M is cut off exactly; the area may be empty.
    """
    frame = shapely.box(-0.5, -0.5, camera.width - 0.5, camera.height - 0.5)
    shown: Any = shapely.intersection(full_outline(points, camera), frame)
    return shown if shown.geom_type == "Polygon" else shapely.Polygon()


def full_outline(points: Array, camera: PinholeCamera) -> shapely.Polygon:
    """Return the same area in an endless picture: it may reach beyond the camera's."""
    seen = camera.ego_to_camera.apply(points)
    front = seen[seen[:, 2] >= NEAREST_DEPTH_M]
    image = np.vstack([front, _crossings(seen)]) @ camera.intrinsics.T
    if len(image) < 3:
        return shapely.Polygon()
    hull: Any = shapely.convex_hull(shapely.multipoints(image[:, :2] / image[:, 2:3]))
    return hull if hull.geom_type == "Polygon" else shapely.Polygon()


def _crossings(seen: Array) -> Array:
    """Return where the lines between camera-frame points (N, 3) meet the nearest depth, (K, 3)."""
    depth = seen[:, 2] - NEAREST_DEPTH_M
    pairs = [(i, j) for i, j in combinations(range(len(seen)), 2) if depth[i] * depth[j] < 0]
    rows = [seen[i] + depth[i] / (depth[i] - depth[j]) * (seen[j] - seen[i]) for i, j in pairs]
    return np.array(rows).reshape(-1, 3)
