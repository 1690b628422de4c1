"""Geometry: laws, and agreement with pyquaternion and the nuScenes devkit."""

import math
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st
from pyquaternion import Quaternion
from scipy.spatial.transform import Rotation
from shapely import affinity

from data_registry.geometry import (
    EGO_FRONT_M,
    EGO_LENGTH_M,
    EGO_WIDTH_M,
    GeometryError,
    GroundPlane,
    PinholeCamera,
    Transform,
    box_corners,
    convex_quad,
    ego_footprints,
    fit_ground,
    rectangle,
    yaw_rotation,
)

K = np.array([[1266.4, 0.0, 816.3], [0.0, 1266.4, 491.5], [0.0, 0.0, 1.0]])
"""About CAM_FRONT of nuScenes."""
FORWARD = Transform.from_quaternion((1.7, 0.0, 1.5), (0.5, -0.5, 0.5, -0.5))
"""Camera to ego: looking along x."""

coordinates = st.floats(-100, 100)
vectors = st.tuples(coordinates, coordinates, coordinates)


@st.composite
def quaternions(draw: st.DrawFn) -> tuple[float, float, float, float]:
    raw = np.array(draw(st.tuples(*[st.floats(-1, 1)] * 4)))
    assume(np.linalg.norm(raw) > 0.1)
    w, x, y, z = (raw / np.linalg.norm(raw)).tolist()
    return w, x, y, z


transforms = st.builds(Transform.from_quaternion, vectors, quaternions())


def _camera(camera_to_ego: Transform = FORWARD) -> PinholeCamera:
    return PinholeCamera(K, camera_to_ego.inverse(), 1600, 900)


def _same(one: Transform, other: Transform) -> bool:
    return bool(np.allclose(one.rotation, other.rotation) and np.allclose(one.translation, other.translation))


@given(transforms, transforms, transforms, vectors)
def test_transforms_form_a_group_that_acts_on_points(a: Transform, b: Transform, c: Transform, point) -> None:
    points = np.array([point])
    identity = Transform(np.eye(3), np.zeros(3))
    assert _same((a @ b) @ c, a @ (b @ c))
    assert _same(a @ a.inverse(), identity)
    assert _same(a.inverse() @ a, identity)
    assert np.allclose((a @ b).apply(points), a.apply(b.apply(points)))


@given(quaternions(), vectors)
def test_rotation_agrees_with_pyquaternion(wxyz, point) -> None:
    ours = Transform.from_quaternion((0, 0, 0), wxyz).apply(np.array([point]))[0]
    assert np.allclose(ours, np.array(Quaternion(wxyz).rotate(point)), atol=1e-9)


@given(quaternions())
def test_a_quaternion_and_its_negative_are_one_rotation_with_one_spelling(wxyz) -> None:
    negative = tuple(-value for value in wxyz)
    one, other = (Transform.from_quaternion((0, 0, 0), q) for q in (wxyz, negative))
    assert np.allclose(one.rotation, other.rotation)
    spelled = np.array(one.quaternion())
    assert spelled[0] >= 0
    assert min(np.abs(spelled - wxyz).max(), np.abs(spelled + wxyz).max()) < 1e-7
    assert np.allclose(Transform.from_quaternion((0, 0, 0), one.quaternion()).rotation, one.rotation)


