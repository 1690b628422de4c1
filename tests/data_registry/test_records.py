"""Records: frozen, closed, finite, quantised once, and readable for ever."""

import json
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from data_registry import identity, records
from data_registry.geometry import Transform
from data_registry.records import (
    Box,
    Candidate,
    Fact,
    Keyframe,
    Pose,
    Record,
    RecordError,
    Region,
    Screening,
    Surface,
    ViewEdit,
    load_record,
)
from tests import samples

GOLDEN = Path(__file__).parents[1] / "golden" / "records"
every = pytest.mark.parametrize("name", sorted(samples.RECORDS))


def _text(record: Record) -> bytes:
    return identity.canonical_json(record.model_dump(mode="json"))


@every
def test_the_stored_example_is_still_read_and_has_its_digest(name: str) -> None:
    """When this fails, stores in the field change meaning: raise schema_version and write an upgrader."""
    stored = json.loads((GOLDEN / f"{name}.json").read_text())
    record = load_record(type(samples.RECORDS[name]), json.dumps(stored["record"]))
    assert record == samples.RECORDS[name]
    assert record.payload_digest == stored["payload_sha256"]


def test_a_stored_keyframe_of_version_1_is_read_with_stop_lines_of_unknown_kind() -> None:
    stored = json.loads((GOLDEN / "keyframe_v1.json").read_text())
    found = load_record(Keyframe, json.dumps(stored["record"]))
    (line,) = samples.KEYFRAME.map.stop_lines
    patch = samples.KEYFRAME.map.model_copy(update={"stop_lines": (line.model_copy(update={"kind": "unknown"}),)})
    assert found == samples.KEYFRAME.model_copy(update={"map": patch})


def test_a_stored_region_of_version_1_is_read_with_an_unknown_residual() -> None:
    stored = json.loads((GOLDEN / "region_v1.json").read_text())
    assert load_record(Region, json.dumps(stored["record"])) == samples.RECORDS["region"]


@every
def test_a_record_survives_its_json(name: str) -> None:
    record = samples.RECORDS[name]
    again = load_record(type(record), _text(record))
    assert again == record
    assert again.payload_digest == record.payload_digest
    assert _text(again) == _text(record)


