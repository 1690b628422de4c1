"""The street and who is on it: the one place that the tables, the map, the CAN bus and the pictures agree with.

Street frame: s along the street in the ego's direction, t to the left, z up, origin on the axis of the ego's lane.
Times are seconds relative to the keyframe. The street is straight and level, 240 m long, with right-hand traffic:
pavement, parking bays, the ego's lane, the opposite lane, pavement. It stands turned in the map so that no frame is
accidentally equal to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from data_registry.geometry import PinholeCamera, Transform, yaw_rotation
from data_registry.scene3d.light import Light

TOWN: Final = "Streetset Harbour"
"""The true name. The map formats know four cities only, so the town is filed under LOCATION."""
LOCATION: Final = "boston-seaport"
VEHICLE: Final = "n008"
SCENE: Final = "scene-9001"
LOGFILE: Final = "streetset-harbour-2024-06-18-13-00-00-0400"
DATE: Final = "2024-06-18"
START_US: Final = 1_718_730_000_000_000
"""Time of the first sample, microseconds: 13:00:00 local time on that date."""

SAMPLES: Final = 11
KEY_INDEX: Final = 4
STEP_US: Final = 500_000
KEY_US: Final = START_US + KEY_INDEX * STEP_US

STREET_START: Final = 0.0
STREET_END: Final = 240.0
SPLIT_S: Final = 120.0
"""Where one lane record ends and the next begins."""
CROSSING: Final = (172.0, 175.5)
STOP_GAP: Final = (1.2, 1.6)
"""Stop lines lie between these distances before the crossing, metres."""

WALL_RIGHT: Final = -7.0
KERB_RIGHT: Final = -4.0
BAY_EDGE: Final = -1.75
CENTRE_LINE: Final = 1.75
KERB_LEFT: Final = 5.25
WALL_LEFT: Final = 8.25
PAVEMENT_Z: Final = 0.12

EGO_S: Final = 100.0
EGO_SPEED: Final = 6.0
"""Position of the ego's rear axle at the keyframe and its speed, m and m/s."""

GLOBAL_FROM_STREET: Final = Transform(yaw_rotation(0.25), np.array([60.0, 50.0, 0.0]))

_SUN: Final = np.array([-0.63, 0.29, 0.72])
STREET_LIGHT: Final = Light(
    _SUN / float(np.linalg.norm(_SUN)), np.array([1.40, 1.30, 1.13]), np.array([0.50, 0.55, 0.63])
)
"""Sun behind the ego on its left. The ego drives along s, so its frame and the street's share this direction."""


@dataclass(frozen=True, slots=True)
class Actor:
    """An annotated thing, moving at constant speed along its heading.

    Attributes:
        name: unique, part of its tokens.
        category: nuScenes category.
        attribute: nuScenes attribute.
        shape: name in scene3d's SHAPES.
        size: length, width, height, metres.
        s: place of its centre at the keyframe, street frame, metres.
        t: as s.
        heading: street frame, radians.
        speed: m/s along the heading.
        colour: linear RGB of its main surface.
    """

    name: str
    category: str
    attribute: str
    shape: str
    size: tuple[float, float, float]
    s: float
    t: float
    heading: float = 0.0
    speed: float = 0.0
    colour: tuple[float, float, float] = field(default=(0.3, 0.3, 0.3))

    def pose(self, seconds: float) -> Transform:
        """Return its ground contact frame in the street frame at a time."""
        way = self.speed * seconds
        height = PAVEMENT_Z if not KERB_RIGHT <= self.t <= KERB_LEFT else 0.0
        place = np.array([self.s + way * np.cos(self.heading), self.t + way * np.sin(self.heading), height])
        return Transform(yaw_rotation(self.heading), place)


def _parked(number: int, rear: float, size: tuple[float, float, float], colour: tuple[float, float, float]) -> Actor:
    centre = rear + size[0] / 2
    return Actor(f"parked-{number}", "vehicle.car", "vehicle.parked", "car", size, centre, -2.92, colour=colour)


def _moving(name: str, s: float, t: float, heading: float, colour: tuple[float, float, float]) -> Actor:
    return Actor(name, "vehicle.car", "vehicle.moving", "car", (4.4, 1.8, 1.48), s, t, heading, 6.0, colour)


