"""The order of planners, and how many pairs are conflicts: read from the summary, for whoever shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import polars as pl

from tasks.score_statistics.intervals import Estimate

WITNESSES: Final = ("recorded", "lane_keep")
"""Planners that do not look: how often they touch the region is how often a hazard is in someone's way."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A planner's line of the leaderboard."""

    rank: int | None
    """From 1; equal for equal HCC and UR; None: an oracle, or nothing of it could be scored."""
    planner: str
    knows_region: bool
    """An oracle: it reads the region that it is scored by."""
    hcc: Estimate
    ur: Estimate
    hpr: Estimate


@dataclass(frozen=True, slots=True)
class ConflictRate:
    """The share of edited cases in which a planner that does not look touches the region."""

    planner: str
    rate: Estimate | None
    """Plain UR; None: see reason."""
    reason: str
    """Why there is no rate or no interval; empty when there are both."""


def leaderboard(
    summary: pl.DataFrame, knows_region: Mapping[str, bool], mode: Literal["plain", "strict"] = "strict"
) -> list[Standing]:
    """Order planners by HCC, best first, then by UR, then by name; oracles follow after the others, without a rank.

    Strict means decide unless asked otherwise: plain ones would reward a planner for failing where it is hard.

    Args:
        summary: table SUMMARY.
        knows_region: for every planner of the summary whether it is an oracle (`Planner.knows_region`).
        mode: which means decide and are shown.

    Raises:
        KeyError: `knows_region` lacks a planner of the summary.
    """
    overall = summary.filter(level="overall", mode=mode)
    cells = {(row["planner"], row["metric"]): _estimate(row) for row in overall.iter_rows(named=True)}
    planners = sorted({planner for planner, _ in cells})
    lines = [
        Standing(None, name, knows_region[name], cells[name, "hcc"], cells[name, "ur"], cells[name, "hpr"])
        for name in planners
    ]
    lines.sort(key=lambda line: (line.knows_region, *_merit(line), line.planner))
    ranked = [line for line in lines if not line.knows_region and line.hcc.n]
    ranks = {line.planner: 1 + sum(_merit(other) < _merit(line) for other in ranked) for line in ranked}
    return [
        Standing(ranks.get(line.planner), line.planner, line.knows_region, line.hcc, line.ur, line.hpr)
        for line in lines
    ]


def conflict_rates(summary: pl.DataFrame, level: str = "overall", group: str = "") -> tuple[ConflictRate, ...]:
    """Return the UR of `recorded` and of `lane_keep` on the edited variant, from table SUMMARY, in this order."""
    rows = summary.filter(level=level, group=group, metric="ur", mode="plain")
    found = {row["planner"]: row for row in rows.iter_rows(named=True)}
    suite = set(summary["planner"])
    return tuple(
        ConflictRate(name, _estimate(found[name]), found[name]["reason"])
        if name in found
        else ConflictRate(name, None, _why_no_rate(name, suite, f"{level} {group}".strip()))
        for name in WITNESSES
    )


def _why_no_rate(name: str, suite: set[str], asked: str) -> str:
    return f"no pair of {asked}" if name in suite else f"planner {name} is not in the suite"


def _merit(line: Standing) -> tuple[float, float]:
    """Return what lines are ordered by, the best first; without a mean last."""
    if line.hcc.mean is None or line.ur.mean is None:
        return float("inf"), float("inf")
    return -line.hcc.mean, line.ur.mean


def _estimate(row: Mapping[str, Any]) -> Estimate:
    return Estimate(row["n"], row["scenes"], row["mean"], row["low"], row["high"], row["reason"])
