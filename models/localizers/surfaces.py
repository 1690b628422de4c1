"""Surface hazards: the ground that their pixels cover, from all views together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import shapely

from data_registry import silhouettes
from data_registry.geometry import Array, GroundPlane, PinholeCamera
from models.localizers.localizer import RegionNotFoundError, SeenHazard

PIXEL: Final = np.array([(dx, dy) for dx in (-0.5, 0.5) for dy in (-0.5, 0.5)])
"""Corners (4, 2) of a pixel around its centre."""


def on_ground(
    ground: GroundPlane, views: Sequence[tuple[SeenHazard, PinholeCamera]]
) -> tuple[shapely.Polygon, tuple[str, ...]]:
    """Return the convex hull of a mask's pixels on the ground, over all views, and the views that show any.

    Raises:
        RegionNotFoundError: no view shows any, or one shows the hazard above the horizon: then it does not lie on the
            ground, and how far what is seen of it below reaches cannot be told.
    """
    points: list[Array] = []
    sensors: list[str] = []
    for view, camera in views:
        ends = silhouettes.column_ends(silhouettes.main_parts(view.object_mask))
        if not len(ends):
            continue
        corners = (ends[:, None] + PIXEL).reshape(-1, 2)
        met = ground.intersect(camera.position, camera.rays(corners))[:, :2]
        above = ~np.isfinite(met).all(axis=1)
        if above.any():
            share = len(np.unique(corners[above, 0])) / len(np.unique(corners[:, 0]))
            raise RegionNotFoundError(
                f"{view.sensor_id} shows the hazard above the horizon, in {share:.0%} of its width: it does not lie on"
                " the ground"
            )
        points.append(met)
        sensors.append(view.sensor_id)
    hull: Any = shapely.convex_hull(shapely.multipoints(np.concatenate(points))) if points else shapely.Polygon()
    if not isinstance(hull, shapely.Polygon) or hull.is_empty:
        raise RegionNotFoundError("no view shows the hazard on the ground")
    return hull, tuple(sensors)
