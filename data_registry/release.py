"""Opening a release with distrust: whatever is read is checked against the manifest first.

`<releases>/<name>/<version>/` holds a release; release_writer.py says how it gets there. This module knows no table by
name: components declare theirs in data_registry/components.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from data_registry import components, identity, tables
from data_registry.manifest import (
    LARGEST_MANIFEST,
    LOCK,
    MANIFEST,
    FileEntry,
    Lock,
    Manifest,
    ReleaseCorruptError,
    ReleaseError,
    ReleaseSchemaError,
    parse_lock,
    parse_manifest,
)
from data_registry.pictures import decode_mask, decode_rgb, pixels_digest


class ReleaseMissingError(ReleaseError):
    """There is no release at a path."""


@dataclass(frozen=True)
class Release:
    """An opened release; every read is checked against the manifest."""

    path: Path
    """Folder, symlinks resolved."""
    manifest: Manifest
    digest: identity.Digest
    """sha256 of manifest.json."""

    @cached_property
    def by_path(self) -> Mapping[str, FileEntry]:
        """The manifest's files by path."""
        return {entry.path: entry for entry in self.manifest.entries()}

    def read(self, path: str) -> bytes:
        """Return a file's bytes.

        Raises:
            ReleaseCorruptError: the manifest has no such file, or it is missing, not a plain file, or changed.
        """
        if path not in self.by_path:
            raise ReleaseCorruptError(f"{path[:200]!a} is no file of release {self.manifest.version}")
        entry = self.by_path[path]
        content = read_inside(self.path, path, entry.bytes)
        if len(content) != entry.bytes or identity.sha256(content) != entry.sha256:
            raise ReleaseCorruptError(
                f"{path} of {self.path} was changed after the release was made: fetch the release again"
            )
        return content

    def frame(self, component: str, table: str, columns: Collection[str] = ()) -> pl.DataFrame:
        """Return one table, or some of its columns, those of its key among them.

        Raises:
            ReleaseCorruptError: the file is not what the manifest says.
            tables.TableError: it does not hold the table that the component declares.
        """
        path = table_path(table)
        return components.component(component).table(table).decode(self.read(path), path, columns)

    def lock(self) -> Lock:
        """Return what made the release; raises ReleaseCorruptError when lock.json is not this release's."""
        lock = parse_lock(read_inside(self.path, LOCK, LARGEST_MANIFEST))
        if lock.release != self.digest:
            raise ReleaseCorruptError(f"{LOCK} belongs to another release: it names {lock.release}, not {self.digest}")
        return lock


def table_path(table: str) -> str:
    """Return where a release keeps a table."""
    return f"tables/{table}.parquet"


def open_release(path: Path) -> Release:
    """Open a release by its manifest alone; files are checked when they are read.

    Raises:
        ReleaseMissingError: no folder with a manifest or a lock there.
        ReleaseCorruptError: the manifest is not one, not a plain file, or gone while its lock is there.
        ReleaseSchemaError: the release, or a component of it, is newer than this code.
    """
    folder = _resolved(path)
    if folder is None or not any(os.path.lexists(folder / name) for name in (MANIFEST, LOCK)):
        raise ReleaseMissingError(
            f"there is no release at {path}: it needs a {MANIFEST}; build one, or name its folder"
        )
    content = read_inside(folder, MANIFEST, LARGEST_MANIFEST)
    try:
        manifest = parse_manifest(content)
        for name, entry in manifest.components.items():
            _refuse_newer(name, entry.schema_version)
    except (ReleaseSchemaError, ReleaseCorruptError) as error:
        raise type(error)(f"{path}: {error}") from error
    return Release(folder, manifest, identity.sha256(content))


def _resolved(path: Path) -> Path | None:
    """Follow symlinks; None when they lead in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return None


def _refuse_newer(name: str, found: int) -> None:
    try:
        known = components.component(name).schema_version
    except tables.TableError as error:
        raise ReleaseSchemaError(f"this code cannot read the release: {error}; update exceptiondrive") from error
    if found != known:
        raise ReleaseSchemaError(
            f"component {name} has schema version {found}, this code knows {known}: use an exceptiondrive that knows"
            " it, or build the release again"
        )


def read_inside(folder: Path, path: str, most: int) -> bytes:
    """Return the bytes of a plain file below a folder, following no symlink below it.

    Raises:
        ReleaseCorruptError: missing, not a plain file, reached through a symlink, or larger than `most` bytes.
    """
    place = folder
    for part in path.split("/"):
        place = place / part
        if place.is_symlink():
            raise ReleaseCorruptError(f"{path}: {part} is a symlink; a release holds plain files only")
    try:
        # O_NONBLOCK: a named pipe in the file's place must not make its reader wait for ever
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise ReleaseCorruptError(f"{path} cannot be read: {error.strerror}; fetch the release again") from error
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        os.close(descriptor)
        raise ReleaseCorruptError(f"{path} is not a plain file")
    with os.fdopen(descriptor, "rb") as file:
        if state.st_size > most:
            raise ReleaseCorruptError(f"{path} has {state.st_size} bytes, more than the {most} it may have")
        return file.read(most + 1)


def content_digest(path: str, content: bytes, table: tables.TableSchema | None = None) -> identity.Digest:
    """Return a file's digest that is the same on every machine: of rows, of pixels, or else of the bytes.

    Raises:
        TableError, PictureError: the file is not what its name says.
    """
    if table is not None:
        return table.content_digest(table.decode(content, path))
    if path.endswith("_mask.png"):
        return pixels_digest(decode_mask(content, path))
    if path.endswith(".png"):
        return pixels_digest(decode_rgb(content, path))
    return identity.sha256(content)
