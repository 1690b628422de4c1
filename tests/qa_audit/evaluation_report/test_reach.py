"""What a table of differences can show at all; the test behind the table says so itself."""

import numpy as np
import pytest

from qa_audit.evaluation_report.reach import ALPHA, PATTERNS, Beyond, beyond_reach, least_adjusted, least_p
from tasks.score_statistics.differences import FLIPS, holm, sign_flip_p


@pytest.mark.parametrize("scenes", [5, 8, 14])
def test_the_smallest_p_value_is_that_of_scenes_that_all_differ_the_same_way(scenes: int) -> None:
    assert sign_flip_p(np.linspace(1.0, 2.0, scenes)[:, None]) == [least_p(scenes)]


def test_of_many_scenes_the_smallest_p_value_is_that_of_the_patterns_tried() -> None:
    assert PATTERNS == FLIPS + 1
    assert sign_flip_p(np.ones((40, 1))) == [least_p(40)]


@pytest.mark.parametrize("scenes", [[8] * 20, [5, 8, 8, 30, 30, 30], [6], [200] * 900, [7, 9, 11, 13, 15, 5]])
def test_the_smallest_adjusted_p_values_are_holms_of_the_smallest(scenes: list[int]) -> None:
    assert least_adjusted(scenes) == pytest.approx(holm([least_p(one) for one in scenes]), rel=1e-12)


def test_few_scenes_and_many_tests_are_beyond_reach_and_how_many_scenes_are_needed_is_told() -> None:
    assert beyond_reach([8] * 20) == Beyond((8, 8), 20, whole=True, least=0.15625, needed=10)
    assert max(least_adjusted([10] * 20)) <= ALPHA < min(least_adjusted([9] * 20))
    assert beyond_reach([10] * 20) is None
    assert beyond_reach([]) is None


def test_only_tests_of_few_scenes_are_beyond_reach_where_others_have_many() -> None:
    assert beyond_reach([5, 6, 40, 40]) == Beyond((5, 6), 4, whole=False, least=0.0625, needed=8)


def test_no_number_of_scenes_is_enough_for_too_many_tests() -> None:
    found = beyond_reach([500] * 1001)
    assert found is not None
    assert found.needed is None
