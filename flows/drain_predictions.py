"""Flow `drain-predictions`: a worker that opens one planner once and claims a release's cases until none is left.

Any number may drain the same planner, on one machine or many; a killed one's cases are taken over.
"""

from __future__ import annotations

from typing import Any

from prefect import flow
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from flows.assembly import logs_folder
from flows.evaluation_assembly import open_evaluation
from flows.options import EvaluationOptions
from flows.run_log import log_to
from flows.settings import parse_settings
from flows.settle import run_options
from tasks.predicting import planner_of
from tasks.stage import drain


@flow(name="drain-predictions", flow_run_name="drain-{step}")
def drain_predictions(step: str, settings: dict[str, Any], run_id: str, release: str) -> dict[str, int]:
    """Drain one step of an evaluation and return its counts.

    Args:
        step: `predict-<planner>`.
        settings: the evaluation's resolved settings.
        run_id: the evaluation run that failed tries are counted under.
        release: folder of the release's content.
    """
    chosen = parse_settings(settings, "of the evaluation that asked for this drain")
    asked = EvaluationOptions(release, planners=[planner_of(step)])
    with log_to(logs_folder(chosen) / f"{flow_run.id}.log"), open_evaluation(asked, chosen) as work:
        stage, items = work.steps.stage(step), work.steps.items(step)
        results = drain(stage, items, work.store.ledger, run_options(chosen, run_id))
    counts = {str(name): count for name, count in results.counts().items()}
    get_run_logger().info("%s: %s", step, ", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts
