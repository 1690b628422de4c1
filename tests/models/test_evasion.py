"""Passing a hazard: what is asked of a swept area is asked of its parts."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from data_registry.paths import hulls, path_of, tube

metres = st.floats(-12.0, 12.0)


@st.composite
def paths(draw: st.DrawFn) -> np.ndarray:
    """A path of several seconds with steps of up to some metres, also backwards and standing still."""
    steps = draw(st.lists(st.tuples(st.floats(-1.0, 6.0), st.floats(-1.5, 1.5)), min_size=1, max_size=8))
    positions = np.vstack([np.zeros(2), np.cumsum(np.array(steps), axis=0)])
    return path_of(0.5 * np.arange(len(positions)), positions)


@given(paths(), st.tuples(metres, metres, st.floats(0.2, 6.0), st.floats(0.2, 6.0)), st.floats(1.0, 5.0))
def test_parts_of_a_tube_are_as_far_from_things_and_as_drivable_as_the_tube(
    path: np.ndarray, thing: tuple[float, float, float, float], half_width: float
) -> None:
    whole, parts = tube(path), hulls(path)
    x, y, length, width = thing
    box, road = shapely.box(x, y, x + length, y + width), shapely.box(-5.0, -half_width, 60.0, half_width)
    assert np.min(shapely.distance(parts, box)) == pytest.approx(float(shapely.distance(whole, box)), abs=1e-9)
    near = abs(float(shapely.distance(whole, road.boundary))) < 1e-9 and shapely.covers(road.buffer(1e-9), whole)
    assert near or bool(np.all(shapely.covers(road, parts))) == bool(shapely.covers(road, whole))
