"""The reader on tiny roots: what it chooses, how the ego vehicle moves, pictures, splits, licences."""

import json
import os
from pathlib import Path

import pytest

from data_registry.identity import sha256
from data_registry.sources.nuscenes import (
    CanBusError,
    NuScenes,
    PictureChangedError,
    PictureMissingError,
    TablesError,
    UnknownRequestError,
)
from data_registry.sources.nuscenes.splits import official_splits
from data_registry.sources.source import Request, SourceChangedError
from tests.data_registry.sources.roots import SPEED, VERSION, Tables, jpeg, opened, row, select, tiny_tables, write_root


@pytest.fixture
def tables() -> Tables:
    return tiny_tables()


def test_middle_keyframe_is_chosen_with_its_history(tmp_path: Path, tables: Tables) -> None:
    (keyframe,) = select(tmp_path, tables).keyframes
    assert keyframe.id == "nuscenes/scene-9101/scene-9101-2"
    assert [(camera.sensor_id, camera.frame_offset) for camera in keyframe.cameras] == [
        (channel, offset) for channel in ("CAM_BACK", "CAM_FRONT") for offset in (-2, -1, 0)
    ]
    assert keyframe.annotations[0].velocity == (0.0, 1.0)
    assert keyframe.annotations[0].box.size == (0.7, 0.6, 1.8)
    assert keyframe.annotations[0].box.centre == (16.0, 1.0, 0.9)


def test_next_nearest_keyframe_stands_in_when_the_middle_one_lacks_a_picture(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables)
    (tmp_path / "root" / row(tables, "sample_data", "scene-9101-2-CAM_BACK")["filename"]).unlink()
    selection = opened(tmp_path).select(Request())
    assert [keyframe.token for keyframe in selection.keyframes] == ["scene-9101-1"]
    assert selection.skipped == ()


def test_missing_history_pictures_have_no_digest(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables)
    (tmp_path / "root" / row(tables, "sample_data", "scene-9101-0-CAM_BACK")["filename"]).unlink()
    (keyframe,) = opened(tmp_path).select(Request()).keyframes
    assert keyframe.view("CAM_BACK", -2).sha256 is None
    assert keyframe.view("CAM_BACK", -1).sha256 is not None


def test_choices_tokens_and_limit(tmp_path: Path) -> None:
    write_root(tmp_path / "root", tiny_tables(3, ("scene-9102", "scene-9101")))
    source = opened(tmp_path)

    def tokens(request: Request) -> list[str]:
        return [keyframe.token for keyframe in source.select(request).keyframes]

    everything = [f"{scene}-{n}" for scene in ("scene-9101", "scene-9102") for n in range(3)]
    assert tokens(Request("first")) == ["scene-9101-0", "scene-9102-0"]
    assert tokens(Request("all")) == everything
    assert tokens(Request("all", limit=4)) == everything[:4]
    assert tokens(Request("all", limit=0)) == []
    assert tokens(Request(scenes=("scene-9102",))) == ["scene-9102-1"]
    assert tokens(Request(tokens=("scene-9102-2", "scene-9101-0", "scene-9102-2"))) == ["scene-9101-0", "scene-9102-2"]
    assert source.scenes == ("scene-9101", "scene-9102")


def test_scene_without_pictures_is_reported_once(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables, pictures=False)
    for choice in ("middle", "first", "all"):
        selection = opened(tmp_path).select(Request(choice))
        assert selection.keyframes == ()
        (skipped,) = selection.skipped
        assert (skipped.id, skipped.reason_code) == ("nuscenes/scene-9101", "pictures_missing")
        assert skipped.detail.startswith("5 of 5 keyframes")
    (skipped,) = opened(tmp_path).select(Request(tokens=("scene-9101-3",))).skipped
    assert skipped.id == "nuscenes/scene-9101/scene-9101-3"


def test_scene_without_keyframes_is_skipped(tmp_path: Path, tables: Tables) -> None:
    tables["scene"].append({**tables["scene"][0], "token": "empty", "name": "empty"})
    (skipped,) = select(tmp_path, tables).skipped
    assert (skipped.id, skipped.reason_code) == ("nuscenes/empty", "no_keyframes")


