"""Settles one step of a build or an evaluation: in this process, or by drains on workers, until every item has its
outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from prefect import task
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from data_registry.identity import Digest
from data_registry.ledger import Ledger
from data_registry.store import Store
from flows.assembly import Build
from flows.launch import DrainRun, Patience, run_drains
from flows.progress import tell
from flows.settings import Settings
from tasks.construction import DRAWN_STEPS
from tasks.stage import DrainOptions, Stage, StageResults, drain, look_up

FRUITLESS_ROUNDS: Final = 3
"""Rounds of drains without a single new outcome after which a stage is given up."""


class Steps(Protocol):
    """Steps that are settled one after the other: each is a stage with its items, which hang on earlier results."""

    @property
    def results(self) -> dict[str, StageResults[Any, Any]]:
        """The results so far, by step."""
        ...

    def stage(self, step: str) -> Stage[Any, Any]:
        """Return the stage that works on a step's items."""
        ...

    def items(self, step: str) -> Sequence[Any]:
        """Return a step's items; the steps before it have their results."""
        ...


class Work(Protocol):
    """Steps, where their outcomes are kept, and who can settle them elsewhere."""

    @property
    def settings(self) -> Settings:
        """Resolved settings."""
        ...

    @property
    def store(self) -> Store:
        """The open store."""
        ...

    @property
    def steps(self) -> Steps:
        """What is to be settled."""
        ...

    @property
    def drains(self) -> Mapping[str, str]:
        """Deployment (`flow/deployment`) that drains a step, by the resources that its back end needs."""
        ...

    @property
    def drain_parameters(self) -> Mapping[str, object]:
        """What these are told beside step, settings and run."""
        ...


def settle(work: Work, step: str) -> None:
    """Settle one step and keep its results for the next; the task run of the step is named after it.

    A step is one task run however many items it has: items and their tries are the ledger's business.
    """

    @task(name=step, task_run_name=step)
    def settle_step() -> dict[str, int]:
        logger = get_run_logger()
        results = _in_process(work, step) if work.settings.run.mode == "in_process" else _by_drains(work, step)
        work.steps.results[step] = results
        counts = {str(name): count for name, count in results.counts().items()}
        logger.info("%s: %s", step, ", ".join(f"{count} {name}" for name, count in counts.items()))
        for left in results.unsettled[:10]:
            logger.warning("%s: %s has no outcome: %s", step, left.id, left.error or "not tried")
        return counts

    settle_step()


def settle_drawn(build: Build) -> None:
    """Draw from the screened-out combinations for the auxiliary split, and settle the steps of what was drawn."""

    @task(name="draw", task_run_name="draw")
    def draw() -> dict[str, int]:
        drawn = build.construction.draw()
        counts = {"drawn": len(drawn.ids), "asked": drawn.asked, "available": drawn.available}
        get_run_logger().info("draw: %s", ", ".join(f"{count} {name}" for name, count in counts.items()))
        if drawn.waits_for:
            get_run_logger().warning("draw: waits for %d items without an outcome", drawn.waits_for)
        return counts

    if draw()["drawn"]:
        for step in DRAWN_STEPS:
            settle(build, step)


def run_options(settings: Settings, run_id: str | None = None) -> DrainOptions:
    """Return how this flow run drains; a retried flow run tries failed items anew."""
    run = settings.run
    return DrainOptions(run_id or f"{flow_run.id}#{flow_run.run_count}", run.attempts, run.lease_s, run.poll_s)


def _in_process(work: Work, step: str) -> StageResults[Any, Any]:
    return drain(
        work.steps.stage(step),
        work.steps.items(step),
        work.store.ledger,
        run_options(work.settings),
        lambda done, total: tell(step, done, total),
    )


def _by_drains(work: Work, step: str) -> StageResults[Any, Any]:
    """Ask for drains until all is settled, tries are used up, or rounds bring nothing new."""
    chosen, items, ledger = work.steps.stage(step), work.steps.items(step), work.store.ledger
    left = _Left(step, ledger, [chosen.key(item) for item in items])
    fruitless = 0
    while not left.none() and fruitless < FRUITLESS_ROUNDS:
        before = len(left.keys)
        runs = _one_round(work, left)
        done = left.none()
        fruitless = 0 if len(left.keys) < before else fruitless + 1
        if done or all(run.state == "COMPLETED" for run in runs):
            break  # what is left now has used up its tries
    return _with_errors(work, look_up(chosen, items, ledger), {chosen.key(item) for item in items})


@dataclass
class _Left:
    """The items of a step that have no outcome yet."""

    step: str
    ledger: Ledger
    keys: list[Digest]
    total: int = 0

    def __post_init__(self) -> None:
        self.total = len(self.keys)

    def none(self) -> bool:
        """Look again, tell the listeners, and say whether nothing is left."""
        done = self.ledger.results(self.keys)
        self.keys = [key for key in self.keys if key not in done]
        tell(self.step, self.total - len(self.keys), self.total)
        return not self.keys


def _one_round(work: Work, left: _Left) -> tuple[DrainRun, ...]:
    settings, step = work.settings, left.step
    resources = work.steps.stage(step).backend.execution.resources
    told = {"step": step, "run_id": run_options(settings).run_id, "settings": settings.model_dump(mode="json")}
    count = min(settings.run.drains, len(left.keys))
    patience = Patience(pending_s=settings.run.pending_s)
    parameters = {**told, **work.drain_parameters}
    runs = run_drains(work.drains[resources], parameters, count, settings.run.poll_s, patience, left.none)
    for run in runs:
        if run.state in {"FAILED", "CRASHED", "LOST"}:
            get_run_logger().warning("drain %s of %s ended %s: %s", run.name, step, run.state, run.message)
    return runs


def _with_errors(work: Work, results: StageResults[Any, Any], keys: set[Digest]) -> StageResults[Any, Any]:
    """Put the last error of each try that other processes made beside the items that have no outcome."""
    attempts = work.store.ledger.attempts(run_options(work.settings).run_id, results.stage)
    errors = {one.item_id: f"{one.error_class}: {one.message}" for one in attempts if one.key in keys}
    return results.with_errors(errors)
