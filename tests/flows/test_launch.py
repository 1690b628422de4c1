import time
from pathlib import Path

import pytest
from prefect import flow

from flows import provision
from flows.launch import DeploymentMissingError, NoWorkerError, Patience, ServerAwayError, run_drains
from flows.server import PrefectServer, applied, free_port

_FLOW = "from prefect import flow\n@flow(name='waits')\ndef waits() -> None: ...\n"


@pytest.fixture
def deployment(prefect_server: PrefectServer, tmp_path: Path) -> str:
    """A deployment in a pool that no worker serves."""
    provision.ensure_process_pool("nobody")
    (tmp_path / "waits.py").write_text(_FLOW)
    made = flow.from_source(str(tmp_path), "waits.py:waits")
    made.deploy("waits", work_pool_name="nobody", print_next_steps=False, ignore_warnings=True)  # type: ignore[union-attr]
    return "waits/waits"


def test_a_missing_deployment_names_the_command_that_makes_it(prefect_server: PrefectServer) -> None:
    with pytest.raises(DeploymentMissingError, match="prefect deploy --all"):
        run_drains("no-such/no-such", {}, 1)


def test_runs_that_no_worker_takes_are_an_error_and_are_cancelled(deployment: str) -> None:
    from prefect.client.orchestration import get_client

    with pytest.raises(NoWorkerError, match="None of 2 runs"):
        run_drains(deployment, {}, 2, 0.2, Patience(start_s=1.0))
    with get_client(sync_client=True) as client:
        own = client.read_deployment_by_name(deployment).id  # the session's server has runs of other tests as well
        runs = [run for run in client.read_flow_runs() if run.deployment_id == own]
    assert [run.state_type and run.state_type.value for run in runs] == ["CANCELLED"] * 2


def test_a_server_that_stays_away_is_an_error_after_the_allowed_time(prefect_server: PrefectServer) -> None:
    began = time.monotonic()
    with (
        applied({"PREFECT_API_URL": f"http://127.0.0.1:{free_port()}/api"}),
        pytest.raises(ServerAwayError, match="has not answered for 2 s"),
    ):
        run_drains("tiny-drain/tiny-drain", {}, 1, 0.2, Patience(away_s=2.0))
    assert time.monotonic() - began < 15


def test_no_runs_are_done_at_once(deployment: str) -> None:
    assert run_drains(deployment, {}, 0) == ()