def test_same_logs_give_same_records_wherever_they_lie(tmp_path: Path, tables: Tables) -> None:
    first = select(tmp_path / "a", tables)
    for name in tables:
        tables[name].reverse()
    write_root(tmp_path / "b" / "root", tables)
    os.utime(tmp_path / "b" / "root" / VERSION / "scene.json", (0, 0))
    second = opened(tmp_path / "b").select(Request())
    assert first.keyframes[0].payload_digest == second.keyframes[0].payload_digest
    again = opened(tmp_path / "a")
    assert again.select(Request()).keyframes == first.keyframes
    assert again.fingerprint() == NuScenes(tmp_path / "a/root", VERSION, tmp_path / "other").fingerprint()
    assert again.fingerprint() != opened(tmp_path / "b").fingerprint()


def test_nothing_is_written_into_the_root(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables)
    before = sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "root").rglob("*"))
    opened(tmp_path).select(Request())
    assert sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "root").rglob("*")) == before


def test_speed_and_path_from_neighbouring_keyframes(tmp_path: Path, tables: Tables) -> None:
    motion = select(tmp_path, tables).keyframes[0].motion
    assert motion.source == "samples"
    assert motion.speed == pytest.approx(SPEED, abs=1e-5)
    assert [point.t for point in motion.history] == [-1.0, -0.5]
    assert [(point.t, point.x) for point in motion.future] == [(0.0, 0.0), (0.5, 2.0), (1.0, 4.0)]


def test_future_ends_at_three_seconds_between_keyframes(tmp_path: Path) -> None:
    tables = tiny_tables(9)
    for sample in tables["sample"][3:]:
        sample["timestamp"] += 100_000
    motion = select(tmp_path, tables, Request("first")).keyframes[0].motion
    assert [point.t for point in motion.future] == [0.0, 0.5, 1.0, 1.6, 2.1, 2.6, 3.0]
    assert motion.future[-1].x == pytest.approx(12.0, abs=1e-6)


def test_single_keyframe_takes_its_speed_from_sensor_poses(tmp_path: Path) -> None:
    motion = select(tmp_path, tiny_tables(1)).keyframes[0].motion
    assert (motion.source, motion.history, motion.future) == ("sensor_poses", (), ())
    assert motion.speed == pytest.approx(SPEED, abs=1e-5)


def test_sweeps_make_a_dense_recording_and_reversing_is_speed_zero(tmp_path: Path, tables: Tables) -> None:
    for step in range(-5, 50):
        time_us = tables["sample"][0]["timestamp"] + step * 50_000 + 1
        pose = {**tables["ego_pose"][0], "token": f"sweep{step}", "timestamp": time_us}
        pose["translation"] = [100.0 - step * 0.1, 50.0, 0.0]
        sweep = {**tables["sample_data"][0], "token": f"sweep{step}", "ego_pose_token": f"sweep{step}"}
        tables["ego_pose"].append(pose)
        tables["sample_data"].append({**sweep, "is_key_frame": False})
    for pose in tables["ego_pose"][:15]:
        pose["translation"][0] = 100.0 - 2.0 * (pose["timestamp"] - tables["sample"][0]["timestamp"]) * 1e-6
    motion = select(tmp_path, tables).keyframes[0].motion
    assert (motion.source, motion.speed) == ("poses", 0.0)
    assert motion.future[1].x == pytest.approx(-1.0, abs=1e-5)


def can_messages(tables: Tables) -> list[dict]:
    start = tables["sample"][0]["timestamp"] - 100_000
    return [
        {"utime": start + n * 20_000, "pos": [7.0 * n * 0.02, 0.0, 0.0], "orientation": [1.0, 0.0, 0.0, 0.0]}
        for n in range(250)
    ]


def test_can_bus_is_used_when_poses_are_sparse(tmp_path: Path, tables: Tables) -> None:
    path = tmp_path / "root" / "can_bus" / "scene-9101_pose.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(can_messages(tables)))
    motion = select(tmp_path, tables).keyframes[0].motion
    assert motion.source == "can"
    assert motion.speed == pytest.approx(7.0, abs=1e-5)
    assert motion.future[1].x == pytest.approx(3.5, abs=1e-5)


@pytest.mark.parametrize("content", ["[", "{}", '[{"utime": "x"}]', '[{"utime": 1, "pos": [NaN, 0, 0]}]', "[3]"])
def test_broken_can_bus_file_is_refused(tmp_path: Path, tables: Tables, content: str) -> None:
    path = tmp_path / "root" / "can_bus" / "scene-9101_pose.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(CanBusError, match="optional"):
        select(tmp_path, tables)


def test_without_lidar_the_ego_pose_is_interpolated(tmp_path: Path, tables: Tables) -> None:
    tables["sample_data"] = [r for r in tables["sample_data"] if not r["token"].endswith("LIDAR_TOP")]
    (keyframe,) = select(tmp_path, tables).keyframes
    assert keyframe.ego_to_global.translation[0] == pytest.approx(100 + SPEED * 1.0, abs=1e-6)


