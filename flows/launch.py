"""Starts drain runs on workers and waits for them, also while the server is away.

Every request has its own short time-out and no retries inside Prefect's client: the loop here decides how long a server
may be gone. Starting is safe to repeat, since each run carries an idempotency key. A run is waited for by asking for
its state; nothing depends on events. When the waiting flow is cancelled or fails, its runs are cancelled; after kill -9
they go on, which is harmless: they take batches from the ledger until none is left.
"""

import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
from prefect.logging import get_logger
from prefect.runtime import flow_run as this_run
from prefect.settings import PREFECT_API_REQUEST_TIMEOUT, PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.states import Cancelling

_REQUEST_S = 15.0
_CANCEL_S = 10.0
_GONE = "DELETED"
_LOST = "LOST"
_LOST_MESSAGE = "A worker took the run and never started it."
_FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED", _GONE, _LOST}
_TRANSIENT_STATUS = {408, 425, 429, 500, 502, 503, 504}
_Answer = TypeVar("_Answer")


class DeploymentMissingError(RuntimeError):
    """The deployment to launch is not on the server."""


class ServerAwayError(RuntimeError):
    """The server did not answer for longer than allowed."""


class NoWorkerError(RuntimeError):
    """No worker took any of the runs."""


@dataclass(frozen=True, slots=True)
class DrainRun:
    """A drain run as it ended."""

    id: uuid.UUID
    """Prefect's id of the flow run."""
    name: str
    """Prefect's name of it."""
    state: str
    """COMPLETED, FAILED, CRASHED, CANCELLED; DELETED when someone removed it, LOST when its worker died before it
    began; another state when nothing was left to do."""
    message: str
    """What Prefect says about the state, possibly empty."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in seconds."""

    away_s: float = 120.0
    """The server may be gone this long at a time."""
    start_s: float = 300.0
    """A worker must have started one of the runs by then."""
    pending_s: float = 120.0
    """A run that a worker took and has not started by then is lost: only started runs have heartbeats."""
    finish_s: float = 15.0
    """Once nothing is left to do, runs that are still going may end by themselves this long."""


def run_drains(
    deployment: str,
    parameters: Mapping[str, object],
    count: int,
    poll_s: float = 2.0,
    patience: Patience = Patience(),
    settled: Callable[[], bool] = lambda: False,
) -> tuple[DrainRun, ...]:
    """Starts `count` runs of a deployment (`flow/deployment`), waits for all and returns how they ended.

    `settled` is asked at every poll whether the work is done, however the runs stand: Prefect can lose a run, the
    ledger cannot. What has not ended then is cancelled.

    Inside a flow the runs become its subflows and carry the tag `parent:<flow run id>`. A run that fails is returned,
    not raised: what it left undone is in the ledger.

    Raises:
        DeploymentMissingError: no such deployment.
        NoWorkerError: after `patience.start_s` no run has started; they are cancelled.
        ServerAwayError: the server was gone for `patience.away_s`.
    """
    with _own_timeouts():
        started = list[uuid.UUID]()
        try:
            for key in _keys(count):
                name = f"{deployment.rpartition('/')[2]}-{len(started) + 1}"  # until it starts and names itself
                started.append(
                    _patiently(lambda key=key, name=name: _launch(deployment, parameters, key, name), patience, poll_s)
                )
            return _Watch(deployment, started, poll_s, patience, settled).wait()
        except BaseException:  # cancellation arrives as a BaseException; nothing is swallowed
            _cancel(started)
            raise


def _keys(count: int) -> list[str]:
    """Returns idempotency keys of this very call: a repeated request starts nothing, a retried flow starts anew."""
    call = uuid.uuid4()
    return [f"{call}-{number}" for number in range(count)]


def _launch(deployment: str, parameters: Mapping[str, object], key: str, name: str) -> uuid.UUID:
    tags = [f"parent:{this_run.id}"] if this_run.id else []
    try:
        run = run_deployment(
            deployment, flow_run_name=name, parameters=dict(parameters), timeout=0, tags=tags, idempotency_key=key
        )
        return cast("FlowRun", run).id  # a coroutine only in async code
    except ObjectNotFound as error:
        raise DeploymentMissingError(
            f"The server has no deployment {deployment}. Run `prefect deploy --all` in the checkout, or `make serve`."
        ) from error


