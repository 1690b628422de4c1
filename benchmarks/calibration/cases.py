"""Good and bad edits with their measurements, made of every suitable combination of some logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.calibration.faults import BLEMISHES, PIXEL_FAULTS, Fault
from benchmarks.calibration.misplaced import APART, MISPLACEMENTS, TRIFLES, Misplacement, in_two_views
from data_registry.blobs import Blobs
from data_registry.pictures import Decoder
from data_registry.records import Candidate, Measurements, Placement
from data_registry.sources.source import Request, Source
from models.editors.compositor import Compositor
from models.screeners import RuleScreener
from prompts.taxonomy import TaskSpec, load_taxonomy
from qa_audit import checks, evidence
from qa_audit.evidence import PairSubject, ViewPixels
from tasks.edit import EditStage
from tasks.items import Combination, Screened
from tasks.measure import source_rgb
from tasks.screen import ScreenStage
from tasks.stage import PermanentFailureError

GOOD: Final = "as drawn"
TWO_VIEWS: Final = 3
"""Every third item is also drawn where two views see it."""
RARE: Final = ("over a nearer object",)
"""Few edits can have these faults: they are made of every one that can."""


@dataclass(frozen=True, slots=True)
class Case:
    """One measured edit."""

    pair_id: str
    kind: str
    """Of the placement."""
    fault: str
    strength: float
    unit: str
    is_good: bool
    values: Mapping[str, tuple[float, ...]]
    """By check, of the views where there is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Workshop:
    """Draws and measures."""

    source: Source
    blobs: Blobs
    stage: EditStage
    decoder: Decoder

    @classmethod
    def of(cls, source: Source, blobs: Blobs) -> Workshop:
        """Open a workshop for a source; pictures go to the blobs."""
        return cls(source, blobs, EditStage(Compositor(), source, blobs), Decoder())

    def drawn(self, item: Screened, placement: Placement) -> tuple[ViewPixels, ...] | None:
        """Return the views of an item with the hazard drawn at a placement; None when none shows it."""
        screening = item.screening.model_copy(update={"placement": placement})
        try:
            (outcome,) = self.stage.process([Screened(item.combination, screening)])
        except PermanentFailureError:
            return None
        return self._loaded(item, outcome.record.candidates[0])

    def _loaded(self, item: Screened, candidate: Candidate) -> tuple[ViewPixels, ...]:
        keyframe = item.combination.keyframe
        return tuple(
            ViewPixels.load(view, source_rgb(self.source, keyframe, view, self.decoder), self.blobs)
            for view in candidate.views
        )


def suitable(source: Source, tasks: Sequence[TaskSpec] | None = None) -> Iterator[Screened]:
    """Yield every suitable combination of a source's keyframes."""
    stage = ScreenStage(RuleScreener())
    for keyframe in source.select(Request()).keyframes:
        combinations = [Combination(keyframe, task) for task in tasks or load_taxonomy()]
        for combination, outcome in zip(combinations, stage.process(combinations), strict=True):
            if outcome.record.suitable:
                yield Screened(combination, outcome.record)


def cases(workshop: Workshop, item: Screened, turn: int, turns: int) -> Iterator[Case]:
    """Yield the good edit of an item, and of its faults and trifles every `turns`-th, which ones depends on `turn`."""
    placement = item.screening.placement
    views = workshop.drawn(item, placement) if placement else None
    if placement is None or views is None:
        return
    good = evidence.subject(item.combination.keyframe, placement, views, item.screening.views)
    yield _case(item, good, (GOOD, 0.0, ""), True)
    for number, (fault, strength, is_good) in enumerate(_pixel_faults()):
        if (number + turn) % turns == 0 or fault.name in RARE:
            made = fault.make(good, strength)
            if made is not None:
                yield _case(item, made, (fault.name, strength, fault.unit), is_good)
    for number, (wrong, strength, is_good) in enumerate(_misplacements()):
        if (number + turn) % turns == 0:
            made = misplaced(workshop, item, good, (wrong, strength))
            if made is not None:
                yield _case(item, made, (wrong.name, strength, wrong.unit), is_good)
    if turn % TWO_VIEWS == 0:
        yield from _two_views(workshop, item)


def _two_views(workshop: Workshop, item: Screened) -> Iterator[Case]:
    """Yield an item's hazard where two views see it: good, in one view only, and apart; about the views alone."""
    turned = in_two_views(item)
    placement = turned.screening.placement if turned else None
    views = workshop.drawn(turned, placement) if turned and placement else None
    if turned is None or placement is None or views is None or len(views) < 2:
        return
    keyframe, wanted = turned.combination.keyframe, turned.screening.views
    good = evidence.subject(keyframe, placement, views, wanted)
    yield _about_views(_case(item, good, ("in two views", 0.0, ""), True))
    yield _about_views(_case(item, replace(good, views=good.views[:1]), ("in one view only", 1.0, "view"), False))
    for strength in APART.strengths:
        place = APART.place(turned, strength)
        other = workshop.drawn(turned, place) if place else None
        second = [view for view in other or () if view.sensor_id == views[1].sensor_id]
        if second:
            made = evidence.subject(keyframe, placement, (views[0], *second), wanted)
            yield _about_views(_case(item, made, (APART.name, strength, APART.unit), False))


def _about_views(case: Case) -> Case:
    """Leave out everything else: such placements may be on the pavement, or where a car is parked."""
    names = [check.name for check in checks.PAIR_CHECKS]
    return replace(case, values={name: case.values[name] for name in names})


def misplaced(
    workshop: Workshop, item: Screened, good: PairSubject, how: tuple[Misplacement, float]
) -> PairSubject | None:
    """Return the item's edit with a fault of place; None where it cannot have it, or then shows in no view."""
    wrong, strength = how
    place = wrong.place(item, strength)
    views = workshop.drawn(item, place) if place else None
    if place is None or views is None:
        return None
    wanted = tuple(view.sensor_id for view in views) if wrong.intended else good.wanted
    keyframe = item.combination.keyframe
    subject = evidence.subject(keyframe, place if wrong.intended else good.placement, views, wanted)
    return replace(subject, views=subject.views[:1]) if wrong.name == "truncated" else subject


def _pixel_faults() -> list[tuple[Fault, float, bool]]:
    return [
        (fault, strength, fault in BLEMISHES) for fault in (*PIXEL_FAULTS, *BLEMISHES) for strength in fault.strengths
    ]


def _misplacements() -> list[tuple[Misplacement, float, bool]]:
    return [(wrong, strength, wrong in TRIFLES) for wrong in (*MISPLACEMENTS, *TRIFLES) for strength in wrong.strengths]


def _case(item: Screened, subject: PairSubject, what: tuple[str, float, str], is_good: bool) -> Case:
    found = Measurements(pair_id=item.id, edit_digest="0" * 64, values=checks.measure(subject))
    names = {check.name for check in checks.CHECKS}
    values = {
        name: tuple(entry.value for entry in found.of(name) if entry.value is not None) for name in sorted(names)
    }
    return Case(item.id, subject.placement.kind, *what, is_good, values)
