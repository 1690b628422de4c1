"""Lambert shading and the sRGB curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.geometry import GeometryError
from data_registry.scene3d.light import Light, linear_from_srgb, srgb_from_linear


@given(st.floats(0.0, 1.0))
def test_srgb_and_linear_are_inverse(value: float) -> None:
    assert srgb_from_linear(linear_from_srgb(np.array([value])))[0] == pytest.approx(value, abs=1e-9)


def test_srgb_keeps_single_precision_and_clips() -> None:
    values = srgb_from_linear(np.array([-1.0, 2.0], dtype=np.float32))
    assert values.dtype == np.float32
    assert values.tolist() == pytest.approx([0.0, 1.0], abs=1e-6)


def test_a_face_square_to_the_sun_is_brightest_and_one_turned_away_gets_the_sky_only() -> None:
    light = Light(np.array([0.0, 0.0, 1.0]), np.array([0.7, 0.6, 0.5]), np.array([0.3, 0.3, 0.3]))
    up, side, down = light.shade(np.ones((3, 3)), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]))
    assert up.tolist() == pytest.approx([1.0, 0.9, 0.8])
    assert side.tolist() == pytest.approx([0.24] * 3)
    assert down.tolist() == pytest.approx([0.18] * 3)


@pytest.mark.parametrize("direction", [np.array([0.0, 0.0, 2.0]), np.array([1.0, 0.0])])
def test_a_direction_that_is_not_a_unit_vector_is_refused(direction) -> None:
    with pytest.raises(GeometryError, match="unit vector"):
        Light(direction, np.ones(3), np.ones(3))


def test_colours_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(GeometryError, match="light colours"):
        Light(np.array([0.0, 0.0, 1.0]), np.ones(1), np.ones(3))
