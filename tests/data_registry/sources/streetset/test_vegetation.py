from __future__ import annotations

import numpy as np
import pytest

from data_registry.scene3d.materials import Material
from data_registry.sources.streetset.vegetation import KINDS, bush, hedge, tree, tufts
from tests.data_registry.sources.streetset.scenery import climbing_bend, offsets_of


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_tree_is_as_tall_as_asked_rooted_in_the_ground_and_its_crown_stands_on_a_bare_stem(kind: str) -> None:
    mesh = tree(kind, 8.0, 1)
    assert mesh.vertices[:, 2].max() == pytest.approx(8.0, abs=0.8)
    assert mesh.vertices[:, 2].min() < 0.0
    leaves = mesh.triangles()[mesh.materials == Material.FOLIAGE]
    assert leaves[:, :, 2].min() > 0.5 * KINDS[kind].stem * 8.0
    assert np.hypot(*mesh.vertices[:, :2].T).max() < 1.5 * KINDS[kind].reach * 8.0 + 0.5


def test_crowns_of_different_seeds_differ_and_of_one_seed_are_equal() -> None:
    assert np.array_equal(tree("plane", 7.0, 1).vertices, tree.__wrapped__("plane", 7.0, 1).vertices)
    assert not np.array_equal(tree("plane", 7.0, 1).vertices[:900], tree("plane", 7.0, 2).vertices[:900])


def test_a_tree_for_afar_has_far_fewer_faces_and_the_same_outline() -> None:
    near, far = tree("linden", 7.0, 1), tree("linden", 7.0, 1, 0.2)
    assert len(far.faces) < 0.45 * len(near.faces)
    assert far.vertices.max(axis=0) == pytest.approx(near.vertices.max(axis=0), abs=0.35)


def test_a_bush_keeps_about_to_its_size() -> None:
    mesh = bush((2.0, 1.0, 1.5), seed=3)
    extent = mesh.vertices.max(axis=0) - mesh.vertices.min(axis=0)
    assert extent == pytest.approx([2.0, 1.0, 1.5], rel=0.25)
    assert mesh.vertices[:, 2].min() < 0.1


def test_hedges_and_tufts_stand_on_the_ground_of_a_climbing_bend_where_they_are_asked_to() -> None:
    axis = climbing_bend()
    _, across, lift = offsets_of(axis, hedge(axis, 8.0, (10.0, 40.0)).vertices)
    assert np.abs(across - 8.0).max() < 0.4
    assert lift.min() < 0.0
    assert lift.max() == pytest.approx(1.1, abs=0.1)
    stations, across, lift = offsets_of(axis, tufts(axis, 6.0, 9.0, (10.0, 40.0)).vertices)
    assert 5.7 < across.min() < across.max() < 9.3
    assert 9.7 < stations.min() < stations.max() < 40.3
    assert -0.05 < lift.min() < lift.max() < 0.4
