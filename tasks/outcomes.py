"""What became of every combination of a release, read from its tables: the ground of reports over a whole release.

Single columns are read, so that all of nuScenes with all tasks (0.7 million combinations, whose evidence alone takes a
gigabyte) fits a small machine.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from data_registry.manifest import ReleaseCorruptError
from data_registry.release import Release

_COMPONENT: Final = "hazards"
SCREENED: Final = (
    *("pair_id", "scene", "task", "family", "suitable", "reason_code", "reason_fact", "reason_measured"),
    *("reason_value", "reason_at_least", "reason_at_most", "more_measured", "placement_kind", "nominal_conflict"),
    *("required_decel", "avoidable", "path_source", "course", "speed_source", "map_source"),
)
"""Columns of table `screenings` that outcomes keep."""
STEPS: Final = ("screen", "edit", "decide")
"""Steps at which a combination as a whole can end; those between look at its candidates."""
_CANDIDATE: Final = r"@[0-9a-f]{12}$"
_SUBSETS: Final = ("benchmark", "auxiliary")
_SHOWN: Final = 5


def outcomes(release: Release) -> pl.DataFrame:
    """Return a row for each combination, sorted by `pair_id`: SCREENED, and what came of it.

    Further columns: `drawn` (screened out, but edited for the auxiliary split), `edited` (there is an edit), `end`
    (benchmark, auxiliary, rejected, failed, open) and, for rejected and failed ones, `step` (of STEPS). Combinations
    whose screening failed or is open have null in what screening would have said, and count as not suitable.

    Raises:
        ReleaseCorruptError: the files are not what the manifest says, or the tables do not say how some combination
            ended.
        TableError: a file does not hold its table.
    """
    screened = release.frame(_COMPONENT, "screenings", SCREENED)
    left_out = left_out_of(release)
    later = left_out.filter(pl.col("stage") != "screen")
    edit = later.filter(stage="edit").select("pair_id", edit="status")
    behind = later.filter(pl.col("stage") != "edit").select("pair_id")
    decided = release.frame(_COMPONENT, "decisions", ("pair_id",))
    rows = (
        screened.join(release.frame(_COMPONENT, "pairs", ("pair_id", "subset")), on="pair_id", how="left")
        .join(edit, on="pair_id", how="left")
        .join(_marked(pl.concat([decided, behind]), "edited"), on="pair_id", how="left")
        .join(_marked(decided, "decided"), on="pair_id", how="left")
        .join(_marked(later.filter(status="unsettled"), "open"), on="pair_id", how="left")
        .with_columns(pl.col("edited", "decided", "open").fill_null(value=False))
        .with_columns(end=_end(), drawn=~pl.col("suitable") & (pl.col("edited") | pl.col("edit").is_not_null()))
        .with_columns(step=_step())
        .select(*SCREENED, "drawn", "edited", "end", "step")
    )
    _refuse(rows.filter(pl.col("end").is_null()), "suit their task, but no table says what became of them")
    all_rows = pl.concat([rows, _unscreened(left_out)], how="diagonal").sort("pair_id")
    _refuse(all_rows.filter(pl.col("pair_id").is_duplicated()), "stand more than once: tables contradict each other")
    return all_rows


def left_out_of(release: Release) -> pl.DataFrame:
    """Return what the steps behind the source left out: table `rejections` without evidence, with `pair_id` and `task`.

    Raises:
        ReleaseCorruptError, TableError: as `outcomes`.
    """
    columns = ("stage", "item_id", "status", "reason_code", "scene", "family")
    rows = release.frame(_COMPONENT, "rejections", columns).filter(pl.col("stage") != "source")
    rows = rows.with_columns(pair_id=pl.col("item_id").str.replace(_CANDIDATE, "")).drop("item_id")
    return rows.with_columns(task=pl.col("pair_id").str.extract(r"([^/]*)$"))


def _marked(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    return rows.select("pair_id").unique().with_columns(pl.lit(value=True).alias(name))


def _end() -> pl.Expr:
    """Say what became of a combination; null when the tables do not say."""
    return (
        pl.when(pl.col("subset").is_in(_SUBSETS))
        .then(pl.col("subset"))
        .when(pl.col("subset").is_not_null())
        .then(None)
        .when(pl.col("open") | (pl.col("edit") == "unsettled"))
        .then(pl.lit("open"))
        .when(~pl.col("suitable"))
        .then(pl.lit("rejected"))
        .when(pl.col("edit") == "failed_permanent")
        .then(pl.lit("failed"))
        .when(pl.col("edit").is_not_null() | pl.col("decided"))
        .then(pl.lit("rejected"))
    )


def _step() -> pl.Expr:
    """Say at which step a combination ended; a drawn one of which no pair was made stays left out by screening."""
    return (
        pl.when(~pl.col("end").is_in(["rejected", "failed"]))
        .then(None)
        .when(~pl.col("suitable"))
        .then(pl.lit("screen"))
        .when(pl.col("edit").is_not_null())
        .then(pl.lit("edit"))
        .otherwise(pl.lit("decide"))
    )


def _unscreened(left_out: pl.DataFrame) -> pl.DataFrame:
    """Return the combinations without a screening: it failed, or is open."""
    lost = left_out.filter(pl.col("stage") == "screen", pl.col("status") != "rejected")
    failed = pl.col("status") == "failed_permanent"
    return lost.select(
        *("pair_id", "scene", "task", "family", "reason_code"),
        suitable=pl.lit(value=False),
        drawn=pl.lit(value=False),
        edited=pl.lit(value=False),
        end=pl.when(failed).then(pl.lit("failed")).otherwise(pl.lit("open")),
        step=pl.when(failed).then(pl.lit("screen")),
    )


def _refuse(rows: pl.DataFrame, what: str) -> None:
    if rows.height:
        shown = ", ".join(ascii(str(name)[:200]) for name in rows["pair_id"].unique().sort()[:_SHOWN])
        raise ReleaseCorruptError(
            f"{rows.height} combinations {what}: {shown}; `exceptiondrive verify` tells all problems"
        )
