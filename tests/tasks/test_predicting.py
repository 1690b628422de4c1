"""The steps of an evaluation: one a planner, all over the same cases, and none left open."""

from __future__ import annotations

import pytest

from models.planners import suite
from tasks.predicting import Predicting, UnknownPlannerError, UnsettledCasesError, choose_planners, planner_of, step_of
from tasks.stage import StageResults, Unsettled


def test_without_names_all_built_in_planners_are_asked_in_order_of_their_names() -> None:
    assert list(choose_planners(None)) == sorted(suite)
    assert Predicting((), choose_planners(None)).steps == tuple(step_of(name) for name in sorted(suite))


def test_planners_asked_for_twice_are_asked_once() -> None:
    assert list(choose_planners(["stop", "recorded", "stop"])) == ["recorded", "stop"]


def test_unknown_planners_are_all_named_with_those_that_there_are() -> None:
    with pytest.raises(UnknownPlannerError, match=r"'dream', 'sleep'; there are brake_on_hazard, .*NAME=FILE"):
        choose_planners(["sleep", "stop", "dream"])


def test_a_step_names_its_planner_and_asks_it() -> None:
    steps = Predicting((), choose_planners(["stop"]))
    (step,) = steps.steps
    assert planner_of(step) == "stop"
    assert steps.stage(step).backend.identity_settings == suite["stop"]().identity_settings
    with pytest.raises(KeyError, match="predict-stop"):
        steps.items("predict-recorded")


def test_cases_without_an_outcome_are_named_with_their_last_error() -> None:
    steps = Predicting((), choose_planners(["recorded", "stop"]))
    left = tuple(Unsettled(f"a/{number}:edited", "ValueError: no\nway" if number else None) for number in range(12))
    steps.results.update(
        {"predict-recorded": StageResults("predict", (), ()), "predict-stop": StageResults("p", (), left)}
    )
    with pytest.raises(UnsettledCasesError) as raised:
        steps.require_settled()
    text = str(raised.value)
    assert text.startswith(
        "12 cases have no prediction, so nothing was scored:\n  predict-stop: a/0:edited: not tried\n"
    )
    assert "  predict-stop: a/1:edited: ValueError: no way\n" in text
    assert "\n  and 2 more\n" in text
    assert "run again" in text
