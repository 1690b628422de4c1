"""How commands end and speak: exit codes, one-line errors, results as text or JSON.

| code | meaning |
|-----:|---------|
| 0 | done |
| 1 | the command ran, and the answer is no: a release does not verify, a build is incomplete |
| 2 | wrong options, settings, task files or logs: the text says what to change |
| 3 | the place failed: disk full, store or server away; run the same command again when it is mended |
| 4 | an error that nobody foresaw: a bug, with its traceback |
| 130 | interrupted; finished items are kept |
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer


class NoError(Exception):
    """The command ran and its answer is no (exit code 1)."""


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
        _end(1, str(error), as_json)
    except Exception as error:  # noqa: BLE001 - the last place that can turn an error into an exit code
        code = _code(error)
        if code == 4:
            traceback.print_exc()
        _end(code, str(error) if code != 4 else f"{type(error).__name__}: {error}: please report this", as_json)


def say(document: dict[str, Any], text: str, as_json: bool) -> None:
    """Print a command's result to standard output, as one JSON document or as text."""
    typer.echo(json.dumps(document, indent=2, sort_keys=True) if as_json else text)


def _end(code: int, message: str, as_json: bool) -> NoReturn:
    if as_json:
        typer.echo(json.dumps({"error": message, "exit_code": code}, indent=2, sort_keys=True))
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(code)


def _code(error: Exception) -> int:
    """Choose by the error's own module: ours say what to do; of the others only those of the place are expected."""
    from data_registry.blobs import StorageFullError
    from data_registry.ledger import LedgerUnavailableError

    if isinstance(error, StorageFullError | LedgerUnavailableError | ConnectionError | PermissionError):
        return 3
    ours = type(error).__module__.split(".")[0] in {"flows", "tasks", "prompts", "models", "data_registry", "qa_audit"}
    if not ours:
        return 4
    return 3 if type(error).__module__ in {"flows.server", "flows.launch", "flows.serve"} else 2
