"""Opening a ledger fails quickly and says why; a running one waits for what passes."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from data_registry.blobs import StorageFullError
from data_registry.database import Database, LedgerUnavailableError
from data_registry.ledger import Ledger
from data_registry.store import Store


@contextmanager
def _quickly(seconds: float = 8.0) -> Generator[None]:
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < seconds


def test_a_refused_connection_is_told_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with _quickly(), pytest.raises(LedgerUnavailableError, match=r"does not answer: .*refused.*run the same command"):
        Ledger(f"postgresql://someone:secret@127.0.0.1:{port}/ledger")


def test_a_password_is_never_shown() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"postgresql://someone:secret@127.0.0.1:{free.getsockname()[1]}/ledger"
    with pytest.raises(LedgerUnavailableError) as caught:
        Ledger(url)
    assert "secret" not in str(caught.value)


def test_a_missing_database_is_told_at_once(postgres_url: str) -> None:
    url = sa.make_url(postgres_url).set(database="absent")
    with _quickly(), pytest.raises(LedgerUnavailableError, match='"absent" does not exist'):
        Ledger(url)


def test_a_read_only_folder_is_told_at_once(small_disk: Callable[[int], Path]) -> None:
    folder = small_disk(1_000_000)
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    with _quickly(), pytest.raises(LedgerUnavailableError, match="unable to open database file"):
        Store.at(folder)
    with pytest.raises(LedgerUnavailableError, match=r"cannot make the store's folder .*Read-only file system"):
        Store.at(folder / "new")


def test_a_file_that_is_no_database_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(b"not a database at all" * 100)
    with _quickly(), pytest.raises(LedgerUnavailableError, match="file is not a database"):
        Store.at(tmp_path)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "not a database URL: 'nonsense'"),
        ("mysql://host/ledger", "runs on SQLite and PostgreSQL, not on mysql"),
    ],
)
def test_another_kind_of_url_is_refused(url: str, message: str) -> None:
    with pytest.raises(LedgerUnavailableError, match=message):
        Database(url)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerUnavailableError, match=r"exceptiondrive\[postgres\]"):
        Database("postgresql://host/ledger")


def test_a_url_may_choose_its_own_time_out() -> None:
    assert "connect_timeout=3" in Database("postgresql://host/ledger?connect_timeout=3").url


def test_sqlite_paths_may_hold_any_character(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c=d%20#e"
    with Store.at(folder):
        assert (folder / "ledger.sqlite").is_file()


@pytest.fixture
def running(postgres_database: str) -> Iterator[Database]:
    """A PostgreSQL database that was opened before, as in a running drain."""
    database = Database(postgres_database)
    database.create(sa.MetaData())
    yield database
    database.close()


def _fails_once(statement: str) -> Callable[[sa.Connection], int]:
    tries: list[int] = []

    def work(connection: sa.Connection) -> int:
        tries.append(1)
        if len(tries) == 1:
            connection.exec_driver_sql(statement)
        return len(tries)

    return work


def _raising(state: str) -> str:
    return f"DO $$ BEGIN RAISE EXCEPTION 'made by the test' USING ERRCODE = '{state}'; END $$"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT pg_terminate_backend(pg_backend_pid())",
        _raising("40P01"),
        _raising("57P03"),
        _raising("08006"),
    ],
    ids=["connection lost", "deadlock", "starting up", "connection failure"],
)
def test_what_passes_is_tried_again(running: Database, statement: str) -> None:
    assert running.write(_fails_once(statement)) == 2


def test_a_full_database_server_is_a_full_disk(running: Database) -> None:
    with pytest.raises(StorageFullError):
        running.write(_fails_once(_raising("53100")))


def test_what_is_wrong_is_not_tried_again(running: Database) -> None:
    with _quickly(), pytest.raises(LedgerUnavailableError, match="made by the test"):
        running.write(_fails_once(_raising("22023")))


def test_both_clocks_agree_with_ours(running: Database, tmp_path: Path) -> None:
    for database in (running, Database(f"sqlite:///{tmp_path / 'clock.sqlite'}")):
        assert abs(database.read(database.now) - time.time()) < 5.0
        database.close()
