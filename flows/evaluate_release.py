"""Flow `evaluate-release`: from a release and planners to scores, statistics and a report.

Read top to bottom: every planner predicts on both variants of every benchmark pair, predictions are gathered with those
that came in files, scored, counted, shown, and written beside the release. Predictions are memoised in the store, so
running this again, or after any stop, redoes only what depends on a change; the same predictions give the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.runtime import flow_run

from flows import evaluation_steps as steps
from flows.assembly import logs_folder
from flows.evaluation_assembly import open_evaluation
from flows.evaluation_shown import outcome, show_evaluation
from flows.options import EvaluationOptions
from flows.run_log import log_to
from flows.settle import settle


def _run_name() -> str:
    """Return `evaluate-<release's version>`, with the evaluation's name where one was given."""
    asked = flow_run.parameters
    release = Path(asked.get("release") or asked.get("settings") or "sample")
    return "-".join(filter(None, ["evaluate", release.name.removesuffix(".yaml"), asked.get("name")]))


@flow(name="evaluate-release", flow_run_name=_run_name)
def evaluate_release(  # noqa: PLR0913, PLR0917 - a deployment's parameters are its options
    release: str | None = None,
    settings: str = "sample",
    set: list[str] | None = None,
    store: str | None = None,
    planners: list[str] | None = None,
    predictions: list[str] | None = None,
    name: str | None = None,
    mode: str | None = None,
) -> dict[str, Any]:
    """Evaluate planners on a release; return the leaderboard, the coverage, and where the evaluation lies.

    Args:
        release: folder of the release; what the settings publish when absent.
        settings: a settings file, or the name of shipped ones: the release's logs, the store, how scores are made.
        set: overrides as `key.path=value`, e.g. `source.root=/data/nuscenes`, `score.horizon_s=2`.
        store: folder of the store.
        planners: built-in planners; all when absent, none of them for `["none"]`.
        predictions: predictions of planners that ran elsewhere, each `NAME=FILE`.
        name: name of the evaluation; the same name again replaces it, the last three results stay as `<name>.<digest>`.
        mode: `in_process`, or `workers` to have planners drained on the pools cpu and a100.
    """
    asked = EvaluationOptions(release, settings, set, store, planners, predictions, name, mode)
    chosen = asked.resolve()
    with log_to(logs_folder(chosen) / f"{flow_run.id}.log"), open_evaluation(asked, chosen) as work:
        files = steps.read_files(work)  # before any planner is asked: they may be refused

        for step in work.steps.steps:
            settle(work, step)  # predict-<planner>: what does it say to every case?

        scored = steps.score_all(work, files)  # contact, distances, HCC, HPR, CTS of every pair
        counted = steps.count_all(scored)  # means with intervals, coverage, differences, sensitivity
        report = steps.render(work, scored, counted)
        written = steps.write(work, scored, counted, report)

        found = outcome(work, scored, counted, written)
        show_evaluation(found)
        return found
