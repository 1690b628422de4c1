"""The thirteen nuScenes tables, as lists of records (nuScenes v1.0 schema), scene by scene in the order of time.

Every reading has its own ego pose at its own time, with the reading's token, as in real logs. Tokens are digests of
names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from data_registry.geometry import Transform
from data_registry.identity import METRE_STEP, RADIAN_STEP, quantise, sha256
from data_registry.sources.streetset.rig import (
    CAMERAS,
    HEIGHT,
    KEY_INDEX,
    LIDAR_ROTATION,
    LIDAR_TRANSLATION,
    SAMPLES,
    VEHICLE,
    WIDTH,
    camera_us,
    ego_in_scene,
    sample_us,
    seconds,
    unit,
)
from data_registry.sources.streetset.visibility import Sighting, sightings
from data_registry.sources.streetset.world import LOCATION, Actor, Scene

Record = dict[str, Any]
Tables = dict[str, list[Record]]

LIDAR: Final = "LIDAR_TOP"
CATEGORIES: Final = (
    *(f"human.pedestrian.{kind}" for kind in ("adult", "child", "wheelchair", "stroller", "personal_mobility")),
    *(f"human.pedestrian.{kind}" for kind in ("police_officer", "construction_worker")),
    "animal",
    *(
        f"vehicle.{kind}"
        for kind in ("car", "motorcycle", "bicycle", "bus.bendy", "bus.rigid", "truck", "construction")
    ),
    *("vehicle.emergency.ambulance", "vehicle.emergency.police", "vehicle.trailer"),
    *(f"movable_object.{kind}" for kind in ("barrier", "trafficcone", "pushable_pullable", "debris")),
    "static_object.bicycle_rack",
)
ATTRIBUTES: Final = (
    *("vehicle.moving", "vehicle.stopped", "vehicle.parked", "cycle.with_rider", "cycle.without_rider"),
    *("pedestrian.sitting_lying_down", "pedestrian.standing", "pedestrian.moving"),
)
VISIBILITIES: Final = {"1": (0, 40), "2": (40, 60), "3": (60, 80), "4": (80, 100)}
MAP_TOKEN_NAME: Final = "map"


def token(*names: str | int) -> str:
    """Return the 32-digit token of a named thing."""
    return sha256("/".join(("streetset", *map(str, names))).encode())[:32]


def picture_path(scene: Scene, channel: str, index: int) -> str:
    """Return where a camera's picture lies, relative to the root."""
    return f"samples/{channel}/{scene.logfile}__{channel}__{camera_us(scene, channel, index)}.jpg"


def mask_path() -> str:
    """Return where the map mask lies, relative to the root: its stem is the map's token."""
    return f"maps/{token(MAP_TOKEN_NAME)}.png"


def make_tables(scenes: Sequence[Scene]) -> Tables:
    """Return all tables by name; records of one scene follow those of the one before."""
    tables: Tables = {
        "category": _categories(),
        "attribute": [{"token": token("attribute", name), "name": name, "description": name} for name in ATTRIBUTES],
        "visibility": _visibilities(),
        "instance": [],
        "sensor": _sensors(),
        "calibrated_sensor": _calibrations(),
        **{name: [] for name in ("ego_pose", "log", "scene", "sample", "sample_data", "sample_annotation")},
        "map": [_map(scenes)],
    }
    for scene in scenes:
        for name, records in _scene_tables(scene).items():
            tables[name].extend(records)
    return tables


def _scene_tables(scene: Scene) -> Tables:
    seen = sightings(scene)
    return {
        "instance": [_instance(scene, actor) for actor in scene.actors],
        "ego_pose": [_ego_pose(scene, channel, index) for channel, index in _readings()],
        "log": [_log(scene)],
        "scene": [_scene(scene)],
        "sample": [_sample(scene, index) for index in range(SAMPLES)],
        "sample_data": [_sample_data(scene, channel, index) for channel, index in _readings()],
        "sample_annotation": [
            _annotation(scene, actor, index, seen[index][number])
            for number, actor in enumerate(scene.actors)
            for index in range(SAMPLES)
        ],
    }


def split_file(scenes: Sequence[Scene]) -> dict[str, list[str]]:
    """Return the custom splits: all scenes are for validation."""
    names = [scene.name for scene in scenes]
    return {"streetset": names, "streetset_train": [], "streetset_val": names, "streetset_test": []}


def _readings() -> Iterator[tuple[str, int]]:
    for channel in (*CAMERAS, LIDAR):
        for index in range(SAMPLES):
            yield channel, index


def _time(scene: Scene, channel: str, index: int) -> int:
    return sample_us(scene, index) if channel == LIDAR else camera_us(scene, channel, index)


def _pose(transform: Transform) -> tuple[list[float], list[float]]:
    place = [quantise(value, METRE_STEP) for value in transform.translation.tolist()]
    return place, [quantise(value, RADIAN_STEP) for value in transform.quaternion()]


def _categories() -> list[Record]:
    return [
        {"token": token("category", name), "name": name, "description": name.replace(".", " "), "index": index}
        for index, name in enumerate(CATEGORIES, start=1)
    ]


def _visibilities() -> list[Record]:
    text = "visibility of whole object is between {} and {}%"
    return [
        {"token": key, "level": f"v{low}-{high}", "description": text.format(low, high)}
        for key, (low, high) in VISIBILITIES.items()
    ]


