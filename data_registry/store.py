"""The store: a ledger and its blobs, opened together and tidied together."""

from __future__ import annotations

import contextlib
import re
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import sqlalchemy as sa

from data_registry.blobs import Blobs
from data_registry.ledger import Ledger, LedgerUnavailableError

_LEDGER: Final = "ledger.sqlite"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class GarbageReport:
    """What a clean-up removed, or would remove."""

    blobs_kept: int
    blobs_removed: int
    leftovers_removed: int


class Store:
    """Results and blobs of all builds that share them.

    `Store.at(path)` is PATH/ledger.sqlite + PATH/blobs; a cluster names a PostgreSQL ledger and an object store.
    """

    def __init__(self, ledger_url: str | sa.URL, blobs_url: str) -> None:
        """Open both halves.

        Raises:
            LedgerUnavailableError: the ledger's database cannot be reached or opened.
        """
        self.ledger = Ledger(ledger_url)
        self.blobs = Blobs(blobs_url)

    @classmethod
    def at(cls, folder: Path) -> Store:
        """Open, or start, the store in a local folder."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerUnavailableError(f"cannot make the store's folder {folder}: {error.strerror}") from error
        ledger = sa.URL.create("sqlite", database=str(folder / _LEDGER))  # a folder's name may hold ? or %
        return cls(ledger, str(folder / "blobs"))

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Tell whether a local folder holds a store, without starting one."""
        return (folder / _LEDGER).is_file()

    def __enter__(self) -> Self:
        """Use the store in a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the ledger's connections back."""
        self.ledger.close()

    def collect_garbage(self, older_than_s: float = 3600.0, dry_run: bool = False) -> GarbageReport:
        """Remove blobs that no result refers to and that are older than an hour, so that running builds keep theirs.

        Blobs come before the rows that name them, hence the age: a young blob may be waiting for its row, and one whose
        age is unknown is kept.
        """
        wanted = {name for record in self.ledger.records() for name in _DIGEST.findall(record)}
        kept = removed = 0
        limit = time.time() - older_than_s
        for name, modified in list(self.blobs.names()):
            if name in wanted or modified > limit:
                kept += 1
            elif dry_run or self.blobs.delete(name, not_after=limit):
                removed += 1
            else:
                kept += 1  # put again since it was listed
        return GarbageReport(kept, removed, self._remove_leftovers(limit, dry_run))

    def _remove_leftovers(self, limit: float, dry_run: bool) -> int:
        """Remove old half-written files of killed writers; a living writer may rename one at any moment."""
        removed = 0
        for path in self.blobs.leftovers():
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime <= limit:
                    removed += 1
                    if not dry_run:
                        path.unlink()
        return removed
