"""Intervals from resampled scenes: the cases in which theory says what they are, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.score_statistics.intervals import estimates, resampled_means


def test_with_one_pair_a_scene_the_interval_is_nearly_the_normal_one() -> None:
    size = 400
    values = (np.random.default_rng(1).random((size, 3)) < 0.3).astype(np.float64)
    half = 1.96 * values.std(axis=0) / np.sqrt(size)
    for found, wanted in zip(estimates(np.arange(size), values), half, strict=True):
        assert found.mean is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low == pytest.approx(found.mean - wanted, abs=0.12 * wanted)
        assert found.high == pytest.approx(found.mean + wanted, abs=0.12 * wanted)


def test_equal_pairs_of_a_scene_count_as_one_draw() -> None:
    once = (np.random.default_rng(2).random((50, 1)) < 0.5).astype(np.float64)
    assert (
        estimates(np.repeat(np.arange(50), 6), np.repeat(once, 6, axis=0))[0].low
        == estimates(np.arange(50), once)[0].low
    )


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(3)
    worlds, scenes = 300, 60
    pairs = generator.integers(1, 8, scenes)
    scene = np.repeat(np.arange(scenes), pairs)
    difficulty = generator.normal(size=(scenes, worlds))[scene]
    values = (difficulty + generator.normal(size=(len(scene), worlds)) > 0).astype(np.float64)
    found = estimates(scene, values)
    held = np.mean([one.low is not None and one.high is not None and one.low <= 0.5 <= one.high for one in found])
    assert 0.90 <= held <= 0.98
    width = 1.96 * 0.5 / np.sqrt(len(scene))
    naive = np.mean([one.mean is not None and abs(one.mean - 0.5) <= width for one in found])
    assert naive < held - 0.05  # what pairs as independent draws would claim


def test_the_mean_lies_inside_its_interval_when_data_are_well_behaved() -> None:
    values = np.random.default_rng(4).normal(size=(90, 40))
    for found in estimates(np.arange(90) // 3, values):
        assert found.mean is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.mean < found.high


def test_scenes_without_a_counted_pair_are_drawn_too_and_resamples_of_them_alone_say_nothing() -> None:
    values = np.full((30, 1), np.nan)
    values[:2] = [[1.0], [0.0]]
    means = resampled_means(np.arange(30), np.zeros(30, dtype=np.int64), values)
    assert np.isnan(means).mean() == pytest.approx((28 / 30) ** 30, abs=0.03)
    assert set(np.unique(means[~np.isnan(means)])) >= {0.0, 0.5, 1.0}
