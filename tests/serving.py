"""A pytest plugin: a private Prefect server for the session, a served checkout with two tiny flows, and real workers.

Prefect is imported when a test first asks for the server: most tests never do.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from flows.serve import Serving
    from flows.server import PrefectServer

CHECKOUT = Path(__file__).parents[1]

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
def served(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Serving]":
    """The session's one server, without workers yet, on a free port: this checkout and two tiny flows."""
    from flows import serve
    from flows.server import free_port

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
        serve.serve_server(served)
        yield served
    finally:
        serve.stop(served)
        os.environ.pop("PYTHONPATH") if path is None else os.environ.update(PYTHONPATH=path)


@pytest.fixture(scope="session")
def serving(served: "Serving") -> "Serving":
    """The same server as `make serve` sets it up: with deployments and workers, which cost twelve seconds of work."""
    from flows.serve import serve

    serve(served)
    return served


@pytest.fixture(scope="session")
def prefect_server(served: "Serving") -> "Iterator[PrefectServer]":
    """The same server, which this process uses from here on."""
    from flows.server import PrefectServer, applied

    server = PrefectServer(served.url, served.environment())
    with applied(server.environment):
        yield server
