"""A pytest plugin with the whole demo, built and evaluated once a run: all embedded scenes, tasks and planners."""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flows.server import PrefectServer

CHECKOUT = Path(__file__).parents[2]
LIMIT_S = 420.0
"""A minute on two idle cores."""
AS_DEMO = """
import sys
from flows.building import run_demo
from flows.exits import reporting
from flows.options import BuildOptions

store, releases, *overrides = sys.argv[1:]
with reporting(as_json=True):
    run_demo(BuildOptions("sample", overrides, releases, store), as_json=True)
"""
"""What `exceptiondrive demo` does, with the session's logs, store and folder of releases."""


@dataclass(frozen=True)
class Demo:
    """Where the demo lies, and what its command printed as JSON."""

    folder: Path
    logs: Path
    made: dict[str, Any]

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def releases(self) -> Path:
        return self.folder / "releases"

    @property
    def overrides(self) -> list[str]:
        return [f"source.root={self.logs}", "source.version=v1.0-streetset"]

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return self.python("-m", "flows.cli", *words, **more)

    def python(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env={**os.environ, **more, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )


@pytest.fixture(scope="session")
def demo(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    street_root: Path,
    prefect_server: PrefectServer,
) -> Demo:
    """The whole demo, built once a run and shared as `street_root` is. Tests must not change it."""
    base = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        base = base.parent  # above the workers' own folders
    folder = base / "demo"
    folder.mkdir(exist_ok=True)
    with (base / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        printed = folder / "made.json"
        if not printed.exists():
            place = Demo(folder, street_root, {})
            words = [str(place.store), str(place.releases), *place.overrides]
            done = place.python("-c", AS_DEMO, *words, **prefect_server.environment)
            assert done.returncode == 0, done.stderr
            printed.write_text(done.stdout)
    return Demo(folder, street_root, json.loads(printed.read_text()))
