"""What task files may ask about: all of it is measured, and what the log does not tell is unknown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from data_registry.geometry import Transform, yaw_rotation
from data_registry.records import Keyframe, Mounted
from models.facts import PLACE_FACTS, judge, scene_facts
from models.placements import Candidate, PlacingRules, candidates
from models.sights import sights
from models.surroundings import Surroundings, survey
from prompts.facts import FACTS, FROM_LANES, UNKNOWN_PASSES
from prompts.taxonomy import Predicate, load_taxonomy
from tests.street import keyframe
from tests.worlds import BAYS, junction, one_way_street, parked, two_way_street

TASKS = {task.id: task for task in load_taxonomy()}
ASSESSED = {"required_decel", "views_count", "projected_height_px"}


def first(task: str, frame: Keyframe) -> tuple[Surroundings, Candidate]:
    around = survey(frame, 1.0)
    return around, next(iter(candidates(around, TASKS[task], PlacingRules(0, f"{frame.id}/{task}", 0.25))))


def place(name: str, task: str, frame: Keyframe) -> object:
    around, candidate = first(task, frame)
    return PLACE_FACTS[name](around, candidate)


def test_every_fact_is_measured_and_nothing_else() -> None:
    scene = scene_facts(survey(two_way_street(), 1.0))
    assert sorted([*scene, *PLACE_FACTS, *ASSESSED]) == sorted(FACTS)
    assert set(UNKNOWN_PASSES) <= set(FACTS)


def test_what_lies_ahead_is_measured_from_the_bumper() -> None:
    facts = scene_facts(survey(junction(at=14.0), 1.0))
    assert facts["junction_gap_m"] == pytest.approx(14.0 - 3.427, abs=1e-3)
    assert facts["crossing_gap_m"] == pytest.approx(10.0 - 3.427, abs=1e-3)
    assert facts["stop_line_gap_m"] == pytest.approx(9.0 - 3.427, abs=1e-3)
    assert facts["turn_deg"] == pytest.approx(0.0, abs=1e-6)
    assert scene_facts(survey(junction(at=7.0, turn="right"), 1.0))["turn_deg"] == pytest.approx(90.0, abs=1.0)


@pytest.mark.parametrize("frame", [keyframe(source="mask", lanes=False), keyframe(source="none", lanes=False)])
def test_without_lanes_what_hangs_on_them_is_unknown(frame: Keyframe) -> None:
    facts = scene_facts(survey(frame, 1.0))
    hanging = ("junction_gap_m", "crossing_gap_m", "stop_line_gap_m", "turn_deg")
    assert [facts[name] for name in hanging] == [None] * 4
    around, candidate = first("spilled_debris", frame)
    of_the_place = ("turned_deg", "in_intersection", "on_crossing", "is_signalised", "oncoming_beside")
    for name in of_the_place:
        assert PLACE_FACTS[name](around, candidate) is None
    assert {*FROM_LANES} == {*hanging, *of_the_place, "at_anchor"}


@pytest.mark.parametrize(
    ("description", "night", "wet"),
    [
        ("", None, None),
        ("Night, rain, big street", True, True),
        ("Parked cars, wet road", False, True),
        ("Sunny day", False, False),
    ],
)
def test_night_and_rain_are_read_from_the_description(description: str, night: bool | None, wet: bool | None) -> None:
    facts = scene_facts(survey(keyframe().model_copy(update={"description": description}), 1.0))
    assert (facts["is_night"], facts["is_wet"]) == (night, wet)


def test_the_lane_beside_is_oncoming_only_where_it_runs_the_other_way() -> None:
    assert place("oncoming_beside", "spilled_debris", two_way_street()) is True
    assert place("oncoming_beside", "spilled_debris", one_way_street()) is False


@pytest.mark.parametrize(
    ("stop", "signalised"), [("traffic_light", True), ("stop_sign", False), (None, False), ("unknown", None)]
)
def test_lights_rule_the_next_stop_only_where_the_map_says_so(stop: object, signalised: bool | None) -> None:
    assert place("is_signalised", "red_signal", junction(at=18.0, stop=stop)) is signalised  # type: ignore[arg-type]


def test_parked_vehicles_count_on_the_side_of_the_hazard_only() -> None:
    near = place("parked_beside_m", "double_parked_vehicle", two_way_street(BAYS))
    assert isinstance(near, float)
    assert near < 10.0
    assert place("parked_beside_m", "double_parked_vehicle", two_way_street([parked("left", 12.0, 4.5)])) is None


def test_a_driven_vehicle_is_not_parked() -> None:
    waiting = parked("p", 12.0).model_copy(update={"attributes": ("vehicle.stopped",)})
    assert scene_facts(survey(two_way_street([waiting]), 1.0))["parked_cars_count"] == 0.0
    assert scene_facts(survey(two_way_street([parked("p", 12.0)]), 1.0))["parked_cars_count"] == 1.0


def test_a_vehicle_ahead_blocks_the_way_to_what_lies_behind_it_only() -> None:
    lead = parked("lead", 20.0, 0.0)
    around, candidate = first("spilled_debris", two_way_street([lead]))
    clear = PLACE_FACTS["way_is_clear"]
    assert around.free_length_m == pytest.approx(20.0 - 2.2 - 3.427, abs=1e-3)
    assert clear(around, replace(candidate, gap_m=14.0)) is True
    assert clear(around, replace(candidate, gap_m=15.0)) is False


def test_an_unknown_value_passes_only_where_absence_may_not_reject() -> None:
    for name, meaning in FACTS.items():
        asks = {"equals": False} if meaning.startswith("whether") else {"at_least": 1.0}
        predicate = Predicate.model_validate({"fact": name, "reason_code": "why", **asks})
        assert judge(predicate, None).holds == (name in UNKNOWN_PASSES)


def test_a_signal_is_seen_by_cameras_that_it_faces_only() -> None:
    around, candidate = first("red_signal", junction(at=18.0))
    assert sights(around, candidate, 1.0)[0].sensor_id == "CAM_FRONT"
    assert isinstance(candidate.placement, Mounted)
    away = Transform(yaw_rotation(0.0), np.zeros(3)).quaternion()
    box = candidate.placement.box.model_copy(update={"rotation": away})
    turned = replace(candidate, placement=Mounted(box=box, faces=("front",)), solid=box.corners())
    assert sights(around, turned, 1.0) == ()
