"""Ledgers for tests: every test that takes `ledger_url` runs on both engines."""

import multiprocessing
from collections.abc import Iterator
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from data_registry.ledger import Ledger


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a fresh database of this test's own."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    return str(request.getfixturevalue("postgres_database"))


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
