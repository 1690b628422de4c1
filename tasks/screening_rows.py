"""Rows of table `screenings`: what screening found about every combination, also those that it left out.

Only what a report over the whole taxonomy groups by: the facts themselves are in `pairs` and `rejections`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from data_registry.records import Fact, Screening
from tasks.items import Combination
from tasks.stage import StageResults

Row = dict[str, Any]

_LANE_FACT: Final = "turn_deg"
"""Measured exactly where the course follows lanes of the map; every screening by rules asks for it."""


def screening_rows(screened: StageResults[Combination, Screening]) -> Iterator[Row]:
    """Yield a row for each combination that has a screening, suitable or not."""
    for entry in screened.recorded:
        if entry.record is not None:
            yield _row(entry.item, entry.record)


def _row(combination: Combination, screening: Screening) -> Row:
    keyframe, task = combination.keyframe, combination.task
    return {
        "pair_id": combination.id,
        "scene": keyframe.scene,
        "location": keyframe.location,
        "split": keyframe.split,
        "task": task.id,
        "family": task.family,
        "suitable": screening.suitable,
        "reason_code": screening.reason_code,
        **_reason(screening, has_lanes=keyframe.map.source == "expansion"),
        "placement_kind": screening.placement.kind if screening.placement else None,
        "views": len(screening.views),
        "nominal_conflict": screening.nominal_conflict,
        "required_decel": screening.required_decel,
        "avoidable": screening.avoidable,
        "path_source": screening.path_source,
        "course": _course(screening),
        "speed": keyframe.motion.speed,
        "speed_source": keyframe.motion.source,
        "map_source": keyframe.map.source,
    }


def _reason(screening: Screening, has_lanes: bool) -> Row:
    """Return the columns about the first fact that does not hold, which the reason code names, and about the others."""
    failed = [] if screening.suitable else [fact for fact in screening.evidence if not fact.holds]
    first, others = (failed[0], failed[1:]) if failed else (None, [])
    measured = sum(_is_told(fact, has_lanes) for fact in others)
    told = first is not None and _is_told(first, has_lanes)
    return {
        "reason_fact": first.name if first else None,
        "reason_measured": told if first else None,
        "reason_value": _number(first) if first and told else None,
        "reason_at_least": first.at_least if first else None,
        "reason_at_most": first.at_most if first else None,
        "more_measured": measured,
        "more_unknown": len(others) - measured,
    }


def _is_told(fact: Fact, has_lanes: bool) -> bool:
    """Tell whether the log could answer; where no map tells anchors, not being at one says nothing about the place."""
    return fact.value is not None and (has_lanes or fact.name != "at_anchor")


def _number(fact: Fact) -> float | None:
    """Return a value as a number; None of a word."""
    return None if fact.value is None or isinstance(fact.value, str) else float(fact.value)


def _course(screening: Screening) -> Literal["lanes", "straight"] | None:
    """Tell what the course follows; None when the screener measured nothing of the kind."""
    for fact in screening.evidence:
        if fact.name == _LANE_FACT:
            return "straight" if fact.value is None else "lanes"
    return None
