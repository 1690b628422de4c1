"""The hazard chain: which items each stage gets from the results of the stages before it.

`flows` settles the stages one after another, in this process or by drains on other machines; both ask here for the
items, so that a drain that knows only settings, store and stage name works on exactly what the build waits for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from data_registry.ledger import Ledger
from data_registry.records import Edit, Human, Judgement, Measurements, Region, Screening
from data_registry.sources.source import Selection
from prompts.taxonomy import TaskSpec
from tasks.items import Combination, Contested, Edited, Examined, Judged, Screened
from tasks.stage import Stage, StageResults, look_up

STAGES: Final = ("screen", "edit", "measure", "localize", "judge", "decide")
"""In the order in which one item goes through them."""


@dataclass
class Construction:
    """One build's chain: its stages, its items, and the results so far."""

    selection: Selection
    tasks: tuple[TaskSpec, ...]
    human: tuple[Human, ...]
    stages: Mapping[str, Stage[Any, Any]]
    results: dict[str, StageResults[Any, Any]] = field(default_factory=dict[str, StageResults[Any, Any]])

    def items(self, stage: str) -> list[Any]:
        """Return a stage's items; the stages before it must have their results here.

        Raises:
            KeyError: an earlier stage's results are missing.
        """
        results = self.results
        match stage:
            case "screen":
                return combinations(self.selection, self.tasks)
            case "edit":
                return to_edit(results["screen"])
            case "measure" | "localize":
                return to_measure(results["edit"])
            case "judge":
                return to_judge(results["measure"], results["localize"])
            case "decide":
                return to_decide(results["edit"], results["judge"], self.human)
            case _:
                raise KeyError(f"no stage {stage!r}; the chain has {', '.join(STAGES)}")

    def catch_up(self, stage: str, ledger: Ledger) -> None:
        """Read the results of all stages before `stage` from the ledger, doing no work."""
        for earlier in STAGES[: STAGES.index(stage)]:
            self.results[earlier] = look_up(self.stages[earlier], self.items(earlier), ledger)


def combinations(selection: Selection, tasks: tuple[TaskSpec, ...]) -> list[Combination]:
    """Return every keyframe x task, keyframe by keyframe."""
    return [Combination(keyframe, task) for keyframe in selection.keyframes for task in tasks]


def to_edit(screened: StageResults[Combination, Screening]) -> list[Screened]:
    """Return the suitable combinations with their screenings."""
    return [Screened(entry.item, entry.record) for entry in screened.kept if entry.record is not None]


def to_measure(edited: StageResults[Screened, Edit]) -> list[Edited]:
    """Return every candidate of every edit."""
    return [
        Edited(entry.item, candidate)
        for entry in edited.kept
        if entry.record is not None
        for candidate in entry.record.candidates
    ]


def to_judge(measured: StageResults[Edited, Measurements], located: StageResults[Edited, Region]) -> list[Examined]:
    """Return every measured candidate with its region, None where none could be found."""
    regions = {entry.id: entry.record for entry in located.settled}
    return [
        Examined(entry.item, entry.record, regions[entry.id])
        for entry in measured.recorded
        if entry.record is not None and entry.id in regions
    ]


def to_decide(
    edited: StageResults[Screened, Edit], judged: StageResults[Examined, Judgement], human: tuple[Human, ...]
) -> list[Contested]:
    """Return every edited pair with its judged candidates and the human decisions about it."""
    candidates: dict[str, list[Judged]] = {}
    for entry in judged.recorded:
        if entry.record is not None:
            candidates.setdefault(entry.record.pair_id, []).append(Judged(entry.item, entry.record))
    decisions: dict[str, list[Human]] = {}
    for decision in human:
        decisions.setdefault(decision.pair_id, []).append(decision)
    return [
        Contested(
            entry.item,
            entry.record,
            tuple(candidates.get(entry.id, ())),
            tuple(decisions.get(entry.id, ())),
        )
        for entry in edited.kept
        if entry.record is not None
    ]
