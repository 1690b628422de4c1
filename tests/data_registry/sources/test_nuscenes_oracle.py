"""The reader against the official devkit, on the real root and on our own log.

Records keep micrometres and nanoradians (DESIGN section 2), so positions agree to 1e-6 m and pixels to a few 1e-4: at
1266 px focal length a micrometre at 5 m is 2.5e-4 px, and the chain through global adds a few of them. The devkit
subtracts times as float seconds since 1970, good to 2.4e-7 s, which costs its velocities up to a millionth; ours are
differences of integers.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from data_registry.cameras import pinhole
from data_registry.records import Keyframe
from data_registry.sources.nuscenes import NuScenes
from data_registry.sources.nuscenes.keyframes import ego_to_global, keyframe_of
from data_registry.sources.nuscenes.logs import Moment, Posed
from data_registry.sources.nuscenes.map_reading import LAYERS
from data_registry.sources.nuscenes.masks import mask_patch, mask_tiles
from data_registry.sources.nuscenes.motion import motion_of, read_can_poses
from data_registry.sources.nuscenes.patches import Patch, no_map
from data_registry.sources.nuscenes.splits import official_splits
from data_registry.sources.source import Request

pytest.importorskip("nuscenes", reason="the devkit is the oracle: install the extra `nuscenes`")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(400),  # writing the street's pictures takes 30 s of one free core
]

MINI = "v1.0-mini"
DEVKIT_CORNERS = [3, 7, 6, 2, 0, 4, 5, 1]
"""Our order of a box's corners in the devkit's order."""


def devkit(root: Path, version: str) -> Any:
    from nuscenes.nuscenes import NuScenes as Devkit

    return Devkit(version, str(root), verbose=False)


@pytest.fixture(scope="module")
def real(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> NuScenes:
    return NuScenes(real_data / "nuscenes_real", MINI, tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def real_devkit(real_data: Path) -> Any:
    return devkit(real_data / "nuscenes_real", MINI)


@pytest.fixture(scope="module")
def streets(street_root: Path, tmp_path_factory: pytest.TempPathFactory) -> NuScenes:
    return NuScenes(street_root, "v1.0-streetset", tmp_path_factory.mktemp("index"), "streetset")


@pytest.fixture(scope="module")
def street_keyframes(streets: NuScenes) -> dict[str, Keyframe]:
    return {keyframe.scene: keyframe for keyframe in streets.select(Request()).keyframes}


@pytest.fixture(scope="module")
def street_devkit(street_root: Path) -> Any:
    return devkit(street_root, "v1.0-streetset")


@pytest.fixture(params=[f"scene-900{number}" for number in range(1, 9)])
def street_keyframe(request: pytest.FixtureRequest, street_keyframes: dict[str, Keyframe]) -> Keyframe:
    return street_keyframes[request.param]


def keyframes(source: NuScenes) -> Iterator[Keyframe]:
    """Records of every keyframe, whether or not it has its pictures."""
    for name in source.scenes:
        log = source._index.scene(name)
        for number in range(len(log.moments)):
            yield keyframe_of("nuscenes", (log, number), (no_map(), ()), lambda _: "0" * 64, 0)


def agrees(keyframe: Keyframe, oracle: Any) -> None:
    """Hold poses, boxes, velocities and projections of one keyframe against the devkit."""
    sample = oracle.get("sample", keyframe.token)
    ego = keyframe.ego_to_global.transform()
    if "LIDAR_TOP" in sample["data"]:
        pose = oracle.get("ego_pose", oracle.get("sample_data", sample["data"]["LIDAR_TOP"])["ego_pose_token"])
        assert np.allclose(ego.translation, pose["translation"], atol=1e-6)
    assert [note.token for note in keyframe.annotations] == sorted(sample["anns"])
    for note in keyframe.annotations:
        box = oracle.get_box(note.token)
        assert np.allclose(ego.apply(note.box.corners()), box.corners().T[DEVKIT_CORNERS], atol=5e-6)
        assert note.box.centre == pytest.approx(ego.inverse().apply(box.center[None])[0], abs=2e-6)
        velocity = oracle.box_velocity(note.token)
        if np.isnan(velocity).any():
            assert note.velocity is None
        else:
            assert note.velocity == pytest.approx(
                (ego.rotation.T @ velocity)[:2], abs=1e-6 + 1e-6 * np.hypot(*velocity[:2])
            )
    for camera in keyframe.cameras:
        if camera.frame_offset == 0:
            projects_alike(keyframe, camera, oracle, sample["data"][camera.sensor_id])


def projects_alike(keyframe: Keyframe, camera: Any, oracle: Any, token: str) -> None:
    from nuscenes.utils.geometry_utils import BoxVisibility, view_points

    _, boxes, intrinsics = oracle.get_sample_data(token, box_vis_level=BoxVisibility.NONE)
    ours = {note.token: note.box for note in keyframe.annotations}
    for box in boxes:
        if box.center[2] < 5:
            continue
        expected = view_points(box.center[:, None], intrinsics, normalize=True)[:2, 0]
        pixels, depth = pinhole(keyframe, camera).project(np.array([ours[box.token].centre]))
        assert depth[0] == pytest.approx(box.center[2], abs=5e-6)
        assert np.allclose(pixels[0], expected, atol=2e-3 if abs(expected).max() < 5000 else 1)


def test_every_real_keyframe_agrees_with_the_devkit(real: NuScenes, real_devkit: Any) -> None:
    count = 0
    for keyframe in keyframes(real):
        agrees(keyframe, real_devkit)
        count += 1
    assert count == 82


def fields_agree(source: NuScenes, oracle: Any) -> None:
    """Hold every field that an index keeps against the devkit's tables, exactly."""
    assert source.scenes == tuple(sorted(scene["name"] for scene in oracle.scene))
    for scene in oracle.scene:
        log = source._index.scene(scene["name"])
        record = oracle.get("log", scene["log_token"])
        mask = oracle.get("map", record["map_token"])["filename"]
        assert (log.description, log.location, log.mask) == (scene["description"], record["location"], mask)
        tokens = [scene["first_sample_token"]]
        while following := oracle.get("sample", tokens[-1])["next"]:
            tokens.append(following)
        assert [moment.token for moment in log.moments] == tokens
        records = [record for record in oracle.sample_data if record["sample_token"] in tokens]
        poses = [oracle.get("ego_pose", record["ego_pose_token"]) for record in records]
        assert [pose_fields(pose) for pose in log.poses] == sorted(
            {pose["timestamp"]: plain(pose) for pose in poses}.values()
        )
        for moment in log.moments:
            moment_agrees(moment, oracle)
            assert source._index.owner(moment.token) == log.name