@given(st.floats(-3.1, 3.1))
def test_yaw_is_the_heading(yaw: float) -> None:
    assert math.isclose(Transform(yaw_rotation(yaw), np.zeros(3)).yaw, yaw, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("translation", "wxyz", "message"),
    [
        ((0, 0), (1, 0, 0, 0), "needs 3 [+] 4 numbers"),
        ((0, 0, 0), (1, 0, 0), "needs 3 [+] 4 numbers"),
        ((0, 0, math.nan), (1, 0, 0, 0), "not finite"),
        ((0, 0, 0), (math.inf, 0, 0, 0), "not finite"),
        ((0, 0, 0), (0.9, 0, 0, 0), "not a unit quaternion"),
        ((0, 0, 0), (0, 0, 0, 0), "not a unit quaternion"),
    ],
)
def test_a_pose_that_is_none_is_refused(translation, wxyz, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        Transform.from_quaternion(translation, wxyz)


@given(transforms, st.lists(vectors, min_size=1, max_size=5))
def test_projection_agrees_with_the_devkit(camera_to_ego: Transform, points) -> None:
    from nuscenes.utils.geometry_utils import view_points

    ego = np.array(points)
    pixels, depth = _camera(camera_to_ego).project(ego)
    seen = camera_to_ego.inverse().apply(ego)
    assert np.allclose(depth, seen[:, 2])
    front = depth >= 0.1
    assert np.isnan(pixels[~front]).all()
    assert np.allclose(pixels[front], view_points(seen[front].T, K, normalize=True)[:2].T)


@given(transforms, st.floats(-200, 1800), st.floats(-200, 1100), st.floats(0.2, 80))
def test_a_pixel_back_projected_to_any_depth_projects_onto_itself(
    camera_to_ego: Transform, column: float, row: float, distance: float
) -> None:
    camera = _camera(camera_to_ego)
    ray = camera.rays(np.array([[column, row]]))
    assert math.isclose(float(np.linalg.norm(ray)), 1.0)
    pixels, depth = camera.project(camera.position + ray * distance)
    assume(depth[0] > 0.1)
    assert np.allclose(pixels, [[column, row]], atol=1e-4)


def test_ahead_is_the_principal_point_left_is_left_and_up_is_up() -> None:
    camera = _camera()
    pixels, depth = camera.project(np.array([[11.7, 0, 1.5], [11.7, 1, 1.5], [11.7, 0, 2.5], [-5, 0, 1.5]]))
    assert np.allclose(pixels[0], [816.3, 491.5])
    assert pixels[1, 0] < pixels[0, 0]
    assert pixels[2, 1] < pixels[0, 1]
    assert depth.tolist() == pytest.approx([10, 10, 10, -6.7])
    assert np.allclose(camera.position, [1.7, 0, 1.5])


def test_a_picture_reaches_half_a_pixel_beyond_the_outer_centres() -> None:
    pixels = np.array([[0, 0], [-0.49, 5], [-0.5, 5], [1599.49, 899.49], [1599.5, 5], [5, 899.5], [np.nan, np.nan]])
    assert _camera().contains(pixels).tolist() == [True, True, False, True, False, False, False]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "must be 3x3"),
        (np.full((3, 3), np.nan), "must be 3x3 finite"),
        (np.diag([1.0, 1.0, 0.0]), "singular"),
        (np.diag([-1.0, 1.0, 1.0]), "focal lengths must be positive, got -1 and 1"),
    ],
)
def test_intrinsics_that_cannot_project_are_refused(matrix, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        PinholeCamera(matrix, FORWARD, 10, 10)


def _plane_points(count: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    plan = generator.uniform(-40, 40, (count, 2))
    height = 0.05 + 0.015 * plan[:, 0] - 0.01 * plan[:, 1]
    return np.column_stack([plan, height])


def test_a_plane_is_found_among_30_percent_outliers() -> None:
    points = _plane_points(60)
    points[:18, 2] += np.random.default_rng(1).uniform(-1.5, 2.5, 18)
    plane = fit_ground(points)
    assert abs(plane.height_m - 0.05) < 0.06
    assert abs(plane.slope_x - 0.015) < 0.004
    assert abs(plane.slope_y + 0.01) < 0.004
    errors = plane.height_at(_plane_points(200, 2)) - _plane_points(200, 2)[:, 2]
    assert np.abs(errors).max() < 0.2


def test_without_points_the_ground_is_flat_under_the_wheels() -> None:
    far_or_unknown = np.array([[100.0, 0.0, 5.0], [np.nan, 0.0, 0.0]])
    for points in (np.empty((0, 3)), far_or_unknown):
        assert fit_ground(points) == GroundPlane(0.0, 0.0, 0.0, 0.0)


def test_one_odd_point_hardly_tilts_the_ground() -> None:
    plane = fit_ground(np.array([[20.0, 5.0, 1.0]]))
    assert 0 < plane.height_at(np.array([[20.0, 5.0]]))[0] < 0.9
    assert 0 < plane.height_m < 0.02
    assert plane.residual_m > 0.1


def test_the_residual_is_the_scatter_of_the_points() -> None:
    points = _plane_points(400)
    points[:, 2] += np.random.default_rng(3).normal(0, 0.1, 400)
    assert fit_ground(points).residual_m == pytest.approx(0.1, rel=0.2)


@given(st.floats(-0.05, 0.05), st.floats(-0.05, 0.05), st.floats(4, 60), st.floats(-10, 10))
def test_a_ray_through_a_ground_point_meets_the_ground_there(sx: float, sy: float, x: float, y: float) -> None:
    plane = GroundPlane(0.1, sx, sy)
    target = plane.lift(np.array([[x, y]]))
    origin = np.array([0.0, 0.0, 6.0])
    assert np.allclose(plane.intersect(origin, target - origin), target, atol=1e-6)


def test_a_ray_that_never_comes_down_meets_nothing() -> None:
    level = GroundPlane()
    directions = np.array([[1.0, 0, 0], [1.0, 0, 0.1], [0, 0, -1.0]])
    found = level.intersect(np.array([0.0, 0, 1.5]), directions)
    assert np.isnan(found[:2]).all()
    assert found[2].tolist() == [0, 0, 0]
    assert np.isnan(level.intersect(np.array([0.0, 0, -1.0]), directions)).all()


@given(vectors, st.tuples(*[st.floats(0.1, 10)] * 3), quaternions())
def test_box_corners_are_the_devkits(centre, size, wxyz) -> None:
    from nuscenes.utils.data_classes import Box

    length, width, height = size
    ours = box_corners(centre, size, Transform.from_quaternion((0, 0, 0), wxyz).rotation)
    theirs = Box(list(centre), [width, length, height], Quaternion(wxyz)).corners().T
    apart = np.linalg.norm(ours[:, None] - theirs[None], axis=2)  # in whatever order each has them
    assert (apart.min(axis=0) < 1e-6).all()
    assert sorted(apart.argmin(axis=1).tolist()) == list(range(8))


def test_box_corners_go_bottom_first_counter_clockwise_from_front_left() -> None:
    corners = box_corners((0, 0, 0), (4, 2, 1), np.eye(3))
    assert corners[:4].tolist() == [[2, 1, -0.5], [-2, 1, -0.5], [-2, -1, -0.5], [2, -1, -0.5]]
    assert (corners[4:] - corners[:4]).tolist() == [[0, 0, 1]] * 4


@given(st.tuples(coordinates, coordinates), st.floats(0.2, 9), st.floats(0.2, 9), st.floats(-7, 7))
def test_a_rectangle_is_counter_clockwise_with_its_area(centre, length: float, width: float, yaw: float) -> None:
    ring = shapely.LinearRing(rectangle(centre, length, width, yaw))
    assert ring.is_ccw
    assert shapely.Polygon(ring).area == pytest.approx(length * width)


@given(coordinates, coordinates, st.floats(-7, 7))
def test_the_ego_body_stands_ahead_of_its_rear_axle(x: float, y: float, heading: float) -> None:
    footprint = ego_footprints(np.array([[x, y, heading], [0.0, 0.0, 0.0]]))
    assert footprint.shape == (2, 4, 2)
    body = shapely.Polygon(footprint[0])
    assert shapely.LinearRing(footprint[0]).is_ccw
    assert body.area == pytest.approx(EGO_LENGTH_M * EGO_WIDTH_M)
    assert body.contains(shapely.Point(x, y))
    assert footprint[1][:, 0].max() == pytest.approx(EGO_FRONT_M) == pytest.approx(3.427)


@given(st.lists(st.tuples(st.floats(-20, 20), st.floats(-20, 20)), min_size=3, max_size=8), st.integers(0, 7))
def test_a_quad_is_the_smallest_rectangle_whatever_vertex_comes_first(points, turn: int) -> None:
    hull: Any = shapely.MultiPoint(points).convex_hull
    assume(hull.geom_type == "Polygon" and hull.area > 0.5 and hull.minimum_clearance > 0.05)
    ring = list(hull.exterior.coords)[:-1]
    turn %= len(ring)
    quad = convex_quad(shapely.Polygon(ring))
    assert shapely.LinearRing(quad).is_ccw
    around = shapely.Polygon(quad)
    assert around.buffer(1e-6).contains(hull)
    assert around.area <= _smallest_area(np.array(ring)) * (1 + 1e-9) + 1e-9
    first = min((round(x, 6), round(y, 6)) for x, y in quad.tolist())
    assert tuple(round(value, 6) for value in quad[0].tolist()) == first
    for other in (ring[turn:] + ring[:turn], ring[::-1]):
        assert shapely.Polygon(convex_quad(shapely.Polygon(other))).area == pytest.approx(around.area)


def _smallest_area(ring: np.ndarray) -> float:
    """The smallest rectangle has a side along an edge of the hull (Freeman and Shapira 1975)."""
    edges = np.roll(ring, -1, axis=0) - ring
    areas = []
    for angle in np.arctan2(edges[:, 1], edges[:, 0]):
        turned = ring @ Rotation.from_euler("z", -angle).as_matrix()[:2, :2].T
        areas.append(float(np.prod(np.ptp(turned, axis=0))))
    return min(areas)


@pytest.mark.parametrize("yaw", [0.0, 0.3, 1.0, -2.0])
def test_a_rectangle_is_its_own_quad(yaw: float) -> None:
    shape = shapely.Polygon(rectangle((10, -3), 7.0, 2.2, yaw))
    quad = convex_quad(shape)
    assert shapely.Polygon(quad).symmetric_difference(shape).area < 1e-9
    again = convex_quad(affinity.rotate(affinity.rotate(shape, 30), -30))
    assert np.allclose(quad, again, atol=1e-6)


@pytest.mark.parametrize("shape", [shapely.Polygon(), shapely.Polygon([(0, 0), (1, 1), (2, 2)])])
def test_a_shape_without_area_has_no_quad(shape: shapely.Polygon) -> None:
    with pytest.raises(GeometryError, match="needs an area"):
        convex_quad(shape)
