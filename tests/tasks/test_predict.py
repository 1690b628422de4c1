"""The predict stage: what is kept of answers, what is tried again, and what a prediction is remembered under."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
import pytest

from data_registry.ledger import Ledger
from data_registry.records import Prediction
from models.backend import LocalBackend
from models.planners.answers import FLAWS, answered, ineligible
from models.planners.blind import TIMES
from models.planners.lane import BrakeOnHazard, LaneKeep
from models.planners.planner import Case, CaseView, PlannerSettings
from tasks.predict import PredictStage, WrongAnswerError, predictions
from tasks.stage import DrainOptions, Strata, drain, look_up
from tests.golden_payload import check_golden
from tests.planner_cases import block, case
from tests.street import keyframe
from tests.worlds import junction

WAY = np.column_stack([TIMES, np.zeros_like(TIMES)])


class Settings(PlannerSettings, frozen=True):
    """Settings of a planner that answers as it is told to."""

    backend: Literal["test"] = "test"
    revision: str = "1"
    name: str = "test"


class Answering(LocalBackend):
    """Answers as it is told to, and remembers what it was shown."""

    def __init__(self, answer: Any, knows_region: bool = False) -> None:
        self.identity_settings = Settings()
        self.knows_region = knows_region
        self.answer = answer
        self.shown: list[Case] = []

    def predict(self, case: Case) -> Prediction:
        self.shown.append(case)
        return self.answer(case)


def straight_on(asked: Case) -> Prediction:
    return answered(asked, TIMES, WAY)


def both() -> list[Case]:
    return [case(variant="source"), case(variant="edited")]


def only(planner: Any, asked: Case) -> Any:
    (outcome,) = PredictStage(planner).process([asked])
    return outcome


def test_a_sound_answer_is_kept_without_the_release_that_it_was_asked_for() -> None:
    outcome = only(Answering(straight_on), case())
    assert (outcome.kept, outcome.reason_code) == (True, "predicted")
    assert outcome.record == straight_on(case()).model_copy(update={"component_digest": None})


def test_an_ineligible_case_is_rejected_with_the_reason() -> None:
    outcome = only(Answering(lambda asked: ineligible(asked, "no map")), case())
    assert (outcome.kept, outcome.reason_code, outcome.record.reason) == (False, "ineligible", "no map")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"t": tuple((TIMES * 0.9).tolist())}, FLAWS["short"]),
        ({"t": tuple((TIMES[::-1]).tolist())}, FLAWS["order"]),
        ({"xy": tuple((x + 0.5, 0.0) for x in TIMES.tolist())}, FLAWS["start"]),
        ({"heading": (0.2,) * len(TIMES)}, FLAWS["heading_start"]),
        ({"xy": ((0.0, 0.0),)}, "the answer: Value error, times, positions and headings must be equally many"),
        ({"xy": ((0.0, float("nan")),) * len(TIMES)}, "xy.0: "),
        ({"t": None}, "t: "),
    ],
)
def test_a_flawed_trajectory_is_an_error_with_its_reason_and_never_stored(changes: dict[str, Any], reason: str) -> None:
    def flawed(asked: Case) -> Prediction:
        sound = straight_on(asked)
        return Prediction.model_construct(**{name: getattr(sound, name) for name in Prediction.model_fields} | changes)

    outcome = only(Answering(flawed), case())
    assert (outcome.kept, outcome.reason_code) == (False, "error")
    assert (outcome.record.status, outcome.record.t, outcome.record.xy) == ("error", (), ())
    assert outcome.record.reason.startswith(reason)


def test_a_planner_that_raises_is_tried_again_and_the_others_go_on(ledger: Ledger) -> None:
    def moody(asked: Case) -> Prediction:
        if asked.variant == "edited":
            raise RuntimeError("out of memory")
        return straight_on(asked)

    planner = Answering(moody)
    results = drain(PredictStage(planner), both(), ledger, DrainOptions("run", attempts=2))
    assert [entry.id for entry in results.settled] == [case(variant="source").id]
    assert [(left.id, left.error) for left in results.unsettled] == [(case().id, "RuntimeError: out of memory")]
    assert len(planner.shown) == 3
    planner.answer = straight_on
    assert drain(PredictStage(planner), both(), ledger, DrainOptions("next")).counts()["kept"] == 2


def test_an_answer_to_another_case_is_no_answer() -> None:
    source, edited = both()
    with pytest.raises(WrongAnswerError, match=r"asked about .*:edited, the planner answered .*:source"):
        only(Answering(lambda _: straight_on(source)), edited)
    with pytest.raises(WrongAnswerError):
        only(Answering(lambda asked: straight_on(asked).model_copy(update={"inputs_sha256": "0" * 64})), edited)


def test_the_region_is_shown_to_those_alone_that_say_they_know_it() -> None:
    blind, oracle = Answering(straight_on), Answering(straight_on, knows_region=True)
    only(blind, case())
    only(oracle, case())
    assert np.isnan(blind.shown[0].region.quad).all()
    assert np.isnan(blind.shown[0].region.clearance_m)
    assert blind.shown[0].inputs_sha256 == case().inputs_sha256
    assert oracle.shown[0].region.quad.tolist() == case().region.quad.tolist()


def test_what_decides_an_answer_decides_its_key_and_nothing_else() -> None:
    stage, oracle = PredictStage(LaneKeep()), PredictStage(BrakeOnHazard())
    asked = case()
    other_view = dataclasses.replace(asked, views=(CaseView("CAM_FRONT", 0, "f" * 64), *asked.views[1:]))
    other_motion = case(keyframe(speed=7.0))
    keys = {stage.key(one) for one in (asked, case(variant="source"), other_view, other_motion)}
    assert len(keys | {oracle.key(asked)}) == 5
    assert stage.key(dataclasses.replace(asked, component_digest="d" * 64)) == stage.key(asked)
    for moved in (case(quad=block(10.5)), case(clearance_m=1.5)):
        assert stage.key(moved) == stage.key(asked)
        assert oracle.key(moved) != oracle.key(asked)
    assert stage.strata(asked) == Strata("scene-0001", "lane_blockage", "none")
    assert stage.identity(asked).endswith("/broken_down_car:edited")


def test_pairs_of_one_keyframe_have_keys_of_their_own() -> None:
    asked = case(variant="source")
    other = dataclasses.replace(asked, region=dataclasses.replace(asked.region, pair_id="a/b/c/d"))
    assert PredictStage(LaneKeep()).key(asked) != PredictStage(LaneKeep()).key(other)


def test_what_is_remembered_is_bound_to_the_release_that_asks(ledger: Ledger) -> None:
    planner = Answering(straight_on)
    drain(PredictStage(planner), both(), ledger, DrainOptions("run"))
    newer = [dataclasses.replace(one, component_digest="d" * 64) for one in both()]
    found = predictions(look_up(PredictStage(planner), newer, ledger))
    assert len(planner.shown) == 2
    assert [one.variant for one in found] == ["source", "edited"]
    assert {one.component_digest for one in found} == {"d" * 64}


def test_golden_payloads() -> None:
    turning = junction(turn="right", speed=8.0)
    check_golden(PredictStage, "brake_on_hazard", only(BrakeOnHazard(), case(keyframe(curve=0.03))).record)
    check_golden(PredictStage, "lane_keep_turning", only(LaneKeep(), case(turning)).record)
    check_golden(PredictStage, "error", only(Answering(lambda c: answered(c, TIMES[:5], WAY[:5])), case()).record)
