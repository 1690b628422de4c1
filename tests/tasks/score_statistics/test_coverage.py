"""Coverage: every pair is scored, failed or ineligible, at every level."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

from data_registry.evaluation import COVERAGE
from tasks.score_statistics import StatisticsError, coverage, summarise
from tests.tasks.score_statistics.made_up import Answer, all_of, pairs_in, scored_benchmarks, table

COUNTS = ["pairs", "scored", "failed", "ineligible", "paired"]


def test_outcomes_are_counted_by_the_edited_prediction() -> None:
    pairs = pairs_in(scenes=8, each=1)
    outcomes = [("ok", "ok"), ("ok", "error"), ("ok", "ineligible"), ("start", "ok"), ("truncated", "short")]
    outcomes += [("ineligible", "ineligible"), ("ineligible", "ok"), ("missing", "missing")]
    found = coverage({"one": table(pairs, [Answer(*pair, False, 0.5, 1.0) for pair in outcomes])})
    assert found.filter(level="overall").select(COUNTS).row(0) == (8, 3, 3, 2, 1)
    assert found.filter(level="task", group="deer").select(COUNTS).row(0) == (2, 1, 1, 0, 1)


@settings(max_examples=20)
@given(scored_benchmarks())
def test_counts_reconcile_and_groups_add_up(scores: dict[str, pl.DataFrame]) -> None:
    found = coverage(scores)
    assert (found["pairs"] == found["scored"] + found["failed"] + found["ineligible"]).all()
    assert (found["paired"] <= found["scored"]).all()
    for planner, frame in scores.items():
        mine = found.filter(planner=planner)
        total = mine.filter(level="overall").select(COUNTS)
        assert total["pairs"].item() == frame.height
        for _, level in mine.filter(pl.col("level") != "overall").group_by("level"):
            assert level.select(COUNTS).sum().equals(total)
    assert_frame_equal(coverage(dict(reversed(scores.items()))), found)


def test_means_are_over_the_pairs_that_coverage_names() -> None:
    scores = {"a": all_of(pairs_in(6), "ok"), "b": all_of(pairs_in(6), "error"), "c": all_of(pairs_in(6), "ineligible")}
    counted = coverage(scores).filter(level="overall")
    means = summarise(scores).filter(level="overall", metric="ur")
    assert means.filter(mode="plain")["n"].to_list() == counted["scored"].to_list()
    assert means.filter(mode="strict")["n"].to_list() == (counted["scored"] + counted["failed"]).to_list()


def test_an_empty_benchmark_is_counted_as_such() -> None:
    assert coverage({"stop": all_of([], "ok")}).select(COUNTS).rows() == [(0, 0, 0, 0, 0)]
    assert_frame_equal(coverage({}), COVERAGE.frame([]))


def test_a_planner_without_rows_is_refused_beside_others_that_have_some() -> None:
    with pytest.raises(StatisticsError, match="a pair without a prediction needs a row that says so"):
        coverage({"stop": all_of(pairs_in(6), "ok"), "idle": all_of([], "ok")})
