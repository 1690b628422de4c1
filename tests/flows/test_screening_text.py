"""A screening report for people: it fits, it adds up, and nothing in a release is markup."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from data_registry.components.hazards import HAZARDS
from data_registry.release import open_release, table_path
from flows.screening_text import as_markdown, as_text, sections
from flows.terminal import WIDTH
from tasks.publish import publish
from tasks.screening_report import ScreeningReport, screening_report
from tests.data_registry.test_verify import reseal
from tests.tasks.publications import build

HOSTILE = "[red]x[/red]|<b>y</b>\x1b[31m" + "z" * 200


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ScreeningReport:
    folder = tmp_path_factory.mktemp("release")
    return screening_report(open_release(publish(build(folder), folder / "releases").path))


def renamed(report: ScreeningReport, **names: str) -> ScreeningReport:
    """Give every row of a report these values, as far as it has such columns."""

    def change(content: Any) -> Any:
        if isinstance(content, dict):
            plain = {key: names.get(key, value) for key, value in content.items() if isinstance(value, str)}
            return {key: change(value) for key, value in content.items()} | plain
        return [change(one) for one in content] if isinstance(content, list) else content

    changed = {field.name: change(getattr(report, field.name)) for field in dataclasses.fields(report)}
    return dataclasses.replace(report, **changed)


def unanswered(number: int) -> dict[str, Any]:
    row = {"task": f"task{number}", "reason_code": "no_junction", "reason_fact": "junction_gap_m", "family": "x"}
    return {**row, "missing": "map", "instead": "mask", "rejected": 3 + number, "alone": 1}


def test_the_text_tells_each_task_and_the_sum(report: ScreeningReport) -> None:
    lines = as_text(report).splitlines()
    assert lines[0].endswith(": 6 combinations of 3 keyframes and 2 tasks")
    found = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(("  ", "all"))}
    head = next(line.split()[3:] for line in lines if line.startswith("family and task"))
    assert head == ["all", "suit", "edited", "appr.", "aux.", "screen", "edit", "decide", "failed", "%"]
    assert found["large_vehicle_blocking_lane"] == ["3", "3", "2", "0", "1", "0", "0", "1", "1", "0.0"]
    assert found["ego_standing"] == ["1", "speed", ">=", "1", "8"]
    assert (
        "Nothing: no rejection rests on a fact that a map with lanes or a CAN bus recording would have told." in lines
    )


def test_hostile_names_fit_and_are_no_markup(report: ScreeningReport) -> None:
    odd = renamed(report, task=HOSTILE, family=HOSTILE, scene=HOSTILE, reason_code=HOSTILE, path_source=HOSTILE)
    rows = odd.distributions["placed"]["task"]
    rows[0]["required_decel"] = dict.fromkeys(rows[0]["required_decel"], 1e300)
    text = as_text(dataclasses.replace(odd, release={**odd.release, "name": HOSTILE}))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "1e+300" in text
    page = as_markdown(odd)
    assert "<b>" not in page
    assert "[red]" not in page
    assert all(row.count("|") - row.count("\\|") >= 5 for row in page.splitlines() if row.startswith("|"))


def test_a_page_has_every_section_of_the_text(report: ScreeningReport) -> None:
    page, text = as_markdown(report), as_text(report)
    titles = [section.title for section in sections(report)]
    assert len(titles) == 8
    assert all(title in text for title in titles)
    assert page.count("\n## ") == len(titles)
    assert "| **lane\\_blockage** | 3 |" in page
    assert "| ·\u00a0large\\_vehicle\\_blocking\\_lane |" in page


def test_of_many_scenes_the_least_and_most_avoidable_are_shown(report: ScreeningReport) -> None:
    (row,) = report.distributions["placed"]["scene"]
    many = [{**row, "count": 30, "scene": f"s{n:03}", "avoidable": {**row["avoidable"], "none": n}} for n in range(30)]
    placed = {**report.distributions["placed"], "scene": many}
    text = as_text(dataclasses.replace(report, distributions={**report.distributions, "placed": placed}))
    assert "The 5 of 30 with least and most that can be avoided" in text
    shown = [f"s{n:03}" for n in range(30) if f"s{n:03} " in text]
    assert shown == [f"s{n:03}" for n in (*range(5), *range(25, 30))]


def test_what_a_map_would_have_told_is_summed_and_the_rest_of_many_rows_counted(report: ScreeningReport) -> None:
    rows = [unanswered(number) for number in range(23)]
    text = as_text(dataclasses.replace(report, combinations=1000, unanswered=rows))
    assert "would have told what 322 rejections (32.2 % of all" in " ".join(text.split())
    assert "in 23 of them nothing else that was measured failed." in " ".join(text.split())
    assert text.splitlines()[-1].split() == ["others", "3", "more", "rows", "12", "3"]
    assert text.index("task22") < text.index("task3 ")


def test_kinds_of_maps_are_compared_where_there_are_several(report: ScreeningReport) -> None:
    (first, second) = report.sources["task_and_map_source"]
    mixed = [first, {**first, "map_source": "expansion", "suitable": 1}, second]
    text = as_text(dataclasses.replace(report, sources={**report.sources, "task_and_map_source": mixed}))
    assert "By task and map" in text
    row = next(line.split() for line in text.splitlines() if line.startswith("large_vehicle") and line.endswith("0.0"))
    assert row[1:] == ["33.3", "100.0", "0.0", "0.0"]


def test_open_and_failed_combinations_have_columns_where_there_are_any(report: ScreeningReport, tmp_path: Path) -> None:
    assert "failed" in as_text(report)
    clean = build(tmp_path, ends=("benchmark",) * 6)
    text = as_text(screening_report(open_release(publish(clean, tmp_path / "releases").path)))
    assert "failed" not in text.partition("Why they")[0]
    assert "open" not in text.partition("Why they")[0]


def test_a_release_without_any_combination_is_reported(report: ScreeningReport, tmp_path: Path) -> None:
    release = publish(build(tmp_path), tmp_path / "releases").path.resolve()
    for schema in HAZARDS.tables:
        (release / table_path(schema.name)).write_bytes(schema.encode(schema.frame([])))
    reseal(release)
    text = as_text(screening_report(open_release(release)))
    assert ": 0 combinations of 0 keyframes and 0 tasks" in text.splitlines()[0]
    assert "Nothing: no rejection rests on" in text
