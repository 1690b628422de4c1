"""Fixtures that every test may use; see tests/machine.py and tests/postgres.py."""

from hypothesis import settings

# no deadline: how long an example takes says more about the machine's load than about us
settings.register_profile("exceptiondrive", deadline=None, max_examples=50)
settings.load_profile("exceptiondrive")

pytest_plugins = ["pytester", "tests.machine", "tests.postgres", "tests.ledgers"]
