"""Means of every metric, plain and strict, overall and by family, task and source split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from data_registry.evaluation import SUMMARY
from tasks.score_statistics.gathered import MEASURES, PAIRED, Gathered, gather, groups, numbered
from tasks.score_statistics.intervals import Estimate, estimates, macro_estimates


def summarise(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Count the scores (table SCORES) of each planner into means with intervals, table SUMMARY.

    Plain rows leave failed predictions out, strict rows count them as STRICT says; ineligible ones are in neither.

    Raises:
        StatisticsError: the tables are no scores, not about the same pairs, or contradict themselves.
    """
    gathered = gather(scores)
    return SUMMARY.frame(
        row for level, name, found in _estimated(gathered) for row in _rows(gathered, level, name, found)
    )


def _estimated(gathered: Gathered) -> Iterator[tuple[str, str, list[Estimate]]]:
    """Yield level, group and the estimates of all planners' measures, planner by planner."""
    flat = gathered.values.reshape(gathered.pairs.height, len(gathered.planners) * len(MEASURES))
    for group in groups(gathered.pairs):
        scenes = numbered(gathered.pairs["scene"][group.rows.tolist()])
        yield group.level, group.name, estimates(scenes, flat[group.rows])
    scenes, tasks = (numbered(gathered.pairs[column]) for column in ("scene", "task"))
    names = gathered.pairs["task"].unique(maintain_order=True).to_list()
    yield "task_macro", "", macro_estimates(scenes, tasks, names, flat)


def _rows(gathered: Gathered, level: str, name: str, found: list[Estimate]) -> Iterator[dict[str, Any]]:
    for place, estimate in enumerate(found):
        planner, measure = divmod(place, len(MEASURES))
        metric, mode = MEASURES[measure]
        yield {
            "planner": gathered.planners[planner],
            "level": level,
            "group": name,
            "metric": metric,
            "mode": mode,
            "n": estimate.n,
            "scenes": estimate.scenes,
            "mean": estimate.mean,
            "low": estimate.low,
            "high": estimate.high,
            "reason": estimate.reason or ("" if estimate.n else _why_none(gathered, metric, mode)),
        }


def _why_none(gathered: Gathered, metric: str, mode: str) -> str:
    if not gathered.pairs.height:
        return "no pair"
    if mode == "strict":
        return "no pair: all are ineligible"
    return "no pair with both predictions scored" if metric in PAIRED else "no pair with the edited prediction scored"
