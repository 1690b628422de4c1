"""The same logs read record by record, with one dictionary a table: what the columns are held against."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from data_registry.sources.nuscenes.logs import LONGEST_GAP_S, Moment, Note, Posed, Reading, SceneLog
from data_registry.sources.nuscenes.problems import Problems, TablesError, shorten
from data_registry.sources.nuscenes.schema import FIELDS, LINKS, Link
from data_registry.sources.nuscenes.splits import official_splits
from data_registry.sources.nuscenes.streaming import load_json
from data_registry.sources.nuscenes.tables import REMEDY, custom_splits

Row = dict[str, Any]


def plain_logs(folder: Path) -> list[SceneLog]:
    """Read, check and join all tables; TablesError with all problems."""
    problems = Problems()
    rows = {table: _rows(table, load_json(folder / f"{table}.json"), problems) for table in FIELDS}
    problems.raise_any(TablesError, str(folder), REMEDY)
    tables = {table: _by_token(table, entries, problems) for table, entries in rows.items()}
    for table, links in LINKS.items():
        for link in links:
            _check_link(tables, table, link, problems)
    problems.raise_any(TablesError, str(folder), REMEDY)
    logs = _Logs(tables)
    logs.check(problems)
    problems.raise_any(TablesError, str(folder), REMEDY)
    splits = custom_splits(folder)
    return [logs.scene(name, row, splits) for name, row in sorted(logs.scenes.items())]


def _rows(table: str, content: list[Any], problems: Problems) -> list[Row]:
    for index, row in enumerate(content):
        if not isinstance(row, dict):
            problems.add(f"table {table}, record {index}: must be an object, not {shorten(row)}")
            continue
        for field, check in FIELDS[table].items():
            where = f"table {table}, token {shorten(row.get('token'))}"
            if field not in row:
                problems.add(f"{where}: field {field} is missing")
            elif complaint := check(row[field]):
                problems.add(f"{where}, field {field}: {shorten(row[field])} {complaint}")
    return [row for row in content if isinstance(row, dict)]


def _by_token(table: str, rows: list[Row], problems: Problems) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        if row["token"] in found:
            problems.add(f"table {table}, token {shorten(row['token'])}: stands more than once; keep one record")
        found[row["token"]] = row
    return found


def _check_link(tables: dict[str, dict[str, Row]], table: str, link: Link, problems: Problems) -> None:
    for token, row in tables[table].items():
        value = row[link.field]
        for name in value if isinstance(value, list) else [value]:
            if name not in tables[link.target] and not (link.optional and name == ""):
                problems.add(
                    f"table {table}, token {shorten(token)}, field {link.field}: {shorten(name)} is not in table"
                    f" {link.target}; restore that record, or drop this one"
                )


class _Logs:
    def __init__(self, tables: dict[str, dict[str, Row]]) -> None:
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
        for row in self.tables["scene"].values():
            if self.scenes.setdefault(row["name"], row) is not row:
                problems.add(f"table scene, token {row['token']!r}: name {row['name']!r} is taken; rename one scene")
        for row in self.tables["sample_data"].values():
            self._place(row, problems)
        for rows in self.samples.values():
            for earlier, later in pairwise(rows):
                if earlier["timestamp"] == later["timestamp"]:
                    problems.add(
                        f"table sample, token {later['token']}, field timestamp: the same as that of"
                        f" {earlier['token']} in one scene; drop one"
                    )
        cameras = sorted({row["channel"] for row in self.tables["sensor"].values() if row["modality"] == "camera"})
        if not cameras:
            problems.add("table sensor: has no camera; a log without cameras cannot be edited")
        for row in self.tables["sample"].values():
            absent = [channel for channel in cameras if channel not in self.keyed[row["token"]]]
            if absent:
                problems.add(
                    f"table sample_data: sample {row['token']} has no keyframe record of {', '.join(absent)}; restore"
                    " it, or take the camera out of table sensor when the vehicle has none"
                )

    def _sensor(self, row: Row) -> Row:
        return self.tables["sensor"][self._rig(row)["sensor_token"]]

    def _rig(self, row: Row) -> Row:
        return self.tables["calibrated_sensor"][row["calibrated_sensor_token"]]

    def _place(self, row: Row, problems: Problems) -> None:
        sample = self.tables["sample"][row["sample_token"]]
        self.poses[sample["scene_token"]].append(self.tables["ego_pose"][row["ego_pose_token"]])
        if not row["is_key_frame"]:
            return
        channel, where = self._sensor(row)["channel"], f"table sample_data, token {shorten(row['token'])}"
        if self.keyed[sample["token"]].setdefault(channel, row) is not row:
            problems.add(f"{where}: a second {channel} keyframe record of sample {sample['token']}; keep one")
        if self._sensor(row)["modality"] != "camera":
            return
        if not row["width"] or not row["height"]:
            problems.add(f"{where}, field width/height: a picture needs its size in pixels")
        if not self._rig(row)["camera_intrinsic"]:
            problems.add(
                f"table calibrated_sensor, token {shorten(row['calibrated_sensor_token'])}, field camera_intrinsic:"
                f" empty, but {channel} is a camera; restore its calibration"
            )

    def scene(self, name: str, row: Row, splits: dict[str, str]) -> SceneLog:
        poses = {pose["timestamp"]: pose for pose in self.poses[row["token"]]}
        split: Any = official_splits().get(name) or splits.get(name, "none")
        return SceneLog(
            name=name,
            description=row["description"],
            location=self.tables["log"][row["log_token"]]["location"],
            split=split,
            mask=self.masks.get(row["log_token"], ""),
            moments=tuple(self._moment(sample) for sample in self.samples[row["token"]]),
            poses=tuple(_posed(poses[time]) for time in sorted(poses)),
        )

    def _moment(self, sample: Row) -> Moment:
        keyed = self.keyed[sample["token"]]
        lidar = keyed.get("LIDAR_TOP")
        notes = sorted(self.notes[sample["token"]], key=lambda row: row["token"])
        return Moment(
            token=sample["token"],
            timestamp_us=sample["timestamp"],
            lidar=_posed(self.tables["ego_pose"][lidar["ego_pose_token"]]) if lidar else None,
            readings=tuple(self._readings(keyed)),
            notes=tuple(self._note(row) for row in notes),
        )

    def _readings(self, keyed: dict[str, Row]) -> Iterator[Reading]:
        for channel, row in sorted(keyed.items()):
            if self._sensor(row)["modality"] != "camera":
                continue
            rig: Any = self._rig(row)
            yield Reading(
                channel=channel,
                timestamp_us=row["timestamp"],
                filename=row["filename"],
                width=row["width"],
                height=row["height"],
                intrinsics=tuple(tuple(map(float, line)) for line in rig["camera_intrinsic"]),  # type: ignore
                translation=_floats(rig["translation"]),
                rotation=_floats(rig["rotation"]),
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

    def _velocity(self, row: Row) -> tuple[float, float, float] | None:
        if not row["prev"] and not row["next"]:
            return None
        first, last = (self.tables["sample_annotation"][row[end] or row["token"]] for end in ("prev", "next"))
        times = [self.tables["sample"][note["sample_token"]]["timestamp"] for note in (first, last)]
        elapsed = 1e-6 * (times[1] - times[0])
        if not 0 < elapsed <= LONGEST_GAP_S * (2 if row["prev"] and row["next"] else 1):
            return None
        x, y, z = ((b - a) / elapsed for a, b in zip(first["translation"], last["translation"], strict=True))
        return x, y, z


def _floats(values: list[float]) -> Any:
    return tuple(float(value) for value in values)


def _posed(row: Row) -> Posed:
    return Posed(row["timestamp"], _floats(row["translation"]), _floats(row["rotation"]))
