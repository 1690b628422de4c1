"""The local ground plane: what outliers, few boxes and boxes in one line do to it, and what real roads gain by it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.ground_plane import bottoms, errors
from data_registry.geometry import GroundPlane, fit_ground
from data_registry.sources.streetset import VERSION
from data_registry.sources.streetset.scenes import scene_named
from data_registry.sources.streetset.tables import make_tables

NEAR = np.array([[x, y] for x in (8.0, 20.0, 32.0) for y in (-6.0, 0.0, 6.0)])
"""Places within the reach of edits."""
slopes = st.floats(-0.05, 0.05)


def scattered(count: int, slope_x: float, slope_y: float, height: float = 0.0) -> np.ndarray:
    """Box bottoms around the ego on a plane."""
    plan = np.random.Generator(np.random.PCG64(count)).uniform(-40, 40, (count, 2))
    return np.column_stack([plan, height + plan @ (slope_x, slope_y)])


@given(slopes, slopes, st.integers(20, 80))
@settings(deadline=None, max_examples=30)
def test_a_road_that_slopes_under_the_wheels_is_found(slope_x: float, slope_y: float, count: int) -> None:
    plane = fit_ground(scattered(count, slope_x, slope_y))

    assert np.abs(plane.height_at(NEAR) - NEAR @ (slope_x, slope_y)).max() < 0.03


@given(slopes, slopes, st.floats(-0.1, 0.1), st.integers(30, 80))
@settings(deadline=None, max_examples=30)
def test_a_road_beside_the_wheels_is_found_with_enough_boxes(
    slope_x: float, slope_y: float, height: float, count: int
) -> None:
    """Enough to outweigh that the ego vehicle's frame says z = 0, good to 0.05 m: 20 are not."""
    plane = fit_ground(scattered(count, slope_x, slope_y, height))

    assert np.abs(plane.height_at(NEAR) - (height + NEAR @ (slope_x, slope_y))).max() < 0.05


@given(slopes, slopes, st.permutations(range(30)))
@settings(deadline=None, max_examples=30)
def test_the_order_of_boxes_does_not_matter(slope_x: float, slope_y: float, order: list[int]) -> None:
    points = scattered(30, slope_x, slope_y)
    points[::7, 2] += 1.5

    one, other = fit_ground(points), fit_ground(points[order])

    assert np.allclose(one.height_at(NEAR), other.height_at(NEAR), atol=1e-6)
    assert one.residual_m == pytest.approx(other.residual_m, abs=1e-6)


@given(st.floats(-40, 40), st.floats(-40, 40), st.floats(-1000, 1000))
@settings(deadline=None, max_examples=30)
def test_one_box_hardly_moves_the_ground_however_wrong_it_is(x: float, y: float, height: float) -> None:
    points = scattered(25, 0.01, -0.01)

    moved = fit_ground(np.vstack([points, [x, y, height]]))

    assert np.abs(moved.height_at(NEAR) - fit_ground(points).height_at(NEAR)).max() < 0.12


@given(st.floats(0.0, 3.0), st.floats(10.0, 40.0))
@settings(deadline=None, max_examples=30)
def test_a_thing_that_hangs_above_the_road_does_not_lift_it(height: float, x: float) -> None:
    points = np.vstack([scattered(12, 0.0, 0.0), [[x, 1.0, height], [x, -1.0, height]]])

    assert np.abs(fit_ground(points).height_at(NEAR)).max() < 0.15


@given(st.floats(-0.04, 0.04), st.floats(-8, 8))
@settings(deadline=None, max_examples=30)
def test_boxes_in_one_line_tell_nothing_across_it(slope: float, beside: float) -> None:
    along = np.arange(5.0, 41.0, 4.0)
    points = np.column_stack([along, np.full_like(along, beside), slope * along])

    plane = fit_ground(points)

    assert abs(plane.slope_y) < 0.02
    assert np.abs(plane.height_at(points) - points[:, 2]).max() < 0.1


@given(st.floats(-40, 40), st.floats(-40, 40), st.floats(-0.5, 0.5))
@settings(deadline=None, max_examples=30)
def test_a_single_box_leaves_the_ground_under_the_wheels(x: float, y: float, height: float) -> None:
    plane = fit_ground(np.array([[x, y, height]]))

    assert abs(plane.height_m) <= 0.05
    assert abs(plane.height_at(np.array([[x, y]]))[0]) <= abs(height) + 1e-9


@given(slopes, st.integers(8, 30), st.integers(8, 30))
@settings(deadline=None, max_examples=30)
def test_a_road_that_bends_at_the_wheels_is_followed_ahead_rather_than_behind(
    slope: float, ahead: int, behind: int
) -> None:
    x = np.concatenate([np.linspace(2, 40, ahead), np.linspace(-40, -2, behind)])
    points = np.column_stack([x, np.where(np.arange(len(x)) % 2, 3.0, -3.0), slope * np.maximum(x, 0.0)])

    before, after = (np.array([[at, 0.0]]) for at in (30.0, -30.0))

    plane = fit_ground(points)
    assert abs(plane.height_at(before)[0] - slope * 30) <= abs(plane.height_at(after)[0]) + 1e-9


def test_boxes_behind_alone_are_followed_as_those_ahead_alone_would_be() -> None:
    """Only what is ahead of them makes them count less."""
    x = np.arange(5.0, 41.0, 4.0)
    points = np.column_stack([x, np.where(x % 8 > 4, 3.0, -3.0), 0.03 * x])

    ahead, behind = fit_ground(points), fit_ground(points * (-1, 1, 1))

    assert behind.slope_x == pytest.approx(-ahead.slope_x)
    assert (behind.height_m, behind.residual_m) == pytest.approx((ahead.height_m, ahead.residual_m))


def test_at_the_foot_of_a_hill_the_plane_is_nearer_to_the_road_ahead_than_the_ego_frame(tmp_path: Path) -> None:
    (tmp_path / VERSION).mkdir()
    for name, records in make_tables((scene_named("scene-9006"),)).items():
        (tmp_path / VERSION / f"{name}.json").write_text(json.dumps(records), encoding="utf-8")

    frames = list(bottoms(tmp_path, VERSION))
    flat, plane = errors(frames, lambda _points: GroundPlane()), errors(frames, fit_ground)

    for low, high, gain in ((10, 20, 0.6), (20, 30, 0.4), (30, 45, 0.1)):
        rows = (flat[:, 0] >= low) & (flat[:, 0] < high) & (flat[:, 2] > 0)
        assert np.median(np.abs(plane[rows, 1])) < gain * np.median(np.abs(flat[rows, 1]))
    near = (flat[:, 0] < 10) & (flat[:, 2] > 0)
    assert np.median(np.abs(plane[near, 1])) < 0.08, "where the wheels stand and hardly any hazard is placed"


def test_real_roads_are_nearer_to_the_plane_than_to_the_ego_frame(real_data: Path) -> None:
    frames = list(bottoms(real_data / "nuscenes_real", "v1.0-mini"))[::6]
    flat, plane = errors(frames, lambda _points: GroundPlane()), errors(frames, fit_ground)

    for low, high, gain in ((10, 20, 0.8), (20, 30, 0.6), (30, 45, 0.7)):
        rows = (flat[:, 0] >= low) & (flat[:, 0] < high)
        for some in (rows, rows & (flat[:, 2] > 0)):
            assert np.median(np.abs(plane[some, 1])) < gain * np.median(np.abs(flat[some, 1]))
