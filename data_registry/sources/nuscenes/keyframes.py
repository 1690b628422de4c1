"""From one scene's log to keyframe records in the ego frame at time 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from data_registry.geometry import Transform
from data_registry.identity import Digest
from data_registry.records import Annotation, Box, Camera, Keyframe, MapPatch, Pose
from data_registry.sources.nuscenes.logs import Moment, Note, Posed, Reading, SceneLog
from data_registry.sources.nuscenes.motion import motion_of, pose_at


def ego_to_global(log: SceneLog, number: int) -> Transform:
    """Return the ego frame at time 0 of a keyframe: its LIDAR_TOP pose, else the pose at its time."""
    moment = log.moments[number]
    if moment.lidar is not None:
        return Transform.from_quaternion(moment.lidar.translation, moment.lidar.rotation)
    return pose_at(log.poses, moment.timestamp_us)


def keyframe_of(
    dataset: Literal["nuscenes", "streetset"],
    place: tuple[SceneLog, int],
    surroundings: tuple[MapPatch, Sequence[Posed]],
    digest_of: Callable[[str], Digest | None],
    history: int,
) -> Keyframe:
    """Make a keyframe's record.

    Args:
        dataset: first part of its id.
        place: the scene, and which of its keyframes.
        surroundings: the map around it, and the scene's CAN bus poses.
        digest_of: digest of a file below the root, None when it is not there.
        history: how many earlier keyframes' pictures belong to it.
    """
    (log, number), (patch, can) = place, surroundings
    moment, ego = log.moments[number], ego_to_global(log, number)
    return Keyframe(
        dataset=dataset,
        scene=log.name,
        token=moment.token,
        timestamp_us=moment.timestamp_us,
        location=log.location,
        split=log.split,
        description=log.description,
        ego_to_global=Pose.of(ego),
        motion=motion_of(log, number, ego, can, history),
        cameras=tuple(_cameras(log.moments[max(0, number - history) : number + 1], digest_of)),
        annotations=tuple(_annotation(note, ego.inverse()) for note in moment.notes),
        map=patch,
    )


def _cameras(moments: Sequence[Moment], digest_of: Callable[[str], Digest | None]) -> Iterator[Camera]:
    """Yield the pictures of some keyframes, the last one being the keyframe itself, by sensor, then oldest first."""
    readings = [(offset - len(moments) + 1, r) for offset, moment in enumerate(moments) for r in moment.readings]
    for offset, reading in sorted(readings, key=lambda entry: (entry[1].channel, entry[0])):
        yield _camera(reading, offset, digest_of(reading.filename))


def _camera(reading: Reading, offset: int, digest: Digest | None) -> Camera:
    return Camera(
        sensor_id=reading.channel,
        frame_offset=offset,
        timestamp_us=reading.timestamp_us,
        width=reading.width,
        height=reading.height,
        sha256=digest,
        intrinsics=reading.intrinsics,
        camera_to_ego=Pose.of(Transform.from_quaternion(reading.translation, reading.rotation)),
        ego_to_global=Pose.of(Transform.from_quaternion(reading.pose.translation, reading.pose.rotation)),
    )


def _annotation(note: Note, to_ego: Transform) -> Annotation:
    pose = to_ego @ Transform.from_quaternion(note.translation, note.rotation)
    width, length, height = note.size
    x, y, z = pose.translation.tolist()
    return Annotation(
        token=note.token,
        instance=note.instance,
        category=note.category,
        attributes=note.attributes,
        visibility=note.visibility,
        box=Box(centre=(x, y, z), size=(length, width, height), rotation=pose.quaternion()),
        velocity=_plan_velocity(note, to_ego),
    )


def _plan_velocity(note: Note, to_ego: Transform) -> tuple[float, float] | None:
    if note.velocity is None:
        return None
    x, y, _ = (to_ego.rotation @ np.array(note.velocity)).tolist()
    return x, y
