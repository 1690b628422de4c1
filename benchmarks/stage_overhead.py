"""What running a stage costs beside its own work: CPU time an item of `drain`, cold and fully cached, on SQLite.

The alternative that it is held against keeps nothing but the row: a plain loop that writes each record to the same kind
of SQLite file in a transaction of its own, without leases, recovery or another worker.
"""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.performance import report
from data_registry import identity
from data_registry.ledger import Ledger
from data_registry.records import Human
from models.backend import IdentitySettings, Pure
from tasks.stage import DrainOptions, Outcome, Stage, Strata, drain

ITEMS = 5000
Digest = identity.Digest


class NoWork(Stage[int, Human]):
    """A stage that does nothing but give a small record."""

    name = "no_work"
    version = 1
    record = Human
    backend = Pure(IdentitySettings(backend="none", revision="1"))

    def identity(self, item: int) -> str:
        """Return an id as long as a real one."""
        return f"streetset/scene-0001/{item:032d}/occluded_pedestrian"

    def inputs(self, item: int) -> tuple[Digest, ...]:
        """Return two digests, as screening has."""
        return identity.sha256(b"%d" % item), "0" * 64

    def strata(self, item: int) -> Strata:
        """Return the same for all."""
        return Strata("scene-0001", "sudden_emergence", "val")

    def process(self, items: Sequence[int]) -> Iterator[Outcome[Human]]:
        """Yield a record for each item."""
        for item in items:
            record = Human(pair_id=self.identity(item), edit_digest="0" * 64, approve=True, reason="none")
            yield Outcome(record, True, "suitable")


def cpu_ms_per_item(work: Callable[[], None]) -> float:
    """Return the CPU milliseconds an item that `work` on all items takes, system time included."""
    start = time.process_time()
    work()
    return (time.process_time() - start) / ITEMS * 1e3


def plain_loop(path: Path) -> None:
    """Write the same rows, one transaction each, with the standard library alone."""
    stage = NoWork()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE results (key TEXT PRIMARY KEY, item_id TEXT, record TEXT, payload_sha256 TEXT)")
    for outcome, item in zip(stage.process(range(ITEMS)), range(ITEMS), strict=True):
        text = identity.canonical_json(outcome.record.model_dump(mode="json")).decode()
        row = (stage.key(item), stage.identity(item), text, outcome.record.payload_digest)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO results VALUES (?, ?, ?, ?)", row)
        connection.execute("COMMIT")
    connection.close()


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(f"sqlite:///{folder}/ledger.sqlite")

        def run() -> None:
            assert drain(NoWork(), range(ITEMS), ledger, DrainOptions("benchmark")).counts()["kept"] == ITEMS  # noqa: S101

        cold, cached = cpu_ms_per_item(run), cpu_ms_per_item(run)
        ledger.close()
        plain = cpu_ms_per_item(lambda: plain_loop(Path(folder) / "plain.sqlite"))
    lines = [
        f"drain of {ITEMS} items that cost nothing, CPU seconds an item",
        f"  cold    {cold / 1e3:.6f}  {cold / plain:5.2f} x a plain loop with one transaction an item",
        f"  cached  {cached / 1e3:.6f}  {cached / plain:5.2f} x",
        f"  plain   {plain / 1e3:.6f}",
    ]
    report("stage_overhead", lines)


if __name__ == "__main__":
    main()
