"""What differences a table can show at all: few scenes and many tests leave the smallest p values too large.

The test behind the table (docs/statistics.md, tasks/score_statistics) tries signs of scenes and corrects for the number
of tests by Holm's method, so that scenes and tests alone say how small an adjusted p value could come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ALPHA: Final = 0.05
"""Adjusted p values up to here are called a difference."""
PATTERNS: Final = 20_000
"""Patterns of signs that the test looks at where there are more."""


def least_p(scenes: int) -> float:
    """Return the smallest p value of a test over so many scenes: all differ the same way.

    >>> least_p(8), least_p(200)
    (0.0078125, 5e-05)
    """
    return 2.0 / 2**scenes if 2**scenes <= PATTERNS else 1.0 / PATTERNS


def least_adjusted(scenes: Sequence[int]) -> list[float]:
    """Return for each of all tests together the smallest p value, after Holm's, that it could come to.

    >>> least_adjusted([8] * 20)[0]
    0.15625
    """
    least = [least_p(one) for one in scenes]
    steps = {p: p * sum(other >= p for other in least) for p in set(least)}
    reached = {p: min(1.0, max(step for other, step in steps.items() if other <= p)) for p in steps}
    return [reached[p] for p in least]


@dataclass(frozen=True, slots=True)
class Beyond:
    """The tests of a table that can show no difference, however large it is."""

    scenes: tuple[int, int]
    """Fewest and most that these have."""
    tests: int
    """All tests of the table."""
    whole: bool
    """Whether none of all tests can."""
    least: float
    """The smallest adjusted p value that these could come to."""
    needed: int | None
    """Scenes with which each of so many tests could; None: no number is enough."""


def beyond_reach(scenes: Sequence[int]) -> Beyond | None:
    """Return those of a table's tests, given by their scenes, that can show nothing; None when all can."""
    lost = [(one, p) for one, p in zip(scenes, least_adjusted(scenes), strict=True) if p > ALPHA]
    if not lost:
        return None
    counts = [one for one, _ in lost]
    enough = (number for number in range(PATTERNS.bit_length() + 1) if least_p(number) * len(scenes) <= ALPHA)
    least = min(p for _, p in lost)
    return Beyond((min(counts), max(counts)), len(scenes), len(lost) == len(scenes), least, next(enough, None))