def test_velocity_over_a_long_gap_is_none(tmp_path: Path, tables: Tables) -> None:
    row(tables, "sample_annotation", "scene-9101-2").update(prev="", next="")
    assert select(tmp_path, tables).keyframes[0].annotations[0].velocity is None


def test_picture_is_checked_against_its_digest(tmp_path: Path, tables: Tables) -> None:
    (keyframe,) = select(tmp_path, tables).keyframes
    source, camera = opened(tmp_path), keyframe.view("CAM_FRONT", -1)
    path = tmp_path / "root" / row(tables, "sample_data", "scene-9101-1-CAM_FRONT")["filename"]
    assert source.picture(keyframe, camera) == path.read_bytes()
    path.write_bytes(jpeg(shade=200))
    with pytest.raises(PictureChangedError, match="is not the picture") as caught:
        source.picture(keyframe, camera)
    assert isinstance(caught.value, SourceChangedError)
    path.unlink()
    with pytest.raises(PictureMissingError, match="cannot be read"):
        source.picture(keyframe, camera)
    with pytest.raises(PictureMissingError, match="was not there"):
        source.picture(keyframe, camera.model_copy(update={"sha256": None}))
    for stranger in ({"token": "x"}, {"scene": "y"}, {"dataset": "streetset"}):
        with pytest.raises(UnknownRequestError):
            source.picture(keyframe.model_copy(update=stranger), camera)


def test_a_picture_s_name_is_its_place_below_the_root(tmp_path: Path, tables: Tables) -> None:
    (keyframe,) = select(tmp_path, tables).keyframes
    source = opened(tmp_path)
    for camera in keyframe.cameras:
        if camera.sha256 is not None:
            assert sha256((tmp_path / "root" / source.file_name(keyframe, camera)).read_bytes()) == camera.sha256
    with pytest.raises(UnknownRequestError, match="has no picture of CAM_TOP at offset 0"):
        source.file_name(keyframe, keyframe.cameras[0].model_copy(update={"sensor_id": "CAM_TOP", "frame_offset": 0}))


def test_changed_picture_gets_a_new_digest_at_the_next_select(tmp_path: Path, tables: Tables) -> None:
    (before,) = select(tmp_path, tables).keyframes
    path = tmp_path / "root" / row(tables, "sample_data", "scene-9101-2-CAM_FRONT")["filename"]
    path.write_bytes(jpeg(shade=200) + b"x")
    (after,) = opened(tmp_path).select(Request()).keyframes
    assert before.view("CAM_FRONT").sha256 != after.view("CAM_FRONT").sha256


def test_truncated_picture_is_only_hashed(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables)
    path = tmp_path / "root" / row(tables, "sample_data", "scene-9101-2-CAM_FRONT")["filename"]
    path.write_bytes(path.read_bytes()[:40])
    assert opened(tmp_path).select(Request()).keyframes[0].token == "scene-9101-2"


def test_splits_of_unknown_scenes_come_from_the_version_folder(tmp_path: Path) -> None:
    tables = tiny_tables(1, ("scene-0001", "scene-9101", "scene-9102"))
    write_root(tmp_path / "root", tables)
    splits = tmp_path / "root" / VERSION / "splits.json"
    splits.write_text(json.dumps({"mini_val": ["scene-9101"], "test": ["scene-0001"], "other": ["scene-9102"]}))
    found = {k.scene: k.split for k in opened(tmp_path).select(Request()).keyframes}
    assert found == {"scene-0001": "train", "scene-9101": "val", "scene-9102": "none"}
    for wrong in ("[]", "{", '{"train": 3}', '{"train": ["a"], "val": ["a"]}'):
        splits.write_text(wrong)
        with pytest.raises(TablesError, match=r"splits\.json"):
            opened(tmp_path)


def test_official_splits_have_their_sizes() -> None:
    sizes = [list(official_splits().values()).count(split) for split in ("train", "val", "test")]
    assert sizes == [700, 150, 150]


def test_licence_follows_the_dataset(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables)
    real, ours = opened(tmp_path), NuScenes(tmp_path / "root", VERSION, tmp_path / "index", "streetset")
    assert (real.licence.spdx, real.licence.non_commercial, real.licence.share_alike) == ("CC-BY-NC-SA-4.0", True, True)
    assert (ours.licence.spdx, ours.licence.non_commercial, ours.dataset) == ("CC0-1.0", False, "streetset")
