"""Differences between planners: their intervals, p values and the control over all of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from data_registry.evaluation import DIFFERENCES
from tasks.score_statistics import differences
from tasks.score_statistics.differences import holm, sign_flip_p
from tests.tasks.score_statistics import slow
from tests.tasks.score_statistics.made_up import Answer, all_of, drawn_scores, pairs_in, scored_benchmarks, table


def test_differences_are_over_the_pairs_that_both_have_scored_and_equal_those_computed_slowly() -> None:
    scores = drawn_scores(9, pairs_in(scenes=9, each=4), planners=2)
    found = differences(scores)
    assert found.select("planner_a", "planner_b", "metric").rows() == [
        ("planner-0", "planner-1", "hcc"),
        ("planner-0", "planner-1", "ur"),
    ]
    for row in found.to_dicts():
        pairs = zip(slow.rows_of(scores["planner-0"]), slow.rows_of(scores["planner-1"]), strict=True)
        values, scenes = [], []
        for a, b in pairs:
            both = a["edited"] == b["edited"] == "ok"
            values.append(a[row["metric"]] - b[row["metric"]] if both else None)
            scenes.append(a["scene"])
        low, high = slow.interval(values, scenes, scenes, lambda drawn, _: slow.mean(drawn))
        counted = [(scene, value) for scene, value in zip(scenes, values, strict=True) if value is not None]
        assert (row["n"], row["scenes"]) == (len(counted), len({scene for scene, _ in counted}))
        assert row["difference"] == slow.mean(values)
        assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
        assert row["p"] == slow.sign_flip(counted)


def test_identical_planners_differ_by_nothing_with_p_one() -> None:
    frame = drawn_scores(10, pairs_in(scenes=20), planners=1)["planner-0"]
    for row in differences({"a": frame, "b": frame}).to_dicts():
        assert [row[name] for name in ("difference", "low", "high", "p", "p_adjusted")] == [0, 0, 0, 1, 1]


def test_a_planner_that_is_better_everywhere_is_found_so() -> None:
    pairs = pairs_in(scenes=40)
    worse = table(pairs, [Answer("ok", "ok", True, 0.0, 0.0)] * len(pairs))
    for row in differences({"best": all_of(pairs, "ok"), "worst": worse}).to_dicts():
        assert row["difference"] == {"hcc": 0.5, "ur": -1.0}[row["metric"]]
        assert row["p"] == 1 / 20_000  # no random pattern reaches it; never 0
        assert row["p_adjusted"] == 2 / 20_000


def test_five_scenes_are_tested_exactly_and_four_are_not_tested() -> None:
    for scenes, p in ((5, 2 / 32), (4, None)):
        pairs = pairs_in(scenes)
        worse = table(pairs, [Answer("ok", "ok", True, 0.0, 0.0)] * len(pairs))
        rows = differences({"best": all_of(pairs, "ok"), "worst": worse}).to_dicts()
        assert [row["p"] for row in rows] == [p, p]
        assert [row["p_adjusted"] for row in rows] == [p and 2 * p] * 2
        assert {row["reason"] for row in rows} == {"" if p else "no interval: pairs from 4 scenes, at least 5 needed"}


def test_planners_without_a_common_pair_are_not_compared() -> None:
    pairs = pairs_in(scenes=8)
    rows = differences({"a": all_of(pairs, "ok"), "b": all_of(pairs, "error")}).to_dicts()
    assert {(row["n"], row["difference"], row["p"], row["reason"]) for row in rows} == {
        (0, None, None, "no pair that both have scored")
    }
    assert differences({"a": all_of([], "ok"), "b": all_of([], "ok")})["n"].to_list() == [0, 0]


def test_one_planner_or_none_has_nothing_to_compare() -> None:
    for scores in ({}, {"stop": all_of(pairs_in(6), "ok")}):
        assert_frame_equal(differences(scores), DIFFERENCES.frame([]))


@settings(max_examples=15)
@given(scored_benchmarks())
def test_p_values_are_probabilities_and_adjusting_never_lowers_or_reorders_them(
    scores: dict[str, pl.DataFrame],
) -> None:
    found = differences(scores)
    tested = found.filter(pl.col("p").is_not_null()).sort("p", "p_adjusted")
    assert (tested["p"] > 0).all()
    assert (tested["p_adjusted"] <= 1).all()
    assert (tested["p_adjusted"] >= tested["p"]).all()
    assert tested["p_adjusted"].is_sorted()
    assert (found["p"].is_null() == (found["scenes"] < 5)).all()
    assert (found["p"].is_null() == found["low"].is_null()).all()
    assert (found["planner_a"] < found["planner_b"]).all()
    shuffled = {name: frame.reverse() for name, frame in sorted(scores.items(), reverse=True)}
    assert_frame_equal(differences(shuffled), found, check_exact=True)


def test_swapping_two_planners_turns_the_sign_and_keeps_p() -> None:
    scores = drawn_scores(11, pairs_in(scenes=30), planners=2)
    one = differences(scores).to_dicts()
    other = differences({"planner-0": scores["planner-1"], "planner-1": scores["planner-0"]}).to_dicts()
    for before, after in zip(one, other, strict=True):
        assert after["difference"] == -before["difference"]
        assert after["p"] == before["p"]
        assert (after["low"], after["high"]) == (pytest.approx(-before["high"]), pytest.approx(-before["low"]))


def test_random_signs_come_close_to_all_signs() -> None:
    sums = np.random.default_rng(12).normal(0.3, 1, size=(14, 1))
    exact = sign_flip_p(sums)[0]
    tiny = np.concatenate(
        [sums, np.full((3, 1), 1e-7)]
    )  # 2^17 patterns are too many to try, and change next to nothing
    assert sign_flip_p(tiny)[0] == pytest.approx(exact, abs=0.01)


def test_chance_alone_is_called_a_difference_about_as_rarely_as_p_says() -> None:
    sums = np.random.default_rng(13).standard_t(3, size=(12, 400))
    p = np.array(sign_flip_p(sums))
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(p <= 0.5) == pytest.approx(0.5, abs=0.08)


def test_holm_multiplies_the_smallest_by_all_and_never_steps_back() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_rejects_what_its_step_down_rule_rejects(p: list[float]) -> None:
    level = 0.05
    rejected = set()
    for done, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        if (len(p) - done) * p[place] > level:
            break
        rejected.add(place)
    assert {place for place, one in enumerate(holm(p)) if one <= level} == rejected
