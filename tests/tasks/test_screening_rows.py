"""Table `screenings`: one row for each combination, with the fact that its reason rests on."""

from __future__ import annotations

from typing import Any

import pytest

from data_registry.records import Fact, Keyframe, Screening
from models.screeners import RuleScreener
from prompts.facts import FROM_LANES
from prompts.taxonomy import load_taxonomy
from tasks.items import Combination
from tasks.screening_rows import screening_rows
from tasks.stage import StageResults
from tests.samples import SCREENING
from tests.street import keyframe
from tests.tasks.publications import settled
from tests.worlds import two_way_street

TASKS = {task.id: task for task in load_taxonomy()}
TASK = TASKS["occluded_pedestrian"]


def row(screening: Screening, frame: Keyframe, task: str = TASK.id) -> dict[str, Any]:
    combination = Combination(frame, TASKS[task])
    entry = settled("screen", combination, combination.id, screening)
    (found,) = screening_rows(StageResults("screen", (entry,), ()))
    return found


def rejected(*facts: Fact) -> Screening:
    return SCREENING.model_copy(update={"suitable": False, "reason_code": "some_reason", "evidence": facts})


def screened(task: str, frame: Keyframe) -> dict[str, Any]:
    return row(RuleScreener().screen(frame, TASKS[task]), frame, task)


def test_the_first_fact_that_fails_is_the_reason_and_the_others_are_counted() -> None:
    found = row(
        rejected(
            Fact(name="speed", value=6.0, at_least=1.0, holds=True),
            Fact(name="way_is_clear", value=False, at_least=1.0, at_most=1.0, holds=False),
            Fact(name="nominal_conflict", value="none", holds=False),
            Fact(name="occluder_gap_m", value=None, at_most=2.5, holds=False),
        ),
        keyframe(),
    )
    reason = ("reason_fact", "reason_measured", "reason_value", "reason_at_least", "reason_at_most")
    assert [found[name] for name in reason] == ["way_is_clear", True, 0.0, 1.0, 1.0]
    assert (found["more_measured"], found["more_unknown"]) == (1, 1)


@pytest.mark.parametrize(
    ("fact", "measured", "value"),
    [
        (Fact(name="nominal_conflict", value="none", holds=False), True, None),
        (Fact(name="occluder_gap_m", value=None, at_most=2.5, holds=False), False, None),
        (Fact(name="required_decel", value=7.5, at_most=6.0, holds=False), True, 7.5),
    ],
)
def test_a_word_and_an_unknown_value_are_told_apart(fact: Fact, measured: bool, value: float | None) -> None:
    found = row(rejected(fact), keyframe())
    assert (found["reason_measured"], found["reason_value"]) == (measured, value)


def test_a_suitable_combination_and_one_without_a_place_have_no_failed_fact() -> None:
    for screening in (SCREENING, rejected(Fact(name="speed", value=6.0, at_least=1.0, holds=True))):
        found = row(screening, keyframe())
        assert (found["reason_fact"], found["reason_measured"], found["more_measured"]) == (None, None, 0)


def test_not_being_at_an_anchor_says_nothing_where_no_map_tells_anchors() -> None:
    fact = Fact(name="at_anchor", value=False, holds=False)
    without = row(rejected(fact), keyframe(source="mask", lanes=False))
    assert (without["reason_measured"], without["reason_value"]) == (False, None)
    known = row(rejected(fact), two_way_street())
    assert (known["reason_measured"], known["reason_value"]) == (True, 0.0)


@pytest.mark.parametrize("task", ["spilled_debris", "red_signal", "open_door"])
def test_sources_of_map_and_motion_are_told_with_and_without_a_place(task: str) -> None:
    told = ("map_source", "course", "speed_source", "speed")
    found = screened(task, two_way_street(speed=6.0))
    assert [found[name] for name in told] == ["expansion", "lanes", "poses", 6.0]
    found = screened(task, keyframe(source="mask", lanes=False, speed=6.0))
    assert [found[name] for name in told] == ["mask", "straight", "poses", 6.0]


@pytest.mark.parametrize("task", ["red_signal", "crossing_vehicle", "oncoming_vehicle_in_ego_half"])
def test_without_lanes_what_only_they_tell_is_the_reason_and_was_not_measured(task: str) -> None:
    found = screened(task, keyframe(source="mask", lanes=False))
    assert found["reason_fact"] in FROM_LANES
    assert found["reason_measured"] is False
    assert found["reason_value"] is None
