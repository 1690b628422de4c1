"""A pytest plugin for runs that pytest-xdist spreads over workers: what begins first, and reports that can travel.

Each worker is a session of its own, with its own server, databases and ports; tests/machine.py joins their lists of
what did not run, `street_root` lies where all of them find it.
"""

from collections.abc import Iterator
from typing import Any

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that need a server: they are long, short ones then fill up the end."""
    if hasattr(config, "workerinput"):
        served = {item.path for item in items if "served" in getattr(item, "fixturenames", ())}
        items.sort(key=lambda item: item.path not in served)  # stable


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Iterator[None]:
    """Escape what no text can hold, such as half a surrogate pair that a test logged: it would end the whole run."""
    return _sendable((yield))


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_sendable(key): _sendable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_sendable, value))
    return value
