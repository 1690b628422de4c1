"""Distances of hulls to quads, held against GEOS."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from data_registry.geometry import Array
from data_registry.quad_distance import convex_hull, hull_gap
from tests.score_cases import quads, square

POINTS = st.lists(st.tuples(st.floats(-10, 25), st.floats(-10, 10)), min_size=8, max_size=8).map(np.array)


def gap(points: Array, quad: Array) -> float:
    return hull_gap(points.copy(), np.empty((2 * len(points), 2)), quad)


@given(POINTS, quads())
def test_a_distance_is_that_of_geos_for_convex_and_concave_quads_of_either_orientation(
    points: Array, drawn: tuple[Array, Array]
) -> None:
    hull = shapely.MultiPoint(points).convex_hull
    assert gap(points, drawn[0]) == pytest.approx(hull.distance(shapely.Polygon(drawn[0])), abs=1e-9)


@given(POINTS)
def test_the_hull_is_that_of_geos(points: Array) -> None:
    hull = np.empty((16, 2))
    size = convex_hull(points.copy(), hull)
    found = shapely.MultiPoint(hull[:size]).convex_hull
    assert found.symmetric_difference(shapely.MultiPoint(points).convex_hull).area < 1e-9
    corners = hull[:size]
    if size > 2:
        assert shapely.Polygon(corners).area == pytest.approx(found.area)
        assert shapely.LinearRing(corners).is_ccw


def test_a_hull_in_the_notch_of_a_concave_quad_does_not_meet_it() -> None:
    boomerang = np.array([(0.0, 0.0), (10.0, 5.0), (0.0, 10.0), (8.0, 5.0)])
    body = np.vstack([square(2.0, 5.0, 0.5)] * 2)
    nearest = shapely.Polygon(square(2.0, 5.0, 0.5)).distance(shapely.Polygon(boomerang))
    assert nearest > 1
    assert gap(body, boomerang) == pytest.approx(nearest, abs=1e-12)
    assert gap(body, boomerang[::-1].copy()) == pytest.approx(nearest, abs=1e-12)


def test_one_inside_the_other_and_touching_is_no_distance() -> None:
    small, large = square(0.0, 0.0, 0.5), square(0.2, 0.0, 5.0)
    assert gap(np.vstack([small, small]), large) == 0.0
    assert gap(np.vstack([large, large]), small) == 0.0
    assert gap(np.vstack([small, small]), square(1.5, 0.3)) == 0.0
    assert gap(np.vstack([small, small]), square(1.5 + 1e-9, 1.5 + 1e-9)) == pytest.approx(2**0.5 * 1e-9, rel=1e-3)
