"""Stages and worker processes for the tests of ledger and stage; importable, so that a new process can run them."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

from data_registry.identity import Digest, sha256
from data_registry.ledger import Ledger, Origin
from data_registry.records import Human
from models.backend import Execution, IdentitySettings, LocalBackend
from tasks.stage import DrainOptions, Outcome, Stage, Strata, drain


class NoBackend(LocalBackend):
    """A back end that counts how often it was opened and closed."""

    def __init__(self, execution: Execution) -> None:
        self.identity_settings = IdentitySettings(backend="none", revision="1")
        self.execution = execution
        self.opened = self.closed = 0

    def __enter__(self) -> "NoBackend":
        self.opened += 1
        return self

    def __exit__(self, *_error: object) -> None:
        self.closed += 1


def verdict(number: int, kept: bool = True) -> Outcome[Human]:
    """What a working stage says about an item."""
    record = Human(pair_id=f"pair {number}", edit_digest="0" * 64, approve=kept, reason="test")
    return Outcome(record, kept, "suitable" if kept else "too_small")


class Numbers(Stage[int, Human]):
    """Takes numbers; `behave(number, earlier calls with it)` makes the outcome or raises."""

    name = "numbers"
    version = 1
    record = Human
    backend: NoBackend

    def __init__(
        self, behave: Callable[[int, int], Outcome[Human]] = lambda number, _: verdict(number), **execution: object
    ) -> None:
        self.backend = NoBackend(  # pyright: ignore[reportIncompatibleVariableOverride]
            Execution.model_validate(execution)
        )
        self.behave = behave
        self.calls: Counter[int] = Counter()
        self.units: list[list[int]] = []

    def identity(self, item: int) -> str:
        return f"item {item}"

    def inputs(self, item: int) -> tuple[Digest, ...]:
        return (sha256(str(item).encode()),)

    def strata(self, item: int) -> Strata:
        return Strata(f"scene {item // 4}", "family", "train")

    def process(self, items: Sequence[int]) -> Iterator[Outcome[Human]]:
        self.units.append(list(items))
        for item in items:
            self.calls[item] += 1
            yield self.behave(item, self.calls[item] - 1)


def note(path: Path, number: int) -> None:
    """Append a number to a file that several processes write to; one small write is atomic."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{number}\n".encode())
    os.close(descriptor)


def noted(path: Path) -> list[int]:
    """Return the numbers in the file."""
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def drain_process(url: str, calls: Path, count: int, pause_s: float, execution: dict[str, object]) -> None:
    """Drain `count` numbers in this process, noting each call in a file."""

    def behave(number: int, _calls: int) -> Outcome[Human]:
        note(calls, number)
        time.sleep(pause_s)
        return verdict(number)

    ledger = Ledger(url)
    drain(Numbers(behave, **execution), range(count), ledger, DrainOptions("run", poll_s=0.02))
    ledger.close()


def claim_process(url: str, keys: list[str], size: int, start: Barrier, taken: Path) -> None:
    """Claim keys `size` at a time, all workers from the same moment on, and note what was got."""
    start.wait(60)  # before the ledger is opened: the tables, too, are created by all at once
    ledger = Ledger(url)
    start.wait(60)
    for first in range(0, len(keys), size):
        part = [(key, key) for key in keys[first : first + size]]
        for lease in ledger.claim("stage", part, Origin("run", f"elsewhere/boot/{os.getpid()}/1"), 60.0):
            note(taken, int(lease.key))
    ledger.close()


def holding_process(url: str, key: str, holds: Event) -> None:
    """Lease one item for an hour and sleep on it."""
    from data_registry import holders

    Ledger(url).claim("stage", [(key, "item")], Origin("run", holders.this_process()), 3600.0)
    holds.set()
    time.sleep(60)
