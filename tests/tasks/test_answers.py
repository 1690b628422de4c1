"""Predictions from files: whose they are, and what they are bound to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.answers import AnswersError, AnswersFile, answers_of_file, why_unbound
from tests.planner_cases import case

CASES = (case(variant="source"), case())


def written(path: Path, **fields: Any) -> Path:
    """Write answers to both cases that are bound to their pixels, with other fields on top."""
    rows = [
        {"pair_id": one.pair_id, "variant": one.variant, "status": "ok", "t": [0, 3], "xy": [[0, 0], [9, 0]]}
        | {"inputs_sha256": one.inputs_sha256}
        | fields
        for one in CASES
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_rows_of_another_planner_than_the_file_was_given_as_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "P.jsonl", planner="mine")
    with pytest.raises(
        AnswersError, match=r"given as other, but line 1 says that they are of planner 'mine'"
    ) as raised:
        answers_of_file(AnswersFile("other", path), CASES)
    assert "--predictions NAME=FILE" in str(raised.value)
    assert len(answers_of_file(AnswersFile("mine", path), CASES).predicted) == 2


@pytest.mark.parametrize(
    ("fields", "bound", "why"),
    [
        ({}, True, ""),
        ({"inputs_sha256": None}, False, "rows without inputs_sha256"),
        ({"status": "error"}, False, "no ok row"),
    ],
)
def test_only_trajectories_that_say_their_pixels_are_bound(
    tmp_path: Path, fields: dict[str, Any], bound: bool, why: str
) -> None:
    answers = answers_of_file(AnswersFile("mine", written(tmp_path / "P.jsonl", **fields)), CASES)
    assert (answers.planner.bound, why_unbound(answers.planner)) == (bound, why)


def test_a_file_without_rows_binds_nothing(tmp_path: Path) -> None:
    (tmp_path / "P.jsonl").touch()
    answers = answers_of_file(AnswersFile("mine", tmp_path / "P.jsonl"), CASES)
    assert (answers.planner.bound, why_unbound(answers.planner)) == (False, "no ok row")
