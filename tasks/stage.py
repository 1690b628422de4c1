"""Runs any stage: claims items from the ledger, calls the stage's back end, commits one outcome per item.

A stage says what it is (name, version), what an item is (identity, inputs, strata) and how items are processed; this
module owns everything else: keys, memoisation, leases and their renewal, bounded tries, batches that survive a failing
item, and counts that must reconcile. Any number of processes may drain the same stage at the same time.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from data_registry import identity
from data_registry.blobs import StorageFullError
from data_registry.ledger import Ledger, LedgerUnavailableError, Result, Status
from data_registry.records import Record, load_record
from models.backend import Backend, Execution
from tasks.leasing import Holding

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


class Item(Protocol):
    """What the hazard chain's items say about themselves; see `tasks/items.py`."""

    @property
    def id(self) -> str:
        """Stable, readable id, unique within a stage."""
        ...

    @property
    def inputs(self) -> tuple[identity.Digest, ...]:
        """Digest of each input's semantic payload, in a fixed order."""
        ...

    @property
    def strata(self) -> Strata:
        """What the item counts under."""
        ...


AnItem = TypeVar("AnItem", bound=Item)


class ItemStage(Stage[AnItem, Out]):
    """A stage whose items speak for themselves."""

    def identity(self, item: AnItem) -> str:
        """Return the item's id."""
        return item.id

    def inputs(self, item: AnItem) -> tuple[identity.Digest, ...]:
        """Return the item's input digests."""
        return item.inputs

    def strata(self, item: AnItem) -> Strata:
        """Return the item's strata."""
        return item.strata


@dataclass(frozen=True, slots=True)
class DrainOptions:
    """How one run drains stages; never part of an identity."""

    run_id: str
    attempts: int = 3
    """Tries per item and run; with several workers an item may get one more from each."""
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


