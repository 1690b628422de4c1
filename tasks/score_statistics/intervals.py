"""Means over pairs, and their intervals from resampled scenes.

Pairs of one scene share street, light and traffic: they are one draw from the world, not several. So whole scenes are
drawn, with replacement, as many as there are (cluster bootstrap: Davison and Hinkley, Bootstrap Methods and their
Application, 1997, section 3.8), and a resample's mean is the sum of its values over the number of its pairs, both
random (ratio estimator). Which scenes a resample draws depends on the number of scenes of the group alone: every
planner and metric of a group sees the same resamples, and no planner's interval depends on who else is there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.geometry import Array
from data_registry.resampling import Integers, add_drawn
from tasks.score_statistics.gathered import Booleans

RESAMPLES: Final = 2_000
SEED: Final = 0
"""Of PCG64; begun anew for each group, so that a group's intervals follow from its own rows."""
LEAST_SCENES: Final = 5
"""Below, an interval would say more about the resampling than about the planner."""
_ENDS: Final = (0.025, 0.975)
_AT_A_TIME: Final = 250
"""Resamples in memory together; divides RESAMPLES."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over pairs with its 95 % interval."""

    n: int
    """Pairs in the mean."""
    scenes: int
    """Scenes that these come from."""
    mean: float | None
    """None: no pair."""
    low: float | None
    high: float | None
    reason: str
    """Why there is no interval; empty when there is, and when there is not even a mean."""


def estimates(scenes: Integers, values: Array) -> list[Estimate]:
    """Return mean and interval of each column.

    Args:
        scenes: number of each pair's scene, (P,), every number from 0 on occurs.
        values: (P, K); NaN where a pair does not count.
    """
    counted = ~np.isnan(values)
    spread = _scenes_by_column(scenes, counted)
    return _with_intervals(scenes, np.zeros_like(scenes), values, [_mean(column) for column in values.T], spread, {})


def macro_estimates(scenes: Integers, tasks: Integers, names: list[str], values: Array) -> list[Estimate]:
    """Return for each column the mean over tasks of the tasks' means: every task that has a pair weighs the same.

    Its interval takes the resamples of the pairs' own; a task that a resample lacks is left out of that resample's
    mean. Where a task has pairs from too few scenes there is no interval, for that task then weighs as much as the
    others and its share of the error cannot be told.

    Args:
        scenes: number of each pair's scene, (P,), every number from 0 on occurs.
        tasks: number of each pair's task, (P,), every number from 0 on occurs.
        names: the tasks by number.
        values: (P, K); NaN where a pair does not count.
    """
    means: list[float | None] = []
    thin: dict[int, str] = {}
    counted = ~np.isnan(values)
    by_task = [_scenes_by_column(scenes[tasks == task], counted[tasks == task]) for task in range(len(names))]
    for column in range(values.shape[1]):
        parts = [_mean(values[tasks == task, column]) for task in range(len(names))]
        present = [part for part in parts if part is not None]
        means.append(math.fsum(present) / len(present) if present else None)
        few = sorted((int(by_task[task][column]), names[task]) for task in range(len(names)) if by_task[task][column])
        few = [(number, name) for number, name in few if number < LEAST_SCENES]
        if few:
            thin[column] = (
                f"{len(few)} of {len(present)} tasks have pairs from fewer than {LEAST_SCENES} scenes"
                f" ({few[0][1]}: {few[0][0]})"
            )
    return _with_intervals(scenes, tasks, values, means, _scenes_by_column(scenes, counted), thin)


def resampled_means(scenes: Integers, slots: Integers, values: Array) -> Array:
    """Return each resample's mean of each column, (RESAMPLES, K): the mean over slots of sums over counts.

    A slot without a pair in a resample is left out of it; NaN: no slot has one.
    """
    height, columns = int(scenes.max()) + 1, values.shape[1]
    starts, places, sums = _cells(scenes, slots, values)
    means: list[Array] = []
    for drawn in _draws(height):
        totals = np.zeros((len(drawn), int(slots.max()) + 1, 2 * columns))
        add_drawn(drawn, starts, places, sums, totals)
        means.append(_mean_of_ratios(totals[..., :columns], totals[..., columns:]))
    return np.concatenate(means)


