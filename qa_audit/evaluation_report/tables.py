"""The tables of a report, as its template writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from data_registry.evaluation import METRICS, STRICT
from qa_audit.evaluation_report import links
from qa_audit.evaluation_report.agreement import outcome_of
from qa_audit.evaluation_report.cells import Axis, Cell, Figures, axis_over, group_name, groups_of
from qa_audit.evaluation_report.page import EvaluationPage, ShownPlanner
from qa_audit.evaluation_report.reach import ALPHA, Beyond, beyond_reach, least_adjusted
from qa_audit.evaluation_report.wording import NONE, OUTCOME_WORDS, number, p_value, titled

LEVELS: Final = {"family": "Families", "task": "Tasks", "split": "Source splits"}
GROUP_METRICS: Final = ("hcc", "ur", "hpr", "cts")
_TINTED: Final = ("hcc", "ur", "hpr")
_DIFFER: Final = "differ"


@dataclass(frozen=True, slots=True)
class Standing:
    """A planner's row of the leaderboard."""

    planner: ShownPlanner
    rank: int | None
    figures: dict[str, Cell]
    """By metric; `other_<metric>`: in the mode that does not decide the order, `by_task_<metric>`: mean over tasks."""
    contact: Cell
    """How many pairs are in contact."""
    coverage: dict[str, Cell]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A family, task or split, with a cell for each planner and metric."""

    name: str
    of: str
    """The family that a task belongs to."""
    cells: list[dict[str, Cell]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired difference between two planners."""

    a: str
    b: str
    cell: Cell
    p: str
    p_adjusted: str
    differs: bool
    verdict: str
    """What the adjusted p value says, in words."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A mean under a changed setting."""

    cell: Cell
    """Without a link when it is over other pairs than the evaluation's own, which no list of the page shows."""
    change: str = ""
    """From the evaluation's own setting; empty when the pairs are not the same."""
    pairs: str = ""
    """How many pairs it is over where these are others."""


@dataclass(frozen=True, slots=True)
class SensitivityTable:
    """Means of one metric under the settings of one parameter."""

    parameter: str
    settings: list[tuple[str, bool]]
    """Value, and whether it is the evaluation's own."""
    rows: list[tuple[ShownPlanner, dict[str, list[Changed]]]]
    """A planner's cells by metric, one for each setting."""

    @property
    def has_other_pairs(self) -> bool:
        """Whether a mean is over other pairs than the evaluation's own."""
        return any(one.pairs for _, by_metric in self.rows for cells in by_metric.values() for one in cells)


