"""A small release for the tests of what reads releases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tasks.publish import publish
from tests.tasks.publications import build


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that no test may change."""
    folder = tmp_path_factory.mktemp("release")
    return publish(build(folder), folder / "releases").path.resolve()


@pytest.fixture
def release(made: Path, tmp_path: Path) -> Path:
    """A copy of the release that a test may harm."""
    return shutil.copytree(made, tmp_path / "harmed")
