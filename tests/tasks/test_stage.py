"""Draining: each item once, whatever dies, fails or is cancelled on the way; on SQLite and PostgreSQL alike."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.blobs import Blobs, StorageFullError
from data_registry.ledger import Ledger, LedgerUnavailableError, Origin
from data_registry.records import Human
from models.backend import IdentitySettings
from tasks.stage import DrainOptions, Outcome, PermanentFailureError, StageError, drain, look_up
from tests.tasks.workers import Numbers, drain_process, noted, verdict

RUN = DrainOptions("run", poll_s=0.02)
SCOPES: list[dict[str, Any]] = [
    {"scope": "item"},
    {"scope": "item", "max_in_flight": 4},
    {"scope": "batch", "max_batch": 3},
    {"scope": "batch", "max_batch": 5, "max_in_flight": 2},
    {"scope": "session"},
    {"scope": "session", "max_in_flight": 3},
]
scopes = pytest.mark.parametrize(
    "execution", SCOPES, ids=lambda execution: "-".join(str(v) for v in execution.values())
)


def _error_at(*bad: int, error: Callable[[], Exception] = lambda: ValueError("bad")) -> Any:
    def behave(number: int, _calls: int) -> Outcome[Human]:
        if number in bad:
            raise error()
        return verdict(number)

    return behave


def _leased(ledger: Ledger, stage: Numbers, items: Sequence[int]) -> list[int]:
    """Return the items that somebody holds: those that a stranger cannot claim."""
    free = ledger.claim(stage.name, [(stage.key(item), "") for item in items], Origin("x", "stranger/b/1/1"), 60.0)
    ledger.release(free)
    return [item for item in items if stage.key(item) not in {lease.key for lease in free}]


@scopes
def test_outcomes_come_back_in_the_order_of_the_items(ledger: Ledger, execution: dict[str, Any]) -> None:
    stage = Numbers(lambda number, _: verdict(number, kept=number % 3 != 0), **execution)
    items = [5, 3, 8, 1, 0, 9, 2]
    results = drain(stage, items, ledger, RUN)
    assert [entry.item for entry in results.settled] == items
    assert [entry.item for entry in results.kept] == [5, 8, 1, 2]
    assert len(results.recorded) == 7
    assert results.settled[0].record == verdict(5).record
    assert results.settled[1].result.reason_code == "too_small"
    assert results.settled[0].strata.scene == "scene 1"
    assert results.counts() == {"kept": 4, "rejected": 3, "failed_permanent": 0, "unsettled": 0, "total": 7}
    assert set(stage.calls.values()) == {1}
    assert (stage.backend.opened, stage.backend.closed) == (1, 1)


def test_units_are_what_the_scope_says(ledger: Ledger) -> None:
    class Others(Numbers):
        name = "others"

    batches, sessions = Numbers(scope="batch", max_batch=4), Others(scope="session")
    drain(batches, range(10), ledger, RUN)
    drain(sessions, [0, 4, 1, 5, 9, 2], ledger, RUN)
    assert batches.units == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert sessions.units == [[0, 1, 2], [4, 5], [9]]


def test_what_is_done_is_not_done_again_and_opens_no_back_end(ledger: Ledger) -> None:
    drain(Numbers(), range(5), ledger, RUN)
    again = Numbers()
    assert drain(again, range(5), ledger, DrainOptions("another run")).counts()["kept"] == 5
    assert not again.units
    assert again.backend.opened == 0


def test_a_look_up_does_no_work(ledger: Ledger) -> None:
    stage = Numbers()
    drain(stage, [1], ledger, RUN)
    found = look_up(stage, [1, 2], ledger)
    assert [entry.item for entry in found.settled] == [1]
    assert [(entry.id, entry.error) for entry in found.unsettled] == [("item 2", None)]
    assert found.counts()["total"] == 2


def test_identity_settings_and_version_redo_and_execution_does_not(ledger: Ledger) -> None:
    drain(Numbers(), [1], ledger, RUN)

    class Newer(Numbers):
        version = 2

    wider, newer, revised = Numbers(scope="batch", max_batch=9), Newer(), Numbers()
    revised.backend.identity_settings = IdentitySettings(backend="none", revision="2")
    for stage in (wider, newer, revised):
        drain(stage, [1], ledger, RUN)
    assert [len(stage.units) for stage in (wider, newer, revised)] == [0, 1, 1]


@pytest.mark.parametrize("execution", [{"scope": "item"}, {"scope": "batch", "max_batch": 7}])
def test_four_processes_do_each_of_300_items_once(
    ledger_url: str, execution: dict[str, Any], processes: ForkServerContext, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    arguments = (ledger_url, calls, 300, 0.001, execution)
    workers = [processes.Process(target=drain_process, args=arguments) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(100)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert sorted(noted(calls)) == list(range(300))
    ledger = Ledger(ledger_url)
    assert look_up(Numbers(), range(300), ledger).counts()["kept"] == 300
    assert ledger.conflicts() == []
    ledger.close()


def test_what_a_killed_worker_held_is_taken_over_at_once(
    ledger_url: str, processes: ForkServerContext, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    worker = processes.Process(target=drain_process, args=(ledger_url, calls, 8, 0.5, {"scope": "item"}))
    worker.start()
    deadline = time.monotonic() + 60
    while len(noted(calls)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join(60)
    ledger, stage, started = Ledger(ledger_url), Numbers(), time.monotonic()
    assert drain(stage, range(8), ledger, DrainOptions("second run")).counts()["kept"] == 8
    assert time.monotonic() - started < 30, "a lease lasts 60 seconds; nobody may wait for a dead process's"
    finished, held = noted(calls)[:-1], noted(calls)[-1]
    assert finished
    assert sorted(stage.calls) == [number for number in range(8) if number not in finished]
    assert [attempt.item_id for attempt in ledger.attempts("second run", stage.name)] == [f"item {held}"]
    ledger.close()


@scopes
def test_an_item_that_fails_never_fails_the_others(ledger: Ledger, execution: dict[str, Any]) -> None:
    stage = Numbers(_error_at(2, 5), **execution)
    results = drain(stage, range(9), ledger, RUN)
    assert [entry.item for entry in results.kept] == [0, 1, 3, 4, 6, 7, 8]
    assert [(entry.id, entry.error) for entry in results.unsettled] == [
        ("item 2", "ValueError: bad"),
        ("item 5", "ValueError: bad"),
    ]
    assert Counter(attempt.item_id for attempt in ledger.attempts("run", stage.name)) == {"item 2": 3, "item 5": 3}
    assert _leased(ledger, stage, range(9)) == [0, 1, 3, 4, 6, 7, 8]  # those with a result cannot be claimed


def test_tries_are_bounded_in_a_run_and_start_anew_in_the_next(ledger: Ledger) -> None:
    stage = Numbers(lambda number, calls: _error_at(*([number] if calls < 4 else []))(number, calls))
    assert drain(stage, [7], ledger, DrainOptions("first", attempts=2)).counts()["unsettled"] == 1
    assert stage.calls[7] == 2
    assert drain(stage, [7], ledger, DrainOptions("first", attempts=2)).counts()["unsettled"] == 1
    assert stage.calls[7] == 2
    assert drain(stage, [7], ledger, DrainOptions("second", attempts=3)).counts()["kept"] == 1
    assert stage.calls[7] == 5


@scopes
def test_a_permanent_failure_is_remembered(ledger: Ledger, execution: dict[str, Any]) -> None:
    stage = Numbers(_error_at(1, error=lambda: PermanentFailureError("truncated", "half a picture\0")), **execution)
    results = drain(stage, range(4), ledger, RUN)
    failed = results.settled[1]
    assert (failed.result.status, failed.result.reason_code, failed.record) == ("failed_permanent", "truncated", None)
    assert failed.result.detail == "half a picture\\0"
    assert results.counts() == {"kept": 3, "rejected": 0, "failed_permanent": 1, "unsettled": 0, "total": 4}
    assert len(results.recorded) == 3
    tries = stage.calls[1]
    drain(stage, range(4), ledger, DrainOptions("another run"))
    assert stage.calls[1] == tries


@pytest.mark.parametrize("execution", [{"scope": "batch", "max_batch": 4}, {"scope": "item"}, {"scope": "session"}])
@pytest.mark.parametrize("extra", [-1, 1])
def test_a_wrong_number_of_outcomes_stops_the_drain(ledger: Ledger, execution: dict[str, Any], extra: int) -> None:
    class Wrong(Numbers):
        def process(self, items: Sequence[int]) -> Iterator[Outcome[Human]]:
            for number in range(len(items) + extra):
                yield verdict(number)

    stage = Wrong(**execution)
    with pytest.raises(StageError, match=r"stage numbers yielded (more|[0-9]+) outcomes"):
        drain(stage, range(4), ledger, RUN)
    settled = [entry.item for entry in look_up(stage, range(4), ledger).settled]
    if execution["scope"] != "session":
        assert settled == [], "outcomes that may belong to other items are not kept"
    assert _leased(ledger, stage, range(4)) == settled


def test_an_error_after_the_last_outcome_is_not_swallowed(ledger: Ledger) -> None:
    class Sour(Numbers):
        def process(self, items: Sequence[int]) -> Iterator[Outcome[Human]]:
            yield from super().process(items)
            raise RuntimeError("while closing")

    with pytest.raises(RuntimeError, match="while closing"):
        drain(Sour(), [1], ledger, RUN)
    assert look_up(Sour(), [1], ledger).counts()["kept"] == 1


def test_items_that_share_an_id_or_a_key_are_refused(ledger: Ledger) -> None:
    class SameKey(Numbers):
        def inputs(self, item: int) -> tuple[str, ...]:
            return ()

    with pytest.raises(StageError, match="stage numbers: 1 items share the id of another, the first is item 3"):
        drain(Numbers(), [3, 1, 3], ledger, RUN)
    with pytest.raises(StageError, match="share the key of another"):
        look_up(SameKey(), [1, 2], ledger)


def test_a_long_item_stays_leased(ledger: Ledger, ledger_url: str) -> None:
    def slow(number: int, _calls: int) -> Outcome[Human]:
        time.sleep(1.5)
        return verdict(number)

    first, second = Numbers(slow), Numbers()
    thread = threading.Thread(
        target=drain, args=(first, [1], ledger, DrainOptions("run", lease_s=0.5)), name="first worker"
    )
    thread.start()
    other = Ledger(ledger_url)
    while not first.calls:
        time.sleep(0.01)
    assert drain(second, [1], other, RUN).counts()["kept"] == 1
    thread.join()
    other.close()
    assert (first.calls[1], second.calls[1]) == (1, 0)


def test_threads_run_at_most_max_in_flight_calls(ledger: Ledger) -> None:
    running: list[int] = []
    most: list[int] = []

    def behave(number: int, _calls: int) -> Outcome[Human]:
        running.append(number)
        most.append(len(running))
        time.sleep(0.02)
        running.remove(number)
        return verdict(number)

    drain(Numbers(behave, max_in_flight=3), range(12), ledger, RUN)
    assert max(most) == 3


@scopes
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_cancelling_gives_the_leases_back(
    ledger: Ledger, execution: dict[str, Any], interruption: type[BaseException]
) -> None:
    def behave(number: int, _calls: int) -> Outcome[Human]:
        if number == 6:
            raise interruption
        return verdict(number)

    stage = Numbers(behave, **execution)
    with pytest.raises(interruption):
        drain(stage, range(12), ledger, RUN)
    settled = [entry.item for entry in look_up(stage, range(12), ledger).settled]
    assert 6 not in settled
    assert _leased(ledger, stage, range(12)) == settled
    assert stage.backend.closed == 1
    assert ledger.attempts("run", stage.name) == []


@pytest.fixture
def heeding_ctrl_c() -> Iterator[None]:
    """Whatever starts the tests in the background lets them ignore Ctrl-C: Python then raises nothing."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_lets_the_running_item_finish(ledger: Ledger, heeding_ctrl_c: None) -> None:
    def behave(number: int, _calls: int) -> Outcome[Human]:
        if number == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return verdict(number)

    stage = Numbers(behave)
    with pytest.raises(KeyboardInterrupt):
        drain(stage, range(4), ledger, RUN)
    assert [entry.item for entry in look_up(stage, range(4), ledger).settled] == [0, 1]
    assert _leased(ledger, stage, range(4)) == [0, 1]


