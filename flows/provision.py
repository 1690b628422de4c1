"""What a Prefect server must hold before deployments run: process pools, and the automation that finds dead runs."""

from datetime import UTC, datetime, timedelta

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.workers.process import ProcessWorker

HEARTBEAT_AUTOMATION = "exceptiondrive: runs without a heartbeat are crashed"
_SILENCE = timedelta(seconds=90)
"""Three heartbeats of prefect.toml."""
_MESSAGE = "No heartbeat for 90 s: its process is gone."


def ensure_process_pool(name: str) -> None:
    """Creates a process pool unless a pool of that name exists, whatever its type."""
    with get_client(sync_client=True) as client:
        try:
            client.read_work_pool(name)
        except ObjectNotFound:
            template = ProcessWorker.get_default_base_job_template()
            pool = WorkPoolCreate(name=name, type="process", base_job_template=template)
            try:
                client.create_work_pool(pool)
            except ObjectAlreadyExists:  # a worker that starts at the same moment creates it as well
                return


def ensure_heartbeat_automation() -> None:
    """Creates the automation that turns a run whose heartbeats stop for 90 s into Crashed, unless it exists.

    Without it a run whose worker died with it stays Running for ever, and cannot be retried.
    """
    with get_client(sync_client=True) as client:
        if not client.read_automations_by_name(HEARTBEAT_AUTOMATION):
            client.create_automation(heartbeat_automation())


def heartbeat_automation() -> AutomationCore:
    """Returns the automation; the flows' heartbeat setting makes them send what it listens for."""
    ends = {f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed")}
    heartbeat = "prefect.flow-run.heartbeat"
    crash = ChangeFlowRunState(state=StateType.CRASHED, name=None, message=_MESSAGE, force=False)
    return AutomationCore(
        name=HEARTBEAT_AUTOMATION,
        description="Start such a run again with `prefect flow-run retry ID`; finished items are not redone.",
        trigger=EventTrigger(
            after={heartbeat},
            expect={heartbeat, *ends},
            match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=_SILENCE,
        ),
        actions=[crash],
    )


def reports(pool: str, worker: str, *, since: float) -> bool:
    """Says whether a worker of a pool sent a heartbeat after `since` (seconds since 1970)."""
    with get_client(sync_client=True) as client:
        try:
            workers = client.read_workers_for_work_pool(pool)
        except ObjectNotFound:
            return False
    moment = datetime.fromtimestamp(since, UTC)
    return any(w.name == worker and w.last_heartbeat_time and w.last_heartbeat_time >= moment for w in workers)
