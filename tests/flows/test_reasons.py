"""Evidence in words: what was measured against which limit, and nothing that holds."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.reasons import in_words


def fact(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "at_least": None, "at_most": None, "holds": False, **more}


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ([fact("required_decel", 12.5813, at_most=6.0)], "required_decel 12.6 > 6"),
        ([fact("speed", 0.0, at_least=1.0), fact("far", 3.0, at_most=5.0, holds=True)], "speed 0 < 1"),
        ([fact("height", 9.0, at_least=1.0, at_most=5.0)], "height 9 > 5"),
        ([fact("height", 0.5, at_least=1.0, at_most=5.0)], "height 0.5 < 1"),
        ([fact("lane_is_drivable", False, at_least=1.0)], "not lane_is_drivable"),
        ([fact("is_night", True, at_most=0.0)], "is_night"),
        ([fact("occluder_gap_m", None, at_most=2.5)], "occluder_gap_m unknown, limit 2.5"),
        ([fact("conflict", "none")], "conflict: none"),
        ([{"code": "low_realism", "value": 0.25, "limit": 0.4}], "low_realism 0.25 < 0.4"),
        ([{"code": "no_region", "value": None, "limit": None}], "no_region unknown"),
        ([{"code": "view_not_edited", "value": True, "limit": False}], "view_not_edited"),
        ([{"code": f"c{n}", "value": "x", "limit": None} for n in range(5)], "c0: x; c1: x; c2: x and 2 more"),
        (
            [fact("speed", 8.0, at_least=1.0, holds=True)],
            "nowhere to put it, though all that was measured (1) is as it should be",
        ),
        ({"reason": "the hazard floats", "qualified": False}, "the hazard floats"),
    ],
)
def test_evidence_reads_as_value_against_limit(evidence: Any, words: str) -> None:
    assert in_words(json.dumps(evidence)) == words


@given(st.one_of(st.text(), st.recursive(st.none() | st.booleans() | st.text(), st.lists).map(json.dumps)))
def test_any_other_text_stays_as_it_is_in_at_most_200_characters(text: str) -> None:
    words = in_words(text)
    assert len(words) <= 200
    assert words == text or words == f"{text[:197]}..."
