"""The log, written once for all tests that read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_registry.sources.streetset import write_streetset


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_streetset(tmp_path_factory.mktemp("streetset") / "log")
