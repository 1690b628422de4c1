import os
import re
import signal
import socket
import sys
import threading
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client

from flows import processes, provision, serve
from flows.launch import DrainRun, run_drains
from flows.processes import Part
from flows.server import applied, is_healthy
from tests.flows.conftest import prefect_command
from tests.flows.runs import last_words, launched, state_of, wait_for


def test_serving_again_changes_nothing(serving: serve.Serving) -> None:
    before = serve.status(serving)
    assert list(before) == ["server", "worker-build", "worker-cpu", "worker-a100"]
    assert all(state.startswith("running") for state in before.values())
    serve.serve(serving)
    assert serve.status(serving) == before
    with applied(serving.environment()), get_client(sync_client=True) as client:
        assert len(client.read_automations_by_name(provision.HEARTBEAT_AUTOMATION)) == 1


def test_a_build_starts_its_drains_and_waits_for_them(serving: serve.Serving, tmp_path: Path) -> None:
    words = ["deployment", "run", "tiny-build/tiny-build", "-p", f'folder="{tmp_path}"', "--watch"]
    done = prefect_command(*words, environment=serving.environment(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("drain.*"))) == 2
    build = UUID(re.findall(r"UUID: ([0-9a-f-]+)", done.stdout)[0])
    with applied(serving.environment()), get_client(sync_client=True) as client:
        drains = [run for run in client.read_flow_runs() if f"parent:{build}" in run.tags]
    assert [run.state_type and run.state_type.value for run in drains] == ["COMPLETED"] * 2
    assert all(run.parent_task_run_id for run in drains)


def test_drains_survive_a_server_that_is_killed_and_started_again(serving: serve.Serving, tmp_path: Path) -> None:
    ended = list[DrainRun]()

    def drains() -> None:
        ended.extend(run_drains("tiny-drain/tiny-drain", {"folder": str(tmp_path), "seconds": 20}, 2, 0.5))

    with applied(serving.environment()):
        waiting = threading.Thread(target=drains)
        waiting.start()
        # both: a run whose process is only being started when the server dies may be Crashed by its worker
        wait_for(lambda: len(list(tmp_path.glob("drain.*"))) == 2, 40, "the drains started")
        pid = processes.running(serving.server)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not is_healthy(serving.url, 0.5), 10, "the server is gone")
        serve.serve(serving)
        waiting.join(60)
    assert [run.state for run in ended] == ["COMPLETED"] * 2
    assert len(list(tmp_path.glob("drain.*"))) == 2


def test_cancelling_a_build_cancels_its_drains(serving: serve.Serving, tmp_path: Path) -> None:
    with applied(serving.environment()):
        build = launched("tiny-build/tiny-build", folder=str(tmp_path), seconds=300)
        wait_for(lambda: len(list(tmp_path.glob("drain.*"))) == 2, 60, "both drains started")
        cancelled = prefect_command("flow-run", "cancel", str(build), environment=serving.environment(), cwd=tmp_path)
        assert cancelled.returncode == 0, cancelled.stderr
        with get_client(sync_client=True) as client:
            drains = [run.id for run in client.read_flow_runs() if f"parent:{build}" in run.tags]
        wait_for(lambda: state_of(build) == "CANCELLED", 60, "the build is cancelled")
        wait_for(lambda: {state_of(run) for run in drains} == {"CANCELLED"}, 60, "the drains are cancelled")
    pids = [int(path.suffix[1:]) for path in tmp_path.glob("*.*")]
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), 20, "their processes are gone")


def test_a_killed_flow_run_crashes_and_can_be_retried(serving: serve.Serving, tmp_path: Path) -> None:
    with applied(serving.environment()):
        run = launched("tiny-drain/tiny-drain", folder=str(tmp_path), seconds=300)
        wait_for(lambda: bool(list(tmp_path.glob("drain.*"))), 40, "the run started")
        (tmp_path / "hurry").touch()
        words_before = last_words(serving)
        os.kill(int(next(tmp_path.glob("drain.*")).suffix[1:]), signal.SIGKILL)
        wait_for(lambda: state_of(run) == "CRASHED", 10, "the run is crashed")
        wait_for(lambda: last_words(serving) > words_before, 30, "the worker's last word")
        words = ["flow-run", "retry", str(run)]
        retried = prefect_command(*words, environment=serving.environment(), cwd=tmp_path)
        assert retried.returncode == 0, retried.stderr
        wait_for(lambda: state_of(run) == "COMPLETED", 40, "the retried run is completed")
    assert len(list(tmp_path.glob("drain.*"))) == 2


def test_a_worker_that_died_is_started_again_and_the_others_stay(serving: serve.Serving) -> None:
    before = serve.status(serving)
    worker = processes.running(dict(serving.workers())["a100"])
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: serve.status(serving)["worker-a100"] == "stopped", 10, "the worker is gone")
    serve.serve(serving)
    after = serve.status(serving)
    assert after["worker-a100"].startswith("running")
    assert {**after, "worker-a100": ""} == {**before, "worker-a100": ""}


def test_a_port_of_another_prefect_server_is_refused(serving: serve.Serving, tmp_path: Path) -> None:
    other = replace(serving, state=tmp_path / "state")
    with pytest.raises(serve.PortBusyError, match="another Prefect server") as caught:
        serve.serve(other)
    assert str(serving.home) in str(caught.value)
    assert "export PREFECT_API_URL" in str(caught.value)


def test_the_command_reports_a_busy_port_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as program:
        program.bind(("127.0.0.1", 0))
        program.listen()
        port = str(program.getsockname()[1])
        assert serve.main(["serve", "--port", port, "--state", str(tmp_path)]) == 1
    assert f"Port {port} of this machine is in use by another program" in capsys.readouterr().err


def test_status_of_nothing_is_stopped_and_stop_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve.main(["status", "--state", str(tmp_path)]) == 1
    assert capsys.readouterr().out.count("stopped") == 4
    assert serve.main(["stop", "--state", str(tmp_path)]) == 0
    assert "nothing was running" in capsys.readouterr().out


def test_a_worker_that_ends_at_start_is_an_error_with_its_log(tmp_path: Path) -> None:
    part = Part("worker-cpu", tmp_path)
    command = [sys.executable, "-c", "print('no such pool type')"]
    processes.start(part, command, cwd=tmp_path, environment=os.environ)
    wait_for(lambda: processes.running(part) is None, 10, "it ended")
    with pytest.raises(serve.WorkerDiedError, match="no such pool type"):
        serve.await_worker("cpu", part)
