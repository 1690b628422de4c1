"""Indexes and digests of a root, kept inside the store: derived, disposable, and never part of an identity.

An index is a folder of columns (contents.py), named by the digest of the tables it was made from.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from data_registry import identity
from data_registry.blobs import write_atomically
from data_registry.sources.nuscenes.assembly import Assembly
from data_registry.sources.nuscenes.columns import Columns, ColumnWriter, written
from data_registry.sources.nuscenes.contents import Contents
from data_registry.sources.nuscenes.logs import SceneLog
from data_registry.sources.nuscenes.problems import TablesError
from data_registry.sources.nuscenes.reading import read_tables
from data_registry.sources.nuscenes.scenes import LogReader
from data_registry.sources.nuscenes.shelf import kept
from data_registry.sources.nuscenes.tables import SPLITS_FILE, custom_splits, table_files

INDEX_SCHEMA: Final = 2
"""Raised whenever the content of an index changes: older ones are then built anew."""
CONTENTS: Final = "contents.json"
COLUMNS: Final = "columns.bin"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class FileDigests:
    """Digests of files below a folder, remembered by (relative path, size, time of change in ns)."""

    def __init__(self, root: Path, cache: Path) -> None:
        """Load what is remembered; a cache that cannot be read is an empty one."""
        self._root = root
        self._cache = cache
        self._known = self._load()
        self._new: dict[str, list[Any]] = {}

    def _load(self) -> dict[str, list[Any]]:
        try:
            content = json.loads(self._cache.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return cast(dict[str, list[Any]], content) if isinstance(content, dict) else {}

    def of(self, relative: str) -> identity.Digest | None:
        """Return the sha256 of a file's bytes; None when it is not there or cannot be read."""
        try:
            with (self._root / relative).open("rb") as file:
                stat = os.fstat(file.fileno())
                stamp = [stat.st_size, stat.st_mtime_ns]
                known = self._known.get(relative)
                if isinstance(known, list) and known[:2] == stamp and _DIGEST.fullmatch(str(known[-1])):
                    return str(known[-1])
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None
        self._known[relative] = self._new[relative] = [*stamp, found]
        return found

    def save(self) -> None:
        """Keep what was learnt; two processes may save at once, then one of them learns some files again."""
        if self._new:
            merged = dict(sorted((self._load() | self._new).items()))
            write_atomically(self._cache, json.dumps(merged, separators=(",", ":")).encode())
            self._new = {}


def tables_fingerprint(folder: Path, cache: Path) -> identity.Digest:
    """Return the digest of a version's tables: of their bytes, not of their place or age.

    Raises:
        TablesError: a table is missing or cannot be read.
    """
    digests = FileDigests(folder, cache)
    names = [path.name for path in table_files(folder).values()]
    content = {name: digests.of(name) for name in sorted([*names, SPLITS_FILE])}
    unreadable = [name for name in names if content[name] is None]
    if unreadable:
        raise TablesError(f"{folder}: cannot read {', '.join(unreadable)}: give the files read permission")
    digests.save()
    return identity.digest({"schema": 1, "tables": content})


class Index:
    """Scenes of one set of tables, mapped."""

    def __init__(self, folder: Path, fingerprint: identity.Digest) -> None:
        """Open a finished index."""
        contents = Contents.model_validate_json((folder / CONTENTS).read_bytes())
        self.fingerprint = fingerprint
        """Digest of the tables that it was made from."""
        self._folder = folder
        self._logs = LogReader(contents, Columns(folder / COLUMNS, contents.columns))
        self.scenes: tuple[str, ...] = tuple(scene.name for scene in contents.scenes)
        """Scene names, sorted."""
        self._numbers = {name: number for number, name in enumerate(self.scenes)}
        self.scene = lru_cache(maxsize=4)(self._scene)

    def owner(self, token: str) -> str | None:
        """Return the scene of a sample token, None when no sample has it."""
        number = self._logs.owner(token)
        return None if number is None else self.scenes[number]

    def _scene(self, name: str) -> SceneLog:
        return self._logs.scene(self._numbers[name])


def open_index(tables: Path, home: Path, cache: Path) -> Index:
    """Return the index of a version folder, building it when there is none.

    Args:
        tables: the version folder.
        home: where indexes lie.
        cache: file that remembers the digests of tables.

    Raises:
        TablesError: the tables are missing, broken, or change while they are read; nothing is kept then.
        StorageFullError: no room under `home`.
    """
    fingerprint = tables_fingerprint(tables, cache)

    def build(staging: Path) -> None:
        _build(tables, staging)
        if tables_fingerprint(tables, cache) != fingerprint:
            raise TablesError(f"{tables} changed while it was read: run the same command again")

    return kept(home / f"tables-{INDEX_SCHEMA}-{fingerprint}", lambda folder: Index(folder, fingerprint), build)


def _build(tables: Path, staging: Path) -> None:
    splits = custom_splits(tables)
    assembly = Assembly(read_tables(tables))
    assembly.check(str(tables))
    with written(staging / COLUMNS) as file:
        contents = assembly.write(ColumnWriter(file), splits)
    write_atomically(staging / CONTENTS, contents.model_dump_json().encode())
