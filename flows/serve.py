"""The long-lived server of this checkout, its pools, deployments and workers, in the background.

    python -m flows.server serve | stop | status  [--port N] [--state DIR] [--checkout DIR]

`serve` may be repeated: it starts only what does not run. The state folder (default `.work/serve`) holds Prefect's home
with the database, one log and one process file per part. `stop` ends exactly the processes of those files: each names
the process id and when that process started, so a reused id is never signalled. Build runs have a pool and a worker of
their own, one run at a time, so that a build which waits for its drains cannot take their place.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows import processes
from flows.processes import Part
from flows.server import (
    START_S,
    applied,
    client_environment,
    home_of,
    is_healthy,
    log_tail,
    server_command,
    server_environment,
)

DEFAULT_PORT = 4200
DEFAULT_STATE = Path(".work/serve")
POOL_LIMITS = {"build": 1, "cpu": os.cpu_count() or 1, "a100": 1}
"""The process pools, and how many runs the worker of each takes at a time."""
_WORKER_ONLINE_S = 60.0


class ServeError(RuntimeError):
    """The server, a deployment or a worker could not be set up; the text says which and what to do."""


class PortBusyError(ServeError):
    """Something else listens on the port."""


class WorkerDiedError(ServeError):
    """A worker ended, or did not report to its pool, after it was started."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Where the long-lived server lives."""

    port: int = DEFAULT_PORT
    """Loopback port."""
    state: Path = DEFAULT_STATE
    """Folder of the process files, logs and Prefect's home."""
    checkout: Path = Path()
    """Folder of prefect.yaml and prefect.toml; flow runs import from it."""

    @property
    def home(self) -> Path:
        """Prefect's home: profile and database."""
        return self.state.resolve() / "home"

    @property
    def url(self) -> str:
        """Address of the API."""
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def server(self) -> Part:
        """The server process."""
        return Part("server", self.state.resolve())

    def workers(self) -> Iterator[tuple[str, Part]]:
        """Yields each pool with the process of its worker."""
        for pool in POOL_LIMITS:
            yield pool, Part(f"worker-{pool}", self.state.resolve())

    def environment(self) -> dict[str, str]:
        """Variables of the server's clients; flow runs find our packages in the checkout, installed or not."""
        checkout = str(self.checkout.resolve())
        path = os.pathsep.join(filter(None, [checkout, os.environ.get("PYTHONPATH", "")]))
        home = {"EXCEPTIONDRIVE_HOME": os.environ.get("EXCEPTIONDRIVE_HOME", checkout), "PYTHONPATH": path}
        return client_environment(self.home, self.port) | home


def serve(serving: Serving) -> None:
    """Starts what does not run yet: server, pools, deployments, heartbeat automation, workers.

    Raises:
        PortBusyError: another program, or another Prefect server, has the port.
        WorkerDiedError: a worker did not stay up.
        ServeError: the server did not come up, or `prefect deploy` failed.
    """
    serve_server(serving)
    with applied(serving.environment()):
        from flows import provision

        for pool in POOL_LIMITS:
            provision.ensure_process_pool(pool)
        _deploy(serving)
        provision.ensure_heartbeat_automation()
        for pool, part in serving.workers():
            _serve_worker(serving, pool, part)
        for pool, part in serving.workers():
            await_worker(pool, part)


def stop(serving: Serving) -> list[str]:
    """Ends the workers, what they started, and the server; returns the names of the parts that were running."""
    parts = [part for _, part in serving.workers()] + [serving.server]
    return [part.name for part in parts if processes.stop(part)]


def status(serving: Serving) -> dict[str, str]:
    """Returns what each part does: `running (pid N)`, `not answering (pid N)` or `stopped`."""
    states = {part.name: _state(part) for part in [serving.server, *(part for _, part in serving.workers())]}
    if states["server"] != "stopped" and not is_healthy(serving.url):
        states["server"] = states["server"].replace("running", "not answering")
    return states


def _state(part: Part) -> str:
    pid = processes.running(part)
    return f"running (pid {pid})" if pid else "stopped"


def serve_server(serving: Serving) -> None:
    """Starts the server alone, unless it runs.

    Raises:
        PortBusyError: another program, or another Prefect server, has the port.
        ServeError: the server did not come up.
    """
    serving.home.mkdir(parents=True, exist_ok=True)
    part = serving.server
    started = False
    deadline = time.monotonic() + START_S
    while (found := home_of(serving.url)) != serving.home:
        gone = processes.running(part) is None
        if gone and not started:  # never started, or dying while we looked
            _require_free_port(serving, found)
            environment = server_environment(serving.home, serving.port)
            processes.start(part, server_command(), cwd=serving.checkout, environment=environment)
            started = True
        elif gone or time.monotonic() > deadline:
            processes.stop(part)
            raise ServeError(
                f"The Prefect server on port {serving.port} did not come up. The end of {part.log}:\n"
                f"{log_tail(part.log)}\nMend what it names, then run `python -m flows.server serve` again."
            )
        time.sleep(0.3)


