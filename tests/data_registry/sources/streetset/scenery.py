"""Alignments and a small world that the tests of the painted town share."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from data_registry.geometry import Array, PinholeCamera, Transform
from data_registry.scene3d.mesh import Mesh
from data_registry.sources.streetset import ground
from data_registry.sources.streetset.alignment import Alignment
from data_registry.sources.streetset.conditions import CONDITIONS
from data_registry.sources.streetset.fittings import lamp_at, street_lamp
from data_registry.sources.streetset.painting import World, world


def straight(length: float = 80.0) -> Alignment:
    return Alignment(
        np.column_stack([np.arange(0.0, length + 1, 4.0), np.zeros(int(length / 4) + 1), np.zeros(int(length / 4) + 1)])
    )


def climbing_bend(radius: float = 60.0, grade: float = 0.06) -> Alignment:
    """A left bend of 80 m that climbs."""
    way = np.arange(0.0, 81.0, 2.0)
    turn = way / radius
    return Alignment(np.column_stack([radius * np.sin(turn), radius * (1 - np.cos(turn)), grade * way]))


def offsets_of(axis: Alignment, points: Array) -> tuple[Array, Array, Array]:
    """Return station, offset and height above the alignment of points (N, 3): the nearest of many places on it."""
    stations = np.linspace(0.0, axis.length, 4001)
    places = axis.at(stations)
    nearest = np.asarray(KDTree(places[:, :2]).query(points[:, :2])[1])
    left = axis.at(stations, 1.0)[nearest, :2] - places[nearest, :2]
    offset = np.einsum("nk,nk->n", points[:, :2] - places[nearest, :2], left)
    return stations[nearest], offset, points[:, 2] - places[nearest, 2]


def looking_ahead(
    width: int = 160, height: int = 90, at: tuple[float, float, float] = (0.0, 0.0, 1.5)
) -> PinholeCamera:
    """A level camera that looks along x."""
    focal = 0.8 * width
    intrinsics = np.array([[focal, 0.0, width / 2], [0.0, focal, height / 2], [0.0, 0.0, 1.0]])
    turn = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    return PinholeCamera(intrinsics, Transform(turn, np.array(at)).inverse(), width, height)


def lamp_street(condition: str) -> World:
    """A road with lamps above it at 20 m and 60 m."""
    axis = straight()
    meshes: list[Mesh] = [ground.carriageway(axis, -4.0, 4.0), ground.land((axis,))]
    lamps = []
    for s in (20.0, 60.0):
        post, lamp = street_lamp(arm=4.5, lit=True)
        pose = axis.pose(s, -4.5)
        meshes.append(post.placed(pose))
        lamps.append(lamp_at(lamp, pose))
    return world(CONDITIONS[condition], tuple(meshes), (), tuple(lamps))
