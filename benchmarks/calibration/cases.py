"""Good and bad edits with their measurements, made of every suitable combination of some logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeVar

from benchmarks.calibration.faults import BLEMISHES, OVER_NEARER, PIXEL_FAULTS, Fault
from benchmarks.calibration.misplaced import APART, MISPLACEMENTS, TRIFLES, Misplacement, half_hidden, in_two_views
from data_registry.blobs import Blobs
from data_registry.pictures import Decoder
from data_registry.records import Candidate, Measurements, Placement
from data_registry.sources.source import Request, Source
from models.editors.compositor import Compositor
from models.screeners import RuleScreener, RuleScreenerSettings
from prompts.taxonomy import TaskSpec, load_taxonomy
from qa_audit import checks, evidence
from qa_audit.evidence import PairSubject, ViewPixels
from tasks.edit import EditStage
from tasks.items import Combination, Screened
from tasks.measure import source_rgb
from tasks.screen import ScreenStage
from tasks.stage import PermanentFailureError

K = TypeVar("K", Fault, Misplacement)

GOOD: Final = "as drawn"
EVERY: Final = 3
"""Every third item is also drawn where two views see it, every third half behind an annotated object."""
VIEWS: Final = tuple(check.name for check in checks.PAIR_CHECKS)
HIDING: Final = ("over_nearer_share",)


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
    """By check, of the views where there is one; a check that the case says nothing about is missing."""


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


def suitable(source: Source, tasks: Sequence[TaskSpec] | None = None, seed: int = 0) -> Iterator[Screened]:
    """Yield every suitable combination of a source's keyframes; another seed places hazards elsewhere."""
    stage = ScreenStage(RuleScreener(RuleScreenerSettings(seed_root=seed)))
    for keyframe in source.select(Request()).keyframes:
        combinations = [Combination(keyframe, task) for task in tasks or load_taxonomy()]
        for combination, outcome in zip(combinations, stage.process(combinations), strict=True):
            if outcome.record.suitable:
                yield Screened(combination, outcome.record)


@dataclass(frozen=True, slots=True)
class Share:
    """Which faults an item gets."""

    turn: int
    """Number of the item."""
    turns: int
    """Every so many-th fault, beginning at the turn."""
    strongest: bool = False
    """Each at its last strength alone."""
    between: bool = False
    """Each at strengths half way between its own: none that a limit was chosen on."""

    def take(self, kinds: Sequence[K]) -> list[tuple[K, float]]:
        """Return the chosen faults, each with a strength."""
        pairs = [(kind, strength) for kind in kinds for strength in self.of(kind.strengths)]
        return [pair for number, pair in enumerate(pairs) if (number + self.turn) % self.turns == 0]

    def of(self, strengths: Sequence[float]) -> Sequence[float]:
        """Return which strengths to take of a fault's; one that has a single strength keeps it."""
        if self.between and len(strengths) > 1:
            return [(weak + strong) / 2 for weak, strong in pairwise(strengths)]
        return strengths[-1 if self.strongest else 0 :]


def cases(workshop: Workshop, item: Screened, share: Share) -> Iterator[Case]:
    """Yield the good edit of an item, and its share of faults and trifles."""
    good = _good(workshop, item)
    if good is None:
        return
    yield _case(item, good, (GOOD, 0.0, ""), True)
    for fault, strength in share.take((*PIXEL_FAULTS, *BLEMISHES)):
        made = fault.make(good, strength)
        if made is not None:
            yield _case(item, made, (fault.name, strength, fault.unit), fault in BLEMISHES)
    for wrong, strength in share.take((*MISPLACEMENTS, *TRIFLES)):
        made = _misplaced(workshop, item, good, (wrong, strength))
        if made is not None:
            yield _case(item, made, (wrong.name, strength, wrong.unit), wrong in TRIFLES)
    if share.turn % EVERY == 0:
        yield from _two_views(workshop, item, share)
    if share.turn % EVERY == 1:
        yield from _half_hidden(workshop, item)


def _two_views(workshop: Workshop, item: Screened, share: Share) -> Iterator[Case]:
    """Yield an item's hazard where two views see it: good, in one view only, and apart; about the views alone."""
    turned = in_two_views(item)
    good = _good(workshop, turned) if turned else None
    if turned is None or good is None or len(good.views) < 2:
        return
    keyframe, wanted, placement = turned.combination.keyframe, good.wanted, good.placement
    views = [view.pixels for view in good.views]
    yield _about(_case(item, good, ("in two views", 0.0, ""), True), VIEWS)
    yield _about(_case(item, replace(good, views=good.views[:1]), ("in one view only", 1.0, "view"), False), VIEWS)
    for strength in share.of(APART.strengths) if share.between else APART.strengths:
        place = APART.place(turned, strength)
        other = workshop.drawn(turned, place) if place else None
        second = [view for view in other or () if view.sensor_id == views[1].sensor_id]
        if second:
            made = evidence.subject(keyframe, placement, (views[0], *second), wanted)
            yield _about(_case(item, made, (APART.name, strength, APART.unit), False), VIEWS)


def _half_hidden(workshop: Workshop, item: Screened) -> Iterator[Case]:
    """Yield an item's hazard half behind an annotated object: hidden, and painted over it; about nothing else."""
    behind = half_hidden(item)
    good = _good(workshop, behind) if behind else None
    if good is not None:
        made = OVER_NEARER.make(good, 1.0)
        yield _about(_case(item, good, ("half hidden", 0.0, ""), True), HIDING)
        if made is not None:
            yield _about(_case(item, made, (OVER_NEARER.name, 1.0, ""), False), HIDING)


def _about(case: Case, names: Sequence[str]) -> Case:
    """Leave out all other checks: such placements may be on the pavement, or where a car is parked."""
    return replace(case, values={name: case.values[name] for name in names})


def _good(workshop: Workshop, item: Screened) -> PairSubject | None:
    """Return an item's edit as drawn; None when no view shows it."""
    placement = item.screening.placement
    views = workshop.drawn(item, placement) if placement else None
    if placement is None or views is None:
        return None
    return evidence.subject(item.combination.keyframe, placement, views, item.screening.views)


def _misplaced(
    workshop: Workshop, item: Screened, good: PairSubject, how: tuple[Misplacement, float]
) -> PairSubject | None:
    """Return the item's edit with a fault of place; None where it cannot have it, or then shows in no view."""
    wrong, strength = how
    place = wrong.place(item, strength)
    views = workshop.drawn(item, place) if place else None
    if place is None or views is None:
        return None
    keyframe = item.combination.keyframe
    if not wrong.intended:
        return evidence.subject(keyframe, good.placement, views, good.wanted)
    # in the first view the place is what the fault says; in others it may be seen well
    return evidence.subject(keyframe, place, views[:1], [views[0].sensor_id])


def _case(item: Screened, subject: PairSubject, what: tuple[str, float, str], is_good: bool) -> Case:
    found = Measurements(pair_id=item.id, edit_digest="0" * 64, values=checks.measure(subject))
    names = {check.name for check in checks.CHECKS}
    values = {name: tuple(entry.value for entry in found.of(name) if entry.value is not None) for name in sorted(names)}
    return Case(item.id, subject.placement.kind, *what, is_good, values)
