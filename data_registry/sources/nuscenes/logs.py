"""One scene's log as the reader keeps it: links resolved, times in order, everything still in the global frame.

These are what an index holds, one file a scene, so that a keyframe needs one small file and never the whole tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, cast

from pydantic import TypeAdapter

from data_registry.sources.nuscenes.problems import Problems, TablesError, shorten
from data_registry.sources.nuscenes.splits import official_splits
from data_registry.sources.nuscenes.tables import REMEDY, Row, Tables

LONGEST_GAP_S: Final = 1.5
"""Beyond this from neighbour to neighbour a velocity means nothing (nuScenes devkit, `box_velocity`)."""

Xyz = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Matrix = tuple[Xyz, Xyz, Xyz]


@dataclass(frozen=True, slots=True)
class Posed:
    """Where the ego vehicle was: ego frame to global, metres, (w, x, y, z)."""

    timestamp_us: int
    translation: Xyz
    rotation: Quaternion


@dataclass(frozen=True, slots=True)
class Reading:
    """One picture that belongs to a keyframe; `translation` and `rotation` are camera frame to ego frame."""

    channel: str
    timestamp_us: int
    filename: str
    width: int
    height: int
    intrinsics: Matrix
    translation: Xyz
    rotation: Quaternion
    pose: Posed


@dataclass(frozen=True, slots=True)
class Note:
    """One annotation in the global frame; size is width, length, height as nuScenes has it."""

    token: str
    instance: str
    category: str
    attributes: tuple[str, ...]
    visibility: str
    translation: Xyz
    size: Xyz
    rotation: Quaternion
    velocity: Xyz | None
    """Global, m/s; None when the neighbouring keyframes do not give one."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One keyframe: readings by channel name, notes by token."""

    token: str
    timestamp_us: int
    lidar: Posed | None
    """Pose of the LIDAR_TOP record; None when the log has no such record."""
    readings: tuple[Reading, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class SceneLog:
    """One scene: keyframes in time order, and every recorded ego pose in time order."""

    name: str
    description: str
    location: str
    split: Literal["train", "val", "test", "none"]
    mask: str
    """Map mask, relative to the root; empty when the map table names none for this log."""
    moments: tuple[Moment, ...]
    poses: tuple[Posed, ...]


SCENE_JSON: Final = TypeAdapter(SceneLog)


def scene_logs(tables: Tables, splits: dict[str, str], folder: str) -> Iterator[SceneLog]:
    """Yield the scenes in order of their names, from tables whose fields and links are sound.

    Args:
        tables: rows by token.
        splits: splits of scenes that nuScenes does not know.
        folder: where the tables came from, for errors.

    Raises:
        TablesError: records that are sound alone contradict each other; all problems of all scenes at once.
    """
    parts = _Parts(tables)
    problems = Problems()
    parts.check(problems)
    problems.raise_any(TablesError, folder, REMEDY)
    for name, row in sorted(parts.scenes.items()):
        yield parts.scene(name, row, splits)


class _Parts:
    """The tables once more, grouped the way scenes need them; every grouping is one pass."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.scenes: dict[str, Row] = {}
        self.samples: dict[str, list[Row]] = defaultdict(list)
        for row in tables["sample"].values():
            self.samples[row["scene_token"]].append(row)
        for rows in self.samples.values():
            rows.sort(key=lambda row: (row["timestamp"], row["token"]))
        self.notes: dict[str, list[Row]] = defaultdict(list)
        for row in tables["sample_annotation"].values():
            self.notes[row["sample_token"]].append(row)
        self.keyed: dict[str, dict[str, Row]] = defaultdict(dict)
        self.poses: dict[str, list[Row]] = defaultdict(list)
        self.masks: dict[str, str] = {}
        for row in tables["map"].values():
            for log in row["log_tokens"]:
                self.masks.setdefault(log, row["filename"])

    def check(self, problems: Problems) -> None:
        """Group readings by keyframe and check what no single record shows."""
        for row in self.tables["scene"].values():
            if self.scenes.setdefault(row["name"], row) is not row:
                problems.add(f"table scene, token {row['token']!r}: name {row['name']!r} is taken; rename one scene")
        for row in self.tables["sample_data"].values():
            self._place(row, problems)
        for rows in self.samples.values():
            self._check_times(rows, problems)
        cameras = sorted({row["channel"] for row in self.tables["sensor"].values() if row["modality"] == "camera"})
        if not cameras:
            problems.add("table sensor: has no camera; a log without cameras cannot be edited")
        for row in self.tables["sample"].values():
            self._check_cameras(row, cameras, problems)

    def _sensor(self, row: Row) -> Row:
        calibration = self.tables["calibrated_sensor"][row["calibrated_sensor_token"]]
        return self.tables["sensor"][calibration["sensor_token"]]

    def _place(self, row: Row, problems: Problems) -> None:
        sample = self.tables["sample"][row["sample_token"]]
        self.poses[sample["scene_token"]].append(self.tables["ego_pose"][row["ego_pose_token"]])
        if not row["is_key_frame"]:
            return
        sensor = self._sensor(row)
        channel, token = sensor["channel"], shorten(row["token"])
        if self.keyed[sample["token"]].setdefault(channel, row) is not row:
            problems.add(
                f"table sample_data, token {token}: a second {channel} keyframe record of sample {sample['token']};"
                " keep one"
            )
        if sensor["modality"] != "camera":
            return
        if not row["width"] or not row["height"]:
            problems.add(f"table sample_data, token {token}, field width/height: a picture needs its size in pixels")
        if not self.tables["calibrated_sensor"][row["calibrated_sensor_token"]]["camera_intrinsic"]:
            problems.add(
                f"table calibrated_sensor, token {shorten(row['calibrated_sensor_token'])}, field camera_intrinsic:"
                f" empty, but {channel} is a camera; restore its calibration"
            )

    def _check_times(self, rows: list[Row], problems: Problems) -> None:
        for earlier, later in pairwise(rows):
            if earlier["timestamp"] == later["timestamp"]:
                problems.add(
                    f"table sample, token {later['token']}, field timestamp: the same as that of {earlier['token']} in"
                    " one scene; drop one"
                )

    def _check_cameras(self, row: Row, cameras: list[str], problems: Problems) -> None:
        there = self.keyed[row["token"]]
        absent = [channel for channel in cameras if channel not in there]
        if absent:
            problems.add(
                f"table sample_data: sample {row['token']} has no keyframe record of {', '.join(absent)}; restore it,"
                " or take the camera out of table sensor when the vehicle has none"
            )

    def scene(self, name: str, row: Row, splits: dict[str, str]) -> SceneLog:
        """Put one scene together."""
        split = official_splits().get(name) or splits.get(name, "none")
        poses = {pose["timestamp"]: pose for pose in self.poses[row["token"]]}
        return SceneLog(
            name=name,
            description=row["description"],
            location=self.tables["log"][row["log_token"]]["location"],
            split=cast(Literal["train", "val", "test", "none"], split),
            mask=self.masks.get(row["log_token"], ""),
            moments=tuple(self._moment(sample) for sample in self.samples[row["token"]]),
            poses=tuple(_posed(poses[time]) for time in sorted(poses)),
        )

    def _moment(self, sample: Row) -> Moment:
        keyed = self.keyed[sample["token"]]
        lidar = keyed.get("LIDAR_TOP")
        cameras = [keyed[channel] for channel in sorted(keyed) if self._sensor(keyed[channel])["modality"] == "camera"]
        return Moment(
            token=sample["token"],
            timestamp_us=sample["timestamp"],
            lidar=_posed(self.tables["ego_pose"][lidar["ego_pose_token"]]) if lidar else None,
            readings=tuple(self._reading(row) for row in cameras),
            notes=tuple(self._note(row) for row in sorted(self.notes[sample["token"]], key=_token)),
        )

    def _reading(self, row: Row) -> Reading:
        calibration = self.tables["calibrated_sensor"][row["calibrated_sensor_token"]]
        matrix: Any = tuple(tuple(map(float, line)) for line in calibration["camera_intrinsic"])
        return Reading(
            channel=self.tables["sensor"][calibration["sensor_token"]]["channel"],
            timestamp_us=row["timestamp"],
            filename=row["filename"],
            width=row["width"],
            height=row["height"],
            intrinsics=matrix,
            translation=_floats(calibration["translation"]),
            rotation=_floats(calibration["rotation"]),
            pose=_posed(self.tables["ego_pose"][row["ego_pose_token"]]),
        )

    def _note(self, row: Row) -> Note:
        instance = self.tables["instance"][row["instance_token"]]
        return Note(
            token=row["token"],
            instance=row["instance_token"],
            category=self.tables["category"][instance["category_token"]]["name"],
            attributes=tuple(self.tables["attribute"][token]["name"] for token in row["attribute_tokens"]),
            visibility=row["visibility_token"],
            translation=_floats(row["translation"]),
            size=_floats(row["size"]),
            rotation=_floats(row["rotation"]),
            velocity=self._velocity(row),
        )

    def _velocity(self, row: Row) -> Xyz | None:
        """Return the centred difference over the neighbouring keyframes, as the devkit's `box_velocity` defines it."""
        if not row["prev"] and not row["next"]:
            return None
        first, last = (self.tables["sample_annotation"][row[end] or row["token"]] for end in ("prev", "next"))
        times = [self.tables["sample"][note["sample_token"]]["timestamp"] for note in (first, last)]
        elapsed = 1e-6 * (times[1] - times[0])
        allowed = LONGEST_GAP_S * (2 if row["prev"] and row["next"] else 1)
        if not 0 < elapsed <= allowed:
            return None
        x, y, z = ((b - a) / elapsed for a, b in zip(first["translation"], last["translation"], strict=True))
        return x, y, z


def _token(row: Row) -> str:
    return row["token"]


def _floats(values: list[float]) -> Any:
    return tuple(float(value) for value in values)


def _posed(row: Row) -> Posed:
    return Posed(row["timestamp"], _floats(row["translation"]), _floats(row["rotation"]))
