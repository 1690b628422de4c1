"""Commands about planners: evaluate them on a release, and write the cases for those that run elsewhere."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from data_registry.blobs import write_atomically
from data_registry.plain_files import refuse_to_replace
from flows.commanding import bars, named_logs, on_a_server, refuse_lonely_workers
from flows.evaluation_text import evaluation_text
from flows.exits import counted, program, say
from flows.options import EvaluationOptions, parameters_of
from flows.places import require_folder_place

CASES, REGIONS = "cases.jsonl", "regions.jsonl"


def run_evaluation(options: EvaluationOptions, as_json: bool) -> None:
    """Run the evaluation flow and print leaderboard, coverage and where the report lies.

    Wrong settings, names and files, and a release that cannot be opened, show before a server is started.
    """
    from flows.evaluation_assembly import check_evaluation

    settings = options.resolve()
    refuse_lonely_workers(settings, "evaluate-release")
    check_evaluation(options, settings)
    with bars(), on_a_server(settings):
        from flows.evaluate_release import evaluate_release

        found = cast("dict[str, Any]", evaluate_release(**parameters_of(options)))
    say(found, evaluation_text(found), as_json)


def write_cases(options: EvaluationOptions, out: Path, as_json: bool) -> None:
    """Write cases.jsonl and regions.jsonl, and say what to do with them; raises WrongPlaceError before any work."""
    from data_registry.release import open_release
    from flows.assembly import open_source, require_logs_of
    from flows.evaluation_assembly import keyframes_of, release_path
    from tasks.cases import benchmark_cases, case_rows, region_rows

    for name in (CASES, REGIONS):
        refuse_to_replace(out / name)
    settings = options.resolve()
    require_folder_place(out, "OUT")
    path = release_path(options.release, settings)
    release = open_release(path)
    require_logs_of(release, settings)
    source = open_source(settings)
    cases = benchmark_cases(release, keyframes_of(release, source, settings))
    rows = {
        CASES: case_rows(cases, source.file_name),
        REGIONS: region_rows(cases),
    }
    written = {name: _write(out / name, lines) for name, lines in rows.items()}
    logs = named_logs(options.settings, options.set, options.store)
    folder, command = shlex.quote(str(path)), program()
    text = [
        f"{out / CASES}: {counted(written[CASES], 'case')}, both variants of every pair",
        f"{out / REGIONS}: {counted(written[REGIONS], 'region')}, never for planners: it is the answer",
        "",
        "go on with:",
        f"  {command} materialize {folder} pictures{logs}",
        f"  {command} evaluate {folder} --predictions NAME=FILE{logs}",
    ]
    say(
        {"folder": str(out), **{name.partition(".")[0]: count for name, count in written.items()}},
        "\n".join(text),
        as_json,
    )


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write JSON lines whole or not at all; return how many."""
    lines = [json.dumps(row, sort_keys=True, allow_nan=False) for row in rows]
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return len(lines)