def _sensors() -> list[Record]:
    kinds = {**dict.fromkeys(CAMERAS, "camera"), LIDAR: "lidar"}
    return [{"token": token("sensor", name), "channel": name, "modality": kind} for name, kind in kinds.items()]


def _calibrations() -> list[Record]:
    cameras = [
        {
            "token": token("calibration", name),
            "sensor_token": token("sensor", name),
            "translation": list(model.translation),
            "rotation": unit(model.rotation),
            "camera_intrinsic": [
                [model.focal, 0.0, model.centre[0]],
                [0.0, model.focal, model.centre[1]],
                [0.0, 0.0, 1.0],
            ],
        }
        for name, model in CAMERAS.items()
    ]
    lidar = {
        "token": token("calibration", LIDAR),
        "sensor_token": token("sensor", LIDAR),
        "translation": list(LIDAR_TRANSLATION),
        "rotation": unit(LIDAR_ROTATION),
        "camera_intrinsic": [],
    }
    return [*cameras, lidar]


def _ego_pose(scene: Scene, channel: str, index: int) -> Record:
    time = _time(scene, channel, index)
    place, rotation = _pose(scene.to_global @ ego_in_scene(scene, time))
    own = token("reading", scene.name, channel, index)
    return {"token": own, "timestamp": time, "translation": place, "rotation": rotation}


def _linked(kind: str, names: tuple[str, ...], index: int) -> Record:
    """Return the prev and next links of a chain with one entry a sample."""
    return {
        "prev": token(kind, *names, index - 1) if index else "",
        "next": token(kind, *names, index + 1) if index < SAMPLES - 1 else "",
    }


def _sample(scene: Scene, index: int) -> Record:
    return {
        "token": token("sample", scene.name, index),
        "timestamp": sample_us(scene, index),
        "scene_token": token("scene", scene.name),
        **_linked("sample", (scene.name,), index),
    }


def _sample_data(scene: Scene, channel: str, index: int) -> Record:
    lidar = channel == LIDAR
    time = _time(scene, channel, index)
    cloud = f"samples/{LIDAR}/{scene.logfile}__{LIDAR}__{time}.pcd.bin"
    return {
        "token": token("reading", scene.name, channel, index),
        "sample_token": token("sample", scene.name, index),
        "ego_pose_token": token("reading", scene.name, channel, index),
        "calibrated_sensor_token": token("calibration", channel),
        "timestamp": time,
        "fileformat": "pcd" if lidar else "jpg",
        "is_key_frame": True,
        "height": 0 if lidar else HEIGHT,
        "width": 0 if lidar else WIDTH,
        "filename": cloud if lidar else picture_path(scene, channel, index),
        **_linked("reading", (scene.name, channel), index),
    }


def _instance(scene: Scene, actor: Actor) -> Record:
    return {
        "token": token("instance", scene.name, actor.name),
        "category_token": token("category", actor.category),
        "nbr_annotations": SAMPLES,
        "first_annotation_token": token("annotation", scene.name, actor.name, 0),
        "last_annotation_token": token("annotation", scene.name, actor.name, SAMPLES - 1),
    }


def _annotation(scene: Scene, actor: Actor, index: int, sighting: Sighting) -> Record:
    length, width, height = actor.size
    pose = scene.pose(actor, seconds(scene, sample_us(scene, index)))
    centre = Transform(pose.rotation, pose.apply(np.array([[0.0, 0.0, height / 2]]))[0])
    place, rotation = _pose(scene.to_global @ centre)
    return {
        "token": token("annotation", scene.name, actor.name, index),
        "sample_token": token("sample", scene.name, index),
        "instance_token": token("instance", scene.name, actor.name),
        "visibility_token": sighting.level,
        "attribute_tokens": [token("attribute", actor.attribute)] if actor.attribute else [],
        "translation": place,
        "size": [width, length, height],
        "rotation": rotation,
        **_linked("annotation", (scene.name, actor.name), index),
        "num_lidar_pts": sighting.lidar_points,
        "num_radar_pts": 0,
    }


def _log(scene: Scene) -> Record:
    return {
        "token": token("log", scene.name),
        "logfile": scene.logfile,
        "vehicle": VEHICLE,
        "date_captured": scene.stamp[:10],
        "location": LOCATION,
    }


def _scene(scene: Scene) -> Record:
    return {
        "token": token("scene", scene.name),
        "log_token": token("log", scene.name),
        "nbr_samples": SAMPLES,
        "first_sample_token": token("sample", scene.name, 0),
        "last_sample_token": token("sample", scene.name, SAMPLES - 1),
        "name": scene.name,
        "description": scene.description,
    }


def _map(scenes: Sequence[Scene]) -> Record:
    logs = [token("log", scene.name) for scene in scenes]
    own = {"token": token(MAP_TOKEN_NAME), "log_tokens": logs, "category": "semantic_prior"}
    return {**own, "filename": mask_path()}


def pictured(history: bool) -> list[tuple[str, int]]:
    """Return the readings of a scene that have a picture, by channel and sample index.

    Those of the keyframe, and with `history` those of the samples before it too.
    """
    return [(channel, index) for index in range(0 if history else KEY_INDEX, KEY_INDEX + 1) for channel in CAMERAS]
