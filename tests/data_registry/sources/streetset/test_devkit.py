"""The official devkit reads the logs: tables, map, mask, CAN bus, and boxes that lie where the pictures show things."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from data_registry.geometry import EGO_FRONT_M
from data_registry.scene3d.rasteriser import render
from data_registry.sources.streetset.rig import CAMERAS, KEY_INDEX, sample_us, scene_camera
from data_registry.sources.streetset.scenery import actor_mesh, condition_of
from data_registry.sources.streetset.scenes import SCENES, scene_named
from data_registry.sources.streetset.tables import picture_path, pictured, token
from data_registry.sources.streetset.world import LOCATION, Scene

pytestmark = pytest.mark.timeout(600)  # the first test waits for the logs to be written
each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)

# Measured on the real logs: camera time minus LiDAR time, ms.
REAL_DELAYS = {
    "CAM_FRONT_LEFT": (-45.4, -40.4),
    "CAM_FRONT": (-37.8, -33.8),
    "CAM_FRONT_RIGHT": (-29.7, -25.9),
    "CAM_BACK_RIGHT": (-22.1, -18.3),
    "CAM_BACK": (-12.6, -8.7),
    "CAM_BACK_LEFT": (-2.8, 1.2),
}


def samples_of(nusc: Any, scene: Scene) -> list[Any]:
    """Return a scene's samples by following the devkit's links."""
    record = nusc.get("scene", token("scene", scene.name))
    samples = [nusc.get("sample", record["first_sample_token"])]
    while samples[-1]["next"]:
        samples.append(nusc.get("sample", samples[-1]["next"]))
    assert samples[-1]["token"] == record["last_sample_token"]
    assert len(samples) == record["nbr_samples"]
    return samples


def keyframe_of(nusc: Any, scene: Scene) -> Any:
    return nusc.get("sample", token("sample", scene.name, KEY_INDEX))


def test_eight_scenes_have_a_log_each_on_one_map(nusc) -> None:
    assert [scene["name"] for scene in nusc.scene] == [f"scene-900{k}" for k in range(1, 9)]
    logs = [nusc.get("log", scene["log_token"]) for scene in nusc.scene]
    assert len({log["token"] for log in logs}) == 8
    assert all("synthetic" in log["logfile"] and log["location"] == LOCATION for log in logs)
    assert all("ynthetic" in scene["description"] for scene in nusc.scene)
    assert len(nusc.map) == 1
    assert nusc.map[0]["log_tokens"] == [log["token"] for log in logs]


@each_scene
def test_a_scene_has_two_seconds_of_history_and_three_of_future(nusc, scene: Scene) -> None:
    samples = samples_of(nusc, scene)
    offsets = [(sample["timestamp"] - samples[KEY_INDEX]["timestamp"]) / 1e6 for sample in samples]
    assert offsets == [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]


def test_samples_stand_scene_by_scene_in_the_order_of_time(nusc) -> None:
    order = [sample["scene_token"] for sample in nusc.sample]
    assert [name for name, _ in itertools.groupby(order)] == [scene["token"] for scene in nusc.scene]
    times = [sample["timestamp"] for sample in nusc.sample]
    assert times == sorted(times)


@pytest.mark.parametrize("channel", sorted(CAMERAS))
def test_cameras_fire_at_the_real_offsets_with_their_own_ego_poses(nusc, channel: str) -> None:
    low, high = REAL_DELAYS[channel]
    for sample in nusc.sample:
        scene = scene_named(nusc.get("scene", sample["scene_token"])["name"])
        record = nusc.get("sample_data", sample["data"][channel])
        pose = nusc.get("ego_pose", record["ego_pose_token"])
        assert low <= (record["timestamp"] - sample["timestamp"]) / 1000 <= high
        assert pose["timestamp"] == record["timestamp"]
        lidar = nusc.get("sample_data", sample["data"]["LIDAR_TOP"])
        moved = np.subtract(
            nusc.get("ego_pose", lidar["ego_pose_token"])["translation"],
            nusc.get("ego_pose", record["ego_pose_token"])["translation"],
        )
        seconds = (sample["timestamp"] - record["timestamp"]) / 1e6
        assert np.hypot(*moved[:2]) == pytest.approx(scene.ego.speed * abs(seconds), abs=1e-4)


def test_pictures_are_there_for_the_keyframes_only(nusc, street_root: Path) -> None:
    files = {path.relative_to(street_root).as_posix() for path in street_root.rglob("*.jpg")}
    assert files == {picture_path(scene, *reading) for scene in SCENES for reading in pictured(history=False)}
    records = {data["filename"] for data in nusc.sample_data if data["fileformat"] == "jpg"}
    assert files < records
    assert len(records) == 11 * len(files)
    for path in sorted(files):
        with Image.open(street_root / path) as picture:
            assert (picture.size, picture.format, picture.mode) == ((1600, 900), "JPEG", "RGB")


@each_scene
def test_pictures_are_exposed_and_neither_black_nor_burnt(street_root: Path, scene: Scene) -> None:
    for channel in CAMERAS:
        with Image.open(street_root / picture_path(scene, channel, KEY_INDEX)) as picture:
            grey = np.asarray(picture.convert("L"))
        assert (10 if scene.conditions == "night" else 50) < grey.mean() < 210
        assert grey.std() > 8
        assert (grey == 255).mean() < 0.05


def test_every_annotation_has_lidar_points_and_fitting_attributes(nusc) -> None:
    assert all(annotation["num_lidar_pts"] > 0 for annotation in nusc.sample_annotation)
    for annotation in nusc.sample_annotation:
        bare = annotation["category_name"].startswith(("animal", "movable_object"))
        assert len(annotation["attribute_tokens"]) == (0 if bare else 1)
    levels = {annotation["visibility_token"] for annotation in nusc.sample_annotation}
    assert levels == {"1", "2", "3", "4"}


def test_the_scenes_together_show_many_categories(nusc) -> None:
    seen = Counter(instance["category_token"] for instance in nusc.instance)
    names = {nusc.get("category", own)["name"] for own in seen}
    assert names >= {
        *("vehicle.car", "vehicle.truck", "vehicle.bus.rigid", "vehicle.motorcycle", "vehicle.bicycle"),
        *("vehicle.construction", "movable_object.trafficcone", "movable_object.barrier", "animal"),
        *("human.pedestrian.adult", "human.pedestrian.child", "human.pedestrian.construction_worker"),
    }


@each_scene
def test_velocities_from_the_devkit_are_those_of_the_actors(nusc, scene: Scene) -> None:
    for actor in scene.actors:
        velocity = nusc.box_velocity(token("annotation", scene.name, actor.name, KEY_INDEX))
        # half a second before and after: a chord of a bend, a little shorter than its arc
        assert np.hypot(*velocity[:2]) == pytest.approx(actor.track.speed, abs=1e-4, rel=5e-3)


@each_scene
def test_projected_boxes_agree_with_the_rendered_things(nusc, scene: Scene) -> None:
    checked = Counter(channel for channel in CAMERAS for _ in range(_agreeing(nusc, scene, channel)))
    least = (5, 5) if scene.name == "scene-9001" else (4, 1)
    assert (checked["CAM_FRONT"], checked["CAM_BACK"]) >= least
    assert checked["CAM_BACK"] >= least[1]
    assert checked.total() >= 8


def _agreeing(nusc: Any, scene: Scene, channel: str) -> int:
    """Check every actor that is whole in a camera's picture, and return how many there were."""
    record = nusc.get("sample_data", keyframe_of(nusc, scene)["data"][channel])
    _, boxes, intrinsics = nusc.get_sample_data(record["token"])
    by_token = {box.token: box for box in boxes}
    camera = scene_camera(scene, channel, record["timestamp"])
    seconds = (record["timestamp"] - sample_us(scene, KEY_INDEX)) / 1e6
    light = condition_of(scene).light
    checked = 0
    for actor in scene.actors:
        box = by_token.get(token("annotation", scene.name, actor.name, KEY_INDEX))
        if box is None or box.corners()[2].min() < 1.0:
            continue
        corners = intrinsics @ box.corners()
        pixels = (corners[:2] / corners[2]).T
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        if low.min() < 0 or high[0] > 1599 or high[1] > 899 or (high - low).min() < 8:
            continue
        seen = render([actor_mesh(scene, actor, seconds)], camera, light, samples=1).owner == 0
        rows, columns = np.nonzero(seen)
        # the box is where the actor is at the sample's time, the picture where it was at the camera's
        slack = 1.0 + (actor.track.speed * 0.045 + 0.02) * intrinsics[0, 0] / box.corners()[2].min()
        assert columns.min() >= low[0] - slack
        assert columns.max() <= high[0] + slack
        assert rows.min() >= low[1] - slack
        assert rows.max() <= high[1] + slack
        assert columns.max() - columns.min() > 0.6 * (high[0] - low[0]) - 2 * slack
        assert rows.max() - rows.min() > 0.8 * (high[1] - low[1]) - 2 * slack
        checked += 1
    return checked


