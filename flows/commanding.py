"""What commands share that run a flow: a Prefect server for it, bars on standard error, and options to repeat."""

from __future__ import annotations

import fcntl
import itertools
import os
import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from flows.places import require_folder_place
from flows.progress import listening, tell
from flows.settings import Settings

_STDERR = Console(stderr=True)
_CONSOLE: Final = {"PREFECT_LOGGING_HANDLERS_CONSOLE_CLASS": "flows.console.WarningsConsole"}
"""Read by Prefect when it is first imported, which must not have happened yet."""


class NoWorkersError(ConnectionError):
    """Stages are to run on workers, but there is no server that could have any."""


def refuse_lonely_workers(settings: Settings, deployment: str) -> None:
    """Raise NoWorkersError when stages are to run on workers of a private server, which has none."""
    if "PREFECT_API_URL" not in os.environ and settings.run.mode == "workers":
        raise NoWorkersError(
            "mode `workers` needs a Prefect server with workers: run `make serve`, then"
            f" `prefect deployment run {deployment} -p mode=workers`, or set PREFECT_API_URL to your server"
        )


@contextmanager
def on_a_server(settings: Settings) -> Generator[None]:
    """Use the Prefect server of PREFECT_API_URL, else a private one whose history stays with the store."""
    from flows.server import applied, server

    homes = settings.store.path / "prefect"
    require_folder_place(homes, "the folder of the Prefect server")
    with _own_home(homes) as home:
        tell("server", 0, None)
        with server(home) as found, applied({**found.environment, **_CONSOLE}):
            tell("server", 1, 1)
            yield


@contextmanager
def _own_home(folder: Path) -> Generator[Path]:
    """Yield the first home below `folder` that no other command uses now: two servers must not share a database."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        home = folder / str(number)
        with (folder / f"{number}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield home
            return


@contextmanager
def bars() -> Generator[None]:
    """Show one bar a step on standard error."""
    columns = (TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_STDERR) as progress:
        shown: dict[str, TaskID] = {}

        def step(stage: str, done: int, total: int | None) -> None:
            if stage not in shown:
                shown[stage] = progress.add_task(stage, total=total)
            progress.update(shown[stage], completed=done, total=total)

        with listening(step):
            yield


def named_logs(settings: str, overrides: Sequence[str] | None, store: str | None) -> str:
    """Return the options that name the same logs and store again, each after a space, quoted for a shell."""
    words = ["--settings", settings] if settings != "sample" else []
    words += [word for override in overrides or () for word in ("--set", override)]
    words += ["--store", store] if store else []
    return "".join(f" {shlex.quote(word)}" for word in words)
