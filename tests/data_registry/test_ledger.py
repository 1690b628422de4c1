"""The ledger's promises, on SQLite and PostgreSQL alike."""

import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from data_registry import holders
from data_registry.blobs import StorageFullError
from data_registry.identity import sha256
from data_registry.ledger import Lease, Ledger, Origin, Result
from tests.tasks.workers import claim_process, holding_process, noted

ELSEWHERE = Origin("run", "elsewhere/boot/1/1")
OTHER = Origin("other run", "elsewhere/boot/2/1")


def _key(number: int) -> str:
    return f"{number:064d}"


def _result(key: str, payload: str = "a", detail: str = "") -> Result:
    return Result(key, "stage", f"item {int(key)}", "kept", "suitable", detail, f'{{"x":"{payload}"}}', sha256(payload.encode()))


def _claim(ledger: Ledger, *numbers: int, origin: Origin = ELSEWHERE, seconds: float = 60.0) -> list[Lease]:
    return ledger.claim("stage", [(_key(number), f"item {number}") for number in numbers], origin, seconds)


def test_a_claimed_item_is_not_given_to_another(ledger: Ledger) -> None:
    assert [lease.key for lease in _claim(ledger, 2, 1)] == [_key(2), _key(1)]
    assert [lease.key for lease in _claim(ledger, 1, 2, 3, origin=OTHER)] == [_key(3)]


def test_a_limited_claim_takes_the_first_free_ones_in_order(ledger: Ledger) -> None:
    _claim(ledger, 5)
    items = [(_key(number), "") for number in (9, 5, 1, 4)]
    assert [lease.key for lease in ledger.claim("stage", items, OTHER, 60.0, limit=2)] == [_key(9), _key(1)]
    assert [lease.key for lease in ledger.claim("stage", items, OTHER, 60.0)] == [_key(4)]


def test_an_item_with_a_result_is_not_claimed(ledger: Ledger) -> None:
    ledger.commit(_claim(ledger, 1)[0], _result(_key(1)), ELSEWHERE)
    assert _claim(ledger, 1) == []


def test_threads_never_share_a_claim(ledger: Ledger) -> None:
    def work(seed: int) -> list[str]:
        numbers = list(range(40))
        random.Random(seed).shuffle(numbers)
        origin = Origin("run", f"elsewhere/boot/{seed}/1")
        return [lease.key for number in numbers for lease in _claim(ledger, number, origin=origin)]

    with ThreadPoolExecutor(6) as pool:
        taken = [key for keys in pool.map(work, range(6)) for key in keys]
    assert sorted(taken) == [_key(number) for number in range(40)]


@pytest.mark.parametrize("size", [1, 7])
def test_processes_never_share_a_claim(
    ledger_url: str, size: int, processes: ForkServerContext, tmp_path: Path
) -> None:
    start = processes.Barrier(4)
    workers = []
    for seed in range(4):
        keys = [_key(number) for number in range(60)]
        random.Random(seed).shuffle(keys)
        arguments = (ledger_url, keys, size, start, tmp_path / "taken")
        workers.append(processes.Process(target=claim_process, args=arguments))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert sorted(noted(tmp_path / "taken")) == list(range(60))


