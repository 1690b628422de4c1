"""Answers: a trajectory that can be scored, or why there is none."""

from __future__ import annotations

import numpy as np
import pytest

from data_registry.geometry import Array
from data_registry.trajectories import flaw_of
from models.planners.answers import FLAWS, answered, ineligible
from tests.planner_cases import case

TIMES = np.arange(0.0, 3.1, 0.5)
WAY = np.column_stack([TIMES * 5.0, TIMES * 0.0])
STRAIGHT = np.zeros_like(TIMES)


def changed(values: Array, index: int | tuple[int, int], value: float) -> Array:
    copy = values.copy()
    copy[index] = value
    return copy


BAD: dict[str, tuple[str, Array, Array, Array | None]] = {
    "no points": ("length", TIMES[:0], WAY[:0], None),
    "three columns": ("length", TIMES, np.column_stack([WAY, STRAIGHT]), None),
    "a heading too few": ("length", TIMES, WAY, STRAIGHT[1:]),
    "a time for each coordinate": ("length", WAY, WAY, None),
    "NaN in a place": ("not_finite", TIMES, changed(WAY, (3, 1), np.nan), None),
    "an endless time": ("not_finite", changed(TIMES, 6, np.inf), WAY, None),
    "NaN in a heading": ("not_finite", TIMES, WAY, changed(STRAIGHT, 6, np.nan)),
    "a place beyond any road": ("not_finite", TIMES, changed(WAY, (3, 0), -1e10), None),
    "a time twice": ("order", changed(TIMES, 3, 1.0), WAY, None),
    "times that the record makes one": ("order", changed(TIMES, 3, 1.0 + 1e-8), WAY, None),
    "a late start": ("start", TIMES + 0.5, WAY, None),
    "a start beside the ego": ("start", TIMES, WAY + 1e-3, None),
    "an early end": ("short", TIMES[:-1], WAY[:-1], None),
    "an end just too early": ("short", changed(TIMES, 6, 2.9999), WAY, None),
    "a global heading": ("heading_start", TIMES, WAY, STRAIGHT + 0.1),
}


@pytest.mark.parametrize("name", BAD)
def test_a_flawed_trajectory_becomes_an_error_with_the_flaw_as_reason(name: str) -> None:
    flaw, times, positions, headings = BAD[name]
    answer = answered(case(), times, positions, headings)
    assert (answer.status, answer.t, answer.xy, answer.heading) == ("error", (), (), None)
    assert answer.reason == {**FLAWS}[flaw]  # pyright: ignore[reportArgumentType]
    assert name == "times that the record makes one" or flaw_of(times, positions, headings) == flaw


@pytest.mark.parametrize("headings", [None, STRAIGHT, STRAIGHT + 0.08])
def test_a_sound_trajectory_is_kept_as_it_is(headings: Array | None) -> None:
    asked = case()
    answer = answered(asked, TIMES, WAY, headings)
    assert answer.status == "ok"
    assert answer.t == tuple(TIMES)
    assert answer.xy == tuple(map(tuple, WAY))
    assert answer.heading == (None if headings is None else tuple(headings))
    assert (answer.pair_id, answer.variant) == (asked.pair_id, "edited")
    assert (answer.component_digest, answer.inputs_sha256) == (asked.component_digest, asked.inputs_sha256)


def test_who_cannot_take_a_case_says_why() -> None:
    answer = ineligible(case(), "needs 2 s of history")
    assert (answer.status, answer.reason, answer.t) == ("ineligible", "needs 2 s of history", ())
