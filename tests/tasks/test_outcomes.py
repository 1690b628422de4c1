"""What became of every combination, read from a release: the same as the build itself says."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import polars as pl
import pytest

from data_registry.manifest import ReleaseCorruptError
from data_registry.release import Release, open_release, table_path
from data_registry.verify import verify
from tasks.outcomes import outcomes
from tasks.publication import Publication, ends_of, pair_of
from tasks.publish import publish
from tasks.screening_report import screening_report
from tests.data_registry.test_verify import rewrite
from tests.tasks.publications import DRAWN_ENDS, ENDS, build, settled, unsettle

NAMES = {"benchmark": "benchmark", "auxiliary": "auxiliary", "rejected": "rejected", "failed": "failed_permanent"}


def opened(publication: Publication, folder: Path) -> Release:
    return open_release(publish(publication, folder, allow_incomplete=True).path.resolve())


def ends(rows: pl.DataFrame) -> dict[str, str]:
    return {name: NAMES.get(end, "unsettled") for name, end in rows.select("pair_id", "end").iter_rows()}


@pytest.mark.parametrize("made_of", [ENDS, DRAWN_ENDS, ENDS[::-1]])
def test_ends_are_those_of_the_build(made_of: tuple[str, ...], tmp_path: Path) -> None:
    made = build(tmp_path, ends=made_of)
    rows = outcomes(opened(made, tmp_path / "releases"))
    assert ends(rows) == ends_of(made)
    assert rows["pair_id"].is_sorted()
    assert {*rows.filter("drawn")["pair_id"]} == {*made.draw.ids}
    decided = {entry.id for entry in made.decided.recorded}
    assert {*rows.filter("edited")["pair_id"]} == decided


BEHIND = {
    "screened": ("edited", "measured", "localized", "judged", "decided"),
    "edited": ("measured", "localized", "judged", "decided"),
    "measured": ("judged", "decided"),
    "localized": ("judged", "decided"),
    "judged": ("decided",),
    "decided": (),
}
"""Results that there are none of while one of a stage is missing."""


@pytest.mark.parametrize("field", sorted(BEHIND))
def test_what_has_no_outcome_is_open(field: str, tmp_path: Path) -> None:
    made = unsettle(build(tmp_path), field)
    item = getattr(made, field).unsettled[0].id
    pair = item.partition("@")[0]
    for later in BEHIND[field]:
        results = getattr(made, later)
        gone = [
            entry
            for entry in results.settled
            if entry.id in {pair, item} or (item == pair and pair_of(entry.id) == pair)
        ]
        rest = tuple(entry for entry in results.settled if entry not in gone)
        made = dataclasses.replace(made, **{later: dataclasses.replace(results, settled=rest)})
    found = ends(outcomes(opened(made, tmp_path / "releases")))
    assert found == ends_of(made)
    assert found[pair] == "unsettled"


def test_each_end_names_its_step(tmp_path: Path) -> None:
    made = build(tmp_path)
    rows = outcomes(opened(made, tmp_path / "releases"))
    steps = dict(rows.select("pair_id", "step").iter_rows())
    assert {name.partition("town/")[2]: step for name, step in steps.items()} == {
        "aaaa/collapsed_road_surface": None,
        "aaaa/large_vehicle_blocking_lane": None,
        "bbbb/collapsed_road_surface": "screen",
        "bbbb/large_vehicle_blocking_lane": "edit",
        "cccc/collapsed_road_surface": "decide",
        "cccc/large_vehicle_blocking_lane": "decide",
    }


def test_a_combination_whose_screening_failed_counts_under_its_task(tmp_path: Path) -> None:
    made = build(tmp_path)
    index = next(n for n, entry in enumerate(made.screened.settled) if entry.result.status == "rejected")
    entry = made.screened.settled[index]
    failed = settled("screen", entry.item, entry.id, None, ("failed_permanent", "broken_keyframe"))
    entries = (*made.screened.settled[:index], failed, *made.screened.settled[index + 1 :])
    made = dataclasses.replace(made, screened=dataclasses.replace(made.screened, settled=entries))
    release = opened(made, tmp_path / "releases")
    assert verify(release.path).ok
    rows = outcomes(release)
    assert ends(rows) == ends_of(made)
    columns = ("task", "family", "scene", "suitable", "reason_code", "end", "step", "map_source")
    assert rows.filter(pair_id=entry.id).select(columns).row(0) == (
        *("collapsed_road_surface", "road_surface_hazard", "town"),
        *(False, "broken_keyframe", "failed", "screen", None),
    )
    reasons = {row["reason_code"]: row for row in screening_report(release).reasons}
    assert (reasons["broken_keyframe"]["step"], reasons["broken_keyframe"]["count"]) == ("screen", 1)


def test_a_combination_of_which_no_table_tells_the_end_is_refused(tmp_path: Path) -> None:
    release = opened(build(tmp_path), tmp_path / "releases")
    rewrite(release.path, "decisions", pl.concat_str("pair_id", pl.lit("x")).alias("pair_id"))
    with pytest.raises(
        ReleaseCorruptError, match="2 combinations suit their task, but no table says what became of them"
    ):
        outcomes(open_release(release.path))


def test_a_subset_that_there_is_not_is_refused(tmp_path: Path) -> None:
    release = opened(build(tmp_path), tmp_path / "releases")
    rewrite(release.path, "pairs", pl.lit("weird").alias("subset"))
    with pytest.raises(ReleaseCorruptError, match="no table says what became of them"):
        outcomes(open_release(release.path))


def test_ids_are_shown_without_control_characters(tmp_path: Path) -> None:
    release = opened(build(tmp_path), tmp_path / "releases")
    rewrite(release.path, "screenings", pl.concat_str(pl.lit("\x1b[31m"), "pair_id").alias("pair_id"))
    with pytest.raises(ReleaseCorruptError) as caught:
        outcomes(open_release(release.path))
    assert str(caught.value).isprintable()


def test_two_ends_of_one_combination_are_refused(tmp_path: Path) -> None:
    release = opened(build(tmp_path), tmp_path / "releases")
    (edited,) = release.frame("hazards", "rejections").filter(stage="edit")["item_id"]
    twice = pl.when(pl.col("item_id").str.contains("@")).then(pl.lit(f"{edited}@0123456789ab")).otherwise("item_id")
    rewrite(release.path, "rejections", twice.alias("item_id"), pl.lit("edit").alias("stage"))
    with pytest.raises(ReleaseCorruptError, match="stand more than once: tables contradict each other"):
        outcomes(open_release(release.path))


def test_a_changed_table_is_refused(tmp_path: Path) -> None:
    release = opened(build(tmp_path), tmp_path / "releases")
    path = release.path / table_path("screenings")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ReleaseCorruptError, match=r"screenings.parquet of .* was changed"):
        outcomes(release)
