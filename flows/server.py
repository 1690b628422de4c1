"""A Prefect server to run flows on: a private one, or the one the user named.

`private_server` is for the command line, the demo and the tests: own home, own database, a free loopback port, gone
with the process that asked for it. `server` prefers the user's PREFECT_API_URL. Prefect's ephemeral server is never
used: it loses the history of most task runs. `python -m flows.server serve|stop|status` runs the long-lived one
(flows/serve.py).

Prefect is imported only where its settings are applied: it reads them when it is imported.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from data_registry.blobs import StorageFullError

START_S = 120.0
_TRIES = 3
_STOP_S = 15.0
_DRAIN_S = 10.0
_LOG_LINES = 15
_DATABASE_BYTES = 2**21
_SUPERVISE = Path(__file__).with_name("supervise.py")

CLIENT_SETTINGS: Mapping[str, str] = {
    "DO_NOT_TRACK": "1",
    "PREFECT_CLIENT_MAX_RETRIES": "7",
    "PREFECT_EVENTS_WORKER_MAX_QUEUE_SIZE": "10000",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    "PREFECT_PLUGINS_ENABLED": "true",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    "PREFECT_TASKS_DEFAULT_NO_CACHE": "true",
    "PREFECT_WORKER_QUERY_SECONDS": "2",
}
"""What every process that talks to a server is told; equal to prefect.toml."""

SERVER_SETTINGS: Mapping[str, str] = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_API_HOST": "127.0.0.1",
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1.0",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_UI_API_URL": "/api",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
}
"""What a server is told besides its home, port and database; equal to prefect.toml."""

_NOT_INHERITED = ("PREFECT_SERVER_", "PREFECT_API_", "PREFECT_UI_", "PREFECT_PROFILE", "PREFECT_HOME")


class ServerStartError(RuntimeError):
    """A Prefect server did not come up."""


class ServerUnreachableError(RuntimeError):
    """PREFECT_API_URL names a server that does not answer."""


@dataclass(frozen=True, slots=True)
class PrefectServer:
    """A server that answers."""

    url: str
    """Address of its API, `http://host:port/api`."""
    environment: Mapping[str, str]
    """Variables that make any process use this server: give them to a child, or see `applied`."""
    log: Path | None = None
    """What a private server printed; None for the user's own."""
    pid: int | None = None
    """The supervising process of a private server, leader of its process group."""

    @property
    def ui_url(self) -> str:
        """Address of its pages for a browser."""
        return self.url.removesuffix("/api")


@contextlib.contextmanager
def server(home: Path) -> Generator[PrefectServer, None, None]:
    """Yields the server of the user's PREFECT_API_URL when that is set, else a private one under `home`.

    Raises:
        ServerUnreachableError: PREFECT_API_URL is set and nothing healthy answers there.
        ServerStartError: the private server did not come up.
    """
    url = os.environ.get("PREFECT_API_URL", "").rstrip("/")
    if not url:
        with private_server(home) as private:
            yield private
        return
    if not is_healthy(url):
        raise ServerUnreachableError(
            f"PREFECT_API_URL is {url}, but no Prefect server answers at {url}/health. Start that server"
            " (`make serve` for the one of this checkout), or unset PREFECT_API_URL to use a private one."
        )
    yield PrefectServer(url, {**CLIENT_SETTINGS, "PREFECT_API_URL": url})


@contextlib.contextmanager
def private_server(home: Path, *, start_s: float = START_S) -> Generator[PrefectServer, None, None]:
    """Starts a server of its own under `home` and stops it at exit; it also ends when this process is killed.

    The folder `home` is created. Its database stays, so a later server there shows earlier runs.

    Raises:
        StorageFullError: it did not come up, and there is no room for its database.
        ServerStartError: it was not healthy within `start_s` seconds; the text has the end of its log.
    """
    home = home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    started, process = _start(home, time.monotonic() + start_s)
    try:
        yield started
    finally:
        _stop(process)


@contextlib.contextmanager
def applied(environment: Mapping[str, str]) -> Generator[None, None, None]:
    """Makes this process, its threads and its children use the environment, also when Prefect is imported already."""
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    import prefect.context

    def refresh() -> None:
        prefect.context.refresh_global_settings_context()

    refresh()
    try:
        with prefect.context.root_settings_context():
            try:
                yield
            finally:
                _send_what_waits()
    finally:
        _restore(before)
        refresh()


