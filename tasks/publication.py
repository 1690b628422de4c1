"""What is published: everything that a build's stages came to, and the proof that nothing got lost on the way."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from data_registry.blobs import Blobs
from data_registry.manifest import ReleaseError, is_pre_release
from data_registry.records import Decision, Edit, Judgement, Measurements, Region, Screening
from data_registry.sources.source import Selection, Source
from tasks.auxiliary import NOTHING_DRAWN, Draw
from tasks.items import Combination, Contested, Edited, Examined, Screened
from tasks.stage import Stage, StageResults

_CANDIDATE: Final = re.compile(r"@[0-9a-f]{12}\Z")
SHOWN: Final = 10
"""Items that an error names before it only counts."""
_LONGEST: Final = 300
"""Characters of an item's last error that an error shows."""


class PublicationError(ReleaseError):
    """The records of a build do not fit together, or not their pictures."""


class IncompleteError(ReleaseError):
    """Some items have no result, and the release would not say so."""


class ReconciliationError(ReleaseError):
    """Items that went into the build are neither pairs nor rejections: something was lost."""


@dataclass(frozen=True)
class Publication:
    """All that a release is made of."""

    name: str
    version: str
    selection: Selection
    source: Source
    blobs: Blobs
    screened: StageResults[Combination, Screening]
    edited: StageResults[Screened, Edit]
    measured: StageResults[Edited, Measurements]
    localized: StageResults[Edited, Region]
    judged: StageResults[Examined, Judgement]
    decided: StageResults[Contested, Decision]
    stages: Mapping[str, Stage[Any, Any]]
    """The stages by name, for lineage: their versions and back ends."""
    provenance: Mapping[str, Any]
    """For lock.json: git, packages, settings, seeds, flow run, clock; any JSON."""
    draw: Draw = NOTHING_DRAWN
    """Which screened-out combinations went on for the auxiliary split."""
    published_on: datetime.date | None = None
    """Date that the maintainers give the release; never read from a clock, since it is part of the content."""

    @cached_property
    def results(self) -> tuple[StageResults[Any, Any], ...]:
        """The stages' results, first stage first."""
        return self.screened, self.edited, self.measured, self.localized, self.judged, self.decided

    @property
    def complete(self) -> bool:
        """Whether every item of every stage has a result."""
        return not any(results.unsettled for results in self.results)


def refuse_incomplete(publication: Publication, allow_incomplete: bool) -> None:
    """Raise IncompleteError when items have no result, unless a pre-release was allowed to lack them."""
    if publication.complete or (allow_incomplete and is_pre_release(publication.version)):
        return
    open_items = [
        f"{results.stage}: {item.id}{_why(item.error)}" for results in publication.results for item in results.unsettled
    ]
    raise IncompleteError(
        f"{len(open_items)} items have no result yet, so {publication.version} would be incomplete:"
        f" {_some(open_items)}. Mend what the errors say, if there are any, and run the build again, or publish a"
        " pre-release version with --allow-incomplete"
    )


def _why(error: str | None) -> str:
    """Return an item's last error in brackets, on one line and bounded."""
    return f" ({' '.join(error.split())[:_LONGEST]})" if error else ""


def funnel(publication: Publication) -> dict[str, dict[str, int]]:
    """Return for each step how many of its items came to what, with their total; the last, `release`, is about
    combinations. Step `draw` counts the screened-out combinations that went on for the auxiliary split.

    Raises:
        ReconciliationError: an item that a stage kept did not reach the next one, or a stage knows items that no
            earlier one gave it.
    """
    lost = sorted(_lost(publication))
    if lost:
        raise ReconciliationError(
            f"{len(lost)} items got lost between stages: {_some(lost)}. This is a fault of the build, not of the data:"
            " keep the store and report it"
        )
    skipped, chosen = len(publication.selection.skipped), len(publication.selection.keyframes)
    counts: dict[str, dict[str, int]] = {"source": {"kept": chosen, "skipped": skipped, "total": chosen + skipped}}
    for results in publication.results:
        counts[results.stage] = dict(results.counts())
        if results.stage == "screen":
            drawn = len(publication.draw.ids)
            counts["draw"] = {"kept": drawn, "total": drawn}
    ends = Counter(ends_of(publication).values())
    names = ("benchmark", "auxiliary", "rejected", "failed_permanent", "unsettled")
    counts["release"] = {**{name: ends[name] for name in names}, "total": sum(ends.values())}
    return counts


