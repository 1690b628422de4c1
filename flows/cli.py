"""The command line `exceptiondrive`: build, look at, verify and materialize releases; look after the store.

Importing this module is cheap: what a command needs is imported when it runs. Results go to standard output, progress
and errors to standard error; `--json` makes results one JSON document. Exit codes stand in `flows/exits.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.exits import Ended, reporting, say

app = typer.Typer(
    name="exceptiondrive",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build benchmark releases of real driving logs with hazards put in, and check them."
    " Relative paths, also those in settings, start at the current folder.",
)
store_app = typer.Typer(no_args_is_help=True, help="Look after the store.")
app.add_typer(store_app, name="store")
report_app = typer.Typer(no_args_is_help=True, help="Count over a whole release.")
app.add_typer(report_app, name="report")

SettingsName = Annotated[
    str, typer.Argument(metavar="SETTINGS", help="A settings file, or one of the shipped `sample` and `nuscenes`.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, e.g. source.root=/data; may be repeated."),
]
LogsSettings = Annotated[
    str, typer.Option(metavar="SETTINGS", help="Settings that name the logs and the store.", show_default=True)
]
StorePath = Annotated[
    str | None, typer.Option(metavar="DIR", help="Folder of the store; .work/store unless the settings name another.")
]
ReleasePath = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="A release's folder, e.g. releases/exceptiondrive-sample/0.0.0-dev.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also when the command fails.")]


@app.command()
def build(  # noqa: PLR0913, PLR0917 - one parameter an option
    settings: SettingsName = "sample",
    set_: Overrides = None,
    releases: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder to publish into; releases unless the settings say else.")
    ] = None,
    store: StorePath = None,
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Version to publish; pre-releases may be published again.")
    ] = None,
    scenes: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this scene; may be repeated.")] = None,
    tasks: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; may be repeated.")] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="At most this many keyframes.")] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="in_process, or workers (needs `make serve`).")
    ] = None,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Publish a pre-release although items have no outcome.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Build a release; run it again after any stop, and it goes on where it was."""
    from flows.building import plan_build, run_build
    from flows.options import BuildOptions

    incomplete = allow_incomplete or None  # without the flag the settings decide
    options = BuildOptions(settings, set_, releases, store, version, scenes, tasks, limit, mode, incomplete)
    with reporting(as_json):
        (plan_build if dry_run else run_build)(options, as_json)


@app.command()
def demo(as_json: Json = False) -> None:
    """Build the sample release from the embedded logs, and evaluate planners on it: no GPU, no data, no network."""
    from flows.building import run_demo
    from flows.options import BuildOptions

    with reporting(as_json):
        run_demo(BuildOptions("sample"), as_json)


@app.command()
def evaluate(  # noqa: PLR0913, PLR0917 - one parameter an option
    release: ReleasePath,
    settings: LogsSettings = "sample",
    set_: Overrides = None,
    store: StorePath = None,
    planners: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this built-in planner; may be repeated. `none`: only those from files."
        ),
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="Predictions of another planner, JSON lines; may be repeated."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name of the evaluation, `default` unless given; the same name again replaces it."
            " The last three results of a name stay beside it, as NAME.DIGEST.",
        ),
    ] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="in_process, or workers (needs `make serve`).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score planners on a release, count with intervals, and write a report beside it."""
    from flows.evaluating import run_evaluation
    from flows.options import EvaluationOptions

    asked = (planners or None, predictions, name, mode)
    with reporting(as_json):
        run_evaluation(EvaluationOptions(str(release), settings, set_, store, *asked), as_json)


