"""Means and intervals: against a slow re-computation, and what must hold for any scores."""

from __future__ import annotations

import math
import time

import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

from benchmarks.interval_coverage import made_up_scores
from data_registry.evaluation import METRICS, STRICT, SUMMARY
from tasks.score_statistics import StatisticsError, differences, summarise
from tests.tasks.score_statistics import slow
from tests.tasks.score_statistics.made_up import Answer, all_of, drawn_scores, pairs_in, scored_benchmarks, table

SCORES = dict[str, pl.DataFrame]


def cell(summary: pl.DataFrame, **where: str) -> dict:
    where = {"level": "overall", "group": "", "mode": "plain"} | where
    return summary.row(by_predicate=pl.all_horizontal(pl.col(key) == text for key, text in where.items()), named=True)


@pytest.mark.parametrize(
    ("level", "group", "metric", "mode"),
    [
        ("overall", "", "ur", "plain"),
        ("overall", "", "hcc", "strict"),
        ("overall", "", "cts_x", "plain"),
        ("family", "gap", "d", "plain"),
        ("task", "hole", "ur", "strict"),
        ("split", "val", "hpr", "plain"),
    ],
)
def test_means_and_intervals_equal_those_computed_slowly(level: str, group: str, metric: str, mode: str) -> None:
    scores = drawn_scores(5, pairs_in(scenes=14, each=4), planners=2)
    summary = summarise(scores)
    for planner, frame in scores.items():
        rows = [row for row in slow.rows_of(frame) if level == "overall" or row[level] == group]
        values = [slow.value(row, metric, mode) for row in rows]
        scenes = [row["scene"] for row in rows]
        low, high = slow.interval(values, scenes, scenes, lambda drawn, _: fast_mean(drawn))
        found = cell(summary, planner=planner, level=level, group=group, metric=metric, mode=mode)
        assert found["n"] == sum(value is not None for value in values)
        assert found["scenes"] == len({scene for scene, value in zip(scenes, values, strict=True) if value is not None})
        assert found["mean"] == slow.mean(values)
        assert (found["low"], found["high"], found["reason"]) == (pytest.approx(low), pytest.approx(high), "")


def fast_mean(values: list[float | None]) -> float | None:
    counted = [value for value in values if value is not None]
    return math.fsum(counted) / len(counted) if counted else None


def fast_macro(values: list[float | None], tasks: list[str]) -> float | None:
    return fast_mean([fast_mean(part) for part in slow.by_task(values, tasks)])


def test_every_task_weighs_the_same_in_the_macro_mean_also_in_its_resamples() -> None:
    scores = drawn_scores(6, pairs_in(scenes=9, each=3), planners=1)
    rows = slow.rows_of(scores["planner-0"])
    values, scenes, tasks = (
        [slow.value(row, "hcc", "strict") for row in rows],
        *map(list, zip(*[(row["scene"], row["task"]) for row in rows], strict=True)),
    )
    found = cell(summarise(scores), level="task_macro", metric="hcc", mode="strict")
    low, high = slow.interval(values, scenes, tasks, fast_macro)
    assert found["mean"] == pytest.approx(slow.macro(values, tasks), abs=1e-15)
    assert (found["low"], found["high"]) == (pytest.approx(low), pytest.approx(high))


def test_the_macro_mean_has_no_interval_when_a_task_comes_from_too_few_scenes() -> None:
    pairs = [pair for pair in pairs_in(scenes=9, each=4) if pair.task != "gate" or pair.number < 16]
    found = cell(summarise({"stop": all_of(pairs, "ok")}), level="task_macro", metric="hcc")
    assert found["mean"] == 0.5
    assert (found["low"], found["high"]) == (None, None)
    assert found["reason"] == "no interval: 1 of 4 tasks have pairs from fewer than 5 scenes (gate: 4)"


