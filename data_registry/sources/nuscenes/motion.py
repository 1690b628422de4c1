"""How the ego vehicle moved around a keyframe, from the best recording that the root has.

In order of preference (DESIGN section 3): ego poses recorded densely (sweeps), CAN bus poses, the poses of neighbouring
keyframes, and last the keyframe's own sensor poses, which lie up to 45 ms apart and give a speed but no path.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from data_registry.geometry import Array, Transform
from data_registry.records import Motion, PathPoint
from data_registry.sources.nuscenes.logs import LONGEST_GAP_S, Posed, SceneLog
from data_registry.sources.nuscenes.problems import CanBusError, Problems, shorten
from data_registry.sources.nuscenes.schema import position, quaternion, stamp
from data_registry.sources.nuscenes.streaming import load_json

HORIZON_S: Final = 3.0
"""Length of the recorded future that a keyframe carries; metrics end there (DESIGN section 5)."""
FIT_S: Final = 0.5
"""A dense speed is fitted over this much before and after time 0."""
DENSE_S: Final = 0.15
"""Larger gaps between poses make a recording sparse: sweeps and CAN poses come every 0.02 to 0.1 s."""
SHORTEST_FIT_S: Final = 0.3
"""A curve through less time than this would follow the noise: a straight line is fitted then."""


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    """Ego poses in time order, seconds from time 0, at least one."""

    times: Array
    positions: Array
    rotations: Rotation

    @classmethod
    def of(cls, poses: Sequence[Posed], zero_us: int) -> _Track:
        times = np.array([(pose.timestamp_us - zero_us) * 1e-6 for pose in poses])
        wxyz = np.array([pose.rotation for pose in poses])
        rotations = Rotation.from_quat(wxyz, scalar_first=True)
        return cls(times, np.array([pose.translation for pose in poses]), rotations)

    def at(self, time: float) -> Transform:
        """Return the interpolated pose; before the first and after the last it stands still."""
        time = float(np.clip(time, self.times[0], self.times[-1]))
        where = np.array([np.interp(time, self.times, self.positions[:, axis]) for axis in range(3)])
        if len(self.times) == 1:
            return Transform(self.rotations[0].as_matrix(), where)
        after = int(np.clip(np.searchsorted(self.times, time), 1, len(self.times) - 1))
        turn = Slerp(self.times[after - 1 : after + 1], self.rotations[after - 1 : after + 1])
        return Transform(turn(time).as_matrix(), where)

    def is_dense(self) -> bool:
        """Tell whether poses surround time 0 closely, as far as the recording reaches."""
        first, last = max(self.times[0], -FIT_S), min(self.times[-1], FIT_S)
        if last - first < SHORTEST_FIT_S or first > 0 or last < 0:
            return False
        inside = self.times[(self.times >= first - DENSE_S) & (self.times <= last + DENSE_S)]
        return float(np.diff(inside).max(initial=0.0)) <= DENSE_S

    def speed(self, ego: Transform, reach: float) -> float:
        """Fit the forward speed at time 0 to the poses within `reach` seconds, m/s; 0 when there is only one."""
        near = np.abs(self.times) <= reach
        times, forward = self.times[near], ego.inverse().apply(self.positions[near])[:, 0]
        if len(times) < 2:
            return 0.0
        curved = len(times) > 3 and times[-1] - times[0] >= SHORTEST_FIT_S
        fitted: Any = np.polynomial.Polynomial.fit(times, forward, 2 if curved else 1)
        return float(fitted.deriv()(0.0))


def pose_at(poses: Sequence[Posed], timestamp_us: int) -> Transform:
    """Return the ego pose at a time, interpolated between the two recorded ones around it.

    Args:
        poses: in time order, at least one.
        timestamp_us: the time; before the first and after the last pose that pose holds.
    """
    after = bisect_left(poses, timestamp_us, key=lambda pose: pose.timestamp_us)
    return _Track.of(poses[max(0, after - 1) : after + 1], timestamp_us).at(0.0)


def motion_of(log: SceneLog, number: int, ego: Transform, can: Sequence[Posed], history: int) -> Motion:
    """Describe the ego motion around a keyframe, in its ego frame at time 0.

    Args:
        log: the scene.
        number: which of its keyframes.
        ego: ego frame at time 0 to global.
        can: CAN bus poses of the scene in time order, empty when there are none.
        history: how many earlier keyframes to describe at most.

    Reversing gives speed 0: `Motion.speed` is the speed ahead.
    """
    zero = log.moments[number].timestamp_us
    track = _Track.of(log.poses, zero)
    bus = _Track.of(can, zero) if can else None
    if track.is_dense():
        return _described(log, number, track, ego, ("poses", track.speed(ego, FIT_S)), history)
    if bus is not None and bus.is_dense():
        start = bus.at(0.0)
        return _described(log, number, bus, start, ("can", bus.speed(start, FIT_S)), history)
    reach = _neighbourhood(log, number)
    if reach is not None:
        return _described(log, number, track, ego, ("samples", track.speed(ego, reach)), history)
    own = track.speed(ego, DENSE_S)
    return Motion(speed=max(0.0, own), source="sensor_poses", history=(), future=())


def _neighbourhood(log: SceneLog, number: int) -> float | None:
    """Return how far the nearest keyframes on both sides reach, seconds; None when there is none near."""
    zero = log.moments[number].timestamp_us
    around = [*log.moments[max(0, number - 1) : number], *log.moments[number + 1 : number + 2]]
    gaps = [abs(moment.timestamp_us - zero) * 1e-6 for moment in around]
    near = [gap for gap in gaps if gap <= LONGEST_GAP_S]
    return max(near) + DENSE_S if near else None


def _described(
    log: SceneLog, number: int, track: _Track, ego: Transform, found: tuple[Any, float], history: int
) -> Motion:
    source, speed = cast(tuple[Literal["poses", "can", "samples"], float], found)
    zero = log.moments[number].timestamp_us
    times = [(moment.timestamp_us - zero) * 1e-6 for moment in log.moments]
    before = list(_unbroken(times[:number][::-1]))[:history][::-1]
    after = list(_ahead(list(_unbroken(times[number + 1 :])), float(track.times[-1])))
    to_ego = ego.inverse()
    start = [PathPoint(t=0.0, x=0.0, y=0.0, heading=0.0)] if after else []
    return Motion(
        speed=max(0.0, speed),
        source=source,
        history=tuple(_point(track, to_ego, time) for time in before if time >= track.times[0] - DENSE_S),
        future=(*start, *(_point(track, to_ego, time) for time in after)),
    )


def _unbroken(times: Sequence[float]) -> Iterator[float]:
    """Yield times, nearest first, until keyframes are too far apart to say what happened between them."""
    last = 0.0
    for time in times:
        if abs(time - last) > LONGEST_GAP_S:
            return
        yield time
        last = time


def _ahead(times: Sequence[float], end: float) -> Iterator[float]:
    """Yield keyframe times up to the horizon, then the horizon itself when the recording reaches it."""
    for time in times:
        if time >= HORIZON_S - 1e-3 or time > end + DENSE_S:
            break
        yield time
    if times and min(end, max(times[-1], end if end - times[-1] <= DENSE_S else times[-1])) >= HORIZON_S:
        yield HORIZON_S


def _point(track: _Track, to_ego: Transform, time: float) -> PathPoint:
    there = to_ego @ track.at(time)
    return PathPoint(t=time, x=float(there.translation[0]), y=float(there.translation[1]), heading=there.yaw)


def read_can_poses(path: Path) -> tuple[Posed, ...]:
    """Read a scene's CAN bus `pose` messages, in time order; none when the file is not there.

    Only positions and orientations count: the messages' own speeds lie 2 % below what the positions say (scene-0103).

    Raises:
        CanBusError: the file is there but is not a list of such messages.
    """
    if not path.is_file():
        return ()
    problems = Problems()
    found: dict[int, Posed] = {}
    for index, message in enumerate(_messages(path, problems)):
        complaint = _complaint(message)
        if complaint:
            problems.add(f"message {index}: {complaint}")
        else:
            posed = Posed(message["utime"], tuple(message["pos"]), tuple(message["orientation"]))
            found[posed.timestamp_us] = posed
    problems.raise_any(CanBusError, str(path), "Unpack the CAN bus archive again, or remove the file: it is optional.")
    return tuple(found[time] for time in sorted(found))


def _messages(path: Path, problems: Problems) -> list[Any]:
    try:
        content = load_json(path)
    except ValueError as error:
        problems.add(str(error))
        return []
    if not isinstance(content, list):
        problems.add(f"must be a list of messages, not {shorten(content)}")
        return []
    return cast(list[Any], content)


def _complaint(message: Any) -> str | None:
    if not isinstance(message, dict):
        return f"must be an object, not {shorten(message)}"
    fields = cast(dict[str, Any], message)
    for field, check in (("utime", stamp), ("pos", position), ("orientation", quaternion)):
        if complaint := check(fields.get(field)):
            return f"field {field}: {shorten(fields.get(field))} {complaint}"
    return None
