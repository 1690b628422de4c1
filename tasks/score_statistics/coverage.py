"""How many pairs each planner's numbers are about."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from data_registry.evaluation import COVERAGE
from tasks.score_statistics.gathered import gather, groups


def coverage(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Count what became of each planner's predictions (tables SCORES), table COVERAGE.

    Raises:
        StatisticsError: the tables are no scores, not about the same pairs, or contradict themselves.
    """
    gathered = gather(scores)
    return COVERAGE.frame(
        {
            "planner": planner,
            "level": group.level,
            "group": group.name,
            "pairs": len(group.rows),
            "scored": int(gathered.scored[group.rows, place].sum()),
            "failed": int(gathered.failed[group.rows, place].sum()),
            "ineligible": int(gathered.ineligible[group.rows, place].sum()),
            "paired": int(gathered.paired[group.rows, place].sum()),
        }
        for group in groups(gathered.pairs)
        for place, planner in enumerate(gathered.planners)
    )
