"""The keyframe as stages read it: cameras, annotated objects, motion and map, in the ego frame at time 0."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from data_registry import identity
from data_registry.geometry import Array, GroundPlane, Transform, box_corners, fit_ground
from data_registry.records.base import (
    UPGRADERS,
    Metres,
    Microseconds,
    Radians,
    Record,
    Ring,
    Seconds,
    Sha256,
    Unitless,
    Xy,
    Xyz,
)


class Pose(Record):
    """A rigid motion child to parent."""

    translation: Xyz
    """Metres, in the parent frame."""
    rotation: tuple[Unitless, Unitless, Unitless, Unitless]
    """Unit quaternion (w, x, y, z)."""

    def transform(self) -> Transform:
        """Return the motion as a Transform; raises GeometryError when it is not a rigid one."""
        return Transform.from_quaternion(self.translation, self.rotation)

    @classmethod
    def of(cls, motion: Transform) -> Pose:
        """Make the record of a Transform."""
        x, y, z = motion.translation.tolist()
        return cls(translation=(x, y, z), rotation=motion.quaternion())


class Box(Record):
    """An oriented box in the ego frame at time 0."""

    centre: Xyz
    """Geometric centre, metres."""
    size: tuple[Metres, Metres, Metres]
    """Length, width, height along the box's own x, y, z, metres, all positive."""
    rotation: tuple[Unitless, Unitless, Unitless, Unitless]
    """Unit quaternion (w, x, y, z), box frame to ego frame."""

    @model_validator(mode="after")
    def _positive(self) -> Box:
        if min(self.size) <= 0:
            raise ValueError(f"box size must be positive, got {self.size}")
        return self

    def pose(self) -> Transform:
        """Return box frame to ego frame; the box frame's origin is the centre."""
        return Transform.from_quaternion(self.centre, self.rotation)

    def corners(self) -> Array:
        """Return the eight corners (8, 3) in the ego frame, bottom four first."""
        return box_corners(self.centre, self.size, self.pose().rotation)

    def footprint(self) -> Array:
        """Return the plan corners (4, 2) of the bottom face, counter-clockwise for an upright box."""
        return self.corners()[:4, :2]


class Annotation(Record):
    """One annotated object of the keyframe."""

    token: str
    instance: str
    """Token of the object over time."""
    category: str
    """nuScenes category, e.g. `vehicle.car`."""
    attributes: tuple[str, ...]
    visibility: str
    """nuScenes visibility level "1" (0-40 %) to "4" (80-100 %)."""
    box: Box
    velocity: Xy | None
    """Ego-frame velocity, m/s; None when neighbouring keyframes do not give one."""


class Camera(Record):
    """One camera reading of the keyframe (frame_offset 0) or of its history (negative)."""

    sensor_id: str
    """Channel, e.g. `CAM_FRONT`."""
    frame_offset: Annotated[int, Field(le=0)]
    """Keyframes before the keyframe, counted negative."""
    timestamp_us: Microseconds
    width: Annotated[int, Field(gt=0)]
    height: Annotated[int, Field(gt=0)]
    sha256: Sha256 | None
    """Digest of the picture file; None when the root lacks the file (history only)."""
    intrinsics: tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
    camera_to_ego: Pose
    """Calibration: camera frame to the ego frame at the camera's own time."""
    ego_to_global: Pose
    """Ego pose at the camera's own time."""


class PathPoint(Record):
    """Ego pose along a path, in the ego frame at time 0."""

    t: Seconds
    """Seconds from the keyframe; negative in the past."""
    x: Metres
    y: Metres
    heading: Radians


class Motion(Record):
    """How the ego vehicle moves around the keyframe."""

    speed: Annotated[float, Field(ge=0), AfterValidator(lambda value: identity.quantise(value, 6))]
    """Forward speed at time 0, m/s."""
    source: Literal["poses", "can", "samples", "sensor_poses"]
    """Where speed and path come from, best first."""
    history: tuple[PathPoint, ...]
    """Keyframes before time 0, oldest first."""
    future: tuple[PathPoint, ...]
    """Recorded path from time 0 on, empty when the log ends here."""


