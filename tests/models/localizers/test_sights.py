"""What a view says about a body: how far its mask reaches, where nothing hides it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from data_registry.cameras import pinhole
from data_registry.projection import outline
from data_registry.records import Annotation
from data_registry.silhouettes import fill
from models.localizers.sights import DIRECTIONS, Sight, sight, without_specks
from tests.verdict_cases import box, camera, parked, street

FRONT = pinhole(street(), camera("CAM_FRONT"))
ONE_SLICE = np.zeros(8, dtype=np.int64)


def seen(corners: np.ndarray, nearer: tuple[Annotation, ...] = ()) -> Sight:
    mask = fill(FRONT, [outline(corners, FRONT)]) & ~fill(FRONT, [outline(n.box.corners(), FRONT) for n in nearer])
    return sight(FRONT, mask, nearer)


@given(st.floats(9, 30), st.floats(-3, 3), st.floats(-3, 3))
@settings(deadline=None, max_examples=25)
def test_a_mask_reaches_as_far_as_the_body_that_it_shows(x: float, y: float, turn: float) -> None:
    corners = box(x, y, (4.0, 1.8, 1.6), turn).corners()
    view = seen(corners)

    shown, whole = view.reach_of(corners[None], ONE_SLICE)

    assert shown.shape == whole.shape == (1, DIRECTIONS)
    assert np.abs(view.reach - shown[0]).max() < 2.0  # Pillow fills outlines to the pixel
    assert np.array_equal(view.whole, view.reach)


@given(st.floats(14, 25), st.floats(-1.5, 1.5), st.floats(-2.0, 2.0))
@settings(deadline=None, max_examples=25)
def test_what_a_nearer_object_hides_is_left_out_on_both_sides(x: float, y: float, beside: float) -> None:
    corners = box(x, y, (4.0, 1.8, 1.6)).corners()
    car = parked(8.0, beside + np.copysign(1.5, beside))
    view = seen(corners, (car,))

    shown, whole = view.reach_of(corners[None], ONE_SLICE)

    assert np.abs(view.reach - shown[0]).max() < 3.0
    assert (whole[0] >= shown[0] - 1e-6).all()


def test_the_lower_end_is_not_bare_where_a_nearer_object_begins_below_it() -> None:
    corners = box(14, -1.5, (0.5, 0.6, 1.75)).corners()

    assert seen(corners).lower_is_bare
    assert not seen(corners, (parked(9, -1.6),)).lower_is_bare
    assert seen(corners, (parked(9, -1.6),)).upper_is_bare


def test_a_mask_that_lies_within_an_outline_shows_that_the_object_is_smaller() -> None:
    corners = box(14, 0, (0.5, 0.6, 1.75)).corners()
    mask = fill(FRONT, [outline(corners, FRONT)])

    inside = sight(FRONT, mask, (parked(9, 0.0),))

    assert inside.hidden is None
    assert np.array_equal(inside.reach, sight(FRONT, mask, ()).reach)


def test_the_pictures_side_cuts_body_and_mask_alike() -> None:
    corners = box(6, 3.5, (4.0, 1.8, 1.6)).corners()
    view = seen(corners)

    assert view.is_cut
    assert np.abs(view.reach - view.reach_of(corners[None], ONE_SLICE)[0][0]).max() < 2.5


def test_bodies_are_compared_at_once_as_one_by_one() -> None:
    many = np.stack([box(x, 1.0, (4.0, 1.8, 1.6)).corners() for x in (9.0, 15.0, -20.0)])
    view = seen(many[0], (parked(7, 2.5),))

    together = view.reach_of(many, ONE_SLICE)[0]

    assert np.allclose(together, [view.reach_of(one[None], ONE_SLICE)[0][0] for one in many])
    assert (together[2] < -1000).all()  # behind the camera nothing is seen


def test_small_parts_near_by_belong_to_the_hazard_and_specks_do_not() -> None:
    mask = np.zeros((200, 300), dtype=np.bool_)
    mask[80:120, 100:200] = True
    mask[110:120, 205:215] = True  # a cone beside a barrier
    speckled = mask.copy()
    speckled[10:13, 10:13] = speckled[100:103, 280:290] = speckled[78, 210] = True

    assert np.array_equal(without_specks(speckled), mask)


def test_a_silhouette_overlaps_with_the_mask_that_it_made_also_when_that_is_grown_or_hidden() -> None:
    corners = box(14, 0, (4.0, 1.8, 1.6)).corners()
    plain, hidden = seen(corners), seen(corners, (parked(8.0, 1.2),))
    grown = sight(FRONT, np.asarray(ndimage.binary_dilation(plain.shown, iterations=3), dtype=np.bool_), ())

    assert plain.overlap_of(corners, ONE_SLICE, 0.0, is_partial=False) > 0.95
    assert hidden.overlap_of(corners, ONE_SLICE, 0.0, is_partial=False) > 0.95
    assert grown.overlap_of(corners, ONE_SLICE, 3.0, is_partial=False) > 0.95
    assert grown.overlap_of(corners, ONE_SLICE, 0.0, is_partial=False) < 0.95


def test_of_a_part_only_the_share_that_is_covered_counts() -> None:
    corners = box(14, 0, (4.0, 1.8, 1.6)).corners()
    mask = seen(corners).shown.copy()
    mask[: int(np.flatnonzero(mask.any(axis=1)).mean())] = False
    lower = sight(FRONT, mask, ())

    assert lower.overlap_of(corners, ONE_SLICE, 0.0, is_partial=True) > 0.95
    assert lower.overlap_of(corners, ONE_SLICE, 0.0, is_partial=False) < 0.6


def test_a_body_behind_the_camera_overlaps_with_nothing() -> None:
    view = seen(box(14, 0, (4.0, 1.8, 1.6)).corners())

    assert view.overlap_of(box(-14, 0, (4.0, 1.8, 1.6)).corners(), ONE_SLICE, 0.0, is_partial=False) == 0.0
