"""How a release's pairs spread over families and tasks, beside the paper's benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from data_registry import identity
from tasks.publication import Publication, ends_of

PAPERS_SHARES: Final[Mapping[str, float]] = {
    "sudden_emergence": 0.2556,
    "lane_blockage": 0.1975,
    "bypass_and_gap_conflict": 0.2496,
    "signal_and_rule_conflict": 0.0360,
    "intersection_conflict": 0.0910,
    "road_surface_hazard": 0.1703,
}
"""Shares of the families in the paper's benchmark of 3,181 pairs (facts/systems.md section 1)."""
_ORDER: Final = tuple(PAPERS_SHARES)


@dataclass(frozen=True, slots=True)
class Spread:
    """The pairs of a family, or of one of its tasks."""

    family: str
    task: str
    """Empty: the whole family."""
    benchmark: int
    drawn: int
    """Auxiliary pairs of combinations that screening left out."""
    turned_down: int
    """Auxiliary pairs that decide did not approve."""

    @property
    def auxiliary(self) -> int:
        """All auxiliary pairs."""
        return self.drawn + self.turned_down


def by_task(publication: Publication) -> list[Spread]:
    """Return every task of the build, also those without a pair; families in the paper's order, then by id."""
    families = _families(publication)
    found = _counted(publication)
    return [
        Spread(families[task], task, *(found[task, kind] for kind in ("benchmark", "drawn", "turned_down")))
        for task in sorted(families, key=lambda task: (_ORDER.index(families[task]), task))
    ]


def by_family(publication: Publication) -> list[Spread]:
    """Return every family of the build with the sums of its tasks."""
    tasks = by_task(publication)
    return [
        Spread(
            family,
            "",
            sum(one.benchmark for one in tasks if one.family == family),
            sum(one.drawn for one in tasks if one.family == family),
            sum(one.turned_down for one in tasks if one.family == family),
        )
        for family in dict.fromkeys(one.family for one in tasks)
    ]


def strata(publication: Publication) -> dict[str, dict[str, int]]:
    """Return for each family and each `<family>/<task>` its pairs by subset and in total, for the manifest."""
    return {
        f"{one.family}/{one.task}".rstrip("/"): {
            "benchmark": one.benchmark,
            "auxiliary": one.auxiliary,
            "total": one.benchmark + one.auxiliary,
        }
        for one in (*by_family(publication), *by_task(publication))
    }


def _families(publication: Publication) -> dict[str, str]:
    return {entry.item.task.id: entry.item.task.family for entry in publication.screened.settled}


def _counted(publication: Publication) -> Counter[tuple[str, str]]:
    """Return how often a task has a pair of each kind."""
    drawn = publication.draw.ids
    found: Counter[tuple[str, str]] = Counter()
    for name, end in ends_of(publication).items():
        if end in {"benchmark", "auxiliary"}:
            kind = end if end == "benchmark" else "drawn" if name in drawn else "turned_down"
            found[identity.split_combination_id(name)[1], kind] += 1
    return found
