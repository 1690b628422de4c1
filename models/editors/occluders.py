"""What stands before the hazard: annotated objects as bodies of their category, fitted to their boxes.

A box is larger than what is in it: a hazard behind a car is seen past its bonnet and under its door mirrors. Categories
whose bodies vary too much stay boxes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import shapely

from data_registry.geometry import Array, PinholeCamera, Transform
from data_registry.projection import full_outline
from data_registry.records import Annotation, Keyframe
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.shapes import SHAPES
from data_registry.scene3d.solids import box as solid_box

LOOSE: Final = 0.97
"""Annotated boxes are drawn a little loose around their objects."""
BODIES: Final = (
    ("vehicle.car", ("car",)),
    ("vehicle.emergency", ("van", "car")),
    ("vehicle.bus", ("bus",)),
    ("vehicle.truck", ("box_truck",)),
    ("vehicle.bicycle", ("cyclist",)),
    ("vehicle.motorcycle", ("motorcyclist",)),
    ("human.pedestrian", ("pedestrian",)),
    ("animal", ("dog",)),
    ("movable_object.trafficcone", ("cone",)),
    ("movable_object.barrier", ("barrier",)),
)
"""Category prefixes and the shapes that stand for them, best first; everything else is its box."""
RIDERLESS: Final = ("vehicle.bicycle", "vehicle.motorcycle")


def occluders(keyframe: Keyframe, camera: PinholeCamera, timestamp_us: int, target: Mesh) -> list[Mesh]:
    """Return the bodies of annotated objects that may hide a target, moving ones where they are when the camera fires.

    Args:
        keyframe: the annotations.
        camera: who looks.
        timestamp_us: when.
        target: what may be hidden, ego frame; objects that lie wholly behind it or beside it are left out.
    """
    seconds = (timestamp_us - keyframe.timestamp_us) / 1e6
    low, high = target.vertices.min(axis=0), target.vertices.max(axis=0)
    around = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    shown, farthest = full_outline(around, camera), float(camera.ego_to_camera.apply(around)[:, 2].max())
    meshes: list[Mesh] = []
    for note in keyframe.annotations:
        moved = np.array([*(note.velocity or (0.0, 0.0)), 0.0]) * seconds
        corners = note.box.corners() + moved
        before = float(camera.ego_to_camera.apply(corners)[:, 2].min()) < farthest
        if before and shapely.intersects(full_outline(corners, camera), shown):
            meshes.append(body(note, moved))
    return meshes


def body(note: Annotation, moved: Array) -> Mesh:
    """Return an annotated object's body in the ego frame, `moved` (3,) metres from where it is annotated."""
    length, width, height = (LOOSE * extent for extent in note.box.size)
    pose = note.box.pose()
    shape = _shape_of(note)
    if shape is None:
        low = (-length / 2, -width / 2, -height / 2)
        return solid_box(low, (length / 2, width / 2, height / 2), (0.5, 0.5, 0.5)).placed(
            Transform(pose.rotation, pose.translation + moved)
        )
    foot = pose.translation + moved - pose.rotation @ np.array([0.0, 0.0, note.box.size[2] / 2])
    return SHAPES[shape](length, width, note.box.size[2]).placed(Transform(pose.rotation, foot))


def _shape_of(note: Annotation) -> str | None:
    for prefix, shapes in BODIES:
        if note.category.startswith(prefix):
            riderless = prefix in RIDERLESS and "cycle.with_rider" not in note.attributes
            return None if riderless else next((shape for shape in shapes if shape in SHAPES), None)
    return None