class Tables:
    """Everything that the template shows of a page's frames."""

    def __init__(self, page: EvaluationPage) -> None:
        """Take a page whose parts agree."""
        self.page = page
        self.mode = page.ranked_by
        self.other_mode = "plain" if page.ranked_by == "strict" else "strict"
        self.figures = Figures(page)
        self.planners = [*page.ranked, *page.oracles]
        self.axes: dict[str, Axis] = {
            metric: axis_over(self.figures.bounds(self.planners, metric, self.mode), metric) for metric in ("hcc", "ur")
        }
        self._family_of = {pair.task: pair.family for pair in page.pairs}

    def leaderboard(self) -> list[Standing]:
        """Return ranked planners, then oracles."""
        ranks = self._ranks()
        return [self._standing(planner, ranks.get(planner.name)) for planner in self.planners]

    def _ranks(self) -> dict[str, int]:
        """Return places by planner: equal figures share one, who has no figure has none."""
        ranks: dict[str, int] = {}
        before, place = None, 0
        for position, planner in enumerate(self.page.ranked, start=1):
            rows = [self.figures.value(planner.name, "overall", "", metric, self.mode) for metric in ("hcc", "ur")]
            means = [row["mean"] for row in rows if row is not None]
            if None not in means and len(means) == len(rows):
                place = place if means == before else position
                ranks[planner.name], before = place, means
        return ranks

    def _standing(self, planner: ShownPlanner, rank: int | None) -> Standing:
        name = planner.name
        keys = {metric: (name, "overall", "", metric, self._mode_of(metric)) for metric in METRICS}
        cells = {metric: self.figures.cell(key, self.axes.get(metric)) for metric, key in keys.items()}
        for metric in STRICT:
            cells[f"other_{metric}"] = self.figures.cell((name, "overall", "", metric, self.other_mode))
            cells[f"by_task_{metric}"] = self.figures.cell((name, "task_macro", "", metric, self.mode))
        touched = int(self.page.scores[name]["ur"].fill_null(0).sum())
        contact = Cell(f"{touched:,}", links.pairs_link(name, links.CONTACT) if touched else "")
        return Standing(planner, rank, cells, contact, self._coverage(name))

    def _mode_of(self, metric: str) -> str:
        return self.mode if metric in STRICT else "plain"

    def _coverage(self, name: str) -> dict[str, Cell]:
        row = self.figures.covered(name) or {}
        outcomes = {
            "pairs": "",
            "scored": links.SCORED,
            "failed": links.FAILED,
            "ineligible": links.INELIGIBLE,
            "paired": links.PAIRED,
        }
        return {key: _count(row.get(key, 0), links.pairs_link(name, outcome)) for key, outcome in outcomes.items()}

    def groups(self, level: str) -> list[GroupRow]:
        """Return the rows of a level, tasks in the order of their families."""
        names = groups_of(self.page.summary, level)
        best = {metric: self.figures.best(self.planners, level, names, (metric, self.mode)) for metric in _TINTED}
        rows = [
            GroupRow(
                group_name(level, name),
                titled(self._family_of.get(name, "")) if level == "task" else "",
                [self._group_cells(planner.name, level, name, best) for planner in self.planners],
            )
            for name in names
        ]
        return sorted(rows, key=lambda row: row.of)  # stable

    def _group_cells(self, planner: str, level: str, group: str, best: dict[str, float]) -> dict[str, Cell]:
        cells = {
            metric: self.figures.cell((planner, level, group, metric, self._mode_of(metric)), best=best.get(metric))
            for metric in GROUP_METRICS
        }
        for metric in STRICT:
            cells[f"other_{metric}"] = self.figures.cell((planner, level, group, metric, self.other_mode))
        row = self.figures.covered(planner, level, group) or {"scored": 0, "failed": 0, "ineligible": 0, "pairs": 0}
        left_out = [f"{row[key]:,} {key}" for key in ("failed", "ineligible") if row[key]]
        href = links.pairs_link(planner, "", level, group)
        cells["coverage"] = Cell(f"{row['scored']:,} / {row['pairs']:,}", href, ", ".join(left_out))
        return cells

    def no_intervals(self, level: str) -> list[str]:
        """Return the reasons for which means of a level have no interval."""
        frame = self.page.summary.filter(
            pl.col("level") == level, pl.col("mean").is_not_null(), pl.col("low").is_null()
        )
        return sorted({reason.removeprefix("no interval: ") for reason in frame["reason"].to_list()} - {""})

    def heat_map(self) -> tuple[list[tuple[str, str]], list[tuple[ShownPlanner, Cell, list[Cell]]], float]:
        """Return families (id, name), rows of planner, overall cell and a cell a family, and the scale's end."""
        names = groups_of(self.page.summary, "family")
        best = self.figures.best(self.planners, "family", names, ("hcc", self.mode))
        rows = [
            (
                planner,
                self.figures.cell((planner.name, "overall", "", "hcc", self.mode), best=best),
                [self.figures.cell((planner.name, "family", name, "hcc", self.mode), best=best) for name in names],
            )
            for planner in self.planners
        ]
        return [(name, titled(name)) for name in names], rows, best

    def conflicts(self) -> tuple[list[ShownPlanner], Axis, list[tuple[str, list[Cell]]]]:
        """Return the planners whose UR is the conflict rate, its axis, and a row overall and for each family."""
        known = {planner.name: planner for planner in self.planners}
        planners = [known[name] for name in self.page.conflict if name in known]
        axis = Axis(0.0, 1.0, "ur")
        groups = [("overall", "", "All pairs")]
        groups += [("family", name, titled(name)) for name in groups_of(self.page.summary, "family")]
        rows = [
            (shown, [self.figures.cell((planner.name, level, name, "ur", "plain"), axis) for planner in planners])
            for level, name, shown in groups
        ]
        return planners, axis, rows

    def comparisons(self, metric: str) -> tuple[Axis, list[Comparison]]:
        """Return the paired differences of a metric, largest first."""
        rows = self.page.differences.filter(pl.col("metric") == metric).rows(named=True)
        axis = axis_over([row[key] for row in rows for key in ("difference", "low", "high")], metric, centred=True)
        ordered = sorted(rows, key=lambda row: -abs(row["difference"] or 0.0))
        scenes = self._tested_scenes()
        reach = dict(zip(scenes, least_adjusted(scenes), strict=True))
        return axis, [_comparison(row, axis, reach.get(row["scenes"], 0.0)) for row in ordered]

    def _tested_scenes(self) -> list[int]:
        """Return the scenes of each difference that was tested; all metrics are corrected for together."""
        return self.page.differences.filter(pl.col("p").is_not_null())["scenes"].to_list()

    def beyond_reach(self) -> Beyond | None:
        """Return the tests of differences that can show nothing, None when all can."""
        return beyond_reach(self._tested_scenes())

    def difference_metrics(self) -> list[str]:
        """Return the metrics that differences are about, the primary one first."""
        found = set(self.page.differences["metric"].to_list())
        return [metric for metric in ("hcc", "ur") if metric in found] + sorted(found - {"hcc", "ur"})

    def difference_options(self) -> list[tuple[str, str]]:
        """Return the same metrics with their labels."""
        return [(metric, metric.upper()) for metric in self.difference_metrics()]

    def sensitivity(self) -> list[SensitivityTable]:
        """Return a table for each parameter."""
        frame = self.page.sensitivity
        return [self._sensitivity(frame, name) for name in sorted(set(frame["parameter"].to_list()))]

    def _sensitivity(self, frame: pl.DataFrame, parameter: str) -> SensitivityTable:
        rows = frame.filter(pl.col("parameter") == parameter).rows(named=True)
        settings = sorted({(row["setting"], row["is_default"]) for row in rows}, key=lambda one: _natural(one[0]))
        found = {(row["planner"], row["setting"], row["metric"]): row for row in rows}
        metrics = [metric for metric in ("hcc", "ur", "hpr") if any(row["metric"] == metric for row in rows)]
        default = next((setting for setting, is_default in settings if is_default), "")
        return SensitivityTable(
            parameter,
            settings,
            [
                (
                    planner,
                    {
                        metric: [
                            _changed(
                                found.get((planner.name, setting, metric)), found.get((planner.name, default, metric))
                            )
                            for setting, _ in settings
                        ]
                        for metric in metrics
                    },
                )
                for planner in self.planners
            ],
        )

    def failures(self) -> tuple[list[tuple[str, str]], list[tuple[ShownPlanner, dict[str, Cell], list[Cell]]]]:
        """Return the reasons that occur (code, words), and each planner's coverage and counts by reason."""
        counts = {
            name: dict(frame.filter(outcome_of() == "failed").group_by("edited").len().iter_rows())
            for name, frame in self.page.scores.items()
        }
        known = list(OUTCOME_WORDS)
        found = {code for by_code in counts.values() for code in by_code}
        codes = [code for code in known if code in found] + sorted(found - set(known))
        rows = [
            (
                planner,
                self._coverage(planner.name),
                [
                    _count(counts[planner.name].get(code, 0), links.pairs_link(planner.name, links.failed_for(code)))
                    for code in codes
                ],
            )
            for planner in self.planners
        ]
        return [(code, OUTCOME_WORDS.get(code, code)) for code in codes], rows


