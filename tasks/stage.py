"""Runs any stage: claims items from the ledger, calls the stage's back end, commits one outcome per item.

A stage says what it is (name, version), what an item is (identity, inputs, strata) and how items are processed; this
module owns everything else: keys, memoisation, leases and their renewal, bounded tries, batches that survive a failing
item, and counts that must reconcile. Any number of processes may drain the same stage at the same time.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, TypeVar

from data_registry import holders, identity
from data_registry.blobs import StorageFullError
from data_registry.ledger import Lease, Ledger, LedgerUnavailableError, Origin, Result, Status
from data_registry.records import Record, load_record
from models.backend import Backend

In = TypeVar("In")
Out = TypeVar("Out", bound=Record)


class PermanentFailureError(Exception):
    """This item can never succeed as it is, e.g. its picture is truncated; it is memoised and not tried again."""

    def __init__(self, reason_code: str, message: str) -> None:
        """Name the reason as a code for tables and as text for people."""
        super().__init__(message)
        self.reason_code = reason_code


class StageError(RuntimeError):
    """A stage broke its contract: duplicate items, or not one outcome per item."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Out]):
    """What processing one item came to; a rejected item carries its record too."""

    record: Out
    kept: bool
    reason_code: str


@dataclass(frozen=True, slots=True)
class Strata:
    """What counts and samples are broken down by."""

    scene: str
    family: str
    split: str


class Stage(ABC, Generic[In, Out]):
    """One step of the pipeline, the same for every back end."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Raised by hand whenever the output for the same inputs changes; a golden payload test watches."""
    record: type[Out]
    backend: Backend

    @abstractmethod
    def identity(self, item: In) -> str:
        """Return the item's stable, readable id, unique within the stage."""

    @abstractmethod
    def inputs(self, item: In) -> tuple[identity.Digest, ...]:
        """Return the sha256 of each input's semantic payload, in a fixed order."""

    @abstractmethod
    def strata(self, item: In) -> Strata:
        """Return what the item counts under."""

    @abstractmethod
    def process(self, items: Sequence[In]) -> Iterable[Outcome[Out]]:
        """Yield one outcome per item, in order; the back end is open.

        Raises:
            PermanentFailureError: the item whose turn it is can never succeed.
            Exception: any other error is a try that failed, and is tried again.
        """

    def key(self, item: In) -> identity.Digest:
        """Return the key under which the item's outcome is memoised."""
        settings = self.backend.identity_settings.model_dump(mode="json")
        return identity.outcome_key(self.name, self.version, settings, self.inputs(item))


@dataclass(frozen=True, slots=True)
class DrainOptions:
    """How one run drains stages; never part of an identity."""

    run_id: str
    attempts: int = 3
    """Tries per item and run."""
    lease_s: float = 60.0
    poll_s: float = 0.2
    """Pause while other workers hold everything that is left."""


@dataclass(frozen=True, slots=True)
class Settled(Generic[In, Out]):
    """One item with what it came to."""

    item: In
    id: str
    strata: Strata
    key: identity.Digest
    result: Result
    record: Out | None
    """None only when the item failed for good."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """An item without a result, and the last error that its tries met in this run, if any."""

    id: str
    error: str | None


@dataclass(frozen=True, slots=True)
class StageResults(Generic[In, Out]):
    """A stage's outcomes in the order of its items."""

    stage: str
    settled: tuple[Settled[In, Out], ...]
    unsettled: tuple[Unsettled, ...]

    def counts(self) -> dict[Status | str, int]:
        """Return kept, rejected, failed_permanent, unsettled and total; they always add up."""
        found = Counter(entry.result.status for entry in self.settled)
        counts: dict[Status | str, int] = {status: found[status] for status in ("kept", "rejected", "failed_permanent")}
        counts["unsettled"] = len(self.unsettled)
        counts["total"] = len(self.settled) + len(self.unsettled)
        return counts

    @property
    def kept(self) -> list[Settled[In, Out]]:
        """The entries that go on to the next stage."""
        return [entry for entry in self.settled if entry.result.status == "kept"]

    def with_errors(self, errors: Mapping[str, str]) -> StageResults[In, Out]:
        """Return the same with the errors, by item id, that other processes met."""
        unsettled = tuple(Unsettled(left.id, errors.get(left.id, left.error)) for left in self.unsettled)
        return replace(self, unsettled=unsettled)

    @property
    def recorded(self) -> list[Settled[In, Out]]:
        """The entries that have a record, kept or rejected."""
        return [entry for entry in self.settled if entry.record is not None]


@dataclass(frozen=True, slots=True)
class _Work(Generic[In]):
    """One item on its way through a drain."""

    item: In
    id: str
    key: identity.Digest


Progress = Callable[[int, int], None]
"""Called with (items that have a result, all items) whenever the first number may have changed."""


