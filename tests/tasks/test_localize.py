"""The localize stage: who cannot be found fails for good; whoever is found is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_registry.blobs import Blobs
from models.localizers.ground_plane import GroundPlaneLocalizer, GroundPlaneSettings
from tasks.items import Edited
from tasks.localize import LocalizeStage
from tasks.stage import PermanentFailureError
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Painter,
    check_golden,
    hole,
    located,
    only,
    pedestrian,
    screened,
    truck,
)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(str(tmp_path))


def test_a_region_far_from_the_placement_is_kept(blobs: Blobs) -> None:
    outcome = only(
        LocalizeStage(GroundPlaneLocalizer(), blobs).process(
            [Painter(blobs).edited(screened(TRUCK, truck(12)), truck(20))]
        )
    )

    assert outcome.kept
    assert outcome.record.evidence.expected_iou == 0


def test_a_hazard_in_no_view_has_no_region_for_good(blobs: Blobs) -> None:
    item = Painter(blobs).edited(screened(TRUCK, truck()), truck(-20))

    with pytest.raises(PermanentFailureError, match=r"lane@.*no view shows where the hazard touches") as raised:
        list(LocalizeStage(GroundPlaneLocalizer(), blobs).process([item]))

    assert raised.value.reason_code == "no_region"


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"sensor_id": "CAM_TOP"}, "view_unknown"), ({"window": (0, 0, 5, 5)}, "edit_malformed")],
)
def test_a_stored_edit_that_makes_no_sense_fails_for_good(changes: dict[str, object], code: str, blobs: Blobs) -> None:
    good = Painter(blobs).edited(screened(TRUCK, truck()), truck())
    view = good.candidate.views[0].model_copy(update=changes)
    item = Edited(good.screened, good.candidate.model_copy(update={"views": (view,)}))

    with pytest.raises(PermanentFailureError) as raised:
        list(LocalizeStage(GroundPlaneLocalizer(), blobs).process([item]))

    assert raised.value.reason_code == code


def test_settings_and_inputs_decide_the_key(blobs: Blobs) -> None:
    item = Painter(blobs).edited(screened(TRUCK, truck()), truck())
    one, two = (
        LocalizeStage(GroundPlaneLocalizer(GroundPlaneSettings(reach_m=reach)), blobs) for reach in (60.0, 50.0)
    )

    assert one.key(item) != two.key(item)
    assert one.identity(item) == item.id
    assert one.strata(item).family == "lane_blockage"


def test_golden_payloads(blobs: Blobs) -> None:
    cases = {
        "truck_in_two_views": Painter(blobs).edited(screened(TRUCK, truck(12, 4.5)), truck(12, 4.6)),
        "pedestrian": Painter(blobs).edited(screened(PEDESTRIAN, pedestrian()), pedestrian()),
        "hole": Painter(blobs).edited(screened(HOLE, hole()), hole(12.5)),
    }
    for name, item in cases.items():
        region = located(item, blobs)
        assert region is not None
        check_golden(LocalizeStage, name, region)
