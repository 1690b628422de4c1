"""What must hold between table `screenings` and the other tables of component `hazards`.

Asked of whole columns: the table has a row for each combination, 0.7 million on all of nuScenes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from data_registry.tables import ReleaseContent

SCREENINGS: Final = "tables/screenings.parquet"
SHOWN: Final = 5
"""Combinations that one problem names before it only counts."""
_PATHS: Final = ("poses", "can", "samples", "sensor_poses")
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "split": ("train", "val", "test", "none"),
    "placement_kind": ("standing", "surface", "mounted", "attached"),
    "nominal_conflict": ("recorded", "lane_keep", "both", "none"),
    "avoidable": ("stop", "pass", "both", "none"),
    "path_source": (*_PATHS, "straight"),
    "course": ("lanes", "straight"),
    "speed_source": _PATHS,
    "map_source": ("expansion", "mask", "none"),
}
"""All that a column may say; null only where its schema allows it."""
_NOT_NEGATIVE: Final = ("speed", "required_decel", "views", "more_measured", "more_unknown")
_OF_KEYFRAME: Final = ("location", "split", "path_source", "course", "speed", "speed_source", "map_source")
_OF_PAIR: Final = (
    *("scene", "location", "split", "task", "family", "placement_kind", "speed", "nominal_conflict"),
    *("required_decel", "avoidable", "path_source"),
)

Found = Iterator[tuple[str, str]]


def check_screenings(content: ReleaseContent) -> Found:
    """Yield (where, what is wrong): counts, ids, words, reasons, and what other tables say about the same things."""
    rows = content.frame("screenings")
    yield from _check_counts(content, rows)
    yield from _check_ids(rows)
    yield from _check_values(rows)
    yield from _check_reasons(content, rows)
    yield from _check_keyframes(rows)
    yield from _check_pairs(content, rows)


def _check_counts(content: ReleaseContent, rows: pl.DataFrame) -> Found:
    """Every combination that screening kept or rejected has a row."""
    counts = content.funnel.get("screen", {})
    kept = rows.filter("suitable").height
    for found, name in ((kept, "kept"), (rows.height - kept, "rejected")):
        if found != counts.get(name, 0):
            yield (
                SCREENINGS,
                f"{found} rows of combinations that screen {name}, the manifest counts {counts.get(name, 0)}",
            )


def _check_ids(rows: pl.DataFrame) -> Found:
    parts = rows.select("pair_id", "scene", "task", part=pl.col("pair_id").str.split("/"))
    yield from _told(
        parts.filter(
            (pl.col("part").list.len() != 4)
            | (pl.col("part").list.get(1, null_on_oob=True) != pl.col("scene"))
            | (pl.col("part").list.get(3, null_on_oob=True) != pl.col("task"))
        ),
        "the row's scene or task is not that of its id",
    )


def _check_values(rows: pl.DataFrame) -> Found:
    for name, words in WORDS.items():
        odd = rows.filter(~pl.col(name).is_in(words))
        yield from _told(odd, f"{name} is none of {', '.join(words)}")
    for name in _NOT_NEGATIVE:
        yield from _told(rows.filter(pl.col(name) < 0), f"{name} is negative")


def _check_reasons(content: ReleaseContent, rows: pl.DataFrame) -> Found:
    """A row is rejected for what `rejections` says, and its fact and value belong together."""
    rejected = content.frame("rejections").filter(stage="screen", status="rejected")
    said = rejected.select(pair_id="item_id", said="reason_code")
    left_out = rows.filter(~pl.col("suitable"))
    yield from _told(left_out.join(said, on="pair_id", how="anti"), "is not suitable, but no row of rejections says so")
    yield from _told(
        said.join(left_out, on="pair_id", how="anti"), "is rejected by screen, its screening says suitable"
    )
    differs = left_out.join(said, on="pair_id").filter(pl.col("reason_code") != pl.col("said"))
    yield from _told(differs, "has another reason_code than table rejections")
    no_fact, suitable = pl.col("reason_fact").is_null(), pl.col("suitable")
    yield from _told(
        rows.filter(suitable != (pl.col("reason_code") == "suitable")), "reason_code does not fit suitable"
    )
    yield from _told(rows.filter(suitable & ~no_fact), "is suitable, but names a fact that failed")
    yield from _told(rows.filter(no_fact != pl.col("reason_measured").is_null()), "reason_fact without reason_measured")
    unknown = ~pl.col("reason_measured").fill_null(value=False)
    yield from _told(rows.filter(unknown & pl.col("reason_value").is_not_null()), "has a value of a fact not measured")


def _check_keyframes(rows: pl.DataFrame) -> Found:
    """What belongs to the keyframe is the same for all its tasks."""
    keyframe = pl.col("pair_id").str.replace(r"/[^/]*$", "").alias("pair_id")
    for name in _OF_KEYFRAME:
        counts = rows.group_by(keyframe).agg(pl.col(name).n_unique())
        yield from _told(counts.filter(pl.col(name) > 1), f"the tasks of a keyframe differ in {name}")


def _check_pairs(content: ReleaseContent, rows: pl.DataFrame) -> Found:
    pairs = content.frame("pairs").select("pair_id", *_OF_PAIR)
    both = pairs.join(rows.select("pair_id", *_OF_PAIR), on="pair_id", suffix="_screened")
    for name in _OF_PAIR:
        differs = ~pl.col(name).eq_missing(pl.col(f"{name}_screened"))
        yield from _told(both.filter(differs), f"{name} is not what table pairs says")


def _told(odd: pl.DataFrame, what: str) -> Found:
    """Tell one problem about all odd rows together, naming the first few."""
    if odd.height:
        first = odd["pair_id"].sort()[:SHOWN].to_list()
        more = f" and {odd.height - SHOWN} more" if odd.height > SHOWN else ""
        yield SCREENINGS, f"{', '.join(str(name)[:200] for name in first)}{more}: {what}"
