"""The ledger's database connection: SQLite or PostgreSQL, its clock, and how long it is waited for.

Contention (a locked file, a deadlock) passes by itself and is always waited out. A server that cannot be reached is
given two seconds when it is opened, since a wrong URL must be told at once, and two minutes later on, since a restart
passes.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.dialects import postgresql, sqlite

from data_registry.blobs import StorageFullError

T = TypeVar("T")
Trouble = Literal["full", "busy", "away", "wrong"]

_OPENING_PATIENCE_S: Final = 2.0
_RUNNING_PATIENCE_S: Final = 120.0
_CONNECT_TIMEOUT_S: Final = 10
_SIDE_FILES_BYTES: Final = 65_536
"""What SQLite's write-ahead log and its index need at least."""
_CREATION_LOCK: Final = 7_305_853
"""Any number that nobody else uses for an advisory lock in this database."""

# PostgreSQL manual, appendix A: error codes.
_BUSY_STATES: Final = frozenset({"40001", "40P01", "55P03"})
"""Serialisation failure, deadlock, no lock."""
_AWAY_STATES: Final = frozenset({"57P01", "57P02", "57P03", "53300"})
"""Shutting down, crashed, starting up, too many connections; besides class 08, connection exceptions."""


class LedgerUnavailableError(ConnectionError):
    """The ledger's database cannot be reached or opened."""


_DAMAGED: Final = ("file is not a database", "malformed", "no such column", "has no column", "does not exist")
"""What SQLite and PostgreSQL say of a file or schema that no waiting will mend."""


class Database:
    """One database: connections, transactions that wait for what passes, upserts, a clock."""

    def __init__(self, url: str | sa.URL) -> None:
        """Make the engine; nothing is connected yet.

        Raises:
            LedgerUnavailableError: no URL of SQLite or PostgreSQL, or PostgreSQL's driver is not installed.
        """
        self._engine = _engine(url)
        self._reader = self._engine.execution_options(read_only=True)
        self.is_sqlite = self._engine.dialect.name == "sqlite"
        self.url = self._engine.url.render_as_string(hide_password=True)
        self._patience_s = _OPENING_PATIENCE_S

    def create(self, tables: sa.MetaData) -> None:
        """Create missing tables; from then on a database that goes away is waited for longer."""

        def make(connection: sa.Connection) -> None:
            if not self.is_sqlite:  # there, two that create the same table at once get in each other's way
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})")
            tables.create_all(connection, checkfirst=True)

        self.write(make)
        self._patience_s = _RUNNING_PATIENCE_S

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def insert(self, table: sa.Table) -> Any:
        """Return the dialect's INSERT, which knows `on_conflict_do_nothing`."""
        return (sqlite if self.is_sqlite else postgresql).insert(table)

    def now(self, connection: sa.Connection) -> float:
        """Return the database's clock, seconds since the epoch."""
        clock = (
            "(julianday('now') - 2440587.5) * 86400.0" if self.is_sqlite else "EXTRACT(EPOCH FROM clock_timestamp())"
        )
        return float(connection.exec_driver_sql(f"SELECT {clock}").scalar_one())

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in a transaction that takes no write lock."""
        return self._run(self._reader, work)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in one transaction, all of it or nothing; it may be run again when the database was busy.

        Raises:
            StorageFullError: the database's disk is full.
            LedgerUnavailableError: the database does not answer, or refuses.
        """
        return self._run(self._engine, work)

    def _run(self, engine: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
        start = time.monotonic()
        pause = 0.05
        while True:
            try:
                with engine.begin() as connection:
                    return work(connection)
            except exc.DBAPIError as error:
                trouble = self._trouble(error)
                if trouble == "full":
                    raise StorageFullError(self.url) from error
                patience = {"busy": _RUNNING_PATIENCE_S, "away": self._patience_s, "wrong": 0.0}[trouble]
                if time.monotonic() - start + pause > patience:
                    raise LedgerUnavailableError(self._complaint(error)) from error
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2.0, pause * 2)

    def _trouble(self, error: exc.DBAPIError) -> Trouble:
        """Sort an error; SQLite that cannot make its side files calls a full disk an I/O error."""
        trouble = _trouble(error)
        if trouble != "wrong" or not self._on_full_disk():
            return trouble
        return "full"

    def _on_full_disk(self) -> bool:
        folder = Path(self._engine.url.database or "").parent
        return self.is_sqlite and folder.is_dir() and shutil.disk_usage(folder).free < _SIDE_FILES_BYTES

    def _complaint(self, error: exc.DBAPIError) -> str:
        reason = " ".join(str(error.orig).split())[:500]
        if any(sign in reason for sign in _DAMAGED):
            return (
                f"the ledger {self.url} is damaged or not ours: {reason}; restore it from a copy, or move the file"
                " away: the next build starts a new one and does its work again"
            )
        return (
            f"the ledger {self.url} does not answer: {reason}; see that it exists, is writable and that its server"
            " runs, then run the same command again"
        )


def _engine(url: str | sa.URL) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
    except exc.ArgumentError as error:
        raise LedgerUnavailableError(
            f"not a database URL: {url!r}; expected sqlite:///PATH or postgresql://..."
        ) from error
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        return _sqlite(parsed)
    if kind != "postgresql":
        raise LedgerUnavailableError(f"the ledger runs on SQLite and PostgreSQL, not on {kind}: {parsed!r}")
    patient = {} if "connect_timeout" in parsed.query else {"connect_timeout": _CONNECT_TIMEOUT_S}
    try:
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            connect_args=patient,
            pool_pre_ping=True,
            pool_timeout=_RUNNING_PATIENCE_S,
        )
    except ModuleNotFoundError as error:
        raise LedgerUnavailableError(
            f"no driver for the ledger {parsed!r}: install it with `pip install 'exceptiondrive[postgres]'`"
        ) from error


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, pool_timeout=_RUNNING_PATIENCE_S)

    # pysqlite opens transactions late and shared; we begin them ourselves, writers as writers: a claim is atomic
    def set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA busy_timeout = 60000")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")

    def begin(connection: sa.Connection) -> None:
        reads = connection.get_execution_options().get("read_only", False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", begin)
    return engine


def _trouble(error: exc.DBAPIError) -> Trouble:
    """Sort an error: the disk is full, it passes soon, the server is away, or something is wrong and stays so."""
    name = str(getattr(error.orig, "sqlite_errorname", ""))
    if name:
        full, busy = name == "SQLITE_FULL", name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
        return "full" if full else "busy" if busy else "wrong"
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        # libpq has no code for a connection that failed or broke
        return "away" if error.connection_invalidated or isinstance(error, exc.OperationalError) else "wrong"
    if state == "53100":
        return "full"
    if state in _BUSY_STATES:
        return "busy"
    return "away" if state in _AWAY_STATES or state.startswith("08") else "wrong"
