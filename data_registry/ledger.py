"""The ledger: what each item of each stage came to, who works on what, and every try that failed.

Four tables on SQLAlchemy, SQLite for one machine and PostgreSQL for a cluster. `results` is memoised by key and never
overwritten: the first committed row wins, and a later different one goes to `conflicts`. Retryable failures live only in
`attempts`. Leases carry an expiry by the database's own clock and a fencing token, so that a worker's clock never matters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.dialects import postgresql, sqlite

from data_registry import holders
from data_registry.blobs import StorageFullError
from data_registry.identity import Digest

Status = Literal["kept", "rejected", "failed_permanent"]

_METADATA: Final = sa.MetaData()
RESULTS: Final = sa.Table(
    "results",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("stage", sa.String(40), nullable=False, index=True),
    sa.Column("item_id", sa.Text, nullable=False),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("reason_code", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("record", sa.Text),
    sa.Column("payload_sha256", sa.String(64), nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("committed_at", sa.Float, nullable=False),
)
ATTEMPTS: Final = sa.Table(
    "attempts",
    _METADATA,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("key", sa.String(64), nullable=False, index=True),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("item_id", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False, index=True),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("error_class", sa.Text, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)
LEASES: Final = sa.Table(
    "leases",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)
CONFLICTS: Final = sa.Table(
    "conflicts",
    _METADATA,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("key", sa.String(64), nullable=False, index=True),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("item_id", sa.Text, nullable=False),
    sa.Column("kept_sha256", sa.String(64), nullable=False),
    sa.Column("other_sha256", sa.String(64), nullable=False),
    sa.Column("other_record", sa.Text),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)

_CHUNK: Final = 500
"""Keys in one IN list: below SQLite's limit on variables."""
_PATIENCE_S: Final = 120.0
"""How long a database that is locked or away is waited for."""

T = TypeVar("T")


class LedgerUnavailableError(ConnectionError):
    """The ledger's database cannot be reached or opened."""


