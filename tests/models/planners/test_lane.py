"""Planners on the ego's lane: the one that sees nothing, and the oracle that must be safe wherever stopping helps."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

from data_registry.conflict_areas import bumper_arc
from data_registry.courses import ego_course
from data_registry.geometry import Array, rectangle
from data_registry.paths import HEADING, X, Y, clearance, lane_keep, tube
from data_registry.records import Keyframe
from models.evasion import Limits, required_deceleration
from models.planners.lane import BrakeOnHazard, BrakeOnHazardSettings, LaneKeep
from models.planners.planner import Case
from tests.planner_cases import block, case, path_from
from tests.street import keyframe
from tests.worlds import junction, lane, straight, two_way_street


def distance(asked: Case) -> float:
    """How far from the region the oracle's body stays, metres."""
    return clearance(tube(path_from(BrakeOnHazard().predict(asked))), shapely.Polygon(asked.region.quad))


def oracle_path(asked: Case) -> Array:
    return path_from(BrakeOnHazard().predict(asked))


@pytest.mark.parametrize("frame", [keyframe(curve=0.03), junction(turn="right", speed=8.0), keyframe(lanes=False)])
def test_lane_keep_is_the_nominal_path_of_screening(frame: Keyframe) -> None:
    path = path_from(LaneKeep().predict(case(frame)))
    assert path == pytest.approx(lane_keep(frame.motion.speed, ego_course(frame)), abs=1e-6)


def test_on_a_lane_at_an_angle_the_answer_still_starts_as_the_ego_stands() -> None:
    frame = two_way_street()
    askew = (lane("ego", straight((-20, -4), (80, 16))),)
    frame = frame.model_copy(update={"map": frame.map.model_copy(update={"lanes": askew})})
    for planner in (LaneKeep(), BrakeOnHazard()):
        path = path_from(planner.predict(case(frame)))
        assert path[0].tolist() == [0, 0, 0, 0]
        assert path[-1, Y] / path[-1, X] == pytest.approx(0.2)
        assert path[-1, HEADING] == pytest.approx(np.arctan(0.2), abs=1e-5)


def test_the_oracle_drives_the_source_variant_as_lane_keep() -> None:
    asked = case(variant="source")
    assert BrakeOnHazard().predict(asked) == LaneKeep().predict(asked)


@pytest.mark.parametrize("quad", [block(10.0, lateral_m=5.0), block(55.0), block(-20.0)])
def test_what_is_not_on_its_way_does_not_stop_the_oracle(quad: Array) -> None:
    asked = case(quad=quad)
    assert BrakeOnHazard().predict(asked) == LaneKeep().predict(asked)


@pytest.mark.parametrize("clearance_m", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("curve", [0.0, 0.03])
def test_the_oracle_stops_the_clearance_before_the_region(clearance_m: float, curve: float) -> None:
    found = distance(case(keyframe(curve=curve), block(7.0), clearance_m=clearance_m))
    assert clearance_m <= found < clearance_m + 0.3


def test_the_oracle_brakes_no_earlier_and_no_harder_than_it_must() -> None:
    roomy, short = (np.diff(oracle_path(case(quad=block(gap)))[:, X]) / 0.1 for gap in (10.0, 4.5))
    assert roomy[:5] == pytest.approx(6.0)
    assert np.diff(roomy).min() / 0.1 == pytest.approx(-3.4, abs=1e-3)
    assert np.diff(short)[0] / 0.1 == pytest.approx(-(6.0**2) / (2 * 3.4), abs=0.2)


def test_where_the_clearance_cannot_be_kept_the_oracle_brakes_as_hard_as_it_can() -> None:
    speeds = np.diff(oracle_path(case(quad=block(3.2)))[:, X]) / 0.1
    assert np.diff(speeds)[:8] / 0.1 == pytest.approx(-6.0, abs=1e-3)
    assert distance(case(quad=block(3.2))) == pytest.approx(0.2, abs=0.01)
    assert distance(case(quad=block(2.9))) == 0.0


def test_a_standing_oracle_stays() -> None:
    assert not oracle_path(case(keyframe(speed=0.0), block(0.6)))[:, X:].any()


@given(
    speed=st.floats(0.2, 20.0),
    curve=st.sampled_from([0.0, 0.02, -0.05]),
    gap=st.floats(0.5, 45.0),
    lateral=st.floats(-2.5, 2.5),
    yaw=st.floats(-3.1, 3.1),
)
def test_the_oracle_is_safe_wherever_screening_says_that_stopping_avoids(
    speed: float, curve: float, gap: float, lateral: float, yaw: float
) -> None:
    frame = keyframe(annotations=(), speed=speed, curve=curve)
    course = ego_course(frame)
    x, y, along = course.poses(np.array([bumper_arc(course) + gap + 1.0]), lateral)[0].tolist()
    quad = rectangle((x, y), 2.0, 1.2, along + yaw)
    room = float(course.locate(quad)[:, 0].min()) - bumper_arc(course)
    needed = required_deceleration(speed, room, Limits(0.5, 6.0, 3.0))
    assume(needed is not None and needed <= 6.0)
    assert distance(case(frame, quad)) > 0.0


def test_the_oracle_s_settings_are_part_of_who_it_is() -> None:
    assert BrakeOnHazardSettings() != BrakeOnHazardSettings(hardest_braking=5.0)
    assert BrakeOnHazard().knows_region
    assert not LaneKeep().knows_region
