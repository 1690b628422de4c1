"""The rule reviewer: its record follows from measurements, region and screening by the documented formulas."""

from __future__ import annotations

from typing import Any

import pytest

from data_registry.records import Judgement, LocalizationEvidence, Measurement, Measurements, Mounted, Region
from models.reviewers import ReviewPicture, ReviewRequest, RuleReviewer
from tests.verdict_cases import HOLE, TASKS, TRUCK, box, hole, screened, truck

GOOD = {
    "background_touched_px": 0.0,
    "changed_inside": 60.0,
    "contact_offset_m": 0.0,
    "cross_view_offset_m": None,
    "edit_to_object_ratio": 2.0,
    "height_ratio": 1.0,
    "mask_iou_expected": 0.9,
    "ring_exposure": 0.0,
    "visible_area_px": 4000.0,
}


def no_pictures() -> tuple[ReviewPicture, ...]:
    raise AssertionError("the rule reviewer needs no pictures")


def region(iou: float | None) -> Region:
    evidence = LocalizationEvidence(
        method="ground_plane", sensor_ids=("CAM_FRONT",), centre_offset_m=0.1, expected_iou=iou, area_ratio=1.0
    )
    return Region(
        pair_id="p",
        edit_digest="b" * 64,
        quad=((8, -1), (14, -1), (14, 1), (8, 1)),
        kind="occupied",
        clearance_m=1,
        evidence=evidence,
    )


def review(iou: float | None = 0.9, surface: bool = False, found: bool = True, **changes: Any) -> Judgement:
    """Review a good edit with some measurements or fields of the screening changed."""
    values = {name: changes.pop(name, value) for name, value in GOOD.items()}
    entries = tuple(Measurement(check=name, sensor_id="CAM_FRONT", value=value) for name, value in values.items())
    screening = (
        screened(HOLE, hole(), **changes).screening if surface else screened(TRUCK, truck(), **changes).screening
    )
    measurements = Measurements(pair_id="p", edit_digest="b" * 64, values=entries)
    return RuleReviewer().review(
        ReviewRequest(TASKS[TRUCK], screening, measurements, region(iou) if found else None, no_pictures)
    )


def test_a_good_edit_is_qualified_with_full_scores() -> None:
    found = review()

    assert (found.qualified, found.task_correct, found.physics_valid, found.background_preserved) == (True,) * 4
    assert (found.task_confidence, found.realism, found.action_determinacy) == (1, 1, 1)
    assert found.asked
    assert found.hard_failures == ()
    assert found.reason == "the hazard is where and as it was placed"
    assert (found.pair_id, found.edit_digest) == ("p", "b" * 64)


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"iou": 0.1}, "task_correct", "region overlaps the intended one by 0.10"),
        ({"iou": None}, "task_correct", "region overlaps"),
        ({"found": False}, "task_correct", "no region was found"),
        ({"mask_iou_expected": 0.05}, "task_correct", "hazard overlaps its placement by 0.05"),
        ({"contact_offset_m": 3.0}, "physics_valid", "contact_offset_m 3.00 is above"),
        ({"cross_view_offset_m": 2.0}, "physics_valid", "cross_view_offset_m 2.00 is above"),
        ({"height_ratio": 2.0}, "physics_valid", "height_ratio 2.00 is above"),
        ({"height_ratio": 0.4}, "physics_valid", "height_ratio 0.40 is below"),
        ({"height_ratio": None, "contact_offset_m": None}, "physics_valid", "neither height nor ground contact"),
        ({"background_touched_px": 1.0}, "background_preserved", "background_touched_px"),
        ({"edit_to_object_ratio": 40.0}, "background_preserved", "edit_to_object_ratio"),
    ],
)
def test_each_fault_denies_its_own_field_and_says_why(changes: dict[str, Any], field: str, reason: str) -> None:
    found = review(**changes)

    assert not found.qualified
    denied = {name for name in ("task_correct", "physics_valid", "background_preserved") if not getattr(found, name)}
    assert denied == {field}
    assert reason in found.reason


def test_a_surface_needs_neither_height_nor_contact() -> None:
    assert review(surface=True, height_ratio=None, contact_offset_m=None).qualified


def test_scores_fall_with_what_they_are_about() -> None:
    assert review(iou=0.4).task_confidence == pytest.approx(0.75)
    assert review(ring_exposure=-30.0).realism == pytest.approx((1 + 1 + 0.5) / 3, abs=1e-6)
    assert review(contact_offset_m=0.8).realism == pytest.approx((0.5 + 1 + 1) / 3, abs=1e-6)
    assert review(height_ratio=0.8).realism == pytest.approx((1 + 0.5 + 1) / 3, abs=1e-6)
    assert review(visible_area_px=100.0).action_determinacy == 0.25
    assert review(avoidable="both").action_determinacy == 0.9
    assert review(nominal_conflict="recorded").action_determinacy == 0.8
    assert review(nominal_conflict="none").action_determinacy == 0
    assert review(avoidable="none").action_determinacy == 0


def test_nothing_measured_is_no_realism() -> None:
    assert review(ring_exposure=None, height_ratio=None, contact_offset_m=None).realism == 0


def hanging(value: float | None) -> Judgement:
    """Review a good signal whose top hangs some metres off."""
    placement = Mounted(box=box(14, -2, (0.35, 0.4, 1.0), 3.14, 2.2), faces=("front",))
    measured = {name: value for name, value in GOOD.items() if name not in ("contact_offset_m", "height_ratio")}
    entries = tuple(
        Measurement(check=name, sensor_id="CAM_FRONT", value=entry)
        for name, entry in (measured | {"hanging_offset_m": value}).items()
    )
    screening = screened("red_signal", placement).screening
    found = Measurements(pair_id="p", edit_digest="b" * 64, values=entries)
    return RuleReviewer().review(ReviewRequest(TASKS["red_signal"], screening, found, region(0.9), no_pictures))


def test_a_signal_is_judged_by_where_it_hangs() -> None:
    assert hanging(0.0).qualified
    assert hanging(0.0).realism == 1
    assert hanging(0.6).realism == pytest.approx(0.75)
    assert "hanging_offset_m 1.00 is above" in hanging(1.0).reason
    assert "the place where it hangs cannot be seen" in hanging(None).reason
