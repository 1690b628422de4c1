"""docs/planners.md on the demo's release: its programs run, and planners from files are evaluated on their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flows.evaluation_shown import coverage_rows, report_markdown
from flows.evaluation_text import WIDTH, evaluation_text
from flows.server import PrefectServer
from tasks import evaluation_content
from tests.flows.arenas import Arena, arena_at, run_command, write_cases
from tests.flows.builds import CHECKOUT
from tests.flows.whole_demo import Demo


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, demo: Demo, prefect_server: PrefectServer) -> Arena:
    return arena_at(tmp_path_factory.mktemp("outside"), demo, prefect_server)


@pytest.fixture(scope="module")
def asked(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of cases.jsonl and regions.jsonl, as a planner author gets them."""
    return write_cases(arena, tmp_path_factory.mktemp("asked"))


@pytest.fixture(scope="module")
def outside(arena: Arena, asked: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Only planners from files, scored over 2 s: the page's own, one who says nothing, and one with gaps."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "asked").symlink_to(asked)
    subprocess.run([sys.executable, "-c", _page_program("outside.py")], cwd=folder, check=True)
    lines = (folder / "P.jsonl").read_text().splitlines()
    lines = [line for line in lines if json.loads(line)["variant"] == "edited"]
    broken = json.dumps(json.loads(lines[1]) | {"xy": [[0, 0], *[[None, 0]] * 6]})
    (folder / "gaps.jsonl").write_text("\n".join([broken, *lines[2:]]))
    (folder / "silent.jsonl").touch()
    files = [f"steady={folder / 'P.jsonl'}", *(f"{name}={folder / name}.jsonl" for name in ("gaps", "silent"))]
    settings = [*arena.settings, "score.horizon_s=2"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(evaluation_content, "pictures_of", partial(evaluation_content.pictures_of, limit=1))
        return arena.evaluate(planners=["none"], predictions=files, name="outside", set=settings)


def _page_program(name: str) -> str:
    page = (CHECKOUT / "docs" / "planners.md").read_text(encoding="utf-8")
    [program] = re.findall(rf"```python file={re.escape(name)}\n(.*?)```", page, re.DOTALL)
    return str(program)


def test_the_page_s_planner_is_scored_without_built_in_ones_and_bound_to_pixels(
    arena: Arena, outside: dict[str, Any], demo: Demo
) -> None:
    assert {row["planner"] for row in outside["coverage"]} == {"steady", "gaps", "silent"}
    planners = {one.name: one for one in arena.opened("outside").evaluation.planners}
    assert {name: one.bound for name, one in planners.items()} == {"steady": True, "gaps": True, "silent": False}
    assert arena.opened("outside").scores("steady")["edited"].unique().to_list() == ["ok"]


def test_an_evaluation_says_how_scores_were_made_why_predictions_failed_and_what_binds_nothing(
    arena: Arena, outside: dict[str, Any], demo: Demo
) -> None:
    pairs = outside["pairs"]
    assert outside["settings"] == arena.opened("outside").evaluation.settings
    rows = {row["planner"]: row["failures"] for row in outside["coverage"]}
    assert rows == {"steady": {}, "gaps": {"missing": 1, "not_finite": 1}, "silent": {"missing": pairs}}
    text = evaluation_text(outside)
    assert "\nnot the default scores: body zoe, horizon 2 s\n" in text
    assert "\nfailed predictions: gaps 2: missing 1, not_finite 1\n" in text
    assert "\nnot bound to pixels: silent (no ok row)\n" in text
    assert max(map(len, text.split("\n\nevaluation ")[0].splitlines())) <= WIDTH
    assert demo.made["evaluation"]["settings"]["horizon_s"] == 3.0
    assert "default scores" not in evaluation_text(demo.made["evaluation"])
    assert "Scored with body zoe, horizon 2 s." in report_markdown(outside)
    assert [row["failures"] for row in coverage_rows(outside)] == ["missing 1, not_finite 1", f"missing {pairs}", "-"]


def test_the_page_s_check_finds_every_digest_right(arena: Arena, asked: Path, demo: Demo, tmp_path: Path) -> None:
    line = (asked / "cases.jsonl").read_text().splitlines()[1]
    pair = json.loads(line)["pair_id"]
    done = run_command("materialize", str(arena.release), str(tmp_path / "pictures"), "--pair", pair, *arena.words)
    assert done.exit_code == 0, done.output
    (tmp_path / ".work/store").mkdir(parents=True)
    (tmp_path / ".work/store/streetset").symlink_to(demo.logs)
    (tmp_path / "asked").mkdir()
    for wrong, code in ((line, 0), (line.replace('"pixels_sha256": "', '"pixels_sha256": "0'), 1)):
        (tmp_path / "asked/cases.jsonl").write_text(wrong)
        ended = subprocess.run([sys.executable, "-c", _page_program("check.py")], cwd=tmp_path, capture_output=True)
        assert ended.returncode == code, ended.stderr


def test_the_readme_says_how_many_pairs_the_demo_has(demo: Demo) -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert f"safe on all {demo.made['evaluation']['pairs']} pairs of the demo" in readme
