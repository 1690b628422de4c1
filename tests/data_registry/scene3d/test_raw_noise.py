"""Noise is the same everywhere."""

from __future__ import annotations

from data_registry.scene3d.raw_noise import raw_bytes


def test_bytes_of_a_seed_never_change() -> None:
    assert raw_bytes(1, 5).tolist() == [255, 228, 34, 121, 243]
    assert raw_bytes(1, 3).tolist() == raw_bytes(1, 5).tolist()[:3]
