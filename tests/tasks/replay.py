"""Stages that give back what a publication by hand says their items came to, through the real scheduler and ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from data_registry.records import Decision, Edit, Judgement, Measurements, Record, Region, Screening
from models.backend import Pure
from tasks.publication import Publication
from tasks.stage import ItemStage, Outcome, PermanentFailureError, Settled
from tests.tasks.publications import Settings

_RECORDS: dict[str, type[Record]] = {
    "screen": Screening,
    "edit": Edit,
    "measure": Measurements,
    "localize": Region,
    "judge": Judgement,
    "decide": Decision,
}


class Replay(ItemStage[Any, Any]):
    """A stage that knows its outcomes by item id; what it does not know fails for good."""

    version = 1

    def __init__(self, name: str, outcomes: dict[str, Settled[Any, Any]]) -> None:
        self.name = name  # pyright: ignore[reportAttributeAccessIssue]
        self.record = _RECORDS[name]
        self.backend = Pure(Settings(backend="rules", revision="1"))
        self._outcomes = outcomes

    def process(self, items: Sequence[Any]) -> Iterable[Outcome[Any]]:
        for item in items:
            known = self._outcomes.get(item.id)
            if known is None or known.record is None:
                raise PermanentFailureError("unknown_here", f"{item.id} has no record")
            yield Outcome(known.record, known.result.status == "kept", known.result.reason_code)


def replayed(publication: Publication) -> dict[str, Replay]:
    """Return stages that come to what the publication says."""
    return {
        results.stage: Replay(results.stage, {entry.id: entry for entry in results.settled})
        for results in publication.results
    }
