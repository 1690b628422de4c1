"""The draw for the auxiliary split: it follows the benchmark, and depends on nothing but ids and settings."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.records import Screening
from tasks.auxiliary import NOTHING_DRAWN, AuxiliarySettings, draw, drawable, quotas
from tasks.stage import StageResults
from tests.tasks.publications import build

TASKS = st.sampled_from(["animal", "ball", "cone", "debris", "flood"])
BENCHMARK = st.dictionaries(TASKS, st.integers(0, 60), max_size=5)
SIZES = st.integers(0, 80)
COUNTS = {"animal": 6, "ball": 4, "cone": 2}
IDS = st.sets(st.builds("streetset/town/{}/{}".format, st.integers(0, 30), TASKS), max_size=60)


@given(BENCHMARK, SIZES, st.integers(0, 9))
def test_seats_add_up_and_stay_within_one_of_the_exact_share(benchmark: dict[str, int], size: int, root: int) -> None:
    seats, total = quotas(benchmark, size, root), sum(benchmark.values())
    assert seats.keys() == benchmark.keys()
    assert sum(seats.values()) == (size if total else 0)
    for task, count in seats.items():
        assert total == 0 or abs(count - Fraction(size * benchmark[task], total)) < 1


@given(BENCHMARK, SIZES, SIZES, st.integers(0, 9))
def test_more_seats_take_none_away(benchmark: dict[str, int], size: int, more: int, root: int) -> None:
    few, many = quotas(benchmark, size, root), quotas(benchmark, size + more, root)
    assert all(few[task] <= many[task] for task in benchmark)


def test_the_papers_numbers_come_out() -> None:
    assert AuxiliarySettings().asked(3_181) == 8_994
    seats = quotas({"emergence": 813, "blockage": 628, "signals": 115}, 1_556)
    assert seats == {"emergence": 813, "blockage": 628, "signals": 115}


@pytest.mark.parametrize(
    ("asked", "count"),
    [({"share": 0.5}, 2), ({"share": 1.1}, 4), ({"share": 0}, 0), ({"size": 7}, 7), ({"size": 0, "share": 2.0}, 0)],
)
def test_a_share_is_rounded_up_and_a_size_overrules_it(asked: dict[str, float], count: int) -> None:
    assert AuxiliarySettings.model_validate(asked).asked(3) == count


@given(IDS, IDS, SIZES, st.randoms(use_true_random=False))
def test_the_order_of_ids_does_not_matter(
    benchmark: set[str], pool: set[str], size: int, shuffler: random.Random
) -> None:
    asked = AuxiliarySettings(size=size)
    first, second = [*benchmark], [*pool]
    expected = draw(first, second, asked)
    shuffler.shuffle(first)
    shuffler.shuffle(second)
    assert draw(first, second, asked) == expected


@given(IDS, IDS, SIZES, SIZES)
def test_a_larger_draw_holds_the_smaller_one(benchmark: set[str], pool: set[str], size: int, more: int) -> None:
    few = draw(benchmark, pool, AuxiliarySettings(size=size))
    many = draw(benchmark, pool, AuxiliarySettings(size=size + more))
    for small, large in zip(few.tasks, many.tasks, strict=True):
        assert large.drawn[: len(small.drawn)] == small.drawn


@given(IDS, IDS, SIZES)
def test_a_task_that_runs_out_leaves_its_seats_to_others(benchmark: set[str], pool: set[str], size: int) -> None:
    found = draw(benchmark, pool, AuxiliarySettings(size=size))
    open_to = [one for one in found.tasks if one.benchmark]
    assert found.ids <= pool
    assert found.available == len(pool)
    assert len(found.ids) == min(size, sum(one.available for one in open_to))
    assert found.short == size - len(found.ids)
    for one in found.tasks:
        assert len(one.drawn) <= one.available
        assert one.short == max(one.quota - len(one.drawn), 0)
        assert all(name.endswith(f"/{one.task}") for name in one.drawn)
    if all(one.quota <= one.available for one in open_to):
        assert all(len(one.drawn) == one.quota for one in found.tasks)


def test_seats_of_a_full_task_go_to_the_others_in_their_own_proportions() -> None:
    benchmark = [f"streetset/town/{number}/{task}" for task, count in COUNTS.items() for number in range(count)]
    pool = [f"streetset/town/x{number}/{task}" for task in ("ball", "cone") for number in range(50)]
    found = draw(benchmark, pool, AuxiliarySettings(size=30))
    drawn = {one.task: (one.quota, len(one.drawn), one.short) for one in found.tasks}
    assert drawn == {"animal": (15, 0, 15), "ball": (10, 20, 0), "cone": (5, 10, 0)}
    assert found.short == 0


@settings(max_examples=20)
@given(st.integers(0, 2**53 - 1))
def test_another_root_draws_others_of_the_same_tasks(root: int) -> None:
    pool = [f"streetset/town/{number}/{task}" for number in range(200) for task in ("animal", "ball")]
    benchmark = ["streetset/town/x/animal", "streetset/town/x/ball"]
    found = draw(benchmark, pool, AuxiliarySettings(size=40, seed_root=root))
    assert Counter(name.rpartition("/")[2] for name in found.ids) == {"animal": 20, "ball": 20}
    assert (found.ids == draw(benchmark, pool, AuxiliarySettings(size=40, seed_root=1)).ids) == (root == 1)


def test_only_screened_out_combinations_with_a_placement_in_view_can_be_drawn(tmp_path: Path) -> None:
    screened = build(tmp_path).screened
    (found,) = drawable(screened)
    assert not found.screening.suitable
    for lacking in ({"placement": None}, {"views": ()}, {"appearance": None}):
        record: Screening = found.screening.model_copy(update=lacking)
        changed = [replace(entry, record=record) if entry.id == found.id else entry for entry in screened.settled]
        assert drawable(StageResults("screen", tuple(changed), ())) == []


def test_without_a_benchmark_nothing_is_drawn() -> None:
    assert draw([], ["streetset/town/1/animal"], AuxiliarySettings()).ids == frozenset()
    assert NOTHING_DRAWN.ids == frozenset()