def look_up(stage: Stage[In, Out], items: Sequence[In], ledger: Ledger) -> StageResults[In, Out]:
    """Return what the ledger knows about the items, doing no work.

    Raises:
        StageError: two items have the same id.
    """
    return _gather(stage, _work(stage, items), ledger, {})


def drain(
    stage: Stage[In, Out], items: Sequence[In], ledger: Ledger, options: DrainOptions, progress: Progress | None = None
) -> StageResults[In, Out]:
    """Work on the items, with any number of others, until each has a result or has used up this run's tries.

    Items that have a result already cost one look-up and never open the back end.

    Raises:
        StageError: two items have the same id, or the stage did not yield one outcome per item.
        StorageFullError, LedgerUnavailableError: the store failed; finished items are kept.
    """
    work = _work(stage, items)
    drainer = _Drainer(stage, work, ledger, options, progress or (lambda _done, _all: None))
    drainer.run()
    return _gather(stage, work, ledger, drainer.errors)


def _work(stage: Stage[In, Out], items: Sequence[In]) -> list[_Work[In]]:
    work = [_Work(item, stage.identity(item), stage.key(item)) for item in items]
    for what, values in (("id", [entry.id for entry in work]), ("key", [entry.key for entry in work])):
        repeated = [value for value, count in Counter(values).items() if count > 1]
        if repeated:
            raise StageError(f"stage {stage.name}: {len(repeated)} items share an {what}, the first is {repeated[0]}")
    return work


def _gather(
    stage: Stage[In, Out], work: list[_Work[In]], ledger: Ledger, errors: dict[identity.Digest, str]
) -> StageResults[In, Out]:
    results = ledger.results([entry.key for entry in work])
    settled: list[Settled[In, Out]] = []
    unsettled: list[Unsettled] = []
    for entry in work:
        result = results.get(entry.key)
        if result is None:
            unsettled.append(Unsettled(entry.id, errors.get(entry.key)))
            continue
        record = load_record(stage.record, result.record) if result.record is not None else None
        settled.append(Settled(entry.item, entry.id, stage.strata(entry.item), entry.key, result, record))
    return StageResults(stage.name, tuple(settled), tuple(unsettled))


_CLAIM_ITEMS: Final = 200
"""Items looked at in one claim."""


