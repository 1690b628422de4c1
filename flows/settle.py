"""Settles one stage of a build: in this process, or by drains on workers, until every item has its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from prefect import task
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from data_registry.identity import Digest
from data_registry.ledger import Ledger
from flows.assembly import Build
from flows.launch import DrainRun, Patience, run_drains
from flows.progress import tell
from tasks.stage import DrainOptions, StageResults, drain, look_up

DRAINS: Final = {"cpu": "drain-stage/drain-stage", "a100": "drain-stage/drain-stage-a100"}
"""Deployment of the drain for each kind of resources."""

FRUITLESS_ROUNDS: Final = 3
"""Rounds of drains without a single new outcome after which a stage is given up."""


def settle(build: Build, stage: str) -> None:
    """Settle one stage and keep its results for the next; the task run of the stage is named after it.

    A stage is one task run however many items it has: items and their tries are the ledger's business.
    """

    @task(name=stage, task_run_name=stage)
    def settle_stage() -> dict[str, int]:
        logger = get_run_logger()
        results = _in_process(build, stage) if build.settings.run.mode == "in_process" else _by_drains(build, stage)
        build.construction.results[stage] = results
        counts = {str(name): count for name, count in results.counts().items()}
        logger.info("%s: %s", stage, ", ".join(f"{count} {name}" for name, count in counts.items()))
        for left in results.unsettled[:10]:
            logger.warning("%s: %s has no outcome: %s", stage, left.id, left.error or "not tried")
        return counts

    settle_stage()


def run_options(build: Build, run_id: str | None = None) -> DrainOptions:
    """Return how this flow run drains; a retried flow run tries failed items anew."""
    run = build.settings.run
    return DrainOptions(run_id or f"{flow_run.id}#{flow_run.run_count}", run.attempts, run.lease_s, run.poll_s)


def _in_process(build: Build, stage: str) -> StageResults[Any, Any]:
    construction = build.construction
    return drain(
        construction.stages[stage],
        construction.items(stage),
        build.store.ledger,
        run_options(build),
        lambda done, total: tell(stage, done, total),
    )


def _by_drains(build: Build, stage: str) -> StageResults[Any, Any]:
    """Ask for drains until all is settled, tries are used up, or rounds bring nothing new."""
    work, ledger = build.construction, build.store.ledger
    chosen, items = work.stages[stage], work.items(stage)
    left = _Left(stage, ledger, [chosen.key(item) for item in items])
    fruitless = 0
    while not left.none() and fruitless < FRUITLESS_ROUNDS:
        before = len(left.keys)
        runs = _one_round(build, left)
        done = left.none()
        fruitless = 0 if len(left.keys) < before else fruitless + 1
        if done or all(run.state == "COMPLETED" for run in runs):
            break  # what is left now has used up its tries
    return _with_errors(build, look_up(chosen, items, ledger))


@dataclass
class _Left:
    """The items of a stage that have no outcome yet."""

    stage: str
    ledger: Ledger
    keys: list[Digest]
    total: int = 0

    def __post_init__(self) -> None:
        self.total = len(self.keys)

    def none(self) -> bool:
        """Look again, tell the listeners, and say whether nothing is left."""
        done = self.ledger.results(self.keys)
        self.keys = [key for key in self.keys if key not in done]
        tell(self.stage, self.total - len(self.keys), self.total)
        return not self.keys


def _one_round(build: Build, left: _Left) -> tuple[DrainRun, ...]:
    settings, stage = build.settings, left.stage
    resources = build.construction.stages[stage].backend.execution.resources
    parameters = {"stage": stage, "run_id": run_options(build).run_id, "settings": settings.model_dump(mode="json")}
    count = min(settings.run.drains, len(left.keys))
    patience = Patience(pending_s=settings.run.pending_s)
    runs = run_drains(DRAINS[resources], parameters, count, settings.run.poll_s, patience, left.none)
    for run in runs:
        if run.state in {"FAILED", "CRASHED", "LOST"}:
            get_run_logger().warning("drain %s of %s ended %s: %s", run.name, stage, run.state, run.message)
    return runs


def _with_errors(build: Build, results: StageResults[Any, Any]) -> StageResults[Any, Any]:
    """Put the last error of each try that other processes made beside the items that have no outcome."""
    attempts = build.store.ledger.attempts(run_options(build).run_id, results.stage)
    return results.with_errors({attempt.item_id: f"{attempt.error_class}: {attempt.message}" for attempt in attempts})
