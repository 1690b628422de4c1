"""A tiny nuScenes root made of plain tables, for everything that can be wrong with one."""

import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

VERSION = "v1.0-tiny"
CHANNELS = ("CAM_BACK", "CAM_FRONT")
STEP_US = 500_000
START_US = 1_600_000_000_000_000
SPEED = 4.0
"""The ego vehicle drives along global +x from (100, 50)."""

Tables = dict[str, list[dict[str, Any]]]


def tiny_tables(keyframes: int = 5, scenes: tuple[str, ...] = ("scene-9101",)) -> Tables:
    """Sound tables: two cameras and a LiDAR, one pedestrian that walks along +y at 1 m/s."""
    tables: Tables = {
        "category": [{"token": "walker", "name": "human.pedestrian.adult"}],
        "attribute": [{"token": "moving", "name": "pedestrian.moving"}],
        "visibility": [{"token": level} for level in "1234"],
        "instance": [],
        "sensor": [{"token": c, "channel": c, "modality": "camera"} for c in CHANNELS]
        + [{"token": "LIDAR_TOP", "channel": "LIDAR_TOP", "modality": "lidar"}],
        "calibrated_sensor": [_calibration(channel) for channel in (*CHANNELS, "LIDAR_TOP")],
        "ego_pose": [],
        "log": [{"token": "log", "location": "town"}],
        "scene": [],
        "sample": [],
        "sample_data": [],
        "sample_annotation": [],
        "map": [{"token": "map", "log_tokens": ["log"], "filename": "maps/town.png"}],
    }
    for scene in scenes:
        _add_scene(tables, scene, keyframes)
    return tables


def _calibration(channel: str) -> dict[str, Any]:
    camera = channel != "LIDAR_TOP"
    return {
        "token": f"rig-{channel}",
        "sensor_token": channel,
        "translation": [1.5, 0.0, 1.5],
        "rotation": [0.5, -0.5, 0.5, -0.5],
        "camera_intrinsic": [[50.0, 0.0, 32.0], [0.0, 50.0, 18.0], [0.0, 0.0, 1.0]] if camera else [],
    }


def _add_scene(tables: Tables, scene: str, keyframes: int) -> None:
    tables["scene"].append({"token": scene, "log_token": "log", "name": scene, "description": "A street"})
    tables["instance"].append({"token": f"{scene}-walker", "category_token": "walker"})
    for number in range(keyframes):
        token, time = f"{scene}-{number}", START_US + number * STEP_US
        ends = {"prev": f"{scene}-{number - 1}" if number else ""}
        ends["next"] = f"{scene}-{number + 1}" if number + 1 < keyframes else ""
        tables["sample"].append({"token": token, "timestamp": time, "scene_token": scene, **ends})
        for channel, early in (("CAM_BACK", 10_000), ("CAM_FRONT", 40_000), ("LIDAR_TOP", 0)):
            _add_reading(tables, token, channel, time - early)
        tables["sample_annotation"].append(
            {
                "token": token,
                "sample_token": token,
                "instance_token": f"{scene}-walker",
                "visibility_token": "4",
                "attribute_tokens": ["moving"],
                "translation": [120.0, 50.0 + number * 0.5, 0.9],
                "size": [0.6, 0.7, 1.8],
                "rotation": [1.0, 0.0, 0.0, 0.0],
                **ends,
            }
        )


def _add_reading(tables: Tables, sample: str, channel: str, time: int) -> None:
    token = f"{sample}-{channel}"
    x = 100.0 + SPEED * (time - START_US) * 1e-6
    pose = {"token": token, "timestamp": time, "translation": [x, 50.0, 0.0], "rotation": [1.0, 0.0, 0.0, 0.0]}
    camera = channel != "LIDAR_TOP"
    tables["ego_pose"].append(pose)
    tables["sample_data"].append(
        {
            "token": token,
            "sample_token": sample,
            "ego_pose_token": token,
            "calibrated_sensor_token": f"rig-{channel}",
            "timestamp": time,
            "is_key_frame": True,
            "height": 36 if camera else 0,
            "width": 64 if camera else 0,
            "filename": f"samples/{channel}/{token}.{'jpg' if camera else 'bin'}",
        }
    )


def write_root(root: Path, tables: Tables, pictures: bool = True) -> Path:
    """Write tables, and a picture for each camera record, below `root`."""
    folder = root / VERSION
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        (folder / f"{name}.json").write_text(json.dumps(rows))
    for row in tables["sample_data"] if pictures else []:
        if str(row["filename"]).endswith(".jpg"):
            path = root / row["filename"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(jpeg(shade=len(row["token"]) + len(path.name)))
    return root


def jpeg(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 36), (shade % 256, 80, 40)).save(buffer, "JPEG")
    return buffer.getvalue()
