"""Writing a release: there whole or not at all (data_registry/staging.py says how).

A final version is a folder and never changes. A pre-release version (0.0.0-dev) is a symlink to
`<version>.<first 12 digits of the digest>/`, swapped in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from data_registry import identity, tables
from data_registry.blobs import sync_folder
from data_registry.manifest import (
    LARGEST_FILE,
    LOCK,
    MANIFEST,
    ComponentEntry,
    FileEntry,
    Lock,
    Manifest,
    ReleaseCorruptError,
    ReleaseError,
    check_name,
    check_path,
    check_version,
    component_digest,
    is_pre_release,
)
from data_registry.release import ReleaseMissingError, content_digest, open_release, table_path
from data_registry.staging import digest_folder, flush, locked, staged, storage_errors, swap_link


class ReleaseExistsError(ReleaseError):
    """A final version exists with other content, or something else lies where the release would go."""


class ReleaseUnwritableError(ReleaseError):
    """The folder of releases cannot be written to."""


@dataclass(frozen=True, slots=True)
class DraftComponent:
    """What a component puts into a release."""

    component: tables.Component
    frames: Mapping[str, pl.DataFrame]
    """One for each table of the component."""
    files: Mapping[str, Callable[[], bytes]]
    """Other files by path, loaded one at a time while they are written."""
    funnel: Mapping[str, Mapping[str, int]]
    strata: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    """Rows by kind and subset, as the component's check recounts them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A release to be written."""

    name: str
    version: str
    complete: bool
    components: tuple[DraftComponent, ...]
    documents: Callable[[Mapping[str, ComponentEntry]], Mapping[str, bytes]]
    """Makes the files about the whole release from what its components hold."""
    made_by: Mapping[str, Any]
    """For lock.json; any JSON, outside the digest."""


@dataclass(frozen=True, slots=True)
class Published:
    """A release that is on disk."""

    path: Path
    """`<releases>/<name>/<version>`: a folder, or a symlink to one."""
    digest: identity.Digest
    manifest: Manifest
    was_there: bool
    """Whether the version held exactly this content already."""


def write_release(draft: Draft, releases: Path) -> Published:
    """Write a release whole, or leave what was there.

    Raises:
        ReleaseNameError, ReleasePathError: the name, version or a file's path is not possible.
        ReleaseExistsError: the version is final and holds other content.
        ReleaseCorruptError: the same content was published before and its files were changed since.
        StorageFullError: no room; nothing is left behind.
        ReleaseUnwritableError: the folder cannot be written to.
    """
    home = releases / check_name(draft.name)
    check_version(draft.version)
    with storage_errors(home, partial(_unwritable, home)), staged(home, draft.version) as staging:
        manifest = _fill(draft, staging)
        digest = identity.sha256(manifest.content())
        with locked(home):
            was_there = _put_in_place(home, draft.version, staging, digest)
    return Published(home / draft.version, digest, manifest, was_there)


def _unwritable(home: Path, reason: str) -> ReleaseUnwritableError:
    return ReleaseUnwritableError(f"cannot write a release to {home}: {reason}; name another folder with --releases")


def _fill(draft: Draft, staging: Path) -> Manifest:
    """Write all files of a release into its staging folder."""
    components: dict[str, ComponentEntry] = {}
    for part in draft.components:
        files = sorted(_write_component(part, staging), key=lambda entry: entry.path)
        components[part.component.name] = ComponentEntry(
            schema_version=part.component.schema_version,
            counts={name: frame.height for name, frame in part.frames.items()},
            funnel=part.funnel,
            strata=part.strata,
            digest=component_digest(part.component.schema_version, tuple(files)),
            files=tuple(files),
        )
    documents = draft.documents(components)
    manifest = Manifest(
        name=draft.name,
        version=draft.version,
        complete=draft.complete,
        components=components,
        files=tuple(_write(staging, path, documents[path]) for path in sorted(documents)),
    )
    (staging / MANIFEST).write_bytes(manifest.content())
    (staging / LOCK).write_bytes(Lock.of(manifest, draft.made_by).content())
    flush(staging)
    return manifest


def _write_component(part: DraftComponent, staging: Path) -> Iterator[FileEntry]:
    for schema in part.component.tables:
        yield _write(staging, table_path(schema.name), schema.encode(part.frames[schema.name]), schema)
    for path in sorted(part.files):
        yield _write(staging, path, part.files[path]())


def _write(staging: Path, path: str, content: bytes, table: tables.TableSchema | None = None) -> FileEntry:
    target = staging / check_path(path)
    if len(content) > LARGEST_FILE:
        raise ReleaseError(f"{path} would have {len(content)} bytes, more than the {LARGEST_FILE} a reader accepts")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return FileEntry(
        path=path,
        bytes=len(content),
        sha256=identity.sha256(content),
        content_sha256=content_digest(path, content, table),
    )


def _put_in_place(home: Path, version: str, staging: Path, digest: identity.Digest) -> bool:
    """Give the staged release its place under the lock; tell whether the version held this content before."""
    link = home / version
    if not is_pre_release(version):
        return _settle(link, staging, digest)
    if link.exists() and not link.is_symlink():
        raise ReleaseExistsError(f"{link} is not a symlink to a pre-release: move it away and run again")
    folder = digest_folder(home, version, digest)
    there = _settle(folder, staging, digest)
    return swap_link(link, folder) and there


def _settle(folder: Path, staging: Path, digest: identity.Digest) -> bool:
    """Rename the staging folder, unless the same release is there already."""
    if not folder.exists():
        staging.rename(folder)
        sync_folder(folder.parent)
        return False
    mend = f"delete {folder} and build again, or put back what it held"
    try:
        release = open_release(folder)
    except (ReleaseCorruptError, ReleaseMissingError) as error:
        raise ReleaseCorruptError(f"{folder} was damaged or never was a release: {error}; {mend}") from error
    if release.digest != digest:
        raise ReleaseExistsError(
            f"{folder} holds release {release.digest[:12]}, this one is {digest[:12]}: a final version never changes;"
            " choose the next version, or a pre-release version such as 0.0.0-dev"
        )
    for path in release.by_path:
        try:
            release.read(path)
        except ReleaseCorruptError as error:
            raise ReleaseCorruptError(f"{folder} was damaged: {error}; {mend}") from error
    return True
