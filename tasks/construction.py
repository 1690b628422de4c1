"""The hazard chain: which items each stage gets from the results of the stages before it.

Combinations that suit go through all stages. Once all is decided about them, a draw from those that do not suit goes
through the same stages, from edit on, for the auxiliary split: the steps `edit-drawn` to `decide-drawn`. A stage's
outcomes have the same keys in both, so nothing is done twice when a combination moves from one to the other.

`flows` settles the steps one after another, in this process or by drains on other machines; both ask here for the
items, so that a drain that knows only settings, store and step works on exactly what the build waits for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from data_registry.ledger import Ledger
from data_registry.records import Edit, Human, Judgement, Measurements, Region, Screening
from data_registry.sources.source import Selection
from prompts.taxonomy import TaskSpec
from tasks.auxiliary import AuxiliarySettings, Draw, draw_from, drawable
from tasks.items import Combination, Contested, Edited, Examined, Judged, Screened
from tasks.stage import Stage, StageResults, look_up

STAGES: Final = ("screen", "edit", "measure", "localize", "judge", "decide")
"""In the order in which one item goes through them."""
_DRAWN: Final = "-drawn"
DRAWN_STEPS: Final = tuple(stage + _DRAWN for stage in STAGES[1:])
"""What is done with the combinations that were drawn for the auxiliary split, in order."""
STEPS: Final = STAGES + DRAWN_STEPS
"""All steps of a build, in order; a step is a stage with its items."""


def stage_of(step: str) -> str:
    """Return the stage of a step.

    >>> stage_of("edit"), stage_of("edit-drawn")
    ('edit', 'edit')
    """
    return step.removesuffix(_DRAWN)


@dataclass
class Construction:
    """One build's chain: its stages, its items, and the results so far, by step."""

    selection: Selection
    tasks: tuple[TaskSpec, ...]
    human: tuple[Human, ...]
    stages: Mapping[str, Stage[Any, Any]]
    auxiliary: AuxiliarySettings = field(default_factory=AuxiliarySettings)
    results: dict[str, StageResults[Any, Any]] = field(default_factory=dict[str, StageResults[Any, Any]])

    def items(self, step: str) -> list[Any]:
        """Return a step's items; the steps before it must have their results here.

        Raises:
            KeyError: no such step, or an earlier step's results are missing.
        """
        stage = stage_of(step)
        suffix = step.removeprefix(stage)
        match stage:
            case "screen":
                return combinations(self.selection, self.tasks)
            case "edit":
                return to_edit(self.results["screen"], self.draw() if suffix else None)
            case "measure" | "localize":
                return to_measure(self.results["edit" + suffix])
            case "judge":
                return to_judge(self.results["measure" + suffix], self.results["localize" + suffix])
            case "decide":
                return to_decide(self.results["edit" + suffix], self.results["judge" + suffix], self.human)
            case _:
                raise KeyError(f"no step {step!r}; the chain has {', '.join(STEPS)}")

    def stage(self, step: str) -> Stage[Any, Any]:
        """Return the stage that works on a step's items."""
        return self.stages[stage_of(step)]

    def draw(self) -> Draw:
        """Return what is drawn for the auxiliary split: nothing before every suitable combination is decided on.

        Raises:
            KeyError: the results of a stage are missing.
        """
        waits_for = sum(len(self.results[stage].unsettled) for stage in STAGES)
        if waits_for:
            return Draw(0, (), waits_for)
        return draw_from(self.results["screen"], self.results["decide"], self.auxiliary)

    def merged(self, stage: str) -> StageResults[Any, Any]:
        """Return a stage's results about suitable and about drawn combinations; none yet for the latter is none."""
        first, drawn = self.results[stage], self.results.get(stage + _DRAWN)
        if drawn is None:
            return first
        return StageResults(stage, first.settled + drawn.settled, first.unsettled + drawn.unsettled)

    def catch_up(self, step: str, ledger: Ledger) -> None:
        """Read the results of all steps before `step` from the ledger, doing no work."""
        for earlier in STEPS[: STEPS.index(step)]:
            self.results[earlier] = look_up(self.stage(earlier), self.items(earlier), ledger)


def combinations(selection: Selection, tasks: tuple[TaskSpec, ...]) -> list[Combination]:
    """Return every keyframe x task, keyframe by keyframe."""
    return [Combination(keyframe, task) for keyframe in selection.keyframes for task in tasks]


def to_edit(screened: StageResults[Combination, Screening], draw: Draw | None = None) -> list[Screened]:
    """Return the suitable combinations with their screenings; with a draw the drawn ones instead."""
    if draw is not None:
        drawn = draw.ids
        return [item for item in drawable(screened) if item.id in drawn]
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
