"""Stage screen."""

from __future__ import annotations

import pytest

from models.screeners import RuleScreener, RuleScreenerSettings
from prompts.taxonomy import load_taxonomy
from tasks.items import Combination
from tasks.screen import ScreenStage
from tests.golden_payload import check_golden
from tests.street import keyframe

TASKS = {task.id: task for task in load_taxonomy()}


@pytest.mark.parametrize("task", sorted(TASKS))
def test_the_payload_changes_only_with_the_version(task: str) -> None:
    stage = ScreenStage(RuleScreener())
    (outcome,) = stage.process([Combination(keyframe(), TASKS[task])])
    check_golden(stage, task, outcome.record)


def test_suitable_combinations_are_kept_and_others_rejected_with_their_record() -> None:
    stage = ScreenStage(RuleScreener())
    items = [Combination(keyframe(speed=speed), TASKS["large_vehicle_blocking_lane"]) for speed in (6.0, 0.0)]
    kept, rejected = stage.process(items)
    assert (kept.kept, kept.reason_code) == (True, "suitable")
    assert (rejected.kept, rejected.reason_code) == (False, "ego_standing")
    assert rejected.record.placement is not None


def test_an_item_is_a_combination_and_its_key_depends_on_the_seed_root() -> None:
    item = Combination(keyframe(), TASKS["collapsed_road_surface"])
    stage = ScreenStage(RuleScreener())
    assert stage.identity(item) == item.id
    assert stage.inputs(item) == item.inputs
    assert stage.strata(item).family == "road_surface_hazard"
    other = ScreenStage(RuleScreener(RuleScreenerSettings(seed_root=5)))
    assert stage.key(item) != other.key(item)
