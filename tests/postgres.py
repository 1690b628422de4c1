"""A PostgreSQL server for tests: a private cluster in a temporary folder, or the one the environment names."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.machine import not_run

POSTGRES_URL = "EXCEPTIONDRIVE_POSTGRES_URL"
DEBIAN_SERVERS = Path("/usr/lib/postgresql")
_OWNER = "exceptiondrive"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A SQLAlchemy URL of a running server's maintenance database, whose user may create databases."""
    if find_spec("psycopg") is None:
        not_run("no PostgreSQL driver", "install the extra 'postgres'")
    given = os.environ.get(POSTGRES_URL)
    if given:
        yield given
        return
    programs = server_programs(DEBIAN_SERVERS)
    if programs is None:
        not_run("no PostgreSQL server", f"install Debian's package postgresql, or set {POSTGRES_URL}")
    yield from _private_cluster(programs)


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[str]:
    """The SQLAlchemy URL of a database of this test's own; dropped afterwards, open connections included."""
    import sqlalchemy

    name = f"test_{uuid.uuid4().hex}"
    engine = sqlalchemy.create_engine(postgres_url, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f'CREATE DATABASE "{name}"'))
    yield engine.url.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f'DROP DATABASE "{name}" WITH (FORCE)'))


def server_programs(servers: Path) -> Path | None:
    """The folder with the newest server's `initdb` and `pg_ctl` under `servers/<version>/bin`, or None."""
    found = [path.parent for path in servers.glob("*/bin/initdb") if path.with_name("pg_ctl").exists()]
    return max(found, key=lambda folder: float(folder.parent.name), default=None)


def _private_cluster(programs: Path) -> Iterator[str]:
    """Make a cluster that listens on a socket in its own folder only; stop and delete it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="exceptiondrive-pg-"))  # short: a socket's path has at most 107 characters
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
    try:
        _run(folder, programs / "initdb", "-D", "data", "-U", _OWNER, "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c max_connections=200"
        _run(folder, programs / "pg_ctl", "-D", "data", "-l", "log", "-w", "-t", "60", "-o", options, "start")
        try:
            yield f"postgresql+psycopg://{_OWNER}@/postgres?host={folder}"
        finally:
            _run(folder, programs / "pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder)


def _run(folder: Path, program: Path, *arguments: str) -> None:
    """Run a server program in the cluster's folder, as the user postgres where we are root."""
    account: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    with (folder / f"{program.name}.txt").open("w") as output:  # a pipe would stay open in the server and never end
        command = [str(program), *arguments]
        done = subprocess.run(command, cwd=folder, stdout=output, stderr=output, check=False, timeout=100, **account)
    if done.returncode != 0:
        logs = "\n".join(path.read_text() for path in folder.iterdir() if path.name in {f"{program.name}.txt", "log"})
        pytest.fail(f"{program} ended with {done.returncode}:\n{logs}")
