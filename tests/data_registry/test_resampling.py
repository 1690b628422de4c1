"""Compiled loops of resampling against the same sums written with numpy."""

import numpy as np

from data_registry.resampling import add_drawn, add_signed


def test_drawn_scenes_add_their_rows_as_often_as_they_are_drawn() -> None:
    values = np.arange(8.0).reshape(4, 2)
    starts, slots = np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1])
    totals = np.zeros((2, 2, 2))
    add_drawn(np.array([[0, 0, 1], [2, 2, 2]]), starts, slots, values, totals)
    assert totals.tolist() == [[[2.0, 5.0], [4.0, 5.0]], [[0.0, 0.0], [18.0, 21.0]]]


def test_signs_multiply_whole_scenes() -> None:
    values = np.array([[1.0, 2.0], [4.0, 8.0]])
    signs = np.array([[1, 1], [1, -1], [-1, -1]], dtype=np.int8)
    totals = np.zeros((3, 2))
    add_signed(signs, values, totals)
    assert totals.tolist() == (signs @ values).tolist()
