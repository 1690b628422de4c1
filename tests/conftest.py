"""Fixtures that every test may use; see tests/machine.py, tests/postgres.py and tests/serving.py."""

import fcntl
from pathlib import Path

import pytest
from hypothesis import settings

from data_registry.sources.streetset import write_streetset

# no deadline: how long an example takes says more about the machine's load than about us
settings.register_profile("exceptiondrive", deadline=None, max_examples=50)
settings.load_profile("exceptiondrive")

pytest_plugins = [
    "pytester",
    "tests.machine",
    "tests.postgres",
    "tests.ledgers",
    "tests.serving",
    "tests.spread",
    "tests.flows.whole_demo",
]


@pytest.fixture(scope="session")
def street_root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded log, written once a run: its pictures cost half a minute. Tests must not change it.

    The workers of pytest-xdist share it: one writes, the others wait for it and find it complete.
    """
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent  # above the workers' own folders
    with (folder / "streetset.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return write_streetset(folder / "streetset" / "log")
