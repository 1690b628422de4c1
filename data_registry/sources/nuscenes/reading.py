"""One pass over a version's tables, refusing what is wrong in itself or dangles, all problems at once.

Three tables hold nearly everything: `ego_pose`, `sample_data` and `sample_annotation` become columns batch by batch
(kinds.py), the others are records. Checks run on whole batches; where one doubts, schema.py looks at each value, so
that messages are schema.py's and the time is spent on broken tables only.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from data_registry.sources.nuscenes.kinds import (
    BOX_SIZE,
    FILE,
    FLAG,
    OPTIONAL_LINK,
    PIXELS,
    POSITION,
    QUATERNION,
    STAMP,
    TOKEN,
    WRONG,
    Kind,
    NameSets,
    row,
)
from data_registry.sources.nuscenes.problems import Problems, TablesError, shorten
from data_registry.sources.nuscenes.schema import FIELDS, LINKS, Link
from data_registry.sources.nuscenes.streaming import batches
from data_registry.sources.nuscenes.tables import REMEDY, table_files
from data_registry.sources.nuscenes.tokens import Directory, Tokens

Record = dict[str, Any]
Columns = dict[str, Any]
Trim = Callable[[Columns], None]

BIG: Final = ("ego_pose", "sample_data", "sample_annotation")


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """A version's tables whose fields and links are sound."""

    small: dict[str, dict[str, Record]]
    """Per table but the big ones, records by token, in file order."""
    poses: Columns
    """`ego_pose`."""
    readings: Columns
    """`sample_data`; links are row numbers; `filename` has an entry only where `is_named`: for cameras' keyframes."""
    notes: Columns
    """`sample_annotation`; links are row numbers, those to neighbours -1 where there is none."""
    visibilities: tuple[str, ...]
    """What `visibility_token` of `notes` counts."""
    attributes: tuple[tuple[str, ...], ...]
    """What `attribute_tokens` of `notes` counts: names."""


def read_tables(folder: Path) -> Tables:
    """Read and check all tables.

    Raises:
        TablesError: missing or unreadable tables, missing or wrong fields, duplicate or dangling tokens.
    """
    files = table_files(folder)
    with _no_collection():
        return _Reader(files).read(str(folder))


