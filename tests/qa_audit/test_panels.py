"""Panels show the edit: the whole view, what changed before and after, and where the hazard is said to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.cameras import pinhole
from data_registry.geometry import GroundPlane
from qa_audit.panels import WIDTH, pair_panel, region_outline
from tests import street

GREY = np.full((450, 800, 3), 90, dtype=np.uint8)
WINDOW = (360, 200, 440, 260)
AHEAD = ((14.0, -1.0), (18.0, -1.0), (18.0, 1.0), (14.0, 1.0))


def edited() -> np.ndarray:
    """A view with a red hazard in the window."""
    picture = GREY.copy()
    left, top, right, bottom = WINDOW
    picture[top:bottom, left:right] = (200, 0, 0)
    return picture


def red(part: np.ndarray) -> float:
    """Share of pixels that are red."""
    return float(((part[..., 0] > 150) & (part[..., 1] < 60) & (part[..., 2] < 60)).mean())


def test_the_view_is_on_top_and_before_and_after_below() -> None:
    panel = np.asarray(pair_panel(GREY, edited(), WINDOW, None))
    top = panel[: WIDTH * 450 // 800]
    below = panel[WIDTH * 450 // 800 + 4 :]
    assert panel.shape[1] == WIDTH
    assert red(top) == pytest.approx(80 * 60 / (800 * 450), rel=0.1)
    assert red(below[:, : WIDTH // 2 - 4]) == 0.0
    assert red(below[:, WIDTH // 2 + 4 :]) > 0.2  # a close-up, with some context


def test_the_outline_is_drawn_on_the_edited_view_alone() -> None:
    outline = np.array([[100.0, 100.0], [300.0, 100.0], [300.0, 300.0], [100.0, 300.0]])
    with_outline = np.asarray(pair_panel(GREY, edited(), WINDOW, outline)).astype(int)
    without = np.asarray(pair_panel(GREY, edited(), WINDOW, None)).astype(int)
    rows, columns = np.nonzero(np.abs(with_outline - without).sum(axis=2))
    scale = WIDTH / 800
    assert (rows.min(), rows.max()) == pytest.approx((100 * scale, 300 * scale), abs=2)
    assert (columns.min(), columns.max()) == pytest.approx((100 * scale, 300 * scale), abs=2)


def test_an_outline_that_is_not_finite_is_left_out() -> None:
    broken = np.array([[np.nan, 0.0], [1.0, 1.0], [2.0, 2.0]])
    assert pair_panel(GREY, GREY, WINDOW, broken).tobytes() == pair_panel(GREY, GREY, WINDOW, None).tobytes()


@given(st.integers(0, 799), st.integers(0, 449), st.integers(1, 800), st.integers(1, 450))
def test_any_window_gives_a_panel_of_the_same_size(left: int, top: int, width: int, height: int) -> None:
    window = (left, top, min(800, left + width), min(450, top + height))
    assert pair_panel(GREY, GREY, window, None).size == pair_panel(GREY, GREY, WINDOW, None).size


def test_a_region_ahead_is_outlined_below_the_horizon_in_front_and_not_behind() -> None:
    keyframe = street.keyframe()
    cameras = {camera.sensor_id: pinhole(keyframe, camera) for camera in keyframe.cameras if camera.frame_offset == 0}
    front = region_outline(AHEAD, GroundPlane(), cameras["CAM_FRONT"])
    assert front is not None
    assert front.shape == (80, 2)
    assert (front[:, 1] > street.HEIGHT / 2).all()
    assert np.ptp(front[:, 0]) < street.WIDTH / 2
    behind = ((-14.0, 1.0), (-18.0, 1.0), (-18.0, -1.0), (-14.0, -1.0))
    assert region_outline(behind, GroundPlane(), cameras["CAM_FRONT"]) is None