@every
def test_a_record_is_frozen_and_closed(name: str) -> None:
    record = samples.RECORDS[name]
    field = next(iter(type(record).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(record, field, None)
    with pytest.raises(RecordError, match=r"surprise\n  Extra inputs are not permitted"):
        load_record(type(record), json.dumps(record.model_dump(mode="json") | {"surprise": 1}))


def test_a_changed_copy_has_a_digest_of_its_own_and_is_checked() -> None:
    original = samples.REGION
    before = original.payload_digest
    assert original.model_copy().payload_digest == before
    changed = original.model_copy(update={"clearance_m": 0.5})
    assert changed.payload_digest not in {before, None}
    assert original.payload_digest == before
    with pytest.raises(ValidationError):
        original.model_copy(update={"clearance_m": -1.0})
    assert samples.BOX.model_copy(update={"centre": (0.12345678, 0, 0)}).centre[0] == 0.123457


def test_lengths_are_fixed_at_a_micrometre_and_rotations_at_a_nanoradian() -> None:
    noise = Pose(translation=(1.00000049, -1e-9, 2.0), rotation=(1.0, 1e-10, -4e-10, 0.0))
    assert noise == Pose(translation=(1.0, 0.0, 2.0), rotation=(1.0, 0.0, 0.0, 0.0))
    assert math.copysign(1.0, noise.translation[1]) == 1.0
    assert noise.payload_digest == Pose(translation=(1, 0, 2), rotation=(1, 0, 0, 0)).payload_digest


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_in_lengths_and_scores(value: float) -> None:
    for record, update in (
        (samples.STILL, {"translation": (0, 0, value)}),
        (samples.JUDGEMENT, {"realism": value}),
        (samples.MEASUREMENTS.values[0], {"value": value}),
        (samples.CAMERA, {"intrinsics": ((value, 0, 0), (0, 1, 0), (0, 0, 1))}),
    ):
        with pytest.raises(ValidationError):
            record.model_copy(update=update)


@pytest.mark.parametrize("value", [1.0, 0.0, 2.5, True, False, "1", "true", None])
def test_a_facts_value_keeps_its_type_through_json(value: Any) -> None:
    again = load_record(Fact, _text(Fact(name="x", value=value, holds=True)))
    assert again.value == value
    assert type(again.value) is type(value)


@pytest.mark.parametrize(
    "update",
    [
        {"timestamp_us": 2**53},
        {"timestamp_us": -1},
        {"frame_offset": 1},
        {"width": 0},
        {"sha256": "A" * 64},
        {"sha256": "1" * 63},
        {"sensor_id": 3},
    ],
)
def test_a_camera_out_of_range_is_refused(update: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        samples.CAMERA.model_copy(update=update)


def test_a_box_has_positive_size_and_its_corners_in_the_ego_frame() -> None:
    with pytest.raises(ValidationError, match="size must be positive"):
        samples.BOX.model_copy(update={"size": (1, 0, 1)})
    half = 0.5**0.5
    box = Box(centre=(10, 0, 1), size=(4, 2, 2), rotation=(half, 0, 0, half))
    assert box.footprint().round(6).tolist() == [[9, 2], [9, -2], [11, -2], [11, 2]]
    assert box.corners()[:, 2].round(6).tolist() == [0] * 4 + [2] * 4


def test_a_pose_and_its_transform_are_the_same_motion() -> None:
    motion = Transform.from_quaternion((1.5, -2.0, 0.25), (0.5, -0.5, 0.5, -0.5))
    again = Pose.of(motion).transform()
    assert np.allclose(again.rotation, motion.rotation)
    assert np.allclose(again.translation, motion.translation)


def test_a_keyframe_finds_its_views_its_id_and_its_ground() -> None:
    keyframe = samples.KEYFRAME
    assert keyframe.id == "streetset/scene-0001/token1"
    assert keyframe.view("CAM_FRONT") is keyframe.cameras[0]
    assert keyframe.view("CAM_FRONT", -1) is keyframe.cameras[1]
    with pytest.raises(KeyError, match="no view CAM_BACK at offset 0"):
        keyframe.view("CAM_BACK")
    assert abs(keyframe.ground.height_m) < 0.01
    assert keyframe.model_copy(update={"annotations": ()}).ground.height_m == 0.0


def test_measurements_are_found_by_check() -> None:
    assert [value.sensor_id for value in samples.MEASUREMENTS.of("background")] == ["CAM_FRONT"]
    assert samples.MEASUREMENTS.of("absent") == ()


def test_an_edit_digest_is_the_candidates_payload() -> None:
    assert samples.CANDIDATE.edit_digest == samples.CANDIDATE.payload_digest
    assert samples.CANDIDATE.model_copy(update={"seed": 1}).edit_digest != samples.CANDIDATE.edit_digest


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (3, "schema_version 3, this code knows up to 2: update exceptiondrive"),
        (10**30, "update exceptiondrive"),
        (0, "without a schema_version"),
        (True, "without a schema_version"),
        ("1", "without a schema_version"),
        (None, "without a schema_version"),
        (1.0, "without a schema_version"),
    ],
)
def test_a_version_that_is_newer_or_none_is_refused(version: Any, message: str) -> None:
    content = samples.REGION.model_dump(mode="json") | {"schema_version": version}
    with pytest.raises(RecordError, match=message):
        load_record(records.Region, json.dumps(content))


class Colour(Record):
    """A record type in its third version."""

    schema_version: Literal[3] = 3
    red: float


def test_older_versions_are_upgraded_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {
        1: lambda old: {"schema_version": 2, "r": old["r255"] / 255},
        2: lambda old: {"schema_version": 3, "red": old["r"]},
    }
    monkeypatch.setitem(records.UPGRADERS, Colour, steps)
    assert load_record(Colour, '{"schema_version": 1, "r255": 51}') == Colour(red=0.2)
    assert load_record(Colour, '{"schema_version": 2, "r": 0.5}') == Colour(red=0.5)
    with pytest.raises(RecordError, match="not a Colour record: KeyError: 'r255'"):
        load_record(Colour, '{"schema_version": 1}')
    monkeypatch.setitem(records.UPGRADERS, Colour, {2: steps[2]})
    with pytest.raises(RecordError, match="schema_version 1, which this code cannot upgrade any more"):
        load_record(Colour, '{"schema_version": 1, "r255": 51}')


def _load(kind: type[Record], text: str | bytes) -> None:
    try:
        load_record(kind, text)
    except RecordError as error:
        if len(str(error)) > 2000:
            raise


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(kind=st.sampled_from([type(record) for record in samples.RECORDS.values()]), data=st.data())
def test_reading_raises_nothing_but_its_own_error(kind: type[Record], data: st.DataObject) -> None:
    _load(kind, data.draw(st.binary(max_size=30) | st.text(max_size=30)))
    _load(kind, json.dumps(data.draw(json_values)))


@given(name=st.sampled_from(sorted(samples.RECORDS)), data=st.data())
def test_a_broken_field_raises_nothing_but_its_own_error(name: str, data: st.DataObject) -> None:
    content = samples.RECORDS[name].model_dump(mode="json")
    content[data.draw(st.sampled_from(sorted(content)))] = data.draw(json_values)
    _load(type(samples.RECORDS[name]), json.dumps(content))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 10_000, b"\xff", "", "[]", "NaN"])
def test_hostile_text_is_a_record_error(text: str | bytes) -> None:
    with pytest.raises(RecordError, match="not a Keyframe record"):
        load_record(Keyframe, text)


def test_a_record_without_schema_version_is_read_as_it_is() -> None:
    assert load_record(records.Human, _text(samples.HUMAN)) == samples.HUMAN
    assert "schema_version" in Screening.model_fields


def test_a_candidate_that_edits_a_picture_twice_is_refused() -> None:
    view = ViewEdit(
        sensor_id="CAM_FRONT",
        source_sha256="0" * 64,
        window=(0, 0, 1, 1),
        edited="1" * 64,
        edit_mask="2" * 64,
        object_mask="3" * 64,
    )
    earlier = view.model_copy(update={"frame_offset": -1})

    assert len(Candidate(seed=1, attempt=0, views=(view, earlier)).views) == 2
    with pytest.raises(ValidationError, match="edits a picture once, not CAM_FRONT at frame 0 twice"):
        Candidate(seed=1, attempt=0, views=(view, earlier, view))


@pytest.mark.parametrize("ring", [((0, 0), (2, 2), (2, 0), (0, 2)), ((0, 0), (1, 1), (2, 2)), ((1, 1), (1, 1), (1, 1))])
def test_a_surface_that_crosses_itself_or_has_no_area_is_refused(ring: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValidationError, match="must not cross itself and have at least"):
        Surface(polygon=ring)