@contextmanager
def _no_collection() -> Generator[None]:
    """Pause Python's search for cycles: it would walk through millions of fresh records that have none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Reader:
    """The tables as far as they are read, and what was wrong so far."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self._problems = Problems()
        self._repeated = Problems()
        self._dangling = Problems()
        self._small: dict[str, dict[str, Record]] = {}

    def read(self, folder: str) -> Tables:
        self._small = {table: self._records(table) for table in self._files if table not in BIG}
        visibilities = _numbers(self._small["visibility"])
        visibilities.setdefault("", len(visibilities))
        attributes = NameSets({token: record["name"] for token, record in self._small["attribute"].items()})
        poses = self._columns("ego_pose", _POSE_KINDS)
        readings = self._readings()
        notes = self._notes(row(visibilities), attributes.kind())
        self._problems.raise_any(TablesError, folder, REMEDY)
        self._follow(poses, readings, notes)
        self._repeated.take_over(self._dangling)
        self._repeated.raise_any(TablesError, folder, REMEDY)
        return Tables(self._small, poses, readings, notes, tuple(visibilities), tuple(attributes.found))

    def _records(self, table: str) -> dict[str, Record]:
        """Read a small table; of records with the same token the last one stays."""
        own, records = Problems(), dict[str, Record]()
        for record in (record for batch in self._batches(table, own) for record in batch):
            if _is_sound(table, record, own):
                if record["token"] in records:
                    self._repeated.add(_repeats(table, record["token"]))
                records[record["token"]] = record
        self._problems.take_over(own)
        return records

    def _batches(self, table: str, problems: Problems) -> Iterator[list[Record]]:
        """Yield the objects of a table; of a file that is no sound JSON list nothing else is told than that."""
        count = 0
        try:
            for batch in batches(self._files[table]):
                yield _objects(table, batch, count, problems)
                count += len(batch)
        except ValueError as error:
            problems.clear()
            problems.add(f"table {table}: {error}")

    def _columns(self, table: str, kinds: Mapping[str, Kind], trim: Trim | None = None) -> Columns:
        own = Problems()
        parts: dict[str, list[Any]] = {field: [] for field in kinds}
        for batch in self._batches(table, own):
            found = self._converted(table, batch, kinds, own)
            if found and trim:
                trim(found)
            for field, part in found.items():
                parts[field].append(part)
        self._problems.take_over(own)
        return {field: kind.joined(parts.pop(field)) for field, kind in kinds.items()}

    def _converted(self, table: str, batch: list[Record], kinds: Mapping[str, Kind], problems: Problems) -> Columns:
        """Return a batch's part of each column; nothing when one of its records is wrong in itself."""
        try:
            values = {field: list(map(itemgetter(field), batch)) for field in kinds}
            found = {field: kind.convert(values[field]) for field, kind in kinds.items()}
            if all(kind.is_sure(values[field], found[field]) for field, kind in kinds.items()):
                return found
        except WRONG:
            pass  # said below, value by value
        sound = [_is_sound(table, record, problems) for record in batch]
        if not all(sound):
            return {}
        for link in LINKS.get(table, ()):
            if link.target not in BIG:
                _check_links(table, link, batch, (self._small[link.target], self._dangling))
        return {field: kind.convert([record[field] for record in batch]) for field, kind in kinds.items()}

    def _readings(self) -> Columns:
        """Read `sample_data`; file names take more room than all the rest, so only those that are needed stay."""
        sensors, rigs = self._small["sensor"], self._small["calibrated_sensor"]
        modalities = [sensors.get(rig["sensor_token"], {}).get("modality") for rig in rigs.values()]
        is_camera = np.array([*(modality == "camera" for modality in modalities), False])  # row -1 dangles

        def trim(found: Columns) -> None:
            named = np.flatnonzero(found["is_key_frame"] & is_camera[found["calibrated_sensor_token"]])
            found["filename"] = [found["filename"][number] for number in named.tolist()]

        kinds: dict[str, Kind] = {
            "token": TOKEN,
            "sample_token": row(_numbers(self._small["sample"])),
            "ego_pose_token": TOKEN,
            "calibrated_sensor_token": row(_numbers(rigs)),
            "timestamp": STAMP,
            "is_key_frame": FLAG,
            "height": PIXELS,
            "width": PIXELS,
            "filename": FILE,
        }
        found = self._columns("sample_data", kinds, trim)
        return found | {"is_named": found["is_key_frame"] & is_camera[found["calibrated_sensor_token"]]}

    def _notes(self, visibility: Kind, attributes: Kind) -> Columns:
        kinds: dict[str, Kind] = {
            "token": TOKEN,
            "sample_token": row(_numbers(self._small["sample"])),
            "instance_token": row(_numbers(self._small["instance"])),
            "visibility_token": visibility,
            "attribute_tokens": attributes,
            "translation": POSITION,
            "size": BOX_SIZE,
            "rotation": QUATERNION,
            "prev": OPTIONAL_LINK,
            "next": OPTIONAL_LINK,
        }
        return self._columns("sample_annotation", kinds)

    def _follow(self, poses: Columns, readings: Columns, notes: Columns) -> None:
        """Find repeated tokens of big tables and turn links to big tables into row numbers."""
        for table, links in LINKS.items():
            for link in links if table not in BIG else ():
                records = self._small[table].values()
                _check_links(table, link, records, (self._small[link.target], self._dangling))
        places = {table: self._directory(table, columns["token"]) for table, columns in _named(poses, readings, notes)}
        self._resolve("sample_data", readings, "ego_pose_token", (readings["ego_pose_token"], places["ego_pose"]))
        for end in ("prev", "next"):
            self._resolve("sample_annotation", notes, end, (notes[end][0], places["sample_annotation"]))

    def _directory(self, table: str, tokens: Tokens) -> Directory:
        directory = Directory(tokens)
        for repeated in directory.repeated().tolist():
            self._repeated.add(_repeats(table, tokens.text(repeated)))
        return directory

    def _resolve(self, table: str, columns: Columns, field: str, lookup: tuple[Tokens, Directory]) -> None:
        links, directory = lookup
        rows = directory.rows(links)
        lost = rows < 0
        if field in {"prev", "next"}:
            lost &= ~columns[field][1]
            rows[columns[field][1]] = -1
        target = next(link.target for link in LINKS[table] if link.field == field)
        for number in np.flatnonzero(lost).tolist():
            self._dangling.add(_dangles((table, columns["token"].text(number)), field, links.text(number), target))
        columns[field] = rows


_POSE_KINDS: Final[dict[str, Kind]] = {
    "token": TOKEN,
    "timestamp": STAMP,
    "translation": POSITION,
    "rotation": QUATERNION,
}


def _named(*columns: Columns) -> Iterable[tuple[str, Columns]]:
    return zip(BIG, columns, strict=True)


def _numbers(records: Iterable[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(records)}


def _objects(table: str, batch: list[Any], first: int, problems: Problems) -> list[Record]:
    if set(map(type, batch)) <= {dict}:
        return batch
    for index, record in enumerate(batch, first):
        if not isinstance(record, dict):
            problems.add(f"table {table}, record {index}: must be an object, not {shorten(record)}")
    return [record for record in batch if isinstance(record, dict)]


def _is_sound(table: str, record: Record, problems: Problems) -> bool:
    """Check each field of a record that the reader uses."""
    before = problems.count
    for field, check in FIELDS[table].items():
        if field not in record:
            problems.add(f"table {table}, token {shorten(record.get('token'))}: field {field} is missing")
        elif complaint := check(record[field]):
            found = shorten(record[field])
            problems.add(f"table {table}, token {shorten(record.get('token'))}, field {field}: {found} {complaint}")
    return problems.count == before


def _repeats(table: str, token: str) -> str:
    return f"table {table}, token {shorten(token)}: stands more than once; keep one record"


def _check_links(
    table: str, link: Link, records: Iterable[Record], against: tuple[Mapping[str, Record], Problems]
) -> None:
    target, problems = against
    for record in records:
        value = record[link.field]
        for name in cast(list[str], value) if isinstance(value, list) else [cast(str, value)]:
            if name not in target and not (link.optional and name == ""):
                problems.add(_dangles((table, record["token"]), link.field, name, link.target))


def _dangles(record: tuple[str, str], field: str, name: str, target: str) -> str:
    table, token = record
    return (
        f"table {table}, token {shorten(token)}, field {field}: {shorten(name)} is not in table {target}; restore that"
        " record, or drop this one"
    )
