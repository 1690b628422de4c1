"""The command `score`: what it writes and prints, and how it ends."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from data_registry.evaluation import METRICS, SCORES, STRICT, Predicted
from flows.cli import app
from tasks.score_files import write_predictions, write_regions
from tests.score_cases import region, square, straight


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with `R.jsonl` and `P.jsonl`: scored, in contact, failed, ineligible, and without a row."""
    write_regions(tmp_path / "R.jsonl", [region(square(20.0, 0.0), 2.0, pair_id) for pair_id in "abcde"])
    driven = {"a": straight(4.0), "b": straight(8.0)}
    edited = [Predicted(pair_id, "edited", "ok", one.t, one.xy) for pair_id, one in driven.items()]
    source = [
        Predicted(pair_id, "source", "ok", one.t, one.xy) for pair_id, one in zip("ab", edited[::-1], strict=True)
    ]
    others = [Predicted("c", "edited", "parse_failed", reason="no list"), Predicted("d", "edited", "ineligible")]
    write_predictions(tmp_path / "P.jsonl", [*edited, *source, *others])
    return tmp_path


def invoke(folder: Path, *more: str, out: str = "S.parquet") -> Result:
    words = ["--regions", str(folder / "R.jsonl"), "--predictions", str(folder / "P.jsonl"), "--out", str(folder / out)]
    return CliRunner().invoke(app, ["score", *words, *more])


def test_a_row_a_pair_is_written_in_the_tables_columns(files: Path) -> None:
    done = invoke(files)
    assert done.exit_code == 0, done.stderr
    scores = SCORES.decode((files / "S.parquet").read_bytes(), "S")
    assert scores["pair_id"].to_list() == list("abcde")
    assert scores["edited"].to_list() == ["ok", "ok", "parse_failed", "ineligible", "missing"]
    assert scores["ur"].to_list() == [0.0, 1.0, None, None, None]
    first = (files / "S.parquet").read_bytes()
    invoke(files)
    assert (files / "S.parquet").read_bytes() == first
    assert sorted(path.name for path in files.iterdir()) == ["P.jsonl", "R.jsonl", "S.parquet"]


def test_the_totals_printed_recompute_from_the_rows(files: Path) -> None:
    document = json.loads(invoke(files, "--json").stdout)
    scores = pl.read_parquet(files / "S.parquet")
    failed = scores.filter(~pl.col("edited").is_in(["ok", "ineligible"])).height
    assert document["coverage"] == {"pairs": 5, "scored": 2, "failed": failed, "ineligible": 1, "paired": 2}
    for metric in METRICS:
        found = document["metrics"][metric]
        values = scores[metric].drop_nulls().to_list()
        assert found["plain"] == {"n": len(values), "mean": pytest.approx(sum(values) / len(values))}
        if metric in STRICT:
            whole = [*values, *([STRICT[metric]] * failed)]
            assert found["strict"] == {"n": len(whole), "mean": pytest.approx(sum(whole) / len(whole))}


def test_the_text_fits_eighty_columns_and_says_means_counts_and_coverage(files: Path) -> None:
    text = invoke(files).stdout
    assert max(map(len, text.splitlines())) <= 80
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "5 pairs, body zoe, horizon 3 s" in lines
    assert "scored 2 40.0 % of the pairs" in lines
    assert "failed 2 missing 1, parse_failed 1" in lines
    assert "UR touches the region 50.00 % 2 75.00 % 4" in lines
    assert any(line.startswith("CTS source to edited 6.000 m 2") for line in lines)


def test_settings_change_what_is_scored_and_are_named(files: Path) -> None:
    done = invoke(files, "--horizon-s", "2", "--body", "zoe_wide", "--clearance-factor", "0.5")
    assert "5 pairs, body zoe_wide, horizon 2 s, clearance x 0.5" in done.stdout
    assert pl.read_parquet(files / "S.parquet")["ur"].to_list()[:2] == [0.0, 1.0]


def test_nothing_is_written_when_a_file_is_refused(files: Path) -> None:
    (files / "P.jsonl").write_text('{"pair_id": "z"}\n')
    done = invoke(files, "--json")
    assert done.exit_code == 2
    assert "line 1: pair 'z' has no region" in json.loads(done.stdout)["error"]
    assert not (files / "S.parquet").exists()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("pipe", "is a named pipe, not a plain file: name another, or move it away"),
        ("to pipe", "is a symlink"),
        ("to file", "is a symlink"),
        ("to nothing", "is a symlink"),
        ("to itself", "is a symlink"),
        ("socket", "is a socket"),
    ],
)
def test_what_is_no_plain_file_is_never_replaced(
    files: Path, kind: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)  # names of sockets are short
    targets = {"to pipe": "target", "to file": "R.jsonl.old", "to nothing": "nothing", "to itself": "S.parquet"}
    os.mkfifo("target")
    Path("R.jsonl.old").write_text("old")
    if kind in targets:
        Path("S.parquet").symlink_to(targets[kind])
    elif kind == "pipe":
        os.mkfifo("S.parquet")
    else:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("S.parquet")
    before = Path("S.parquet").lstat()
    (files / "R.jsonl").write_text("not read")
    done = invoke(files)
    assert done.exit_code == 2, done.stdout
    assert told in done.stderr
    assert "not JSON" not in done.stderr
    assert Path("S.parquet").lstat() == before
    assert Path("R.jsonl.old").read_text() == "old"


def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(files: Path) -> None:
    (files / "R.jsonl").unlink()
    os.mkfifo(files / "R.jsonl")
    done = invoke(files)
    assert done.exit_code == 2
    assert "R.jsonl is a named pipe, not a plain file: name one" in done.stderr
    (files / "R.jsonl").unlink()
    (files / "R.jsonl").symlink_to("R.jsonl")
    done = invoke(files)
    assert done.exit_code == 2
    assert "R.jsonl cannot be read: Too many levels of symbolic links" in done.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where nobody can make a folder")
def test_a_folder_that_cannot_be_made_is_told(files: Path) -> None:
    done = invoke(files, "--out", "/proc/x/S.parquet")
    assert done.exit_code == 2, done.stdout
    assert "--out /proc/x/S.parquet cannot be written: its folder cannot be made" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_clearance_that_its_factor_makes_nothing_is_refused_with_its_pair(files: Path) -> None:
    write_regions(files / "R.jsonl", [region(square(20.0, 0.0), 1e-6, pair_id) for pair_id in "abcd"])
    done = invoke(files, "--clearance-factor", "5e-324")
    assert done.exit_code == 2
    assert "a: clearance_m 1e-06 times clearance_factor 5e-324 is not above 0" in done.stderr


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--out", "."), "is a folder"),
        (("--out", "R.jsonl"), "is one of the files to read"),
        (("--out", "R.jsonl/S.parquet"), "a file is where a folder is needed"),
        (("--body", "van"), "body: there is no body 'van'; there are zoe,"),
        (
            ("--horizon-s", "0", "--clearance-factor", "nan"),
            "horizon_s: Input should be greater than 0; clearance_factor:",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(
    files: Path, more: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    regions = (files / "R.jsonl").read_bytes()
    done = invoke(files, *more)
    assert done.exit_code == 2, done.stdout
    assert told in done.stderr
    assert (files / "R.jsonl").read_bytes() == regions
