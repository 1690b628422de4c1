"""From checked tables to the columns of an index: links followed, scenes one after another, keyframes in time order.

Whatever contradicts itself across records is refused here. The columns are those of contents.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np

from data_registry.geometry import Array
from data_registry.sources.nuscenes.columns import ColumnWriter
from data_registry.sources.nuscenes.contents import Contents, SceneEntry, Split
from data_registry.sources.nuscenes.logs import LONGEST_GAP_S
from data_registry.sources.nuscenes.problems import Problems, TablesError, shorten
from data_registry.sources.nuscenes.reading import Record, Tables
from data_registry.sources.nuscenes.splits import official_splits
from data_registry.sources.nuscenes.tables import REMEDY
from data_registry.sources.nuscenes.tokens import Rows, Tokens

LIDAR: Final = "LIDAR_TOP"


class Assembly:
    """The tables once more, in the order of scenes."""

    def __init__(self, tables: Tables) -> None:
        """Number scenes, keyframes, channels and categories; nothing is checked yet."""
        self._tables = tables
        self._small = tables.small
        rigs, sensors = self._small["calibrated_sensor"], self._small["sensor"]
        channels = [sensors[rig["sensor_token"]]["channel"] for rig in rigs.values()]
        self._channels = sorted({*channels, LIDAR, *(sensor["channel"] for sensor in sensors.values())})
        self._channel = _numbered(channels, self._channels)
        """Per calibrated sensor."""
        self._rigs = list(rigs.values())
        self._scenes = sorted(self._small["scene"].values(), key=lambda scene: scene["name"])
        owners = {scene["token"]: number for number, scene in enumerate(self._scenes)}
        self._samples: list[list[Record]] = [[] for _ in self._scenes]
        for sample in self._small["sample"].values():
            self._samples[owners[sample["scene_token"]]].append(sample)
        for own in self._samples:
            own.sort(key=lambda sample: (sample["timestamp"], sample["token"]))
        self._moments = [sample for own in self._samples for sample in own]
        places = {sample["token"]: number for number, sample in enumerate(self._moments)}
        self._moment: Rows = np.array([places[token] for token in self._small["sample"]], np.int64)
        """Per sample in table order: its place among all moments."""
        self._scene: Rows = np.repeat(
            np.arange(len(self._scenes)), np.array([len(own) for own in self._samples], np.int64)
        )
        """Per moment."""
        readings = tables.readings
        self._keyed: Rows = np.flatnonzero(readings["is_key_frame"])
        """Keyframe records, in table order."""
        self._reading_moment: Rows = self._moment[readings["sample_token"]]
        self._reading_channel: Rows = self._channel[readings["calibrated_sensor_token"]]

    def check(self, folder: str) -> None:
        """Check what no single record shows.

        Raises:
            TablesError: all problems of all scenes at once.
        """
        problems = Problems()
        names: dict[str, Record] = {}
        for scene in self._small["scene"].values():
            if names.setdefault(scene["name"], scene) is not scene:
                problems.add(
                    f"table scene, token {shorten(scene['token'])}: name {scene['name']!r} is taken; rename one scene"
                )
        for row in self._doubtful_readings().tolist():
            self._check_reading(row, problems)
        for own in self._samples:
            _check_times(own, problems)
        self._check_cameras(problems)
        problems.raise_any(TablesError, folder, REMEDY)

    def _slots(self) -> Rows:
        """Return for each keyframe record the number of its moment and channel."""
        return self._reading_moment[self._keyed] * len(self._channels) + self._reading_channel[self._keyed]

    def _doubtful_readings(self) -> Rows:
        """Return the keyframe records, in table order, that stand second in their place or lack a size or a lens."""
        readings, keyed = self._tables.readings, self._keyed
        _, first = np.unique(self._slots(), return_index=True)
        self._second = np.ones(len(keyed), np.bool_)
        self._second[first] = False
        blind = np.array([not rig["camera_intrinsic"] for rig in self._rigs], np.bool_)
        sizeless = (readings["width"][keyed] == 0) | (readings["height"][keyed] == 0)
        unfit = readings["is_named"][keyed] & (sizeless | blind[readings["calibrated_sensor_token"][keyed]])
        return np.flatnonzero(self._second | unfit)

    def _check_reading(self, number: int, problems: Problems) -> None:
        row, readings = self._keyed[number], self._tables.readings
        rig = self._rigs[readings["calibrated_sensor_token"][row]]
        token, channel = shorten(readings["token"].text(row)), self._channels[self._reading_channel[row]]
        if self._second[number]:
            sample = self._moments[self._reading_moment[row]]["token"]
            problems.add(
                f"table sample_data, token {token}: a second {channel} keyframe record of sample {sample}; keep one"
            )
        if not readings["is_named"][row]:
            return
        if not readings["width"][row] or not readings["height"][row]:
            problems.add(f"table sample_data, token {token}, field width/height: a picture needs its size in pixels")
        if not rig["camera_intrinsic"]:
            problems.add(
                f"table calibrated_sensor, token {shorten(rig['token'])}, field camera_intrinsic: empty, but {channel}"
                " is a camera; restore its calibration"
            )

    def _check_cameras(self, problems: Problems) -> None:
        sensors = self._small["sensor"].values()
        cameras = sorted({sensor["channel"] for sensor in sensors if sensor["modality"] == "camera"})
        if not cameras:
            problems.add("table sensor: has no camera; a log without cameras cannot be edited")
        there = np.zeros((len(self._moments), len(self._channels)), np.bool_)
        there.reshape(-1)[self._slots()] = True
        wanted = there[:, _numbered(cameras, self._channels)]
        for sample in np.flatnonzero(~wanted[self._moment].all(axis=1)).tolist():
            place = self._moment[sample]
            absent = [channel for channel, is_there in zip(cameras, wanted[place], strict=True) if not is_there]
            problems.add(
                f"table sample_data: sample {self._moments[place]['token']} has no keyframe record of"
                f" {', '.join(absent)}; restore it, or take the camera out of table sensor when the vehicle has none"
            )

    def write(self, writer: ColumnWriter, splits: Mapping[str, str]) -> Contents:
        """Write the columns and return what belongs beside them in the contents.

        Args:
            writer: writes into the index.
            splits: splits of scenes that nuScenes does not know.

        Raises:
            OSError: no room.
        """
        self._write_moments(writer)
        self._write_readings(writer)
        categories = self._write_notes(writer)
        poses_end = self._write_poses(writer)
        return Contents(
            scenes=self._scene_entries(splits, poses_end),
            channels=tuple(self._channels),
            categories=categories,
            attributes=self._tables.attributes,
            visibilities=self._tables.visibilities,
            columns=writer.layout,
        )

    def _scene_entries(self, splits: Mapping[str, str], poses_end: list[int]) -> tuple[SceneEntry, ...]:
        masks: dict[str, str] = {}
        for entry in self._small["map"].values():
            for log in entry["log_tokens"]:
                masks.setdefault(log, entry["filename"])
        moments_end = np.cumsum([len(own) for own in self._samples], dtype=np.int64).tolist()
        return tuple(
            SceneEntry(
                name=scene["name"],
                description=scene["description"],
                location=self._small["log"][scene["log_token"]]["location"],
                split=cast(Split, official_splits().get(scene["name"]) or splits.get(scene["name"], "none")),
                mask=masks.get(scene["log_token"], ""),
                moments_end=moments_end[number],
                poses_end=poses_end[number],
            )
            for number, scene in enumerate(self._scenes)
        )

    def _write_moments(self, writer: ColumnWriter) -> None:
        tokens = Tokens.of([sample["token"] for sample in self._moments])
        writer.tokens("moment-token", tokens)
        writer.array("token-order", np.argsort(tokens.ranks()).astype(np.int32))
        writer.array("moment-time", np.array([sample["timestamp"] for sample in self._moments], np.int64))
        lidars = self._keyed[self._reading_channel[self._keyed] == self._channels.index(LIDAR)]
        rows = np.full(len(self._moments), -1, np.int64)
        rows[self._reading_moment[lidars]] = self._tables.readings["ego_pose_token"][lidars]
        writer.array("moment-has_lidar", rows >= 0)
        self._write_pose_columns(writer, "moment-lidar_", np.maximum(rows, 0))

    def _write_pose_columns(self, writer: ColumnWriter, prefix: str, rows: Rows) -> None:
        """Write ego poses by their rows; where the table is empty nobody refers to one."""
        poses = self._tables.poses
        for column, field in (("time", "timestamp"), ("xyz", "translation"), ("wxyz", "rotation")):
            values = poses[field]
            none = np.zeros((len(rows), *values.shape[1:]), values.dtype)
            writer.array(f"{prefix}{column}", values[rows] if len(values) else none)

    def _write_readings(self, writer: ColumnWriter) -> None:
        readings = self._tables.readings
        named = np.flatnonzero(readings["is_named"])
        order = np.lexsort((self._reading_channel[named], self._reading_moment[named]))
        rows = named[order]
        used, rigs = np.unique(readings["calibrated_sensor_token"][rows], return_inverse=True)
        writer.array("reading-channel", self._reading_channel[rows].astype(np.int32))
        writer.array("reading-time", readings["timestamp"][rows])
        writer.texts("reading-file", [readings["filename"][number] for number in order.tolist()])
        writer.array("reading-width", readings["width"][rows].astype(np.int32))
        writer.array("reading-height", readings["height"][rows].astype(np.int32))
        writer.array("reading-rig", rigs.astype(np.int32))
        self._write_pose_columns(writer, "reading-pose_", readings["ego_pose_token"][rows])
        writer.array("moment-readings_end", self._ends(self._reading_moment[rows]))
        found = [self._rigs[row] for row in used.tolist()]
        writer.array("rig-matrix", _vectors((rig["camera_intrinsic"] for rig in found), (3, 3)))
        writer.array("rig-xyz", _vectors((rig["translation"] for rig in found), (3,)))
        writer.array("rig-wxyz", _vectors((rig["rotation"] for rig in found), (4,)))

    def _ends(self, moments: Rows) -> Rows:
        """Return where each moment's rows end, given the moments of the rows in order."""
        return np.cumsum(np.bincount(moments, minlength=len(self._moments)))

    def _write_notes(self, writer: ColumnWriter) -> tuple[str, ...]:
        notes = self._tables.notes
        moments = self._moment[notes["sample_token"]]
        order = np.lexsort((notes["token"].ranks(), moments))
        instances = self._small["instance"]
        used = sorted({instance["category_token"] for instance in instances.values()})
        category = _numbered((instance["category_token"] for instance in instances.values()), used)
        writer.tokens("instance-token", Tokens.of(list(instances)))
        writer.tokens("note-token", notes["token"].take(order))
        writer.array("note-instance", notes["instance_token"][order])
        writer.array("note-category", category[notes["instance_token"][order]].astype(np.int32))
        writer.array("note-attributes", notes["attribute_tokens"][order])
        writer.array("note-visibility", notes["visibility_token"][order])
        for column, field in (("xyz", "translation"), ("size", "size"), ("wxyz", "rotation")):
            writer.array(f"note-{column}", notes[field][order])
        writer.array("note-velocity", self._velocities(moments)[order])
        writer.array("moment-notes_end", self._ends(moments))
        return tuple(self._small["category"][token]["name"] for token in used)

    def _velocities(self, moments: Rows) -> Array:
        """Return centred differences over the neighbouring keyframes, as the devkit's `box_velocity` defines them.

        Rows are NaN where neighbours are missing or too far apart in time.
        """
        notes = self._tables.notes
        times = np.array([sample["timestamp"] for sample in self._moments], np.int64)[moments]
        own = np.arange(len(moments))
        first, last = (np.where(notes[end] < 0, own, notes[end]) for end in ("prev", "next"))
        elapsed = 1e-6 * (times[last] - times[first])
        allowed = np.where((notes["prev"] >= 0) & (notes["next"] >= 0), 2 * LONGEST_GAP_S, LONGEST_GAP_S)
        usable = (elapsed > 0) & (elapsed <= allowed)
        places = notes["translation"]
        velocities = (places[last] - places[first]) / np.where(usable, elapsed, np.nan)[:, None]
        return velocities

    def _write_poses(self, writer: ColumnWriter) -> list[int]:
        """Write every ego pose of every scene in time order; of several at one time the last in the table stays."""
        rows = self._tables.readings["ego_pose_token"]
        scenes = self._scene[self._reading_moment]
        times = self._tables.poses["timestamp"][rows] if len(rows) else np.zeros(0, np.int64)
        order = np.lexsort((times, scenes))
        scenes, times = scenes[order], times[order]
        is_last = np.ones(len(order), np.bool_)
        is_last[:-1] = (scenes[1:] != scenes[:-1]) | (times[1:] != times[:-1])
        self._write_pose_columns(writer, "pose-", rows[order][is_last])
        return np.cumsum(np.bincount(scenes[is_last], minlength=len(self._scenes))).tolist()


def _numbered(names: Iterable[str], known: Sequence[str]) -> Rows:
    numbers = {name: number for number, name in enumerate(known)}
    return np.array([numbers[name] for name in names], np.int64)


def _vectors(values: Iterable[Any], shape: tuple[int, ...]) -> Array:
    return np.array(list(values), np.float64).reshape(-1, *shape)


def _check_times(samples: list[Record], problems: Problems) -> None:
    for earlier, later in pairwise(samples):
        if earlier["timestamp"] == later["timestamp"]:
            problems.add(
                f"table sample, token {later['token']}, field timestamp: the same as that of {earlier['token']} in one"
                " scene; drop one"
            )