def ends_of(publication: Publication) -> dict[str, str]:
    """Return for each combination whether it is a benchmark or auxiliary pair, rejected, failed or unsettled.

    A drawn combination of which no pair can be made stays rejected, for the reason that screening gave.
    """
    ends: dict[str, str] = {}
    drawn = publication.draw.ids
    for results in (publication.screened, publication.edited, publication.decided):
        for entry in results.settled:
            ends[entry.id] = "unsettled" if entry.result.status == "kept" else entry.result.status
            if entry.id in drawn and entry.result.status == "failed_permanent":
                ends[entry.id] = "rejected"
            if isinstance(entry.record, Decision):
                ends[entry.id] = "rejected" if entry.record.subset == "none" else entry.record.subset
        ends.update({item.id: "unsettled" for item in results.unsettled})
    for results in (publication.measured, publication.localized, publication.judged):
        for item in results.unsettled:
            ends[pair_of(item.id)] = "unsettled"
    return ends


def reasons_of(publication: Publication) -> dict[str, str]:
    """Return for each combination that is no benchmark pair the reason code that came first."""
    reasons: dict[str, str] = {}
    for results in (publication.screened, publication.edited, publication.decided):
        for entry in results.settled:
            if entry.result.status != "kept":
                reasons.setdefault(entry.id, entry.result.reason_code)
    return reasons


def pair_of(item_id: str) -> str:
    """Return the pair's id for the id of a combination, pair or candidate.

    >>> pair_of("streetset/a@b/t/x@0123456789ab"), pair_of("streetset/a@b/t/x")
    ('streetset/a@b/t/x', 'streetset/a@b/t/x')
    """
    return _CANDIDATE.sub("", item_id)


def _lost(publication: Publication) -> Iterator[str]:
    """Yield `stage: item` for whatever was not handed on, or came from nowhere."""
    known = {results.stage: _ids(results) for results in publication.results}
    keyframes = {keyframe.id for keyframe in publication.selection.keyframes}
    combined = {name.rpartition("/")[0] for name in known["screen"]}
    yield from _named("screen", combined ^ keyframes)
    sent = _kept(publication.screened) | publication.draw.ids
    yield from _named("edit", sent - known["edit"])
    yield from _named("edit", known["edit"] - (sent & known["screen"]))
    made = {
        Edited(entry.item, candidate).id: entry.result.status
        for entry in publication.edited.recorded
        if entry.record is not None
        for candidate in entry.record.candidates
    }
    kept = {name for name, status in made.items() if status == "kept"}
    for stage in ("measure", "localize"):
        yield from _named(stage, kept - known[stage])
        yield from _named(stage, known[stage] - made.keys())
    waiting = {item.id for results in publication.results for item in results.unsettled}
    yield from _named("judge", _kept(publication.measured) - known["judge"] - waiting)
    yield from _named("judge", known["judge"] - known["measure"])
    waiting |= {pair_of(name) for name in waiting}
    yield from _named("decide", _kept(publication.edited) - known["decide"] - waiting)
    yield from _named("decide", known["decide"] - known["edit"])


def _ids(results: StageResults[Any, Any]) -> set[str]:
    return {entry.id for entry in results.settled} | {item.id for item in results.unsettled}


def _kept(results: StageResults[Any, Any]) -> set[str]:
    return {entry.id for entry in results.kept}


def _named(stage: str, ids: Iterable[str]) -> Iterator[str]:
    return (f"{stage}: {name}" for name in ids)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
