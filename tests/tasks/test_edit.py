"""Stage edit: what it enforces whatever the editor does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from data_registry.blobs import Blobs
from data_registry.edits import full_edit_mask, full_object_mask, materialise
from data_registry.geometry import GeometryError
from data_registry.identity import seed_for, sha256
from data_registry.pictures import decode_rgb, encode_png
from data_registry.records import Screening
from data_registry.sources.source import SourceError
from models.backend import LocalBackend
from models.editors.compositor import Compositor, CompositorSettings
from models.editors.editor import EditorOutputError, EditorSettings, EditRequest, HazardNotVisibleError, RawEdit
from models.screeners import RuleScreener
from prompts.taxonomy import load_taxonomy
from tasks.edit import EditStage
from tasks.items import Combination, Screened
from tasks.stage import PermanentFailureError
from tests.golden_payload import check_golden
from tests.street import YAWS, StreetSource, keyframe, picture

TASKS = {task.id: task for task in load_taxonomy()}


def screened(task: str = "large_vehicle_blocking_lane", views: tuple[str, ...] | None = None) -> Screened:
    combination = Combination(keyframe(), TASKS[task])
    found = RuleScreener().screen(combination.keyframe, combination.task)
    return Screened(combination, found if views is None else found.model_copy(update={"views": views}))


@dataclass
class Painter(LocalBackend):
    """An editor that paints the whole picture red but admits to a square only, or does what a test says."""

    result: RawEdit | None = None
    blobs: Blobs | None = None
    hidden: tuple[str, ...] = ()
    identity_settings: EditorSettings = field(
        default_factory=lambda: EditorSettings(backend="painter", revision="1", candidates=2)
    )
    seen: list[tuple[str, int, tuple[str, ...], int]] = field(default_factory=list)

    def edit(self, request: EditRequest) -> RawEdit:
        """Paint."""
        stored = len(list(self.blobs.names())) if self.blobs else 0
        names = tuple(name for name, _ in request.finished)
        self.seen.append((request.camera.sensor_id, request.seed, names, stored))
        if request.camera.sensor_id in self.hidden:
            raise HazardNotVisibleError("behind a wall")
        if self.result is not None:
            return self.result
        request.source[:] = (request.seed % 200, 0, len(names))
        return RawEdit(request.source, square(100, 200), square(120, 180))


def square(low: int, high: int) -> np.ndarray:
    mask = np.zeros(picture().shape[:2], np.uint8)
    mask[low:high, low:high] = 255
    return mask


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(str(tmp_path / "blobs"))


UNPLACED = "pedestrian_on_crosswalk_while_turning"
"""The one task that has no place at all in the test street: it goes straight on and has no crossing."""


@pytest.mark.parametrize("task", sorted(set(TASKS) - {UNPLACED}))
def test_the_payload_changes_only_with_the_version(task: str, blobs: Blobs) -> None:
    stage = EditStage(Compositor(), StreetSource(), blobs)
    (outcome,) = stage.process([screened(task)])
    check_golden(stage, task, outcome.record)


def test_a_hazard_without_a_place_fails_for_good(blobs: Blobs) -> None:
    with pytest.raises(PermanentFailureError, match=f"{UNPLACED} has no placement: nothing can be drawn"):
        list(EditStage(Compositor(), StreetSource(), blobs).process([screened(UNPLACED)]))


def test_a_camera_that_is_gone_or_changed_stops_the_edit_though_it_sees_no_hazard(blobs: Blobs) -> None:
    """The light is estimated from all cameras: without one the same key would get another edit."""
    gone, changed = StreetSource(), StreetSource()
    item = screened("large_vehicle_blocking_lane", views=("CAM_FRONT",))
    del gone.files["CAM_FRONT_LEFT"]
    with pytest.raises(SourceError, match="CAM_FRONT_LEFT is gone"):
        list(EditStage(Compositor(), gone, blobs).process([item]))
    changed.files["CAM_FRONT_LEFT"] = changed.files["CAM_FRONT"]
    with pytest.raises(PermanentFailureError, match="CAM_FRONT_LEFT is not the picture") as caught:
        list(EditStage(Compositor(), changed, blobs).process([item]))
    assert caught.value.reason_code == "picture_changed"


def test_a_hazard_that_cannot_be_drawn_there_fails_for_good(blobs: Blobs) -> None:
    class Refusing(Painter):
        def edit(self, request: EditRequest) -> RawEdit:
            raise GeometryError("a mounted signal needs a head 0.5 m up or higher")

    with pytest.raises(PermanentFailureError, match=r"0\.5 m up or higher") as caught:
        list(EditStage(Refusing(), StreetSource(), blobs).process([screened()]))
    assert caught.value.reason_code == "cannot_be_drawn"


def test_outside_the_mask_the_picture_is_the_source_and_the_crop_is_zero_whatever_the_editor_does(blobs: Blobs) -> None:
    (outcome,) = EditStage(Painter(), StreetSource(), blobs).process([screened(views=("CAM_FRONT",))])
    (view,) = outcome.record.candidates[0].views
    source = picture(sorted(YAWS).index("CAM_FRONT"))
    edited = materialise(source, view, blobs)
    mask = full_edit_mask(view, blobs, source.shape)
    np.testing.assert_array_equal(edited[mask == 0], source[mask == 0])
    assert (edited[mask > 0][:, 1] == 0).all()
    assert view.window == (100, 100, 200, 200)
    assert int((full_object_mask(view, blobs, source.shape) > 0).sum()) == 3600


def test_the_stored_crop_is_zero_where_the_mask_is(blobs: Blobs) -> None:
    (outcome,) = EditStage(Compositor(), StreetSource(), blobs).process([screened("occluded_pedestrian")])
    (view, *_) = outcome.record.candidates[0].views
    crop = decode_rgb(blobs.get(view.edited), "crop")
    left, top, right, bottom = view.window
    mask = full_edit_mask(view, blobs, picture().shape)[top:bottom, left:right]
    assert (mask == 0).any()
    assert (crop[mask == 0] == 0).all()


def test_views_are_edited_in_the_order_of_the_screening_each_stored_before_the_next(blobs: Blobs) -> None:
    painter, source = Painter(blobs=blobs), StreetSource()
    item = screened(views=("CAM_FRONT", "CAM_FRONT_RIGHT", "CAM_FRONT_LEFT"))
    (outcome,) = EditStage(painter, source, blobs).process([item])
    seeds = [seed_for(0, "edit", item.combination.id, attempt) for attempt in (0, 1)]
    assert [(name, seed) for name, seed, _, _ in painter.seen] == [(n, s) for s in seeds for n in item.screening.views]
    assert painter.seen[2][2] == ("CAM_FRONT", "CAM_FRONT_RIGHT")
    stored = [count for _, _, _, count in painter.seen[:3]]
    assert stored[0] == 0
    assert stored[0] < stored[1] < stored[2]
    assert [candidate.attempt for candidate in outcome.record.candidates] == [0, 1]
    assert outcome.record.candidates[0].seed == seeds[0]


def test_history_is_never_asked_for(blobs: Blobs) -> None:
    source = StreetSource()
    (outcome,) = EditStage(Painter(), source, blobs).process([screened()])
    assert {offset for _, offset in source.asked} == {0}
    assert all(view.frame_offset == 0 for view in outcome.record.candidates[0].views)


def test_a_view_in_which_nothing_shows_keeps_its_source_pixels(blobs: Blobs) -> None:
    item = screened(views=("CAM_FRONT", "CAM_FRONT_LEFT"))
    stage = EditStage(Painter(hidden=("CAM_FRONT",)), StreetSource(), blobs)
    (outcome,) = stage.process([item])
    assert [view.sensor_id for view in outcome.record.candidates[0].views] == ["CAM_FRONT_LEFT"]


@pytest.mark.parametrize("views", [(), ("CAM_FRONT",)])
def test_a_hazard_that_no_view_shows_is_a_permanent_failure(views: tuple[str, ...], blobs: Blobs) -> None:
    stage = EditStage(Painter(hidden=("CAM_FRONT",)), StreetSource(), blobs)
    with pytest.raises(PermanentFailureError, match="no view shows the hazard") as caught:
        list(stage.process([screened(views=views)]))
    assert caught.value.reason_code == "hazard_in_no_view"


def test_nothing_to_place_is_a_permanent_failure(blobs: Blobs) -> None:
    item = screened()
    bare = Screening.model_validate({**item.screening.model_dump(), "placement": None})
    with pytest.raises(PermanentFailureError) as caught:
        list(EditStage(Painter(), StreetSource(), blobs).process([Screened(item.combination, bare)]))
    assert caught.value.reason_code == "no_placement"


def _broken(source: StreetSource, content: bytes, item: Screened, honest: bool) -> Screened:
    """Put other bytes into the source; `honest`: the keyframe knows their digest."""
    source.files["CAM_FRONT"] = content
    if not honest:
        return item
    frame = item.combination.keyframe
    cameras = tuple(
        camera.model_copy(update={"sha256": sha256(content)}) if camera.sensor_id == "CAM_FRONT" else camera
        for camera in frame.cameras
    )
    changed = frame.model_copy(update={"cameras": cameras})
    return Screened(Combination(changed, item.combination.task), item.screening)


def test_pictures_that_can_never_be_read_are_permanent_failures(blobs: Blobs) -> None:
    whole = StreetSource().files["CAM_FRONT"]
    cases = {
        "picture_unreadable": (whole[: len(whole) // 2], True),
        "picture_changed": (whole + b"x", False),
        "picture_size": (encode_png(picture()[:100, :100]), True),
    }
    for code, (content, honest) in cases.items():
        source = StreetSource()
        item = _broken(source, content, screened(views=("CAM_FRONT",)), honest)
        with pytest.raises(PermanentFailureError) as caught:
            list(EditStage(Painter(), source, blobs).process([item]))
        assert caught.value.reason_code == code


def test_a_picture_that_is_gone_is_tried_again(blobs: Blobs) -> None:
    source = StreetSource()
    del source.files["CAM_FRONT"]
    with pytest.raises(SourceError, match="CAM_FRONT is gone"):
        list(EditStage(Painter(), source, blobs).process([screened(views=("CAM_FRONT",))]))


FULL = picture()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (RawEdit(FULL[:10], square(1, 9), square(2, 8)), "picture has shape"),
        (RawEdit(np.full(FULL.shape, np.nan), square(1, 9), square(2, 8)), "float64 with NaN"),  # type: ignore[arg-type]
        (RawEdit(FULL, square(0, 0), square(2, 8)), "edit mask is empty"),
        (RawEdit(FULL, square(1, 9), square(0, 0)), "object mask is empty"),
        (RawEdit(FULL, square(1, 9)[:5], square(2, 8)), "edit mask has shape"),
        (RawEdit(FULL, square(1, 9) // 2, square(2, 8)), "values other than 0 and 255"),
        (RawEdit(FULL, square(3, 9), square(2, 8)), "leaves the edit mask"),
    ],
)
def test_what_is_no_edit_is_refused_and_nothing_is_stored(raw: RawEdit, message: str, blobs: Blobs) -> None:
    with pytest.raises(EditorOutputError, match=message):
        list(EditStage(Painter(result=raw), StreetSource(), blobs).process([screened(views=("CAM_FRONT",))]))
    assert list(blobs.names()) == []


def test_the_key_depends_on_the_seed_root_and_the_number_of_candidates(blobs: Blobs) -> None:
    item = screened()
    keys = {
        EditStage(Compositor(settings), StreetSource(), blobs).key(item)
        for settings in (CompositorSettings(), CompositorSettings(seed_root=1), CompositorSettings(candidates=2))
    }
    assert len(keys) == 3
    stage = EditStage(Compositor(), StreetSource(), blobs)
    assert stage.identity(item) == item.combination.id
    assert stage.inputs(item) == item.inputs
    assert stage.strata(item).scene == "scene-0001"
