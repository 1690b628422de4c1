import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest

from flows import server as server_module
from flows.server import (
    CLIENT_SETTINGS,
    SERVER_SETTINGS,
    PrefectServer,
    ServerStartError,
    ServerUnreachableError,
    applied,
    free_port,
    home_of,
    is_healthy,
    private_server,
    server,
)

CHECKOUT = Path(__file__).parents[2]


def test_the_private_server_answers_on_its_own_home_and_address(prefect_server: PrefectServer) -> None:
    assert is_healthy(prefect_server.url)
    assert home_of(prefect_server.url) == Path(prefect_server.environment["PREFECT_HOME"])
    assert not prefect_server.url.endswith(":4200/api")


def test_a_flow_of_this_process_runs_on_the_applied_server(prefect_server: PrefectServer) -> None:
    from prefect import flow
    from prefect.client.orchestration import get_client
    from prefect.runtime import flow_run

    @flow(name="asks-its-id")
    def asks_its_id() -> str:
        return str(flow_run.id)

    run_id = asks_its_id()
    with get_client(sync_client=True) as client:
        assert str(client.api_url).rstrip("/") == prefect_server.url
        state = client.read_flow_run(UUID(run_id)).state
    assert state is not None
    assert state.is_completed()


def test_applied_settings_reach_prefect_that_is_imported_already_and_go_again(prefect_server: PrefectServer) -> None:
    from prefect.settings import get_current_settings

    with applied({"PREFECT_API_URL": "http://127.0.0.1:9/api"}):
        assert get_current_settings().api.url == "http://127.0.0.1:9/api"
    assert get_current_settings().api.url == prefect_server.url
    assert os.environ["PREFECT_API_URL"] == prefect_server.url


def test_the_users_server_is_used_when_named(
    prefect_server: PrefectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_server.url + "/")
    with server(tmp_path / "home") as used:
        assert used.url == prefect_server.url
        assert used.pid is None
    assert not (tmp_path / "home").exists()
    assert is_healthy(prefect_server.url)


def test_a_named_server_that_does_not_answer_is_an_error_not_another_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{free_port()}/api")
    with pytest.raises(ServerUnreachableError, match="unset PREFECT_API_URL"), server(tmp_path):
        pass


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "prefect.db").write_text("this is no database\n" * 100)
    with pytest.raises(ServerStartError, match="not a database") as caught, private_server(tmp_path):
        pass
    assert str(tmp_path) in str(caught.value)


def test_a_port_taken_meanwhile_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = int(other.getsockname()[1])
        ports = iter([taken, free_port()])
        monkeypatch.setattr(server_module, "free_port", lambda: next(ports))
        with private_server(tmp_path) as started:
            assert f":{taken}/" not in started.url
            assert is_healthy(started.url)


def test_a_killed_owner_leaves_no_server_behind(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from flows.server import private_server
        with private_server(Path(sys.argv[1])) as server:
            print(server.url, flush=True)
            time.sleep(300)
    """)
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        url = owner.stdout.readline().strip()
        assert is_healthy(url)
        owner.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while is_healthy(url, 1.0) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not is_healthy(url)


def test_the_committed_settings_equal_those_of_a_private_server() -> None:
    committed = _flat(tomllib.loads((CHECKOUT / "prefect.toml").read_text()))
    committed.pop("PREFECT_API_URL")
    assert committed.pop("PREFECT_SERVER_API_PORT") == "4200"
    private = {**CLIENT_SETTINGS, **SERVER_SETTINGS}
    assert private.pop("DO_NOT_TRACK") == "1"
    assert committed == private


def _flat(table: Mapping[str, object], prefix: str = "PREFECT") -> dict[str, str]:
    """Returns prefect.toml as environment variables."""
    flat: dict[str, str] = {}
    for name, value in table.items():
        key = f"{prefix}_{name.upper()}"
        if isinstance(value, dict):
            flat |= _flat(cast("dict[str, object]", value), key)
        else:
            flat[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return flat
