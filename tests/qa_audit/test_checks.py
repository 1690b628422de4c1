"""Each check catches the bad edit that it is for, and has nothing against a good one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from data_registry.blobs import Blobs
from data_registry.records import Attached, Mounted, Placement
from qa_audit.checks import CHECKS, PAIR_CHECKS, VIEW_CHECKS, mask_iou_expected
from tasks.items import Edited
from tests.qa_audit.views import view
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Painter,
    box,
    hole,
    measured,
    parked,
    pedestrian,
    screened,
    street,
    truck,
)

GOOD = [(TRUCK, truck()), (TRUCK, truck(18, 1, 0.3)), (PEDESTRIAN, pedestrian()), (HOLE, hole())]


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(str(tmp_path))


def values(task: str, placement: Placement, drawn: Placement | Mapping[str, Placement], painter: Painter) -> dict:
    """Values by check; of checks of views, those of the first view."""
    found = measured(painter.edited(screened(task, placement), drawn), painter.blobs)
    return {entry.check: entry.value for entry in reversed(found.values)}


@pytest.mark.parametrize(("task", "placement"), GOOD)
def test_a_good_edit_measures_as_placed(task: str, placement: Placement, blobs: Blobs) -> None:
    found = values(task, placement, placement, Painter(blobs))

    assert found["background_touched_px"] == 0
    assert found["changed_inside"] > 60
    assert found["visible_area_px"] > 400
    assert found["mask_iou_expected"] == 1
    assert found["views_missing"] == 0
    assert found["ring_exposure"] == 0
    assert 1 < found["edit_to_object_ratio"] < 2
    if placement.kind == "standing":
        assert found["contact_offset_m"] < 0.1
        assert found["height_ratio"] == 1


def test_every_check_is_measured_once_a_view_or_pair_and_sorted(blobs: Blobs) -> None:
    item = Painter(blobs).edited(screened(TRUCK, truck(12, 4.5)), truck(12, 4.5))
    found = measured(item, blobs).values
    sensors = item.screened.screening.views

    assert len(sensors) == 2
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert len(found) == len(VIEW_CHECKS) * len(sensors) + len(PAIR_CHECKS)
    assert [(value.check, value.sensor_id or "") for value in found] == sorted(
        (value.check, value.sensor_id or "") for value in found
    )


def test_one_background_pixel_is_seen(blobs: Blobs) -> None:
    assert values(TRUCK, truck(), truck(), Painter(blobs, stray_px=1))["background_touched_px"] == 1


def test_a_copy_of_the_source_changed_nothing(blobs: Blobs) -> None:
    assert values(TRUCK, truck(), truck(), Painter(blobs, level=-1))["changed_inside"] == 0


@pytest.mark.parametrize("offset", [-2.0, 2.0])
def test_a_truck_moved_along_the_lane_touches_the_ground_elsewhere(offset: float, blobs: Blobs) -> None:
    found = values(TRUCK, truck(13), truck(13 + offset), Painter(blobs))

    assert found["contact_offset_m"] > 0.5


def test_a_pedestrian_moved_sideways_touches_the_ground_elsewhere(blobs: Blobs) -> None:
    found = values(PEDESTRIAN, pedestrian(y=-1.5), pedestrian(y=0.5), Painter(blobs))

    assert found["contact_offset_m"] == pytest.approx(1.7, abs=0.3)
    assert found["mask_iou_expected"] == 0


def test_a_floating_pedestrian_does_not_touch_the_ground_where_it_stands(blobs: Blobs) -> None:
    assert values(PEDESTRIAN, pedestrian(), pedestrian(lift=0.3), Painter(blobs))["contact_offset_m"] > 1.5


@pytest.mark.parametrize("scale", [0.5, 1.8])
def test_a_scaled_hazard_has_another_height(scale: float, blobs: Blobs) -> None:
    found = values(PEDESTRIAN, pedestrian(), pedestrian(scale=scale), Painter(blobs))

    assert found["height_ratio"] == pytest.approx(scale, rel=0.1)


def test_wheels_set_back_under_a_truck_are_no_offset(blobs: Blobs) -> None:
    drawn = truck(12.9, scale=0.9)

    assert values(TRUCK, truck(12), drawn, Painter(blobs))["contact_offset_m"] == 0


def test_a_hazard_outside_the_picture_is_in_no_view_and_truncated(blobs: Blobs) -> None:
    placement = pedestrian(12, -1)
    item = screened(PEDESTRIAN, pedestrian(12, 40), views=("CAM_FRONT",))
    drawn = Painter(blobs).edited(screened(PEDESTRIAN, placement), placement).candidate
    empty = Painter(blobs).candidate(screened(PEDESTRIAN, placement), pedestrian(-20, 0))

    away = {entry.check: entry.value for entry in measured(Edited(item, drawn), blobs).values}
    gone = {entry.check: entry for entry in measured(Edited(screened(PEDESTRIAN, placement), empty), blobs).values}

    assert away["truncated_fraction"] == 1
    assert away["mask_iou_expected"] == 0
    assert gone["visible_area_px"].value == 0
    for check in ("changed_inside", "height_ratio", "contact_offset_m", "edit_to_object_ratio"):
        assert gone[check].value is None
        assert gone[check].note == "the hazard is not seen"


def test_views_that_disagree_are_told_apart_from_those_that_agree(blobs: Blobs) -> None:
    placement = truck(12, 4.5)
    nearer = {"CAM_FRONT": truck(9, 4.5), "CAM_FRONT_LEFT": placement}

    assert values(TRUCK, placement, placement, Painter(blobs))["cross_view_offset_m"] < 0.1
    assert values(TRUCK, placement, nearer, Painter(blobs))["cross_view_offset_m"] > 1.5


def test_a_view_that_should_show_the_hazard_but_was_not_edited_counts(blobs: Blobs) -> None:
    item = screened(TRUCK, truck(), views=("CAM_FRONT",))
    candidate = Painter(blobs).candidate(item, truck())
    wanted = screened(TRUCK, truck(), views=("CAM_FRONT", "CAM_FRONT_LEFT"))

    assert measured(Edited(wanted, candidate), blobs).of("views_missing")[0].value == 1


@pytest.mark.parametrize(("background", "expected"), [(30, 30.0), (-25, -25.0)])
def test_a_halo_shows_in_the_ring(background: int, expected: float, blobs: Blobs) -> None:
    found = values(TRUCK, truck(), truck(), Painter(blobs, background=background))

    assert found["ring_exposure"] == pytest.approx(expected, abs=0.5)


def test_an_edit_mask_as_tight_as_the_hazard_leaves_no_ring(blobs: Blobs) -> None:
    item = screened(TRUCK, truck())
    tight = Painter(blobs, margin_px=1).view(item, "CAM_FRONT", truck())
    same = tight.model_copy(update={"edit_mask": tight.object_mask})
    candidate = Painter(blobs).candidate(item, truck()).model_copy(update={"views": (same,)})

    (found,) = measured(Edited(item, candidate), blobs).of("ring_exposure")

    assert found.value is None
    assert found.note == "no editable pixel lies around the hazard"


def test_a_hidden_contact_is_not_applicable_instead_of_passed(blobs: Blobs) -> None:
    placement = pedestrian(14, -1.5)
    keyframe = street([parked(9, -1.6)])
    item = screened(PEDESTRIAN, placement, keyframe)

    (found,) = measured(Painter(blobs).edited(item, placement), blobs).of("contact_offset_m")

    assert found.value is None
    assert found.note == "a nearer object hides the contact"


def test_a_hazard_cut_by_the_pictures_lower_edge_has_no_contact(blobs: Blobs) -> None:
    placement = pedestrian(4.5, 0)

    (found,) = measured(Painter(blobs).edited(screened(PEDESTRIAN, placement), placement), blobs).of("contact_offset_m")

    assert found.value is None
    assert found.note == "the picture's lower edge cuts the hazard"


def test_a_hazard_above_the_horizon_touches_no_ground(blobs: Blobs) -> None:
    item = screened(PEDESTRIAN, pedestrian())

    (found,) = measured(Painter(blobs).edited(item, pedestrian(lift=3)), blobs).of("contact_offset_m")

    assert found.value is None
    assert "above the horizon" in found.note


def test_checks_of_standing_hazards_do_not_apply_to_surfaces(blobs: Blobs) -> None:
    found = measured(Painter(blobs).edited(screened(HOLE, hole()), hole()), blobs)

    for check in ("contact_offset_m", "height_ratio"):
        assert found.of(check)[0].value is None
        assert found.of(check)[0].note == "not applicable to surface hazards"


def test_a_surface_seen_by_two_views_is_compared_on_the_ground(blobs: Blobs) -> None:
    placement = hole(9, 4.6)
    good = values(HOLE, placement, placement, Painter(blobs))
    moved = values(HOLE, placement, {"CAM_FRONT": hole(13, 4.6), "CAM_FRONT_LEFT": placement}, Painter(blobs))

    assert good["cross_view_offset_m"] < 0.1
    assert moved["cross_view_offset_m"] > 1


SIGNAL, DOOR = "red_signal", "open_door"
TURN = np.pi - 1.13


def signal(x: float = 14.0, y: float = -2.0, underside: float = 2.2) -> Mounted:
    return Mounted(box=box(x, y, (0.35, 0.4, 1.0), np.pi, underside), faces=("front",))


def door(x: float = 12.6, y: float = -1.6, lift: float = 0.3, scale: float = 1.0) -> Attached:
    size = (1.1 * scale, 0.15 * scale, 1.1 * scale)
    return Attached(annotation="parked", part="door", box=box(x, y, size, TURN, lift))


HANGING = [(SIGNAL, signal()), (DOOR, door())]


@pytest.mark.parametrize(("task", "placement"), HANGING)
def test_what_hangs_has_no_contact_but_a_place(task: str, placement: Placement, blobs: Blobs) -> None:
    item = screened(task, placement, street([parked(12, -3.0)]))
    found = {entry.check: entry for entry in reversed(measured(Painter(blobs).edited(item, placement), blobs).values)}

    for check in ("contact_offset_m", "cross_view_offset_m"):
        assert found[check].value is None
        assert found[check].note == f"not applicable to {placement.kind} hazards"
    assert found["hanging_offset_m"].value == 0
    assert found["mask_iou_expected"].value == 1
    assert found["background_touched_px"].value == 0


@pytest.mark.parametrize(
    ("task", "placement", "drawn"),
    [
        (SIGNAL, signal(), signal(y=-3.0)),
        (SIGNAL, signal(), signal(underside=3.2)),
        (DOOR, door(), door(y=-0.4)),
        (DOOR, door(), door(lift=1.3)),
    ],
)
def test_what_hangs_elsewhere_is_told_by_how_far(
    task: str, placement: Placement, drawn: Placement, blobs: Blobs
) -> None:
    assert values(task, placement, drawn, Painter(blobs))["hanging_offset_m"] == pytest.approx(1.0, abs=0.35)


def test_the_post_of_a_signal_does_not_count_against_its_head(blobs: Blobs) -> None:
    tall = Mounted(box=box(14.0, -2.0, (0.35, 0.4, 3.2), np.pi, 0.0), faces=("front",))
    found = values(SIGNAL, signal(), tall, Painter(blobs))

    assert found["mask_iou_expected"] > 0.85
    assert found["hanging_offset_m"] < 0.1


def test_checks_of_standing_hazards_do_not_apply_to_signals(blobs: Blobs) -> None:
    found = measured(Painter(blobs).edited(screened(SIGNAL, signal()), signal()), blobs)

    assert found.of("height_ratio")[0].note == "not applicable to mounted hazards"
    standing = measured(Painter(blobs).edited(screened(TRUCK, truck()), truck()), blobs)
    assert standing.of("hanging_offset_m")[0].note == "not applicable to standing hazards"


def test_a_signal_behind_the_camera_is_not_where_the_hazard_is_seen() -> None:
    seen = replace(view(placement=signal(x=-14.0)), pixels=view().pixels)

    assert mask_iou_expected(seen).value == 0
    assert mask_iou_expected(seen).note == "the hazard is seen, its placement is not in the picture"
