"""What is counted from scores: means with intervals, coverage, differences, sensitivity, and the order of planners.

Everything here is a pure function of the tables of scores: order of rows and of planners, names of scenes, clock and
machine change nothing. docs/statistics.md says what each number means and why it is made this way.
"""

from __future__ import annotations

from tasks.score_statistics.coverage import coverage
from tasks.score_statistics.differences import differences
from tasks.score_statistics.gathered import StatisticsError
from tasks.score_statistics.intervals import Estimate
from tasks.score_statistics.sensitivity import sensitivity
from tasks.score_statistics.standings import ConflictRate, Standing, conflict_rates, leaderboard
from tasks.score_statistics.summary import summarise

__all__ = [
    "ConflictRate",
    "Estimate",
    "Standing",
    "StatisticsError",
    "conflict_rates",
    "coverage",
    "differences",
    "leaderboard",
    "sensitivity",
    "summarise",
]
