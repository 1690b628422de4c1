"""The sheet of all tasks: a pair each, side by side, and a labelled gap where there is none."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from data_registry.edits import Window
from qa_audit.task_sheet import LARGEST_FILE, TaskCell, View, encoded, task_sheet

GREEN, RED = (20, 160, 60), (200, 30, 30)


def _view(window: Window = (700, 400, 800, 500)) -> View:
    source = np.full((900, 1600, 3), GREEN, dtype=np.uint8)
    edited = source.copy()
    left, top, right, bottom = window
    edited[top:bottom, left:right] = RED
    return View(source, edited, window)


def _share(sheet: Image.Image, colour: tuple[int, int, int]) -> float:
    pixels = np.asarray(sheet).astype(int)
    return float((np.abs(pixels - colour).max(axis=2) < 12).mean())


def test_a_pair_is_shown_before_and_after_with_the_hazard_in_sight() -> None:
    sheet = task_sheet([TaskCell("Lane blockage", "Fallen Tree", "scene-1, gap 7.0 m", _view())])
    half = sheet.crop((0, 0, 20 + 388 + 2, sheet.height))
    assert _share(half, RED) == 0  # the source is on the left
    assert _share(sheet, RED) > 0.001
    assert _share(sheet, GREEN) > 0.2


@pytest.mark.parametrize("window", [(0, 0, 40, 40), (1560, 860, 1600, 900), (0, 0, 1600, 900), (700, 0, 800, 900)])
def test_a_hazard_at_any_place_of_the_picture_is_shown_whole(window: Window) -> None:
    sheet = task_sheet([TaskCell("f", "t", "", _view(window))])
    left, top, right, bottom = window
    least = (right - left) * (bottom - top) * (388 / 1600) ** 2
    assert _share(sheet, RED) * sheet.width * sheet.height > 0.8 * least


def test_a_task_without_a_pair_is_a_gap_with_a_reason() -> None:
    filled = task_sheet([TaskCell("f", "t", "no approved pair: mostly target occupied (5 of 8)", None)])
    empty = task_sheet([TaskCell("f", "t", "", None)])
    assert filled.size == empty.size
    assert np.asarray(filled).tobytes() != np.asarray(empty).tobytes()
    assert _share(filled, GREEN) == 0


def test_twenty_one_tasks_in_six_families_fit_a_page_and_a_file() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (900, 1600, 3), dtype=np.uint8)
    view = View(noise, noise, (700, 400, 800, 500))
    sizes = (5, 4, 4, 2, 3, 3)
    cells = [TaskCell(f"Family {n}", f"Task {n}.{m}", "", view) for n, size in enumerate(sizes) for m in range(size)]
    sheet = task_sheet(cells)
    assert sheet.width == 1630
    content = encoded(sheet)
    assert len(content) <= LARGEST_FILE
    assert Image.open(io.BytesIO(content)).size == sheet.size
