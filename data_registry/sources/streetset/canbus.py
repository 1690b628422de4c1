"""CAN bus messages of the scene: steady driving straight ahead, with the field order that planners rely on.

Planners join the pose fields in file order after removing three of them, so keys are in alphabetical order.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from data_registry.geometry import Transform
from data_registry.identity import METRE_STEP, RADIAN_STEP, quantise
from data_registry.sources.streetset.layout import (
    EGO_SPEED,
    GLOBAL_FROM_STREET,
    SAMPLES,
    START_US,
    STEP_US,
    ego_in_street,
)
from data_registry.sources.streetset.maps import to_global

Message = dict[str, Any]

GRAVITY: Final = 9.81
WHEEL_RADIUS_M: Final = 0.305
WHEEL_RPM: Final = EGO_SPEED / (2 * np.pi * WHEEL_RADIUS_M) * 60
LEAD_US: Final = 100_000
"""Messages start this long before the first sample and end as long after the last."""
ROUTE_REACH_M: Final = 50.0


def make_messages() -> dict[str, Any]:
    """Return the content of every CAN bus file by message name, `meta` and `route` included."""
    timed: dict[str, list[Message]] = {
        "ms_imu": [_imu(time) for time in _times(10_000, 3_100)],
        "pose": [_pose(time) for time in _times(20_000, 1_300)],
        "steeranglefeedback": [{"utime": time, "value": 0.0} for time in _times(10_000, 5_200)],
        "vehicle_monitor": [_monitor(time) for time in _times(500_000, 99_000)],
        "zoe_veh_info": [_wheels(time) for time in _times(10_000, 7_700)],
        "zoesensors": [_pedals(time) for time in _times(1_250, 400)],
    }
    return {
        **timed,
        "meta": {name.upper(): _statistics(messages) for name, messages in timed.items()},
        "route": _route(),
    }


def _times(step_us: int, phase_us: int) -> range:
    return range(START_US - LEAD_US + phase_us, START_US + (SAMPLES - 1) * STEP_US + LEAD_US, step_us)


def _turn(pose: Transform) -> list[float]:
    return [quantise(value, RADIAN_STEP) for value in pose.quaternion()]


def _pose(time: int) -> Message:
    pose = GLOBAL_FROM_STREET @ ego_in_street(time)
    return {
        "accel": [0.0, 0.0, GRAVITY],
        "orientation": _turn(pose),
        "pos": [quantise(value, METRE_STEP) for value in pose.translation.tolist()],
        "rotation_rate": [0.0, 0.0, 0.0],
        "utime": time,
        "vel": [EGO_SPEED, 0.0, 0.0],
    }


def _imu(time: int) -> Message:
    return {
        "linear_accel": [0.0, 0.0, GRAVITY],
        "q": _turn(GLOBAL_FROM_STREET),
        "rotation_rate": [0.0, 0.0, 0.0],
        "utime": time,
    }


def _monitor(time: int) -> Message:
    return {
        **{"available_distance": 120, "battery_level": 80, "brake": 0, "brake_switch": 1, "gear_position": 7},
        **{"left_signal": 0, "rear_left_rpm": round(WHEEL_RPM, 4), "rear_right_rpm": round(WHEEL_RPM, 4)},
        **{"right_signal": 0, "steering": 0.0, "steering_speed": 0.0, "throttle": 120, "utime": time},
        **{"vehicle_speed": round(EGO_SPEED * 3.6, 2), "yaw_rate": 0.0},
    }


def _wheels(time: int) -> Message:
    travelled_cm = round(EGO_SPEED * (time - START_US + LEAD_US) / 1e4)
    return {
        **{f"{wheel}_wheel_speed": round(WHEEL_RPM, 4) for wheel in ("FL", "FR", "RL", "RR")},
        **{"left_solar": 60, "longitudinal_accel": 0.0, "meanEffTorque": 12.0, "odom": travelled_cm % 125},
        **{"odom_speed": round(EGO_SPEED * 3.6, 2), "pedal_cc": 120.0, "regen": 0.0, "requestedTorqueAfterProc": 12.0},
        **{"right_solar": 20, "steer_corrected": 0.0, "steer_offset_can": 0.0, "steer_raw": 0.0},
        **{"transversal_accel": 0.0, "utime": time},
    }


def _pedals(time: int) -> Message:
    return {"brake_sensor": 0.375, "steering_sensor": 0.0, "throttle_sensor": 0.18, "utime": time}


def _route() -> list[list[float]]:
    """Return the planned way, 0.5 m apart, reaching 50 m beyond both ends of the drive."""
    first, last = (float(ego_in_street(START_US + k * STEP_US).translation[0]) for k in (0, SAMPLES - 1))
    s = np.arange(first - ROUTE_REACH_M, last + ROUTE_REACH_M, 0.5)
    points = to_global(np.column_stack([s, np.zeros(len(s))]))
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
