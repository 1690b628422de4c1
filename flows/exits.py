"""How commands end and speak: exit codes, one-line errors, results as text or JSON.

| code | meaning |
|-----:|---------|
| 0 | done |
| 1 | the command ran, and the answer is no: a release does not verify, a build or evaluation is incomplete |
| 2 | wrong options, settings, task files or logs: the text says what to change |
| 3 | the place failed: disk full, store or server away; run the same command again when it is mended |
| 4 | an error that nobody foresaw: a bug, with its traceback |
| 130 | interrupted; finished items are kept |
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import typer

_OURS: Final = frozenset({"flows", "tasks", "prompts", "models", "data_registry", "qa_audit"})

_NO: Final = frozenset(
    {"NoError", "IncompleteError", "ReleaseCorruptError", "EvaluationCorruptError", "UnsettledCasesError"}
)
_PLACE: Final = frozenset(
    {
        "StorageFullError",
        "LedgerUnavailableError",
        "BlobMissingError",
        "BlobCorruptError",
        "ReleaseUnwritableError",
        "EvaluationUnwritableError",
        "StreetsetWriteError",
        "ServerStartError",
        "ServerUnreachableError",
        "ServerAwayError",
        "DeploymentMissingError",
        "NoWorkerError",
        "NoWorkersError",
    }
)
_BUG: Final = frozenset({"StageError", "ReconciliationError", "PublicationError", "BrokenTablesError"})
"""Our errors by exit code 1, 3 and 4, by name so that a command imports nothing to fail; every other one is 2."""


class NoError(Exception):
    """The command ran and its answer is no (exit code 1)."""

    def __init__(self, message: str, document: dict[str, Any] | None = None, text: str = "") -> None:
        """Say no with what was found: `document` joins the one JSON document, `text` is printed as a result is."""
        super().__init__(message)
        self.document = document or {}
        self.text = text


class Ended(SystemExit):
    """The command has said why it ends."""


@contextmanager
def reporting(as_json: bool) -> Generator[None]:
    """End the command with the right exit code and one clear message, whatever happens inside."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        _end(130, "interrupted; finished items are kept: run the same command again to go on", as_json)
    except NoError as error:
        if error.text and not as_json:
            typer.echo(error.text)
        _end(1, str(error), as_json, error.document)
    except Exception as error:  # noqa: BLE001 - the last place that can turn an error into an exit code
        code = exit_code(error)
        if code == 4:
            traceback.print_exc()
        _end(code, _message(error, code), as_json)


SHOWN: Final = 10
"""Entries that a message or summary spells out before it only counts."""


def counted(count: int, thing: str) -> str:
    """Return `1 keyframe`, `2 keyframes`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def say(document: dict[str, Any], text: str, as_json: bool) -> None:
    """Print a command's result to standard output, as one JSON document or as text."""
    typer.echo(json.dumps(document, indent=2, sort_keys=True) if as_json else text)


def program() -> str:
    """Return the command as this user can type it again, quoted for a shell."""
    if Path(sys.argv[0]).name == "exceptiondrive":
        found = shutil.which("exceptiondrive")
        on_path = found is not None and Path(found).resolve() == Path(sys.argv[0]).resolve()
        return "exceptiondrive" if on_path else shlex.quote(sys.argv[0])
    if Path(sys.argv[0]).name == "cli.py":  # python -m flows.cli
        return shlex.join(sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1])
    return "exceptiondrive"


def exit_code(error: Exception) -> int:
    """Choose by the error's class: ours say what to do; of the others only those of the place are expected."""
    for kind in type(error).__mro__:
        if kind.__module__.split(".")[0] not in _OURS:
            continue
        for code, names in ((1, _NO), (3, _PLACE), (4, _BUG)):
            if kind.__name__ in names:
                return code
    if _is_of_the_place(error):
        return 3
    return 2 if type(error).__module__.split(".")[0] in _OURS else 4


def _is_of_the_place(error: Exception) -> bool:
    """Tell whether the disk, the network or the server failed: no file that we look for is missing, nothing is ours."""
    wrong_path = FileNotFoundError | FileExistsError | IsADirectoryError | NotADirectoryError
    if isinstance(error, OSError):
        return not isinstance(error, wrong_path)
    return any(kind.__module__.split(".")[0] in {"httpx", "httpcore"} for kind in type(error).__mro__)


def _message(error: Exception, code: int) -> str:
    if code == 4:
        return f"{type(error).__name__}: {error}: please report this"
    ours = type(error).__module__.split(".")[0] in _OURS
    if ours or not isinstance(error, OSError):
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)  # without "[Errno 28]"
        return text if ours else f"the Prefect server went away ({type(error).__name__}): run the same command again"
    if error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}: mend that (or choose another place), then run the same command again"
    return f"{error}: mend that, then run the same command again"


def _end(code: int, message: str, as_json: bool, document: dict[str, Any] | None = None) -> NoReturn:
    if as_json:
        whole = {**(document or {}), "error": message, "exit_code": code}
        typer.echo(json.dumps(whole, indent=2, sort_keys=True))
    typer.echo(f"error: {message}", err=True)
    raise Ended(code)
