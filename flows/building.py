"""Commands that build: a run on a private or the user's Prefect server with bars, and a plan that does nothing."""

from __future__ import annotations

import fcntl
import itertools
import os
import shlex
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from flows.exits import SHOWN, NoError, counted, program, say
from flows.options import BuildOptions
from flows.progress import listening, tell
from flows.settings import Settings
from flows.terminal import plain_text
from tasks.auxiliary import AuxiliarySettings, Draw

_STDERR = Console(stderr=True)
_CONSOLE: Final = {"PREFECT_LOGGING_HANDLERS_CONSOLE_CLASS": "flows.console.WarningsConsole"}
"""Read by Prefect when it is first imported, which must not have happened yet."""


class NoWorkersError(ConnectionError):
    """Stages are to run on workers, but there is no server that could have any."""


def run_build(options: BuildOptions, as_json: bool) -> None:
    """Run the build flow and print funnel, release, digest and what to open next.

    Wrong settings, task files, decisions and tables show before a server is started. That opens the logs twice,
    which is cheap from the second time on: their checked tables are indexed under the store.
    """
    from flows.assembly import check_inputs

    settings = options.resolve()
    _refuse_lonely_workers(settings)
    with bars():
        check_inputs(settings)
        with _server(settings):
            from flows.build_exceptiondrive import build_exceptiondrive

            made = cast("dict[str, Any]", build_exceptiondrive(**vars_of(options)))
    if not made["complete"]:
        text = "the release is incomplete: some items have no outcome; run the command again to finish them"
        raise NoError(text, made, _summary(made, options))
    say(made, _summary(made, options), as_json)


def plan_build(options: BuildOptions, as_json: bool) -> None:
    """Print, stage by stage, what is memoised and what would be done, as far as that is known now."""
    from flows.assembly import open_build
    from tasks.construction import DRAWN_STEPS, STEPS
    from tasks.stage import look_up

    rows: list[dict[str, Any]] = []
    with open_build(options.resolve()) as build:
        work = build.construction
        drawn: Draw | None = None
        for step in STEPS:
            if step == DRAWN_STEPS[0]:
                drawn = work.draw()
                if not drawn.ids:
                    break
            known = look_up(work.stage(step), work.items(step), build.store.ledger)
            work.results[step] = known
            rows.append({"stage": step, "memoised": len(known.settled), "to_do": len(known.unsettled)})
            if known.unsettled:
                break  # what later steps get depends on these
    text = "\n".join(f"{row['stage']:<14}{row['memoised']:>8} memoised{row['to_do']:>8} to do" for row in rows)
    selection = work.selection
    skipped = [
        {"id": entry.id, "reason_code": entry.reason_code, "detail": entry.detail} for entry in selection.skipped
    ]
    document: dict[str, Any] = {
        "keyframes": [keyframe.id for keyframe in selection.keyframes],
        "skipped": skipped,
        "stages": rows,
        "auxiliary": drawn and {"asked": drawn.asked, "available": drawn.available, "drawn": sorted(drawn.ids)},
    }
    heading = f"{counted(len(selection.keyframes), 'keyframe')} x {counted(len(work.tasks), 'task')}"
    lines = [heading, *_skipped_lines(skipped[:SHOWN]), *_more(len(skipped)), text, _planned(drawn, work.auxiliary)]
    say(document, "\n".join(lines), as_json)


def _planned(drawn: Draw | None, asked: AuxiliarySettings) -> str:
    """Say what the auxiliary split draws, or would."""
    if drawn is not None:
        return (
            f"auxiliary: {len(drawn.ids)} of {drawn.available} screened-out combinations drawn, {drawn.asked} asked for"
        )
    if asked.size is not None:
        return f"auxiliary: {asked.size} screened-out combinations will be drawn once all is decided"
    return f"auxiliary: {asked.share:g} screened-out combinations for each benchmark pair, drawn once all is decided"


def _skipped_lines(skipped: list[dict[str, Any]]) -> list[str]:
    return [f"skipped {entry['id']}: {entry['reason_code']}: {entry['detail']}" for entry in skipped]


def _more(count: int) -> list[str]:
    return [f"... and {count - SHOWN} more skipped"] if count > SHOWN else []


def _refuse_lonely_workers(settings: Settings) -> None:
    if "PREFECT_API_URL" not in os.environ and settings.run.mode == "workers":
        raise NoWorkersError(
            "mode `workers` needs a Prefect server with workers: run `make serve`, then"
            " `prefect deployment run build-exceptiondrive -p mode=workers`, or set PREFECT_API_URL to your server"
        )


