"""Flow `drain-stage`: a worker that opens one stage's back end once and claims a step's items until none is left.

Any number may drain the same step, on one machine or many; a killed one's items are taken over.
"""

from __future__ import annotations

from typing import Any

from prefect import flow
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from flows.assembly import logs_folder, open_build
from flows.run_log import log_to
from flows.settings import parse_settings
from flows.settle import run_options
from tasks.stage import drain


@flow(name="drain-stage", flow_run_name="drain-{step}")
def drain_stage(step: str, settings: dict[str, Any], run_id: str) -> dict[str, int]:
    """Drain one step of a build and return its counts.

    Args:
        step: name of the step: a stage, or e.g. `edit-drawn` for what was drawn for the auxiliary split.
        settings: the build's resolved settings.
        run_id: the build run that failed tries are counted under.
    """
    chosen = parse_settings(settings, "of the build that asked for this drain")
    with log_to(logs_folder(chosen) / f"{flow_run.id}.log"), open_build(chosen) as build:
        work = build.construction
        work.catch_up(step, build.store.ledger)
        results = drain(work.stage(step), work.items(step), build.store.ledger, run_options(chosen, run_id))
    counts = {str(name): count for name, count in results.counts().items()}
    get_run_logger().info("%s: %s", step, ", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts
