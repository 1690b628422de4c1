"""The whole demo: eight scenes, twenty-one tasks. The dearest test of all: what needs a smaller build makes its own."""

import json
from pathlib import Path

from PIL import Image

from flows.assembly import open_build
from flows.options import BuildOptions
from flows.task_gallery import task_cells
from prompts.taxonomy import load_taxonomy
from tasks.construction import STEPS
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