@scopes
def test_a_full_disk_stops_the_drain_and_frees_its_items(
    ledger: Ledger, execution: dict[str, Any], small_disk: Callable[[int], Path]
) -> None:
    blobs = Blobs(str(small_disk(300_000)))

    def behave(number: int, _calls: int) -> Outcome[Human]:
        blobs.put(bytes([number]) * 50_000)
        return verdict(number)

    stage = Numbers(behave, **execution)
    with pytest.raises(StorageFullError, match=r"no room for 50000 bytes .* finished items are kept"):
        drain(stage, range(12), ledger, RUN)
    settled = [entry.item for entry in look_up(stage, range(12), ledger).settled]
    assert len(settled) < 12
    assert _leased(ledger, stage, range(12)) == settled
    assert ledger.attempts("run", stage.name) == []


def test_a_full_disk_under_the_ledger_is_a_full_disk(small_disk: Callable[[int], Path]) -> None:
    ledger = Ledger(f"sqlite:///{small_disk(600_000) / 'ledger.sqlite'}")

    def long(number: int, _calls: int) -> Outcome[Human]:
        return Outcome(verdict(number).record.model_copy(update={"reason": "x" * 9000}), True, "suitable")

    stage = Numbers(long)
    with pytest.raises(StorageFullError):
        drain(stage, range(200), ledger, RUN)
    ledger.close()


