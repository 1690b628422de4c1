"""The whole demo: eight scenes, twenty-one tasks. The dearest test of all: what needs a smaller build makes its own."""

import json
from pathlib import Path

from PIL import Image

from data_registry.release import open_release
from flows.assembly import open_build
from flows.options import BuildOptions
from flows.task_gallery import task_cells
from prompts.taxonomy import load_taxonomy
from tasks.construction import STEPS
from tasks.screening_report import screening_report
from tests.flows.whole_demo import Demo


def test_every_task_has_an_approved_pair_of_every_family_and_the_release_verifies_deeply(demo: Demo) -> None:
    assert demo.made["complete"]
    rows = {row["task"]: row for row in demo.made["tasks"]}
    assert set(rows) == {task.id for task in load_taxonomy()}
    assert len(rows) == 21
    assert len({row["family"] for row in rows.values()}) == 6
    assert [name for name, row in rows.items() if not row["benchmark"]] == []
    assert {row["total"] for row in rows.values()} == {8}
    checked = demo.run("verify", "--deep", demo.made["path"], "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["digest"] == demo.made["digest"]


def test_the_report_counts_what_the_build_counted_and_no_rejection_lacks_a_map(demo: Demo) -> None:
    report = screening_report(open_release(Path(demo.made["path"])))
    approved = {row["task"]: row["benchmark"] for row in demo.made["tasks"]}
    assert {row["task"]: row["approved"] for row in report.acceptance["task"]} == approved
    (total,) = report.acceptance["all"]
    ends = demo.made["funnel"][-1]
    rejected = sum(total[name] for name in ("rejected_screen", "rejected_edit", "rejected_decide"))
    assert (total["combinations"], total["auxiliary"], rejected) == (ends["total"], ends["auxiliary"], ends["rejected"])
    told = [report.sources[name][0][name] for name in ("map_source", "course", "path_source", "speed_source")]
    assert told == ["expansion", "lanes", "can", "can"]
    assert report.unanswered == []


def test_the_sheet_of_all_tasks_has_no_gap(demo: Demo) -> None:
    settings = BuildOptions(set=demo.overrides, store=str(demo.store), releases=str(demo.releases)).resolve()
    with open_build(settings) as build:
        build.construction.catch_up(STEPS[-1], build.store.ledger)
        cells = task_cells(build)
    assert [cell.title for cell in cells if cell.view is None] == []
    assert len(cells) == 21
    with Image.open(Path(demo.made["pictures"][0])) as sheet:
        assert sheet.width > 1000
        assert sheet.height > sheet.width