@contextmanager
def _server(settings: Settings) -> Generator[None]:
    """Use the Prefect server of PREFECT_API_URL, else a private one whose history stays with the store."""
    from flows.server import applied, server

    with _own_home(settings.store.path / "prefect") as home:
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
    """Show one bar a stage on standard error."""
    columns = (TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_STDERR) as progress:
        bars: dict[str, TaskID] = {}

        def step(stage: str, done: int, total: int | None) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(stage, total=total)
            progress.update(bars[stage], completed=done, total=total)

        with listening(step):
            yield


FEW: Final = 6
"""Up to so many items that were left out are named one by one."""
_COUNTS: Final = {
    "kept": ("kept",),
    "rejected": ("rejected", "skipped"),
    "failed": ("failed_permanent",),
    "unsettled": ("unsettled",),
    "total": ("total",),
}
"""Columns of the printed funnel, and which of its counts they add up: a source's skipped keyframes are its rejected."""


def _summary(made: dict[str, Any], options: BuildOptions) -> str:
    """Return the funnel, the release, its digest, and commands to go on with."""
    table = Table("stage")
    for column in _COUNTS:
        table.add_column(column, justify="right")
    *stages, published = made["funnel"]
    for row in stages:
        table.add_row(row["stage"], *(str(sum(row.get(name, 0) for name in names)) for names in _COUNTS.values()))
    counts = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in published.items() if name not in {"stage", "total"}
    )
    path, pairs, command = made["path"], made["pairs"], program()
    left_out = [entry["item"] for entry in made["rejected"]]
    folder = shlex.quote(path)
    lines = [
        plain_text(table, width=100),
        f"of {counted(published['total'], 'combination')}: {counts}",
        _drawn_line(made["auxiliary"]),
        "",
        _task_table(made["tasks"]),
        *_skipped_lines(made["skipped"]),
        *_left_out_lines(made),
        "",
        f"release {path}",
        f"digest  {made['digest']}",
        "",
        "open next:",
        f"  {path}/README.md",
        *_picture_lines(made["pictures"]),
        f"  {command} verify --deep {folder}",
        *(f"  {command} show {pair} --release {folder}" for pair in (pairs or left_out)[:1]),
        f"  {command} materialize {folder} pictures{_named_logs(options)}",
    ]
    return "\n".join(lines)


def _task_table(tasks: list[dict[str, Any]]) -> str:
    """Return a line for each task: approved pairs of keyframes, and why most of the others were left out."""
    table = Table("task", box=None, pad_edge=False)
    for column in ("approved", "of"):
        table.add_column(column, justify="right")
    table.add_column("most of the others")
    for row in tasks:
        table.add_row(row["task"], str(row["benchmark"]), str(row["total"]), _mostly(row))
    return plain_text(table, width=100)


def _mostly(row: dict[str, Any]) -> str:
    return f"{row['reason']} ({row['reason_count']})" if row["reason"] else ""


def _left_out_lines(made: dict[str, Any]) -> list[str]:
    """Return why items were left out, one by one while they are few; the release names all of them."""
    rows = made["rejected"]
    if len(rows) > FEW:
        return ["why each was left out: table `rejections` of the release"]
    return [f"{row['stage']} left out {row['item']}: {row['reason']} ({row['why']})" for row in rows]


def _picture_lines(pictures: list[str]) -> list[str]:
    """Return the sheet of all tasks; of those with every pair only where they begin."""
    sheet, *others = pictures
    count = f", the first of {len(others)} sheets" if len(others) > 1 else ""
    first = [f"  {others[0]}  (every pair{count})"] if others else []
    return [f"  {sheet}  (one pair of each task)", *first]


def _drawn_line(drawn: dict[str, Any]) -> str:
    """Say what the auxiliary split got of the combinations that do not suit their tasks, and what is missing."""
    if drawn["waits_for"]:
        return f"drawn for auxiliary: nothing yet, {counted(drawn['waits_for'], 'item')} have no outcome"
    line = f"drawn for auxiliary: {drawn['drawn']} of {counted(drawn['asked'], 'pair')} asked for"
    if not drawn["short"]:
        return line
    return f"{line}: of the benchmark's tasks, screening left out no more in which the hazard can be seen"


def _named_logs(options: BuildOptions) -> str:
    """Return the options of `materialize` that name the same logs as the build did."""
    words = ["--settings", options.settings] if options.settings != "sample" else []
    words += [word for override in options.set or () for word in ("--set", override)]
    words += ["--store", options.store] if options.store else []
    return "".join(f" {shlex.quote(word)}" for word in words)


def vars_of(options: BuildOptions) -> dict[str, Any]:
    """Return the options as flow parameters."""
    return {name: getattr(options, name) for name in BuildOptions.__dataclass_fields__}
