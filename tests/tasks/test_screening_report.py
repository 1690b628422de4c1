"""The report over a whole taxonomy: counts that add up, reasons with their values, what the logs did not tell."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from data_registry.components.hazards import SCREENINGS
from data_registry.release import Release, open_release
from tasks.publish import publish
from tasks.screening_report import ScreeningReport, screening_report, spread, totals_unanswered
from tests.data_registry.test_verify import rewrite
from tests.tasks.publications import DRAWN_ENDS, build, unsettle

ENDS = ("approved", "auxiliary", "rejected_screen", "rejected_edit", "rejected_decide", "failed", "open")


def opened(folder: Path, ends: tuple[str, ...] | None = None) -> Release:
    made = build(folder, ends=ends) if ends else build(folder)
    return open_release(publish(made, folder / "releases").path.resolve())


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ScreeningReport:
    return screening_report(opened(tmp_path_factory.mktemp("release")))


def test_what_became_of_combinations_adds_up_for_every_group(report: ScreeningReport) -> None:
    (total,) = report.acceptance["all"]
    assert (total["combinations"], total["keyframes"], total["suitable"]) == (6, 3, 5)
    assert [total[name] for name in ENDS] == [1, 1, 1, 0, 2, 1, 0]
    for name in ("task", "family"):
        rows = report.acceptance[name]
        assert all(sum(row[end] for end in ENDS) == row["combinations"] for row in rows)
        assert {end: sum(row[end] for row in rows) for end in ENDS} == {end: total[end] for end in ENDS}
    for rows in report.sources.values():
        assert sum(row["combinations"] for row in rows) in {0, 6}


def test_families_come_in_the_papers_order(report: ScreeningReport) -> None:
    assert [row["family"] for row in report.acceptance["family"]] == ["lane_blockage", "road_surface_hazard"]
    assert [row["task"] for row in report.acceptance["task"]] == [
        "large_vehicle_blocking_lane",
        "collapsed_road_surface",
    ]


def test_reasons_carry_the_spread_of_what_was_measured_and_its_limit(report: ScreeningReport) -> None:
    found = {(row["task"], row["step"], row["reason_code"]): row for row in report.reasons}
    screened = found["collapsed_road_surface", "screen", "ego_standing"]
    assert (screened["fact"], screened["count"], screened["unknown"]) == ("speed", 1, 0)
    assert [screened[name] for name in ("min", "median", "max", "at_least", "at_most")] == [8.0, 8.0, 8.0, 1.0, None]
    decided = found["large_vehicle_blocking_lane", "decide", "low_realism"]
    assert (decided["count"], decided["median"], decided["at_least"], decided["at_most"]) == (2, 0.2, 0.5, None)
    assert found["large_vehicle_blocking_lane", "edit", "truncated_picture"]["count"] == 1
    assert found["large_vehicle_blocking_lane", "localize", "no_ground_contact"]["count"] == 1


def test_a_drawn_combination_counts_under_screenings_reason_only(tmp_path: Path) -> None:
    report = screening_report(opened(tmp_path, DRAWN_ENDS))
    assert {row["step"] for row in report.reasons} == {"screen", "edit"}
    assert sum(row["count"] for row in report.reasons if row["step"] == "screen") == 4
    (total,) = report.acceptance["all"]
    assert (total["suitable"], total["drawn"], total["auxiliary"], total["rejected_screen"]) == (2, 3, 1, 3)


def test_distributions_are_told_for_placed_and_for_suitable_combinations(report: ScreeningReport) -> None:
    for name, count in (("placed", 6), ("suitable", 5)):
        (row,) = report.distributions[name]["all"]
        assert row["count"] == count
        assert row["nominal_conflict"] == {"recorded": 0, "lane_keep": 0, "both": count, "none": 0}
        assert row["avoidable"] == {"stop": count, "pass": 0, "both": 0, "none": 0}
        assert row["required_decel"] == dict.fromkeys(("min", "p5", "median", "p95", "max"), 4.5)
        assert row["no_room"] == 0
        for split, rows in report.distributions[name].items():
            assert sum(row["count"] for row in rows) == count, split
    assert {"family", "scene", "count"} <= report.distributions["placed"]["family_and_scene"][0].keys()


def test_it_is_json_and_the_same_again(report: ScreeningReport, tmp_path: Path) -> None:
    text = json.dumps(report.as_json(), sort_keys=True)
    again = json.dumps(screening_report(opened(tmp_path)).as_json(), sort_keys=True)
    assert text == again


def unknown(release: Release, **changes: object) -> list[dict[str, object]]:
    """Change the screenings' columns, and return what the report says that the logs did not answer."""
    columns = SCREENINGS.columns
    values = [pl.lit(value, dtype=columns[name].dtype).alias(name) for name, value in changes.items()]
    rewrite(release.path, "screenings", *values)
    return screening_report(open_release(release.path)).unanswered


def test_an_unknown_fact_of_lanes_is_what_a_map_would_have_told(tmp_path: Path) -> None:
    release = opened(tmp_path)
    (row,) = unknown(release, reason_fact="junction_gap_m", reason_measured=False, reason_value=None, map_source="mask")
    assert [row[name] for name in ("missing", "instead", "rejected", "alone")] == ["map", "mask", 1, 1]
    (row,) = unknown(release, more_measured=2)
    assert (row["rejected"], row["alone"]) == (1, 0)
    assert unknown(release, map_source="expansion") == []


def test_a_fact_of_motion_from_sparse_poses_is_what_a_can_bus_would_have_told(tmp_path: Path) -> None:
    release = opened(tmp_path)
    assert unknown(release, speed_source="can") == []
    for source in ("samples", "sensor_poses"):
        (row,) = unknown(release, speed_source=source)
        assert (row["missing"], row["instead"], row["reason_fact"]) == ("can", source, "speed")
    assert unknown(release, reason_fact="clear_of_objects_m") == []


def test_totals_are_by_what_is_missing() -> None:
    rows = [{"missing": "map", "rejected": 2, "alone": 1}, {"missing": "map", "rejected": 3, "alone": 0}]
    assert totals_unanswered(rows) == {"map": {"rejected": 5, "alone": 1}}
    assert totals_unanswered([]) == {}


@pytest.mark.parametrize("findings", ["[", "[1]", '[{"code":"low_realism","value":"9","limit":1e999}]'])
def test_findings_that_are_none_cost_their_values_only(findings: str, tmp_path: Path) -> None:
    release = opened(tmp_path)
    rewrite(release.path, "decisions", pl.lit(findings).alias("findings"))
    found = screening_report(open_release(release.path)).reasons
    decided = [row for row in found if row["step"] == "decide"]
    assert sum(row["count"] for row in decided) == 3
    assert {(row["median"], row["at_least"]) for row in decided} == {(None, None)}


def test_an_incomplete_release_says_so_and_counts_what_is_open(tmp_path: Path) -> None:
    made = unsettle(build(tmp_path), "decided", 0)
    release = open_release(publish(made, tmp_path / "releases", allow_incomplete=True).path)
    report = screening_report(release)
    assert report.release["complete"] is False
    assert report.acceptance["all"][0]["open"] == 1


def test_the_median_of_an_even_group_lies_between_its_middle_values() -> None:
    row = pl.DataFrame({"value": [1.0, 2.0, 4.0, 9.0]}).select(**spread("value")).row(0, named=True)
    assert (row["min"], row["median"], row["max"]) == (1.0, 3.0, 9.0)
