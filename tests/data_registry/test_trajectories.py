"""What a trajectory must be, which flaw is named, and the path that it is scored on."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.evaluation import Flaw
from data_registry.geometry import Array
from data_registry.paths import HEADING, T, X
from data_registry.trajectories import Start, flaw_of, path_of_trajectory

T4: Array = np.array([0.0, 1.0, 2.0, 3.0])
ZEROS: Array = np.zeros(4)
AHEAD: Array = np.column_stack([5.0 * T4, ZEROS])


def with_row(rows: Array, index: int, value: object) -> Array:
    changed = rows.copy()
    changed[index] = value
    return changed


@pytest.mark.parametrize(
    ("flaw", "t", "xy", "heading"),
    [
        (None, T4, AHEAD, None),
        (None, T4, AHEAD, ZEROS),
        (None, T4 + 9e-7, AHEAD + 9e-7, None),
        (None, with_row(T4, 3, 3.0 - 9e-7), AHEAD, None),
        (None, T4, AHEAD, ZEROS + np.deg2rad(5.0)),
        (None, T4, AHEAD, ZEROS - np.deg2rad(5.0) + 4 * np.pi),
        (None, np.array([0.0, 5e-324, 3.0]), AHEAD[:3], None),
        (None, np.array([0.0, 5e-324, 1e-323, 3.0]), AHEAD, None),
        ("not_finite", T4, with_row(AHEAD, 2, np.nan), None),
        ("not_finite", with_row(T4, 3, np.inf), AHEAD, None),
        ("not_finite", T4, AHEAD, with_row(ZEROS, 3, -np.inf)),
        ("not_finite", T4, with_row(AHEAD, 3, 1e308), None),
        ("not_finite", T4, with_row(AHEAD, 3, 1e12), None),
        ("not_finite", np.append(T4, 9.0), np.vstack([AHEAD, (np.nan, 0)]), None),
        ("not_finite", T4[:2], with_row(AHEAD, 2, np.nan), None),
        ("length", np.empty(0), np.empty((0, 2)), None),
        ("length", np.empty(0), np.empty(0), None),
        ("length", T4[:3], AHEAD, None),
        ("length", T4, AHEAD, ZEROS[:3]),
        ("length", T4, np.column_stack([AHEAD, T4]), None),
        ("order", with_row(T4, 2, 1.0), AHEAD, None),
        ("order", T4[::-1], AHEAD, None),
        ("order", np.append(T4, 3.0), np.vstack([AHEAD, (9, 9)]), None),
        ("start", T4 + 2e-6, AHEAD, None),
        ("start", T4 - 2e-6, AHEAD, None),
        ("start", T4, AHEAD + np.array([0, 2e-6]), None),
        ("start", T4, AHEAD - np.array([2e-6, 0]), None),
        ("short", T4[:3], AHEAD[:3], None),
        ("short", with_row(T4, 3, 3.0 - 2e-6), AHEAD, None),
        ("short", np.zeros(1), np.zeros((1, 2)), None),
        ("heading_start", T4, AHEAD, ZEROS + np.deg2rad(5.001)),
        ("heading_start", T4, AHEAD, ZEROS + np.pi),
    ],
)
def test_the_first_flaw_in_the_documented_order_is_named(
    flaw: Flaw | None, t: Array, xy: Array, heading: Array | None
) -> None:
    assert flaw_of(t, xy, heading) == flaw


def test_of_several_flaws_the_earlier_one_is_named() -> None:
    t, xy, heading = np.array([1.0, 0.5, np.nan]), np.ones((2, 2)), np.ones(3)
    named: list[Flaw | None] = [flaw_of(t, xy, heading)]
    t = np.array([1.0, 0.5, 0.7])
    named.append(flaw_of(t, xy, heading))
    xy = np.ones((3, 2))
    named.append(flaw_of(t, xy, heading))
    t = np.array([1.0, 1.5, 1.7])
    named.append(flaw_of(t, xy, heading))
    named.append(flaw_of(t - 1.0, xy - 1.0, heading))
    named.append(flaw_of((t - 1.0) * 9, xy - 1.0, heading))
    assert named == list(get_args(Flaw))


@given(
    *(st.lists(st.floats(), max_size=5).map(lambda row: np.array(row, dtype=float)) for _ in range(2)),
    st.none() | st.lists(st.floats(), max_size=5).map(lambda row: np.array(row, dtype=float)),
)
def test_any_numbers_are_either_flawed_or_make_a_finite_path(t: Array, flat: Array, heading: Array | None) -> None:
    xy = np.resize(flat, (len(t), 2)) if len(flat) else np.zeros((len(t), 2))
    if len(t):
        t[0], xy[0] = 0.0, 0.0
    if flaw_of(t, xy, heading) is None:
        assert np.isfinite(path_of_trajectory(t, xy, heading)).all()


def test_it_is_cut_first_and_headings_are_derived_then() -> None:
    t, xy = np.array([0.0, 2.0, 4.0]), np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)])
    path = path_of_trajectory(t, xy, None)
    assert path[:, T].tolist() == [0.0, 2.0, 3.0]
    assert path[-1, X:HEADING].tolist() == [4.0, 2.0]
    assert path[1, HEADING] == pytest.approx(np.arctan2(2.0, 4.0))  # with the point at 4 s it would be 45 degrees
    assert path[2, HEADING] == pytest.approx(np.pi / 2)


def test_given_headings_are_cut_by_the_short_arc() -> None:
    t, heading = np.array([0.0, 2.0, 4.0]), np.deg2rad([0.0, 170.0, -170.0])
    path = path_of_trajectory(t, np.zeros((3, 2)), heading)
    assert abs(path[-1, HEADING]) == pytest.approx(np.pi)


def test_start_and_heading_of_the_vehicle_are_parameters() -> None:
    start = Start(3.0, -2.0, np.pi / 2)
    assert flaw_of(T4, AHEAD, None, start=start) == "start"
    moved: Array = np.column_stack([ZEROS + 3, 5 * T4 - 2])
    assert flaw_of(T4, moved, ZEROS + np.pi / 2, start=start) is None
    assert flaw_of(T4, moved, ZEROS, start=start) == "heading_start"
    assert path_of_trajectory(T4, 0 * moved, None, start=start)[:, HEADING].tolist() == [np.pi / 2] * 4


def test_another_horizon_moves_what_short_means_and_where_it_is_cut() -> None:
    assert flaw_of(T4, AHEAD, None, horizon_s=4.0) == "short"
    assert path_of_trajectory(T4, AHEAD, None, horizon_s=1.5)[-1, :2].tolist() == [1.5, 7.5]
