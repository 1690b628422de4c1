"""Where a body's shadow falls by plain projection: another hand than the shadow maps, to hold them against."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from data_registry.geometry import GroundPlane
from data_registry.scene3d.light import Light
from data_registry.scene3d.mesh import Mesh


def shadow_polygon(mesh: Mesh, light: Light, ground: GroundPlane) -> Any:
    """Project a mesh along the light onto the ground: plan area in the mesh's frame, metres.

    Each connected part casts its convex hull; parts below the ground cast none. A sun at or below the ground's horizon
    gives an empty polygon.
    """
    normal = np.array([-ground.slope_x, -ground.slope_y, 1.0])
    climb = float(light.direction @ normal)
    if climb < 1e-3 or not len(mesh.faces):
        return shapely.Polygon()
    height = mesh.vertices @ normal - ground.height_m
    fallen = mesh.vertices - (np.maximum(height, 0.0) / climb)[:, None] * light.direction
    labels = _part_labels(mesh)
    used = np.unique(mesh.faces)
    hulls: list[Any] = [
        shapely.convex_hull(shapely.multipoints(fallen[used[labels[used] == label], :2]))
        for label in np.unique(labels[used])
        if height[used[labels[used] == label]].max() > 0
    ]
    return shapely.union_all([hull for hull in hulls if hull.geom_type == "Polygon"])


def _part_labels(mesh: Mesh) -> npt.NDArray[np.int32]:
    """Number the connected parts of a mesh: one label a vertex."""
    start, end = mesh.faces.ravel(), np.roll(mesh.faces, 1, axis=1).ravel()
    size = len(mesh.vertices)
    links = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(size, size))
    result: Any = connected_components(links, directed=False)
    return result[1]