@dataclass(frozen=True, slots=True)
class Result:
    """One memoised outcome."""

    key: Digest
    stage: str
    item_id: str
    status: Status
    reason_code: str
    detail: str
    record: str | None
    """JSON of the stage's record; None when it failed."""
    payload_sha256: Digest


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one item until it expires."""

    key: Digest
    token: int
    holder: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try that did not end in a result."""

    key: Digest
    item_id: str
    run_id: str
    error_class: str
    message: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made a result, for lineage; never part of any identity."""

    run_id: str
    holder: str
    seconds: float = 0.0


class Ledger:
    """Results, attempts, leases and conflicts of all stages in one database."""

    def __init__(self, url: str) -> None:
        """Open the database and create missing tables; `url` is a SQLAlchemy URL.

        Raises:
            LedgerUnavailableError: the database cannot be reached or opened.
        """
        self._engine = _engine(url)
        self._dialect = self._engine.dialect.name
        self.url = self._engine.url.render_as_string(hide_password=True)
        self._transact(lambda connection: _METADATA.create_all(connection, checkfirst=True))

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def results(self, keys: Sequence[Digest]) -> dict[Digest, Result]:
        """Return the results that exist among `keys`."""

        def read(connection: sa.Connection) -> dict[Digest, Result]:
            columns = [RESULTS.c[name] for name in Result.__dataclass_fields__]
            found: dict[Digest, Result] = {}
            for chunk in _chunks(keys):
                for row in connection.execute(sa.select(*columns).where(RESULTS.c.key.in_(chunk))):
                    found[row[0]] = Result(*row)
            return found

        return self._transact(read)

    def claim(self, stage: str, items: Sequence[tuple[Digest, str]], origin: Origin, seconds: float) -> list[Lease]:
        """Lease those of `items` (key, item id) that have no result and are not leased; keep the order of `items`.

        A lease is free when it has expired or when its holder is a process of this machine that is gone; taking one over
        is written to `attempts`, so that an item that kills its workers does not go round for ever.
        """
        return self._transact(lambda connection: self._claim(connection, stage, items, origin, seconds))

    def _claim(
        self,
        connection: sa.Connection,
        stage: str,
        items: Sequence[tuple[Digest, str]],
        origin: Origin,
        seconds: float,
    ) -> list[Lease]:
        now = self._now(connection)
        keys = [key for key, _ in items]
        held = {row.key: row for row in connection.execute(sa.select(LEASES).where(LEASES.c.key.in_(keys)))}
        lost = {key: row for key, row in held.items() if row.expires_at < now or holders.is_gone(row.holder)}
        leases: list[Lease] = []
        for key in keys:
            if key in held and key not in lost:
                continue
            token = self._take(connection, stage, key, lost.get(key), origin.holder, now + seconds)
            if token is not None:
                leases.append(Lease(key, token, origin.holder))
        leases = self._without_results(connection, leases)
        names = dict(items)
        for lease in leases:
            if lease.key in lost:
                row = lost[lease.key]
                message = f"{row.holder} lost its lease; {origin.holder} took over"
                connection.execute(_attempt(stage, lease.key, names[lease.key], origin, now, "LeaseLost", message))
        return leases

    def _take(
        self, connection: sa.Connection, stage: str, key: Digest, lost: Any, holder: str, expires_at: float
    ) -> int | None:
        """Take one lease, new or lost; None when another worker was faster."""
        if lost is None:
            insert = self._insert(LEASES).values(key=key, stage=stage, holder=holder, token=1, expires_at=expires_at)
            done = connection.execute(insert.on_conflict_do_nothing())
            return 1 if done.rowcount == 1 else None
        done = connection.execute(
            sa.update(LEASES)
            .where(LEASES.c.key == key, LEASES.c.token == lost.token, LEASES.c.holder == lost.holder)
            .values(holder=holder, token=lost.token + 1, expires_at=expires_at)
        )
        return lost.token + 1 if done.rowcount == 1 else None

    def _without_results(self, connection: sa.Connection, leases: list[Lease]) -> list[Lease]:
        """Drop leases of items that got their result between the caller's look and ours: commit removes the lease."""
        keys = [lease.key for lease in leases]
        done = set(connection.scalars(sa.select(RESULTS.c.key).where(RESULTS.c.key.in_(keys))))
        if done:
            connection.execute(sa.delete(LEASES).where(LEASES.c.key.in_(sorted(done))))
        return [lease for lease in leases if lease.key not in done]

    def renew(self, leases: Sequence[Lease], seconds: float) -> None:
        """Push the expiry of leases that are still ours."""

        def push(connection: sa.Connection) -> None:
            now = self._now(connection)
            for lease in leases:
                connection.execute(sa.update(LEASES).where(_is(lease)).values(expires_at=now + seconds))

        self._transact(push)

    def release(self, leases: Sequence[Lease]) -> None:
        """Give leases back without a result, e.g. when a run is cancelled."""

        def drop(connection: sa.Connection) -> None:
            for lease in leases:
                connection.execute(sa.delete(LEASES).where(_is(lease)))

        self._transact(drop)

    def commit(self, lease: Lease, result: Result, origin: Origin) -> Result:
        """Write a result and end its lease in one transaction; return the row that counts.

        When a row exists it counts, and a differing payload is written to `conflicts`.
        """

        def write(connection: sa.Connection) -> Result:
            now = self._now(connection)
            row = {name: getattr(result, name) for name in Result.__dataclass_fields__}
            row |= {"run_id": origin.run_id, "holder": origin.holder, "seconds": origin.seconds, "committed_at": now}
            done = connection.execute(self._insert(RESULTS).values(**row).on_conflict_do_nothing())
            connection.execute(sa.delete(LEASES).where(_is(lease)))
            if done.rowcount == 1:
                return result
            columns = [RESULTS.c[name] for name in Result.__dataclass_fields__]
            first = Result(*connection.execute(sa.select(*columns).where(RESULTS.c.key == result.key)).one())
            if first.payload_sha256 != result.payload_sha256:
                connection.execute(_conflict(first, result, origin, now))
            return first

        return self._transact(write)

    def fail(self, lease: Lease, result_id: tuple[str, str], origin: Origin, error: BaseException) -> None:
        """Write a retryable failure of (stage, item id) and end the lease."""

        def write(connection: sa.Connection) -> None:
            stage, item_id = result_id
            now = self._now(connection)
            message = str(error)[:2000]
            connection.execute(_attempt(stage, lease.key, item_id, origin, now, type(error).__name__, message))
            connection.execute(sa.delete(LEASES).where(_is(lease)))

        self._transact(write)

    def attempts(self, run_id: str, stage: str) -> list[Attempt]:
        """Return a run's failed tries in one stage, oldest first."""

        def read(connection: sa.Connection) -> list[Attempt]:
            columns = [ATTEMPTS.c[name] for name in Attempt.__dataclass_fields__]
            chosen = sa.select(*columns).where(ATTEMPTS.c.run_id == run_id, ATTEMPTS.c.stage == stage)
            return [Attempt(*row) for row in connection.execute(chosen.order_by(ATTEMPTS.c.id))]

        return self._transact(read)

    def conflicts(self) -> list[dict[str, Any]]:
        """Return all conflicts, oldest first: outcomes that should have been equal and were not."""

        def read(connection: sa.Connection) -> list[dict[str, Any]]:
            rows = connection.execute(sa.select(CONFLICTS).order_by(CONFLICTS.c.id))
            return [dict(row) for row in rows.mappings()]

        return self._transact(read)

    def records(self) -> Iterable[str]:
        """Yield every stored record's JSON, for the search of references to blobs."""
        with self._engine.connect() as connection:
            chosen = sa.select(RESULTS.c.record).where(RESULTS.c.record.is_not(None))
            yield from connection.execution_options(yield_per=1000).scalars(chosen)

    def _now(self, connection: sa.Connection) -> float:
        """Return the database's clock, seconds since the epoch."""
        if self._dialect == "sqlite":
            clock = sa.text("SELECT (julianday('now') - 2440587.5) * 86400.0")
        else:
            clock = sa.text("SELECT EXTRACT(EPOCH FROM clock_timestamp())")
        return float(connection.execute(clock).scalar_one())

    def _insert(self, table: sa.Table) -> Any:
        return (sqlite if self._dialect == "sqlite" else postgresql).insert(table)

    def _transact(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in one transaction; wait for a database that is locked or restarting."""
        deadline = time.monotonic() + _PATIENCE_S
        pause = 0.05
        while True:
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            except exc.DBAPIError as error:
                if "disk is full" in str(error) or "No space left" in str(error):
                    raise StorageFullError(self.url) from error
                if not _is_passing(error) or time.monotonic() > deadline:
                    raise LedgerUnavailableError(
                        f"the ledger {self.url} does not answer: {error.orig}; see that it exists, is writable and that"
                        " its server runs, then run the same command again"
                    ) from error
            time.sleep(pause)
            pause = min(2.0, pause * 2)


def _engine(url: str) -> sa.Engine:
    engine = sa.create_engine(url, pool_pre_ping=True)
    if engine.dialect.name == "sqlite":
        # pysqlite opens transactions late and shared; we begin them ourselves, as writers, so that a claim is atomic.
        def set_up(connection: Any, _record: Any) -> None:
            connection.isolation_level = None
            connection.execute("PRAGMA busy_timeout = 60000")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")

        event.listen(engine, "connect", set_up)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _is_passing(error: exc.DBAPIError) -> bool:
    text = str(error.orig)
    return (
        error.connection_invalidated
        or any(
            sign in text
            for sign in (
                "database is locked",
                "server closed the connection",
                "starting up",
                "shutting down",
                "refused",
            )
        )
        or "terminating connection" in text
        or "deadlock detected" in text
        or "already exists" in text
    )


def _is(lease: Lease) -> sa.ColumnElement[bool]:
    return sa.and_(LEASES.c.key == lease.key, LEASES.c.token == lease.token, LEASES.c.holder == lease.holder)


def _attempt(
    stage: str, key: Digest, item_id: str, origin: Origin, at: float, error_class: str, message: str
) -> sa.Insert:
    return sa.insert(ATTEMPTS).values(
        key=key,
        stage=stage,
        item_id=item_id,
        run_id=origin.run_id,
        holder=origin.holder,
        error_class=error_class,
        message=message,
        at=at,
    )


def _conflict(first: Result, other: Result, origin: Origin, at: float) -> sa.Insert:
    return sa.insert(CONFLICTS).values(
        key=first.key,
        stage=first.stage,
        item_id=first.item_id,
        kept_sha256=first.payload_sha256,
        other_sha256=other.payload_sha256,
        other_record=other.record,
        holder=origin.holder,
        at=at,
    )


def _chunks(keys: Sequence[Digest]) -> Iterable[list[Digest]]:
    rest = iter(keys)
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk
