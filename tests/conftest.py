"""Fixtures that every test may use; see tests/machine.py, tests/postgres.py and tests/serving.py."""

from pathlib import Path

import pytest
from hypothesis import settings

from data_registry.sources.streetset import write_streetset

# no deadline: how long an example takes says more about the machine's load than about us
settings.register_profile("exceptiondrive", deadline=None, max_examples=50)
settings.load_profile("exceptiondrive")

pytest_plugins = ["pytester", "tests.machine", "tests.postgres", "tests.ledgers", "tests.serving"]


@pytest.fixture(scope="session")
def street_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded log, written once a session: its pictures cost half a minute. Tests must not change it."""
    return write_streetset(tmp_path_factory.mktemp("streetset") / "log")
