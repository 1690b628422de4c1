"""Commands that build: a run on a private or the user's Prefect server with bars, and a plan that does nothing."""

from __future__ import annotations

import fcntl
import itertools
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from flows.exits import NoError, say
from flows.options import BuildOptions
from flows.progress import listening
from flows.settings import Settings

_STDERR = Console(stderr=True)


class NoWorkersError(ConnectionError):
    """Stages are to run on workers, but there is no server that could have any."""


def run_build(options: BuildOptions, as_json: bool) -> None:
    """Run the build flow and print funnel, release, digest and what to open next."""
    settings = options.resolve()  # wrong settings show before any server starts
    with _server(settings), _bars():
        from flows.build_exceptiondrive import build_exceptiondrive

        made = cast("dict[str, Any]", build_exceptiondrive(**vars_of(options)))
    say(made, _summary(made), as_json)
    if not made["complete"]:
        raise NoError("the release is incomplete: some items have no outcome; run the command again to finish them")


def plan_build(options: BuildOptions, as_json: bool) -> None:
    """Print, stage by stage, what is memoised and what would be done, as far as that is known now."""
    from flows.assembly import open_build
    from tasks.construction import STAGES
    from tasks.stage import look_up

    rows: list[dict[str, Any]] = []
    with open_build(options.resolve()) as build:
        work = build.construction
        for stage in STAGES:
            known = look_up(work.stages[stage], work.items(stage), build.store.ledger)
            work.results[stage] = known
            rows.append({"stage": stage, "memoised": len(known.settled), "to_do": len(known.unsettled)})
            if known.unsettled:
                break  # what later stages get depends on these
    text = "\n".join(f"{row['stage']:<10}{row['memoised']:>8} memoised{row['to_do']:>8} to do" for row in rows)
    skipped = f"{len(build.construction.selection.skipped)} skipped"
    heading = f"{len(build.construction.selection.keyframes)} keyframes ({skipped}) x {len(work.tasks)} tasks"
    say({"stages": rows}, f"{heading}\n{text}", as_json)


@contextmanager
def _server(settings: Settings) -> Generator[None]:
    """Use the Prefect server of PREFECT_API_URL, else a private one whose history stays with the store."""
    from flows.server import applied, server

    private = "PREFECT_API_URL" not in os.environ
    if private and settings.run.mode == "workers":
        raise NoWorkersError(
            "mode `workers` needs a Prefect server with workers: run `make serve`, then"
            " `prefect deployment run build-exceptiondrive -p mode=workers`, or set PREFECT_API_URL to your server"
        )
    with _own_home(settings.store.path / "prefect") as home, server(home) as found, applied(found.environment):
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
def _bars() -> Generator[None]:
    """Show one bar a stage on standard error."""
    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_STDERR) as progress:
        bars: dict[str, TaskID] = {}

        def step(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(stage, total=total)
            progress.update(bars[stage], completed=done)

        with listening(step):
            yield


def _summary(made: dict[str, Any]) -> str:
    """Return the funnel, the release, its digest, and commands to go on with."""
    table = Table("stage", *("kept", "rejected", "failed", "unsettled", "total"))
    for row in made["funnel"]:
        counts = (row.get(name, 0) for name in ("kept", "rejected", "failed_permanent", "unsettled", "total"))
        table.add_row(row["stage"], *map(str, counts))
    path, pairs = made["path"], made["pairs"]
    lines = [
        _plain(table),
        f"release {path}",
        f"digest  {made['digest']}",
        "",
        "open next:",
        f"  {path}/README.md",
        *(f"  {picture}" for picture in made["pictures"]),
        f"  exceptiondrive verify --deep {path}",
        *(f"  exceptiondrive show {pair} --release {path}" for pair in pairs[:1]),
        f"  exceptiondrive materialize {path} pictures",
    ]
    return "\n".join(lines)


def _plain(table: Table) -> str:
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip()


def vars_of(options: BuildOptions) -> dict[str, Any]:
    """Return the options as flow parameters."""
    return {name: getattr(options, name) for name in BuildOptions.__dataclass_fields__}
