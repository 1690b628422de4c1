"""Which pair of a task a build shows."""

from __future__ import annotations

from pathlib import Path

from flows.task_gallery import chosen_pairs
from tests.tasks.publications import build


def test_one_approved_pair_of_each_task_is_shown_whatever_their_order(tmp_path: Path) -> None:
    approved = build(tmp_path, ends=("benchmark",) * 6).decided.kept
    chosen = chosen_pairs(approved)
    assert {task: entry.id.rpartition("/")[2] for task, entry in chosen.items()} == {task: task for task in chosen}
    assert len(chosen) == 2
    again = chosen_pairs(approved[::-1])
    assert {task: entry.id for task, entry in again.items()} == {task: entry.id for task, entry in chosen.items()}
