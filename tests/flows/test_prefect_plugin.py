import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.prefect_plugin import complete_name
from flows.serve import Serving
from tests.flows.conftest import prefect_command
from tests.flows.runs import CHECKOUT, installed_plugin


@pytest.mark.parametrize("command", ["run", "inspect"])
def test_a_bare_name_is_completed(command: str) -> None:
    assert complete_name(["/bin/prefect", "deployment", command, "tiny-drain", "--watch"]) == [
        "/bin/prefect",
        "deployment",
        command,
        "tiny-drain/tiny-drain",
        "--watch",
    ]


def test_root_options_may_come_first() -> None:
    words = ["prefect", "--profile", "deployment", "--no-prompt", "deployment", "run", "a"]
    assert complete_name(words) == [*words[:-1], "a/a"]


@pytest.mark.parametrize(
    "line",
    [
        "prefect deployment run flow/deployment",
        "prefect deployment run --id 0f3c",
        "prefect deployment run --watch tiny-drain",
        "prefect deployment run",
        "prefect deployment ls tiny-drain",
        "prefect deployment delete tiny-drain",
        "prefect flow-run inspect tiny-drain",
        "prefect --version",
        "prefect",
        "python script.py deployment run tiny-drain",
        "pytest deployment run tiny-drain",
        "",
    ],
)
def test_any_other_command_line_stays_as_it_is(line: str) -> None:
    assert complete_name(line.split()) == line.split()


def test_prefect_itself_runs_and_inspects_a_bare_name(serving: Serving, tmp_path: Path) -> None:
    environment = serving.environment() | installed_plugin(tmp_path)
    inspected = prefect_command("deployment", "inspect", "tiny-drain", environment=environment, cwd=tmp_path)
    assert inspected.returncode == 0, inspected.stderr
    assert "jobs/tiny.py:drain" in inspected.stdout
    words = ["deployment", "run", "tiny-drain", "-p", f'folder="{tmp_path}"', "--watch"]
    ran = prefect_command(*words, environment=environment, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Completed" in ran.stdout
    assert len(list(tmp_path.glob("drain.*"))) == 1


def test_without_the_plugin_prefect_refuses_the_bare_name_and_takes_the_long_form(
    serving: Serving, tmp_path: Path
) -> None:
    environment = serving.environment() | {"PREFECT_PLUGINS_ENABLED": "false"}
    bare = prefect_command("deployment", "inspect", "tiny-drain", environment=environment, cwd=tmp_path)
    assert bare.returncode == 1
    long = prefect_command("deployment", "inspect", "tiny-drain/tiny-drain", environment=environment, cwd=tmp_path)
    assert long.returncode == 0


def test_the_plugin_costs_next_to_nothing_beyond_prefects_own_import(tmp_path: Path) -> None:
    program = (
        "import prefect, pluggy, prefect.plugins, time; prefect.plugins.register_hook\n"
        "start = time.process_time(); import flows.prefect_plugin; print(time.process_time() - start)"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PREFECT_PLUGINS_ENABLED": "false"}
    environment["PREFECT_HOME"] = str(tmp_path)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.05
