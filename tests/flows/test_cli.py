"""The command line: help, JSON, exit codes, and what a command must not do."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from data_registry.store import Store
from flows.cli import app
from flows.server import PrefectServer
from tests.flows.builds import CHECKOUT, Place

COMMANDS = [
    [],
    ["build"],
    ["demo"],
    ["verify"],
    ["materialize"],
    ["show"],
    ["tasks"],
    ["report", "screening"],
    ["score"],
    ["evaluate"],
    ["cases"],
    ["streetset"],
    ["doctor"],
    ["settings"],
    ["store"],
    ["store", "gc"],
]


def invoke(*words: str, columns: int = 100) -> Result:
    return CliRunner(env={"COLUMNS": str(columns), "TERMINAL_WIDTH": str(columns)}).invoke(app, list(words))


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flows.cli", *words]
    variables = {**os.environ, "PYTHONPATH": str(CHECKOUT), **environment}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_the_terminal_and_cuts_nothing(words: list[str], columns: int) -> None:
    done = run(*words, "--help", COLUMNS=str(columns))
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert "…" not in done.stdout
    assert "Usage:" in done.stdout
    text = " ".join(done.stdout.replace("│", " ").split())
    if words in (["build"], ["doctor"], ["materialize"], ["store", "gc"]):
        assert ".work/store unless the settings name another" in text  # [..] in a help text is markup, and vanishes
    if not words:
        assert "Relative paths, also those in settings, start at the current folder." in text


def test_importing_the_command_line_is_cheap() -> None:
    code = """
import resource, sys
import flows.cli
heavy = {"prefect", "polars", "numpy", "pydantic", "sqlalchemy", "PIL", "yaml", "shapely"} & set(sys.modules)
used = resource.getrusage(resource.RUSAGE_SELF)
print(sorted(heavy), used.ru_utime + used.ru_stime)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
    )
    heavy, seconds = done.stdout.rsplit(" ", 1)
    assert heavy == "[]"
    assert float(seconds) < 0.3


def test_settings_are_printed_whole() -> None:
    done = invoke("settings", "sample", "--set", "run.attempts=7", "--json")
    assert json.loads(done.stdout)["run"]["attempts"] == 7
    assert "attempts: 7" in invoke("settings", "--set", "run.attempts=7").stdout


def test_wrong_settings_are_one_document_and_exit_code_two() -> None:
    done = invoke("settings", "--set", "run.attempst=7", "--json")
    assert done.exit_code == 2
    assert "did you mean attempts?" in json.loads(done.stdout)["error"]
    assert done.stderr.startswith("error: 1 problem in settings")


