"""Ledgers for tests: every test that takes `ledger_url` runs on both engines."""

import multiprocessing
import uuid
from collections.abc import Iterator
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
import sqlalchemy as sa

from data_registry.ledger import Ledger


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a fresh database of this test's own."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    engine = request.getfixturevalue("_postgres")
    name = f"test_{uuid.uuid4().hex}"
    with engine.connect() as connection:
        connection.exec_driver_sql(f'CREATE SCHEMA "{name}"')
    url: sa.URL = engine.url.update_query_dict({"options": f"-csearch_path={name}"})
    return url.render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def _postgres(postgres_url: str) -> Iterator[sa.Engine]:
    """A database in which each test has a schema of its own: that takes milliseconds, a database half a second."""
    server = sa.create_engine(postgres_url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    name = f"ledgers_{uuid.uuid4().hex}"
    with server.connect() as connection:
        connection.exec_driver_sql(f'CREATE DATABASE "{name}"')
    engine = sa.create_engine(server.url.set(database=name), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    yield engine
    with server.connect() as connection:
        connection.exec_driver_sql(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    """An open, empty ledger."""
    opened = Ledger(ledger_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def processes() -> ForkServerContext:
    """Starts real processes, quickly: they are forked from a server that has imported what workers need."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.tasks.workers"])
    return context
