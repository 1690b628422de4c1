"""Noise is the same everywhere, averages out with distance, and stripes keep their width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.sources.streetset.noise import band, clouds, hashed, raw_bytes, texture


def test_bytes_of_a_seed_never_change() -> None:
    assert raw_bytes(1, 5).tolist() == [255, 228, 34, 121, 243]
    assert raw_bytes(1, 3).tolist() == raw_bytes(1, 5).tolist()[:3]


def test_texture_repeats_and_fades_when_a_pixel_covers_much() -> None:
    x = np.linspace(0, 20, 4001, dtype=np.float32)
    near, far = (texture(x, x * 0.7, np.full_like(x, reach)) for reach in (0.01, 3.0))
    assert near.std() > 0.2
    assert far.std() < 0.5 * near.std()
    tile = np.float32(1024 * 0.02)
    shifted = texture(x + tile, x * 0.7, np.full_like(x, 0.01))
    assert (np.abs(shifted - near) < 1e-6).mean() > 0.95  # all but points on a grain's edge


def test_clouds_are_smooth() -> None:
    x = np.linspace(0, 10, 2001, dtype=np.float32)
    assert np.abs(np.diff(clouds(x, x, 10.0))).max() < 0.2
    assert clouds(x, x, 10.0).std() > 0.1


@given(st.floats(-2, 2), st.floats(0.05, 1.0))
def test_a_stripes_total_is_its_width_whatever_the_pixel_size(low: float, reach: float) -> None:
    step = 0.001
    x = np.arange(-6, 6, step, dtype=np.float32)
    covered = band(x, low, low + 0.3, np.full_like(x, reach)).sum() * step
    assert covered == pytest.approx(0.3, abs=0.005)


def test_hashes_spread_over_the_unit_range() -> None:
    values = hashed(np.arange(1000), np.full(1000, 3))
    assert 0 <= values.min() < 0.02
    assert 0.98 < values.max() < 1
    assert values.mean() == pytest.approx(0.5, abs=0.05)