def scene_sums(scenes: Integers, values: Array) -> Array:
    """Return the sums of the counted values of each scene, (scenes, K)."""
    _, _, sums = _cells(scenes, np.zeros_like(scenes), values)
    return sums[:, : values.shape[1]]


def _draws(scenes: int) -> Iterator[Integers]:
    """Yield which scenes each resample draws, (_AT_A_TIME, scenes) at a time."""
    generator = np.random.Generator(np.random.PCG64(SEED))
    for _ in range(RESAMPLES // _AT_A_TIME):
        yield generator.integers(0, scenes, size=(_AT_A_TIME, scenes))


def _cells(scenes: Integers, slots: Integers, values: Array) -> tuple[Integers, Integers, Array]:
    """Sum values, and count them, over the pairs of each scene and slot.

    Returns:
        First cell of each scene and their number (scenes + 1,); the cells' slots; their sums and counts (cells, 2 K).
    """
    counted = ~np.isnan(values)
    both = np.concatenate([np.where(counted, values, 0.0), counted], axis=1)
    cells, inverse = np.unique(np.stack([scenes, slots], axis=1), axis=0, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    first = np.searchsorted(inverse.reshape(-1)[order], np.arange(len(cells)))
    starts = np.searchsorted(cells[:, 0], np.arange(int(scenes.max()) + 2))
    return starts, np.ascontiguousarray(cells[:, 1]), np.add.reduceat(both[order], first, axis=0)


def _mean_of_ratios(sums: Array, counts: Array) -> Array:
    """Return the mean over slots of sums / counts where there is a count, (B, slots, K) to (B, K)."""
    present = counts > 0
    ratios = np.divide(sums, counts, out=np.zeros_like(sums), where=present)
    slots = present.sum(axis=1)
    means = np.full(slots.shape, np.nan)
    return np.divide(ratios.sum(axis=1), slots, out=means, where=slots > 0)


def _mean(column: Array) -> float | None:
    """Return the mean of what counts, rounded once, so that no order of rows shows; None: nothing counts."""
    counted = column[~np.isnan(column)]
    return math.fsum(counted.tolist()) / len(counted) if len(counted) else None


def _scenes_by_column(scenes: Integers, counted: Booleans) -> Integers:
    """Return from how many scenes the counted pairs of each column come, (K,)."""
    return np.array([len(np.unique(scenes[column])) for column in counted.T], dtype=np.int64)


def _with_intervals(
    scenes: Integers,
    slots: Integers,
    values: Array,
    means: list[float | None],
    spread: Integers,
    refused: dict[int, str],
) -> list[Estimate]:
    """Join means with intervals, where there are scenes enough and no reason against one."""
    wanted = [column for column in range(len(means)) if spread[column] >= LEAST_SCENES and column not in refused]
    resampled = resampled_means(scenes, slots, values[:, wanted]) if wanted else np.empty((0, 0))
    intervals = {column: _ends(resampled[:, place]) for place, column in enumerate(wanted)}
    counts = (~np.isnan(values)).sum(axis=0)
    return [
        Estimate(
            int(counts[column]),
            int(spread[column]),
            mean,
            *intervals.get(column, (None, None)),
            "" if column in intervals or mean is None else _too_few(int(spread[column]), refused.get(column)),
        )
        for column, mean in enumerate(means)
    ]


def _ends(means: Array) -> tuple[float, float]:
    """Return the percentile interval's ends; resamples in which nothing counts say nothing."""
    low, high = np.quantile(means[~np.isnan(means)], _ENDS).tolist()
    return low, high


def _too_few(scenes: int, refused: str | None) -> str:
    found = f"pairs from {scenes} scene{'s'[: scenes != 1]}"
    return f"no interval: {found}, at least {LEAST_SCENES} needed" if refused is None else f"no interval: {refused}"
