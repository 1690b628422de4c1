"""Flow `build-exceptiondrive`: from driving logs to a versioned release.

Read top to bottom: keyframes and tasks are combined, screened, edited, measured, localized, judged and decided on, and
what is approved is published, beside an auxiliary split that is never scored on. Every stage is memoised in the store,
so running this again redoes only what depends on a change. Prefect shows the run and its artifacts; the store
remembers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.runtime import flow_run

from flows import gallery
from flows.assembly import logs_folder, open_build, open_source
from flows.options import BuildOptions
from flows.publishing import publish_release
from flows.run_log import log_to
from flows.settings import Settings
from flows.settle import settle, settle_drawn


def _run_name() -> str:
    """Return `build-<settings>`, with the version where one was asked for."""
    asked = flow_run.parameters
    version = f"-{asked['version']}" if asked.get("version") else ""
    return f"build-{Path(asked.get('settings') or 'sample').stem}{version}"


def _read_logs(settings: Settings) -> None:
    """Open the logs once in a task run of its own: writing and indexing them is what a first build waits for."""

    @task(name="read logs", task_run_name="read logs")
    def read() -> None:
        open_source(settings)

    read()


@flow(name="build-exceptiondrive", flow_run_name=_run_name)
def build_exceptiondrive(  # noqa: PLR0913, PLR0917 - a deployment's parameters are its options
    settings: str = "sample",
    set: list[str] | None = None,
    releases: str | None = None,
    store: str | None = None,
    version: str | None = None,
    scenes: list[str] | None = None,
    tasks: list[str] | None = None,
    limit: int | None = None,
    mode: str | None = None,
    allow_incomplete: bool | None = None,
) -> dict[str, Any]:
    """Build a benchmark release; return where it lies, its digest and its counts.

    Args:
        settings: a settings file, or the name of shipped ones (`sample`, `nuscenes`).
        set: overrides as `key.path=value`, e.g. `source.root=/data/nuscenes`.
        releases: folder to publish into.
        store: folder of the store.
        version: version to publish; pre-release versions such as 0.0.0-dev may be published again.
        scenes: scene names; all when absent.
        tasks: task ids; all when absent.
        limit: at most this many keyframes.
        mode: `in_process`, or `workers` to have stages drained on the pools cpu and a100.
        allow_incomplete: publish a pre-release version although some items have no outcome.
    """
    asked = BuildOptions(settings, set, releases, store, version, scenes, tasks, limit, mode, allow_incomplete)
    chosen = asked.resolve()
    with log_to(logs_folder(chosen) / f"{flow_run.id}.log"):
        _read_logs(chosen)
        with open_build(chosen) as build:
            links = gallery.show_source(build)

            settle(build, "screen")  # does the task suit the keyframe, and where would its hazard be?
            settle(build, "edit")  # put the hazard into every view that sees it, and change nothing else
            settle(build, "measure")  # what changed, where, by how much: values, no verdicts
            settle(build, "localize")  # where is the hazard, in metres?
            settle(build, "judge")  # is it the right hazard: plausible, visible, decisive?
            settle(build, "decide")  # thresholds and human decisions: every verdict is made here

            settle_drawn(build)  # auxiliary: a draw of combinations that do not suit goes through the same stages

            links = [*gallery.show_results(build), *links]
            release = publish_release(build)
            gallery.show_release(build, release, links)
            return gallery.outcome(build, release)