@app.command()
def cases(
    release: ReleasePath,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write cases.jsonl and regions.jsonl into.")],
    settings: LogsSettings = "sample",
    set_: Overrides = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Write what planners that run elsewhere are asked, and the regions that they are scored by."""
    from flows.evaluating import write_cases
    from flows.options import EvaluationOptions

    with reporting(as_json):
        write_cases(EvaluationOptions(str(release), settings, set_, store), out, as_json)


@app.command()
def verify(
    release: ReleasePath,
    deep: Annotated[bool, typer.Option("--deep", help="Also decode every picture and mask.")] = False,
    as_json: Json = False,
) -> None:
    """Check a release from its files alone: bytes, schemas, keys; with --deep pixels, masks and metadata."""
    from flows.inspecting import verify_release

    with reporting(as_json):
        verify_release(release, deep, as_json)


@app.command()
def materialize(  # noqa: PLR0913, PLR0917 - one parameter an option
    release: ReleasePath,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write the edited pictures into.")],
    settings: LogsSettings = "sample",
    set_: Overrides = None,
    store: StorePath = None,
    pair: Annotated[list[str] | None, typer.Option(metavar="PAIR", help="Only this pair; may be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Put a release's edits into the source pictures and write full edited pictures, each checked."""
    from flows.inspecting import materialize_release
    from flows.options import BuildOptions

    with reporting(as_json):
        materialize_release(release, out, BuildOptions(settings, set_, store=store), pair, as_json)


@app.command()
def show(
    pair: Annotated[str, typer.Argument(metavar="PAIR", help="Pair id: DATASET/SCENE/SAMPLE/TASK.")],
    release: Annotated[
        Path | None,
        typer.Option(metavar="RELEASE", help="Release to look in; the last one below `releases` that knows the pair."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say how a pair was made and why it is in the release, or why not."""
    from flows.inspecting import show_pair

    with reporting(as_json):
        show_pair(pair, release, as_json)


@app.command()
def score(  # noqa: PLR0913, PLR0917 - one parameter an option
    regions: Annotated[Path, typer.Option(metavar="R.jsonl", help="Regions: a pair a line.")],
    predictions: Annotated[Path, typer.Option(metavar="P.jsonl", help="Predictions of one planner: a case a line.")],
    out: Annotated[Path, typer.Option(metavar="S.parquet", help="File to write the scores into: a row a pair.")],
    body: Annotated[str, typer.Option(metavar="NAME", help="Preset of the ego body.")] = "zoe",
    horizon_s: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds that are scored.")] = 3.0,
    clearance_factor: Annotated[
        float, typer.Option(metavar="X", help="Multiply every required clearance by this.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Score predictions against regions, without a release; docs/scoring.md describes the files."""
    from flows.scoring import score_files

    settings = {"body": body, "horizon_s": horizon_s, "clearance_factor": clearance_factor}
    with reporting(as_json):
        score_files(regions, predictions, out, settings, as_json)


@app.command()
def streetset(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write the logs into.")],
    history: Annotated[bool, typer.Option("--history", help="Draw the pictures before each keyframe too.")] = False,
    as_json: Json = False,
) -> None:
    """Write the embedded synthetic logs in nuScenes v1.0 form: eight scenes, one keyframe with pictures in each."""
    from data_registry.sources.streetset import VERSION, write_streetset

    with reporting(as_json):
        root = write_streetset(folder, history)
        say({"root": str(root), "version": VERSION}, f"{root} holds {VERSION}", as_json)


@app.command()
def doctor(store: StorePath = None, as_json: Json = False) -> None:
    """Say what is installed, found and missing here, and what to do about it."""
    from flows.doctor import examine

    with reporting(as_json):
        examine(store, as_json)


@app.command()
def tasks(settings: SettingsName = "sample", set_: Overrides = None, as_json: Json = False) -> None:
    """List the tasks of the taxonomy: where the hazard goes, and which ground it takes."""
    from flows.task_list import list_tasks

    with reporting(as_json):
        list_tasks(settings, set_ or [], as_json)


@app.command()
def settings(name: SettingsName = "sample", set_: Overrides = None, as_json: Json = False) -> None:
    """Print resolved settings, every field with its value."""
    from flows.settings import load_settings

    with reporting(as_json):
        import yaml

        resolved: dict[str, Any] = load_settings(name, set_ or []).model_dump(mode="json")
        say(resolved, yaml.safe_dump(resolved, sort_keys=False).rstrip(), as_json)


@report_app.command()
def screening(release: ReleasePath, as_json: Json = False) -> None:
    """Say for each task what became of its combinations, and why, and what the logs' missing map or CAN bus cost."""
    from flows.inspecting import report_screening

    with reporting(as_json):
        report_screening(release, as_json)


@store_app.command()
def gc(
    store: StorePath = None,
    settings: LogsSettings = "sample",
    set_: Overrides = None,
    older_than_s: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Leave younger files alone: a running build may need them.")
    ] = 3600.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only.")] = False,
    as_json: Json = False,
) -> None:
    """Remove blobs that no result refers to, and what killed writers left."""
    from flows.options import BuildOptions
    from flows.tidying import collect_garbage

    with reporting(as_json):
        collect_garbage(BuildOptions(settings, set_, store=store), older_than_s, dry_run, as_json)


@store_app.command()
def repair(
    store: StorePath = None,
    settings: LogsSettings = "sample",
    set_: Overrides = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only.")] = False,
    as_json: Json = False,
) -> None:
    """Forget results whose blobs are missing or corrupt, so that the next build makes them again."""
    from flows.options import BuildOptions
    from flows.tidying import repair_store

    with reporting(as_json):
        repair_store(BuildOptions(settings, set_, store=store), dry_run, as_json)


def main() -> None:
    """Run the command line; with --json, wrong options are one JSON document as well."""
    try:
        app()
    except Ended:
        raise
    except SystemExit as end:
        if end.code == 2 and "--json" in sys.argv:
            say({"error": "wrong options: the text on standard error says which", "exit_code": 2}, "", True)
        raise


if __name__ == "__main__":
    main()
