"""How the whole taxonomy screens on the logs of a release: what was accepted, why the rest was not, and what the logs'
missing map or CAN bus cost.

Everything is counted from the tables that ship. Counts by sources of map and motion compare different scenes, so they
say what was lost where, not what a better source would have gained; only unanswered facts say that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Final

import polars as pl

from data_registry.release import Release
from prompts.facts import FROM_LANES, FROM_MOTION
from tasks.distribution import PAPERS_SHARES
from tasks.outcomes import left_out_of, outcomes

Rows = list[dict[str, Any]]

STAGES: Final = ("screen", "edit", "measure", "localize", "judge", "decide")
SOURCES: Final = ("map_source", "course", "path_source", "speed_source")
"""Columns that say how much the logs told about map and motion."""
SPLITS: Final[Mapping[str, tuple[str, ...]]] = {
    "all": (),
    "family": ("family",),
    "task": ("task",),
    "scene": ("scene",),
    "path_source": ("path_source",),
    "family_and_path_source": ("family", "path_source"),
    "task_and_path_source": ("task", "path_source"),
    "family_and_scene": ("family", "scene"),
}
"""Groups that distributions are told for."""
CONFLICTS: Final = ("recorded", "lane_keep", "both", "none")
AVOIDABLE: Final = ("stop", "pass", "both", "none")
QUANTILES: Final[Mapping[str, float]] = {"min": 0.0, "p5": 0.05, "median": 0.5, "p95": 0.95, "max": 1.0}
_SPARSE: Final = ("samples", "sensor_poses")
"""Sources of speed that a CAN bus recording would replace."""


@dataclass(frozen=True, slots=True)
class ScreeningReport:
    """Counts over all combinations of a release; every list is sorted, families as in the paper, and JSON as it is."""

    release: Mapping[str, Any]
    """name, version, digest, complete."""
    combinations: int
    keyframes: int
    acceptance: Mapping[str, Rows]
    """By `all`, `family` and `task`: how many combinations, how many came how far, and at which step the rest ended."""
    reasons: Rows
    """By task, step and reason code: how often, and how the fact or finding behind it is spread, beside its limits."""
    distributions: Mapping[str, Mapping[str, Rows]]
    """Of `placed` and of `suitable` combinations, by each of SPLITS: nominal_conflict, avoidable, required_decel."""
    sources: Mapping[str, Rows]
    """Acceptance by each of SOURCES, and by `task_and_map_source`."""
    unanswered: Rows
    """Rejections that a map with lanes or a CAN bus recording might have answered: `alone` counts those in which
    nothing else that was measured failed."""

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def screening_report(release: Release) -> ScreeningReport:
    """Count what became of all combinations of a release.

    Raises:
        ReleaseCorruptError: a table was changed, or the tables do not say how some combination ended.
        TableError: a file does not hold its table.
    """
    rows = outcomes(release)
    manifest = release.manifest
    placed = rows.filter(pl.col("placement_kind").is_not_null())
    return ScreeningReport(
        release={
            "name": manifest.name,
            "version": manifest.version,
            "digest": release.digest,
            "complete": manifest.complete,
        },
        combinations=rows.height,
        keyframes=_keyframes(rows),
        acceptance={name: _acceptance(rows, SPLITS[name]) for name in ("all", "family", "task")},
        reasons=_reasons(release, rows),
        distributions={
            name: {split: _distribution(part, by) for split, by in SPLITS.items()}
            for name, part in (("placed", placed), ("suitable", placed.filter("suitable")))
        },
        sources={
            **{name: _acceptance(rows.filter(pl.col(name).is_not_null()), (name,)) for name in SOURCES},
            "task_and_map_source": _acceptance(rows.filter(pl.col("map_source").is_not_null()), ("task", "map_source")),
        },
        unanswered=_unanswered(rows),
    )


def _keyframes(rows: pl.DataFrame) -> int:
    return rows.select(pl.col("pair_id").str.replace(r"/[^/]*$", "").n_unique()).item()


def _grouped(rows: pl.DataFrame, by: Sequence[str], **found: pl.Expr) -> pl.DataFrame:
    """Aggregate by columns, of tasks with their family; sorted, families in the paper's order."""
    keys = ["family", *by] if "task" in by else list(by)
    if not keys:
        return rows.select(**found)
    order = pl.col("family").replace_strict({name: rank for rank, name in enumerate(PAPERS_SHARES)}, default=99)
    counted = rows.group_by(keys).agg(**found)
    return counted.sort(*([order] if "family" in keys else []), *keys)


