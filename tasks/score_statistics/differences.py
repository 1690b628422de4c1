"""Differences between planners on the pairs that both have scored, and how likely chance alone would make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from data_registry.evaluation import DIFFERENCES
from data_registry.geometry import Array
from data_registry.resampling import add_signed
from tasks.score_statistics.gathered import gather, numbered
from tasks.score_statistics.intervals import LEAST_SCENES, estimates, scene_sums

COMPARED: Final = ("hcc", "ur")
FLIPS: Final = 19_999
"""Random sign patterns; with the data's own they make p a multiple of 1 / 20,000."""
SEED: Final = 1
"""Of PCG64 for the signs; the resamples' own is 0."""
_AT_A_TIME: Final = 1_000
_TOLERANCE: Final = 1e-9
"""Of the largest total there can be: patterns that tie with the data's own tie in spite of rounding."""


def differences(scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare every two planners (tables SCORES) in UR and HCC, table DIFFERENCES.

    Intervals take the resamples of the summary's overall rows. p is of a sign-flip test over scenes: were it all the
    same which of two planners is which, then each scene's sum of differences could as well have the other sign. Such a
    test needs no other assumption and holds for few scenes, where a bootstrap's p is too small (Canay, Romano and
    Shaikh, Econometrica 85, 2017); counting the data's own pattern keeps p above 0 (Phipson and Smyth, Stat. Appl.
    Genet. Mol. Biol. 9:39, 2010). p_adjusted is Holm's (Scand. J. Statist. 6, 1979) over all tests of the table.

    Raises:
        StatisticsError: the tables are no scores, not about the same pairs, or contradict themselves.
    """
    gathered = gather(scores)
    scenes = numbered(gathered.pairs["scene"])
    comparisons = list(product(combinations(range(len(gathered.planners)), 2), COMPARED))
    values = np.empty((gathered.pairs.height, len(comparisons)))
    for column, ((a, b), metric) in enumerate(comparisons):
        values[:, column] = gathered.values_of(metric)[:, a] - gathered.values_of(metric)[:, b]
    found = estimates(scenes, values)
    tested = [column for column, estimate in enumerate(found) if estimate.scenes >= LEAST_SCENES]
    p = sign_flip_p(scene_sums(scenes, values[:, tested])) if tested else []
    by_column = dict(zip(tested, zip(p, holm(p), strict=True), strict=True))
    return DIFFERENCES.frame(
        {
            "planner_a": gathered.planners[a],
            "planner_b": gathered.planners[b],
            "metric": metric,
            "n": estimate.n,
            "scenes": estimate.scenes,
            "difference": estimate.mean,
            "low": estimate.low,
            "high": estimate.high,
            "reason": estimate.reason or ("" if estimate.n else "no pair that both have scored"),
            "p": by_column.get(column, (None, None))[0],
            "p_adjusted": by_column.get(column, (None, None))[1],
        }
        for column, (((a, b), metric), estimate) in enumerate(zip(comparisons, found, strict=True))
    )


def sign_flip_p(sums: Array) -> list[float]:
    """Return for each column the two-sided p value of a total that far from 0 when every scene's sign is a coin's.

    All patterns of signs are tried where these are no more than FLIPS + 1, else FLIPS random ones.

    Args:
        sums: each scene's sum of differences, (scenes, K).
    """
    bars = np.abs(sums.sum(axis=0)) - _TOLERANCE * np.abs(sums).sum(axis=0)
    differing = (sums != 0).sum(axis=0)
    exact = 2.0**differing <= FLIPS + 1
    p = np.empty(sums.shape[1])
    for column in np.flatnonzero(exact):
        part = sums[sums[:, column] != 0, column][:, None]
        patterns = _all_signs(len(part))
        p[column] = _reaching(patterns, part, bars[[column]])[0] / len(patterns)
    reached = np.zeros(int((~exact).sum()), dtype=np.int64)
    if len(reached):
        for signs in _random_signs(len(sums)):
            reached += _reaching(signs, np.ascontiguousarray(sums[:, ~exact]), bars[~exact])
    p[~exact] = (1 + reached) / (FLIPS + 1)
    return p.tolist()


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p values: rejecting those below a level errs in any of them with that probability at most.

    >>> holm([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]
    """
    adjusted = [0.0] * len(p)
    running = 0.0
    for done, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        running = max(running, min(1.0, (len(p) - done) * p[place]))
        adjusted[place] = running
    return adjusted


def _reaching(signs: npt.NDArray[np.int8], sums: Array, bars: Array) -> npt.NDArray[np.int64]:
    """Count for each column the patterns under which the total is as far from 0 as the data's own."""
    totals = np.zeros((len(signs), sums.shape[1]))
    add_signed(signs, sums, totals)
    return (np.abs(totals) >= bars).sum(axis=0)


def _all_signs(scenes: int) -> npt.NDArray[np.int8]:
    bits = (np.arange(2**scenes)[:, None] >> np.arange(scenes)) & 1
    return (1 - 2 * bits).astype(np.int8)


def _random_signs(scenes: int) -> Iterator[npt.NDArray[np.int8]]:
    generator = np.random.Generator(np.random.PCG64(SEED))
    for start in range(0, FLIPS, _AT_A_TIME):
        size = (min(_AT_A_TIME, FLIPS - start), scenes)
        yield 2 * generator.integers(0, 2, size=size, dtype=np.int8) - 1
