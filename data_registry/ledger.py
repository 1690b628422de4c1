"""The ledger: what each item of each stage came to, who works on what, and every try that failed.

Four tables on SQLAlchemy, SQLite for one machine and PostgreSQL for a cluster. `results` is memoised by key and never
overwritten: the first committed row wins, and a later different one goes to `conflicts`. Retryable failures live only
in `attempts`. Leases carry an expiry by the database's own clock and a fencing token, so that a worker's clock never
matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

import sqlalchemy as sa

from data_registry import holders
from data_registry.database import Database, LedgerUnavailableError
from data_registry.identity import Digest

__all__ = ["Attempt", "Lease", "Ledger", "LedgerUnavailableError", "Origin", "Result", "Status"]

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

# Built once: putting a statement together costs more than running it.
_KEYS: Final = sa.bindparam("keys", expanding=True)
_SETTLED_KEYS: Final = sa.select(RESULTS.c.key).where(RESULTS.c.key.in_(_KEYS))
_LEASES_OF: Final = sa.select(LEASES).where(LEASES.c.key.in_(_KEYS))
_IS_OURS: Final = sa.and_(
    LEASES.c.key == sa.bindparam("lease_key"),
    LEASES.c.token == sa.bindparam("lease_token"),
    LEASES.c.holder == sa.bindparam("lease_holder"),
)
_END_LEASE: Final = sa.delete(LEASES).where(_IS_OURS)
_RENEW_LEASE: Final = sa.update(LEASES).where(_IS_OURS).values(expires_at=sa.bindparam("until"))

_CHUNK: Final = 500
"""Keys in one IN list: below SQLite's limit on variables."""
_LONGEST_TEXT: Final = 4000
"""Characters kept of an error's message."""


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

    def __init__(self, url: str | sa.URL) -> None:
        """Open the database and create missing tables; `url` is a SQLAlchemy URL.

        Raises:
            LedgerUnavailableError: the database cannot be reached or opened.
        """
        self._database = Database(url)
        self.url = self._database.url
        counted = {"preserve_rowcount": True}  # psycopg forgets the number when the cursor is closed
        self._new_result = self._database.insert(RESULTS).on_conflict_do_nothing().execution_options(**counted)
        self._new_lease = self._database.insert(LEASES).on_conflict_do_nothing().execution_options(**counted)
        self._database.create(_METADATA)

    def close(self) -> None:
        """Give the connections back."""
        self._database.close()

    def results(self, keys: Sequence[Digest]) -> dict[Digest, Result]:
        """Return the results that exist among `keys`."""

        def read(connection: sa.Connection) -> dict[Digest, Result]:
            columns = [RESULTS.c[name] for name in Result.__dataclass_fields__]
            found: dict[Digest, Result] = {}
            for chunk in _chunks(keys):
                for row in connection.execute(sa.select(*columns).where(RESULTS.c.key.in_(chunk))):
                    found[row[0]] = Result(*row)
            return found

        return self._database.read(read)

    def claim(
        self,
        stage: str,
        items: Sequence[tuple[Digest, str]],
        origin: Origin,
        seconds: float,
        limit: int | None = None,
    ) -> list[Lease]:
        """Lease those of `items` (key, item id) that have no result and are not leased; keep the order of `items`.

        With `limit` the first so many that are free are leased. A lease is free when it has expired or when its holder
        is a process of this machine that is gone; taking one over is written to `attempts`, so that an item that kills
        its workers does not go round for ever.
        """

        def take(connection: sa.Connection) -> list[Lease]:
            now = self._database.now(connection)
            free = self._free(connection, [key for key, _ in items], now)
            chosen = {key: item_id for key, item_id in items if key in free}
            chosen = dict(islice(chosen.items(), limit))
            # sorted: workers that claim overlapping items meet at the first and do not deadlock
            taken = [
                self._take(connection, stage, key, free[key], origin.holder, (now, seconds)) for key in sorted(chosen)
            ]
            leases = self._without_results(connection, {lease.key: lease for lease in taken if lease is not None})
            for key, lease in leases.items():
                if (lost := free[key]) is not None:
                    message = f"{lost.holder} lost its lease; {lease.holder} took over"
                    connection.execute(_attempt(stage, key, chosen[key], origin, now, ("LeaseLost", message)))
            return [leases[key] for key in chosen if key in leases]

        return self._database.write(take)

    def _free(self, connection: sa.Connection, keys: Sequence[Digest], now: float) -> dict[Digest, Any]:
        """Return the keys without result that may be leased, each with the lost lease that it replaces, or None."""
        free: dict[Digest, Any] = {}
        for chunk in _chunks(keys):
            free |= dict.fromkeys(chunk)
            for key in connection.scalars(_SETTLED_KEYS, {"keys": chunk}):
                del free[key]
            for row in connection.execute(_LEASES_OF, {"keys": chunk}):
                if row.key not in free:
                    continue
                if row.expires_at < now or holders.is_gone(row.holder):
                    free[row.key] = row
                else:
                    del free[row.key]
        return free

    def _take(
        self, connection: sa.Connection, stage: str, key: Digest, lost: Any, holder: str, span: tuple[float, float]
    ) -> Lease | None:
        """Take one lease, new or lost, from `span[0]` for `span[1]` seconds; None when another worker was faster."""
        now, seconds = span
        token = int(now * 1e6)  # by the database's clock, so that no holder ever has the same token twice
        if lost is None:
            values = {"key": key, "stage": stage, "holder": holder, "token": token, "expires_at": now + seconds}
            done = connection.execute(self._new_lease, values)
        else:
            token = max(token, lost.token + 1)
            done = connection.execute(
                sa.update(LEASES)
                .where(LEASES.c.key == key, LEASES.c.token == lost.token, LEASES.c.holder == lost.holder)
                .values(holder=holder, token=token, expires_at=now + seconds)
            )
        return Lease(key, token, holder) if done.rowcount == 1 else None

    def _without_results(self, connection: sa.Connection, leases: dict[Digest, Lease]) -> dict[Digest, Lease]:
        """Drop leases of items that got their result since they were looked at: commit removes the lease."""
        if self._database.is_sqlite:
            return leases  # one writer at a time: nothing can have changed within this transaction
        done: set[Digest] = set()
        for chunk in _chunks(list(leases)):
            done.update(connection.scalars(_SETTLED_KEYS, {"keys": chunk}))
        for key in sorted(done):
            connection.execute(_END_LEASE, _our(leases[key]))
        return {key: lease for key, lease in leases.items() if key not in done}

    def renew(self, leases: Sequence[Lease], seconds: float) -> None:
        """Push the expiry of leases that are still ours."""

        def push(connection: sa.Connection) -> None:
            until = self._database.now(connection) + seconds
            for lease in leases:
                connection.execute(_RENEW_LEASE, _our(lease) | {"until": until})

        self._database.write(push)

    def release(self, leases: Sequence[Lease]) -> None:
        """Give leases back without a result, e.g. when a run is cancelled."""

        def drop(connection: sa.Connection) -> None:
            for lease in leases:
                connection.execute(_END_LEASE, _our(lease))

        self._database.write(drop)

    def commit(self, lease: Lease, result: Result, origin: Origin) -> Result:
        """Write a result and end its lease in one transaction; return the row that counts.

        When a row exists it counts, and a differing payload is written to `conflicts`.
        """

        def write(connection: sa.Connection) -> Result:
            now = self._database.now(connection)
            row = {name: getattr(result, name) for name in Result.__dataclass_fields__}
            row["detail"] = _storable(result.detail)
            row |= {"run_id": origin.run_id, "holder": origin.holder, "seconds": origin.seconds, "committed_at": now}
            done = connection.execute(self._new_result, row)
            connection.execute(_END_LEASE, _our(lease))
            if done.rowcount == 1:
                return result
            columns = [RESULTS.c[name] for name in Result.__dataclass_fields__]
            first = Result(*connection.execute(sa.select(*columns).where(RESULTS.c.key == result.key)).one())
            if first.payload_sha256 != result.payload_sha256:
                connection.execute(_conflict(first, result, origin, now))
            return first

        return self._database.write(write)

    def fail(self, lease: Lease, result_id: tuple[str, str], origin: Origin, error: BaseException) -> None:
        """Write a retryable failure of (stage, item id) and end the lease."""

        def write(connection: sa.Connection) -> None:
            stage, item_id = result_id
            now = self._database.now(connection)
            what = (type(error).__name__, str(error))
            connection.execute(_attempt(stage, lease.key, item_id, origin, now, what))
            connection.execute(_END_LEASE, _our(lease))

        self._database.write(write)

    def attempts(self, run_id: str, stage: str) -> list[Attempt]:
        """Return a run's failed tries in one stage, oldest first."""

        def read(connection: sa.Connection) -> list[Attempt]:
            columns = [ATTEMPTS.c[name] for name in Attempt.__dataclass_fields__]
            chosen = sa.select(*columns).where(ATTEMPTS.c.run_id == run_id, ATTEMPTS.c.stage == stage)
            return [Attempt(*row) for row in connection.execute(chosen.order_by(ATTEMPTS.c.id))]

        return self._database.read(read)

    def conflicts(self) -> list[dict[str, Any]]:
        """Return all conflicts, oldest first: outcomes that should have been equal and were not."""

        def read(connection: sa.Connection) -> list[dict[str, Any]]:
            rows = connection.execute(sa.select(CONFLICTS).order_by(CONFLICTS.c.id))
            return [dict(row) for row in rows.mappings()]

        return self._database.read(read)

    def records(self) -> Iterator[str]:
        """Yield every stored record's JSON, for the search of references to blobs."""
        yield from (record for _, record in self.entries())

    def entries(self) -> Iterator[tuple[Digest, str]]:
        """Yield key and JSON of every stored record, in key order."""
        last = ""
        while page := self._records_after(last):
            yield from ((key, record) for key, record in page if record is not None)
            last = page[-1][0]

    def forget(self, keys: Sequence[Digest]) -> None:
        """Delete results, so that the next build makes them again; for repairs only: results are otherwise for ever."""

        def drop(connection: sa.Connection) -> None:
            for chunk in _chunks(keys):
                connection.execute(sa.delete(RESULTS).where(RESULTS.c.key.in_(chunk)))

        self._database.write(drop)

    def in_work(self) -> int:
        """Return how many items somebody works on now: leases that have not expired and whose holder is not gone."""

        def read(connection: sa.Connection) -> int:
            now = self._database.now(connection)
            living = connection.scalars(sa.select(LEASES.c.holder).where(LEASES.c.expires_at >= now))
            return sum(not holders.is_gone(holder) for holder in living)

        return self._database.read(read)

    def _records_after(self, key: str) -> list[tuple[Digest, str | None]]:
        """Return the next page in key order: a reader that pauses between pages blocks no writer."""

        def read(connection: sa.Connection) -> list[tuple[Digest, str | None]]:
            chosen = sa.select(RESULTS.c.key, RESULTS.c.record).where(RESULTS.c.key > key)
            return [(row[0], row[1]) for row in connection.execute(chosen.order_by(RESULTS.c.key).limit(_CHUNK))]

        return self._database.read(read)


def _our(lease: Lease) -> dict[str, Any]:
    """Return the parameters by which a lease is found as long as it is ours."""
    return {"lease_key": lease.key, "lease_token": lease.token, "lease_holder": lease.holder}


def _attempt(stage: str, key: Digest, item_id: str, origin: Origin, at: float, what: tuple[str, str]) -> sa.Insert:
    """Return the INSERT of one failed try; `what` is the error's class and message."""
    return sa.insert(ATTEMPTS).values(
        key=key,
        stage=stage,
        item_id=item_id,
        run_id=origin.run_id,
        holder=origin.holder,
        error_class=what[0],
        message=_storable(what[1]),
        at=at,
    )


def _storable(text: str) -> str:
    """Return a message as any database takes it: bounded, without NUL, lone surrogates spelled out."""
    return text[:_LONGEST_TEXT].replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


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
