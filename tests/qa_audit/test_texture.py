"""Grain and sharpness of a hazard against what is around it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from data_registry.records import Standing
from qa_audit.texture import blur_excess_px, detail_ratio, grain_ratio
from tests.qa_audit.views import grain, plain, view
from tests.verdict_cases import box


def test_the_camera_s_own_grain_and_sharpness_are_nothing_special() -> None:
    assert grain_ratio(view()).value == pytest.approx(1, abs=0.12)
    assert blur_excess_px(view()).value == pytest.approx(0, abs=0.2)


@pytest.mark.parametrize(("strength", "expected"), [(0.0, 0.15), (1.5, 0.55), (6.0, 1.9)])
def test_grain_is_told_relative_to_the_surroundings(strength: float, expected: float) -> None:
    assert grain_ratio(view(plain(1) + grain(strength, 1))).value == pytest.approx(expected, rel=0.35)


def test_texture_counts_little_as_grain() -> None:
    stripes = 110 + 30 * np.sign(np.sin(np.arange(800) / 5))[None, :, None] + grain(3, 1)

    assert grain_ratio(view(stripes)).value == pytest.approx(1, abs=0.35)


@pytest.mark.parametrize("blur", [1.5, 2.5])
def test_a_blurred_hazard_is_blurrier_than_its_surroundings(blur: float) -> None:
    soft = np.asarray(ndimage.gaussian_filter(plain(1), (blur, blur, 0)))

    assert blur_excess_px(view(soft)).value == pytest.approx(np.hypot(blur, 0.9) - 0.9, abs=0.5)


def test_a_sharpened_hazard_is_sharper_than_the_camera_can_be() -> None:
    sharp = plain(1) + 3 * (plain(1) - np.asarray(ndimage.gaussian_filter(plain(1), (1.0, 1.0, 0))))

    assert (blur_excess_px(view(sharp + grain(3, 1))).value or 0) < -0.3


def test_without_edges_or_anything_as_bright_there_is_no_value() -> None:
    flat = np.full((450, 800, 3), 250.0)
    far = Standing(box=box(55, 0.2, (0.3, 0.3, 0.5)), surface="road")

    assert grain_ratio(view(flat)).value is None
    assert grain_ratio(view(placement=far)).note.endswith("or it is too small")
    assert blur_excess_px(view(placement=far)).note == "too few edges in the hazard"


@pytest.mark.parametrize(("noise", "most"), [(0.0, 0.1), (1.0, 0.45)])
def test_a_flat_field_has_none_of_the_detail_around_it(noise: float, most: float) -> None:
    assert (detail_ratio(view(128 + grain(noise, 5))).value or 0) < most
    assert detail_ratio(view()).value == pytest.approx(1, abs=0.2)