def test_the_way_ahead_is_free_on_the_harbour_street_and_a_car_hides_the_kerb(nusc) -> None:
    sample = keyframe_of(nusc, scene_named("scene-9001"))
    lidar = nusc.get("sample_data", sample["data"]["LIDAR_TOP"])
    ego = nusc.get("ego_pose", lidar["ego_pose_token"])
    from pyquaternion import Quaternion

    parked: list[float] = []
    for annotation in sample["anns"]:
        box = nusc.get_box(annotation)
        box.translate(-np.array(ego["translation"]))
        box.rotate(Quaternion(ego["rotation"]).inverse)
        x, y = box.corners()[0], box.corners()[1]
        ahead = x.min() - EGO_FRONT_M
        in_lane, opposite = y.max() > -1.75 and y.min() < 1.75, y.max() > 1.75 and y.min() < 5.25
        assert not (in_lane and x.max() > 0 and ahead < 40)
        assert not (opposite and x.max() > 0 and ahead < 30)
        if box.name == "vehicle.car" and -4 < y.mean() < -1.75 and ahead > 0:
            parked.append(ahead)
    assert min(parked) == pytest.approx(6.07, abs=0.1)


def test_annotations_stand_on_the_hill_ahead_in_the_ego_frame(nusc) -> None:
    scene = scene_named("scene-9006")
    sample = keyframe_of(nusc, scene)
    lidar = nusc.get("sample_data", sample["data"]["LIDAR_TOP"])
    ego = nusc.get("ego_pose", lidar["ego_pose_token"])
    from pyquaternion import Quaternion

    turn = Quaternion(ego["rotation"])
    assert turn.rotate(np.array([1.0, 0.0, 0.0]))[2] == pytest.approx(0.0, abs=1e-6)
    assert ego["translation"][2] == pytest.approx(0.0, abs=1e-6)
    level, rising = 0, 0
    for annotation in sample["anns"]:
        box = nusc.get_box(annotation)
        box.translate(-np.array(ego["translation"]))
        box.rotate(turn.inverse)
        middle = box.center - box.orientation.rotate(np.array([0.0, 0.0, box.wlh[2] / 2]))
        road = 0.06 * (middle[0] - 3.0) if middle[0] > 6.0 else 0.0  # 3.0: half the bend at the foot
        if middle[0] < 0.0 or middle[0] > 6.0:
            assert middle[2] - road == pytest.approx(0.06, abs=0.07)  # pavement 0.12 m
            level, rising = level + (road == 0.0), rising + (road > 0.0)
    assert level >= 4
    assert rising >= 12


