"""The reader on tiny roots: what it chooses, what it refuses and how it says so."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from data_registry.sources.nuscenes import (
    CanBusError,
    MapError,
    NuScenes,
    PictureChangedError,
    PictureMissingError,
    RootError,
    TablesError,
    UnknownRequestError,
)
from data_registry.sources.nuscenes.splits import official_splits
from data_registry.sources.source import Request, Selection, SourceChangedError, SourceError
from tests.data_registry.sources.roots import SPEED, VERSION, Tables, jpeg, tiny_tables, write_root


@pytest.fixture
def tables() -> Tables:
    return tiny_tables()


def opened(tmp_path: Path) -> NuScenes:
    return NuScenes(tmp_path / "root", VERSION, tmp_path / "index")


def select(tmp_path: Path, tables: Tables, request: Request | None = None) -> Selection:
    write_root(tmp_path / "root", tables)
    return opened(tmp_path).select(request or Request())


def row(tables: Tables, table: str, token: str) -> dict:
    return next(row for row in tables[table] if row["token"] == token)


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


# --- motion


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


# --- maps


def test_no_map_is_no_error(tmp_path: Path, tables: Tables) -> None:
    patch = select(tmp_path, tables).keyframes[0].map
    assert (patch.source, patch.drivable) == ("none", ())


def write_mask(root: Path, pixels: np.ndarray) -> Path:
    path = root / "maps" / "town.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def test_mask_gives_the_drivable_area_in_the_ego_frame(tmp_path: Path, tables: Tables) -> None:
    pixels = np.zeros((1003, 2501), dtype=np.uint8)  # 100.3 m high, row 0 on top
    pixels[1003 - 560 : 1003 - 440, :] = 255  # y from 44 to 56 m: a road around the ego at (104, 50)
    write_mask(tmp_path / "root", pixels)
    (keyframe,) = select(tmp_path, tables).keyframes
    assert keyframe.map.source == "mask"
    (area,) = keyframe.map.drivable
    road = shapely.Polygon(area.exterior)
    assert road.is_valid
    assert road.bounds == pytest.approx((-70, -6, 70, 6), abs=1e-6)
    assert road.area == pytest.approx(140 * 12, abs=1)


def test_mask_is_decoded_once(tmp_path: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mask(tmp_path / "root", np.full((1000, 1000), 255, dtype=np.uint8))
    first = select(tmp_path, tables).keyframes
    monkeypatch.setattr("data_registry.sources.nuscenes.masks._decode", lambda *_: pytest.fail("decoded again"))
    assert opened(tmp_path).select(Request()).keyframes == first


def test_broken_mask_is_refused_and_leaves_nothing(tmp_path: Path, tables: Tables) -> None:
    path = write_mask(tmp_path / "root", np.full((1000, 1000), 255, dtype=np.uint8))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(MapError, match=r"town\.png cannot be decoded"):
        select(tmp_path, tables)
    assert [p.name for p in (tmp_path / "index" / "masks").iterdir()] == ["build.lock"]


def tiny_map() -> dict:
    nodes = {"a": (80, 40), "b": (140, 40), "c": (140, 60), "d": (80, 60), "far": (900, 40)}
    polygon = {"token": "p", "exterior_node_tokens": ["a", "b", "c", "d"], "holes": []}
    path = {"start_pose": [90, 45, 0], "shape": "LSR", "radius": 10.0, "segment_length": [15.708, 0, 0]}
    lane = {"token": "lane", "polygon_token": "p"}
    return {
        "node": [{"token": token, "x": x, "y": y} for token, (x, y) in nodes.items()],
        "polygon": [polygon],
        "drivable_area": [{"token": "road", "polygon_tokens": ["p"]}],
        "lane": [lane],
        "lane_connector": [],
        "ped_crossing": [],
        "walkway": [],
        "stop_line": [],
        "road_segment": [{"token": "s", "polygon_token": "p", "is_intersection": True}],
        "arcline_path_3": {"lane": [path]},
        "connectivity": {"lane": {"incoming": [], "outgoing": ["z", "next"]}},
    }


def write_map(root: Path, content: object) -> None:
    path = root / "maps" / "expansion" / "town.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_expansion_gives_lanes_in_the_ego_frame(tmp_path: Path, tables: Tables) -> None:
    write_map(tmp_path / "root", tiny_map())
    patch = select(tmp_path, tables).keyframes[0].map
    (lane,) = patch.lanes
    assert (patch.source, lane.successors, lane.is_connector) == ("expansion", ("next", "z"), False)
    assert lane.centreline[0] == pytest.approx((90 - 104, 45 - 50), abs=1e-6)
    assert lane.centreline[-1] == pytest.approx((100 - 104, 55 - 50), abs=1e-3)
    assert max(np.hypot(*np.diff(np.array(lane.centreline), axis=0).T)) <= 1.0
    assert shapely.Polygon(patch.intersections[0].exterior).bounds == pytest.approx((-24, -10, 36, 10))


def _broken(change: Callable[[dict], object]) -> dict:
    content = tiny_map()
    change(content)
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "must be a JSON object"),
        (_broken(lambda c: c.pop("node")), "layer node: must be there"),
        (_broken(lambda c: c["node"].pop(0)), "node 'a' is not in layer node"),
        (_broken(lambda c: c["node"][0].update(x=float("nan"))), "finite"),
        (_broken(lambda c: c["lane"][0].update(polygon_token="q")), "polygon 'q' is not in layer polygon"),
        (_broken(lambda c: c["polygon"][0].update(exterior_node_tokens=["a", "b"])), "2 nodes are not a polygon"),
        (_broken(lambda c: c["polygon"].append(c["polygon"][0])), "stands more than once"),
        (_broken(lambda c: c["arcline_path_3"]["lane"][0].update(radius=0)), "arcline_path_3 of lane 'lane'"),
        (_broken(lambda c: c["connectivity"]["lane"].update(outgoing=[None])), "outgoing must be a list"),
        (_broken(lambda c: c["drivable_area"][0].pop("polygon_tokens")), "polygon_tokens: must be a list"),
        (_broken(lambda c: c["polygon"][0].update(holes=[3])), "hole of polygon"),
        (_broken(lambda c: c["lane"].append(4)), "a record without a token"),
    ],
)
def test_broken_map_expansion_is_refused(tmp_path: Path, tables: Tables, content: object, message: str) -> None:
    write_map(tmp_path / "root", content)
    with pytest.raises(MapError, match=message) as caught:
        select(tmp_path, tables)
    assert "remove the file: the map mask serves" in str(caught.value)


# --- bad roots


def test_missing_root_and_version_say_what_is_there(tmp_path: Path, tables: Tables) -> None:
    with pytest.raises(RootError, match=r"is not a folder: set source\.root"):
        opened(tmp_path)
    write_root(tmp_path / "root", tables)
    with pytest.raises(RootError, match=f"no version 'v1.0-mini': versions there: {VERSION}"):
        NuScenes(tmp_path / "root", "v1.0-mini", tmp_path / "index")
    with pytest.raises(RootError):
        NuScenes(tmp_path / "root", "..", tmp_path / "index")


def test_every_missing_table_is_named(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables)
    for name in ("scene", "map"):
        (tmp_path / "root" / VERSION / f"{name}.json").unlink()
    with pytest.raises(TablesError, match="2 problems") as caught:
        opened(tmp_path)
    assert "scene.json" in str(caught.value)
    assert "map.json" in str(caught.value)


@pytest.mark.parametrize("content", ["", "[", "{}", "3", "[[]]", "\xff", "[" * 100_000])
def test_unreadable_table_is_refused(tmp_path: Path, tables: Tables, content: str) -> None:
    write_root(tmp_path / "root", tables)
    (tmp_path / "root" / VERSION / "log.json").write_text(content, "latin-1")
    with pytest.raises(TablesError, match="table log"):
        opened(tmp_path)


NAN = float("nan")
BAD_FIELDS = [
    ("ego_pose", "translation", [NAN, 0, 0], "finite numbers"),
    ("ego_pose", "translation", [0, 0], "list of 3 numbers"),
    ("ego_pose", "rotation", [1, 1, 0, 0], "unit quaternion"),
    ("ego_pose", "rotation", [float("inf"), 0, 0, 0], "finite numbers"),
    ("ego_pose", "timestamp", 1.5, "whole microseconds"),
    ("calibrated_sensor", "camera_intrinsic", [[1, 0, 0], [0, 1, 0], [0, 0, 0]], "singular"),
    ("calibrated_sensor", "camera_intrinsic", [[0, 0, 0], [0, 1, 0], [0, 0, 1]], "singular"),
    ("calibrated_sensor", "camera_intrinsic", [[1, 0], [0, 1]], "3x3"),
    ("calibrated_sensor", "camera_intrinsic", [], "is a camera; restore its calibration"),
    ("calibrated_sensor", "sensor_token", "gone", "'gone' is not in table sensor"),
    ("sample", "scene_token", "gone", "'gone' is not in table scene"),
    ("sample", "next", "gone", "'gone' is not in table sample"),
    ("sample", "token", "a/b", "without slashes"),
    ("sample_data", "ego_pose_token", "gone", "not in table ego_pose"),
    ("sample_data", "sample_token", "gone", "not in table sample"),
    ("sample_data", "calibrated_sensor_token", "gone", "not in table calibrated_sensor"),
    ("sample_data", "filename", "../../secret", "below the root"),
    ("sample_data", "is_key_frame", 1, "true or false"),
    ("sample_data", "width", None, "needs its size in pixels"),
    ("sample_annotation", "instance_token", "gone", "not in table instance"),
    ("sample_annotation", "attribute_tokens", ["gone"], "not in table attribute"),
    ("sample_annotation", "prev", "gone", "not in table sample_annotation"),
    ("sample_annotation", "size", [0, 1, 1], "above 1 mm"),
    ("instance", "category_token", "gone", "not in table category"),
    ("scene", "log_token", "", "'' is not in table log"),
    ("scene", "description", 4, "must be text"),
    ("log", "location", "../x", "without slashes"),
]


@pytest.mark.parametrize(("table", "field", "value", "message"), BAD_FIELDS)
def test_bad_field_is_named(
    tmp_path: Path, tables: Tables, table: str, field: str, value: object, message: str
) -> None:
    tables[table][0][field] = value
    write_root(tmp_path / "root", tables, pictures=False)
    with pytest.raises(TablesError) as caught:
        opened(tmp_path)
    assert message in str(caught.value)
    assert f"table {table}" in str(caught.value)
    assert field in str(caught.value)


def test_missing_fields_duplicates_and_absent_cameras_are_named(tmp_path: Path, tables: Tables) -> None:
    del tables["sample_data"][0]["timestamp"]
    with pytest.raises(TablesError, match="token 'scene-9101-0-CAM_BACK': field timestamp is missing"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["ego_pose"].append(tables["ego_pose"][0])
    with pytest.raises(TablesError, match="token 'scene-9101-0-CAM_BACK': stands more than once"):
        select(tmp_path, tables)
    tables = tiny_tables()
    del tables["sample_data"][0]
    with pytest.raises(TablesError, match="sample scene-9101-0 has no keyframe record of CAM_BACK"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["sample_data"].append({**tables["sample_data"][0], "token": "twin"})
    with pytest.raises(TablesError, match="a second CAM_BACK keyframe record"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["sample"][1]["timestamp"] = tables["sample"][0]["timestamp"]
    with pytest.raises(TablesError, match="the same as that of scene-9101-0"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["scene"].append({**tables["scene"][0], "token": "other"})
    with pytest.raises(TablesError, match="name 'scene-9101' is taken"):
        select(tmp_path, tables)


def test_all_problems_come_at_once_and_bounded(tmp_path: Path) -> None:
    tables = tiny_tables(8)
    for pose in tables["ego_pose"]:
        pose["translation"] = [NAN, 0, 0]
    tables["log"][0]["location"] = 3
    with pytest.raises(TablesError, match="25 problems") as caught:
        select(tmp_path, tables)
    assert str(caught.value).count("table ") == 10
    assert "... and 15 more" in str(caught.value)


def test_broken_tables_leave_no_index(tmp_path: Path, tables: Tables) -> None:
    tables["sample"][0]["scene_token"] = "gone"
    with pytest.raises(TablesError):
        select(tmp_path, tables)
    assert [path.name for path in (tmp_path / "index").iterdir() if "root" not in path.name] == ["build.lock"]


def test_unknown_scenes_and_tokens_are_all_named(tmp_path: Path, tables: Tables) -> None:
    with pytest.raises(UnknownRequestError, match="3 problems") as caught:
        select(tmp_path, tables, Request(scenes=("scene-1", "scene-2"), tokens=("x",)))
    assert "scene-9101 to scene-9101" in str(caught.value)
    write_root(tmp_path / "two", tiny_tables(2, ("scene-9101", "scene-9102")))
    two = NuScenes(tmp_path / "two", VERSION, tmp_path / "index")
    with pytest.raises(UnknownRequestError, match="not among the scenes"):
        two.select(Request(scenes=("scene-9101",), tokens=("scene-9102-0",)))


# --- pictures


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


# --- splits and licence


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


# --- indexes


SLOW_BUILD = """
import sys, time
from pathlib import Path
from data_registry.sources.nuscenes import NuScenes, index
plain = index.write_atomically
def slow(path, content):
    plain(path, content)
    print("wrote", flush=True)
    time.sleep(float(sys.argv[3]))
