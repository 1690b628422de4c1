"""Which pairs get pictures in a report: few of many, so that each kind of hazard and each end of the scale is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import polars as pl

_TURNS: Final = ("worst", "best", "disputed")


def choose_pairs(scores: Mapping[str, pl.DataFrame], limit: int) -> list[str]:
    """Return at most `limit` pair ids for pictures, in the order in which they were chosen.

    Families take turns, and within a family the task that has fewest so far, then the scene: it gives in turn its pair
    with the lowest HCC over the planners, with the highest, and the one that they dispute most. Ties go by pair id, so
    the same scores always give the same pairs.

    Args:
        scores: frames of schema SCORES, by planner; a failed prediction counts as HCC 0, an ineligible one not at all.
        limit: how many pairs at most.
    """
    remaining = _standings(scores)
    tasks: Counter[str] = Counter()
    scenes: Counter[str] = Counter()
    chosen: list[str] = []
    families = sorted({str(row["family"]) for row in remaining.values()})
    turn: Counter[str] = Counter()
    while remaining and len(chosen) < limit:
        for family in families:
            mine = [row for row in remaining.values() if row["family"] == family]
            if mine and len(chosen) < limit:
                fewest = min(tasks[str(row["task"])] for row in mine)
                least = [row for row in mine if tasks[str(row["task"])] == fewest]
                order = _TURNS[turn[family] % len(_TURNS)]
                found = min(least, key=lambda row: (scenes[str(row["scene"])], _rank(row, order), str(row["pair_id"])))
                chosen.append(str(found["pair_id"]))
                tasks[str(found["task"])] += 1
                scenes[str(found["scene"])] += 1
                turn[family] += 1
                del remaining[str(found["pair_id"])]
    return chosen


def _rank(row: Mapping[str, float | str], order: str) -> float:
    value = float(row["spread" if order == "disputed" else "hcc"])
    return value if order == "worst" else -value


def _standings(scores: Mapping[str, pl.DataFrame]) -> dict[str, dict[str, float | str]]:
    """Return each pair's mean HCC over planners and how far they are apart, by pair id."""
    if not scores:
        return {}
    counted = pl.when(pl.col("edited") == "ineligible").then(None).otherwise(pl.col("hcc").fill_null(0.0))
    frames = [scores[name].select("pair_id", "family", "task", "scene", hcc=counted) for name in sorted(scores)]
    mean, spread = pl.col("hcc").mean().fill_null(0.0), (pl.col("hcc").max() - pl.col("hcc").min()).fill_null(0.0)
    grouped = (
        pl.concat(frames)
        .group_by("pair_id")
        .agg(
            pl.col("family", "task", "scene").first(),
            mean.round(9).alias("hcc"),  # a sum's last digits hang on the order of a group's rows
            spread.alias("spread"),
        )
    )
    return {str(row["pair_id"]): row for row in grouped.sort("pair_id").rows(named=True)}
