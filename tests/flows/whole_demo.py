"""A pytest plugin with the whole demo, built once a run: all embedded scenes and all shipped tasks."""

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
        return subprocess.run(
            [sys.executable, "-m", "flows.cli", *words],
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
            options = [word for override in place.overrides for word in ("--set", override)]
            where = ["--store", str(place.store), "--releases", str(place.releases)]
            done = place.run("build", "sample", *options, *where, "--json", **prefect_server.environment)
            assert done.returncode == 0, done.stderr
            printed.write_text(done.stdout)
    return Demo(folder, street_root, json.loads(printed.read_text()))
