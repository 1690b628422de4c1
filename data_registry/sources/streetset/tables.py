"""The thirteen nuScenes tables of the one scene, as lists of records (nuScenes v1.0 schema).

Every reading has its own ego pose at its own time, with the reading's token, as in real logs. Tokens are digests of
names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from data_registry.geometry import Transform
from data_registry.identity import METRE_STEP, RADIAN_STEP, quantise, sha256
from data_registry.sources.streetset.layout import (
    ACTORS,
    CAMERAS,
    DATE,
    GLOBAL_FROM_STREET,
    HEIGHT,
    KEY_INDEX,
    LIDAR_ROTATION,
    LIDAR_TRANSLATION,
    LOCATION,
    LOGFILE,
    SAMPLES,
    SCENE,
    TOWN,
    VEHICLE,
    WIDTH,
    Actor,
    camera_us,
    ego_in_street,
    sample_us,
    seconds,
    unit,
)
from data_registry.sources.streetset.visibility import Sighting, sightings

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
DESCRIPTION: Final = (
    f"Synthetic log of {TOWN}, straight two-way street, parked cars right, oncoming truck, peds on pavement, no hazards"
)
MAP_TOKEN_NAME: Final = "map"


def token(*names: str | int) -> str:
    """Return the 32-digit token of a named thing."""
    return sha256("/".join(("streetset", *map(str, names))).encode())[:32]


def picture_path(channel: str, index: int) -> str:
    """Return where a camera's picture lies, relative to the root."""
    return f"samples/{channel}/{LOGFILE}__{channel}__{camera_us(channel, index)}.jpg"


def mask_path() -> str:
    """Return where the map mask lies, relative to the root: its stem is the map's token."""
    return f"maps/{token(MAP_TOKEN_NAME)}.png"


def make_tables() -> Tables:
    """Return all tables by name, records in the order of time."""
    seen = sightings()
    return {
        "category": _categories(),
        "attribute": [{"token": token("attribute", name), "name": name, "description": name} for name in ATTRIBUTES],
        "visibility": _visibilities(),
        "instance": [_instance(actor) for actor in ACTORS],
        "sensor": _sensors(),
        "calibrated_sensor": _calibrations(),
        "ego_pose": [_ego_pose(channel, index) for channel, index in _readings()],
        "log": _log(),
        "scene": _scene(),
        "sample": [_sample(index) for index in range(SAMPLES)],
        "sample_data": [_sample_data(channel, index) for channel, index in _readings()],
        "sample_annotation": [
            _annotation(actor, index, seen[index][number])
            for number, actor in enumerate(ACTORS)
            for index in range(SAMPLES)
        ],
        "map": _map(),
    }


def split_file() -> dict[str, list[str]]:
    """Return the custom splits: the one scene is for validation."""
    return {"streetset": [SCENE], "streetset_train": [], "streetset_val": [SCENE], "streetset_test": []}


def _readings() -> Iterator[tuple[str, int]]:
    for channel in (*CAMERAS, LIDAR):
        for index in range(SAMPLES):
            yield channel, index


def _time(channel: str, index: int) -> int:
    return sample_us(index) if channel == LIDAR else camera_us(channel, index)


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


def _ego_pose(channel: str, index: int) -> Record:
    time = _time(channel, index)
    place, rotation = _pose(GLOBAL_FROM_STREET @ ego_in_street(time))
    return {"token": token("reading", channel, index), "timestamp": time, "translation": place, "rotation": rotation}


def _linked(kind: str, names: tuple[str, ...], index: int) -> Record:
    """Return the prev and next links of a chain with one entry a sample."""
    return {
        "prev": token(kind, *names, index - 1) if index else "",
        "next": token(kind, *names, index + 1) if index < SAMPLES - 1 else "",
    }


def _sample(index: int) -> Record:
    links = _linked("sample", (), index)
    own = {"token": token("sample", index), "timestamp": sample_us(index), "scene_token": token("scene", SCENE)}
    return {**own, **links}


def _sample_data(channel: str, index: int) -> Record:
    lidar = channel == LIDAR
    time = _time(channel, index)
    return {
        "token": token("reading", channel, index),
        "sample_token": token("sample", index),
        "ego_pose_token": token("reading", channel, index),
        "calibrated_sensor_token": token("calibration", channel),
        "timestamp": time,
        "fileformat": "pcd" if lidar else "jpg",
        "is_key_frame": True,
        "height": 0 if lidar else HEIGHT,
        "width": 0 if lidar else WIDTH,
        "filename": f"samples/{LIDAR}/{LOGFILE}__{LIDAR}__{time}.pcd.bin" if lidar else picture_path(channel, index),
        **_linked("reading", (channel,), index),
    }


def _instance(actor: Actor) -> Record:
    return {
        "token": token("instance", actor.name),
        "category_token": token("category", actor.category),
        "nbr_annotations": SAMPLES,
        "first_annotation_token": token("annotation", actor.name, 0),
        "last_annotation_token": token("annotation", actor.name, SAMPLES - 1),
    }


def _annotation(actor: Actor, index: int, sighting: Sighting) -> Record:
    length, width, height = actor.size
    pose = GLOBAL_FROM_STREET @ actor.pose(seconds(sample_us(index)))
    place, rotation = _pose(pose)
    return {
        "token": token("annotation", actor.name, index),
        "sample_token": token("sample", index),
        "instance_token": token("instance", actor.name),
        "visibility_token": sighting.level,
        "attribute_tokens": [token("attribute", actor.attribute)],
        "translation": [place[0], place[1], quantise(place[2] + height / 2, METRE_STEP)],
        "size": [width, length, height],
        "rotation": rotation,
        **_linked("annotation", (actor.name,), index),
        "num_lidar_pts": sighting.lidar_points,
        "num_radar_pts": 0,
    }


def _log() -> list[Record]:
    own = {"token": token("log"), "logfile": LOGFILE, "vehicle": VEHICLE, "date_captured": DATE, "location": LOCATION}
    return [own]


def _scene() -> list[Record]:
    return [
        {
            "token": token("scene", SCENE),
            "log_token": token("log"),
            "nbr_samples": SAMPLES,
            "first_sample_token": token("sample", 0),
            "last_sample_token": token("sample", SAMPLES - 1),
            "name": SCENE,
            "description": DESCRIPTION,
        }
    ]


def _map() -> list[Record]:
    own = {"token": token(MAP_TOKEN_NAME), "log_tokens": [token("log")], "category": "semantic_prior"}
    return [{**own, "filename": mask_path()}]


def pictured() -> list[tuple[str, int]]:
    """Return the readings that have a picture: the keyframe's and its history's, by channel and sample index."""
    return [(channel, index) for index in range(KEY_INDEX + 1) for channel in CAMERAS]