def pose_fields(pose: Posed) -> tuple[Any, ...]:
    return pose.timestamp_us, list(pose.translation), list(pose.rotation)


def plain(pose: dict[str, Any]) -> tuple[Any, ...]:
    return pose["timestamp"], pose["translation"], pose["rotation"]


def moment_agrees(moment: Moment, oracle: Any) -> None:
    sample = oracle.get("sample", moment.token)
    records = {channel: oracle.get("sample_data", token) for channel, token in sample["data"].items()}
    assert moment.timestamp_us == sample["timestamp"]
    lidar = records.get("LIDAR_TOP")
    assert (moment.lidar is None) == (lidar is None)
    if moment.lidar is not None and lidar is not None:
        assert pose_fields(moment.lidar) == plain(oracle.get("ego_pose", lidar["ego_pose_token"]))
    cameras = sorted(channel for channel, record in records.items() if record["sensor_modality"] == "camera")
    assert [reading.channel for reading in moment.readings] == cameras
    for reading in moment.readings:
        record = records[reading.channel]
        rig = oracle.get("calibrated_sensor", record["calibrated_sensor_token"])
        for name in ("filename", "width", "height"):
            assert getattr(reading, name) == record[name]
        assert reading.timestamp_us == record["timestamp"]
        assert pose_fields(reading.pose) == plain(oracle.get("ego_pose", record["ego_pose_token"]))
        assert [list(row) for row in reading.intrinsics] == rig["camera_intrinsic"]
        assert [list(reading.translation), list(reading.rotation)] == [rig["translation"], rig["rotation"]]
    assert [note.token for note in moment.notes] == sorted(sample["anns"])
    for note in moment.notes:
        record = oracle.get("sample_annotation", note.token)
        names = [oracle.get("attribute", token)["name"] for token in record["attribute_tokens"]]
        assert (note.instance, note.category) == (record["instance_token"], record["category_name"])
        assert (list(note.attributes), note.visibility) == (names, record["visibility_token"])
        for name in ("translation", "size", "rotation"):
            assert list(getattr(note, name)) == record[name]


