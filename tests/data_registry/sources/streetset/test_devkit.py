"""The official devkit reads the log: tables, map, mask, CAN bus, and boxes that lie where the pictures show things."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from data_registry.scene3d.rasteriser import render
from data_registry.sources.streetset import VERSION
from data_registry.sources.streetset.layout import (
    ACTORS,
    CAMERAS,
    KEY_INDEX,
    LOCATION,
    SCENE,
    STREET_LIGHT,
    street_camera,
)
from data_registry.sources.streetset.maps import CITIES, to_global
from data_registry.sources.streetset.pictures import actor_mesh
from data_registry.sources.streetset.tables import token

pytestmark = pytest.mark.timeout(600)  # the first test waits for the log to be written

# Measured on the real logs: camera time minus LiDAR time, ms.
REAL_DELAYS = {
    "CAM_FRONT_LEFT": (-45.4, -40.4),
    "CAM_FRONT": (-37.8, -33.8),
    "CAM_FRONT_RIGHT": (-29.7, -25.9),
    "CAM_BACK_RIGHT": (-22.1, -18.3),
    "CAM_BACK": (-12.6, -8.7),
    "CAM_BACK_LEFT": (-2.8, 1.2),
}


@pytest.fixture(scope="module")
def nusc(street_root: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the devkit's own imports
        from nuscenes.nuscenes import NuScenes
    return NuScenes(VERSION, str(street_root), verbose=False)


@pytest.fixture(scope="module")
def nusc_map(street_root: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nuscenes.map_expansion.map_api import NuScenesMap
    return NuScenesMap(str(street_root), LOCATION)


def place(s: float, t: float) -> tuple[float, float]:
    x, y = to_global(np.array([(s, t)]))[0].tolist()
    return x, y


def test_the_scene_has_two_seconds_of_history_and_three_of_future(nusc) -> None:
    assert [scene["name"] for scene in nusc.scene] == [SCENE]
    samples = [nusc.get("sample", nusc.scene[0]["first_sample_token"])]
    while samples[-1]["next"]:
        samples.append(nusc.get("sample", samples[-1]["next"]))
    assert len(samples) == nusc.scene[0]["nbr_samples"] == 11
    offsets = [(sample["timestamp"] - samples[KEY_INDEX]["timestamp"]) / 1e6 for sample in samples]
    assert offsets == [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert "ynthetic" in nusc.scene[0]["description"]


@pytest.mark.parametrize("channel", sorted(CAMERAS))
def test_cameras_fire_at_the_real_offsets_with_their_own_ego_poses(nusc, channel: str) -> None:
    low, high = REAL_DELAYS[channel]
    for sample in nusc.sample:
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
        assert np.linalg.norm(moved) == pytest.approx(6.0 * abs(seconds), abs=1e-5)


def test_pictures_are_there_for_the_keyframe_and_its_history_only(nusc, street_root: Path) -> None:
    for channel in CAMERAS:
        present = [
            (street_root / nusc.get("sample_data", s["data"][channel])["filename"]).is_file() for s in nusc.sample
        ]
        assert present == [True] * 5 + [False] * 6
    path = street_root / nusc.get("sample_data", nusc.sample[KEY_INDEX]["data"]["CAM_FRONT"])["filename"]
    with Image.open(path) as picture:
        assert (picture.size, picture.format, picture.mode) == ((1600, 900), "JPEG", "RGB")


def test_every_annotation_has_lidar_points_an_attribute_and_a_visibility(nusc) -> None:
    assert all(annotation["num_lidar_pts"] > 0 for annotation in nusc.sample_annotation)
    assert all(len(annotation["attribute_tokens"]) == 1 for annotation in nusc.sample_annotation)
    levels = {annotation["visibility_token"] for annotation in nusc.sample_annotation}
    assert levels == {"1", "2", "3", "4"}


def test_velocities_from_the_devkit_are_those_of_the_actors(nusc) -> None:
    for actor in ACTORS:
        speed = np.linalg.norm(nusc.box_velocity(token("annotation", actor.name, KEY_INDEX)))
        assert speed == pytest.approx(actor.speed, abs=1e-4)


@pytest.mark.parametrize("channel", sorted(CAMERAS))
def test_projected_boxes_agree_with_the_rendered_things(nusc, channel: str) -> None:
    sample = nusc.sample[KEY_INDEX]
    record = nusc.get("sample_data", sample["data"][channel])
    _, boxes, intrinsics = nusc.get_sample_data(record["token"])
    by_token = {box.token: box for box in boxes}
    camera = street_camera(channel, record["timestamp"])
    checked = 0
    for actor in ACTORS:
        box = by_token.get(token("annotation", actor.name, KEY_INDEX))
        if box is None or box.corners()[2].min() < 1.0:
            continue
        corners = intrinsics @ box.corners()
        pixels = (corners[:2] / corners[2]).T
        seen = render([actor_mesh(actor, record["timestamp"])], camera, STREET_LIGHT, samples=1).owner == 0
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        if low.min() < 0 or high[0] > 1599 or high[1] > 899:
            continue
        rows, columns = np.nonzero(seen)
        # the box is where the actor is at the sample's time, the picture where it was at the camera's
        slack = 1.0 + actor.speed * 0.045 * intrinsics[0, 0] / box.corners()[2].min()
        assert columns.min() >= low[0] - slack
        assert columns.max() <= high[0] + slack
        assert rows.min() >= low[1] - slack
        assert rows.max() <= high[1] + slack
        assert columns.max() - columns.min() > 0.6 * (high[0] - low[0]) - 2 * slack
        assert rows.max() - rows.min() > 0.85 * (high[1] - low[1]) - 2 * slack
        checked += 1
    if channel in {"CAM_FRONT", "CAM_BACK"}:
        assert checked >= 5


def test_the_way_ahead_is_free_at_the_keyframe_and_a_car_hides_the_kerb(nusc) -> None:
    lidar = nusc.get("sample_data", nusc.sample[KEY_INDEX]["data"]["LIDAR_TOP"])
    ego = nusc.get("ego_pose", lidar["ego_pose_token"])
    from pyquaternion import Quaternion

    bumper = 3.427
    parked: list[float] = []
    for annotation in nusc.sample[KEY_INDEX]["anns"]:
        box = nusc.get_box(annotation)
        box.translate(-np.array(ego["translation"]))
        box.rotate(Quaternion(ego["rotation"]).inverse)
        x, y = box.corners()[0], box.corners()[1]
        ahead = x.min() - bumper
        in_lane, opposite = y.max() > -1.75 and y.min() < 1.75, y.max() > 1.75 and y.min() < 5.25
        assert not (in_lane and x.max() > 0 and ahead < 40)
        assert not (opposite and x.max() > 0 and ahead < 30)
        if box.name == "vehicle.car" and -4 < y.mean() < -1.75 and ahead > 0:
            parked.append(ahead)
    assert min(parked) == pytest.approx(6.07, abs=0.1)


def test_the_map_knows_lane_walkway_and_nothing_outside(nusc_map) -> None:
    lane = nusc_map.layers_on_point(*place(100, 0))
    assert lane["lane"]
    assert lane["drivable_area"]
    assert not lane["walkway"]
    pavement = nusc_map.layers_on_point(*place(100, -5))
    assert pavement["walkway"]
    assert not pavement["drivable_area"]
    assert nusc_map.layers_on_point(*place(173, 0))["ped_crossing"]
    assert nusc_map.layers_on_point(*place(170.6, 0))["stop_line"]
    assert not any(nusc_map.layers_on_point(*place(100, 30)).values())


def test_lanes_run_with_the_traffic_and_follow_each_other(nusc_map) -> None:
    mine, opposite = nusc_map.get_closest_lane(*place(100, 0.5)), nusc_map.get_closest_lane(*place(100, 3.5))
    path = nusc_map.discretize_lanes([mine, opposite], 5)
    assert np.allclose([pose[2] for pose in path[mine]], 0.25)
    assert np.allclose(path[mine][0][:2], place(0, 0), atol=1e-4)
    assert np.allclose(path[mine][-1][:2], place(120, 0), atol=1e-2)
    assert np.allclose(np.mod([pose[2] for pose in path[opposite]], 2 * np.pi), 0.25 + np.pi)
    ahead = nusc_map.get_closest_lane(*place(130, 0.0))
    assert nusc_map.get_outgoing_lane_ids(mine) == [ahead]
    assert nusc_map.get_incoming_lane_ids(ahead) == [mine]
    assert nusc_map.get_next_roads(*place(100, 0))["lane"] == [ahead]


def test_the_map_mask_of_the_expansion_shows_the_road(nusc_map) -> None:
    x, y = place(110, 0.625)
    mask = nusc_map.get_map_mask((x, y, 40, 40), np.degrees(0.25), ["drivable_area", "walkway"], (400, 400))
    assert mask[0].mean() == pytest.approx(9.25 / 40, abs=0.01)
    assert mask[1].mean() == pytest.approx(6.0 / 40, abs=0.01)
    assert mask[0, 200, 200] == 1


def test_the_mask_raster_is_set_on_the_street_and_clear_beside_it(nusc) -> None:
    mask = nusc.map[0]["mask"]
    inside = np.array([place(s, t) for s in (5, 100, 230) for t in (-6.5, 0, 8.0)])
    outside = np.array([place(s, t) for s in (5, 100, 230) for t in (-8, 9)] + [place(250, 0), (-5.0, -5.0)])
    assert mask.is_on_mask(inside[:, 0], inside[:, 1]).all()
    assert not mask.is_on_mask(outside[:, 0], outside[:, 1]).any()
    assert set(np.unique(mask.mask())) == {0, 255}


@pytest.mark.parametrize("city", CITIES)
def test_all_four_cities_load(street_root: Path, city: str, nusc_map) -> None:
    from nuscenes.map_expansion.map_api import NuScenesMap

    assert (len(NuScenesMap(str(street_root), city).lane) > 0) == (city == LOCATION)


def test_the_can_bus_agrees_with_the_poses(nusc, street_root: Path) -> None:
    from nuscenes.can_bus.can_bus_api import NuScenesCanBus

    can = NuScenesCanBus(str(street_root))
    messages = can.get_messages(SCENE, "pose")
    assert np.median(np.diff([m["utime"] for m in messages])) == 20_000
    for sample in nusc.sample:
        near = min(messages, key=lambda m: abs(m["utime"] - sample["timestamp"]))
        lidar = nusc.get("sample_data", sample["data"]["LIDAR_TOP"])
        pose = nusc.get("ego_pose", lidar["ego_pose_token"])
        assert np.linalg.norm(np.subtract(near["pos"], pose["translation"])) < 6.0 * 0.011
        assert np.allclose(near["orientation"], pose["rotation"])
    assert list(messages[0]) == sorted(messages[0])
    assert can.get_messages(SCENE, "vehicle_monitor")[0]["vehicle_speed"] == pytest.approx(21.6)
    assert set(can.get_messages(SCENE, "meta")) == {*can.can_messages} - {"meta"} | {"pose"}
    route, pose = can.get_pose_and_route(SCENE, print_warnings=True)
    assert len(route) == len(pose) == len(messages)


def test_custom_splits_name_the_scene(nusc) -> None:
    from nuscenes.utils.splits import get_scenes_of_split

    assert get_scenes_of_split("streetset_val", nusc) == [SCENE]
