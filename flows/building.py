"""Commands that build: a run on a private or the user's Prefect server with bars, and a plan that does nothing."""

from __future__ import annotations

import shlex
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, cast

from rich.table import Table

from flows.commanding import bars, named_logs, on_a_server, refuse_lonely_workers
from flows.evaluation_text import standing_text
from flows.exits import SHOWN, NoError, counted, program, say
from flows.options import BuildOptions, EvaluationOptions, parameters_of
from flows.terminal import plain_text
from tasks.auxiliary import AuxiliarySettings, Draw


def run_build(options: BuildOptions, as_json: bool) -> None:
    """Run the build flow and print funnel, release, digest and what to open next.

    Wrong settings, task files, decisions and tables show before a server is started. That opens the logs twice,
    which is cheap from the second time on: their checked tables are indexed under the store.
    """
    with _ready(options):
        made = _built(options)
    _require_complete(made, options)
    say(made, _summary(made, options), as_json)


def run_demo(options: BuildOptions, as_json: bool) -> None:
    """Build, evaluate the built-in planners on what was built, in one server, and print both."""
    with _ready(options):
        made = _built(options)
        evaluated = _evaluated(made, options) if made["complete"] else None
    _require_complete(made, options)
    say({**made, "evaluation": evaluated}, _summary(made, options, evaluated), as_json)


@contextmanager
def _ready(options: BuildOptions) -> Generator[None]:
    """Check all input, then show bars and have a server until the block ends."""
    from flows.assembly import check_inputs

    settings = options.resolve()
    refuse_lonely_workers(settings, "build-exceptiondrive")
    with bars():
        check_inputs(settings)
        with on_a_server(settings):
            yield


def _built(options: BuildOptions) -> dict[str, Any]:
    from flows.build_exceptiondrive import build_exceptiondrive

    return cast("dict[str, Any]", build_exceptiondrive(**parameters_of(options)))


def _evaluated(made: dict[str, Any], options: BuildOptions) -> dict[str, Any]:
    from flows.evaluate_release import evaluate_release

    asked = EvaluationOptions(made["path"], options.settings, options.set, options.store, mode=options.mode)
    return cast("dict[str, Any]", evaluate_release(**parameters_of(asked)))


def _require_complete(made: dict[str, Any], options: BuildOptions) -> None:
    if not made["complete"]:
        text = "the release is incomplete: some items have no outcome; run the command again to finish them"
        raise NoError(text, made, _summary(made, options))


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


def _summary(made: dict[str, Any], options: BuildOptions, evaluated: dict[str, Any] | None = None) -> str:
    """Return the funnel, the release, its digest, how planners did if they were asked, and what to go on with."""
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
        *(["", standing_text(evaluated)] if evaluated else []),
        "",
        f"release {path}",
        f"digest  {made['digest']}",
        "",
        "open next:",
        f"  {path}/README.md",
        *([f"  {evaluated['report']}  (how planners did, pair by pair)"] if evaluated else []),
        *_picture_lines(made["pictures"]),
        f"  {command} verify --deep {folder}",
        *(f"  {command} show {pair} --release {folder}" for pair in (pairs or left_out)[:1]),
        f"  {command} materialize {folder} pictures{named_logs(options.settings, options.set, options.store)}",
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
