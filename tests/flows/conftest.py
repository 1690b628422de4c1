"""A private Prefect server for the session, and a served checkout with two tiny flows and real workers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows import serve
from flows.server import PrefectServer, applied, free_port

CHECKOUT = Path(__file__).parents[2]

_TINY_FLOWS = """
import os, time
from pathlib import Path
from prefect import flow
from flows.launch import run_drains

@flow(name="tiny-build")
def build(folder: str, count: int = 2, seconds: float = 0.0) -> list[str]:
    Path(folder, f"build.{os.getpid()}").touch()
    runs = run_drains("tiny-drain/tiny-drain", {"folder": folder, "seconds": seconds}, count, poll_s=0.5)
    return [run.state for run in runs]

@flow(name="tiny-drain")
def drain(folder: str, seconds: float = 0.0) -> None:
    Path(folder, f"drain.{os.getpid()}").touch()
    if not Path(folder, "hurry").exists():
        time.sleep(seconds)
"""
_TINY_DEPLOYMENTS = """
  - {name: tiny-build, entrypoint: "jobs/tiny.py:build", work_pool: {name: build}}
  - {name: tiny-drain, entrypoint: "jobs/tiny.py:drain", work_pool: {name: cpu}}
"""


@pytest.fixture(scope="session")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[serve.Serving]:
    """The session's one server, as `make serve` sets it up, on a free port: this checkout and two tiny flows."""
    root = tmp_path_factory.mktemp("served")
    checkout = root / "checkout"
    (checkout / "jobs").mkdir(parents=True)
    (checkout / "jobs" / "tiny.py").write_text(_TINY_FLOWS)
    (checkout / "flows").symlink_to(CHECKOUT / "flows")
    (checkout / "prefect.yaml").write_text((CHECKOUT / "prefect.yaml").read_text() + _TINY_DEPLOYMENTS)
    (checkout / "prefect.toml").write_text((CHECKOUT / "prefect.toml").read_text())
    served = serve.Serving(free_port(), root / "state", checkout)
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(CHECKOUT)  # where the workers' flows find our packages
    try:
        serve.serve(served)
        yield served
    finally:
        serve.stop(served)
        os.environ.pop("PYTHONPATH") if path is None else os.environ.update(PYTHONPATH=path)


@pytest.fixture(scope="session")
def prefect_server(serving: serve.Serving) -> Iterator[PrefectServer]:
    """The same server, which this process uses from here on."""
    server = PrefectServer(serving.url, serving.environment())
    with applied(server.environment):
        yield server


def prefect_command(*words: str, environment: dict[str, str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Runs `prefect WORDS` as a user would, with an environment of its own."""
    command = [str(Path(sys.executable).with_name("prefect")), *words]
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment, "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