def _acceptance(rows: pl.DataFrame, by: Sequence[str]) -> Rows:
    """Count how far combinations came; approved, auxiliary, rejected_*, failed and open add up to all of them."""
    end, step = pl.col("end"), pl.col("step")
    counted = _grouped(
        rows,
        by,
        combinations=pl.len(),
        keyframes=pl.col("pair_id").str.replace(r"/[^/]*$", "").n_unique(),
        suitable=pl.col("suitable").sum(),
        edited=pl.col("edited").sum(),
        approved=(end == "benchmark").sum(),
        auxiliary=(end == "auxiliary").sum(),
        drawn=pl.col("drawn").sum(),
        rejected_screen=((end == "rejected") & (step == "screen")).sum(),
        rejected_edit=((end == "rejected") & (step == "edit")).sum(),
        rejected_decide=((end == "rejected") & (step == "decide")).sum(),
        failed=(end == "failed").sum(),
        open=(end == "open").sum(),
    )
    return counted.to_dicts()


def spread(name: str) -> dict[str, pl.Expr]:
    """Return the quantiles of a column, linear between its values; null where it has no value."""
    return {key: pl.col(name).quantile(share, interpolation="linear") for key, share in QUANTILES.items()}


def _reasons(release: Release, rows: pl.DataFrame) -> Rows:
    """Count reasons: of screening with its facts, of decide with its first findings, of the other steps by code."""
    told = pl.col("map_source").is_not_null() | (pl.col("end") == "failed")  # not those that wait for a screening
    screened = rows.filter(~pl.col("suitable"), told)
    left_out = left_out_of(release).filter(~pl.col("stage").is_in(["screen", "decide"]))
    reasons = pl.DataFrame(
        [*_screen_reasons(screened), *_code_reasons(left_out), *_decide_reasons(release, rows)], schema=_REASON
    )
    order = {stage: number for number, stage in enumerate(STAGES)}
    stage = pl.col("step").replace_strict(order, default=99)
    ranked = reasons.with_columns(
        family_rank=pl.col("family").replace_strict({name: n for n, name in enumerate(PAPERS_SHARES)}, default=99),
        stage_rank=stage,
    )
    ordered = ranked.sort(
        "family_rank",
        "family",
        "task",
        "stage_rank",
        -pl.col("count").cast(pl.Int64),
        "reason_code",
        "fact",
        "at_least",
    )
    return ordered.drop("family_rank", "stage_rank").to_dicts()


_REASON: Final = {
    **dict.fromkeys(("family", "task", "step", "reason_code", "fact"), pl.String),
    "count": pl.Int64,
    "unknown": pl.Int64,
    "at_least": pl.Float64,
    "at_most": pl.Float64,
    **dict.fromkeys(QUANTILES, pl.Float64),
}
"""Columns of reasons: `unknown` of `count` could not be measured; quantiles of the measured values; limits."""


def _screen_reasons(left_out: pl.DataFrame) -> Rows:
    limits = {"at_least": "reason_at_least", "at_most": "reason_at_most"}
    counted = (
        left_out.rename({"reason_fact": "fact"})
        .group_by("family", "task", "reason_code", "fact")
        .agg(
            count=pl.len(),
            unknown=(~pl.col("reason_measured")).sum(),
            **{name: pl.col(column).min() for name, column in limits.items()},
            **spread("reason_value"),
        )
    )
    return counted.with_columns(step=pl.lit("screen")).to_dicts()


def _code_reasons(left_out: pl.DataFrame) -> Rows:
    """Count items of the steps that keep no measured value with their reason: combinations or candidates."""
    counted = left_out.group_by("family", "task", "reason_code", step="stage").agg(count=pl.len())
    return counted.with_columns(unknown=pl.lit(0)).to_dicts()