def _require_free_port(serving: Serving, other: Path | None) -> None:
    """Refuse a port that something listens on; `other` is the home of the Prefect server found there, if it is one."""
    if not processes.listens(serving.port):
        return
    what = f"another Prefect server (its home is {other})" if other else "another program"
    remedy = f"export PREFECT_API_URL={serving.url}" if other else "stop that program"
    raise PortBusyError(
        f"Port {serving.port} of this machine is in use by {what}, not by the server of {serving.state}. To use it"
        f" or make room, {remedy}; or choose another port: `python -m flows.server serve --port {serving.port + 100}`."
    )


def _deploy(serving: Serving) -> None:
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
    environment = {**os.environ, **serving.environment()}
    done = subprocess.run(
        command,
        cwd=serving.checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    log = serving.state / "deploy.log"
    log.write_text(done.stdout + done.stderr)
    if done.returncode:
        raise ServeError(
            f"`prefect deploy --all` failed in {serving.checkout.resolve()}. The end of {log}:\n{log_tail(log)}\n"
            "Mend prefect.yaml or the flow it names, then run `python -m flows.server serve` again."
        )


def _serve_worker(serving: Serving, pool: str, part: Part) -> None:
    if processes.running(part) is not None:
        return
    command = [sys.executable, "-m", "prefect", "worker", "start", "--type", "process", "--pool", pool]
    command += ["--name", f"exceptiondrive-{pool}", "--limit", str(POOL_LIMITS[pool])]
    # A worker imports Prefect inside a running event loop, where start-up plugins fail with a traceback in its log.
    environment = {**os.environ, **serving.environment(), "PREFECT_PLUGINS_ENABLED": "false"}
    processes.start(part, command, cwd=serving.home, environment=environment)


def await_worker(pool: str, part: Part) -> None:
    """Waits until a started worker reports to its pool.

    Raises:
        WorkerDiedError: it ended, or did not report within a minute; the text has the end of its log.
    """
    from flows import provision

    deadline = time.monotonic() + _WORKER_ONLINE_S
    while True:
        alive = processes.running(part) is not None
        if alive and provision.reports(pool, f"exceptiondrive-{pool}", since=processes.started_at(part)):
            return
        if not alive or time.monotonic() > deadline:
            raise WorkerDiedError(
                f"The worker of pool {pool} did not stay up. The end of {part.log}:\n{log_tail(part.log)}\n"
                "Mend what it names, then run `python -m flows.server serve` again; what runs already stays."
            )
        time.sleep(0.5)


def main(arguments: Sequence[str]) -> int:
    """Runs `serve`, `stop` or `status`; returns 0, or 1 after an error or when a part does not run."""
    serving, command = _parse(arguments)
    if command == "serve":
        return _serve_and_say(serving)
    if command == "stop":
        print("Stopped: " + (", ".join(stop(serving)) or "nothing was running"))
        return 0
    states = status(serving)
    print("\n".join(f"{name:<13} {state}" for name, state in states.items()))
    return 0 if all(state.startswith("running") for state in states.values()) else 1


def _serve_and_say(serving: Serving) -> int:
    try:
        serve(serving)
    except ServeError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Prefect UI: http://127.0.0.1:{serving.port}   (logs: {serving.state})")
    if serving.port != DEFAULT_PORT:
        print(f"export PREFECT_API_URL={serving.url}")
    print("Next: prefect deployment run build-exceptiondrive --watch")
    return 0


def _parse(arguments: Sequence[str]) -> tuple[Serving, str]:
    parser = argparse.ArgumentParser(prog="python -m flows.server", description="The Prefect server of this checkout.")
    parser.add_argument("command", choices=["serve", "stop", "status"])
    port = int(os.environ.get("EXCEPTIONDRIVE_PORT", DEFAULT_PORT))
    state = Path(os.environ.get("EXCEPTIONDRIVE_STATE", DEFAULT_STATE))
    parser.add_argument("--port", type=int, default=port, help="loopback port (EXCEPTIONDRIVE_PORT; default 4200)")
    parser.add_argument("--state", type=Path, default=state, help="state folder (EXCEPTIONDRIVE_STATE)")
    parser.add_argument("--checkout", type=Path, default=Path(), help="folder of prefect.yaml (default: here)")
    options = parser.parse_args(arguments)
    return Serving(options.port, options.state, options.checkout), str(options.command)
