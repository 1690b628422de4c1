"""CAN bus messages of a scene: driving at constant speed along its way, with the field order that planners rely on.

Planners join the pose fields in file order after removing three of them, so keys are in alphabetical order. Signs are
those of the real files (scene-0103 correlates): steering and yaw rate are positive to the left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.spatial.transform import Rotation

from data_registry.geometry import Transform
from data_registry.identity import METRE_STEP, RADIAN_STEP, quantise
from data_registry.sources.streetset.rig import SAMPLES, STEP_US, WHEELBASE_M, ego_in_scene, seconds
from data_registry.sources.streetset.world import Scene

Message = dict[str, Any]

GRAVITY: Final = 9.81
WHEEL_RADIUS_M: Final = 0.305
STEERING_RATIO: Final = 16.5
"""Steering wheel angle for that of the front wheels: 42.7 rad a unit of curvature in scene-0103, over the wheelbase."""
LEAD_US: Final = 100_000
"""Messages start this long before the first sample and end as long after the last."""
ROUTE_REACH_M: Final = 50.0


@dataclass(frozen=True, slots=True)
class _Drive:
    """The ego's motion at one time: speed m/s, yaw rate rad/s, steering wheel angle rad."""

    speed: float
    yaw_rate: float
    steering: float

    @classmethod
    def at(cls, scene: Scene, time: int) -> _Drive:
        speed, curvature = scene.ego.speed, scene.ego.curvature(seconds(scene, time))
        return cls(speed, speed * curvature, STEERING_RATIO * math.atan(WHEELBASE_M * curvature))

    @property
    def wheel_rpm(self) -> float:
        return self.speed / (2 * np.pi * WHEEL_RADIUS_M) * 60

    def acceleration(self, ego: Transform) -> list[float]:
        """Return what an accelerometer in the ego frame shows: the turn, and gravity's push upwards."""
        up = (GRAVITY * ego.rotation[2]).tolist()
        return [quantise(value, METRE_STEP) for value in (up[0], up[1] + self.speed * self.yaw_rate, up[2])]


def make_messages(scene: Scene) -> dict[str, Any]:
    """Return the content of every CAN bus file by message name, `meta` and `route` included."""
    timed: dict[str, list[Message]] = {
        "ms_imu": _imu(scene, _times(scene, 10_000, 3_100)),
        "pose": _poses(scene, _times(scene, 20_000, 1_300)),
        "steeranglefeedback": [_steering(scene, time) for time in _times(scene, 10_000, 5_200)],
        "vehicle_monitor": [_monitor(scene, time) for time in _times(scene, 500_000, 99_000)],
        "zoe_veh_info": [_wheels(scene, time) for time in _times(scene, 10_000, 7_700)],
        "zoesensors": [_pedals(time) for time in _times(scene, 1_250, 400)],
    }
    return {
        **timed,
        "meta": {name.upper(): _statistics(messages) for name, messages in timed.items()},
        "route": _route(scene),
    }


def _times(scene: Scene, step_us: int, phase_us: int) -> range:
    start = scene.start_us
    return range(start - LEAD_US + phase_us, start + (SAMPLES - 1) * STEP_US + LEAD_US, step_us)


def _turns(scene: Scene, egos: Sequence[Transform]) -> list[list[float]]:
    """Return the ego's rotations to global as quaternions (w, x, y, z)."""
    matrices = scene.to_global.rotation @ np.array([ego.rotation for ego in egos])
    wxyz = Rotation.from_matrix(matrices).as_quat(canonical=True, scalar_first=True)
    return [[quantise(value, RADIAN_STEP) for value in row] for row in wxyz.tolist()]


def _poses(scene: Scene, times: Sequence[int]) -> list[Message]:
    egos = [ego_in_scene(scene, time) for time in times]
    drives = [_Drive.at(scene, time) for time in times]
    return [
        {
            "accel": drive.acceleration(ego),
            "orientation": turn,
            "pos": [quantise(value, METRE_STEP) for value in scene.to_global.apply(ego.translation[None])[0].tolist()],
            "rotation_rate": [0.0, 0.0, quantise(drive.yaw_rate, RADIAN_STEP)],
            "utime": time,
            "vel": [drive.speed, 0.0, 0.0],
        }
        for time, ego, drive, turn in zip(times, egos, drives, _turns(scene, egos), strict=True)
    ]


