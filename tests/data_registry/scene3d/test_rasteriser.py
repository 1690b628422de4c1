"""The rasteriser agrees with the camera, with itself, and with plain geometry."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.geometry import GeometryError, GroundPlane, PinholeCamera, Transform, yaw_rotation
from data_registry.scene3d.light import Light
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.rasteriser import Rendering, photograph, render
from data_registry.scene3d.shapes import box_truck, car, pedestrian
from data_registry.scene3d.solids import box, panel
from tests.data_registry.scene3d.cast import shadow_polygon
from tests.data_registry.scene3d.conftest import LOOKING_AHEAD

CAMERA = PinholeCamera(
    np.array([[125.0, 0.0, 80.0], [0.0, 125.0, 45.0], [0.0, 0.0, 1.0]]),
    Transform(LOOKING_AHEAD, np.array([0.0, 1.5, 0.0])),
    160,
    90,
)
LIGHT = Light(np.array([-0.6, 0.0, 0.8]), np.array([0.7, 0.7, 0.7]), np.array([0.3, 0.3, 0.3]))


def at(x: float, y: float, yaw: float = 0.0, z: float = 0.0) -> Transform:
    return Transform(yaw_rotation(yaw), np.array([x, y, z]))


def upright(x: float, left: float, right: float, bottom: float, top: float) -> Mesh:
    """Return a white rectangle square to the view at distance x."""
    return panel([(x, left, bottom), (x, right, bottom), (x, right, top), (x, left, top)], (1.0, 1.0, 1.0))


def same(one: Rendering, other: Rendering) -> bool:
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in ("rgb", "coverage", "depth", "owner"))


@given(st.floats(4, 30), st.floats(-0.5, 0.5), st.floats(-0.4, 0.4), st.floats(0.8, 1.5))
@settings(max_examples=40, deadline=None)
def test_a_small_body_shows_where_the_camera_projects_it(x: float, lateral: float, height: float, size: float) -> None:
    centre = np.array([x, lateral * x, 1.5 + height * x / 2])
    reach = size / 20
    low, high = centre - reach, centre + reach
    mesh = box((low[0], low[1], low[2]), (high[0], high[1], high[2]), (1, 1, 1))
    (column, row), depth = CAMERA.project(centre[None])[0][0], CAMERA.project(centre[None])[1][0]
    seen = render([mesh], CAMERA, LIGHT, samples=4)
    assert seen.coverage.sum() > 0
    rows, columns = np.indices(seen.coverage.shape)
    assert (seen.coverage * columns).sum() / seen.coverage.sum() == pytest.approx(column, abs=0.5)
    assert (seen.coverage * rows).sum() / seen.coverage.sum() == pytest.approx(row, abs=0.5)
    assert seen.depth.min() == pytest.approx(depth, abs=size / 10)


@given(st.floats(5, 20), st.floats(-2, 2), st.floats(0.2, 2.0), st.floats(0.3, 1.4), st.floats(-0.2, 0.2))
@settings(max_examples=40, deadline=None)
def test_the_covered_area_is_that_of_the_projected_rectangle(x, left, width, top, shift) -> None:
    corners = np.array([[x, left, shift], [x, left - width, shift + top]])
    (u0, v0), (u1, v1) = CAMERA.project(corners)[0]
    u0, u1 = np.clip([u0, u1], -0.5, 159.5)
    v1, v0 = np.clip([v1, v0], -0.5, 89.5)
    samples = 4
    seen = render([upright(x, left, left - width, shift, shift + top)], CAMERA, LIGHT, samples=samples)
    slack = (u1 - u0 + v0 - v1 + 2) / samples  # one sample along each edge
    assert seen.coverage.sum() == pytest.approx((u1 - u0) * (v0 - v1), abs=slack)


@given(st.lists(st.tuples(st.floats(4, 40), st.floats(-6, 6), st.floats(-3, 3)), min_size=1, max_size=4), st.data())
@settings(max_examples=25, deadline=None)
def test_a_window_is_the_crop_of_the_whole_picture(places, data) -> None:
    meshes = [car(4.4, 1.8, 1.5).placed(at(x, y, yaw)) for x, y, yaw in places]
    left, top = data.draw(st.integers(0, 150)), data.draw(st.integers(0, 80))
    right, bottom = data.draw(st.integers(left + 1, 160)), data.draw(st.integers(top + 1, 90))
    whole = render(meshes, CAMERA, LIGHT)
    part = render(meshes, CAMERA, LIGHT, window=(left, top, right, bottom))
    cut = (slice(top, bottom), slice(left, right))
    assert same(part, Rendering(whole.rgb[cut], whole.coverage[cut], whole.depth[cut], whole.owner[cut]))


def test_the_nearer_thing_hides_the_farther_one_whatever_the_order() -> None:
    near, far = upright(8, 1, -1, 0.5, 2), upright(12, 3, -3, 0, 3)
    one, other = render([near, far], CAMERA, LIGHT), render([far, near], CAMERA, LIGHT)
    assert one.owner[45, 80] == 0
    assert other.owner[45, 80] == 1
    assert one.depth[45, 80] == pytest.approx(8)
    assert np.array_equal(one.rgb, other.rgb)
    assert set(np.unique(one.owner)) == {-1, 0, 1}


def test_faces_that_share_edges_leave_no_crack_and_do_not_overlap() -> None:
    rng = np.random.default_rng(3)
    points = np.column_stack([np.full(60, 9.0), rng.uniform(-9, 9, 60), rng.uniform(-5, 8, 60)])
    points[:4, 1:] = [(-9, -5), (9, -5), (9, 8), (-9, 8)]
    plan = shapely.get_parts(shapely.delaunay_triangles(shapely.MultiPoint(points[:, 1:])))
    pieces = [panel([(9.0, y, z) for y, z in list(t.exterior.coords)[:3]], (1, 1, 1)) for t in plan]
    assert (render([joined(pieces)], CAMERA, LIGHT).coverage == 1).all()
    total = sum(render([piece], CAMERA, LIGHT).coverage for piece in pieces)
    assert np.array_equal(total, np.ones((90, 160)))


def test_a_surface_that_passes_under_the_camera_is_cut_at_the_near_plane() -> None:
    road = panel([(-50, -50, 0), (200, -50, 0), (200, 50, 0), (-50, 50, 0)], (0.2, 0.2, 0.2))
    seen = render([road], CAMERA, LIGHT)
    assert (seen.coverage[60:] == 1).all()
    assert (seen.coverage[:45] == 0).all()
    rows = np.arange(60, 90)
    # the nearest of two sample rows, a quarter of a pixel below the centre
    assert np.allclose(seen.depth[60:, 80], 125 * 1.5 / (rows + 0.25 - 45))


def test_things_behind_the_camera_do_not_show() -> None:
    seen = render([car(4.4, 1.8, 1.5).placed(at(-6, 0))], CAMERA, LIGHT)
    assert not seen.coverage.any()
    assert np.isinf(seen.depth).all()
    assert (seen.owner == -1).all()


def test_a_photograph_is_what_rendering_the_whole_picture_shows() -> None:
    meshes = [upright(12.0, 2.0, -1.0, 0.0, 2.0), upright(9.0, 0.3, -0.9, 0.2, 1.1)]
    whole, (rgb, coverage) = render(meshes, CAMERA, LIGHT), photograph(meshes, CAMERA, LIGHT)
    assert 0 < coverage.sum() < coverage.size
    assert np.array_equal(rgb, whole.rgb)
    assert np.array_equal(coverage, whole.coverage)


def test_rendering_twice_gives_the_same_bits() -> None:
    meshes = [box_truck(7, 2.4, 3).placed(at(14, 2, 0.3)), pedestrian(0.7, 0.6, 1.75).placed(at(9, -1))]
    assert same(render(meshes, CAMERA, LIGHT), render(meshes, CAMERA, LIGHT))


def test_colour_is_premultiplied_reflectance_times_light() -> None:
    seen = render([upright(9, 9, -9, 1.5, 9)], CAMERA, LIGHT, samples=2)
    assert seen.rgb[20, 80].tolist() == pytest.approx([0.6 * 0.7 + 0.3 * 0.8] * 3)
    edge = seen.coverage[:, 80]
    partly = np.flatnonzero((edge > 0) & (edge < 1))
    assert np.allclose(seen.rgb[partly, 80, 0], 0.66 * edge[partly])


@pytest.mark.parametrize("window", [(0, 0, 161, 90), (5, 5, 5, 9), (-1, 0, 4, 4)])
def test_a_window_outside_the_picture_is_refused(window) -> None:
    with pytest.raises(GeometryError, match="not part of a 160x90 picture"):
        render([], CAMERA, LIGHT, window=window)


def test_rendering_nothing_gives_an_empty_picture() -> None:
    assert not render([], CAMERA, LIGHT).coverage.any()


def test_the_shadow_of_a_block_reaches_away_from_the_sun_by_its_height() -> None:
    block = box((-1, -1, 0), (1, 1, 2), (1, 1, 1))
    shadow = shadow_polygon(block, LIGHT, GroundPlane())
    assert shadow.bounds == pytest.approx((-1, -1, 1 + 2 * 0.6 / 0.8, 1))
    raised = shadow_polygon(block, LIGHT, GroundPlane(height_m=1.0))
    assert raised.bounds == pytest.approx((-1, -1, 1 + 1 * 0.6 / 0.8, 1))


def test_parts_cast_their_shadows_separately() -> None:
    parts = joined([box((0, -3, 0), (1, -2, 1), (1, 1, 1)), box((0, 2, 0), (1, 3, 1), (1, 1, 1))])
    shadow = shadow_polygon(parts, LIGHT, GroundPlane())
    assert shadow.geom_type == "MultiPolygon"
    assert not shadow.contains(shapely.Point(0.5, 0))


def test_no_shadow_when_the_sun_is_down_or_the_thing_is_underground() -> None:
    low = Light(np.array([1.0, 0.0, 0.0]), np.ones(3), np.ones(3))
    assert shadow_polygon(box((0, 0, 0), (1, 1, 1), (1, 1, 1)), low, GroundPlane()).is_empty
    assert shadow_polygon(box((0, 0, -2), (1, 1, -1), (1, 1, 1)), LIGHT, GroundPlane()).is_empty
