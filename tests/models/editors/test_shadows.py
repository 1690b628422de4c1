"""Shadows are worked out where they reach only, and come out as if they were everywhere."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from data_registry.geometry import GroundPlane
from data_registry.scene3d.shapes import SHAPES
from models.editors import shadows
from models.editors.shadows import PlanShade, sky_shade, sun_shade

LEVEL = GroundPlane(0.0, 0.0, 0.0, 0.0)
CAR = SHAPES["car"](4.4, 1.8, 1.5)


@given(st.floats(0.6, 30.0), st.integers(0, 50), st.integers(0, 70), st.integers(1, 12))
def test_a_blur_worked_out_in_a_window_is_that_of_the_whole_grid(
    sigma: float, row: int, column: int, size: int
) -> None:
    mask = np.zeros((60, 80), dtype=np.bool_)
    mask[row : row + size, column : column + size] = True
    share = np.zeros(mask.shape)
    shadows._add_spread(share, mask, sigma)  # pyright: ignore[reportPrivateUsage]
    whole = ndimage.gaussian_filter(mask.astype(np.float32), sigma, truncate=shadows.TRUNCATE)
    np.testing.assert_allclose(share, whole, atol=2e-6)


def test_the_ground_below_a_car_is_dark_and_its_sun_shadow_falls_away_from_the_sun() -> None:
    low_sun = np.array([0.0, -0.8, 0.6])
    sky, sun = sky_shade(CAR, LEVEL), sun_shade(CAR, low_sun, 0.01, LEVEL)
    assert isinstance(sun, PlanShade)
    below, beyond, before = np.array([[0.0, 0.0]]), np.array([[0.0, 2.0]]), np.array([[0.0, -2.0]])
    assert float(sky.at(below)[0]) > 0.8
    assert float(sun.at(beyond)[0]) > 0.8
    assert float(sun.at(before)[0]) < 0.05
