"""Deployment runs as the tests start and watch them."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment

from flows import serve

CHECKOUT = Path(__file__).parents[2]


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits until a condition holds; fails with `what` when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.1)


def state_of(run_id: UUID) -> str:
    """Returns the state type of a flow run."""
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(run_id).state
    return state.type.value if state else "none"


def last_words(serving: serve.Serving, pool: str = "cpu") -> int:
    """Returns how often a pool's worker said its last word about a killed run.

    A worker looks at a killed run twice, about five seconds apart, and the second look turns a run that was retried in
    between into Crashed again; so a retry has to come after it.
    """
    log = dict(serving.workers())[pool].log.read_text()
    return log.count("prefect.flow_runs.worker - Check whether the flow run exceeded its memory")


def launched(deployment: str, **parameters: object) -> UUID:
    """Starts a deployment run and returns its id."""
    return cast("FlowRun", run_deployment(deployment, parameters=parameters, timeout=0)).id


def installed_plugin(folder: Path) -> dict[str, str]:
    """Returns an environment in which our entry point counts as installed: a dist-info folder on the import path."""
    information = folder / "exceptiondrive_plugin-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: exceptiondrive-plugin\nVersion: 0\n")
    (information / "entry_points.txt").write_text("[prefect.plugins]\nexceptiondrive = flows.prefect_plugin\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(CHECKOUT)])}
