"""The store: a ledger and its blobs, opened together and tidied together."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import sqlalchemy as sa

from data_registry.blobs import BlobCorruptError, BlobMissingError, Blobs
from data_registry.ledger import Ledger, LedgerUnavailableError
from data_registry.records import BLOB_FIELDS

_LEDGER: Final = "ledger.sqlite"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


SAFE_AGE_S: Final = 3600.0
"""Blobs older than this and named by no result belong to nobody's unfinished work."""


class StoreInUseError(RuntimeError):
    """A clean-up could take away what a running build needs."""


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair found."""

    blobs_checked: int
    blobs_bad: int
    """Missing or corrupt."""
    results_forgotten: int


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

    def collect_garbage(self, older_than_s: float = SAFE_AGE_S, dry_run: bool = False) -> GarbageReport:
        """Remove blobs that no result refers to and that are older than an hour, so that running builds keep theirs.

        Blobs come before the rows that name them, hence the age: a young blob may be waiting for its row, and one whose
        age is unknown is kept.

        Raises:
            StoreInUseError: younger ones were to go too, while somebody works with this store.
        """
        busy = self.ledger.in_work() if older_than_s < SAFE_AGE_S else 0
        if busy:
            raise StoreInUseError(
                f"{busy} items of this store are being worked on, and blobs younger than {SAFE_AGE_S:.0f} s may be"
                " theirs: wait for the build to end, or leave --older-than-s at its default"
            )
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

    def repair(self, dry_run: bool = False) -> RepairReport:
        """Forget results that name blobs which are missing or corrupt, and delete the corrupt ones.

        The next build makes those results again; the same inputs give the same blobs, so nothing behind them is redone.
        """
        sound: dict[str, bool] = {}
        broken: list[str] = []
        for key, record in self.ledger.entries():
            names = list(_blobs_of(json.loads(record)))
            for name in names:
                if name not in sound:
                    sound[name] = self._is_sound(name, dry_run)
            if not all(sound[name] for name in names):
                broken.append(key)
        if not dry_run:
            self.ledger.forget(broken)
        return RepairReport(len(sound), sum(not is_sound for is_sound in sound.values()), len(broken))

    def _is_sound(self, name: str, dry_run: bool) -> bool:
        try:
            self.blobs.get(name)
        except BlobMissingError:
            return False
        except BlobCorruptError:
            if not dry_run:
                self.blobs.delete(name)
            return False
        return True

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


def _blobs_of(content: Any) -> Iterator[str]:
    """Yield the blobs that a record's JSON names, at any depth."""
    if isinstance(content, dict):
        for name, value in content.items():
            if name in BLOB_FIELDS and isinstance(value, str):
                yield value
            else:
                yield from _blobs_of(value)
    elif isinstance(content, list):
        for value in content:
            yield from _blobs_of(value)