def _count(count: int, href: str) -> Cell:
    return Cell(f"{count:,}", href if count else "", n=count)


def _comparison(row: dict[str, Any], axis: Axis, least: float) -> Comparison:
    """Return a difference as shown; `least`: the smallest adjusted p value that it could come to."""
    metric, value = row["metric"], row["difference"]
    has_interval = row["low"] is not None and row["high"] is not None
    ends = [number(row[key], metric, signed=True) for key in ("low", "high")]
    cell = Cell(
        number(value, metric, signed=True),
        links.pairs_link(row["planner_a"], links.SCORED, **{"with": row["planner_b"]}) if row["n"] else "",
        " to ".join(ends) if has_interval else "",
        row["n"],
        row["reason"],
        plot=None if value is None else axis.plot(value, row["low"], row["high"]),
    )
    verdict = _verdict(row["p_adjusted"], least)
    p, adjusted = p_value(row["p"]), p_value(row["p_adjusted"])
    return Comparison(row["planner_a"], row["planner_b"], cell, p, adjusted, verdict == _DIFFER, verdict)


def _verdict(adjusted: float | None, least: float) -> str:
    if adjusted is None:
        return "not tested"
    if adjusted <= ALPHA:
        return _DIFFER
    return "cannot be shown" if least > ALPHA else "not shown to differ"


def _changed(row: dict[str, Any] | None, default: dict[str, Any] | None) -> Changed:
    """Return a mean beside the default's.

    A setting only decides which trajectories are long enough: the pairs of one contain those of the other, so that as
    many are the same ones.
    """
    if row is None or default is None or (row["mean"] is None and not default["n"]):
        return Changed(Cell(NONE, reason="no pair"))
    text = number(row["mean"], row["metric"])
    if row["n"] != default["n"]:
        reason = "over other pairs than this evaluation scores: neither its change nor their list can be shown"
        return Changed(Cell(text, n=row["n"], reason=reason), pairs=f"{row['n']:,} pairs, not {default['n']:,}")
    cell = Cell(text, links.pairs_link(row["planner"], links.SCORED, sort=row["metric"]), n=row["n"])
    if row["is_default"]:
        return Changed(cell)
    return Changed(cell, number(row["mean"] - default["mean"], row["metric"], signed=True))


def _natural(text: str) -> tuple[float, str]:
    """Return the order of settings: by the number they begin with, then by name."""
    head = text.split(" ", maxsplit=1)[0]
    try:
        return float(head), text
    except ValueError:
        return float("inf"), text


def overall(planners: Sequence[ShownPlanner], page: EvaluationPage) -> dict[str, int]:
    """Return what the report is about, counted."""
    return {
        "pairs": len(page.pairs),
        "tasks": len({pair.task for pair in page.pairs}),
        "families": len({pair.family for pair in page.pairs}),
        "scenes": len({pair.scene for pair in page.pairs}),
        "planners": len(planners),
    }
