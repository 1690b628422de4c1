"""The kernel of scoring: how far the swept ground is from a region."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import assume, example, given
from hypothesis import strategies as st

from data_registry.geometry import BODIES, EGO_FRONT_M, EGO_LENGTH_M, EGO_WIDTH_M, Array
from data_registry.path_steps import STEP_RAD, go_after
from data_registry.paths import HEADING, T, X, Y, densify, hulls, path_of, wrap
from data_registry.swept_distance import CONTACT_M, runs_measured, swept_distance
from data_registry.trajectories import ORIGIN, Start, flaw_of, path_of_trajectory
from tests.score_cases import quads, square, trajectories

Quad = tuple[Array, Array]
Trajectory = tuple[Array, Array, Array | None]
BACK_M = EGO_LENGTH_M - EGO_FRONT_M


def by_geos(path: Array, quad: Array) -> float:
    """Return the smallest distance of the hulls of all steps, each by GEOS."""
    gap = float(np.min(shapely.distance(hulls(path), shapely.Polygon(quad))))
    return 0.0 if gap <= CONTACT_M else gap


@given(trajectories(), quads())
def test_it_is_the_smallest_distance_of_all_hulls(trajectory: Trajectory, drawn: Quad) -> None:
    path = path_of_trajectory(*trajectory)
    assert swept_distance(path, drawn[0]) == pytest.approx(by_geos(path, drawn[0]), abs=1e-9)


def _is_on_an_edge(path: Array) -> bool:
    """Tell whether rounding alone may decide how a heading is derived: at 0.3 m/s, or at 90 degrees."""
    after = np.minimum(np.arange(len(path)) + 1, len(path) - 1)
    for index in range(1, len(path)):
        way = path[after[index], X : Y + 1] - path[index - 1, X : Y + 1]
        speed = np.hypot(*way) / (path[after[index], T] - path[index - 1, T])
        turn = abs(wrap(float(np.arctan2(way[1], way[0]) - path[index - 1, HEADING])))
        if abs(speed - 0.3) < 1e-6 or (speed > 0.3 and abs(turn - np.pi / 2) < 1e-6):
            return True
    return False


@given(trajectories(), quads(), st.floats(-3.1, 3.1), st.floats(-80, 80), st.floats(-80, 80))
def test_moving_region_path_start_and_heading_together_changes_nothing(
    trajectory: Trajectory, drawn: Quad, turn: float, dx: float, dy: float
) -> None:
    t, xy, heading = trajectory
    path = path_of_trajectory(t, xy, heading)
    assume(heading is not None or not _is_on_an_edge(path))
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    moved, start = xy @ rotation.T + (dx, dy), Start(dx, dy, turn)
    turned = None if heading is None else heading + turn
    assert flaw_of(t, xy, heading) == flaw_of(t, moved, turned, start=start)
    there = swept_distance(path_of_trajectory(t, moved, turned, start=start), drawn[0] @ rotation.T + (dx, dy))
    assert there == pytest.approx(swept_distance(path, drawn[0]), abs=1e-9)


@given(trajectories(), quads(), st.floats(0.05, 1.0))
def test_a_smaller_region_is_never_nearer(trajectory: Trajectory, drawn: Quad, share: float) -> None:
    path = path_of_trajectory(*trajectory)
    quad, centre = drawn
    assert swept_distance(path, centre + share * (quad - centre)) >= swept_distance(path, quad) - 1e-9


def refined(path: Array, parts: int) -> Array:
    """Return a path with every step cut into equal parts, each then short enough to be walked at once."""
    dense = densify(path)
    rows = np.empty((parts * (len(dense) - 1) + 1, 4))
    rows[0] = dense[0]
    for index in range(len(dense) - 1):
        for part in range(1, parts + 1):
            go_after(dense, index, part / parts, rows, index * parts + part)
    return rows


@given(trajectories(headed=True), quads())
def test_finer_steps_converge(trajectory: Trajectory, drawn: Quad) -> None:
    path = path_of_trajectory(*trajectory)
    finest = swept_distance(refined(path, 64), drawn[0])
    reach = float(np.hypot(EGO_FRONT_M, EGO_WIDTH_M / 2))
    for parts in (1, 4, 16):
        # what the body covers on a step, and its hull, lie within reach * turn / 2 of the body at its middle heading
        room = reach * STEP_RAD * (1 / parts + 1 / 64)
        assert swept_distance(refined(path, parts), drawn[0]) == pytest.approx(finest, abs=room)


@given(st.floats(0, 20), st.floats(0.01, 2.99), st.floats(-3.1, 3.1), quads())
def test_a_further_point_on_a_straight_uniform_path_changes_nothing(
    speed: float, between: float, heading: float, drawn: Quad
) -> None:
    ahead = speed * np.array([np.cos(heading), np.sin(heading)])
    assume(abs(speed - 0.3) > 1e-6)
    few, more = np.array([0.0, 3.0]), np.array([0.0, between, 3.0])
    found = [
        swept_distance(path_of_trajectory(t, t[:, None] * ahead, None, start=Start(heading=heading)), drawn[0])
        for t in (few, more)
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-9)


def test_contact_begins_at_a_millionth_of_a_metre() -> None:
    path = path_of(np.array([0.0, 3.0]), np.array([(0.0, 0.0), (6.0, 0.0)]))
    bumper = EGO_FRONT_M + 6.0
    for gap, expected in ((-0.5, 0.0), (0.0, 0.0), (0.9e-6, 0.0), (1.1e-6, 1.1e-6), (0.25, 0.25)):
        found = swept_distance(path, square(bumper + gap + 1.0, 0.0))
        assert found == pytest.approx(expected, abs=1e-12)
        assert (found == 0.0) == (gap <= 1e-6)


def test_a_reversing_body_meets_what_is_behind_and_not_what_is_ahead() -> None:
    back = path_of(np.array([0.0, 1.0, 3.0]), np.array([(0.0, 0.0), (-2.0, 0.0), (-6.0, 0.0)]))
    np.testing.assert_allclose(back[:, HEADING], 0.0, atol=1e-12)
    assert swept_distance(back, square(-BACK_M - 5.0, 0.0)) == 0.0
    assert swept_distance(back, square(EGO_FRONT_M + 1.5, 0.0)) == pytest.approx(0.5)


def test_a_standing_body_sweeps_its_own_footprint() -> None:
    for path in (np.zeros((1, 4)), np.array([(0.0, 0, 0, 0), (3.0, 0, 0, 0)])):
        assert swept_distance(path, square(EGO_FRONT_M + 1.7, 0.0)) == pytest.approx(0.7)
        assert swept_distance(path, square(1.0, EGO_WIDTH_M / 2 + 1.2)) == pytest.approx(0.2)
        assert swept_distance(path, square(1.0, 0.0, 0.2)) == 0.0


def test_turning_on_the_spot_sweeps_a_sector() -> None:
    beside = square(0.5, 3.5, 0.3)
    path = np.array([(0.0, 0, 0, 0), (3.0, 0, 0, np.pi / 2)])
    assert swept_distance(path[:1], beside) > 2
    assert swept_distance(path, beside) == 0.0
    assert swept_distance(np.array([(0.0, 0, 0, 0), (3.0, 0, 0, -np.pi / 2)]), beside) > 1
    reach = float(np.hypot(EGO_FRONT_M, EGO_WIDTH_M / 2))
    diagonal = square(4.0, 4.0, 0.5)  # its near corner at 45 degrees; between two steps a corner's arc is cut short
    assert swept_distance(path, diagonal) == pytest.approx(np.hypot(3.5, 3.5) - reach, abs=4e-3)


@pytest.mark.parametrize("name", sorted(BODIES))
def test_every_body_reaches_as_far_as_it_is_long(name: str) -> None:
    body = BODIES[name]
    ahead, beside = square(20.0, 0.0), square(1.0, 20.0)
    assert swept_distance(np.zeros((1, 4)), ahead, body) == pytest.approx(
        19 - body.axle_to_centre_m - body.length_m / 2
    )
    assert swept_distance(np.zeros((1, 4)), beside, body) == pytest.approx(19 - body.width_m / 2)


@given(st.floats(50, 3000), st.floats(-2.5, 2.5), st.floats(-1.0, 1.0), st.floats(0, 1), quads())
@example(speed=3000.0, bearing=0.0, turn=1.0, share=0.5, drawn=(square(5.0, 4.0), np.zeros(2)))
def test_long_steps_are_no_less_exact_than_short_ones(
    speed: float, bearing: float, turn: float, share: float, drawn: Quad
) -> None:
    far = speed * np.array([np.cos(bearing), np.sin(bearing)])
    path = np.array([(0.0, *(-share * far), 0.1), (0.5, *((1 - share) * far), 0.1 + turn)])
    assert swept_distance(path, drawn[0]) == pytest.approx(by_geos(path, drawn[0]), abs=1e-9)


@pytest.mark.parametrize("length", [1e5, 1e7, 1e9])
def test_a_step_as_long_as_numbers_may_be_costs_nothing_and_is_met_where_it_is(length: float) -> None:
    path = np.array([(0.0, 0.0, 0.0, 0.0), (0.5, length, 0.0, 1.0), (3.0, -length, 3.0, 2.0)])
    reach = EGO_WIDTH_M / 2
    assert swept_distance(path, square(40.0, 0.0)) == 0.0
    assert swept_distance(path[:2], square(40.0, reach + 1.5)) == pytest.approx(0.5, abs=41 * 4 / length + 1e-9)
    assert swept_distance(path[:2], square(0.0, 900.0)) == pytest.approx(899.0 - reach, abs=1e-3)


def test_a_long_wall_along_a_long_way_costs_nothing() -> None:
    wall = np.array([(-1e9, 6.0), (1e9, 6.0), (1e9, 7.0), (-1e9, 7.0)])
    path = np.array([(0.0, 0.0, 0.0, 0.0), (3.0, 1e9, 0.0, 1.0)])
    assert swept_distance(path, wall) == pytest.approx(
        6 - np.sin(1) * EGO_FRONT_M - np.cos(1) * EGO_WIDTH_M / 2, abs=1e-6
    )


@pytest.mark.parametrize("turn", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 3.1])
@pytest.mark.parametrize("length", [1e5, 1e7, 1e9])
def test_no_turn_on_a_long_way_along_a_wall_calls_for_every_step(length: float, turn: float) -> None:
    path = np.array([(0.0, 0.0, 0.0, 0.0), (3.0, length, 0.0, turn)])
    drift = EGO_FRONT_M * turn / length  # a wall that falls away as fast as the front comes nearer at first
    for slant in (0.0, drift):
        y = 5.0 + slant * np.array([-1e9, 1e9])
        wall = np.array([(-1e9, y[0]), (1e9, y[1]), (1e9, y[1] + 1.0), (-1e9, y[0] + 1.0)])
        assert runs_measured(path, wall) < 1000


def test_a_turn_too_small_to_tell_moves_the_distance_by_no_more_than_a_ten_billionth() -> None:
    wall = np.array([(-500.0, 5.0), (500.0, 5.0), (500.0, 6.0), (-500.0, 6.0)])
    for turn in (1e-15, 1e-12, 5e-11, 1e-9, 1e-7, 1e-4, 0.01):
        path = np.array([(0.0, 0.0, 0.0, 0.0), (3.0, 300.0, 0.0, turn)])
        nearest = 5.0 - np.sin(turn) * EGO_FRONT_M - np.cos(turn) * EGO_WIDTH_M / 2
        assert swept_distance(path, wall) == pytest.approx(nearest, abs=1.1e-10)


def test_ten_thousand_long_ways_along_a_wall_cost_little_each() -> None:
    wall = np.array([(-1e9, 5.0), (1e9, 5.0), (1e9, 6.0), (-1e9, 6.0)])
    path = np.zeros((10_001, 4))
    path[:, T] = np.linspace(0, 3, len(path))
    path[1::2, X] = 1e9
    for turn, runs in ((1e-15, 1), (1e-4, 10), (1.0, 50)):
        path[1::2, HEADING] = turn
        assert runs_measured(path, wall) <= runs * len(path)


def test_a_million_points_are_walked() -> None:
    t: Array = np.linspace(0, 3, 1_000_001)
    xy: Array = np.array([6.0 * t, 3.0 * np.sin(200 * t)], dtype=np.float64).T
    assert flaw_of(t, xy, None) is None
    found = swept_distance(path_of_trajectory(t, xy, None, start=ORIGIN), square(10.0, 15.0))
    assert 5 < found < 11
