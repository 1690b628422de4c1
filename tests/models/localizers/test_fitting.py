"""Place and size from outlines: any place is found, masks that are too large all around are seen through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.cameras import pinhole
from data_registry.geometry import GroundPlane
from data_registry.silhouettes import fill
from models.localizers.bodies import Body, expected_bodies
from models.localizers.fitting import Problem, Solution, Tolerances
from models.localizers.sights import NORMALS, Sight
from tests.verdict_cases import TASKS, TRUCK, camera, street, truck

BODY = expected_bodies(TASKS[TRUCK], "box_truck", truck(), street())[0]
TOLERANCES = Tolerances(outline_px=0.5, outline_share=0.005, growth_px=0.7, size_m=0.03, residual_share=0.3)
FRONT = pinhole(street(), camera("CAM_FRONT"))


def view_of(place: np.ndarray, size: np.ndarray, heading: float, growth: float = 0.0, body: Body = BODY) -> Sight:
    """What a mask says that shows exactly the body at a place, or one that reaches farther by some pixels."""
    pixels = FRONT.project(body.placed(place[None], size[None], heading, GroundPlane())[0])[0]
    along = pixels @ NORMALS.T
    reach = along.max(axis=0) + growth
    ends = pixels[along.argmax(axis=0)]
    mask = fill(FRONT, [shapely.MultiPoint(pixels).convex_hull.buffer(growth)])  # pyright: ignore[reportArgumentType]
    extent, bare = float(np.ptp(ends, axis=0).max()), np.zeros_like(mask)
    return Sight(FRONT, reach, reach, ends[4], ends[12], True, True, None, False, False, extent, mask, bare)


def solved(
    view: Sight, heading: float, start: np.ndarray, ground: GroundPlane | None = None, body: Body = BODY
) -> Solution:
    return Problem(body, heading, ground or GroundPlane(), [view], [False], TOLERANCES).solve(start)


def middle(solution: Solution) -> np.ndarray:
    return np.array(solution.footprint.centroid.coords[0])


places = st.tuples(st.floats(12, 30), st.floats(-3, 3)).map(np.array)
headings = st.floats(-3.1, 3.1)
starts = st.tuples(st.floats(-3, 3), st.floats(-1.5, 1.5)).map(np.array)


@given(places, headings, starts)
@settings(deadline=None, max_examples=20)
def test_a_body_of_the_middle_size_is_found_exactly_from_any_guess_near_by(place, heading: float, off) -> None:
    found = solved(view_of(place, BODY.size, heading), heading, place + off)

    assert np.linalg.norm(middle(found) - place) < 0.05
    assert found.cost < 0.1


@given(places, headings, st.tuples(*[st.floats(-1.5, 1.5)] * 3).map(np.array))
@settings(deadline=None, max_examples=20)
def test_another_size_of_the_tasks_range_hardly_moves_it(place, heading: float, off) -> None:
    size = BODY.size + np.append(off * BODY.spread[:3], 0.0)

    found = solved(view_of(place, size, heading), heading, place)

    assert np.linalg.norm(middle(found) - place) < max(0.5, 0.05 * float(np.hypot(*place)))


@pytest.mark.parametrize("growth", [-4.0, -2.0, 2.0, 4.0])
def test_a_mask_that_is_too_large_all_around_moves_a_car_less_than_its_foot(growth: float) -> None:
    place = np.array([20.0, 0.5])
    car = expected_bodies(TASKS["double_parked_vehicle"], "car", truck(), street())[0]

    found = middle(solved(view_of(place, car.size, 0.0, growth, car), 0.0, place, body=car))

    rear_m = 20.0 - car.size[0] / 2 - 1.7  # from the camera, which is 1.5 m above the ground
    by_foot = growth * rear_m**2 / (FRONT.intrinsics[1, 1] * 1.5)
    assert abs(found[0] - place[0]) < 0.6 * abs(by_foot)


def test_where_boxes_lie_off_the_plane_the_foot_counts_less_and_the_size_more() -> None:
    place = np.array([20.0, 0.5])
    view = view_of(place, BODY.size, 0.0)
    wrong = GroundPlane(height_m=0.2)

    sure, unsure = (middle(solved(view, 0.0, place, replace(wrong, residual_m=residual))) for residual in (0.0, 0.5))

    assert np.linalg.norm(unsure - place) < 0.6 * np.linalg.norm(sure - place)


def test_what_a_body_explains_is_told_from_what_it_does_not() -> None:
    place = np.array([20.0, 0.5])
    view = view_of(place, BODY.size, 0.0)
    elsewhere = replace(view, reach=view.reach + 100.0 * NORMALS[:, 0] ** 2, whole=view.whole, shown=~view.shown)

    good, bad = solved(view, 0.0, place), solved(elsewhere, 0.0, place)

    assert good.unexplained[0] < 0.1
    assert good.overlaps[0] > 0.6
    assert bad.unexplained[0] > 50
    assert bad.overlaps[0] < 0.2
    assert good.cost >= good.unexplained[0]
    assert np.allclose(good.size, BODY.size[:3], atol=0.02)