def test_every_field_of_the_real_log_is_the_devkits(real: NuScenes, real_devkit: Any) -> None:
    fields_agree(real, real_devkit)


def test_every_field_of_the_streets_is_the_devkits(streets: NuScenes, street_devkit: Any) -> None:
    fields_agree(streets, street_devkit)


def test_real_root_selects_the_one_keyframe_with_pictures(real: NuScenes) -> None:
    selection = real.select(Request())
    (keyframe,) = selection.keyframes
    assert (keyframe.scene, keyframe.split, keyframe.location) == ("scene-0061", "train", "singapore-onenorth")
    assert [skipped.id for skipped in selection.skipped] == ["nuscenes/scene-0103", "nuscenes/scene-0916"]
    assert [skipped.detail[:8] for skipped in selection.skipped] == ["40 of 40", "41 of 41"]
    assert keyframe.map.source == "mask"
    assert all(shapely.Polygon(a.exterior, a.holes).is_valid for a in keyframe.map.drivable)
    ego = shapely.Point(0, 0)
    assert any(shapely.Polygon(a.exterior, a.holes).contains(ego) for a in keyframe.map.drivable)
    for camera in keyframe.cameras:
        assert len(real.picture(keyframe, camera)) > 50_000


def test_real_single_sample_has_its_speed_from_the_camera_poses(real: NuScenes) -> None:
    """0.3986 m in 43.107 ms between CAM_FRONT_LEFT's pose and the LiDAR's: 9.246 m/s."""
    motion = real.select(Request(scenes=("scene-0061",))).keyframes[0].motion
    assert (motion.source, motion.history, motion.future) == ("sensor_poses", (), ())
    assert motion.speed == pytest.approx(0.39856 / 0.043107, abs=0.05)


def test_real_speeds_from_can_bus_and_from_neighbours_agree(real: NuScenes, real_data: Path) -> None:
    log = real._index.scene("scene-0103")
    can = read_can_poses(real_data / "nuscenes_real" / "can_bus" / "scene-0103_pose.json")
    for number in range(1, 38):
        ego = ego_to_global(log, number)
        bus, near = motion_of(log, number, ego, can, 4), motion_of(log, number, ego, (), 4)
        assert (bus.source, near.source) == ("can", "samples")
        assert bus.speed == pytest.approx(near.speed, abs=0.25)
        for ours, theirs in zip(bus.future, near.future, strict=True):
            assert (ours.t, ours.x, ours.y) == pytest.approx((theirs.t, theirs.x, theirs.y), abs=0.1)


def test_real_path_runs_through_the_recorded_poses(real: NuScenes, real_devkit: Any) -> None:
    log = real._index.scene("scene-0916")
    motion = motion_of(log, 10, ego_to_global(log, 10), (), 4)
    for point, moment in zip(motion.future[:-1], log.moments[10:], strict=False):
        token = real_devkit.get("sample", moment.token)["data"]["LIDAR_TOP"]
        place = real_devkit.get("ego_pose", real_devkit.get("sample_data", token)["ego_pose_token"])["translation"]
        expected = ego_to_global(log, 10).inverse().apply(np.array([place]))[0]
        assert (point.x, point.y) == pytest.approx(expected[:2], abs=1e-6)
    assert motion.future[-1].t == 3.0


