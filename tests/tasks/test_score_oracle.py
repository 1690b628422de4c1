"""The scorer against a slow oracle by another hand, and both against values computed by hand."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from data_registry.evaluation import PairRegion, Status
from data_registry.geometry import BODIES
from tasks.score import ScoreSettings, score
from tests.oracle_score import Path, Point, Rules, Scores, distance, find_flaw, hangs_on_rounding, score_pair
from tests.tasks.score_strategies import DEGREE, Pair, answered, chosen_settings, moved, pairs, predicted, region

EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "80"))
"""Batches of one to three pairs that are compared; set it for a longer comparison."""
METRICS = ("ur", "d", "hcc", "hpr", "cts", "cts_x", "cts_y")
FRONT, REAR, SIDE = 3.427, -0.657, 0.865
"""Body `zoe` in its own frame: 1.385 + 4.084 / 2, 1.385 - 4.084 / 2, 1.730 / 2."""


# -- both scorers, called alike ------------------------------------------------------------------------------------


Scorer = Callable[[Sequence[Pair], ScoreSettings], list[Scores]]


def fast(pairs: Sequence[Pair], chosen: ScoreSettings) -> list[Scores]:
    predicted = [row for pair in pairs for row in (pair.source, pair.edited) if row is not None]
    frame = score([pair.region for pair in pairs], predicted, chosen)
    rows = {row["pair_id"]: row for row in frame.to_dicts()}
    assert sorted(rows) == sorted(pair.region.pair_id for pair in pairs)
    assert len(frame) == len(pairs)
    found = [rows[pair.region.pair_id] for pair in pairs]
    for row in found:
        assert (row["reason"] == "") == all(row[name] is not None for name in METRICS)
    return [Scores(row["edited"], row["source"], *(row[name] for name in METRICS)) for row in found]


def slow(pairs: Sequence[Pair], chosen: ScoreSettings) -> list[Scores]:
    return [score_pair(pair.region, pair.edited, pair.source, rules_of(chosen)) for pair in pairs]


def rules_of(chosen: ScoreSettings) -> Rules:
    return Rules(BODIES[chosen.body], chosen.horizon_s, chosen.clearance_factor)


both = pytest.mark.parametrize("scorer", [slow, fast])


def box(x0: float, x1: float, y0: float, y1: float) -> list[Point]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def scored(scorer: Scorer, alone: PairRegion, path: Path, chosen: Mapping[str, object]) -> Scores:
    """Score one edited prediction alone."""
    return scorer([Pair(alone, predicted(path), None)], ScoreSettings.model_validate(chosen))[0]


def straight(speed: float, times: Sequence[float] = (0.0, 1.0, 2.0, 3.0)) -> Path:
    return Path(list(times), [(speed * time, 0.0) for time in times])


STANDING = straight(0.0)
AWAY = box(500, 501, 500, 501)


# -- values computed by hand ---------------------------------------------------------------------------------------
# A body at (x, 0) with heading 0 covers x - 0.657 .. x + 3.427 and y -0.865 .. 0.865.


@dataclass(frozen=True, slots=True)
class Known:
    """A region, a path, and d as computed by hand."""

    corners: list[Point]
    path: Path
    d: float
    chosen: dict[str, object] | None = None


EVERY_SECOND = [0.0, 1.0, 2.0, 3.0]
KNOWN = {
    # 10 m/s for 3 s: the front comes to 33.427, past the box that begins at 20
    "drives into a box": Known(box(20, 24, -1, 1), straight(10), 0.0),
    # 5 m/s: the front stops at 15 + 3.427
    "stops short of a box": Known(box(20, 24, -1, 1), straight(5), 20 - 18.427),
    "stops short of a clockwise box": Known(box(20, 24, -1, 1)[::-1], straight(5), 20 - 18.427),
    # what comes after 3 s does not count: at 3 s it is half way between (10, 0) and (20, 0)
    "is beyond the box only after the horizon": Known(box(20, 24, -1, 1), straight(5, [0, 2, 4, 6]), 20 - 18.427),
    # 2.0 s at 5 m/s: the front stops at 13.427
    "stops short within a shorter horizon": Known(box(20, 24, -1, 1), straight(5), 20 - 13.427, {"horizon_s": 2.0}),
    # zoe_lidar_0944: the body's middle lies at 1.444, its front at 3.486
    "a body further ahead": Known(box(20, 24, -1, 1), straight(5), 20 - 18.486, {"body": "zoe_lidar_0944"}),
    # zoe_wide: half its width is 0.925
    "a wider body passes": Known(box(8, 9, 2, 3), straight(5), 2 - 0.925, {"body": "zoe_wide"}),
    "passes beside a box": Known(box(8, 9, 2.865, 4), straight(5), 2.0),
    "stands behind": Known(box(10, 12, -1, 1), STANDING, 10 - FRONT),
    # the body at time 0 counts: its rear lies at -0.657
    "leaves from before a box": Known(box(-3, -2, -1, 1), straight(5), 2 + REAR),
    "stands in the middle of a region": Known(box(-20, 20, -20, 20), STANDING, 0.0),
    # a sliver of 0.02 m between two points 30 m apart
    "crosses a sliver between its points": Known(box(15, 15.02, -1.5, 1.5), straight(10, [0, 3]), 0.0),
    # corner (3.427, 0.865) against the edge from (8, 0) to (6, 5), that is 5 x + 2 y = 40: (40 - 18.865) / sqrt(29),
    # its foot (7.07, 2.32) lies on the edge. The hull of the dart would be at 6 - 3.427.
    "looks into a concave region": Known([(6, 5), (8, 0), (6, -5), (20, 0)], STANDING, (40 - 18.865) / math.sqrt(29)),
    # backwards at 2 m/s: the rear comes to -6.657. Turned round, its front would be at -9.427.
    "reverses": Known(box(-10, -8, -1, 1), straight(-2), 8 - 6.657),
    # on the spot from 0 to 90 degrees in 30 steps (0.1 s) of 3: the highest corner is the front left one at 75 degrees
    "turns on the spot": Known(
        box(-1, 1, 5, 6),
        Path([0, 3], [(0, 0), (0, 0)], [0, 90 * DEGREE]),
        5 - (FRONT * math.sin(75 * DEGREE) + SIDE * math.cos(75 * DEGREE)),
    ),
    # 0 to 165 degrees: 33 steps of 5 (more than the 30 of 0.1 s); 75 degrees is one of them, 77 is not
    "turns on the spot by more than 5 degrees in 0.1 s": Known(
        box(-1, 1, 5, 6),
        Path([0, 3], [(0, 0), (0, 0)], [0, 165 * DEGREE]),
        5 - (FRONT * math.sin(75 * DEGREE) + SIDE * math.cos(75 * DEGREE)),
    ),
    # 0 to 80 degrees: 30 steps of 8/3 (more than the 16 of 5 degrees); the 28th is the nearest to the peak at 75.83
    "turns on the spot slowly": Known(
        box(-1, 1, 5, 6),
        Path([0, 3], [(0, 0), (0, 0)], [0, 80 * DEGREE]),
        5 - (FRONT * math.sin(224 / 3 * DEGREE) + SIDE * math.cos(224 / 3 * DEGREE)),
    ),
    # 40 m while turning by 90 degrees: 40 steps (1 m) of 2.25; the 34th (76.5) is the nearest to the peak at 75.83
    "drives and turns": Known(
        box(0, 45, 5, 6),
        Path([0, 3], [(0, 0), (40, 0)], [0, 90 * DEGREE]),
        5 - (FRONT * math.sin(76.5 * DEGREE) + SIDE * math.cos(76.5 * DEGREE)),
    ),
    # from 0 to 2 pi - 0.2 is 0.2 to the right: the rear left corner rises. To the left the front would sweep to 3.53.
    "turns by the short arc": Known(
        box(-1, 1, 3, 4),
        Path([0, 3], [(0, 0), (0, 0)], [0, 2 * math.pi - 0.2]),
        3 + REAR * math.sin(0.2) - SIDE * math.cos(0.2),
    ),
    # given headings say 0.05 rad all the while, whatever the path does; a whole turn more is the same heading
    "is carried along by given headings": Known(
        box(10, 12, -9, 9),
        Path([0, 3], [(0, 0), (3, 0)], [0.05, 2 * math.pi + 0.05]),
        10 - (3 + FRONT * math.cos(0.05) + SIDE * math.sin(0.05)),
    ),
    # heading given at 3 s: half way from 0 at 2 s to 0.4 at 4 s
    "has its given heading cut at the horizon": Known(
        box(10, 12, -9, 9),
        Path([0, 2, 4], [(0, 0), (0, 0), (4, 0)], [0, 0, 0.4]),
        10 - (2 + FRONT * math.cos(0.2) + SIDE * math.sin(0.2)),
    ),
    # straight to the left: exactly 90 degrees is no reversing, the front comes to 6 + 3.427
    "sets off at a right angle": Known(
        box(-1, 1, 10, 12), Path(EVERY_SECOND, [(0, 0), (0, 2), (0, 4), (0, 6)]), 10 - 9.427
    ),
    # 100 degrees to the left is: the body then heads for -80 degrees, its rear left corner leads
    "sets off backwards to the left": Known(
        box(-30, 30, 10, 12),
        Path(EVERY_SECOND, [(2 * t * math.cos(100 * DEGREE), 2 * t * math.sin(100 * DEGREE)) for t in EVERY_SECOND]),
        10 - (6 * math.sin(80 * DEGREE) - REAR * math.sin(80 * DEGREE) + SIDE * math.cos(80 * DEGREE)),
    ),
    # 90, then 180: again exactly 90 degrees more, the front comes to -4 - 3.427. Reversing, only the rear would lead.
    "turns at right angles": Known(
        box(-12, -9, 0, 4), Path(EVERY_SECOND, [(0, 0), (0, 2), (0, 2), (-4, 2)]), 9 - 7.427
    ),
    # exactly 0.3 m/s to the left is not slower: turns by 30 steps of 3 degrees while it moves 0.9 m. The highest corner
    # is the front left one of the 28th, at 84 degrees
    "is just fast enough": Known(
        box(-1, 1, 5, 6),
        Path([0, 3], [(0, 0), (0, 0.9)]),
        5 - (0.84 + FRONT * math.sin(84 * DEGREE) + SIDE * math.cos(84 * DEGREE)),
    ),
    # 0.2 m/s sideways: heading held, the side comes to 0.6 + 0.865. Turned, the front would be at 4.0.
    "drifts": Known(box(-1, 1, 2, 3), Path(EVERY_SECOND, [(0, 0.2 * t) for t in EVERY_SECOND]), 2 - 1.465),
    # at 1 s over its span of 3 s: 0.8 / 3 = 0.267 m/s, held; the mean of both slopes would be 0.375 m/s
    "drifts in uneven steps": Known(box(-1, 1, 2, 3), Path([0, 1, 3], [(0, 0), (0, 0.7), (0, 0.8)]), 2 - 1.665),
    # (15, 5) at 3 s, from (10, 0) at 2 s: the last heading is 45 degrees, the front right corner leads
    "heads where its last step went": Known(
        box(20, 22, 4, 10),
        Path([0, 2, 4], [(0, 0), (10, 0), (20, 10)]),
        20 - (15 + (FRONT + SIDE) / math.sqrt(2)),
    ),
    # the same path at 2 s: from (0, 0) to (15, 5), cut before heading, so atan(1 / 3); the rear right corner swings out
    "heads by its neighbours after the cut": Known(
        box(9, 11, -3, -2),
        Path([0, 2, 4], [(0, 0), (10, 0), (20, 10)]),
        2 - (0.657 + 3 * SIDE) / math.sqrt(10),
    ),
    # ten steps of 0.3 s sum up to 2.9999999999999996 s, the horizon but for rounding: the end lies there, and the front
    # right corner leads. A point at 3 s, 4e-16 s later, would add a heading made of rounding errors: 27 instead of 36
    # degrees.
    "meets the horizon but for rounding": Known(
        box(26, 28, 10, 20),
        Path([*accumulate([0.3] * 12, initial=0.0)], [(2.1 * i, 1.5 * i) for i in range(13)]),
        26 - (21 + (7 * FRONT + 5 * SIDE) / math.sqrt(74)),
    ),
}


@both
@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN.keys())
def test_the_distance_is_the_one_computed_by_hand(known: Known, scorer: Scorer) -> None:
    found = scored(scorer, region(known.corners), known.path, known.chosen or {})
    assert found.d == pytest.approx(known.d, abs=1e-9)
    assert found.ur == (1.0 if known.d == 0 else 0.0)


EXACT = {"sets off at a right angle", "turns at right angles", "is just fast enough"}
"""Cases that meet a limit exactly; after a motion they miss it by a hair."""


@pytest.mark.parametrize("name", sorted(KNOWN.keys() - EXACT))
def test_the_oracle_does_not_care_where_the_ego_frame_lies(name: str) -> None:
    known = KNOWN[name]
    rules = replace(rules_of(ScoreSettings.model_validate(known.chosen or {})), start=(30.0, -20.0), h0=2.5)
    heading = None if known.path.heading is None else [value + 2.5 for value in known.path.heading]
    path = Path(known.path.t, moved(known.path.xy, 30.0, -20.0, 2.5), heading)
    assert find_flaw(path, rules) is None
    assert distance(path, moved(known.corners, 30.0, -20.0, 2.5), rules) == pytest.approx(known.d, abs=1e-9)


# d of a body that stands before a box, the clearance asked for, the factor on it; hcc = min(d / safe, 1),
# hpr = safe / (|d - safe| + safe), both 0 on contact
@both
@pytest.mark.parametrize(
    ("d", "clearance_m", "factor", "expected"),
    [
        (1.573, 1.0, 1.0, (0.0, 1.573, 1.0, 1 / 1.573)),
        (1.573, 2.0, 1.0, (0.0, 1.573, 0.7865, 2 / 2.427)),
        (1.573, 1.0, 2.0, (0.0, 1.573, 0.7865, 2 / 2.427)),
        (1.0, 1.0, 1.0, (0.0, 1.0, 1.0, 1.0)),
        (0.25, 1.0, 1.0, (0.0, 0.25, 0.25, 1 / 1.75)),
        (30.0, 1.5, 1.0, (0.0, 30.0, 1.0, 0.05)),
        (2e-6, 1.0, 1.0, (0.0, 2e-6, 2e-6, 1 / 1.999998)),
        (5e-7, 1.0, 1.0, (1.0, 0.0, 0.0, 0.0)),
        (0.0, 1.0, 1.0, (1.0, 0.0, 0.0, 0.0)),
        (-0.5, 1.0, 1.0, (1.0, 0.0, 0.0, 0.0)),
    ],
)
def test_metrics_follow_from_the_distance(
    d: float, clearance_m: float, factor: float, expected: tuple[float, ...], scorer: Scorer
) -> None:
    ahead = region(box(FRONT + d, FRONT + d + 2, -1, 1), clearance_m)
    found = scored(scorer, ahead, STANDING, {"clearance_factor": factor})
    assert (found.ur, found.d, found.hcc, found.hpr) == pytest.approx(expected, abs=1e-9)


# on the grid 0, 0.5 .. 3 (seven ticks)
CHANGES = {
    # 1 m/s slower: 0, 0.5 .. 3 m, mean 1.5
    "slower": (straight(5), straight(4), {}, (1.5, 1.5, 0.0)),
    # (6, 0) at 1 s and (6, 8) at 3 s: at the ticks (0, 0) (3, 0) (6, 0) (6, 2) (6, 4) (6, 6) (6, 8)
    "goes round a corner": (
        STANDING,
        Path([0, 1, 3], [(0, 0), (6, 0), (6, 8)]),
        {},
        ((3 + 6 + math.sqrt(40) + math.sqrt(52) + math.sqrt(72) + 10) / 7, 33 / 7, 20 / 7),
    ),
    # +1.4 m at 1 s and -1.4 m at 2 s do not cancel: 0 .7 1.4 0 1.4 .7 0
    "swerves to both sides": (
        straight(5),
        Path(EVERY_SECOND, [(0, 0), (5, 1.4), (10, -1.4), (15, 0)]),
        {},
        (0.6, 0.0, 0.6),
    ),
    # what they do after 3 s does not count
    "part after the horizon": (straight(5), Path([0, 3, 4], [(0, 0), (15, 0), (99, 99)]), {}, (0.0, 0.0, 0.0)),
    # 2 s: ticks 0, 0.5 .. 2, mean 1
    "slower for two seconds": (straight(5), straight(4), {"horizon_s": 2.0}, (1.0, 1.0, 0.0)),
}


@both
@pytest.mark.parametrize(("source", "edited", "chosen", "expected"), CHANGES.values(), ids=CHANGES.keys())
def test_the_change_is_the_one_computed_by_hand(
    source: Path, edited: Path, chosen: dict[str, object], expected: tuple[float, ...], scorer: Scorer
) -> None:
    pair = Pair(region(AWAY), predicted(edited), predicted(source, "source"))
    found = scorer([pair], ScoreSettings.model_validate(chosen))[0]
    assert (found.cts, found.cts_x, found.cts_y) == pytest.approx(expected, abs=1e-9)


FIVE = straight(5)
NAN, INF = math.nan, math.inf
FLAWED = {
    "time is not a number": (replace(FIVE, t=[0, 1, NAN, 3]), "not_finite"),
    "position is infinite after the horizon": (Path([0, 3, 4], [(0, 0), (9, 0), (INF, 0)]), "not_finite"),
    "heading is not a number": (replace(FIVE, heading=[0, 0, 0, NAN]), "not_finite"),
    "nothing": (Path([], []), "length"),
    "a position too few": (replace(FIVE, xy=FIVE.xy[:3]), "length"),
    "a time too few": (replace(FIVE, t=[0, 1, 3]), "length"),
    "a heading too few": (replace(FIVE, heading=[0, 0, 0]), "length"),
    "a time twice": (replace(FIVE, t=[0, 1, 1, 3]), "order"),
    "a time twice after the horizon": (Path([0, 3, 4, 4], FIVE.xy), "order"),
    "times backwards": (replace(FIVE, t=[3, 2, 1, 0]), "order"),
    "starts late": (replace(FIVE, t=[0.5, 1, 2, 3]), "start"),
    "starts 2e-6 s late": (replace(FIVE, t=[2e-6, 1, 2, 3]), "start"),
    "starts 2e-6 m away": (replace(FIVE, xy=[(0, 2e-6), *FIVE.xy[1:]]), "start"),
    "ends 2e-6 s early": (replace(FIVE, t=[0, 1, 2, 3 - 2e-6]), "short"),
    "one point": (Path([0], [(0, 0)]), "short"),
    "starts 5.1 degrees aside": (replace(FIVE, heading=[-5.1 * DEGREE, 0, 0, 0]), "heading_start"),
    "starts backwards": (replace(FIVE, heading=[math.pi] * 4), "heading_start"),
    # several: the first of not_finite, length, order, start, short, heading_start
    "is no number and a heading too few": (replace(FIVE, t=[0, 1, NAN, 3], heading=[0, 0, 0]), "not_finite"),
    "a position too few and a time twice": (Path([0, 1, 1, 3], FIVE.xy[:3]), "length"),
    "starts late and ends early": (replace(FIVE, t=[0.5, 1, 2, 2.5]), "start"),
    "ends early and starts backwards": (replace(FIVE, t=[0, 1, 2, 2.5], heading=[math.pi] * 4), "short"),
    # no flaws
    "starts 5e-7 away": (replace(FIVE, t=[5e-7, 1, 2, 3], xy=[(3e-7, -4e-7), *FIVE.xy[1:]]), "ok"),
    "ends 5e-7 s early": (replace(FIVE, t=[0, 1, 2, 3 - 5e-7]), "ok"),
    "starts 4.9 degrees aside": (replace(FIVE, heading=[-4.9 * DEGREE, 0, 0, 0]), "ok"),
    "starts 4.9 degrees aside and a turn further": (replace(FIVE, heading=[364.9 * DEGREE, 0, 0, 0]), "ok"),
}


@both
@pytest.mark.parametrize(("path", "code"), FLAWED.values(), ids=FLAWED.keys())
def test_a_flawed_trajectory_is_a_failed_prediction_with_its_code(path: Path, code: str, scorer: Scorer) -> None:
    sound = Pair(region(AWAY, name="b"), predicted(FIVE, name="b"), predicted(path, "source", "b"))
    pair = Pair(region(AWAY), predicted(path), predicted(FIVE, "source"))
    found, other = scorer([pair, sound], ScoreSettings())
    assert (found.edited, found.source, other.edited, other.source) == (code, "ok", "ok", code)
    assert [getattr(found, name) is None for name in METRICS] == [code != "ok"] * 7
    assert [getattr(other, name) is None for name in METRICS] == [False] * 4 + [code != "ok"] * 3


@both
@pytest.mark.parametrize("status", ["parse_failed", "truncated", "missing", "error", "ineligible", None])
def test_without_an_answer_nothing_is_scored_and_without_a_source_answer_no_change(
    status: Status | None, scorer: Scorer
) -> None:
    no_edited = Pair(region(AWAY), answered(status) if status else None, predicted(FIVE, "source"))
    no_source = Pair(
        region(AWAY, name="b"), predicted(FIVE, name="b"), answered(status, "source", "b") if status else None
    )
    found, other = scorer([no_edited, no_source], ScoreSettings())
    assert (found.edited, found.source, other.edited, other.source) == (
        status or "missing",
        "ok",
        "ok",
        status or "missing",
    )
    assert [getattr(found, name) for name in METRICS] == [None] * 7
    assert [getattr(other, name) is None for name in METRICS] == [False] * 4 + [True] * 3


# -- anything at all -----------------------------------------------------------------------------------------------


def doubtful(pair: Pair, rules: Rules) -> bool:
    """Tell whether rounding decides something about a pair."""
    if pair.edited is None or pair.edited.status != "ok":
        return False
    path = Path.of(pair.edited)
    return find_flaw(path, rules) is None and hangs_on_rounding(path, [(x, y) for x, y in pair.region.quad], rules)


@given(st.tuples(pairs("b"), pairs("a"), pairs("c")), st.integers(1, 3), chosen_settings)
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_the_scorer_agrees_with_the_oracle(drawn: tuple[Pair, ...], n: int, chosen: ScoreSettings) -> None:
    taken = [pair for pair in drawn[:n] if not doubtful(pair, rules_of(chosen))]
    assume(taken)
    for theirs, ours in zip(fast(taken, chosen), slow(taken, chosen), strict=True):
        assert (theirs.edited, theirs.source) == (ours.edited, ours.source)
        for name in METRICS:
            assert agree(getattr(theirs, name), getattr(ours, name)), name


def agree(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else abs(a - b) <= 1e-9