def is_healthy(url: str, timeout_s: float = 5.0) -> bool:
    """Says whether a Prefect API at `url` reports health."""
    return _get(f"{url}/health", timeout_s) is True


def home_of(url: str, timeout_s: float = 5.0) -> Path | None:
    """Returns the PREFECT_HOME of the server at `url`: which server it is. None when nothing answers."""
    answer = _get(f"{url}/admin/settings", timeout_s)
    if not isinstance(answer, dict):
        return None
    return Path(str(cast("dict[str, object]", answer).get("home")))


def server_environment(home: Path, port: int) -> dict[str, str]:
    """Returns the whole environment of a server process: this one's, without settings that would leak into it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
    return (
        inherited
        | dict(SERVER_SETTINGS)
        | client_environment(home, port)
        | {
            "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home / 'prefect.db'}",
            "PREFECT_SERVER_API_PORT": str(port),
        }
    )


def client_environment(home: Path, port: int) -> dict[str, str]:
    """Returns the variables that make a process use the server on a loopback port, with `home` as Prefect's home."""
    return dict(CLIENT_SETTINGS) | {"PREFECT_HOME": str(home), "PREFECT_API_URL": f"http://127.0.0.1:{port}/api"}


def server_command() -> list[str]:
    """Returns the command that starts a server in the foreground."""
    return [sys.executable, "-m", "prefect", "server", "start"]


def log_tail(log: Path) -> str:
    """Returns the last lines of a log, indented, for an error's text."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join(f"  {line}" for line in lines[-_LOG_LINES:]) or "  (nothing)"


def _start(home: Path, deadline: float) -> "tuple[PrefectServer, subprocess.Popen[bytes]]":
    """Starts a server and waits for it; a port that someone else takes meanwhile is replaced by another."""
    log = home / "server.log"
    for _ in range(_TRIES):
        port = free_port()
        process = _spawn(home, port, log)
        try:
            if _comes_up(process, f"http://127.0.0.1:{port}/api", home, deadline):
                environment = client_environment(home, port)
                return PrefectServer(environment["PREFECT_API_URL"], environment, log, process.pid), process
        except BaseException:
            _stop(process)
            raise
        _stop(process)
        if "already in use" not in log.read_text(errors="replace"):
            break
    if shutil.disk_usage(home).free < _DATABASE_BYTES:
        raise StorageFullError(str(home), _DATABASE_BYTES)
    raise ServerStartError(
        f"The private Prefect server under {home} did not come up. The end of {log}:\n{log_tail(log)}\n"
        "Free memory or disk, remove the folder if its database is damaged, or set PREFECT_API_URL to a running one."
    )


def _spawn(home: Path, port: int, log: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-I", str(_SUPERVISE), str(os.getpid()), *server_command()]
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            cwd=home,  # a folder without prefect.toml
            env=server_environment(home, port),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _comes_up(process: "subprocess.Popen[bytes]", url: str, home: Path, deadline: float) -> bool:
    """Waits until this very server answers (another may have taken the port); False when it ends or time is up."""
    while process.poll() is None and time.monotonic() < deadline:
        if is_healthy(url, 2.0) and home_of(url, 2.0) == home:
            return True
        time.sleep(0.2)
    return False


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Ends the supervisor's whole process group: TERM, then KILL."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    """Returns a loopback port that nothing used a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _get(address: str, timeout_s: float) -> object:
    """Returns the JSON at an address, None when there is none."""
    try:
        with urllib.request.urlopen(address, timeout=timeout_s) as answer:
            return json.load(answer)
    except (OSError, ValueError, urllib.error.URLError):
        return None


def _send_what_waits() -> None:
    """Sends queued log lines and events: after this the server may be gone."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    APILogWorker.drain_all(timeout=_DRAIN_S)
    EventsWorker.drain_all(timeout=_DRAIN_S)


def _restore(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


if __name__ == "__main__":
    from flows.serve import main

    sys.exit(main(sys.argv[1:]))