def test_real_mask_patch_agrees_with_the_devkits_mask(
    real: NuScenes, real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nuscenes.utils.map_mask import MapMask
    from PIL import Image

    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    log = real._index.scene("scene-0061")
    path = real_data / "nuscenes_real" / log.mask
    ego = ego_to_global(log, 0)
    patch = mask_patch(mask_tiles(path, "0" * 64, tmp_path), Patch.around(ego))
    drivable = shapely.union_all([shapely.Polygon(area.exterior, area.holes) for area in patch.drivable])
    points = np.random.default_rng(0).uniform(-69, 69, (4000, 2))
    x, y, _ = ego.translation
    turn = np.array([[np.cos(ego.yaw), -np.sin(ego.yaw)], [np.sin(ego.yaw), np.cos(ego.yaw)]])
    world = points @ turn.T + (x, y)
    expected = MapMask(str(path)).is_on_mask(world[:, 0], world[:, 1])
    clear = np.asarray(shapely.distance(drivable.boundary, shapely.points(points))) > 0.75
    ours = np.asarray(shapely.contains_xy(drivable, points[:, 0], points[:, 1]))
    assert clear.mean() > 0.8
    assert (ours == expected)[clear].mean() > 0.999


def test_splits_are_the_devkits() -> None:
    from nuscenes.utils import splits

    theirs = {name: split for split in ("train", "val", "test") for name in getattr(splits, split)}
    assert official_splits() == theirs


def test_street_keyframe_agrees_with_the_devkit(street_devkit: Any, street_keyframe: Keyframe) -> None:
    agrees(street_keyframe, street_devkit)
    assert street_keyframe.id.startswith("streetset/")
    assert street_keyframe.map.source == "expansion"


def test_streets_have_one_keyframe_each_and_no_pictures_of_its_history(street_keyframes: dict[str, Keyframe]) -> None:
    assert len(street_keyframes) == 8
    for keyframe in street_keyframes.values():
        assert len(keyframe.cameras) == 6 * 5
        assert all((camera.sha256 is not None) == (camera.frame_offset == 0) for camera in keyframe.cameras)
        assert keyframe.motion.source == "can"


def test_street_lanes_agree_with_the_devkits_map(street_root: Path, street_keyframe: Keyframe) -> None:
    from nuscenes.map_expansion.map_api import NuScenesMap

    oracle = NuScenesMap(str(street_root), street_keyframe.location)
    patch, ego = street_keyframe.map, Patch.around(street_keyframe.ego_to_global.transform())
    lines = oracle.discretize_lanes([lane.token for lane in patch.lanes], 0.05)
    assert patch.lanes
    for lane in patch.lanes:
        theirs = shapely.LineString(ego.to_ego(np.array(lines[lane.token])[:, :2]))
        assert shapely.distance(theirs, shapely.points(np.array(lane.centreline))).max() < 1e-3
        assert lane.successors == tuple(sorted(oracle.get_outgoing_lane_ids(lane.token)))
    layers_agree(oracle, street_keyframe, ego)


def test_records_around_the_ego_vehicle_are_those_of_the_devkits_map(
    street_root: Path, streets: NuScenes, street_keyframes: dict[str, Keyframe]
) -> None:
    from nuscenes.map_expansion.map_api import NuScenesMap

    found = 0
    for keyframe in street_keyframes.values():
        oracle, ours = NuScenesMap(str(street_root), keyframe.location), streets._expansion(keyframe.location)
        assert ours is not None
        x, y, _ = keyframe.ego_to_global.translation
        theirs = oracle.get_records_in_radius(x, y, 50, list(LAYERS))
        is_junction = {row["token"]: row["is_intersection"] for row in oracle.road_segment}
        theirs["road_segment"] = [token for token in theirs["road_segment"] if is_junction[token]]
        for layer, numbers in ours.touching(shapely.box(x - 50, y - 50, x + 50, y + 50)).items():
            assert sorted(set(ours.tokens(numbers))) == sorted(theirs[layer]), (keyframe.scene, layer)
            found += len(numbers)
    assert found > 100


def layers_agree(oracle: Any, keyframe: Keyframe, ego: Patch) -> None:
    """Compare what lies under random points, except within a centimetre of an outline."""
    shapes = {
        "drivable_area": keyframe.map.drivable,
        "ped_crossing": keyframe.map.crossings,
        "walkway": keyframe.map.walkways,
        "stop_line": tuple(line.area for line in keyframe.map.stop_lines),
        "lane": tuple(lane.area for lane in keyframe.map.lanes if not lane.is_connector),
    }
    points = np.random.default_rng(1).uniform(-12, 12, (150, 2)) * (5.5, 1)
    turn = np.array([[np.cos(ego.yaw), -np.sin(ego.yaw)], [np.sin(ego.yaw), np.cos(ego.yaw)]])
    hits = 0
    for point, world in zip(points, points @ turn.T + (ego.x, ego.y), strict=True):
        there = oracle.layers_on_point(*world)
        for layer, areas in shapes.items():
            outline = shapely.union_all([shapely.Polygon(area.exterior, area.holes) for area in areas])
            if areas and outline.boundary.distance(shapely.Point(point)) < 0.01:
                continue
            assert outline.contains(shapely.Point(point)) == bool(there[layer]), (layer, point)
            hits += bool(there[layer])
    assert hits > (50 if keyframe.map.walkways else 40)
