"""Builds as a user runs them: the command line in a process of its own, on a given Prefect server."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.server import PrefectServer

CHECKOUT = Path(__file__).parents[2]
DRAWING = (
    "source.scenes=[scene-9001, scene-9002, scene-9004, scene-9006, scene-9008]",
    "tasks=[red_signal]",
    "auxiliary.size=2",
)
"""Settings of a small build with something to draw for the auxiliary split: one junction, four places without."""
KILL_AT = Path(__file__).with_name("kill_at.py")
SCENES = ("scene-9001",)
TASKS = ("collapsed_road_surface", "large_vehicle_blocking_lane", "occluded_pedestrian")
"""What these builds are made of, however much the embedded logs and the taxonomy grow: three combinations."""


@dataclass(frozen=True)
class Place:
    """Where a build's store, releases and logs are, and which server it uses."""

    folder: Path
    logs: Path
    server: PrefectServer
    asked: tuple[str, ...] = ()
    """Settings of all builds here, `key=value`."""

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def release(self) -> Path:
        return self.folder / "releases" / "exceptiondrive-sample" / "0.0.0-dev"

    def overrides(self) -> list[str]:
        """Settings that choose the embedded logs, and of them SCENES and TASKS."""
        logs = [f"source.root={self.logs}", "source.version=v1.0-streetset"]
        return [*logs, f"source.scenes=[{', '.join(SCENES)}]", f"tasks=[{', '.join(TASKS)}]"]

    def settings(self, *more: str) -> list[str]:
        """Options of a build of the embedded logs into this place."""
        values = (*self.overrides(), "run.lease_s=20", *self.asked, *more)
        options = [word for value in values for word in ("--set", value)]
        return ["build", "sample", "--store", str(self.store), "--releases", str(self.folder / "releases"), *options]

    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.server.environment, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "200"}

    def start(self, *words: str, script: list[str] | None = None) -> "subprocess.Popen[str]":
        """Start a command; `script` replaces `-m flows.cli`."""
        command = [sys.executable, *(script or ["-m", "flows.cli"]), *words]
        self.folder.mkdir(parents=True, exist_ok=True)
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*words)
        output, errors = process.communicate(timeout=180)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def build(self, *more: str) -> dict[str, Any]:
        """Build, expecting success; return what the command prints as JSON."""
        done = self.run(*self.settings(), *more, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def killed_at(self, point: str, count: int, *more: str) -> int:
        """Build with kill -9 at a fault point's count-th passing; return the exit code."""
        process = self.start(*self.settings(*more), script=[str(KILL_AT), point, str(count)])
        process.communicate(timeout=180)
        return process.returncode

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the ledger."""
        with closing(sqlite3.connect(self.store / "ledger.sqlite", timeout=60)) as connection:
            return connection.execute(query).fetchall()

    def results(self) -> dict[str, tuple[Any, ...]]:
        """Return run, time and payload of every result by key: a result that is redone would change here."""
        query = "SELECT key, run_id, committed_at, payload_sha256 FROM results"
        return {key: rest for key, *rest in self.rows(query)}  # type: ignore[misc]
