"""Trajectories and regions as a camera sees them on the ground, for drawing over its picture."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import NEAREST_DEPTH_M, Array, Body, GroundPlane, PinholeCamera, ego_footprints
from data_registry.paths import densify, path_of

Line = list[int]
"""Pixels as column, row, column, row, ..."""

STEP_M: Final = 0.5
"""Ground lines are projected in steps of this length: a straight line may be a curve between two that are cut."""
_SIMPLER_M: Final = 0.01


def seen_line(points: Array, camera: PinholeCamera, ground: GroundPlane) -> list[Line]:
    """Return the parts of a plan polyline (N, 2) that lie in the picture, put onto the ground.

    Parts behind the camera and beyond the picture's edge are cut off.
    """
    if len(points) < 2:
        return []
    front = _in_front(ground.lift(_stepped(points)), camera)
    parts: list[Line] = []
    for run in front:
        clipped: Any = shapely.clip_by_rect(shapely.linestrings(run), *_edges(camera))
        parts += [_line(part) for part in shapely.get_parts(clipped) if part.geom_type == "LineString"]
    return [part for part in parts if len(part) >= 4]


def seen_area(corners: Array, camera: PinholeCamera, ground: GroundPlane) -> list[Line]:
    """Return the outlines in the picture of a plan polygon (N, 2) on the ground; empty when it is not seen."""
    ring = ground.lift(_stepped(np.vstack([corners, corners[:1]])))
    kept = _clipped_to_front(ring, camera)
    if len(kept) < 3:
        return []
    polygon: Any = shapely.make_valid(shapely.polygons(kept))
    clipped: Any = shapely.clip_by_rect(polygon, *_edges(camera))
    parts = [part for part in shapely.get_parts(clipped) if part.geom_type == "Polygon"]
    return [_line(part.exterior) for part in parts]


def swept_outline(t: Array, xy: Array, heading: Array | None, body: Body) -> Array:
    """Return the outline (N, 2) of the ground that a body sweeps on its way, holes left out."""
    bodies = ego_footprints(densify(path_of(t, xy, heading))[:, 1:], body)
    steps = np.concatenate([bodies[:-1], bodies[1:]], axis=1) if len(bodies) > 1 else bodies
    whole: Any = shapely.union_all(shapely.convex_hull(shapely.multipoints(steps)))
    return shapely.get_coordinates(shapely.simplify(whole, _SIMPLER_M).exterior)[:-1]


def _edges(camera: PinholeCamera) -> tuple[float, float, float, float]:
    return -0.5, -0.5, camera.width - 0.5, camera.height - 0.5


def _line(part: Any) -> Line:
    return np.rint(shapely.get_coordinates(part)).astype(np.int64).ravel().tolist()


def _stepped(points: Array) -> Array:
    """Return the polyline with points added, so that none is farther than STEP_M from the next."""
    rows = [points[:1]]
    for start, end in pairwise(points):
        count = max(1, int(np.ceil(np.hypot(*(end - start)) / STEP_M)))
        rows.append(start + (end - start) * (np.arange(1, count + 1) / count)[:, None])
    return np.vstack(rows)


def _in_front(points: Array, camera: PinholeCamera) -> list[Array]:
    """Return the pixels of the runs of a 3D polyline (N, 3) that lie in front of the camera, ends cut exactly."""
    seen = camera.ego_to_camera.apply(points)
    depth = seen[:, 2] - NEAREST_DEPTH_M
    runs: list[list[Array]] = [[]]
    for index, point in enumerate(seen):
        crosses = index > 0 and depth[index - 1] * depth[index] < 0
        crossing = _crossing(seen[index - 1], point) if crosses else None
        if depth[index] >= 0:
            runs[-1] += [crossing, point] if crossing is not None else [point]
        elif runs[-1]:
            runs[-1] += [crossing] if crossing is not None else []
            runs.append([])
    return [_pixels(np.array(run), camera) for run in runs if len(run) > 1]


def _clipped_to_front(ring: Array, camera: PinholeCamera) -> Array:
    """Return the pixels of a closed 3D ring's part in front of the camera, cut at the nearest depth."""
    seen = camera.ego_to_camera.apply(ring)
    depth = seen[:, 2] - NEAREST_DEPTH_M
    kept: list[Array] = []
    for index in range(len(seen) - 1):
        if depth[index] >= 0:
            kept.append(seen[index])
        if depth[index] * depth[index + 1] < 0:
            kept.append(_crossing(seen[index], seen[index + 1]))
    return _pixels(np.array(kept), camera) if kept else np.empty((0, 2))


def _crossing(one: Array, other: Array) -> Array:
    """Return where the line between two camera-frame points meets the nearest depth."""
    share = (NEAREST_DEPTH_M - one[2]) / (other[2] - one[2])
    return one + share * (other - one)


def _pixels(seen: Array, camera: PinholeCamera) -> Array:
    image = seen @ camera.intrinsics.T
    return image[:, :2] / image[:, 2:3]
