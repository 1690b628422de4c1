"""A small street as a keyframe and a source, made in memory: one lane, parked cars on the right, three cameras."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np

from data_registry.geometry import Transform, yaw_rotation
from data_registry.identity import sha256
from data_registry.pictures import Rgb, encode_png
from data_registry.records import Annotation, Area, Box, Camera, Keyframe, Lane, MapPatch, Motion, PathPoint, Pose
from data_registry.sources.source import Licence, Request, Selection, SourceChangedError, SourceError

WIDTH, HEIGHT, FOCAL = 800, 450, 630.0
EYE_M = 1.5
_TO_CAMERA_AXES = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
YAWS = {"CAM_FRONT": 0.0, "CAM_FRONT_LEFT": 0.96, "CAM_FRONT_RIGHT": -0.96}


def picture(seed: int = 0) -> Rgb:
    """Draw a grey road below a blue sky, with a little noise."""
    noise = np.random.Generator(np.random.PCG64(seed)).normal(0, 2.0, (HEIGHT, WIDTH, 3))
    base = np.full((HEIGHT, WIDTH, 3), (110.0, 110.0, 108.0))
    base[: HEIGHT // 2] = (150.0, 180.0, 215.0)
    return np.clip(np.rint(base + noise), 0, 255).astype(np.uint8)


@cache
def picture_file(name: str) -> bytes:
    """Return the picture of a camera as a file."""
    return encode_png(picture(sorted(YAWS).index(name)))


def annotation(
    name: str, x: float, y: float, size: tuple[float, float, float] = (4.4, 1.8, 1.5), **more: float
) -> Annotation:
    """Make a car; `vx` is its speed along x, `yaw` its heading."""
    rotation = Transform(yaw_rotation(more.get("yaw", 0.0)), np.zeros(3)).quaternion()
    return Annotation(
        token=name,
        instance=f"{name}-instance",
        category="vehicle.car",
        attributes=(),
        visibility="4",
        box=Box(centre=(x, y, size[2] / 2), size=size, rotation=rotation),
        velocity=(more.get("vx", 0.0), 0.0),
    )


PARKED = (annotation("parked-1", 8.0, -3.0), annotation("parked-2", 16.0, -3.0), annotation("ahead", 45.0, 0.0, vx=6.0))


def keyframe(
    annotations: Sequence[Annotation] = PARKED,
    speed: float = 6.0,
    lanes: bool = True,
    curve: float = 0.0,
    source: Literal["expansion", "mask", "none"] = "expansion",
) -> Keyframe:
    """Make a keyframe on a lane that is straight, or bends with `curve` radians a metre."""
    identity_pose = Pose(translation=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0))
    arc = np.arange(-20.0, 80.1, 1.0)
    line = _arc(arc, curve)
    future = _arc(speed * np.arange(0.0, 3.51, 0.5), curve)
    return Keyframe(
        dataset="streetset",
        scene="scene-0001",
        token="0123456789abcdef0123456789abcdef",
        timestamp_us=1_000_000,
        location="boston-seaport",
        split="none",
        description="a street by day",
        ego_to_global=identity_pose,
        motion=Motion(
            speed=speed,
            source="poses",
            history=(),
            future=tuple(
                PathPoint(t=0.5 * index, x=x, y=y, heading=h) for index, (x, y, h) in enumerate(future.tolist())
            ),
        ),
        cameras=tuple(camera(name) for name in sorted(YAWS)),
        annotations=tuple(sorted(annotations, key=lambda note: note.token)),
        map=_map(line, lanes, source),
    )


def camera(name: str, offset: int = 0) -> Camera:
    """Make a camera 1.5 m above the ground at x = 1.7 m."""
    yaw = YAWS[name]
    turn = Transform(yaw_rotation(yaw) @ _TO_CAMERA_AXES, np.array([1.7, 0.0, EYE_M]))
    return Camera(
        sensor_id=name,
        frame_offset=offset,
        timestamp_us=1_000_000,
        width=WIDTH,
        height=HEIGHT,
        sha256=sha256(picture_file(name)),
        intrinsics=((FOCAL, 0.0, (WIDTH - 1) / 2), (0.0, FOCAL, (HEIGHT - 1) / 2), (0.0, 0.0, 1.0)),
        camera_to_ego=Pose.of(turn),
        ego_to_global=Pose(translation=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0)),
    )


def _arc(arc: np.ndarray, curve: float) -> np.ndarray:
    """Return poses (N, 3) along a circle that starts at the origin along x; straight without a curve."""
    if curve == 0.0:
        return np.column_stack([arc, np.zeros_like(arc), np.zeros_like(arc)])
    angle = curve * arc
    return np.column_stack([np.sin(angle) / curve, (1 - np.cos(angle)) / curve, angle])


def _band(line: np.ndarray, right: float, left: float) -> Area:
    side = np.column_stack([-np.sin(line[:, 2]), np.cos(line[:, 2])])
    ring = np.vstack([line[:, :2] + right * side, (line[:, :2] + left * side)[::-1]])
    return Area(exterior=tuple((float(x), float(y)) for x, y in ring))


def _map(line: np.ndarray, lanes: bool, source: Literal["expansion", "mask", "none"]) -> MapPatch:
    lane = Lane(
        token="lane-1",
        area=_band(line, -1.75, 1.75),
        centreline=tuple((float(x), float(y)) for x, y, _ in line),
        is_connector=False,
        successors=(),
    )
    return MapPatch(
        source=source,
        layers_sha256="0" * 64,
        drivable=() if source == "none" else (_band(line, -4.0, 5.25),),
        lanes=(lane,) if lanes and source == "expansion" else (),
    )


class StreetSource:
    """The street's pictures, with bytes that a test may break."""

    dataset: Literal["nuscenes", "streetset"] = "streetset"
    licence = Licence("CC0", "CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/", "us", False, False)

    def __init__(self) -> None:
        """Draw the pictures."""
        self.files = {name: picture_file(name) for name in YAWS}
        self.asked: list[tuple[str, int]] = []

    def fingerprint(self) -> str:
        """Return a digest of nothing: the street has no tables."""
        return sha256(b"street")

    def select(self, request: Request) -> Selection:
        """Return the one keyframe."""
        return Selection((keyframe(),), ())

    def file_name(self, keyframe: Keyframe, camera: Camera) -> str:
        """Return a name made of sensor and offset."""
        return f"samples/{camera.sensor_id}/{keyframe.token}{camera.frame_offset}.png"

    def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
        """Return a picture, checked against the keyframe as real sources do."""
        self.asked.append((camera.sensor_id, camera.frame_offset))
        if camera.sensor_id not in self.files:
            raise SourceError(f"{camera.sensor_id} is gone")
        content = self.files[camera.sensor_id]
        if sha256(content) != camera.sha256:
            raise SourceChangedError(f"{camera.sensor_id} is not the picture of the keyframe")
        return content
