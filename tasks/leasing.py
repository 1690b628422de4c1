"""The leases that one drain holds: claimed, renewed in the background, and never kept beyond its end."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

from data_registry import holders
from data_registry.blobs import StorageFullError
from data_registry.identity import Digest
from data_registry.ledger import Lease, Ledger, LedgerUnavailableError, Origin


class Holding:
    """What one drain holds in one stage; safe to use from several threads."""

    def __init__(self, ledger: Ledger, stage: str, run_id: str, seconds: float) -> None:
        """Hold nothing yet; leases will last `seconds` from their last renewal."""
        self._ledger = ledger
        self._stage = stage
        self._seconds = seconds
        self._held: dict[Digest, Lease] = {}
        self._lock = threading.Lock()
        self.origin = Origin(run_id, holders.this_process())

    def claim(self, items: Sequence[tuple[Digest, str]], limit: int) -> list[Digest]:
        """Lease up to `limit` free items of (key, item id); return their keys in order."""
        leases = self._ledger.claim(self._stage, items, self.origin, self._seconds, limit)
        with self._lock:
            self._held.update({lease.key: lease for lease in leases})
        return [lease.key for lease in leases]

    def lease(self, key: Digest) -> Lease:
        """Return the lease of an item in work."""
        with self._lock:
            return self._held[key]

    def forget(self, key: Digest) -> None:
        """Stop renewing: the lease ended in the ledger together with its outcome."""
        with self._lock:
            self._held.pop(key, None)

    def give_back(self, keys: Sequence[Digest]) -> None:
        """Release leases without an outcome."""
        with self._lock:
            leases = [lease for key in keys if (lease := self._held.pop(key, None)) is not None]
        if leases:
            self._ledger.release(leases)

    @contextmanager
    def renewed(self) -> Generator[None]:
        """Renew what is held at a third of its life, and give back whatever is still held at the end."""
        stop = threading.Event()

        def renew() -> None:
            while not stop.wait(self._seconds / 3):
                with self._lock:
                    held = list(self._held.values())
                if held:
                    with suppress(LedgerUnavailableError, StorageFullError):  # those who commit report it; we try again
                        self._ledger.renew(held, self._seconds)

        thread = threading.Thread(target=renew, name=f"renew-{self._stage}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            with suppress(LedgerUnavailableError, StorageFullError):  # they expire by themselves
                self.give_back(list(self._held))