@dataclass(frozen=True, slots=True, eq=False)
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

    Items that have a result already cost one look-up and never open the back end. Leaving early, by an error or a
    cancellation, lets what runs finish and gives the other leases back.

    Raises:
        StageError: two items have the same id, or the stage did not yield one outcome per item.
        StorageFullError, LedgerUnavailableError: the store failed; finished items are kept.
    """
    work = _work(stage, items)
    holding = Holding(ledger, stage.name, options.run_id, options.lease_s)
    drainer = _Drainer(stage, work, ledger, options, progress or (lambda _done, _all: None), holding)
    drainer.run()
    return _gather(stage, work, ledger, drainer.errors)


def _work(stage: Stage[In, Out], items: Sequence[In]) -> list[_Work[In]]:
    work = [_Work(item, stage.identity(item), stage.key(item)) for item in items]
    for what, values in (("id", [entry.id for entry in work]), ("key", [entry.key for entry in work])):
        repeated = [value for value, count in Counter(values).items() if count > 1]
        if repeated:
            raise StageError(
                f"stage {stage.name}: {len(repeated)} items share the {what} of another, the first is {repeated[0]}"
            )
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


_WINDOW: Final = 200
"""Items looked at in one claim once others hold some: workers that share a list skip them without a claim for each."""


@dataclass
class _Drainer(Generic[In, Out]):
    """The one scheduler behind the three scopes: claims units and runs up to max_in_flight of them at a time."""

    stage: Stage[In, Out]
    work: list[_Work[In]]
    ledger: Ledger
    options: DrainOptions
    progress: Progress
    holding: Holding
    errors: dict[identity.Digest, str] = field(default_factory=dict[identity.Digest, str])
    _settled: set[identity.Digest] = field(default_factory=set[identity.Digest])

    @property
    def _execution(self) -> Execution:
        return self.stage.backend.execution

    def run(self) -> None:
        """Drain until nothing is left for this run to do."""
        pending = self._pending(self.work)
        if not pending:
            return
        with self.stage.backend, self.holding.renewed(), ThreadPoolExecutor(self._execution.max_in_flight) as pool:
            while pending:
                before = len(pending)
                took = self._pass(pending, pool)
                pending = self._pending(pending)
                if pending and not took and len(pending) == before:
                    time.sleep(self.options.poll_s)

    def _pending(self, work: list[_Work[In]]) -> list[_Work[In]]:
        """Return the items that have neither a result nor used up their tries."""
        self._settled.update(self.ledger.results([entry.key for entry in work]))
        tries: Counter[str] = Counter()
        for attempt in self.ledger.attempts(self.options.run_id, self.stage.name):
            tries[attempt.key] += 1
            self.errors[attempt.key] = f"{attempt.error_class}: {attempt.message}"
        self._report()
        return [entry for entry in work if entry.key not in self._settled and tries[entry.key] < self.options.attempts]

    def _report(self) -> None:
        self.progress(len(self._settled), len(self.work))

    def _pass(self, pending: list[_Work[In]], pool: ThreadPoolExecutor) -> bool:
        """Go once through the pending units, claiming as slots get free; tell whether anything was claimed."""
        took = False
        running: set[Future[None]] = set()
        for unit in self._claimed(pending):
            took = True
            running.add(pool.submit(self._run_unit, unit))
            if len(running) >= self._execution.max_in_flight:
                running = self._reap(running)
        while running:
            running = self._reap(running)
        return took

    def _reap(self, running: set[Future[None]]) -> set[Future[None]]:
        """Wait until a unit is done, and raise what it raised."""
        done, rest = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        self._report()
        return rest

    def _claimed(self, pending: list[_Work[In]]) -> Iterator[list[_Work[In]]]:
        """Yield what one call gets, leased: one item, up to `max_batch` items, or a whole session in order."""
        if self._execution.scope == "session":
            yield from self._claimed_sessions(pending)
            return
        size = self._execution.max_batch if self._execution.scope == "batch" else 1
        start, window = 0, size
        while start < len(pending):
            part = pending[start : start + window]
            unit = self._claim(part, size)
            # whatever stands before the last one taken is held or settled: the next pass looks again
            passed = part.index(unit[-1]) + 1 if len(unit) == size else len(part)
            start, window = start + passed, size if passed == size == len(unit) else max(size, _WINDOW)
            if unit:
                yield unit

    def _claimed_sessions(self, pending: list[_Work[In]]) -> Iterator[list[_Work[In]]]:
        """Yield the pending items of one scene after another; a session is never split between workers."""
        sessions: dict[str, list[_Work[In]]] = {}
        for entry in pending:
            sessions.setdefault(self.stage.strata(entry.item).scene, []).append(entry)
        for session in sessions.values():
            unit = self._claim(session, len(session))
            if len(unit) == len(session):
                yield unit
            else:
                self.holding.give_back([entry.key for entry in unit])

    def _claim(self, part: list[_Work[In]], limit: int) -> list[_Work[In]]:
        keys = set(self.holding.claim([(entry.key, entry.id) for entry in part], limit))
        return [entry for entry in part if entry.key in keys]

    def _run_unit(self, unit: list[_Work[In]]) -> None:
        """Process a unit; when one item of a batch fails, those behind the last good one are processed one by one.

        Those behind the failing item of a session wait for the next pass, which no try of theirs is counted for.
        """
        rest = self._process(unit)
        if self._execution.scope == "session":
            self.holding.give_back([entry.key for entry in rest])
            return
        for entry in rest:
            self._process([entry])

    def _process(self, unit: list[_Work[In]]) -> list[_Work[In]]:
        """Process items in one call; return those from the failing one on that are to be tried alone, still leased.

        A session's outcomes are committed one by one. Those of a batch are committed together, since a wrong number of
        them says that they may belong to other items.
        """
        is_session = self._execution.scope == "session"
        finished: list[tuple[_Work[In], Result, float]] = []
        failure: Exception | None = None
        try:
            for entry, result, seconds in self._results(unit):
                finished.append((entry, result, seconds))
                if is_session:
                    self._commit(entry, result, seconds)
        except (StorageFullError, LedgerUnavailableError, StageError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever else a back end raises is a try that failed
            failure = error
        if not is_session:
            for entry, result, seconds in finished:
                self._commit(entry, result, seconds)
        return self._after_failure(unit[len(finished) :], failure) if failure is not None else []

    def _results(self, unit: list[_Work[In]]) -> Iterator[tuple[_Work[In], Result, float]]:
        """Yield each item with its result and the seconds that it took; raise StageError on a wrong number."""
        started = time.perf_counter()
        outcomes = iter(self.stage.process([entry.item for entry in unit]))
        for number, entry in enumerate(unit):
            outcome = next(outcomes, None)
            if outcome is None:
                raise StageError(f"stage {self.stage.name} yielded {number} outcomes for {len(unit)} items")
            yield entry, _result(self.stage.name, entry, outcome), time.perf_counter() - started
            started = time.perf_counter()
        if next(outcomes, None) is not None:
            raise StageError(f"stage {self.stage.name} yielded more outcomes than its {len(unit)} items")

    def _after_failure(self, rest: list[_Work[In]], failure: Exception) -> list[_Work[In]]:
        """Settle the item that failed, when it can be known; return those behind it."""
        if not rest:
            raise failure
        if len(rest) > 1 and self._execution.scope == "batch":
            return rest
        if isinstance(failure, PermanentFailureError):
            self._commit(rest[0], _failure(self.stage.name, rest[0], failure), 0.0)
        else:
            self._fail(rest[0], failure)
        return rest[1:]

    def _commit(self, entry: _Work[In], result: Result, seconds: float) -> None:
        lease = self.holding.lease(entry.key)
        self.ledger.commit(lease, result, replace(self.holding.origin, seconds=seconds))
        self.holding.forget(entry.key)
        self._settled.add(entry.key)

    def _fail(self, entry: _Work[In], error: Exception) -> None:
        lease = self.holding.lease(entry.key)
        self.ledger.fail(lease, (self.stage.name, entry.id), self.holding.origin, error)
        self.holding.forget(entry.key)


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
        detail=str(error),
        record=None,
        payload_sha256=identity.digest([error.reason_code]),
    )