def _decide_reasons(release: Release, rows: pl.DataFrame) -> Rows:
    """Count first findings against edits of suitable combinations, by code, with values beside limits."""
    decisions = release.frame("hazards", "decisions", ("pair_id", "approved", "reason_code", "findings"))
    against = decisions.filter(~pl.col("approved")).join(
        rows.filter("suitable").select("pair_id", "family", "task"), on="pair_id"
    )
    found = [_finding(findings, code) for code, findings in against.select("reason_code", "findings").iter_rows()]
    told = against.drop("findings", "pair_id", "approved").hstack(
        pl.DataFrame(found, schema={"value": pl.Float64, "limit": pl.Float64}, orient="row")
    )
    above = (pl.col("value") > pl.col("limit")).fill_null(value=False)
    counted = told.group_by("family", "task", "reason_code").agg(
        count=pl.len(),
        unknown=pl.lit(0),
        at_least=pl.col("limit").filter(~above).min(),
        at_most=pl.col("limit").filter(above).min(),
        **spread("value"),
    )
    return counted.with_columns(step=pl.lit("decide")).to_dicts()


def _finding(findings: str, code: str) -> tuple[float | None, float | None]:
    """Return value and limit of the finding with a code, as far as they are numbers; findings may be any text."""
    try:
        listed = json.loads(findings)
    except (ValueError, RecursionError):
        return None, None
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and one.get("code") == code:
            return _number(one.get("value")), _number(one.get("limit"))
    return None, None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return float(value) if is_number else None


def _distribution(rows: pl.DataFrame, by: Sequence[str]) -> Rows:
    """Return the counts of conflict and avoidability and the spread of the required deceleration."""
    counted = _grouped(
        rows,
        by,
        count=pl.len(),
        **{f"conflict_{word}": (pl.col("nominal_conflict") == word).sum() for word in CONFLICTS},
        **{f"avoidable_{word}": (pl.col("avoidable") == word).sum() for word in AVOIDABLE},
        no_room=pl.col("required_decel").is_null().sum(),
        **{f"decel_{key}": quantile for key, quantile in spread("required_decel").items()},
    )
    return [_nested(row) for row in counted.to_dicts()]


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    """Put columns of one prefix together: {"conflict_none": 1} becomes {"nominal_conflict": {"none": 1}}."""
    names = {"conflict": "nominal_conflict", "avoidable": "avoidable", "decel": "required_decel"}
    nested: dict[str, Any] = {}
    for key, value in row.items():
        prefix, _, rest = key.partition("_")
        if prefix in names:
            nested.setdefault(names[prefix], {})[rest] = value
        else:
            nested[key] = value
    return nested


def _unanswered(rows: pl.DataFrame) -> Rows:
    """Count rejections whose first failed fact the logs could not tell, or told from sparser poses than a bus has."""
    fact = pl.col("reason_fact")
    lanes = (pl.col("map_source") != "expansion") & fact.is_in(FROM_LANES) & ~pl.col("reason_measured")
    motion = pl.col("speed_source").is_in(_SPARSE) & fact.is_in(FROM_MOTION)
    found: Iterable[pl.DataFrame] = (
        _grouped(
            rows.filter(~pl.col("suitable"), which).rename({source: "instead"}),
            ("task", "instead", "reason_code", "reason_fact"),
            rejected=pl.len(),
            alone=(pl.col("more_measured") == 0).sum(),
        ).with_columns(missing=pl.lit(missing))
        for missing, source, which in (("map", "map_source", lanes), ("can", "speed_source", motion))
    )
    return [row for part in found for row in part.to_dicts()]


def totals_unanswered(unanswered: Rows) -> dict[str, dict[str, int]]:
    """Return for `map` and `can` all rejections and those that nothing else explains.

    >>> totals_unanswered([{"missing": "map", "rejected": 3, "alone": 1}])
    {'map': {'rejected': 3, 'alone': 1}}
    """
    groups = groupby(unanswered, lambda row: row["missing"])
    listed = {missing: list(rows) for missing, rows in groups}
    return {
        missing: {name: sum(row[name] for row in rows) for name in ("rejected", "alone")}
        for missing, rows in listed.items()
    }
