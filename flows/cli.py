"""The command line `exceptiondrive`: build, look at, verify and materialize releases; look after the store.

Importing this module is cheap: what a command needs is imported when it runs. Results go to standard output, progress
and errors to standard error; `--json` makes results one JSON document. Exit codes stand in `flows/exits.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.exits import reporting

app = typer.Typer(
    name="exceptiondrive",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build benchmark releases of real driving logs with hazards put in, and check them.",
)
store_app = typer.Typer(no_args_is_help=True, help="Look after the store.")
app.add_typer(store_app, name="store")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
StorePath = Annotated[str | None, typer.Option(help="Folder of the store. [default: .work/store]")]
ReleasePath = Annotated[
    Path, typer.Argument(help="Folder of a release, e.g. releases/exceptiondrive-sample/0.0.0-dev.")
]


@app.command()
def build(  # noqa: PLR0913, PLR0917 - one parameter an option
    settings: Annotated[str, typer.Argument(help="A settings file, or `sample` or `nuscenes`.")] = "sample",
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override a setting, key.path=value.")] = None,
    releases: Annotated[str | None, typer.Option(help="Folder to publish into. [default: releases]")] = None,
    store: StorePath = None,
    version: Annotated[str | None, typer.Option(help="Version to publish.")] = None,
    scenes: Annotated[list[str] | None, typer.Option(help="Only this scene; may be repeated.")] = None,
    tasks: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most this many keyframes.")] = None,
    mode: Annotated[str | None, typer.Option(help="in_process, or workers (needs `make serve`).")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Build a release; run it again after any stop, and it goes on where it was."""
    from flows.building import plan_build, run_build
    from flows.options import BuildOptions

    options = BuildOptions(settings, set_, releases, store, version, scenes, tasks, limit, mode)
    with reporting(as_json):
        (plan_build if dry_run else run_build)(options, as_json)


@app.command()
def demo(as_json: Json = False) -> None:
    """Build the sample release from the embedded logs: no GPU, no data, no network."""
    from flows.building import run_build
    from flows.options import BuildOptions

    with reporting(as_json):
        run_build(BuildOptions("sample"), as_json)


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
    out: Annotated[Path, typer.Argument(help="Folder to write the edited pictures into.")],
    settings: Annotated[str, typer.Option(help="Settings that name the source logs.")] = "sample",
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override a setting, key.path=value.")] = None,
    store: StorePath = None,
    pair: Annotated[list[str] | None, typer.Option(help="Only this pair; may be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Put a release's edits into the source pictures and write full edited pictures, each checked."""
    from flows.inspecting import materialize_release
    from flows.options import BuildOptions

    with reporting(as_json):
        materialize_release(release, out, BuildOptions(settings, set_, store=store), pair, as_json)


@app.command()
def show(
    pair: Annotated[str, typer.Argument(help="Pair id: <dataset>/<scene>/<sample token>/<task>.")],
    release: Annotated[Path, typer.Option(help="Release to look in.")] = Path(
        "releases/exceptiondrive-sample/0.0.0-dev"
    ),
    as_json: Json = False,
) -> None:
    """Say how a pair was made and why it is in the release, or why not."""
    from flows.inspecting import show_pair

    with reporting(as_json):
        show_pair(pair, release, as_json)


@app.command()
def streetset(
    folder: Annotated[Path, typer.Argument(help="Folder to write the logs into.")], as_json: Json = False
) -> None:
    """Write the embedded synthetic logs in nuScenes v1.0 form."""
    from data_registry.sources.streetset import VERSION, write_streetset
    from flows.exits import say

    with reporting(as_json):
        root = write_streetset(folder)
        say({"root": str(root), "version": VERSION}, f"{root} holds {VERSION}", as_json)


@app.command()
def doctor(store: StorePath = None, as_json: Json = False) -> None:
    """Say what is installed, found and missing here, and what to do about it."""
    from flows.doctor import examine

    with reporting(as_json):
        examine(store, as_json)


@app.command()
def settings(
    name: Annotated[str, typer.Argument(help="A settings file, or a shipped name.")] = "sample",
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override a setting, key.path=value.")] = None,
    as_json: Json = False,
) -> None:
    """Print resolved settings, every field with its value."""
    from flows.exits import say
    from flows.settings import load_settings

    with reporting(as_json):
        import yaml

        resolved: dict[str, Any] = load_settings(name, set_ or []).model_dump(mode="json")
        say(resolved, yaml.safe_dump(resolved, sort_keys=False).rstrip(), as_json)


@store_app.command()
def gc(
    store: StorePath = None,
    older_than_s: Annotated[
        float, typer.Option(help="Leave younger files alone: a running build may need them.")
    ] = 3600.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only.")] = False,
    as_json: Json = False,
) -> None:
    """Remove blobs that no result refers to, and what killed writers left."""
    from flows.options import BuildOptions

    with reporting(as_json):
        from dataclasses import asdict

        from flows.assembly import open_store
        from flows.exits import say

        with open_store(BuildOptions("sample", store=store).resolve()) as opened:
            report = opened.collect_garbage(older_than_s, dry_run)
        verb = "would remove" if dry_run else "removed"
        text = f"kept {report.blobs_kept} blobs, {verb} {report.blobs_removed} and {report.leftovers_removed} leftovers"
        say(asdict(report), text, as_json)


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
