"""What else is where a hazard is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from data_registry.records import Attached, Keyframe, MapPatch, Placement, Standing
from qa_audit.evidence import NO_FOOTPRINT, ViewSubject, contact
from qa_audit.whereabouts import footprint_overlap, off_drivable_share, over_nearer_share
from tests.qa_audit.views import view
from tests.verdict_cases import box, hole, parked, pedestrian, street, truck


def drawn(placed: Placement, seen: Placement, keyframe: Keyframe | None = None) -> ViewSubject:
    """A view that shows a hazard elsewhere than it was placed, over whatever is there."""
    return replace(view(placement=placed, keyframe=keyframe), pixels=view(placement=seen).pixels)


@pytest.mark.parametrize(
    ("placed", "seen", "expected"),
    [
        (truck(14, 0.2), truck(14, 0.2), 0.0),
        (truck(14, -3.0), truck(14, -3.0), 0.9),
        (pedestrian(14, -3.0), pedestrian(14, -3.0), 1.0),
        (pedestrian(14, 0.0), pedestrian(14, -3.0), 1.0),
    ],
)
def test_a_hazard_in_an_annotated_object_overlaps_it(placed: Placement, seen: Placement, expected: float) -> None:
    keyframe = street([parked(14, -3.0), parked(30, -3.0, "other")])

    assert footprint_overlap(drawn(placed, seen, keyframe)).value == pytest.approx(expected, abs=0.12)


def test_a_hole_under_a_parked_car_overlaps_it() -> None:
    under = view(placement=hole(14, -3.0), keyframe=street([parked(14, -3.0)]))

    assert footprint_overlap(under).value == pytest.approx(0.92, abs=0.05)
    assert footprint_overlap(view(placement=hole(14, 0), keyframe=street([parked(14, -3.0)]))).value == 0


def test_the_car_whose_door_is_open_is_not_another_object() -> None:
    door = Attached(annotation="parked", part="door", box=box(14, -2.2, (1.1, 0.15, 1.1), 2.0, 0.3))
    with_other = street([parked(14, -3.0), parked(14, -2.0, "other")])

    assert footprint_overlap(view(placement=door, keyframe=street([parked(14, -3.0)]))).value == 0
    assert (footprint_overlap(view(placement=door, keyframe=with_other)).value or 0) > 0.5


@pytest.mark.parametrize(("lateral", "expected"), [(0.0, 0.0), (6.1, 0.5), (9.0, 1.0)])
def test_the_share_beyond_the_drivable_ground_is_told(lateral: float, expected: float) -> None:
    placement = truck(22, lateral)

    assert off_drivable_share(view(placement=placement)).value == pytest.approx(expected, abs=0.03)


def test_a_hazard_drawn_off_the_road_is_off_the_road_though_placed_on_it() -> None:
    assert off_drivable_share(drawn(pedestrian(22, 0), pedestrian(22, 8))).value == 1


def test_without_a_map_or_on_the_pavement_there_is_no_value() -> None:
    unmapped = street().model_copy(update={"map": MapPatch(source="none", layers_sha256="0" * 64, drivable=())})
    at_kerb = Standing(box=pedestrian(22, 8).box, surface="pavement")

    assert off_drivable_share(view(keyframe=unmapped)).note == "no map says where the drivable ground is"
    assert off_drivable_share(view(placement=at_kerb)).note == "the hazard belongs on the pavement"


def test_where_the_ground_contact_is_hidden_the_placement_s_place_counts_and_the_note_says_so() -> None:
    found = off_drivable_share(view(placement=pedestrian(14, -1.5), keyframe=street([parked(9, -1.6)])))

    assert found.value == 0
    assert found.note.startswith("of the placement")


def test_a_hazard_painted_over_a_nearer_car_shows_what_should_be_hidden() -> None:
    scene: dict[str, Any] = {"placement": truck(18, -1.5), "keyframe": street([parked(9, -1.6)])}

    assert over_nearer_share(view(**scene)).value == 0
    assert over_nearer_share(view(**scene, hides=False)).value == 1
    assert over_nearer_share(view()).note == "no annotated object hides the placement"


def test_a_box_that_stands_on_an_edge_of_its_bottom_has_no_place_in_plan() -> None:
    pitched = (0.5**0.5, 0.0, 0.5**0.5, 0.0)
    upright = truck(14, 0.2)
    tipped = upright.model_copy(update={"box": upright.box.model_copy(update={"rotation": pitched})})
    lying = parked(14, 0.2)
    lying = lying.model_copy(update={"box": lying.box.model_copy(update={"rotation": pitched})})

    for check in (footprint_overlap, off_drivable_share):
        assert check(view(placement=tipped)).note == NO_FOOTPRINT
    assert contact(view(placement=tipped)) == NO_FOOTPRINT
    assert footprint_overlap(view(keyframe=street([lying]))).value == 0
    assert over_nearer_share(view(keyframe=street([lying]))).value is None