@dataclass
class _Drainer(Generic[In, Out]):
    """The one scheduler behind the three scopes: forms units, claims them, runs up to max_in_flight at a time."""

    stage: Stage[In, Out]
    work: list[_Work[In]]
    ledger: Ledger
    options: DrainOptions
    progress: Progress
    errors: dict[identity.Digest, str] = field(default_factory=dict[identity.Digest, str])
    _held: dict[identity.Digest, Lease] = field(default_factory=dict[identity.Digest, Lease])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def _origin(self) -> Origin:
        return Origin(self.options.run_id, holders.this_process())

    def run(self) -> None:
        """Drain until nothing is left for this run to do."""
        pending = self._pending(self.work)
        if not pending:
            return
        with self.stage.backend, self._renewal(), ThreadPoolExecutor(self._slots) as pool:
            while pending:
                before = len(pending)
                took = self._pass(pending, pool)
                pending = self._pending(pending)
                if pending and not took and len(pending) == before:
                    time.sleep(self.options.poll_s)

    @property
    def _slots(self) -> int:
        return self.stage.backend.execution.max_in_flight

    def _pending(self, work: list[_Work[In]]) -> list[_Work[In]]:
        """Return the items that have neither a result nor used up their tries."""
        done = self.ledger.results([entry.key for entry in work])
        tries: Counter[str] = Counter()
        for attempt in self.ledger.attempts(self.options.run_id, self.stage.name):
            tries[attempt.key] += 1
            self.errors[attempt.key] = f"{attempt.error_class}: {attempt.message}"
        left = [entry for entry in work if entry.key not in done]
        pending = [entry for entry in left if tries[entry.key] < self.options.attempts]
        self.progress(len(self.work) - len(left), len(self.work))
        return pending

    def _pass(self, pending: list[_Work[In]], pool: ThreadPoolExecutor) -> bool:
        """Go once through the pending units, claiming as slots get free; tell whether anything was claimed."""
        took = False
        running: set[Future[None]] = set()
        for unit in self._units(pending):
            claimed = self._claim(unit)
            if not claimed:
                continue
            took = True
            running.add(pool.submit(self._run_unit, claimed))
            if len(running) >= self._slots:
                running = _reap(running)
        while running:
            running = _reap(running)
        return took

    def _units(self, pending: list[_Work[In]]) -> Iterator[list[_Work[In]]]:
        """Split items into what one call gets: one item, a batch, or a session in order."""
        execution = self.stage.backend.execution
        if execution.scope == "session":
            sessions: dict[str, list[_Work[In]]] = {}
            for entry in pending:
                sessions.setdefault(self.stage.strata(entry.item).scene, []).append(entry)
            yield from sessions.values()
            return
        size = execution.max_batch if execution.scope == "batch" else 1
        for start in range(0, len(pending), size):
            yield pending[start : start + size]

    def _claim(self, unit: list[_Work[In]]) -> list[_Work[In]]:
        leases = self.ledger.claim(
            self.stage.name, [(entry.key, entry.id) for entry in unit], self._origin, self.options.lease_s
        )
        with self._lock:
            self._held.update({lease.key: lease for lease in leases})
        ours = {lease.key for lease in leases}
        return [entry for entry in unit if entry.key in ours]

    def _run_unit(self, unit: list[_Work[In]]) -> None:
        """Process a unit; when one item of a batch fails, the others are processed one by one."""
        rest = self._process(unit)
        if self.stage.backend.execution.scope == "session":
            for entry in rest:
                self._fail(entry, StageError("an earlier item of the same session failed"))
            return
        for entry in rest:
            self._process([entry])

    def _process(self, unit: list[_Work[In]]) -> list[_Work[In]]:
        """Process items in one call; return those behind a failing one, still leased.

        In a batch the failing one cannot be known, so the whole rest is returned; alone it has failed.
        """
        settled = 0
        try:
            started = time.perf_counter()
            outcomes = iter(self.stage.process([entry.item for entry in unit]))
            for entry in unit:
                outcome = next(outcomes, None)
                if outcome is None:
                    raise StageError(f"stage {self.stage.name} yielded {settled} outcomes for {len(unit)} items")
                self._commit(entry, _result(self.stage.name, entry, outcome), time.perf_counter() - started)
                settled, started = settled + 1, time.perf_counter()
            if next(outcomes, None) is not None:
                raise StageError(f"stage {self.stage.name} yielded more outcomes than its {len(unit)} items")
        except (StorageFullError, LedgerUnavailableError):
            self._drop(unit[settled:])
            raise
        except Exception as error:
            return self._after_error(unit[settled:], error)
        return []

    def _after_error(self, rest: list[_Work[In]], error: Exception) -> list[_Work[In]]:
        if not rest:
            raise error
        if len(rest) > 1 and self.stage.backend.execution.scope == "batch":
            return rest
        if isinstance(error, PermanentFailureError):
            self._commit(rest[0], _failure(self.stage.name, rest[0], error), 0.0)
        else:
            self._fail(rest[0], error)
        return rest[1:]

    def _commit(self, entry: _Work[In], result: Result, seconds: float) -> None:
        lease = self._let_go(entry)
        self.ledger.commit(lease, result, Origin(self.options.run_id, lease.holder, seconds))

    def _fail(self, entry: _Work[In], error: Exception) -> None:
        self.ledger.fail(self._let_go(entry), (self.stage.name, entry.id), self._origin, error)

    def _drop(self, unit: list[_Work[In]]) -> None:
        """Give leases back when the store itself fails, as far as it still answers."""
        leases = [self._let_go(entry) for entry in unit]
        try:
            self.ledger.release(leases)
        except (StorageFullError, LedgerUnavailableError):
            return  # the first error is already on its way up; the leases expire by themselves

    def _let_go(self, entry: _Work[In]) -> Lease:
        with self._lock:
            return self._held.pop(entry.key)

    @contextmanager
    def _renewal(self) -> Iterator[None]:
        """Renew held leases in the background at a third of their life."""
        stop = threading.Event()

        def renew() -> None:
            while not stop.wait(self.options.lease_s / 3):
                with self._lock:
                    held = list(self._held.values())
                if held:
                    self.ledger.renew(held, self.options.lease_s)

        thread = threading.Thread(target=renew, name=f"renew-{self.stage.name}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _reap(running: set[Future[None]]) -> set[Future[None]]:
    done, rest = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        future.result()
    return rest


def _result(stage: str, entry: _Work[Any], outcome: Outcome[Any]) -> Result:
    record: Record = outcome.record
    return Result(
        key=entry.key,
        stage=stage,
        item_id=entry.id,
        status="kept" if outcome.kept else "rejected",
        reason_code=outcome.reason_code,
        detail="",
        record=identity.canonical_json(record.model_dump(mode="json")).decode(),
        payload_sha256=record.payload_digest,
    )


def _failure(stage: str, entry: _Work[Any], error: PermanentFailureError) -> Result:
    return Result(
        key=entry.key,
        stage=stage,
        item_id=entry.id,
        status="failed_permanent",
        reason_code=error.reason_code,
        detail=str(error)[:4000],
        record=None,
        payload_sha256=identity.digest([error.reason_code]),
    )