def test_a_failed_prediction_is_left_out_of_plain_rows_and_counts_as_the_worst_in_strict_ones() -> None:
    pairs = pairs_in(scenes=6, each=1)
    good, failed, unfit = (Answer(outcome, "ok", False, 0.5, 2.0) for outcome in ("ok", "order", "ineligible"))
    summary = summarise({"one": table(pairs, [good, good, good, failed, unfit, unfit])})
    plain, strict = (
        {metric: cell(summary, metric=metric, mode=mode) for metric in STRICT} for mode in ("plain", "strict")
    )
    assert {metric: (row["n"], row["mean"]) for metric, row in plain.items()} == {
        "ur": (3, 0.0),
        "hcc": (3, 0.5),
        "hpr": (3, pytest.approx(0.45)),
    }
    assert {metric: (row["n"], row["mean"]) for metric, row in strict.items()} == {
        "ur": (4, 0.25),
        "hcc": (4, 0.375),
        "hpr": (4, pytest.approx(0.3375)),
    }


def test_metrics_of_two_predictions_count_only_the_pairs_with_both() -> None:
    pairs = pairs_in(scenes=6, each=1)
    one_sided = Answer("ok", "missing", False, 0.5, 2.0)
    summary = summarise({"one": table(pairs, [one_sided] * 5 + [Answer("ok", "ok", False, 0.5, 2.0)])})
    assert (cell(summary, metric="hcc")["n"], cell(summary, metric="cts")["n"]) == (6, 1)
    assert set(summary.filter(mode="strict")["metric"]) == set(STRICT)
    assert set(summary.filter(mode="plain")["metric"]) == set(METRICS)


def test_without_any_pair_there_is_one_row_a_metric_that_says_so() -> None:
    summary = summarise({"stop": all_of([], "ok"), "recorded": all_of([], "ok")})
    assert set(summary["level"]) == {"overall", "task_macro"}
    assert summary.filter(pl.col("mean").is_not_null() | (pl.col("n") > 0)).is_empty()
    assert set(summary["reason"]) == {"no pair"}


def test_without_planners_the_table_is_empty() -> None:
    assert_frame_equal(summarise({}), SUMMARY.frame([]))


def test_a_mean_from_under_five_scenes_has_no_interval_and_says_why() -> None:
    for scenes, words in ((1, "1 scene,"), (4, "4 scenes,")):
        found = cell(summarise({"stop": all_of(pairs_in(scenes, each=9), "ok")}), metric="hcc")
        assert (found["mean"], found["low"], found["high"]) == (0.5, None, None)
        assert found["reason"] == f"no interval: pairs from {words} at least 5 needed"
    assert cell(summarise({"stop": all_of(pairs_in(5, each=1), "ok")}), metric="hcc")["low"] == 0.5


@pytest.mark.parametrize(
    ("outcome", "plain", "strict"),
    [
        ("error", "no pair with the edited prediction scored", ""),
        ("ineligible", "no pair with the edited prediction scored", "no pair: all are ineligible"),
    ],
)
def test_a_planner_without_a_single_score_has_no_plain_mean(outcome: str, plain: str, strict: str) -> None:
    summary = summarise({"bad": all_of(pairs_in(6), outcome), "stop": all_of(pairs_in(6), "ok")})
    for metric, worst in STRICT.items():
        loose, hard = (cell(summary, planner="bad", metric=metric, mode=mode) for mode in ("plain", "strict"))
        assert (loose["n"], loose["mean"], loose["low"], loose["reason"]) == (0, None, None, plain)
        assert (hard["mean"], hard["low"], hard["high"]) == ((worst,) * 3 if not strict else (None,) * 3)
        assert hard["reason"] == strict
    assert cell(summary, planner="bad", metric="cts")["reason"] == "no pair with both predictions scored"
    assert cell(summary, planner="stop", metric="hcc")["mean"] == 0.5


def test_who_else_is_scored_and_other_families_change_no_bit_of_a_planners_row() -> None:
    scores = drawn_scores(8, pairs_in(scenes=12, each=4), planners=5)
    alone = summarise({"planner-3": scores["planner-3"]})
    assert_frame_equal(summarise(scores).filter(planner="planner-3"), alone, check_exact=True)
    family = summarise({"planner-3": scores["planner-3"].filter(family="gap")})
    assert_frame_equal(
        alone.filter(level="family", group="gap").drop("level", "group"),
        family.filter(level="overall").drop("level", "group"),
        check_exact=True,
    )


