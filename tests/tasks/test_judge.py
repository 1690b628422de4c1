"""The judge stage: hard failures first, then the reviewer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from data_registry.blobs import Blobs
from data_registry.pictures import decode_rgb, encode_png
from data_registry.records import Judgement, Measurement, Measurements
from models.reviewers import ReviewRequest, RuleReviewer, RuleReviewerSettings
from tasks.items import Examined
from tasks.judge import JudgeStage, hard_failures
from tasks.stage import PermanentFailureError
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Memory,
    Painter,
    check_golden,
    hole,
    judged,
    located,
    measured,
    only,
    pedestrian,
    picture,
    screened,
    truck,
)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(str(tmp_path))


class Looking(RuleReviewer):
    """Looks at the pictures before it judges by rules."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, float]] = []

    def review(self, request: ReviewRequest) -> Judgement:
        for view in request.pictures():
            self.seen.append((view.sensor_id, float(np.abs(view.edited.astype(int) - view.source).sum())))
        return super().review(request)


def examined(painter: Painter, shown: object = None) -> Examined:
    drawn = truck() if shown is None else shown
    item = painter.edited(screened(TRUCK, truck()), drawn)  # pyright: ignore[reportArgumentType]
    return Examined(item, measured(item, painter.blobs), located(item, painter.blobs))


@pytest.mark.parametrize(
    ("painter", "drawn", "code"),
    [
        ({"stray_px": 1}, truck(), "background_touched"),
        ({"level": -1}, truck(), "nothing_changed"),
        ({}, truck(-30), "hazard_in_no_view"),
    ],
)
def test_a_hard_failure_is_rejected_without_asking(
    painter: dict[str, int], drawn: object, code: str, blobs: Blobs
) -> None:
    reviewer = Looking()
    item = examined(Painter(blobs, **painter), drawn)

    outcome = only(JudgeStage(reviewer, Memory(), blobs).process([item]))

    assert not outcome.kept
    assert outcome.reason_code == code
    assert outcome.record.hard_failures == (code,)
    assert not outcome.record.asked
    assert not outcome.record.qualified
    assert outcome.record.background_preserved == (code != "background_touched")
    assert reviewer.seen == []


def test_failures_come_in_a_fixed_order() -> None:
    values = (
        Measurement(check="background_touched_px", sensor_id="A", value=3),
        Measurement(check="visible_area_px", sensor_id="A", value=0),
        Measurement(check="changed_inside", sensor_id="A", value=None, note="the hazard is not seen"),
    )
    found = Measurements(pair_id="p", edit_digest="a" * 64, values=values)

    assert hard_failures(found) == ("background_touched", "hazard_in_no_view")


def test_one_changed_view_is_enough_to_be_asked() -> None:
    values = (
        Measurement(check="changed_inside", sensor_id="A", value=0.0),
        Measurement(check="changed_inside", sensor_id="B", value=30.0),
        Measurement(check="visible_area_px", sensor_id="A", value=500),
    )

    assert hard_failures(Measurements(pair_id="p", edit_digest="a" * 64, values=values)) == ()


def test_a_good_edit_is_kept_and_a_bad_one_keeps_its_record(blobs: Blobs) -> None:
    stage = JudgeStage(RuleReviewer(), Memory(), blobs)

    good, bad = stage.process([examined(Painter(blobs)), examined(Painter(blobs), truck(20))])

    assert (good.kept, good.reason_code) == (True, "qualified")
    assert (bad.kept, bad.reason_code) == (False, "not_qualified")
    assert bad.record.asked
    assert not bad.record.task_correct


def test_a_reviewer_who_asks_sees_every_view_before_and_after(blobs: Blobs) -> None:
    reviewer = Looking()
    item = Painter(blobs).edited(screened(TRUCK, truck(12, 4.5)), truck(12, 4.5))
    only(JudgeStage(reviewer, Memory(), blobs).process([Examined(item, measured(item, blobs), located(item, blobs))]))

    assert [name for name, _ in reviewer.seen] == list(item.screened.screening.views)
    assert min(change for _, change in reviewer.seen) > 100_000


@pytest.mark.parametrize("fault", ["another window", "transparent"])
def test_a_stored_edit_that_cannot_be_shown_fails_for_good(fault: str, blobs: Blobs) -> None:
    item = examined(Painter(blobs))
    view = item.edited.candidate.views[0]
    crop = decode_rgb(blobs.get(view.edited), "crop")
    alpha = blobs.put(encode_png(np.dstack([crop, np.zeros(crop.shape[:2], np.uint8)])))
    view = view.model_copy(update={"window": (0, 0, 5, 5)} if fault == "another window" else {"edited": alpha})
    candidate = item.edited.candidate.model_copy(update={"views": (view,)})
    broken = Examined(type(item.edited)(item.edited.screened, candidate), item.measurements, item.region)

    with pytest.raises(PermanentFailureError) as raised:
        list(JudgeStage(Looking(), Memory(), blobs).process([broken]))

    assert raised.value.reason_code == "edit_malformed"


def test_limits_and_regions_decide_the_key(blobs: Blobs) -> None:
    item = examined(Painter(blobs))
    regionless = Examined(item.edited, item.measurements, None)
    stricter = JudgeStage(RuleReviewer(RuleReviewerSettings(mask_iou=0.5)), Memory(), blobs)
    stage = JudgeStage(RuleReviewer(), Memory(), blobs)

    assert len({stage.key(item), stricter.key(item), stage.key(regionless)}) == 3
    assert stage.identity(item) == item.edited.id
    assert stage.strata(item).split == "val"
    assert picture("CAM_FRONT").shape == (450, 800, 3)


def test_golden_payloads(blobs: Blobs) -> None:
    cases = {
        "truck": Painter(blobs).edited(screened(TRUCK, truck(12, 4.5)), truck(12, 4.6)),
        "floating_pedestrian": Painter(blobs).edited(screened(PEDESTRIAN, pedestrian()), pedestrian(lift=0.3)),
        "touched_background": Painter(blobs, stray_px=2).edited(screened(HOLE, hole()), hole()),
    }
    for name, item in cases.items():
        check_golden(JudgeStage, name, judged(item, blobs).judgement)
