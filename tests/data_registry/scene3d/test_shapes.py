"""Shapes fill the box they are asked for, stand on the ground and stay inside their outline."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.geometry import GeometryError, GroundPlane
from data_registry.scene3d.shapes import RIM_M, SHAPES, SINK_M, building, ground_polygon, pothole

SIZES = {"box_truck": (7.0, 2.4, 3.1), "car": (4.4, 1.8, 1.5), "pedestrian": (0.7, 0.6, 1.75)}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_standing_shape_fills_its_box_and_stands_on_the_ground(name: str) -> None:
    size = SIZES[name]
    low, high = (bound(SHAPES[name](*size).vertices, axis=0) for bound in (np.min, np.max))
    assert low.tolist() == pytest.approx([-size[0] / 2, -size[1] / 2, 0.0])
    assert high.tolist() == pytest.approx([size[0] / 2, size[1] / 2, size[2]])


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_standing_shape_has_a_few_hundred_faces(name: str) -> None:
    assert 100 < len(SHAPES[name](*SIZES[name]).faces) < 1000


def test_a_building_fills_its_box() -> None:
    low, high = (bound(building(12, 9, 10).vertices, axis=0) for bound in (np.min, np.max))
    assert np.allclose(high - low, (12, 9, 10), atol=0.03)


@given(st.lists(st.tuples(st.floats(-20, 20), st.floats(-20, 20)), min_size=3, max_size=9))
@settings(max_examples=60, deadline=None)
def test_a_ground_polygon_has_its_outlines_area_and_lies_on_the_ground(points) -> None:
    area = shapely.convex_hull(shapely.multipoints(points)).difference(shapely.Point(0.3, 0.2).buffer(2.0))
    ground = GroundPlane(0.2, 0.01, -0.02)
    mesh = ground_polygon(area, ground.height_at, (0.1, 0.1, 0.1))
    plan = mesh.triangles()[:, :, :2]
    edges = plan[:, 1:] - plan[:, :1]
    total = np.abs(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]).sum() / 2
    assert total == pytest.approx(area.area, abs=1e-6)
    assert np.allclose(mesh.vertices[:, 2], ground.height_at(mesh.vertices))


def test_a_polygon_that_crosses_itself_is_refused() -> None:
    with pytest.raises(GeometryError, match="Self-intersection"):
        ground_polygon(np.array([[0, 0], [1, 1], [1, 0], [0, 1]]), GroundPlane().height_at, (0, 0, 0))


def test_an_empty_area_gives_an_empty_mesh() -> None:
    assert len(ground_polygon(shapely.Polygon(), GroundPlane().height_at, (0, 0, 0)).faces) == 0


@given(st.floats(0.8, 5), st.floats(0.8, 3), st.floats(-3, 3))
@settings(max_examples=30, deadline=None)
def test_a_pothole_stays_inside_its_polygon_sinks_and_follows_the_ground(length, width, yaw) -> None:
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * (length / 2, width / 2)
    polygon = corners @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) + (12.0, -1.0)
    ground = GroundPlane(0.1, 0.02, -0.01)
    mesh = pothole(polygon, ground.height_at)
    outline = shapely.Polygon(polygon)
    assert shapely.covers(outline.buffer(1e-9), shapely.points(mesh.vertices[:, :2])).all()
    above = mesh.vertices[:, 2] - ground.height_at(mesh.vertices)
    assert above.max() == pytest.approx(RIM_M)
    assert above.min() == pytest.approx(-SINK_M)
    covered = shapely.MultiPoint(mesh.vertices[:, :2]).convex_hull
    assert covered.area > 0.6 * outline.area


def test_the_same_polygon_gives_the_same_pothole_and_another_place_another_one() -> None:
    polygon = np.array([[5.0, -1.0], [7.0, -1.0], [7.0, 0.5], [5.0, 0.5]])
    one, again, moved = (pothole(p, GroundPlane().height_at) for p in (polygon, polygon, polygon + 0.37))
    assert np.array_equal(one.vertices, again.vertices)
    assert not np.allclose(one.vertices + np.array([0.37, 0.37, 0.0]), moved.vertices)
