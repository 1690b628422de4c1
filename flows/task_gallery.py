"""The sheet of all tasks that a build shows: one approved pair of each, and why there is none where there is none."""

from __future__ import annotations

import uuid
from collections import Counter
from pathlib import Path
from typing import Final

from data_registry.edits import materialise
from data_registry.geometry import EGO_FRONT_M
from data_registry.pictures import decode_rgb
from data_registry.records import Decision, ViewEdit
from flows import artifacts
from flows.assembly import Build
from flows.publishing import publication_of
from prompts.taxonomy import TaskSpec
from qa_audit.task_sheet import TaskCell, View, encoded, task_sheet
from tasks.distribution import PAPERS_SHARES
from tasks.items import Contested
from tasks.publication import reasons_of
from tasks.stage import Settled

Approved = Settled[Contested, Decision]
_GAP_FACT: Final = "target_gap_m"


def show_task_sheet(build: Build, path: Path) -> uuid.UUID:
    """Save the sheet as a JPEG, publish it as artifact `contact-sheet`, and return the artifact's id."""
    sheet = task_sheet(task_cells(build))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded(sheet))
    title = "One approved pair of each task: source left, edited right"
    return artifacts.publish_markdown("contact-sheet", artifacts.picture_markdown(title, sheet), title)


def task_cells(build: Build) -> list[TaskCell]:
    """Return a cell for each task, families in the paper's order, then by id."""
    chosen = chosen_pairs(build.construction.results["decide"].kept)
    reasons = reasons_of(publication_of(build))
    cells: list[TaskCell] = []
    for task in tasks_in_order(build):
        entry = chosen.get(task.id)
        family = task.family.replace("_", " ").capitalize()
        if entry is None:
            cells.append(TaskCell(family, task.title, _why_none(task, reasons), None))
        else:
            cells.append(TaskCell(family, task.title, _note(entry), _view(build, entry)))
    return cells


def tasks_in_order(build: Build) -> list[TaskSpec]:
    """Return a build's tasks, families in the paper's order, then by id."""
    return sorted(build.construction.tasks, key=_place)


def _place(task: TaskSpec) -> tuple[int, str]:
    return list(PAPERS_SHARES).index(task.family), task.id


def chosen_pairs(approved: list[Approved]) -> dict[str, Approved]:
    """Return one approved pair a task: of the scene that was shown least so far, then the one best to be seen."""
    shown: Counter[str] = Counter()
    chosen: dict[str, Approved] = {}
    for task in sorted({_task_id(entry) for entry in approved}):
        mine = [entry for entry in approved if _task_id(entry) == task]
        best = min(mine, key=lambda entry: (shown[entry.strata.scene], -_changed_px(entry), entry.id))
        shown[best.strata.scene] += 1
        chosen[task] = best
    return chosen


def _task_id(entry: Approved) -> str:
    return entry.item.screened.combination.task.id


def _largest(entry: Approved) -> ViewEdit:
    """Return the chosen candidate's view that changed most."""
    decision = entry.record
    digest = decision.edit_digest if decision else None
    candidates = entry.item.edit.candidates
    candidate = next((one for one in candidates if one.edit_digest == digest), candidates[0])
    return max(candidate.views, key=lambda view: (_area(view), view.sensor_id))


def _area(view: ViewEdit) -> int:
    left, top, right, bottom = view.window
    return (right - left) * (bottom - top)


def _changed_px(entry: Approved) -> int:
    return _area(_largest(entry))


def _view(build: Build, entry: Approved) -> View:
    keyframe, view = entry.item.screened.combination.keyframe, _largest(entry)
    camera = keyframe.view(view.sensor_id)
    source = decode_rgb(build.source.picture(keyframe, camera), f"{keyframe.id} {view.sensor_id}")
    return View(source, materialise(source, view, build.store.blobs), view.window)


def _note(entry: Approved) -> str:
    """Return the scene, and the gap between front bumper and hazard."""
    gap = _gap_m(entry)
    return entry.strata.scene + (f", gap {gap:.1f} m" if gap is not None else "")


def _gap_m(entry: Approved) -> float | None:
    """Return the gap along the lane as screening measured it, else straight ahead to the expected region."""
    screening = entry.item.screened.screening
    measured = [fact.value for fact in screening.evidence if fact.name == _GAP_FACT]
    if measured and isinstance(measured[0], float):
        return measured[0]
    if screening.expected_region is None:
        return None
    return min(x for x, _ in screening.expected_region) - EGO_FRONT_M


def _why_none(task: TaskSpec, reasons: dict[str, str]) -> str:
    """Return the commonest reason for which the task has no approved pair."""
    found = Counter(reason for name, reason in reasons.items() if name.rpartition("/")[2] == task.id)
    if not found:
        return "no approved pair"
    reason, count = min(found.items(), key=lambda item: (-item[1], item[0]))
    often = f"mostly {reason.replace('_', ' ')} ({count} of {found.total()})"
    return f"no approved pair: {reason.replace('_', ' ') if found.total() == 1 else often}"
