"""Meshes move, stretch and join without losing faces."""

from __future__ import annotations

import numpy as np
import pytest

from data_registry.geometry import GeometryError, Transform, yaw_rotation
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.solids import box


def test_placing_a_mesh_moves_its_vertices_and_keeps_its_faces() -> None:
    mesh = box((0, 0, 0), (1, 2, 3), (0.1, 0.2, 0.3))
    placed = mesh.placed(Transform(yaw_rotation(np.pi / 2), np.array([10.0, 0.0, 0.0])))
    assert np.allclose(placed.vertices.min(axis=0), (8, 0, 0))
    assert np.allclose(placed.vertices.max(axis=0), (10, 1, 3))
    assert placed.faces is mesh.faces


def test_scaling_stretches_about_the_origin() -> None:
    assert np.allclose(box((0, 0, 0), (1, 1, 1), (0, 0, 0)).scaled((2, 3, 4)).vertices.max(axis=0), (2, 3, 4))


def test_joined_meshes_keep_their_triangles_in_order() -> None:
    one, two = box((0, 0, 0), (1, 1, 1), (0, 0, 0)), box((5, 5, 5), (6, 6, 6), (1, 1, 1))
    both = joined([one, two])
    assert np.array_equal(both.triangles(), np.concatenate([one.triangles(), two.triangles()]))
    assert np.array_equal(both.colours[-1], (1, 1, 1))


def test_joining_nothing_gives_an_empty_mesh() -> None:
    assert joined([]).triangles().shape == (0, 3, 3)


@pytest.mark.parametrize(
    ("vertices", "faces", "colours", "message"),
    [
        (np.zeros((3, 2)), np.zeros((1, 3), dtype=np.int64), np.zeros((1, 3)), "vertices"),
        (np.full((3, 3), np.nan), np.zeros((1, 3), dtype=np.int64), np.zeros((1, 3)), "finite"),
        (np.zeros((3, 3)), np.array([[0, 1, 3]]), np.zeros((1, 3)), "outside 0..2"),
        (np.zeros((3, 3)), np.array([[0, 1, 2]]), np.zeros((2, 3)), "both be"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(vertices, faces, colours, message) -> None:
    with pytest.raises(GeometryError, match=message):
        Mesh(vertices, faces, colours)