index.write_atomically = slow
NuScenes(Path(sys.argv[1]), "v1.0-tiny", Path(sys.argv[2]))
"""


def builder(tmp_path: Path, pause: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SLOW_BUILD, str(tmp_path / "root"), str(tmp_path / "index"), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])


def test_killed_build_is_cleaned_up_and_built_again(tmp_path: Path) -> None:
    write_root(tmp_path / "root", tiny_tables(2, ("scene-9101", "scene-9102")))
    process = builder(tmp_path, 60.0)
    assert process.stdout is not None
    deadline = time.monotonic() + 60
    while not list((tmp_path / "index").glob(".building-*")) and time.monotonic() < deadline:
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert list((tmp_path / "index").glob(".building-*"))
    assert len(opened(tmp_path).select(Request("all")).keyframes) == 4
    assert not list((tmp_path / "index").glob(".building-*"))


def test_two_builders_at_once_both_succeed(tmp_path: Path) -> None:
    write_root(tmp_path / "root", tiny_tables(2, ("scene-9101", "scene-9102")))
    processes = [builder(tmp_path, 0.05) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0]
    assert len(list((tmp_path / "index").glob("tables-*"))) == 1


def test_damaged_index_or_cache_is_rebuilt_or_named(tmp_path: Path, tables: Tables) -> None:
    first = select(tmp_path, tables).keyframes
    (folder,) = (tmp_path / "index").glob("tables-*")
    (folder / "contents.json").write_text("{")
    for cache in (tmp_path / "index").glob("root-*/*.json"):
        cache.write_text("[3")
    assert opened(tmp_path).select(Request()).keyframes == first
    (folder / "000000.json").write_text("{}")
    with pytest.raises(TablesError, match="delete that folder"):
        opened(tmp_path).select(Request())


# --- hostile tables


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -1, 2**53, 1e308, NAN, float("inf"), "", "..", "a/b", "\0", "\ud800", "x" * 5000]),
    st.lists(st.floats(), max_size=4),
    st.lists(st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3), min_size=3, max_size=3),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
    st.text(max_size=4),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mutated_tables_raise_nothing_but_source_errors(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tables = tiny_tables(3)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(tables)))
        number = data.draw(st.integers(0, len(tables[name]) - 1))
        entry = tables[name][number]
        if not isinstance(entry, dict) or not entry:
            continue
        field = data.draw(st.sampled_from(sorted(entry)))
        kind = data.draw(st.sampled_from(["set", "swap", "drop", "remove", "twice", "record"]))
        if kind == "set":
            entry[field] = data.draw(ODD)
        elif kind == "swap":
            entry[field] = data.draw(st.sampled_from(tables[name])).get(field)
        elif kind == "drop":
            del entry[field]
        elif kind == "remove" and len(tables[name]) > 1:
            del tables[name][number]
        elif kind == "twice":
            tables[name].append(dict(entry))
        elif kind == "record" and len(tables[name]) > 1:
            tables[name][number] = {"token": data.draw(ODD)}
    root = tmp_path_factory.mktemp("mutated")
    write_root(root / "root", tables, pictures=False)
    for picture in tiny_tables(3)["sample_data"]:
        path = root / "root" / picture["filename"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"picture")
    with contextlib.suppress(SourceError):
        for keyframe in opened(root).select(Request("all")).keyframes:
            assert keyframe.payload_digest
