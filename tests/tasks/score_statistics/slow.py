"""The statistics once more in plain Python, one number at a time: slow, and easy to read against DESIGN section 5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl

Row = Mapping[str, Any]
STRICT = {"ur": 1.0, "hcc": 0.0, "hpr": 0.0}


def value(row: Row, metric: str, mode: str) -> float | None:
    """What a pair counts as in a mean; None: it does not count."""
    if mode == "strict" and row["edited"] not in ("ok", "ineligible"):
        return STRICT[metric]
    return row[metric]


def mean(values: Iterable[float | None]) -> float | None:
    """The exact mean of what counts, rounded once."""
    counted = [Fraction(one) for one in values if one is not None]
    return float(sum(counted, Fraction()) / len(counted)) if counted else None


def by_task(values: list[float | None], tasks: list[str]) -> list[list[float | None]]:
    return [[one for one, its in zip(values, tasks, strict=True) if its == task] for task in sorted(set(tasks))]


def macro(values: list[float | None], tasks: list[str]) -> float | None:
    """The mean over tasks of the tasks' means."""
    return mean(mean(part) for part in by_task(values, tasks))


def interval(
    values: list[float | None], scenes: list[str], tasks: list[str], statistic: Callable[..., float | None]
) -> tuple[float, float]:
    """2.5th and 97.5th percentile of a statistic over 2,000 resamples of the scenes, in order of their first pairs."""
    order = list(dict.fromkeys(scenes))
    members = [[place for place, scene in enumerate(scenes) if scene == name] for name in order]
    found: list[float] = []
    for drawn in np.random.Generator(np.random.PCG64(0)).integers(0, len(order), size=(2000, len(order))).tolist():
        places = [place for scene in drawn for place in members[scene]]
        one = statistic([values[place] for place in places], [tasks[place] for place in places])
        if one is not None:
            found.append(one)
    found.sort()
    return percentile(found, 0.025), percentile(found, 0.975)


def percentile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def sign_flip(differences: list[tuple[str, float]]) -> float:
    """The share of all sign patterns of the scenes' sums whose total is as far from 0 as the data's own."""
    sums: dict[str, Fraction] = {}
    for scene, difference in differences:
        sums[scene] = sums.get(scene, Fraction()) + Fraction(difference)
    own = abs(sum(sums.values()))
    patterns = list(product((1, -1), repeat=len(sums)))
    reached = sum(
        abs(sum(sign * one for sign, one in zip(pattern, sums.values(), strict=True))) >= own - Fraction(1, 10**9)
        for pattern in patterns
    )
    return reached / len(patterns)


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.sort("pair_id").to_dicts()
