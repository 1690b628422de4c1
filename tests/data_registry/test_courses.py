"""The lane that the ego follows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.courses import ASSUMED_LANE_WIDTH_M, drivable_ground, ego_course, straight_course, union_of
from data_registry.records import Area, Lane, MapPatch
from tests.street import keyframe


@given(st.floats(-0.01, 0.01), st.floats(0, 40), st.floats(-1.5, 1.5))
@settings(max_examples=40, deadline=None)
def test_locating_a_pose_of_the_course_gives_its_arc_and_offset_back(curve: float, arc: float, lateral: float) -> None:
    course = ego_course(keyframe(curve=curve if abs(curve) > 1e-4 else 0.0))
    found = course.locate(course.poses(np.array([arc]), lateral)[:, :2])[0]
    assert found.tolist() == pytest.approx([arc, lateral], abs=0.03)


def test_a_bending_lane_leads_round_the_bend() -> None:
    course = ego_course(keyframe(curve=0.01))
    assert course.source == "lanes"
    assert course.poses(np.array([30.0]), 0.0)[0].tolist() == pytest.approx([29.55, 4.47, 0.3], abs=0.02)
    assert course.width_at(20.0) == pytest.approx(3.5, abs=0.02)


def test_without_lanes_the_course_is_straight_with_the_assumed_width() -> None:
    course = ego_course(keyframe(lanes=False, curve=0.01))
    assert course.source == "straight"
    assert course.poses(np.array([30.0]), 0.0)[0].tolist() == [30.0, 0.0, 0.0]
    assert course.width_at(10.0) == ASSUMED_LANE_WIDTH_M


def test_without_any_map_the_assumed_lane_is_the_drivable_ground() -> None:
    frame = keyframe(source="none")
    assert drivable_ground(frame.map, straight_course()).bounds == (-20.0, -1.75, 80.0, 1.75)
    assert drivable_ground(keyframe().map, straight_course()).bounds[3] == 5.25


def test_of_a_ring_that_crosses_itself_both_sides_are_ground() -> None:
    bowtie = Area(exterior=((0.0, -10.0), (40.0, 10.0), (40.0, -10.0), (0.0, 10.0)))
    looped = Area(exterior=((0.0, -4.0), (60.0, -4.0), (60.0, 4.0), (0.0, 4.0), (0.0, -4.2), (0.3, -4.2)))
    spike = Area(exterior=((0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (9.0, 2.0), (4.0, 2.0), (0.0, 2.0)))

    assert union_of((bowtie,)).area == pytest.approx(400.0)
    assert union_of((looped,)).area == pytest.approx(480.0, abs=0.1)
    assert union_of((spike,)).area == pytest.approx(8.0)
    assert union_of((bowtie, spike)).geom_type in ("Polygon", "MultiPolygon")


def _lane(token: str, line: list[tuple[float, float]], successors: tuple[str, ...] = ()) -> Lane:
    ring = [(x, y - 1.75) for x, y in line] + [(x, y + 1.75) for x, y in reversed(line)]
    area = {"exterior": ring}
    return Lane.model_validate(
        {"token": token, "area": area, "centreline": line, "is_connector": False, "successors": successors}
    )


def test_at_a_fork_the_course_follows_the_recorded_path() -> None:
    frame = keyframe(speed=8.0)
    base = _lane("a", [(-5.0, 0.0), (6.0, 0.0)], ("left", "outside", "straight"))
    left = _lane("left", [(6.0, 0.0), (12.0, 3.0), (16.0, 9.0)])
    ahead = _lane("straight", [(6.0, 0.0), (40.0, 0.0)])
    fork = MapPatch(source="expansion", layers_sha256="0" * 64, drivable=(), lanes=(base, left, ahead))
    course = ego_course(frame.model_copy(update={"map": fork}))
    assert course.poses(np.array([20.0]), 0.0)[0].tolist() == pytest.approx([20.0, 0.0, 0.0])


def test_where_the_recorded_path_ends_before_the_fork_the_course_goes_straight_on() -> None:
    base = _lane("a", [(-5.0, 0.0), (40.0, 0.0)], ("b-bends", "c-straight"))
    bends = _lane("b-bends", [(40.0, 0.0), (46.0, 3.0), (50.0, 9.0)])
    ahead = _lane("c-straight", [(40.0, 0.0), (80.0, 0.0)])
    fork = MapPatch(source="expansion", layers_sha256="0" * 64, drivable=(), lanes=(base, bends, ahead))
    course = ego_course(keyframe(speed=6.0).model_copy(update={"map": fork}))
    assert course.poses(np.array([60.0]), 0.0)[0].tolist() == pytest.approx([60.0, 0.0, 0.0])


def test_an_oncoming_lane_under_the_ego_is_not_its_course() -> None:
    oncoming = _lane("b", [(60.0, 0.5), (-20.0, 0.5)])
    patch = MapPatch(source="expansion", layers_sha256="0" * 64, drivable=(), lanes=(oncoming,))
    assert ego_course(keyframe().model_copy(update={"map": patch})).source == "straight"
