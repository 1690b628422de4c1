"""Which pixels a placement should fill, and what hides it."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from data_registry import silhouettes
from data_registry.cameras import pinhole
from data_registry.geometry import PinholeCamera
from data_registry.projection import full_outline, outline
from tests.verdict_cases import hole, parked, pedestrian, street, truck


def front() -> PinholeCamera:
    keyframe = street()
    return pinhole(keyframe, keyframe.view("CAM_FRONT"))


def test_filled_pixels_have_the_outlines_area() -> None:
    camera = front()
    shape = outline(silhouettes.placement_points(truck(), street().ground), camera)

    pixels = silhouettes.fill(camera, [shape])

    assert pixels.shape == (camera.height, camera.width)
    assert abs(pixels.sum() - shape.area) < shape.length


def test_an_outline_that_leaves_the_picture_keeps_its_outer_part() -> None:
    camera = front()
    points = truck(x=12, y=6).box.corners()

    whole, shown = full_outline(points, camera), outline(points, camera)

    assert 0 < shown.area < 0.9 * whole.area
    assert shown.difference(whole.buffer(1e-6)).is_empty


def test_a_car_between_camera_and_pedestrian_hides_it_and_one_behind_does_not() -> None:
    camera, target = front(), pedestrian(14, -1.5)
    footprint = silhouettes.placement_footprint(target)
    seen = full_outline(target.box.corners(), camera)
    nearer, farther = parked(9, -1.8, "nearer"), parked(20, -2.0, "farther")

    found = silhouettes.outlines_before(camera, footprint, seen, [farther, nearer])

    assert len(found) == 1
    assert found[0].equals(full_outline(nearer.box.corners(), camera))


def test_a_car_beside_the_line_of_sight_hides_nothing() -> None:
    camera, target = front(), pedestrian(14, -1.5)
    seen = full_outline(target.box.corners(), camera)

    found = silhouettes.outlines_before(camera, silhouettes.placement_footprint(target), seen, [parked(9, 4)])

    assert found == []


def test_the_place_of_a_surface_is_its_polygon_on_the_ground() -> None:
    placement = hole()

    points = silhouettes.placement_points(placement, street().ground)

    assert np.allclose(points[:, 2], 0)
    assert silhouettes.placement_footprint(placement).equals(shapely.Polygon(placement.polygon))


def test_specks_are_no_part_of_a_mask_but_large_parts_are() -> None:
    mask = np.zeros((40, 60), dtype=bool)
    mask[5:25, 5:25] = True
    mask[5:25, 40:45] = True
    mask[35, 50] = True

    kept = silhouettes.main_parts(mask)

    assert kept[10, 10]
    assert kept[10, 42]
    assert not kept[35, 50]
    assert not silhouettes.main_parts(np.zeros((4, 4), dtype=bool)).any()


def test_column_ends_hold_every_corner_of_a_masks_hull() -> None:
    mask = np.random.Generator(np.random.PCG64(1)).random((30, 40)) > 0.9
    rows, columns = np.nonzero(mask)

    ends = shapely.MultiPoint(silhouettes.column_ends(mask)).convex_hull

    assert ends.equals(shapely.MultiPoint(np.column_stack([columns, rows])).convex_hull)


def test_a_direction_that_misses_a_shape_meets_nothing() -> None:
    shape = shapely.box(10, -1, 12, 1)

    assert silhouettes.first_meeting(np.zeros(2), np.array([1.0, 0.0]), shape) == 10
    assert silhouettes.first_meeting(np.zeros(2), np.array([0.0, 1.0]), shape) is None


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 15), st.integers(1, 5)), max_size=4))
def test_specks_are_told_in_a_window_as_in_the_whole_mask(parts: list[tuple[int, int, int]]) -> None:
    mask = np.zeros((12, 16), dtype=np.bool_)
    for row, column, size in parts:
        mask[row : row + size, column : column + size] = True
    labelled: Any = ndimage.label(mask, structure=np.ones((3, 3)))
    labels, count = labelled
    areas = [int((labels == label).sum()) for label in range(1, count + 1)]
    large = [label for label, area in enumerate(areas, 1) if area >= silhouettes.SPECK_SHARE * max(areas)]
    np.testing.assert_array_equal(silhouettes.main_parts(mask), np.isin(labels, large))
