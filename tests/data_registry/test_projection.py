"""Outlines in pictures."""

from __future__ import annotations

import numpy as np
import pytest

from data_registry.cameras import pinhole
from data_registry.geometry import box_corners
from data_registry.projection import outline
from tests.street import FOCAL, HEIGHT, WIDTH, camera, keyframe

FRONT = pinhole(keyframe(), camera("CAM_FRONT"))


def _box(x: float, y: float, z: float, size: tuple[float, float, float]) -> np.ndarray:
    return box_corners((x, y, z), size, np.eye(3))


def test_a_box_ahead_has_the_height_of_the_pinhole_formula() -> None:
    shown = outline(_box(11.7, 0.0, 1.5, (1e-6, 1.0, 2.0)), FRONT)
    assert shown.bounds[3] - shown.bounds[1] == pytest.approx(FOCAL * 2.0 / 10.0, rel=1e-4)


def test_a_box_through_the_camera_plane_is_cut_and_fills_its_side_of_the_picture() -> None:
    shown = outline(_box(2.0, -2.0, 1.5, (8.0, 2.0, 1.0)), FRONT)
    assert shown.bounds[2] == WIDTH - 0.5
    assert 0 < shown.area < WIDTH * HEIGHT


def test_what_lies_behind_or_beside_has_no_outline() -> None:
    assert outline(_box(-5.0, 0.0, 1.0, (2.0, 2.0, 2.0)), FRONT).is_empty
    assert outline(_box(5.0, 30.0, 1.0, (2.0, 2.0, 2.0)), FRONT).is_empty
