"""The user's own command on a real server with real process workers: `prefect deployment run build-exceptiondrive`."""

import json
import os
import signal
import sqlite3
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from flows import processes, serve
from flows.server import PrefectServer, applied
from tests.flows.builds import CHECKOUT, Place
from tests.flows.conftest import prefect_command
from tests.flows.runs import installed_plugin, last_words, launched, state_of, wait_for


@pytest.fixture
def place(tmp_path: Path, street_root: Path, serving: serve.Serving) -> Place:
    return Place(tmp_path, street_root, PrefectServer(serving.url, serving.environment()))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, street_root: Path, serving: serve.Serving) -> str:
    """Digest of a build in one undisturbed process."""
    server = PrefectServer(serving.url, serving.environment())
    return str(Place(tmp_path_factory.mktemp("reference"), street_root, server).build()["digest"])


def _parameters(place: Place, **more: object) -> dict[str, object]:
    overrides = [*place.overrides(), "run.poll_s=0.5", "run.pending_s=20"]
    places = {"store": str(place.store), "releases": str(place.folder / "releases")}
    return {"settings": "sample", "set": overrides, **places, **more}


def _deploy(place: Place, name: str, *more: str) -> "subprocess.CompletedProcess[str]":
    place.folder.mkdir(exist_ok=True)
    words = ["deployment", "run", name, "--watch", "--params", json.dumps(_parameters(place)), *more]
    return prefect_command(*words, environment=_environment(place), cwd=CHECKOUT)


def _environment(place: Place) -> dict[str, str]:
    """As where the package is installed: Prefect finds our plugin, and the checkout's prefect.toml switches it on."""
    return dict(place.server.environment) | installed_plugin(place.folder)


def _digest(place: Place) -> str:
    done = place.run("verify", "--deep", str(place.release), "--json")
    assert done.returncode == 0, done.stdout
    return str(json.loads(done.stdout)["digest"])


@pytest.mark.parametrize("name", ["build-exceptiondrive", "build-exceptiondrive/build-exceptiondrive"])
def test_the_deployment_builds_a_release(place: Place, reference: str, name: str) -> None:
    done = _deploy(place, name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _digest(place) == reference


def test_an_unknown_parameter_is_refused_before_anything_runs(place: Place) -> None:
    words = ["deployment", "run", "build-exceptiondrive", "-p", "bogus=1"]
    done = prefect_command(*words, environment=_environment(place), cwd=CHECKOUT)
    assert done.returncode == 1
    assert "bogus" in done.stdout + done.stderr
    assert not place.store.exists()


def test_drains_on_workers_give_the_same_release(place: Place, reference: str) -> None:
    with applied(place.server.environment):
        run = launched("build-exceptiondrive/build-exceptiondrive", **_parameters(place, mode="workers"))
        wait_for(lambda: state_of(run) in {"COMPLETED", "FAILED", "CRASHED"}, 100, "the build ends")
        assert state_of(run) == "COMPLETED"
    assert _digest(place) == reference
    holders = {holder for (holder,) in place.rows("SELECT DISTINCT holder FROM results")}
    assert len(holders) >= 6  # each stage was drained by processes of its own


def test_a_killed_flow_run_is_retried_and_redoes_nothing(place: Place, serving: serve.Serving, reference: str) -> None:
    with applied(place.server.environment):
        run = launched("build-exceptiondrive/build-exceptiondrive", **_parameters(place))
        wait_for(lambda: _has_results(place), 60, "the first results")
        words_before = last_words(serving, "build")
        os.kill(_flow_process(place), signal.SIGKILL)
        before = place.results()
        wait_for(lambda: state_of(run) == "CRASHED", 30, "the run is crashed")
        wait_for(lambda: last_words(serving, "build") > words_before, 60, "the worker's last word")
        words = ["flow-run", "retry", str(run)]
        retried = prefect_command(*words, environment=dict(place.server.environment), cwd=CHECKOUT)
        assert retried.returncode == 0, retried.stderr
        wait_for(lambda: state_of(run) == "COMPLETED", 100, "the retried run is completed")
    after = place.results()
    assert {key: after[key] for key in before} == before
    assert _digest(place) == reference


@pytest.mark.parametrize("victim", ["worker-cpu", "server"])
def test_a_killed_worker_or_server_costs_no_finished_item(
    place: Place, serving: serve.Serving, reference: str, victim: str
) -> None:
    with applied(place.server.environment):
        run = launched("build-exceptiondrive/build-exceptiondrive", **_parameters(place, mode="workers"))
        wait_for(lambda: _has_results(place), 60, "the first results")
        _kill(serving, victim)
        serve.serve(serving)  # an operator starts what died again; nothing else is touched
        wait_for(lambda: _ended(run), 150, "the build ends")
        assert state_of(run) == "COMPLETED"
    assert _digest(place) == reference
    assert place.rows("SELECT * FROM conflicts") == []


def _has_results(place: Place) -> bool:
    try:
        return (place.store / "ledger.sqlite").exists() and bool(place.results())
    except sqlite3.OperationalError:  # the ledger is being made
        return False


def _ended(run: UUID) -> bool:
    return state_of(run) in {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


def _flow_process(place: Place) -> int:
    """Return the process that works on the place's store, as its leases and results name it."""
    ((holder,),) = place.rows("SELECT holder FROM results ORDER BY committed_at DESC LIMIT 1")
    return int(holder.split("/")[-2])


def _kill(serving: serve.Serving, victim: str) -> None:
    parts = {part.name: part for part in [serving.server, *(part for _, part in serving.workers())]}
    process = processes.running(parts[victim])
    assert process is not None
    os.kill(process, signal.SIGKILL)
