"""Fixtures that every test may use; see tests/machine.py and tests/postgres.py."""

pytest_plugins = ["pytester", "tests.machine", "tests.postgres", "tests.ledgers"]
