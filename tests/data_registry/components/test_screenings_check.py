"""Invariants of table `screenings`: each harm to it is found, and told with the combinations."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from data_registry.components.hazards import HAZARDS
from data_registry.release import open_release, table_path
from data_registry.verify import verify
from tests.data_registry.test_verify import reseal, rewrite, what


def one(column: str, value: Any) -> pl.Expr:
    """Change the row that screening left out."""
    dtype = HAZARDS.table("screenings").columns[column].dtype
    return pl.when(~pl.col("suitable")).then(pl.lit(value, dtype=dtype)).otherwise(pl.col(column)).alias(column)


def test_it_has_a_row_for_each_combination_that_was_screened(made: Path) -> None:
    rows = open_release(made).frame("hazards", "screenings")
    assert (rows.height, rows["suitable"].sum()) == (6, 5)
    assert verify(made).ok


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (one("suitable", value=True), "6 rows of combinations that screen kept, the manifest counts 5"),
        (one("suitable", value=True), "is rejected by screen, its screening says suitable"),
        (one("reason_code", "other"), "has another reason_code than table rejections"),
        (one("reason_code", "suitable"), "reason_code does not fit suitable"),
        (pl.lit("speed").alias("reason_fact"), "is suitable, but names a fact that failed"),
        (one("reason_fact", None), "reason_fact without reason_measured"),
        (one("reason_measured", value=False), "has a value of a fact not measured"),
        (one("scene", "city"), "the row's scene or task is not that of its id"),
        (one("task", "red_signal"), "the row's scene or task is not that of its id"),
        (one("map_source", "satellite"), "map_source is none of expansion, mask, none"),
        (one("avoidable", "maybe"), "avoidable is none of stop, pass, both, none"),
        (one("course", "sideways"), "course is none of lanes, straight"),
        (one("speed", -1.0), "speed is negative"),
        (one("required_decel", -1.0), "required_decel is negative"),
        (one("map_source", "mask"), "the tasks of a keyframe differ in map_source"),
        (pl.lit(1.0).alias("speed"), "speed is not what table pairs says"),
        (pl.lit(None, dtype=pl.Float64).alias("required_decel"), "required_decel is not what table pairs says"),
        (pl.lit("x").alias("family"), "family is not what table pairs says"),
        (pl.concat_str("pair_id", pl.lit("/x")).alias("pair_id"), "the row's scene or task is not that of its id"),
        (pl.concat_str("pair_id", pl.lit("/x")).alias("pair_id"), "is not in table screenings"),
    ],
)
def test_a_harm_to_the_table_is_found(release: Path, change: pl.Expr, words: str) -> None:
    rewrite(release, "screenings", change)
    found = what(verify(release))
    assert words in found
    assert "streetset/town/" in found


def test_a_missing_row_is_found(release: Path) -> None:
    schema = HAZARDS.table("screenings")
    frame = open_release(release).frame("hazards", "screenings").filter("suitable")
    (release / table_path("screenings")).write_bytes(schema.encode(frame))
    reseal(release)
    found = what(verify(release))
    assert "0 rows of combinations that screen rejected, the manifest counts 1" in found
    assert "is rejected by screen, its screening says suitable" in found


def test_many_odd_rows_are_one_problem(release: Path) -> None:
    rewrite(release, "screenings", pl.lit("satellite").alias("map_source"))
    (line,) = [line for line in what(verify(release)).splitlines() if "satellite" in line or "map_source is" in line]
    assert "and 1 more: map_source is none of" in line