def _walker(name: str, place: tuple[float, float], heading: float, speed: float, colour: tuple[float, ...]) -> Actor:
    attribute = "pedestrian.moving" if speed else "pedestrian.standing"
    size = (0.72 if speed else 0.50, 0.62, 1.74)
    paint = (colour[0], colour[1], colour[2])
    return Actor(name, "human.pedestrian.adult", attribute, "pedestrian", size, *place, heading, speed, paint)


ACTORS: Final[tuple[Actor, ...]] = (
    _parked(1, 74.0, (4.3, 1.76, 1.46), (0.34, 0.35, 0.36)),
    _parked(2, 80.2, (4.5, 1.82, 1.52), (0.02, 0.022, 0.026)),
    _parked(3, 86.4, (4.2, 1.78, 1.50), (0.26, 0.035, 0.03)),
    _parked(4, 109.5, (4.6, 1.86, 1.72), (0.045, 0.11, 0.20)),
    _parked(5, 116.7, (4.3, 1.78, 1.48), (0.52, 0.52, 0.50)),
    _parked(6, 122.4, (4.4, 1.80, 1.50), (0.20, 0.21, 0.22)),
    _parked(7, 136.0, (4.2, 1.76, 1.47), (0.30, 0.04, 0.035)),
    _parked(8, 142.0, (4.5, 1.82, 1.50), (0.04, 0.045, 0.05)),
    _parked(9, 148.3, (4.6, 1.86, 1.75), (0.42, 0.36, 0.24)),
    _parked(10, 156.0, (4.3, 1.78, 1.46), (0.06, 0.15, 0.11)),
    _moving("ahead", 152.0, 0.05, 0.0, (0.36, 0.37, 0.38)),
    _moving("behind", 78.0, -0.05, 0.0, (0.07, 0.09, 0.16)),
    _moving("oncoming-near", 84.0, 3.5, np.pi, (0.55, 0.54, 0.52)),
    Actor(
        *("oncoming-truck", "vehicle.truck", "vehicle.moving", "box_truck", (6.8, 2.2, 2.9), 163.0, 3.6, np.pi, 6.5),
        colour=(0.60, 0.61, 0.62),
    ),
    _moving("oncoming-far", 186.0, 3.5, np.pi, (0.22, 0.03, 0.03)),
    _walker("pedestrian-right", (123.0, -5.6), np.pi, 1.3, (0.30, 0.06, 0.05)),
    _walker("pedestrian-left", (113.0, 6.9), 0.0, 1.4, (0.05, 0.14, 0.28)),
    _walker("pedestrian-left-far", (131.0, 6.3), np.pi, 1.2, (0.40, 0.33, 0.12)),
    _walker("pedestrian-shop", (97.0, -6.2), 0.5 * np.pi, 0.0, (0.10, 0.20, 0.10)),
    _walker("pedestrian-behind", (88.5, -5.4), 0.0, 1.3, (0.08, 0.08, 0.10)),
)


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


def sample_us(index: int) -> int:
    """Return the time of a sample (and of its LiDAR sweep), microseconds."""
    return START_US + index * STEP_US


def camera_us(channel: str, index: int) -> int:
    """Return the time of a camera reading, microseconds: before the sample's, with up to 0.8 ms of jitter."""
    jitter = (index * 37 + sorted(CAMERAS).index(channel) * 11) % 5 - 2
    return sample_us(index) + CAMERAS[channel].delay_us + 400 * jitter


def seconds(time_us: int) -> float:
    """Return a time relative to the keyframe, seconds."""
    return (time_us - KEY_US) / 1e6


def ego_in_street(time_us: int) -> Transform:
    """Return the ego frame in the street frame at a time."""
    return Transform(np.eye(3), np.array([EGO_S + EGO_SPEED * seconds(time_us), 0.0, 0.0]))


def camera_in_ego(channel: str) -> Transform:
    """Return a camera's frame in the ego frame."""
    model = CAMERAS[channel]
    return Transform.from_quaternion(model.translation, unit(model.rotation))


def street_camera(channel: str, time_us: int) -> PinholeCamera:
    """Return the camera at its own time, for points in the street frame (where others pass points in the ego frame)."""
    model = CAMERAS[channel]
    intrinsics = np.array([[model.focal, 0.0, model.centre[0]], [0.0, model.focal, model.centre[1]], [0.0, 0.0, 1.0]])
    return PinholeCamera(intrinsics, (ego_in_street(time_us) @ camera_in_ego(channel)).inverse(), WIDTH, HEIGHT)