def _imu(scene: Scene, times: Sequence[int]) -> list[Message]:
    egos = [ego_in_scene(scene, time) for time in times]
    drives = [_Drive.at(scene, time) for time in times]
    return [
        {
            "linear_accel": drive.acceleration(ego),
            "q": turn,
            "rotation_rate": [0.0, 0.0, quantise(drive.yaw_rate, RADIAN_STEP)],
            "utime": time,
        }
        for time, ego, drive, turn in zip(times, egos, drives, _turns(scene, egos), strict=True)
    ]


def _steering(scene: Scene, time: int) -> Message:
    return {"utime": time, "value": quantise(_Drive.at(scene, time).steering, RADIAN_STEP)}


def _monitor(scene: Scene, time: int) -> Message:
    drive = _Drive.at(scene, time)
    rpm = round(drive.wheel_rpm, 4)
    return {
        **{"available_distance": 120, "battery_level": 80, "brake": 0, "brake_switch": 1, "gear_position": 7},
        **{"left_signal": 0, "rear_left_rpm": rpm, "rear_right_rpm": rpm},
        **{"right_signal": int(_turns_right(scene)), "steering": round(math.degrees(drive.steering), 1)},
        **{"steering_speed": 0.0, "throttle": 120, "utime": time, "vehicle_speed": round(drive.speed * 3.6, 2)},
        "yaw_rate": round(math.degrees(drive.yaw_rate), 2),
    }


def _turns_right(scene: Scene) -> bool:
    """Tell whether the ego signals: it turns right by more than a bend of the road would."""
    return any(curvature < -1 / 20 for _, curvature in scene.ego.axis.pieces)


def _wheels(scene: Scene, time: int) -> Message:
    drive = _Drive.at(scene, time)
    travelled_cm = round(drive.speed * (time - scene.start_us + LEAD_US) / 1e4)
    steering = round(math.degrees(drive.steering), 4)
    return {
        **{f"{wheel}_wheel_speed": round(drive.wheel_rpm, 4) for wheel in ("FL", "FR", "RL", "RR")},
        **{"left_solar": 60, "longitudinal_accel": 0.0, "meanEffTorque": 12.0, "odom": travelled_cm % 125},
        **{"odom_speed": round(drive.speed * 3.6, 2), "pedal_cc": 120.0, "regen": 0.0},
        **{"requestedTorqueAfterProc": 12.0, "right_solar": 20, "steer_corrected": steering},
        **{"steer_offset_can": 0.0, "steer_raw": steering},
        **{"transversal_accel": round(drive.speed * drive.yaw_rate / GRAVITY, 4), "utime": time},
    }


def _pedals(time: int) -> Message:
    return {"brake_sensor": 0.375, "steering_sensor": 0.0, "throttle_sensor": 0.18, "utime": time}


def _route(scene: Scene) -> list[list[float]]:
    """Return the planned way, 0.5 m apart, reaching 50 m beyond both ends of the drive."""
    track = scene.ego
    first, last = (track.s + track.speed * seconds(scene, scene.start_us + k * STEP_US) for k in (0, SAMPLES - 1))
    plan = track.axis.places(np.arange(first - ROUTE_REACH_M, last + ROUTE_REACH_M, 0.5), 0.0)
    points = scene.to_global.apply(np.column_stack([plan, np.zeros(len(plan))]))[:, :2]
    return [[quantise(x, METRE_STEP), quantise(y, METRE_STEP)] for x, y in points.tolist()]


def _statistics(messages: list[Message]) -> Message:
    times = [message["utime"] for message in messages]
    span = (times[-1] - times[0]) / 1e6
    return {
        "message_count": len(messages),
        "message_freq": (len(messages) - 1) / span,
        "timespan": span,
        "var_stats": {
            key: _spread(np.array([m[key] for m in messages], dtype=np.float64)) for key in sorted(messages[0])
        },
    }


def _spread(values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
    """Return the statistics of a field and of its differences, vectors taken as a whole as in the original files."""
    steps = np.diff(values, axis=0)
    result: dict[str, float] = {}
    for suffix, field in (("", values), ("_diff", steps)):
        for name, figure in (("max", field.max()), ("mean", field.mean()), ("min", field.min()), ("std", field.std())):
            result[name + suffix] = quantise(float(figure), RADIAN_STEP)
    return dict(sorted(result.items()))
