from __future__ import annotations

import numpy as np
import pytest

from data_registry.geometry import GeometryError
from data_registry.sources.streetset.alignment import Alignment, height_near
from tests.data_registry.sources.streetset.scenery import climbing_bend, straight


def test_places_on_a_bend_keep_their_distance_from_its_centre() -> None:
    axis = climbing_bend(radius=60.0)
    places = axis.at(np.linspace(0, axis.length, 50), 5.0)
    assert np.hypot(places[:, 0], places[:, 1] - 60.0) == pytest.approx(55.0, abs=0.02)


def test_heights_follow_the_grade() -> None:
    axis = climbing_bend(grade=0.06)
    assert axis.at([0.0, 40.0, 80.0])[:, 2] == pytest.approx([0.0, 2.4, 4.8], abs=0.01)


def test_a_pose_looks_along_the_alignment_and_stands_upright() -> None:
    axis = climbing_bend(radius=60.0)
    pose = axis.pose(30.0, offset=2.0, lift=0.1, turned=0.5)
    assert pose.yaw == pytest.approx(0.5 + 0.5, abs=0.01)
    assert pose.rotation[2].tolist() == [0.0, 0.0, 1.0]


def test_cuts_keep_every_point_between_and_are_never_farther_apart_than_asked() -> None:
    axis = straight()
    cuts = axis.cuts((3.0, 50.0), 2.5)
    assert {4.0, 8.0, 48.0} <= set(cuts.tolist())
    assert (cuts[0], cuts[-1]) == (3.0, 50.0)
    assert np.diff(cuts).max() <= 2.5 + 1e-9
    assert not len(axis.cuts((90.0, 95.0), 1.0))


def test_the_height_of_the_ground_is_that_of_the_nearest_place() -> None:
    level, high = straight(), Alignment(straight().points + np.array([0.0, 30.0, 5.0]))
    points = np.array([[10.0, 3.0], [10.0, 26.0]])
    assert height_near((level, high), points).tolist() == [0.0, 5.0]


@pytest.mark.parametrize("points", [[[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]]])
def test_points_without_length_are_refused(points: list[list[float]]) -> None:
    with pytest.raises(GeometryError):
        Alignment(np.array(points))