@settings(max_examples=12)
@given(scored_benchmarks())
def test_order_of_rows_and_planners_and_names_of_scenes_change_nothing(scores: SCORES) -> None:
    renamed = {
        name: frame.sort("d", "edited", "pair_id", descending=True).with_columns(
            scene=pl.lit("x") + (9 - pl.col("scene").str.tail(1).cast(pl.Int64)).cast(pl.String)
        )
        for name, frame in sorted(scores.items(), reverse=True)
    }
    assert_frame_equal(summarise(renamed), summarise(scores), check_exact=True)


@settings(max_examples=25)
@given(scored_benchmarks())
def test_means_agree_with_each_other_and_with_the_rows(scores: SCORES) -> None:
    summary = summarise(scores)
    values = pl.concat([summary[name] for name in ("mean", "low", "high")]).drop_nulls()
    assert values.is_finite().all()
    assert (summary["mean"].is_null() == (summary["n"] == 0)).all()
    assert (summary["low"].is_null() == (summary["reason"] != "")).all()
    assert (summary["scenes"] <= summary["n"]).all()
    assert summary.filter(pl.col("low") > pl.col("high")).is_empty()
    bounded = summary.filter(pl.col("metric").is_in(STRICT))
    assert pl.concat([bounded[name] for name in ("mean", "low", "high")]).drop_nulls().is_between(0, 1).all()
    for planner, frame in scores.items():
        mine = summary.filter(planner=planner)
        for metric, mode in [(metric, "plain") for metric in METRICS] + [(metric, "strict") for metric in STRICT]:
            rows = slow.rows_of(frame)
            total = [value for row in rows if (value := slow.value(row, metric, mode)) is not None]
            parts = mine.filter(pl.col("level").is_in(["family", "task", "split"]), metric=metric, mode=mode)
            for _, level in parts.group_by("level"):
                assert level["n"].sum() == len(total)
                assert (level["n"] * level["mean"].fill_null(0)).sum() == pytest.approx(math.fsum(total))
        for metric in STRICT:
            plain, strict = (cell(mine, metric=metric, mode=mode) for mode in ("plain", "strict"))
            if plain["n"]:
                assert (strict["mean"] >= plain["mean"]) if metric == "ur" else (strict["mean"] <= plain["mean"])
        ur, hcc, hpr = (cell(mine, metric=metric)["mean"] for metric in ("ur", "hcc", "hpr"))
        assert ur is None or max(hcc, hpr) <= 1 - ur + 1e-12


def test_tables_about_different_pairs_are_refused() -> None:
    pairs = pairs_in(6)
    fewer = {"stop": all_of(pairs, "ok"), "zoo": all_of(pairs[:-1], "ok")}
    with pytest.raises(StatisticsError, match=r"stop and zoo .* same pairs: 1 are missing or differ.*streetset/0011"):
        summarise(fewer)
    with pytest.raises(StatisticsError, match="12 are missing"):
        summarise({"stop": all_of(pairs, "ok"), "empty": all_of([], "ok")})
    moved = all_of(pairs, "ok").with_columns(scene=pl.lit("elsewhere"))
    with pytest.raises(StatisticsError, match="same pairs: 12"):
        summarise({"stop": all_of(pairs, "ok"), "zoo": moved})


@pytest.mark.parametrize(
    "broken",
    [
        {"edited": pl.lit("error")},
        {"edited": pl.lit("splendid")},
        {"source": pl.lit("splendid")},
        {"hcc": pl.lit(None, dtype=pl.Float64)},
        {"cts_y": pl.lit(None, dtype=pl.Float64)},
        {"source": pl.lit("missing")},
    ],
)
def test_rows_that_contradict_themselves_are_refused(broken: dict[str, pl.Expr]) -> None:
    with pytest.raises(StatisticsError, match="planner stop: 12 rows have metrics that do not fit"):
        summarise({"stop": all_of(pairs_in(6), "ok").with_columns(**broken)})


def test_nan_is_refused_not_averaged() -> None:
    with pytest.raises(StatisticsError, match=r"planner stop.*holds NaN"):
        summarise({"stop": all_of(pairs_in(6), "ok").with_columns(hcc=pl.lit(float("nan")))})


def test_the_papers_size_is_counted_in_seconds() -> None:
    scores = made_up_scores()
    start = time.process_time()
    assert summarise(scores).height == (1 + 6 + 21 + 2 + 1) * 7 * 10
    assert differences(scores).height == 42
    assert time.process_time() - start < 10  # takes 1.2; the rest is for other work on the machine
