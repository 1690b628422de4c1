"""The recording vehicle: its cameras, its LiDAR's place and the times of its readings.

Calibration and camera delays are those of the real vehicle n008. Every scene has eleven samples half a second apart;
the fifth is its keyframe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.geometry import PinholeCamera, Transform
from data_registry.sources.streetset.world import Scene

VEHICLE: Final = "n008"
SAMPLES: Final = 11
KEY_INDEX: Final = 4
STEP_US: Final = 500_000
WHEELBASE_M: Final = 2.588


@dataclass(frozen=True, slots=True)
class CameraModel:
    """Calibration of one camera of vehicle n008 and its place in the sweep.

    Attributes:
        focal: pixels.
        centre: principal point (column, row), pixels.
        translation: in the ego frame, metres.
        rotation: camera to ego, quaternion w, x, y, z (five digits: normalised before use).
        delay_us: typical camera time minus LiDAR time.
    """

    focal: float
    centre: tuple[float, float]
    translation: tuple[float, float, float]
    rotation: tuple[float, float, float, float]
    delay_us: int


WIDTH: Final = 1600
HEIGHT: Final = 900
CAMERAS: Final[dict[str, CameraModel]] = {
    "CAM_FRONT": CameraModel(
        *(1252.8, (826.6, 470.0), (1.722, 0.005, 1.495), (0.50772, -0.49734, 0.49837, -0.49648), -35_300)
    ),
    "CAM_FRONT_LEFT": CameraModel(
        *(1257.9, (827.2, 450.9), (1.575, 0.501, 1.507), (0.68121, -0.66875, 0.21017, -0.21108), -42_900)
    ),
    "CAM_FRONT_RIGHT": CameraModel(
        *(1256.7, (817.8, 452.0), (1.581, -0.499, 1.517), (-0.20335, 0.19146, -0.67857, 0.67936), -27_300)
    ),
    "CAM_BACK": CameraModel(
        *(796.9, (857.8, 476.9), (0.055, 0.011, 1.568), (0.50680, -0.49776, -0.49878, 0.49659), -10_200)
    ),
    "CAM_BACK_LEFT": CameraModel(
        *(1255.0, (829.6, 467.2), (1.049, 0.483, 1.562), (0.70486, -0.69073, -0.11209, 0.11617), -300)
    ),
    "CAM_BACK_RIGHT": CameraModel(
        *(1250.0, (825.4, 462.5), (1.059, -0.467, 1.551), (0.13819, -0.13797, -0.68933, 0.69763), -19_700)
    ),
}
"""Values of the real vehicle n008 (nuScenes v1.0), camera delays as measured there."""
LIDAR_TRANSLATION: Final = (0.986, 0.0, 1.840)
LIDAR_ROTATION: Final = (-0.70675, 0.01530, -0.01740, 0.70708)


def unit(quaternion: tuple[float, ...]) -> list[float]:
    """Return a quaternion scaled to length 1."""
    length = sum(part * part for part in quaternion) ** 0.5
    return [part / length for part in quaternion]


def sample_us(scene: Scene, index: int) -> int:
    """Return the time of a sample (and of its LiDAR sweep), microseconds."""
    return scene.start_us + index * STEP_US


def camera_us(scene: Scene, channel: str, index: int) -> int:
    """Return the time of a camera reading, microseconds: before the sample's, with up to 0.8 ms of jitter."""
    jitter = (index * 37 + sorted(CAMERAS).index(channel) * 11) % 5 - 2
    return sample_us(scene, index) + CAMERAS[channel].delay_us + 400 * jitter


def seconds(scene: Scene, time_us: int) -> float:
    """Return a time relative to the keyframe, seconds."""
    return (time_us - sample_us(scene, KEY_INDEX)) / 1e6


def ego_in_scene(scene: Scene, time_us: int) -> Transform:
    """Return the ego frame in the scene's frame at a time."""
    return scene.ego_pose(seconds(scene, time_us))


def camera_in_ego(channel: str) -> Transform:
    """Return a camera's frame in the ego frame."""
    model = CAMERAS[channel]
    return Transform.from_quaternion(model.translation, unit(model.rotation))


def scene_camera(scene: Scene, channel: str, time_us: int) -> PinholeCamera:
    """Return the camera at its own time, for points in the scene's frame (elsewhere they are in the ego frame)."""
    model = CAMERAS[channel]
    intrinsics = np.array([[model.focal, 0.0, model.centre[0]], [0.0, model.focal, model.centre[1]], [0.0, 0.0, 1.0]])
    return PinholeCamera(intrinsics, (ego_in_scene(scene, time_us) @ camera_in_ego(channel)).inverse(), WIDTH, HEIGHT)
