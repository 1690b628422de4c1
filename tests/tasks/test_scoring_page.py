"""docs/scoring.md: its worked example is what the command prints, and its lists are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import polars as pl
import pytest
from typer.testing import CliRunner

from data_registry.evaluation import METRICS, STATUSES, Flaw
from flows.cli import app
from tasks.score_files import INFORMATIVE

PAGE = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text(encoding="utf-8")


def test_the_worked_example_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"```json file=(\S+)\n(.*?)```", PAGE, re.DOTALL):
        Path(name).write_text(content)
    [command] = re.findall(r"^exceptiondrive (score .*)$", PAGE, re.MULTILINE)
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.stderr
    [printed] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert done.stdout == printed
    cone = pl.read_parquet("S.parquet").row(by_predicate=pl.col("pair_id") == "cone", named=True)
    reasoned = " ".join(PAGE.split()).split("The cone's near side")[1]
    for name in ("d", "hcc", "hpr", "cts"):
        [sum_] = re.findall(rf"\b{name} = (.*?)(?:, | and |\. )", reasoned)
        assert cone[name] == pytest.approx(float(sum_.split("=")[-1]), abs=5e-5)


def test_the_page_names_every_flaw_status_metric_and_informative_field() -> None:
    for name in (*get_args(Flaw), *STATUSES, *METRICS, *INFORMATIVE):
        assert f"`{name}`" in PAGE, name
