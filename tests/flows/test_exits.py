"""How commands end: exit codes by kind of error, one message, one JSON document."""

from __future__ import annotations

import errno
import importlib
import json
import pkgutil
import sys
from pathlib import Path

import httpx
import pytest

from data_registry.blobs import StorageFullError
from data_registry.database import LedgerUnavailableError
from data_registry.release_writer import ReleaseExistsError, ReleaseUnwritableError
from data_registry.sources.nuscenes.problems import TablesError
from data_registry.sources.streetset import StreetsetWriteError
from flows import exits
from flows.exits import Ended, NoError, exit_code, program, reporting
from flows.server import ServerStartError
from flows.settings import SettingsError
from tasks.publication import IncompleteError, ReconciliationError
from tasks.stage import StageError

PACKAGES = ("flows", "tasks", "prompts", "models", "data_registry", "qa_audit")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NoError("no"), 1),
        (IncompleteError("x"), 1),
        (SettingsError("x"), 2),
        (TablesError("x"), 2),
        (ReleaseExistsError("x"), 2),
        (StorageFullError("/x"), 3),
        (StreetsetWriteError(errno.EROFS, "x"), 3),
        (ReleaseUnwritableError("x"), 3),
        (LedgerUnavailableError("x"), 3),
        (ServerStartError("x"), 3),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), 3),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), 3),
        (ConnectionRefusedError("x"), 3),
        (httpx.ConnectError("x"), 3),
        (FileNotFoundError(errno.ENOENT, "No such file", "/x"), 4),
        (KeyError("x"), 4),
        (StageError("x"), 4),
        (ReconciliationError("x"), 4),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_the_class_of_an_error_decides_the_exit_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(error) == code
    with pytest.raises(Ended) as ended, reporting(True):
        raise error
    captured = capsys.readouterr()
    assert ended.value.code == code
    assert json.loads(captured.out)["exit_code"] == code
    assert ("Traceback" in captured.err) == (code == 4)
    assert captured.err.count("error: ") >= 1
    assert "Errno" not in captured.out or code == 4


def test_every_name_that_has_a_code_is_the_name_of_an_error() -> None:
    found = {"NoError"}
    for package in PACKAGES:
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            text = Path(importlib.util.find_spec(module.name).origin or "").read_text()  # type: ignore[union-attr]
            found |= {name for name in exits._NO | exits._PLACE | exits._BUG if f"class {name}(" in text}
    assert found == exits._NO | exits._PLACE | exits._BUG


def test_an_interruption_says_that_finished_items_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Ended) as ended, reporting(False):
        raise KeyboardInterrupt
    assert ended.value.code == 130
    assert "finished items are kept" in capsys.readouterr().err


def test_a_no_prints_what_was_found_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Ended), reporting(True):
        raise NoError("it is broken", {"found": [1, 2]}, "a table")
    assert json.loads(capsys.readouterr().out) == {"error": "it is broken", "exit_code": 1, "found": [1, 2]}
    with pytest.raises(Ended), reporting(False):
        raise NoError("it is broken", {"found": [1, 2]}, "a table")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("a table\n", "error: it is broken\n")


def test_the_program_is_named_as_it_can_be_typed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "my env" / "bin" / "exceptiondrive"
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(script), "demo"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() == f"'{script}'"
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == "exceptiondrive"
    monkeypatch.setattr(sys, "argv", ["/x/flows/cli.py", "demo", "--json"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "flows.cli", "demo", "--json"])
    assert program() == "python -m flows.cli"