def test_a_lease_ends_by_the_databases_clock_whatever_ours_says(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    _claim(ledger, 1, seconds=0.15)
    with monkeypatch.context() as context:
        context.setattr(time, "time", lambda: 4e9)
        assert _claim(ledger, 1, origin=OTHER) == []
    time.sleep(0.2)
    assert len(_claim(ledger, 1, origin=OTHER)) == 1


def test_taking_over_an_expired_lease_is_written_down(ledger: Ledger) -> None:
    _claim(ledger, 1, seconds=-1.0)
    _claim(ledger, 1, origin=OTHER)
    (attempt,) = ledger.attempts("other run", "stage")
    assert (attempt.item_id, attempt.error_class) == ("item 1", "LeaseLost")
    assert ELSEWHERE.holder in attempt.message
    assert OTHER.holder in attempt.message


def test_a_killed_process_loses_its_lease_at_once(ledger: Ledger, ledger_url: str, processes: ForkServerContext) -> None:
    holds = processes.Event()
    child = processes.Process(target=holding_process, args=(ledger_url, _key(1), holds))
    child.start()
    assert holds.wait(60)
    origin = Origin("second run", holders.this_process())
    assert _claim(ledger, 1, origin=origin) == []
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join(60)
    assert len(_claim(ledger, 1, origin=origin)) == 1
    assert [attempt.error_class for attempt in ledger.attempts("second run", "stage")] == ["LeaseLost"]


def test_a_lease_that_was_lost_can_neither_be_renewed_nor_released(ledger: Ledger) -> None:
    (stale,) = _claim(ledger, 1, seconds=-1.0)
    _claim(ledger, 1, origin=OTHER, seconds=0.3)
    ledger.release([stale])
    assert _claim(ledger, 1) == []
    ledger.renew([stale], 3600.0)
    time.sleep(0.4)
    assert len(_claim(ledger, 1)) == 1


def test_a_holder_that_leases_an_item_again_gets_another_token(ledger: Ledger) -> None:
    (first,) = _claim(ledger, 1)
    ledger.release([first])
    (second,) = _claim(ledger, 1)
    assert second.token > first.token
    ledger.release([first])
    assert _claim(ledger, 1, origin=OTHER) == []


def test_a_renewed_lease_lasts(ledger: Ledger) -> None:
    leases = _claim(ledger, 1, 2, seconds=0.2)
    ledger.renew(leases, 60.0)
    time.sleep(0.3)
    assert _claim(ledger, 1, 2, origin=OTHER) == []


def test_a_released_item_is_free_and_no_attempt_is_counted(ledger: Ledger) -> None:
    ledger.release(_claim(ledger, 1, 2))
    assert len(_claim(ledger, 1, 2, origin=OTHER)) == 2
    assert ledger.attempts("other run", "stage") == []


def test_the_first_result_wins_and_a_different_one_is_a_conflict(ledger: Ledger) -> None:
    (first,) = _claim(ledger, 1, seconds=-1.0)
    (second,) = _claim(ledger, 1, origin=OTHER)
    assert ledger.commit(second, _result(_key(1), "b"), OTHER) == _result(_key(1), "b")
    assert ledger.commit(first, _result(_key(1), "a"), ELSEWHERE) == _result(_key(1), "b")
    assert ledger.results([_key(1)]) == {_key(1): _result(_key(1), "b")}
    (conflict,) = ledger.conflicts()
    assert (conflict["kept_sha256"], conflict["other_sha256"]) == (sha256(b"b"), sha256(b"a"))
    assert conflict["other_record"] == '{"x":"a"}'


def test_the_same_result_twice_is_no_conflict(ledger: Ledger) -> None:
    (lease,) = _claim(ledger, 1)
    for _ in range(2):
        ledger.commit(lease, _result(_key(1)), ELSEWHERE)
    assert ledger.conflicts() == []


def test_many_results_are_found_and_read_back_in_pages(ledger: Ledger) -> None:
    for lease in _claim(ledger, *range(1100)):
        ledger.commit(lease, _result(lease.key, str(int(lease.key))), ELSEWHERE)
    assert len(ledger.results([_key(number) for number in range(-5, 1200) if number >= 0])) == 1100
    assert sorted(ledger.records()) == sorted(f'{{"x":"{number}"}}' for number in range(1100))


def test_attempts_are_those_of_the_run_and_stage_oldest_first(ledger: Ledger) -> None:
    for number, origin in ((1, ELSEWHERE), (2, OTHER), (3, ELSEWHERE)):
        ledger.fail(_claim(ledger, number)[0], ("stage", f"item {number}"), origin, ValueError(f"no {number}"))
    found = ledger.attempts("run", "stage")
    assert [(entry.item_id, entry.error_class, entry.message) for entry in found] == [
        ("item 1", "ValueError", "no 1"),
        ("item 3", "ValueError", "no 3"),
    ]
    assert ledger.attempts("run", "another stage") == []
    assert len(_claim(ledger, 1, 2, 3)) == 3


def test_any_message_can_be_stored(ledger: Ledger) -> None:
    hostile = "NUL \0 and half a pair \ud800 " + "x" * 10_000
    ledger.fail(_claim(ledger, 1)[0], ("stage", "item"), ELSEWHERE, ValueError(hostile))
    (attempt,) = ledger.attempts("run", "stage")
    assert attempt.message.startswith(r"NUL \0 and half a pair \ud800 xxx")
    assert len(attempt.message) < 4100
    ledger.commit(_claim(ledger, 2)[0], _result(_key(2), detail=hostile), ELSEWHERE)
    assert ledger.results([_key(2)])[_key(2)].detail == attempt.message


def test_a_result_that_came_during_the_claim_ends_it(ledger: Ledger) -> None:
    """PostgreSQL reads each statement anew: a result may appear between looking and leasing."""
    look = ledger._free

    def look_then_settle(connection, keys, now):
        free = look(connection, keys, now)
        if not ledger._database.is_sqlite:
            settle = threading.Thread(
                target=lambda: ledger.commit(Lease(_key(1), 1, "x"), _result(_key(1)), OTHER)
            )
            settle.start()
            settle.join()
        return free

    ledger._free = look_then_settle  # type: ignore[method-assign]
    taken = _claim(ledger, 1, 2)
    assert [lease.key for lease in taken] == ([_key(1), _key(2)] if ledger._database.is_sqlite else [_key(2)])


def test_two_processes_share_a_sqlite_file_through_its_write_ahead_log(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    other = sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.execute("BEGIN IMMEDIATE")
    started = time.perf_counter()
    assert ledger.results([_key(1)]) == {}
    assert time.perf_counter() - started < 5.0, "reading must not wait for a writer"
    with ThreadPoolExecutor(1) as pool:
        claim = pool.submit(_claim, ledger, 1)
        time.sleep(0.2)
        assert not claim.done()
        other.execute("COMMIT")
        assert len(claim.result(30)) == 1
    other.close()
    ledger.close()


def test_a_full_disk_is_told_and_what_was_committed_stays(small_disk: Callable[[int], Path]) -> None:
    folder = small_disk(600_000)
    ledger = Ledger(f"sqlite:///{folder / 'ledger.sqlite'}")
    leases = _claim(ledger, *range(400))
    stored = 0
    with pytest.raises(StorageFullError, match="no room at sqlite"):
        for lease in leases:
            ledger.commit(lease, _result(lease.key, detail="x" * 4000), ELSEWHERE)
            stored += 1
    assert stored > 0
    assert len(ledger.results([lease.key for lease in leases])) == stored
    ledger.close()
