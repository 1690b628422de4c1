"""The measure stage: from stored edits to numbers, and what can never be measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from data_registry.blobs import Blobs
from data_registry.pictures import decode_mask, decode_rgb, encode_png
from data_registry.records import Camera, Candidate, Keyframe
from data_registry.sources.source import SourceChangedError
from data_registry.store import Store
from models.localizers.ground_plane import GroundPlaneLocalizer
from tasks.items import Edited, Screened
from tasks.localize import LocalizeStage
from tasks.measure import MeasureSettings, MeasureStage
from tasks.stage import DrainOptions, PermanentFailureError, drain
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Memory,
    Painter,
    check_golden,
    hole,
    measured,
    only,
    parked,
    pedestrian,
    picture,
    screened,
    street,
    truck,
)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(str(tmp_path / "blobs"))


@pytest.fixture
def edited(blobs: Blobs) -> Edited:
    return Painter(blobs).edited(screened(TRUCK, truck()), truck())


def failure(edited: Edited, blobs: Blobs, source: Memory | None = None) -> PermanentFailureError:
    with pytest.raises(PermanentFailureError) as raised:
        list(MeasureStage(source or Memory(), blobs).process([edited]))
    return raised.value


def with_view(edited: Edited, **changes: object) -> Edited:
    view = edited.candidate.views[0].model_copy(update=changes)
    return Edited(edited.screened, Candidate(seed=7, attempt=0, views=(view,)))


def test_measurements_are_always_kept_and_name_their_candidate(edited: Edited, blobs: Blobs) -> None:
    outcome = only(MeasureStage(Memory(), blobs).process([edited]))

    assert outcome.kept
    assert outcome.reason_code == "measured"
    assert outcome.record.edit_digest == edited.candidate.edit_digest
    assert outcome.record.pair_id == edited.screened.combination.id


def test_a_drain_stores_them_once(edited: Edited, blobs: Blobs, tmp_path: Path) -> None:
    stage = MeasureStage(Memory(), blobs)
    other = Painter(blobs, level=10).edited(edited.screened, truck())
    with Store.at(tmp_path / "store") as store:
        results = drain(stage, [edited, other], store.ledger, DrainOptions("run"))
        again = drain(stage, [edited, other], store.ledger, DrainOptions("again"))

    assert results.counts()["kept"] == 2
    assert [entry.record for entry in again.settled] == [measured(edited, blobs), measured(other, blobs)]


def test_a_candidate_without_a_placement_cannot_be_measured(edited: Edited, blobs: Blobs) -> None:
    screening = edited.screened.screening.model_copy(update={"placement": None})

    assert failure(Edited(Screened(edited.screened.combination, screening), edited.candidate), blobs).reason_code == (
        "no_placement"
    )


def test_another_picture_than_was_edited_is_refused(edited: Edited, blobs: Blobs) -> None:
    class Changed(Memory):
        def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
            raise SourceChangedError("the file changed")

    assert failure(with_view(edited, source_sha256="f" * 64), blobs).reason_code == "source_changed"
    assert failure(edited, blobs, Changed()).reason_code == "source_changed"


def test_a_truncated_picture_is_told(edited: Edited, blobs: Blobs) -> None:
    class Truncated(Memory):
        def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
            return encode_png(picture(camera.sensor_id))[:1000]

    error = failure(edited, blobs, Truncated())

    assert error.reason_code == "picture_unreadable"
    assert "CAM_FRONT of streetset/scene-0001" in str(error)


def test_a_view_that_the_keyframe_lacks_is_told(edited: Edited, blobs: Blobs) -> None:
    assert failure(with_view(edited, sensor_id="CAM_TOP"), blobs).reason_code == "view_unknown"


def test_an_edit_that_disagrees_with_itself_is_told(edited: Edited, blobs: Blobs) -> None:
    left, top, right, bottom = edited.candidate.views[0].window
    small = (left, top, right - 1, bottom)

    error = failure(with_view(edited, window=small), blobs)

    assert error.reason_code == "edit_malformed"
    assert "does not" in str(error) or "do not" in str(error)
    assert failure(with_view(edited, edit_mask=blobs.put(b"no picture")), blobs).reason_code == "edit_malformed"


def test_settings_and_inputs_decide_the_key(edited: Edited, blobs: Blobs) -> None:
    stage = MeasureStage(Memory(), blobs)
    newer = MeasureStage(Memory(), blobs, MeasureSettings(revision="5"))

    assert stage.key(edited) != newer.key(edited)
    assert stage.key(edited) == MeasureStage(Memory(), blobs).key(edited)
    assert stage.identity(edited).startswith(edited.screened.combination.id + "@")
    assert stage.strata(edited).scene == "scene-0001"


def test_golden_payloads(blobs: Blobs) -> None:
    hidden = screened(PEDESTRIAN, pedestrian(14, -1.5), street([parked(9, -1.6)]))
    cases = {
        "truck_in_two_views": Painter(blobs).edited(screened(TRUCK, truck(12, 4.5)), truck(12, 4.6)),
        "hidden_pedestrian": Painter(blobs).edited(hidden, pedestrian(14, -1.5)),
        "hole": Painter(blobs, background=9).edited(screened(HOLE, hole()), hole(12.5)),
    }
    for name, item in cases.items():
        check_golden(MeasureStage, name, measured(item, blobs))


def test_a_picture_of_another_size_than_its_camera_s_is_told(edited: Edited, blobs: Blobs) -> None:
    class Smaller(Memory):
        def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
            return encode_png(picture(camera.sensor_id)[:, :-8])

    error = failure(edited, blobs, Smaller())

    assert error.reason_code == "picture_size"
    assert "792x450 pixels, the tables say 800x450" in str(error)


def test_pixels_in_another_form_than_rgb_png_are_malformed(edited: Edited, blobs: Blobs) -> None:
    crop = decode_rgb(blobs.get(edited.candidate.views[0].edited), "crop")
    see_through = np.dstack([crop, np.zeros(crop.shape[:2], np.uint8)])
    view = edited.candidate.views[0].model_copy(update={"edited": blobs.put(encode_png(see_through))})
    bad = Edited(edited.screened, edited.candidate.model_copy(update={"views": (view,)}))

    error = failure(bad, blobs)

    assert error.reason_code == "edit_malformed"
    assert "edited crop of CAM_FRONT is not an 8-bit RGB PNG without transparency" in str(error)


def test_a_hazard_outside_what_was_edited_is_malformed_for_measure_and_localize(edited: Edited, blobs: Blobs) -> None:
    view = edited.candidate.views[0]
    tight = decode_mask(blobs.get(view.object_mask), "mask")
    rows, columns = np.nonzero(tight)
    tight[rows[0], columns[0]] = 0
    bad = with_view(edited, edit_mask=blobs.put(encode_png(tight)))

    assert failure(bad, blobs).reason_code == "edit_malformed"
    with pytest.raises(PermanentFailureError, match="the object mask leaves the edit mask") as raised:
        only(LocalizeStage(GroundPlaneLocalizer(), blobs).process([bad]))
    assert raised.value.reason_code == "edit_malformed"
