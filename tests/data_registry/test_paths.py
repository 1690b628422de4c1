"""Paths, headings and tubes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.courses import straight_course
from data_registry.geometry import EGO_FRONT_M, EGO_WIDTH_M, ego_footprints
from data_registry.path_steps import STEP_M, STEP_RAD, STEP_S
from data_registry.paths import (
    HEADING,
    PathError,
    T,
    X,
    Y,
    clearance,
    cut,
    densify,
    derive_headings,
    lane_keep,
    path_of,
    recorded,
    straight,
    tube,
    wrap,
)
from data_registry.records import Motion
from tests.street import keyframe

COORDINATE = st.floats(-20, 20)


@st.composite
def paths(draw: st.DrawFn) -> np.ndarray:
    count = draw(st.integers(2, 6))
    steps = [(draw(st.floats(0.05, 1.0)), draw(COORDINATE), draw(COORDINATE)) for _ in range(count - 1)]
    rows = np.array([(0.0, 0.0, 0.0), *steps])
    return path_of(np.cumsum(rows[:, 0]), np.vstack([np.zeros(2), rows[1:, 1:]]))


@given(paths())
@settings(max_examples=60, deadline=None)
def test_the_tube_covers_everything_between_consecutive_footprints(path: np.ndarray) -> None:
    swept = tube(path).buffer(1e-6)
    bodies = ego_footprints(densify(path)[:, X:])
    hulls = [shapely.MultiPoint(np.vstack(pair)).convex_hull for pair in pairwise(bodies)]
    assert all(swept.covers(hull) for hull in hulls)
    assert swept.area == pytest.approx(shapely.union_all(hulls).area, rel=1e-4)


@given(paths())
@settings(max_examples=60, deadline=None)
def test_no_step_of_a_dense_path_is_too_large_and_the_given_poses_stay(path: np.ndarray) -> None:
    dense = densify(path)
    step = np.diff(dense, axis=0)
    assert (step[:, T] <= STEP_S + 1e-6).all()
    assert (np.hypot(step[:, X], step[:, Y]) <= STEP_M + 1e-6).all()
    assert all(abs(wrap(turn)) <= STEP_RAD + 1e-6 for turn in step[:, HEADING])
    assert all((dense == row).all(axis=1).any() for row in path)


def test_the_number_of_steps_is_that_of_the_largest_of_time_turn_and_way() -> None:
    assert len(densify(np.array([(0.0, 0, 0, 0), (0.1, 1.0, 0, 0)]))) == 2
    assert len(densify(np.array([(0.0, 0, 0, 0), (0.1, 2.5, 0, 0)]))) == 4
    assert len(densify(np.array([(0.0, 0, 0, 0), (0.5, 0.1, 0, 0)]))) == 6
    assert len(densify(np.array([(0.0, 0, 0, 0), (0.1, 0.1, 0, np.deg2rad(20))]))) == 5
    assert len(densify(np.array([(0.0, 0, 0, 0), (0.01, 0.0, 0, 0)]))) == 2


def test_headings_turn_by_the_short_arc() -> None:
    dense = densify(np.array([(0.0, 0, 0, np.deg2rad(170)), (0.1, 0, 0, np.deg2rad(-170))]))
    assert np.degrees(np.abs(dense[:, HEADING])).min() >= 170 - 1e-9


def test_a_straight_tube_is_the_rectangle_from_the_rear_to_the_moved_front() -> None:
    swept = tube(straight(6.0))
    expected = shapely.box(EGO_FRONT_M - 4.084, -EGO_WIDTH_M / 2, EGO_FRONT_M + 18.0, EGO_WIDTH_M / 2)
    assert swept.symmetric_difference(expected).area < 1e-6


@given(st.floats(-3, 3), st.floats(-40, 40), st.floats(-40, 40), st.floats(0, 12))
@settings(max_examples=40, deadline=None)
def test_moving_everything_together_changes_no_clearance(turn: float, dx: float, dy: float, speed: float) -> None:
    path = straight(speed)
    region = shapely.box(9.0, 1.5, 12.0, 4.0)
    c, s = np.cos(turn), np.sin(turn)
    moved = path.copy()
    moved[:, X], moved[:, Y] = c * path[:, X] - s * path[:, Y] + dx, s * path[:, X] + c * path[:, Y] + dy
    moved[:, HEADING] += turn
    turned = shapely.transform(region, lambda p: p @ np.array([[c, s], [-s, c]]) + (dx, dy))
    assert clearance(tube(moved), turned) == pytest.approx(clearance(tube(path), region), abs=1e-6)


def test_touching_is_contact_and_a_millimetre_is_not() -> None:
    swept = tube(straight(1.0))
    reach = EGO_FRONT_M + 3.0
    assert clearance(swept, shapely.box(reach + 5e-7, -1, reach + 2, 1)) == 0.0
    assert clearance(swept, shapely.box(reach + 1e-3, -1, reach + 2, 1)) == pytest.approx(1e-3)


def test_headings_use_central_then_backward_differences() -> None:
    headings = derive_headings(np.array([0.0, 1.0, 3.0]), np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 4.0)]))
    assert headings[0] == 0.0
    assert headings[1] == pytest.approx(np.arctan2(4.0, 2.0))
    assert headings[2] == pytest.approx(np.pi / 2)


def test_a_slow_body_keeps_its_heading_and_a_reversing_one_does_not_turn_round() -> None:
    times = np.array([0.0, 1.0, 2.0])
    slow = derive_headings(times, np.array([(0.0, 0.0), (0.0, 0.1), (0.0, 0.2)]), 0.3)
    np.testing.assert_array_equal(slow, 0.3)
    back = derive_headings(times, np.array([(0.0, 0.0), (-1.0, 0.0), (-2.0, 0.0)]))
    np.testing.assert_allclose(back, 0.0, atol=1e-12)


def test_cutting_interpolates_the_last_pose() -> None:
    path = path_of(np.array([0.0, 2.0, 4.0]), np.array([(0.0, 0.0), (4.0, 0.0), (8.0, 0.0)]))
    assert cut(path)[-1].tolist() == [3.0, 6.0, 0.0, 0.0]
    assert cut(path, 2.0)[-1, T] == 2.0
    np.testing.assert_array_equal(cut(path, 9.0), path)


def test_the_recorded_path_starts_at_the_origin_and_ends_at_the_horizon() -> None:
    path = recorded(keyframe(speed=8.0).motion)
    assert path is not None
    assert path[0].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert path[-1, T] == 3.0
    assert path[-1, X] == pytest.approx(24.0)
    assert recorded(Motion(speed=1.0, source="poses", history=(), future=())) is None


def test_keeping_a_straight_lane_is_driving_straight() -> None:
    np.testing.assert_allclose(lane_keep(6.0, straight_course())[-1], straight(6.0)[-1], atol=1e-9)


def test_a_path_with_nan_or_times_out_of_order_is_refused() -> None:
    with pytest.raises(PathError, match="finite, in row 1"):
        path_of(np.array([0.0, 1.0]), np.array([(0.0, 0.0), (np.nan, 0.0)]), np.zeros(2))
    with pytest.raises(PathError, match="increase strictly"):
        path_of(np.array([0.0, 0.0]), np.zeros((2, 2)))
    with pytest.raises(PathError, match="needs times"):
        path_of(np.array([0.0]), np.zeros((2, 2)))


@given(st.floats(-50, 50))
def test_wrapped_angles_are_the_same_direction(angle: float) -> None:
    assert -np.pi < wrap(angle) <= np.pi
    assert np.cos(wrap(angle)) == pytest.approx(np.cos(angle), abs=1e-9)
    assert np.sin(wrap(angle)) == pytest.approx(np.sin(angle), abs=1e-9)