@dataclass
class _Watch:
    """Polls started runs until every one is final or lost, or nothing is left to do."""

    deployment: str
    ids: Sequence[uuid.UUID]
    poll_s: float
    patience: Patience
    settled: Callable[[], bool]
    pending: dict[uuid.UUID, float] = field(default_factory=dict[uuid.UUID, float])
    """Since when a run is pending."""

    def wait(self) -> tuple[DrainRun, ...]:
        """Return the runs as they stand at the end."""
        began = time.monotonic()
        started = False
        while True:
            runs = self._look()
            open_runs = [run for run in runs if run.state not in _FINAL]
            if not open_runs:
                return runs
            if self.settled():
                return self._finish()
            started = started or any(run.state not in {"SCHEDULED", "PENDING"} for run in runs)
            if not started and time.monotonic() - began > self.patience.start_s:
                raise NoWorkerError(
                    f"None of {len(runs)} runs of {self.deployment} was started within {self.patience.start_s:.0f} s:"
                    " no worker takes from its pool. Start one (`prefect worker start --pool POOL`, `make serve`) or"
                    " build in_process."
                )
            time.sleep(self.poll_s)

    def _look(self) -> tuple[DrainRun, ...]:
        """Read all states; cancel runs that were taken by a worker and never started."""
        found = _patiently(lambda: _read(self.ids), self.patience, self.poll_s)
        runs = tuple(_drain_run(run_id, found.get(run_id)) for run_id in self.ids)
        now = time.monotonic()
        self.pending = {run.id: self.pending.get(run.id, now) for run in runs if run.state == "PENDING"}
        lost = {run_id for run_id, since in self.pending.items() if now - since > self.patience.pending_s}
        _cancel(sorted(lost))
        return tuple(replace(run, state=_LOST, message=_LOST_MESSAGE) if run.id in lost else run for run in runs)

    def _finish(self) -> tuple[DrainRun, ...]:
        """Cancel what has not started, and what does not end by itself soon."""
        deadline = time.monotonic() + self.patience.finish_s
        while True:
            runs = self._look()
            waiting = [run.id for run in runs if run.state in {"SCHEDULED", "PENDING"}]
            going = [run.id for run in runs if run.state not in _FINAL and run.id not in waiting]
            if not going or time.monotonic() > deadline:
                _cancel(waiting + going)
                return runs
            time.sleep(self.poll_s)


def _read(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, FlowRun]:
    with _client() as client:
        wanted = FlowRunFilter(id=FlowRunFilterId(any_=list(ids)))
        return {run.id: run for run in client.read_flow_runs(flow_run_filter=wanted)}


def _drain_run(run_id: uuid.UUID, run: FlowRun | None) -> DrainRun:
    if run is None:
        return DrainRun(run_id, "", _GONE, "The flow run was deleted.")
    if run.state is None:
        return DrainRun(run_id, run.name, "PENDING", "")
    return DrainRun(run_id, run.name, run.state.type.value, run.state.message or "")


def _cancel(ids: Sequence[uuid.UUID]) -> None:
    """Asks for cancellation of the runs that are not final; gives up quietly when the server is away."""
    deadline = time.monotonic() + _CANCEL_S
    for run_id in ids:
        try:
            with _client() as client:
                run = client.read_flow_run(run_id)
                if not (run.state and run.state.is_final()):
                    client.set_flow_run_state(run_id, Cancelling(message="The run that waited for it ended."))
        except (httpx.HTTPError, ObjectNotFound, PrefectHTTPStatusError) as error:
            get_logger(__name__).warning("Could not cancel flow run %s: %s", run_id, error)
        if time.monotonic() > deadline:
            return


def _patiently(ask: Callable[[], _Answer], patience: Patience, poll_s: float) -> _Answer:
    """Repeats a request while the server is away, up to `patience.away_s`."""
    deadline = time.monotonic() + patience.away_s
    while True:
        try:
            return ask()
        except (httpx.HTTPError, RuntimeError) as error:
            if not _is_transient(error):
                raise
            if time.monotonic() > deadline:
                raise ServerAwayError(
                    f"The Prefect server has not answered for {patience.away_s:.0f} s"
                    f" ({type(error).__name__}: {error}). Start it again, then `prefect flow-run retry` this run:"
                    " finished items are not redone."
                ) from error
            time.sleep(poll_s)


def _is_transient(error: Exception) -> bool:
    """Says whether a request may succeed later: no answer, or an answer of an overloaded or starting server."""
    if isinstance(error, PrefectHTTPStatusError):
        return error.response.status_code in _TRANSIENT_STATUS
    if isinstance(error, httpx.TransportError):
        return True
    return isinstance(error, RuntimeError) and "Failed to reach API" in str(error)


@contextmanager
def _own_timeouts() -> Generator[None, None, None]:
    with temporary_settings({PREFECT_API_REQUEST_TIMEOUT: _REQUEST_S, PREFECT_CLIENT_MAX_RETRIES: 0}):
        yield


def _client() -> SyncPrefectClient:
    return get_client(sync_client=True)
