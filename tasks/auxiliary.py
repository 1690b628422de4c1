"""The draw of the auxiliary split: which screened-out combinations are edited although they are no benchmark pairs.

The paper draws 8,994 of them for 3,181 benchmark pairs so that they follow the benchmark's distribution over tasks
(facts/systems.md section 1 item 6). The draw here is a pure function of ids: of the approved pairs, of what could be
drawn, and of the settings. Nothing else counts, not even the order in which they come, so that a drain on another
machine draws the same.

Seats go to tasks one after another by the quota method of Balinski and Young (1975): as every share-out by largest
remainders it stays within one of the exact share, and unlike that it never takes a seat back when there are more of
them. Within a task the order is by seed. So a larger draw holds every smaller one. A task that runs out of combinations
leaves its seats to the others, in their own proportions, and how far that bends the distribution is told task by task.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from data_registry import identity
from data_registry.records import Decision, Screening
from tasks.items import Combination, Contested, Screened
from tasks.stage import StageResults

PAPERS_SHARE: Final = 2.8274
"""8,994 drawn for 3,181 benchmark pairs (facts/systems.md section 1)."""


class AuxiliarySettings(BaseModel):
    """How many screened-out combinations are drawn, and which; 0 switches the draw off."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    share: Annotated[float, Field(ge=0, le=1_000)] = PAPERS_SHARE
    """Drawn for each benchmark pair, rounded up; used unless `size` is given."""
    size: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """Number to draw, whatever the size of the benchmark."""
    seed_root: Annotated[int, Field(ge=0, lt=2**53)] = 0
    """Another root draws other combinations of the same tasks."""

    def asked(self, benchmark: int) -> int:
        """Return how many to draw beside a benchmark of that many pairs.

        >>> AuxiliarySettings().asked(3181), AuxiliarySettings(size=7).asked(3181)
        (8994, 7)
        """
        return math.ceil(Fraction(str(self.share)) * benchmark) if self.size is None else self.size


@dataclass(frozen=True, slots=True)
class TaskDraw:
    """What one task came to."""

    task: str
    benchmark: int
    """Approved pairs."""
    available: int
    """Screened-out combinations that have a placement, an appearance and a view."""
    quota: int
    """Seats in proportion to the benchmark, as if every task had combinations enough."""
    drawn: tuple[str, ...]
    """Combination ids in the order of the draw."""

    @property
    def short(self) -> int:
        """Seats that the task leaves to others, since it has too few combinations."""
        return max(self.quota - len(self.drawn), 0)


@dataclass(frozen=True, slots=True)
class Draw:
    """A whole draw, task by task."""

    asked: int
    tasks: tuple[TaskDraw, ...]
    """Sorted by task id; every task that the benchmark has, or that could be drawn from."""
    waits_for: int = 0
    """Items without a result: until all are settled there is no benchmark to follow, and nothing is drawn."""

    @property
    def ids(self) -> frozenset[str]:
        """Ids of all drawn combinations."""
        return frozenset(name for one in self.tasks for name in one.drawn)

    @property
    def available(self) -> int:
        """Number of combinations that could be drawn."""
        return sum(one.available for one in self.tasks)

    @property
    def short(self) -> int:
        """Number of seats that stay empty, since no task of the benchmark has a combination left."""
        return self.asked - sum(len(one.drawn) for one in self.tasks)


NOTHING_DRAWN: Final = Draw(0, ())


def quotas(
    benchmark: Mapping[str, int], size: int, seed_root: int = 0, available: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Share `size` seats out in proportion to counts of pairs by task; see the module for how.

    A tie goes to the larger task, then by seed. Without any pair there are no seats. With `available` no task gets more
    seats than that; when all are full, the rest stay empty.

    >>> quotas({"animal": 1, "ball": 3}, 5)
    {'animal': 1, 'ball': 4}
    >>> quotas({"animal": 1, "ball": 3}, 5, available={"animal": 9, "ball": 2})
    {'animal': 3, 'ball': 2}
    """
    counts = {task: benchmark[task] for task in sorted(benchmark) if benchmark[task] > 0}
    lots = {task: _lot(task, seed_root) for task in counts}
    seats = dict.fromkeys(sorted(benchmark), 0)
    total = sum(counts.values())
    for number in range(1, size + 1):
        left = [task for task in counts if available is None or seats[task] < available.get(task, 0)]
        if not left:
            break
        # one more seat must not lift a task by a whole seat above its exact share, unless those below it are full
        free = [task for task in left if seats[task] * total < counts[task] * number] or left
        # as floats, quotients of such small integers are equal when they are, and in the same order
        chosen = max(free, key=lambda task: (counts[task] / (seats[task] + 1), counts[task], lots[task]))
        seats[chosen] += 1
    return seats


def draw(benchmark: Iterable[str], drawable: Iterable[str], settings: AuxiliarySettings) -> Draw:
    """Draw from screened-out combinations, following the benchmark's distribution over tasks.

    Args:
        benchmark: ids of the approved pairs.
        drawable: ids of the combinations to draw from.
        settings: how many, and the seed's root.
    """
    approved = Counter(map(_task_of, set(benchmark)))
    names = set(drawable)
    pools: dict[str, list[str]] = {}
    for name in names:
        pools.setdefault(_task_of(name), []).append(name)
    asked = settings.asked(approved.total())
    counts = {task: approved[task] for task in {*approved, *pools}}
    available = {task: len(pool) for task, pool in pools.items()}
    ideal = quotas(counts, asked, settings.seed_root)
    seats = quotas(counts, min(asked, len(names)), settings.seed_root, available)
    found: list[TaskDraw] = []
    for task, quota in ideal.items():
        order = sorted(pools.get(task, ()), key=lambda name: (_lot(name, settings.seed_root), name))
        found.append(TaskDraw(task, approved[task], len(order), quota, tuple(order[: seats[task]])))
    return Draw(asked, tuple(found))


def draw_from(
    screened: StageResults[Combination, Screening],
    decided: StageResults[Contested, Decision],
    settings: AuxiliarySettings,
) -> Draw:
    """Draw beside a build's own decisions, once all of them are made."""
    return draw((entry.id for entry in decided.kept), (item.id for item in drawable(screened)), settings)


def drawable(screened: StageResults[Combination, Screening]) -> list[Screened]:
    """Return the screened-out combinations that could be edited all the same: the screener placed a hazard in view."""
    return [
        Screened(entry.item, entry.record)
        for entry in screened.recorded
        if entry.record is not None and not entry.record.suitable and _is_placed(entry.record)
    ]


def _is_placed(screening: Screening) -> bool:
    return screening.placement is not None and screening.appearance is not None and bool(screening.views)


def _task_of(combination: str) -> str:
    return identity.split_combination_id(combination)[1]


def _lot(name: str, seed_root: int) -> int:
    """Return the place of a combination or task in the order of the draw."""
    return identity.seed_for(seed_root, "auxiliary", name)
