"""The localize stage: who cannot be found fails for good; whoever is found is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from data_registry.blobs import Blobs
from data_registry.records import Pose
from models.localizers.ground_plane import GroundPlaneLocalizer, GroundPlaneSettings
from tasks.items import Combination, Edited, Screened
from tasks.localize import LocalizeStage
from tasks.stage import PermanentFailureError
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Painter,
    camera,
    check_golden,
    hole,
    located,
    only,
    parked,
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


def with_screening(item: Edited, **changes: object) -> Edited:
    screening = item.screened.screening.model_copy(update=changes)
    return Edited(Screened(item.screened.combination, screening), item.candidate)


def with_keyframe(item: Edited, **changes: object) -> Edited:
    combination = item.screened.combination
    keyframe = combination.keyframe.model_copy(update=changes)
    return Edited(Screened(Combination(keyframe, combination.task), item.screened.screening), item.candidate)


def focal(width_px: float) -> dict[str, object]:
    front = camera("CAM_FRONT")
    across, *others = front.intrinsics
    return {"cameras": (front.model_copy(update={"intrinsics": ((width_px, *across[1:]), *others)}),)}


def lopsided() -> dict[str, object]:
    note = parked(9.0, 3.0, "lopsided")
    return {"annotations": (note.model_copy(update={"box": note.box.model_copy(update={"rotation": (1, 1, 0, 0)})}),)}


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        (lambda item: with_keyframe(item, **focal(0.0)), "geometry_unusable", "CAM_FRONT of streetset/.*singular"),
        (
            lambda item: with_keyframe(item, **focal(-600.0)),
            "geometry_unusable",
            "CAM_FRONT of streetset/.*focal lengths must be positive, got -600 and 626.4 pixels",
        ),
        (lambda item: with_keyframe(item, **lopsided()), "geometry_unusable", "box of annotation lopsided: rotation"),
        (
            lambda item: with_screening(item, appearance="balloon"),
            "appearance_unknown",
            "large_vehicle_blocking_lane has no appearance balloon; known are box_truck",
        ),
        (
            lambda item: with_screening(item, expected_region=((8, -1), (15, 1), (15, -1), (8, 1.5))),
            "screening_malformed",
            "the expected region is no polygon: Self-intersection",
        ),
    ],
    ids=["no focal length", "mirrored", "lopsided box", "unknown look", "crossed region"],
)
def test_what_can_never_be_localized_says_what_and_where(
    change: Callable[[Edited], Edited], code: str, text: str, blobs: Blobs
) -> None:
    item = change(Painter(blobs).edited(screened(TRUCK, truck()), truck()))

    with pytest.raises(PermanentFailureError, match=text) as raised:
        list(LocalizeStage(GroundPlaneLocalizer(), blobs).process([item]))

    assert raised.value.reason_code == code
    assert item.screened.combination.id in str(raised.value)


def test_a_view_of_the_history_is_looked_at_from_where_its_camera_was(blobs: Blobs) -> None:
    """The ego vehicle was 4 m farther back then: what it saw 16 m ahead stands 12 m ahead now."""
    item = Painter(blobs).edited(screened(TRUCK, truck()), truck(16.0))
    past = Pose(translation=(-4.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0))
    earlier = camera("CAM_FRONT").model_copy(update={"frame_offset": -1, "ego_to_global": past})
    cameras = (*item.screened.combination.keyframe.cameras, earlier)
    view = item.candidate.views[0].model_copy(update={"frame_offset": -1})
    then = Edited(with_keyframe(item, cameras=cameras).screened, item.candidate.model_copy(update={"views": (view,)}))

    region = only(LocalizeStage(GroundPlaneLocalizer(), blobs).process([then])).record

    assert np.array(region.quad).mean(axis=0) == pytest.approx([12.0, 0.2], abs=0.3)


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
