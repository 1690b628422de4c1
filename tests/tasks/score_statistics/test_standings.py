"""The leaderboard's order, and the conflict rate."""

from __future__ import annotations

import polars as pl
import pytest

from tasks.score_statistics import conflict_rates, leaderboard, summarise
from tests.tasks.score_statistics.made_up import Answer, all_of, pairs_in, table

PAIRS = pairs_in(scenes=6)


def planner(hcc: float, touched: int = 0, failed: int = 0) -> pl.DataFrame:
    """A planner with some HCC where it neither touches nor fails; it fails first."""
    fails = [Answer("error", "ok", False, 0.0, 1.0)] * failed
    touches = [Answer("ok", "ok", True, 0.0, 1.0)] * touched
    return table(PAIRS, [*fails, *touches, *[Answer("ok", "ok", False, hcc, 1.0)] * (len(PAIRS) - touched - failed)])


def order(scores: dict[str, pl.DataFrame], oracles: frozenset[str] = frozenset(), **mode) -> list[tuple]:
    lines = leaderboard(summarise(scores), {name: name in oracles for name in scores}, **mode)
    return [(line.rank, line.planner) for line in lines]


def test_planners_are_ordered_by_hcc_then_by_ur_and_share_a_rank_when_both_are_equal() -> None:
    scores = {
        "low": planner(0.2),
        "touching": planner(1.0, touched=6),
        "twin-b": planner(0.5),
        "twin-a": planner(0.5),
        "high": planner(0.9),
    }
    assert order(scores) == [(1, "high"), (2, "twin-a"), (2, "twin-b"), (4, "touching"), (5, "low")]


def test_oracles_are_shown_after_the_others_without_a_rank() -> None:
    scores = {"all-knowing": planner(1.0), "fair": planner(0.4), "fairer": planner(0.6)}
    assert order(scores, frozenset({"all-knowing"})) == [(1, "fairer"), (2, "fair"), (None, "all-knowing")]


def test_failing_does_not_help_unless_plain_means_are_asked_for() -> None:
    scores = {"fails": planner(0.6, failed=6), "answers": planner(0.5)}
    assert order(scores) == [(1, "answers"), (2, "fails")]
    assert order(scores, mode="plain") == [(1, "fails"), (2, "answers")]


def test_a_planner_of_which_nothing_counts_comes_last_unranked() -> None:
    scores = {"absent": all_of(PAIRS, "ineligible"), "touching": planner(0.0, touched=len(PAIRS))}
    assert order(scores) == [(1, "touching"), (None, "absent")]


def test_a_line_holds_the_means_with_their_intervals_and_whether_it_is_an_oracle() -> None:
    (line,) = leaderboard(summarise({"one": planner(0.5, touched=3)}), {"one": True})
    assert (line.hcc.mean, line.ur.mean, line.hcc.n, line.ur.scenes) == (0.375, 0.25, 12, 6)
    assert line.hcc.low is not None
    assert line.knows_region
    with pytest.raises(KeyError, match="one"):
        leaderboard(summarise({"one": planner(0.5)}), {})


def test_the_conflict_rate_is_the_ur_of_planners_that_do_not_look_with_its_interval() -> None:
    summary = summarise({"recorded": planner(0.5, touched=9, failed=2), "stop": planner(1.0)})
    recorded, lane_keep = conflict_rates(summary)
    assert recorded.rate is not None
    assert recorded.rate.mean == 0.9
    assert recorded.rate.n == 10
    assert recorded.rate.low is not None
    assert recorded.reason == ""
    assert (lane_keep.planner, lane_keep.rate) == ("lane_keep", None)
    assert lane_keep.reason == "planner lane_keep is not in the suite"


def test_the_conflict_rate_of_a_group_says_when_there_is_no_interval_or_no_pair() -> None:
    summary = summarise({"recorded": planner(0.5, touched=9)})
    few = conflict_rates(summary, "family", "sudden")[0]
    assert few.rate is not None
    assert few.rate.low is None
    assert few.reason == "no interval: pairs from 3 scenes, at least 5 needed"
    assert conflict_rates(summary, "family", "martian")[0].reason == "no pair of family martian"