class Area(Record):
    """A polygon of the map, in the ego frame at time 0."""

    exterior: Ring
    holes: tuple[Ring, ...] = ()


class Lane(Record):
    """A lane or lane connector near the keyframe, in the ego frame at time 0."""

    token: str
    area: Area
    centreline: tuple[Xy, ...]
    """Points in driving direction, about 1 m apart; empty when the map gives none."""
    is_connector: bool
    successors: tuple[str, ...]
    """Tokens of the lanes that follow, sorted, also those outside the patch."""


StopLineKind = Literal["ped_crossing", "turn_stop", "stop_sign", "traffic_light", "yield", "unknown"]


class StopLine(Record):
    """Where vehicles have to stop, in the ego frame at time 0; maps give it as an area, not as a line."""

    area: Area
    kind: StopLineKind
    """What makes them stop."""


class MapPatch(Record):
    """The map within reach of the keyframe."""

    source: Literal["expansion", "mask", "none"]
    """Best map found: expansion v1.3 (lanes), the drivable mask only, or none."""
    layers_sha256: Sha256
    """Digest of the map's content within the patch, in the map's own frame."""
    drivable: tuple[Area, ...]
    lanes: tuple[Lane, ...] = ()
    crossings: tuple[Area, ...] = ()
    walkways: tuple[Area, ...] = ()
    stop_lines: tuple[StopLine, ...] = ()
    intersections: tuple[Area, ...] = ()


class Keyframe(Record):
    """Everything about one keyframe that a stage may read, in the ego frame at time 0; no path, no file time."""

    schema_version: Literal[2] = 2
    dataset: Literal["nuscenes", "streetset"]
    scene: str
    token: str
    timestamp_us: Microseconds
    location: str
    split: Literal["train", "val", "test", "none"]
    """The scene's official split."""
    description: str
    ego_to_global: Pose
    """Ego frame at time 0: the LIDAR_TOP record's pose."""
    motion: Motion
    cameras: tuple[Camera, ...]
    """Sorted by sensor, then oldest first."""
    annotations: tuple[Annotation, ...]
    """Sorted by token."""
    map: MapPatch

    @property
    def id(self) -> str:
        """`<dataset>/<scene>/<sample token>`."""
        return identity.keyframe_id(self.dataset, self.scene, self.token)

    @cached_property
    def moment_digest(self) -> identity.Digest:
        """Sha256 of all that the logs say at time 0 and after it: pictures, calibration, objects, motion and map.

        Left out is the history, of which each build takes as much as it is told: what releases know a keyframe by.
        """
        now = tuple(camera for camera in self.cameras if camera.frame_offset == 0)
        motion = self.motion.model_copy(update={"history": ()})
        return self.model_copy(update={"cameras": now, "motion": motion}).payload_digest

    @cached_property
    def ground(self) -> GroundPlane:
        """Local road surface, fitted to the annotated boxes' bottoms."""
        bottoms = [note.box.corners()[:4].mean(axis=0) for note in self.annotations]
        return fit_ground(np.array(bottoms).reshape(-1, 3))

    def view(self, sensor_id: str, frame_offset: int = 0) -> Camera:
        """Return one camera reading; raises KeyError when the keyframe has none such."""
        for camera in self.cameras:
            if (camera.sensor_id, camera.frame_offset) == (sensor_id, frame_offset):
                return camera
        raise KeyError(f"{self.id} has no view {sensor_id} at offset {frame_offset}")


def _kinds_of_stop_lines(old: Mapping[str, Any]) -> dict[str, Any]:
    """Version 1 kept stop lines as bare areas."""
    lines = [{"area": area, "kind": "unknown"} for area in old["map"].get("stop_lines", ())]
    return {**old, "schema_version": 2, "map": {**old["map"], "stop_lines": lines}}


UPGRADERS[Keyframe] = {1: _kinds_of_stop_lines}
