"""The command `tasks`: the taxonomy at a glance."""

from __future__ import annotations

import json

from typer.testing import CliRunner, Result

from flows.cli import app
from prompts.taxonomy import load_taxonomy


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, ["tasks", *words])


def test_every_task_of_the_taxonomy_is_listed_once_and_whole() -> None:
    listed = json.loads(invoke("--json").stdout)["tasks"]
    assert sorted(row["id"] for row in listed) == [task.id for task in load_taxonomy()]
    signal = next(row for row in listed if row["id"] == "red_signal")
    wanted = ("signal_and_rule_conflict", "Red Signal", "mounted", "no_go", "conflict lane_beyond")
    assert tuple(signal[name] for name in ("family", "title", "placement", "region_kind", "region_rule")) == wanted
    text = invoke().stdout
    assert max(map(len, text.splitlines())) <= 110
    assert all(f"  {row['id']} " in text for row in listed)


def test_settings_choose_tasks_and_wrong_ones_are_refused() -> None:
    asked = invoke("--set", "tasks=[red_signal]", "--json")
    assert [row["id"] for row in json.loads(asked.stdout)["tasks"]] == ["red_signal"]
    refused = invoke("--set", "tasks=[green_signal]")
    assert refused.exit_code == 2
    assert "unknown tasks: green_signal" in refused.stderr
