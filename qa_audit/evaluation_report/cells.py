"""Figures of the summary as cells: text, interval, colour, and the pairs that a figure is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from data_registry.evaluation import COVERAGE, SUMMARY
from qa_audit.evaluation_report import links
from qa_audit.evaluation_report.page import EvaluationPage, ShownPlanner
from qa_audit.evaluation_report.wording import NONE, PERCENT, number, titled

TINTS: Final = 8
"""Steps of the colour scale."""
PLOT_WIDTH: Final = 200
"""Width of an interval's plot in its own units."""
_MARGIN: Final = 6

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Plot:
    """A dot with whiskers, in the plot's own units; whiskers are None without an interval."""

    dot: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure."""

    text: str
    href: str = ""
    interval: str = ""
    n: int = 0
    reason: str = ""
    """Why there is no figure or no interval."""
    tint: int | None = None
    """Step of the colour scale, 0 the worst."""
    plot: Plot | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """The scale of a column of plots."""

    start: float
    end: float
    metric: str

    def place(self, value: float) -> float:
        """Return where a value stands in a plot."""
        inside = min(max(value, self.start), self.end)
        share = (inside - self.start) / (self.end - self.start)
        return round(_MARGIN + share * (PLOT_WIDTH - 2 * _MARGIN), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and labels of the two ends and the middle."""
        middle = (self.start + self.end) / 2
        signed = self.start < 0
        digits = [self.start, middle, self.end]
        return [(self.place(value), _tick(value, self.metric, signed)) for value in digits]

    def plot(self, mean: float, low: float | None, high: float | None) -> Plot:
        """Return a figure's plot."""
        ends = (None, None) if low is None or high is None else (self.place(low), self.place(high))
        return Plot(self.place(mean), *ends)


def _tick(value: float, metric: str, signed: bool) -> str:
    text = f"{100 * value:g}" if metric in PERCENT else f"{value:g}"
    sign = "+" if signed and value > 0 else ""
    return f"{sign}{text}".replace("-", "−") + (" %" if metric in PERCENT else " m")


def axis_over(values: Iterable[float | None], metric: str, centred: bool = False) -> Axis:
    """Return the axis from 0, or around it, to the first round number that holds all values."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    step = 0.1 if metric in PERCENT else 0.5
    end = max(step, math.ceil(round(largest / step, 6)) * step)
    return Axis(-end if centred else 0.0, round(end, 6), metric)


class Figures:
    """Looks up figures of a page's summary and coverage."""

    def __init__(self, page: EvaluationPage) -> None:
        """Index both tables."""
        self._summary: dict[Key, dict[str, Any]] = _indexed(page.summary, SUMMARY.key)
        self._coverage: dict[tuple[str, str, str], dict[str, Any]] = _indexed(page.coverage, COVERAGE.key)

    def value(self, planner: str, level: str, group: str, metric: str, mode: str = "plain") -> dict[str, Any] | None:
        """Return a summary row, None when there is none."""
        return self._summary.get((planner, level, group, metric, mode))

    def covered(self, planner: str, level: str = "overall", group: str = "") -> dict[str, Any] | None:
        """Return a coverage row, None when there is none."""
        return self._coverage.get((planner, level, group))

    def bounds(self, planners: Sequence[ShownPlanner], metric: str, mode: str) -> list[float | None]:
        """Return all overall means and interval ends of a metric."""
        rows = [self.value(planner.name, "overall", "", metric, mode) for planner in planners]
        return [row[key] for row in rows if row for key in ("mean", "low", "high")]

    def cell(self, key: Key, axis: Axis | None = None, best: float | None = None) -> Cell:
        """Return a figure's cell.

        Args:
            key: planner, level, group, metric, mode.
            axis: where it is plotted, None: nowhere.
            best: the goodness that has the strongest colour, None: no colour.
        """
        planner, level, group, metric, mode = key
        row = self._summary.get(key)
        if row is None:
            return Cell(NONE, reason="not in the summary")
        if row["mean"] is None:
            return Cell(NONE, reason=row["reason"] or "no pair", n=row["n"])
        outcome = links.COUNTED if mode == "strict" else links.PAIRED if metric.startswith("cts") else links.SCORED
        has_interval = row["low"] is not None and row["high"] is not None
        return Cell(
            text=number(row["mean"], metric),
            href=links.pairs_link(planner, outcome, level, group, sort=metric),
            interval=f"{number(row['low'], metric)} to {number(row['high'], metric)}" if has_interval else "",
            n=row["n"],
            reason=row["reason"],
            tint=None if best is None else tint(goodness(row["mean"], metric), best),
            plot=None if axis is None else axis.plot(row["mean"], row["low"], row["high"]),
        )

    def best(self, planners: Sequence[ShownPlanner], level: str, groups: Sequence[str], what: tuple[str, str]) -> float:
        """Return the largest goodness of (metric, mode) among groups, rounded up to a tenth: their scale's end."""
        metric, mode = what
        rows = [self.value(planner.name, level, group, metric, mode) for planner in planners for group in groups]
        found = [goodness(row["mean"], metric) for row in rows if row and row["mean"] is not None]
        return max(0.1, math.ceil(round(10 * max(found, default=0.0), 6)) / 10)


def goodness(value: float, metric: str) -> float:
    """Return how good a share is: UR counts against."""
    return 1.0 - value if metric == "ur" else value


def tint(value: float, best: float) -> int:
    """Return the step of the colour scale, 0 to TINTS - 1."""
    return min(TINTS - 1, max(0, int(TINTS * value / best)))


def groups_of(frame: pl.DataFrame, level: str) -> list[str]:
    """Return the groups of a level, by name; splits in their usual order."""
    found = set(frame.filter(pl.col("level") == level)["group"].to_list())
    usual = ["train", "val", "test", "none"]
    return [name for name in usual if name in found] + sorted(found - set(usual)) if level == "split" else sorted(found)


def group_name(level: str, group: str) -> str:
    """Return a group's name as shown."""
    if level == "split":
        return "no official split" if group == "none" else group
    return titled(group)


def _indexed(frame: pl.DataFrame, key: Sequence[str]) -> dict[Any, dict[str, Any]]:
    return {tuple(row[name] for name in key): row for row in frame.rows(named=True)}