@pytest.mark.parametrize("words", [["build", "--colour"], ["show"], ["paint"], ["build", "--limit", "many"]], ids=str)
def test_wrong_options_are_one_document_as_well(words: list[str]) -> None:
    done = run(*words, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["exit_code"] == 2
    assert "Usage:" in done.stderr
    assert run(*words).stdout == ""


@pytest.mark.parametrize("words", [["store", "gc"], ["store", "repair"], ["build"], ["build", "--dry-run"]], ids=str)
def test_a_file_where_the_store_goes_is_refused(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "x"):
        done = invoke(*words, "--store", str(place))
        assert done.exit_code == 2
        assert f"--store {place}: {tmp_path / 'file'} is no folder" in done.stderr


def test_a_file_where_releases_go_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = invoke("build", "--releases", str(tmp_path / "file"), "--store", str(tmp_path / "store"))
    assert (done.exit_code, f"--releases {tmp_path / 'file'}: " in done.stderr) == (2, True)
    assert not (tmp_path / "store").exists()


def test_garbage_collection_starts_no_store(tmp_path: Path) -> None:
    done = invoke("store", "gc", "--store", str(tmp_path / "mine"), "--json")
    assert done.exit_code == 2
    assert f"no store at {tmp_path / 'mine'}" in json.loads(done.stdout)["error"]
    assert not (tmp_path / "mine").exists()


def test_garbage_collection_counts_first_and_then_removes(tmp_path: Path) -> None:
    with Store.at(tmp_path / "mine") as store:
        store.blobs.put(b"nobody's")
    words = ["store", "gc", "--store", str(tmp_path / "mine"), "--older-than-s", "0"]
    assert "would remove 1" in invoke(*words, "--dry-run").stdout
    assert json.loads(invoke(*words, "--json").stdout)["blobs_removed"] == 1
    assert "kept 0 blobs, removed 0" in invoke(*words).stdout


def test_workers_without_a_server_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", "build", "--mode", "workers", "--json"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "make serve" in json.loads(done.stdout)["error"]
    assert not list(tmp_path.iterdir())


@pytest.fixture
def place(tmp_path: Path, street_root: Path, prefect_server: PrefectServer) -> Place:
    return Place(tmp_path / "place", street_root, prefect_server)


def _leased(place: Place) -> bool:
    try:
        return bool(place.rows("SELECT * FROM leases WHERE stage = 'edit'"))
    except sqlite3.OperationalError:  # there is no ledger yet
        return False


def _until_leased(place: Place, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 100
    while not _leased(place):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.timeout(300)
def test_an_interrupted_build_gives_its_items_back_and_goes_on_later(place: Place) -> None:
    process = place.start(*place.settings(), "--json")
    _until_leased(place, process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in json.loads(output)["error"]
    assert "Traceback" not in errors
    assert place.rows("SELECT * FROM leases") == []
    before = place.results()
    assert before
    assert place.build()["complete"]
    assert {key: place.results()[key] for key in before} == before


@pytest.mark.timeout(300)
def test_a_private_server_ends_with_the_interrupted_build(tmp_path: Path, street_root: Path) -> None:
    server = PrefectServer("", {})
    place = Place(tmp_path / "place", street_root, server)
    process = place.start(*place.settings(), script=[str(_alone(tmp_path))])
    _until_leased(place, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)
    assert process.returncode == 130
    home = str(place.store / "prefect")
    left = [entry for entry in Path("/proc").glob("[0-9]*/environ") if home in _read(entry)]
    assert left == []


def _alone(folder: Path) -> Path:
    """Write a script that runs the command line with no server given, whatever this process uses."""
    path = folder / "alone.py"
    lines = ["import os", "os.environ.pop('PREFECT_API_URL', None)", "from flows.cli import main", "main()"]
    path.write_text("\n".join(lines))
    return path


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


@pytest.mark.timeout(300)
def test_a_terminal_shows_bars_and_a_summary_and_no_log_lines(place: Place) -> None:
    place.folder.mkdir()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "flows.cli", *place.settings()],
        cwd=place.folder,
        env={**place.environment(), "TERM": "xterm", "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while chunk := _chunk(ours):
        shown += chunk
    assert process.wait(60) == 0
    text = shown.decode()
    assert "INFO" not in text
    for word in ("server", "source", "screen", "decide", "open next", "digest"):
        assert word in text
    (log,) = place.store.glob("logs/*.log")
    assert "INFO" in log.read_text()


def _chunk(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.timeout(300)
def test_the_summary_adds_up_and_its_commands_can_be_pasted(place: Place) -> None:
    done = place.run(*place.settings())
    assert done.returncode == 0, done.stderr
    rows = [line.split("│")[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    for _stage, *cells in rows:
        *counts, total = map(int, cells)
        assert sum(counts) == total
    assert "of 3 combinations: 3 benchmark" in done.stdout
    commands = [line.strip() for line in done.stdout.splitlines() if line.startswith(f"  {sys.executable}")]
    assert [line.split()[3] for line in commands] == ["verify", "show", "materialize"]
    for command in commands:
        pasted = subprocess.run(
            command, shell=True, cwd=place.folder, env=place.environment(), capture_output=True, text=True, check=False
        )
        assert pasted.returncode == 0, pasted.stderr