@each_scene
def test_the_can_bus_agrees_with_the_poses(nusc, street_root: Path, scene: Scene) -> None:
    from nuscenes.can_bus.can_bus_api import NuScenesCanBus

    can = NuScenesCanBus(str(street_root))
    messages = can.get_messages(scene.name, "pose")
    assert np.median(np.diff([m["utime"] for m in messages])) == 20_000
    for sample in samples_of(nusc, scene):
        near = min(messages, key=lambda m: abs(m["utime"] - sample["timestamp"]))
        lidar = nusc.get("sample_data", sample["data"]["LIDAR_TOP"])
        pose = nusc.get("ego_pose", lidar["ego_pose_token"])
        assert np.linalg.norm(np.subtract(near["pos"], pose["translation"])) < 7.0 * 0.011
        assert np.allclose(near["orientation"], pose["rotation"], atol=0.006)
    assert list(messages[0]) == sorted(messages[0])
    speed = can.get_messages(scene.name, "vehicle_monitor")[0]["vehicle_speed"]
    assert speed == pytest.approx(3.6 * scene.ego.speed, abs=0.01)
    assert set(can.get_messages(scene.name, "meta")) == {*can.can_messages} - {"meta"} | {"pose"}
    route, pose = can.get_pose_and_route(scene.name, print_warnings=True)
    assert len(pose) == len(messages)
    gaps = [np.hypot(*(np.array(route)[:, :2] - here[:2]).T).min() for here in pose]
    assert max(gaps) < 0.3
    assert np.allclose(np.hypot(*np.diff(np.array(route)[:, :2], axis=0).T), 0.5, atol=0.01)


@each_scene
def test_yaw_rate_steering_and_acceleration_follow_the_way(street_root: Path, scene: Scene) -> None:
    from nuscenes.can_bus.can_bus_api import NuScenesCanBus

    can = NuScenesCanBus(str(street_root))
    messages = can.get_messages(scene.name, "pose")
    times = np.array([m["utime"] for m in messages]) / 1e6
    wxyz = np.array([m["orientation"] for m in messages])
    w, x, y, z = wxyz.T
    yaw = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    rates = np.array([m["rotation_rate"][2] for m in messages])
    turned = float(np.sum((rates[1:] + rates[:-1]) / 2 * np.diff(times)))
    assert turned == pytest.approx(yaw[-1] - yaw[0], abs=0.01)
    steering = np.array([m["value"] for m in can.get_messages(scene.name, "steeranglefeedback")])
    monitor = can.get_messages(scene.name, "vehicle_monitor")
    bends = scene.name in {"scene-9004", "scene-9008"}
    assert (np.abs(rates).max() > 0.05) == bends
    assert np.sign(steering[np.abs(steering).argmax()]) == (np.sign(rates[np.abs(rates).argmax()]) if bends else 0)
    assert {m["right_signal"] for m in monitor} == {int(scene.name == "scene-9004")}
    weight = np.array([m["accel"] for m in messages])
    lateral = scene.ego.speed * rates
    assert np.allclose(np.hypot(weight[:, 0], weight[:, 2]), 9.81, atol=1e-4)
    assert np.allclose(weight[:, 1], lateral, atol=1e-4)
    assert (np.abs(weight[:, 0]) > 0.1).any() == (scene.name == "scene-9006")


def test_custom_splits_name_the_scenes(nusc) -> None:
    from nuscenes.utils.splits import get_scenes_of_split

    assert get_scenes_of_split("streetset_val", nusc) == [scene.name for scene in SCENES]