def test_a_ledger_that_breaks_during_a_drain_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(f"sqlite:///{path}")

    def behave(number: int, _calls: int) -> Outcome[Human]:
        ledger._database.write(lambda connection: connection.exec_driver_sql("DROP TABLE results"))
        return verdict(number)

    with pytest.raises(LedgerUnavailableError, match="no such table: results"):
        drain(Numbers(behave), [1], ledger, RUN)
    ledger.close()


def test_progress_is_told_as_items_finish(ledger: Ledger) -> None:
    drain(Numbers(), [0], ledger, RUN)
    seen: list[tuple[int, int]] = []
    drain(Numbers(), range(4), ledger, RUN, lambda done, all_: seen.append((done, all_)))
    assert seen[0] == (1, 4)
    assert {(2, 4), (3, 4)} <= set(seen)
    assert seen[-1] == (4, 4)


def test_a_session_is_never_split_between_workers(ledger: Ledger) -> None:
    stage = Numbers(scope="session")
    held = ledger.claim(stage.name, [(stage.key(2), "item 2")], Origin("x", "stranger/b/1/1"), 0.5)
    assert held
    assert drain(stage, range(8), ledger, RUN).counts()["kept"] == 8
    assert stage.units == [[4, 5, 6, 7], [0, 1, 2, 3]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    opened = Ledger(f"sqlite:///{tmp_path_factory.mktemp('counts') / 'ledger.sqlite'}")
    yield opened
    opened.close()


_round = iter(range(10**9))


@settings(max_examples=40, deadline=None)
@given(
    plan=st.lists(st.sampled_from(["kept", "rejected", "permanent", "flaky", "hopeless"]), max_size=12),
    execution=st.sampled_from(SCOPES),
)
def test_counts_add_up_whatever_happens(shared: Ledger, plan: list[str], execution: dict[str, Any]) -> None:
    def behave(number: int, calls: int) -> Outcome[Human]:
        fate = plan[number]
        if fate == "hopeless" or (fate == "flaky" and calls == 0):
            raise OSError("not now")
        if fate == "permanent":
            raise PermanentFailureError("broken", "for good")
        return verdict(number, kept=fate != "rejected")

    stage = Numbers(behave, **execution)
    stage.backend.identity_settings = IdentitySettings(backend="none", revision=f"round {next(_round)}")
    counts = drain(stage, range(len(plan)), shared, DrainOptions(f"run {next(_round)}", poll_s=0.0)).counts()
    expected = Counter(plan)
    assert counts == {
        "kept": expected["kept"] + expected["flaky"],
        "rejected": expected["rejected"],
        "failed_permanent": expected["permanent"],
        "unsettled": expected["hopeless"],
        "total": len(plan),
    }
