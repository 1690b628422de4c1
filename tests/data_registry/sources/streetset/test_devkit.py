"""The official devkit reads the logs: tables, map, mask, CAN bus, and boxes that lie where the pictures show things."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from PIL import Image

from data_registry.geometry import EGO_FRONT_M
from data_registry.scene3d.rasteriser import render
from data_registry.sources.streetset import VERSION
from data_registry.sources.streetset.map_records import plan_in_map
from data_registry.sources.streetset.maps import CANVAS, CITIES, paved
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


def place(scene: Scene, x: float, y: float) -> tuple[float, float]:
    east, north = plan_in_map(scene, np.array([(x, y)]))[0].tolist()
    return east, north


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


def test_annotations_stand_on_the_slope_in_the_ego_frame(nusc) -> None:
    scene = scene_named("scene-9006")
    sample = keyframe_of(nusc, scene)
    lidar = nusc.get("sample_data", sample["data"]["LIDAR_TOP"])
    ego = nusc.get("ego_pose", lidar["ego_pose_token"])
    from pyquaternion import Quaternion

    turn = Quaternion(ego["rotation"])
    ahead = turn.rotate(np.array([1.0, 0.0, 0.0]))
    assert ahead[2] / np.hypot(ahead[0], ahead[1]) == pytest.approx(0.06, abs=1e-6)
    assert ego["translation"][2] == pytest.approx(0.06 * (100.0 - 52.0 - 12.0))
    checked = 0
    for annotation in sample["anns"]:
        box = nusc.get_box(annotation)
        box.translate(-np.array(ego["translation"]))
        box.rotate(turn.inverse)
        if -20 < box.center[0] < 60:
            foot = box.center[2] - box.wlh[2] / 2
            assert foot == pytest.approx(0.0, abs=0.14)  # pavement 0.12 m, upright people on a tilted plane
            checked += 1
    assert checked >= 15


@each_scene
def test_the_map_knows_the_egos_lane_and_nothing_outside(nusc_map, scene: Scene) -> None:
    for seconds in (-2.0, 0.0, 3.0):
        x, y, _ = scene.ego.pose(seconds)
        layers = nusc_map.layers_on_point(*place(scene, x, y))
        on_way = nusc_map.get_closest_lane(*place(scene, x, y), radius=1.5)
        assert layers["drivable_area"]
        assert layers["road_segment"]
        assert not layers["walkway"]
        assert on_way
    ego = scene.ego.pose(0.0)
    far = nusc_map.layers_on_point(*place(scene, ego[0], ego[1] + 45.0 if scene.name < "scene-9003" else -90.0))
    assert not any(far.values())


@each_scene
def test_lane_paths_follow_the_lanes_and_lead_into_each_other(nusc_map, scene: Scene) -> None:
    x, y, heading = scene.ego.pose(0.0)
    here = nusc_map.get_closest_lane(*place(scene, x, y), radius=1.5)
    path = np.array(nusc_map.discretize_lanes([here], 0.5)[here])
    gap = np.hypot(*(path[:, :2] - place(scene, x, y)).T)
    assert gap.min() < 0.3
    turned = path[gap.argmin(), 2] - (heading + scene.at[2])
    assert np.cos(turned) > np.cos(0.05)
    following = [path]
    for _ in range(4):
        ahead = nusc_map.get_outgoing_lane_ids(here)
        if not ahead:
            break
        for other in ahead:
            first = np.array(nusc_map.discretize_lanes([other], 0.5)[other])[0]
            assert np.allclose(first[:2], following[-1][-1, :2], atol=0.02)
            assert np.cos(first[2] - following[-1][-1, 2]) > 0.9999
            assert here in nusc_map.get_incoming_lane_ids(other)
        here = ahead[0]
        following.append(np.array(nusc_map.discretize_lanes([here], 0.5)[here]))


def test_every_lane_and_connector_has_a_path_within_its_area(nusc_map) -> None:
    for layer in ("lane", "lane_connector"):
        for record in getattr(nusc_map, layer):
            shape = nusc_map.extract_polygon(record["polygon_token"])
            assert shape.is_valid
            points = nusc_map.discretize_lanes([record["token"]], 1.0)[record["token"]]
            assert len(points) >= 2
            assert shape.buffer(0.1).covers(shapely.MultiPoint([point[:2] for point in points]))


def test_next_roads_share_nodes(nusc_map) -> None:
    scene = scene_named("scene-9001")
    mine = nusc_map.get_closest_lane(*place(scene, 100, 0.5))
    ahead = nusc_map.get_closest_lane(*place(scene, 130, 0.0))
    assert nusc_map.get_outgoing_lane_ids(mine) == [ahead]
    assert nusc_map.get_next_roads(*place(scene, 100, 0))["lane"] == [ahead]


def test_stop_lines_have_their_kinds_and_cues(nusc_map) -> None:
    kinds = Counter(record["stop_line_type"] for record in nusc_map.stop_line)
    assert kinds == {"PED_CROSSING": 6, "TRAFFIC_LIGHT": 4, "STOP_SIGN": 1, "YIELD": 1, "TURN_STOP": 1}
    for record in nusc_map.stop_line:
        wanted = {"PED_CROSSING": "ped_crossing_tokens", "TURN_STOP": "ped_crossing_tokens"}
        wanted["TRAFFIC_LIGHT"] = "traffic_light_tokens"
        named = record[wanted[record["stop_line_type"]]] if record["stop_line_type"] in wanted else []
        assert [cue["token"] for cue in record["cue"]] == named
        assert bool(named) == (record["stop_line_type"] in wanted)
        assert nusc_map.get("road_block", record["road_block_token"])


def test_traffic_lights_stand_at_the_signalised_junction_and_face_the_traffic(nusc_map) -> None:
    scene = scene_named("scene-9003")
    assert len(nusc_map.traffic_light) == len(scene.signals) == 4
    record = nusc_map.traffic_light[0]
    line = nusc_map.extract_line(record["line_token"])
    (x0, y0), (x1, y1) = line.coords[0], line.coords[-1]
    assert np.allclose((x0, y0), place(scene, scene.signals[0].x, scene.signals[0].y), atol=1e-3)
    assert np.cos(np.arctan2(y1 - y0, x1 - x0) - (np.pi + scene.at[2])) > 0.999
    assert {item["color"] for item in record["items"]} == {"RED", "YELLOW", "GREEN"}


def test_junctions_are_intersections_and_drivable(nusc_map) -> None:
    junctions = [record for record in nusc_map.road_segment if record["is_intersection"]]
    assert len(junctions) == sum(len(scene.junctions) for scene in SCENES) == 2
    for scene in (scene_named("scene-9003"), scene_named("scene-9004")):
        middle = np.mean(np.array(scene.junctions[0].outline), axis=0)
        layers = nusc_map.layers_on_point(*place(scene, *middle))
        assert layers["drivable_area"]
        assert nusc_map.get("road_segment", layers["road_segment"])["is_intersection"]
        found = nusc_map.get_records_in_radius(*place(scene, *middle), 12, ["lane_connector"])["lane_connector"]
        assert len(found) == len(scene.junctions[0].connectors) == 12


def test_drivable_ground_has_no_seams_and_no_islands_but_the_median(nusc_map) -> None:
    areas = [
        shapely.union_all([nusc_map.extract_polygon(own) for own in record["polygon_tokens"]])
        for record in nusc_map.drivable_area
    ]
    assert len(areas) == 8
    pieces = [len(shapely.get_parts(area)) for area in areas]
    assert pieces == [2 if road.median else 1 for road in (scene.roads[0] for scene in SCENES)]
    assert not any(part.interiors for area in areas for part in shapely.get_parts(area))


def test_dividers_crossings_and_walkways_are_there(nusc_map) -> None:
    assert len(nusc_map.ped_crossing) == sum(len(scene.crossings) for scene in SCENES)
    assert len(nusc_map.lane_divider) == 4  # two lanes each way on the avenue, in two parts
    assert len(nusc_map.road_divider) >= 16
    harbour = scene_named("scene-9001")
    assert nusc_map.layers_on_point(*place(harbour, 100, -5))["walkway"]
    assert nusc_map.layers_on_point(*place(harbour, 173, 0))["ped_crossing"]
    assert nusc_map.layers_on_point(*place(harbour, 170.6, 0))["stop_line"]


def test_the_map_mask_of_the_expansion_shows_the_road(nusc_map) -> None:
    x, y = place(scene_named("scene-9001"), 110, 0.625)
    mask = nusc_map.get_map_mask((x, y, 40, 40), np.degrees(0.25), ["drivable_area", "walkway"], (400, 400))
    assert mask[0].mean() == pytest.approx(9.25 / 40, abs=0.01)
    assert mask[1].mean() == pytest.approx(6.0 / 40, abs=0.01)
    assert mask[0, 200, 200] == 1


def test_the_mask_raster_is_set_on_the_roads_and_clear_beside_them(nusc) -> None:
    mask = nusc.map[0]["mask"]
    raster = mask.mask()
    assert raster.shape == (CANVAS[1] * 10, CANVAS[0] * 10)
    assert set(np.unique(raster)) == {0, 255}
    for scene in SCENES:
        inside = np.array([place(scene, *scene.ego.pose(t)[:2]) for t in (-2.0, 0.0, 3.0)])
        assert mask.is_on_mask(inside[:, 0], inside[:, 1]).all()
    harbour = scene_named("scene-9001")
    outside = np.array([place(harbour, s, t) for s in (5, 100, 230) for t in (-8, 9)] + [place(harbour, 250, 0)])
    assert not mask.is_on_mask(outside[:, 0], outside[:, 1]).any()


def test_scenes_lie_apart_on_the_canvas() -> None:
    outlines = [
        shapely.union_all([shapely.Polygon(plan_in_map(scene, area)) for area in paved(scene)]) for scene in SCENES
    ]
    assert shapely.box(0, 0, *CANVAS).covers(shapely.union_all(outlines))
    assert min(a.distance(b) for a, b in itertools.combinations(outlines, 2)) > 40.0
    egos = [place(scene, *scene.ego.pose(0.0)[:2]) for scene in SCENES]
    assert min(np.hypot(a[0] - b[0], a[1] - b[1]) for a, b in itertools.combinations(egos, 2)) > 150.0


@pytest.mark.parametrize("city", CITIES)
def test_all_four_cities_load(street_root: Path, city: str, nusc_map) -> None:
    from nuscenes.map_expansion.map_api import NuScenesMap

    if city != LOCATION:
        assert len(NuScenesMap(str(street_root), city).lane) == 0
    assert nusc_map.lane


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
    assert (np.abs(weight[:, 0]) > 0.1).all() == (scene.name == "scene-9006")


def test_custom_splits_name_the_scenes(nusc) -> None:
    from nuscenes.utils.splits import get_scenes_of_split

    assert get_scenes_of_split("streetset_val", nusc) == [scene.name for scene in SCENES]
