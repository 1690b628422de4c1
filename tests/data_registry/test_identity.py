"""Identities: canonical, order-independent, finite, and safe in a path."""

import json
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry import identity
from data_registry.identity import IdentityError

SAFE = 2**53 - 1
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # RFC 8785, section 3.2.2 and appendix B
        (
            {
                "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
                "string": '\u20ac$\u000f\nA\'B"\\\\"/',
                "literals": [None, True, False],
            },
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
        ),
        # section 3.2.3: keys are sorted by UTF-16 code units
        (
            {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7},
            '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}',
        ),
        ([-0.0, 5e-324, 1.7976931348623157e308, 9007199254740992.0, 295147905179352830000.0, 1e21, 1e-7], None),
    ],
)
def test_canonical_json_is_that_of_the_standard(value: Any, expected: str | None) -> None:
    expected = expected or ("[0,5e-324,1.7976931348623157e+308,9007199254740992,295147905179352830000,1e+21,1e-7]")
    assert identity.canonical_json(value).decode() == expected


@given(json_values)
def test_canonical_json_reads_back_and_is_a_fixed_point(value: Any) -> None:
    once = identity.canonical_json(value)
    assert identity.canonical_json(json.loads(once, parse_int=float)) == once


@given(st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), json_values, max_size=6), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, Any], shuffler: random.Random) -> None:
    keys = list(value)
    shuffler.shuffle(keys)
    assert identity.digest({key: value[key] for key in keys}) == identity.digest(value)


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 2**53, -(2**53), b"bytes", {1: 2}, {1, 2}, object(), "\ud800", _nested(20_000)],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(IdentityError, match="no canonical JSON for"):
        identity.canonical_json([value])


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(IdentityError) as caught:
        identity.canonical_json(["x" * 10_000, math.nan])
    assert len(str(caught.value)) < 400


@given(st.floats(-1e6, 1e6))
def test_quantising_is_idempotent_near_and_never_minus_zero(value: float) -> None:
    fixed = identity.quantise(value, identity.METRE_STEP)
    assert identity.quantise(fixed, identity.METRE_STEP) == fixed
    assert abs(fixed - value) <= 0.5000001e-6
    assert fixed != 0 or math.copysign(1.0, fixed) == 1.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_cannot_be_quantised(value: float) -> None:
    with pytest.raises(IdentityError, match="not a finite number"):
        identity.quantise(value, 6)


def test_a_key_depends_on_each_of_its_parts_and_on_the_order_of_inputs() -> None:
    keys = [
        identity.outcome_key("screen", 1, {"backend": "rules"}, ["a", "b"]),
        identity.outcome_key("edit", 1, {"backend": "rules"}, ["a", "b"]),
        identity.outcome_key("screen", 2, {"backend": "rules"}, ["a", "b"]),
        identity.outcome_key("screen", 1, {"backend": "other"}, ["a", "b"]),
        identity.outcome_key("screen", 1, {"backend": "rules"}, ["b", "a"]),
        identity.outcome_key("screen", 1, {"backend": "rules"}, ["ab"]),
    ]
    assert len(set(keys)) == len(keys)


def test_the_key_recipe_is_golden() -> None:
    """A change here redoes every result in every store: raise KEY_SCHEMA and mean it."""
    key = identity.outcome_key("screen", 1, {"backend": "rules", "revision": "1"}, ["0" * 64])
    text = (
        '{"backend":{"backend":"rules","revision":"1"},"inputs":["' + "0" * 64 + '"],"schema":1,"stage":"screen",'
        '"stage_version":1}'
    )
    assert key == identity.sha256(text.encode())


@given(st.integers(0, SAFE), st.text(max_size=5), st.text(max_size=5), st.integers(0, 9))
def test_seeds_are_stable_and_fit_into_json(root: int, role: str, who: str, attempt: int) -> None:
    role, who = (text.encode("utf-8", "replace").decode() for text in (role, who))
    seed = identity.seed_for(root, role, who, attempt)
    assert 0 <= seed < 2**53
    assert identity.seed_for(root, role, who, attempt) == seed
    assert identity.seed_for(root, role, who, attempt + 1) != seed


def test_seeds_are_the_top_bits_and_take_all_53() -> None:
    assert identity.seed_for(0, "edit", "a") == int(identity.digest([0, "edit", "a", 0])[:14], 16) >> 3
    seeds = np.array([identity.seed_for(0, "edit", str(number)) for number in range(400)])
    assert seeds.max() > 2**52


def test_ids_come_apart_as_they_were_put_together() -> None:
    keyframe = identity.keyframe_id("nuscenes", "scene-0061", "ca9a282c")
    pair = identity.combination_id(keyframe, "occluded_pedestrian")
    assert pair == "nuscenes/scene-0061/ca9a282c/occluded_pedestrian"
    assert identity.split_combination_id(pair) == (keyframe, "occluded_pedestrian")


@pytest.mark.parametrize("part", ["", ".", "..", "a/b", "/", "a\0b", "a\nb", "\ud800"])
def test_a_part_that_climbs_or_cannot_be_printed_is_refused(part: str) -> None:
    with pytest.raises(IdentityError, match="cannot be part of an id"):
        identity.keyframe_id("nuscenes", part, "token")
    with pytest.raises(IdentityError, match="cannot be part of an id"):
        identity.combination_id("nuscenes/scene/token", part)
    with pytest.raises(IdentityError):
        identity.split_combination_id(f"nuscenes/{part}/token/task")


@pytest.mark.parametrize("text", ["", "a/b/c", "a/b/c/d/e"])
def test_a_pair_id_has_four_parts(text: str) -> None:
    with pytest.raises(IdentityError, match="is not a pair id"):
        identity.split_combination_id(text)
