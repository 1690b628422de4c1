"""Surfaces stay in their outline, near the ground, and survive any outline or refuse it."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data_registry.geometry import GeometryError, GroundPlane
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.shapes import (
    PROUD_M,
    RIM_M,
    SINK_M,
    SURFACES,
    TALLEST_M,
    ground_polygon,
    pothole,
)

LOWEST = {"pothole": SINK_M, "cave_in": 0.06}
HIGHEST = {"pothole": PROUD_M, "cave_in": PROUD_M, "debris": TALLEST_M, "gravel": TALLEST_M, "flood": 0.01, "ice": 0.01}
NAMES = sorted(SURFACES)
LANE = np.array([[5.0, -1.2], [8.4, -1.3], [8.7, 0.4], [7.0, 1.3], [5.2, 0.9]])
CORNER = np.array([[5.0, 0.0], [9.0, 0.0], [9.0, 1.0], [6.0, 1.0], [6.0, 3.5], [5.0, 3.5]])
HORSESHOE = np.array([[5.0, 0.0], [9.0, 0.0], [9.0, 3.0], [8.2, 3.0], [8.2, 0.8], [5.8, 0.8], [5.8, 3.0], [5.0, 3.0]])
SLOPE = GroundPlane(0.2, 0.03, -0.02)


def _check_place(name: str, mesh: Mesh, outline: np.ndarray, ground: GroundPlane) -> None:
    area = shapely.Polygon(outline).buffer(1e-7)
    triangles = shapely.polygons(mesh.triangles()[:, :, :2])
    assert shapely.covers(area, shapely.points(mesh.vertices[:, :2])).all()
    assert shapely.area(shapely.difference(triangles, area)).sum() < 1e-6
    above = mesh.vertices[:, 2] - ground.height_at(mesh.vertices)
    assert above.max() <= HIGHEST[name] + 1e-9
    assert above.min() >= -LOWEST.get(name, 0.0) - 1e-9


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("outline", [LANE, CORNER, HORSESHOE], ids=["lane", "corner", "horseshoe"])
def test_a_surface_stays_in_its_outline_and_on_sloping_ground(name: str, outline: np.ndarray) -> None:
    mesh = SURFACES[name](outline, SLOPE.height_at)
    _check_place(name, mesh, outline, SLOPE)
    assert 250 <= len(mesh.faces) <= 4200


@pytest.mark.parametrize("name", NAMES)
@given(length=st.floats(0.3, 6), width=st.floats(0.3, 3), yaw=st.floats(-3, 3), cut=st.floats(0.0, 0.8))
@example(length=1.0779783803777954, width=1.9128949590032749, yaw=-2.8991673824542348, cut=0.654433719821266)
@example(length=1.75, width=0.765625, yaw=0.03125, cut=0.671875)
@settings(max_examples=8, deadline=None)
def test_any_notched_outline_keeps_its_surface(name: str, length: float, width: float, yaw: float, cut: float) -> None:
    corners = np.array([[1, 1], [0.2, 1], [0, 1 - 1.6 * cut], [-0.3, 1], [-1, 1], [-1, -1], [1, -1]])
    turned = (corners * (length / 2, width / 2)) @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    outline = turned + np.array([12.0, -1.0])
    try:
        mesh = SURFACES[name](outline, SLOPE.height_at)
    except GeometryError:
        assert cut > 0.5  # the notch reaches the middle: nothing is left to grow in
        return
    _check_place(name, mesh, outline, SLOPE)


@pytest.mark.parametrize("name", NAMES)
def test_a_small_outline_gives_a_small_surface_and_a_tiny_one_is_refused(name: str) -> None:
    small = (LANE - LANE.mean(axis=0)) * 0.08 + np.array([6.0, 0.0])
    _check_place(name, SURFACES[name](small, GroundPlane().height_at), small, GroundPlane())
    with pytest.raises(GeometryError, match="outline"):
        SURFACES[name](small * 0.01, GroundPlane().height_at)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "outline",
    [np.array([[0, 0], [1, 1], [1, 0], [0, 1]]), np.array([[0, 0], [1, 0]]), np.array([[0, 0], [1, 0], [np.nan, 1]])],
    ids=["crossing", "two corners", "not finite"],
)
def test_an_outline_that_is_none_is_refused(name: str, outline: np.ndarray) -> None:
    with pytest.raises(GeometryError, match="outline"):
        SURFACES[name](outline, GroundPlane().height_at)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_outline_gives_the_same_surface_and_another_place_another_one(name: str) -> None:
    one, again, moved = (SURFACES[name](p, GroundPlane().height_at) for p in (LANE, LANE, LANE + 0.37))
    assert np.array_equal(one.vertices, again.vertices)
    assert np.array_equal(one.colours, again.colours)
    shifted = one.vertices + np.array([0.37, 0.37, 0.0])
    assert shifted.shape != moved.vertices.shape or not np.allclose(shifted, moved.vertices)


@pytest.mark.parametrize(("name", "material"), [("flood", Material.WATER), ("ice", Material.ICE)])
def test_water_and_ice_cover_most_of_their_outline(name: str, material: Material) -> None:
    mesh = SURFACES[name](LANE, GroundPlane().height_at)
    covered = shapely.union_all(shapely.polygons(mesh.triangles()[mesh.materials == material][:, :, :2]))
    assert covered.area > 0.65 * shapely.Polygon(LANE).area


def test_a_flood_draws_back_from_the_high_side() -> None:
    square = np.array([[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]])
    mesh = SURFACES["flood"](square, GroundPlane(0.0, 0.05, 0.0).height_at)
    water = mesh.triangles()[mesh.materials == Material.WATER][:, :, 0]
    assert water.max() < -water.min() - 0.05


@given(st.floats(0.8, 5), st.floats(0.8, 3), st.floats(-3, 3))
@example(5.0, 0.8, 0.0)
@example(5.0, 1.0, 0.0)
@settings(max_examples=15, deadline=None)
def test_a_pothole_sinks_has_a_rim_and_takes_most_of_its_outline(length, width, yaw) -> None:
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * (length / 2, width / 2)
    polygon = corners @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) + (12.0, -1.0)
    mesh = pothole(polygon, GroundPlane(0.1, 0.02, -0.01).height_at)
    above = mesh.vertices[:, 2] - GroundPlane(0.1, 0.02, -0.01).height_at(mesh.vertices)
    assert above.max() >= RIM_M - 1e-9
    assert above.min() == pytest.approx(-SINK_M)
    covered = shapely.MultiPoint(mesh.vertices[:, :2]).convex_hull
    assert covered.area > 0.6 * shapely.Polygon(polygon).area


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
