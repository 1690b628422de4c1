"""What scoring takes and gives: regions, predictions, and the tables of an evaluation.

Contract of issue 5 between who predicts, who scores, who counts and who reports. An evaluation is a folder
`<version>.evaluations/<name>/` beside its release, never inside: `evaluation.json` binds it to the release's component
digests, `predictions/<planner>.jsonl` holds what was scored, `scores/<planner>.parquet` one row a pair,
`tables/*.parquet` what was counted from these, and `report.html` shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import polars as pl

from data_registry.geometry import Array
from data_registry.tables import Column, TableSchema

Variant = Literal["source", "edited"]
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)
Status = Literal["ok", "parse_failed", "truncated", "missing", "error", "ineligible"]
"""How a planner's answer came out. `ineligible`: the case lacks what the planner needs; all but `ok` and `ineligible`
are failures, which are never turned into a trajectory."""
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
Flaw = Literal["not_finite", "length", "order", "start", "short", "heading_start"]
"""Why the trajectory of an `ok` answer cannot be scored; it then counts as a failure."""

SCORED_ON: Final = "benchmark"
"""Subset of pairs that scores are about; auxiliary pairs never enter one."""


@dataclass(frozen=True, slots=True, eq=False)
class PairRegion:
    """A pair with its region, and what its score counts under."""

    pair_id: str
    quad: Array
    """Corners (4, 2), ego frame at time 0, metres, either orientation, simple, at least 0.05 m2; concave is allowed."""
    clearance_m: float
    """Clearance that the task requires, metres, above 0."""
    family: str
    task: str
    scene: str
    split: str = "none"
    """Official source split: train, val, test or none."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """A planner's answer to one case, as it came: the trajectory of an `ok` answer may still be flawed."""

    pair_id: str
    variant: Variant
    status: Status
    t: Array | None = None
    """Times (N,), seconds from the keyframe, the first 0."""
    xy: Array | None = None
    """Rear axle (N, 2), ego frame at time 0, metres, the first (0, 0)."""
    heading: Array | None = None
    """Headings (N,), radians, left positive; None: derived from the positions."""
    reason: str = ""
    """Why there is no trajectory, in a few words."""


_PAIR: Final = Column(pl.String, "pair id: <dataset>/<scene>/<sample token>/<task>")
_METRIC: Final = {
    "ur": Column(pl.Float64, "1: the swept body touches the region, 0: it does not; null: not scored", nullable=True),
    "d": Column(pl.Float64, "distance from swept body to region, metres; null: not scored", nullable=True),
    "hcc": Column(pl.Float64, "hazard clearance compliance, 0 to 1; null: not scored", nullable=True),
    "hpr": Column(pl.Float64, "hazard proximity response, 0 to 1; null: not scored", nullable=True),
    "cts": Column(pl.Float64, "mean distance between source and edited prediction, metres; null: one failed", True),
    "cts_x": Column(pl.Float64, "its longitudinal part, metres, absolute values", nullable=True),
    "cts_y": Column(pl.Float64, "its lateral part, metres, absolute values", nullable=True),
}
SCORES: Final = TableSchema(
    "scores",
    ("pair_id",),
    {
        "pair_id": _PAIR,
        "family": Column(pl.String, "task family"),
        "task": Column(pl.String, "task id"),
        "scene": Column(pl.String, "scene name"),
        "split": Column(pl.String, "official source split: train, val, test or none"),
        **_METRIC,
        "edited": Column(pl.String, "what became of the edited prediction: ok, a status, or a trajectory's flaw"),
        "source": Column(pl.String, "what became of the source prediction: ok, a status, or a trajectory's flaw"),
        "reason": Column(pl.String, "why a metric is null, in words; empty when none is"),
    },
)
"""One planner's scores, one row for each pair of the benchmark, scored or not."""

METRICS: Final = ("ur", "hcc", "hpr", "d", "cts", "cts_x", "cts_y")
STRICT: Final = {"ur": 1.0, "hcc": 0.0, "hpr": 0.0}
"""What a failed edited prediction counts as in strict rows, by metric; other metrics have no strict row."""

_PLANNER: Final = Column(pl.String, "planner's name")
_INTERVAL: Final = {
    "low": Column(pl.Float64, "lower end of the 95 % interval; null: see reason", nullable=True),
    "high": Column(pl.Float64, "upper end of the 95 % interval; null: see reason", nullable=True),
    "reason": Column(pl.String, "why there is no mean or interval; empty when there is"),
}
SUMMARY: Final = TableSchema(
    "summary",
    ("planner", "level", "group", "metric", "mode"),
    {
        "planner": _PLANNER,
        "level": Column(pl.String, "overall, family, task, split, or task_macro: mean over tasks of their means"),
        "group": Column(pl.String, "which family, task or split; empty for overall and task_macro"),
        "metric": Column(pl.String, "ur, hcc, hpr, d, cts, cts_x or cts_y"),
        "mode": Column(pl.String, "plain: failed predictions left out; strict: they count ur 1, hcc 0, hpr 0"),
        "n": Column(pl.Int64, "pairs in the mean"),
        "scenes": Column(pl.Int64, "scenes that these come from"),
        "mean": Column(pl.Float64, "mean over pairs; null: no pair", nullable=True),
        **_INTERVAL,
    },
)
COVERAGE: Final = TableSchema(
    "coverage",
    ("planner", "level", "group"),
    {
        "planner": _PLANNER,
        "level": Column(pl.String, "overall, family, task or split"),
        "group": Column(pl.String, "which one; empty for overall"),
        "pairs": Column(pl.Int64, "pairs of the benchmark: scored + failed + ineligible"),
        "scored": Column(pl.Int64, "edited prediction scored"),
        "failed": Column(pl.Int64, "edited prediction failed: parse_failed, truncated, missing, error or a flaw"),
        "ineligible": Column(pl.Int64, "the planner cannot take the case"),
        "paired": Column(pl.Int64, "both predictions scored: those that CTS is about"),
    },
)
DIFFERENCES: Final = TableSchema(
    "differences",
    ("planner_a", "planner_b", "metric"),
    {
        "planner_a": Column(pl.String, "planner's name, before planner_b in the alphabet"),
        "planner_b": _PLANNER,
        "metric": Column(pl.String, "ur or hcc"),
        "n": Column(pl.Int64, "pairs that both have scored"),
        "scenes": Column(pl.Int64, "scenes that these come from"),
        "difference": Column(pl.Float64, "mean of a minus b over these pairs; null: no pair", nullable=True),
        **_INTERVAL,
        "p": Column(pl.Float64, "two-sided p value of no difference; null: see reason", nullable=True),
        "p_adjusted": Column(pl.Float64, "the same, controlled over all comparisons of the table", nullable=True),
    },
)
SENSITIVITY: Final = TableSchema(
    "sensitivity",
    ("planner", "parameter", "setting", "metric"),
    {
        "planner": _PLANNER,
        "parameter": Column(pl.String, "body, clearance or horizon: what is changed, all else as in the evaluation"),
        "setting": Column(pl.String, "its value, e.g. `zoe`, `1.5 x`, `2.0 s`"),
        "is_default": Column(pl.Boolean, "whether this is the evaluation's own setting"),
        "metric": Column(pl.String, "ur, hcc or hpr"),
        "n": Column(pl.Int64, "pairs in the mean"),
        "mean": Column(pl.Float64, "plain mean over pairs; null: no pair", nullable=True),
    },
)
EVALUATION_TABLES: Final = (SUMMARY, COVERAGE, DIFFERENCES, SENSITIVITY)
