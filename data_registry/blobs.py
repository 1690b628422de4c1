"""Blobs: immutable content under its sha256, on any file system that fsspec knows.

A blob is written whole or not at all: to a temporary name, flushed to disk, renamed. Every read is checked against the
name, so that a flipped bit is an error and never a picture.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import fsspec

from data_registry import identity
from data_registry.plain_files import refuse_to_replace

_NAME: Final = re.compile(r"[0-9a-f]{64}")


class StorageFullError(OSError):
    """The disk or quota under the store or the releases is full."""

    def __init__(self, where: str, needed: int | None = None) -> None:
        """Say where there is no room, and for how many bytes, when known."""
        size = f" for {needed} bytes" if needed is not None else ""
        super().__init__(
            errno.ENOSPC,
            f"no room{size} at {where}: free some space (`exceptiondrive store gc` drops what nothing refers to) and"
            " run the same command again; finished items are kept",
        )


class FolderGoneError(OSError):
    """The folder of a file that is to be written cannot be made, or went away."""

    def __init__(self, path: Path) -> None:
        """Say which."""
        super().__init__(errno.EIO, f"{path} cannot be written: its folder cannot be made; name another place")


class BlobMissingError(LookupError):
    """The ledger or a release refers to a blob that is not in the store."""


class BlobCorruptError(ValueError):
    """A blob's content does not match its name."""


class Blobs:
    """Content-addressed store under one fsspec URL; local paths need no scheme."""

    def __init__(self, url: str) -> None:
        """Open the store; folders appear with the first blob."""
        self.url = url
        filesystem, root = fsspec.url_to_fs(url)  # pyright: ignore[reportUnknownMemberType]
        self._fs: Any = filesystem
        self._root: str = str(root).rstrip("/")
        self._local = "file" in _protocols(self._fs)

    def path(self, digest: identity.Digest) -> str:
        """Return where a blob lies: `<root>/<first two digits>/<digest>`."""
        if not _NAME.fullmatch(digest):
            raise BlobMissingError(f"{digest!r} is not the name of a blob: it needs 64 hexadecimal digits")
        return f"{self._root}/{digest[:2]}/{digest}"

    def put(self, content: bytes) -> identity.Digest:
        """Store content and return its digest; content that is there already only gets a new age stamp.

        The stamp keeps it from a clean-up that runs before the row that refers to it is committed.

        Raises:
            StorageFullError: no room.
        """
        digest = identity.sha256(content)
        path = self.path(digest)
        if not self._local:
            self._fs.pipe_file(path, content)
        elif not _touch(Path(path)):
            write_atomically(Path(path), content)
        return digest

    def has(self, digest: identity.Digest) -> bool:
        """Tell whether a blob is there."""
        return bool(self._fs.exists(self.path(digest)))

    def get(self, digest: identity.Digest) -> bytes:
        """Return a blob's content.

        Raises:
            BlobMissingError: no such blob.
            BlobCorruptError: the content's digest differs.
        """
        path = self.path(digest)
        try:
            content = bytes(self._fs.cat_file(path))
        except FileNotFoundError as error:
            raise BlobMissingError(
                f"blob {digest} is not in {self.url}: the store is incomplete; restore it, or drop its results with"
                " `exceptiondrive store repair` and build again"
            ) from error
        if identity.sha256(content) != digest:
            raise BlobCorruptError(
                f"{path} does not hold what its name says: run `exceptiondrive store repair` and build again"
            )
        return content

    def names(self) -> Iterator[tuple[identity.Digest, float]]:
        """Yield each blob's digest and its age stamp (seconds since the epoch, infinity where unknown), sorted."""
        if not self._fs.exists(self._root):
            return
        found: dict[str, dict[str, Any]] = self._fs.find(self._root, detail=True)
        for path in sorted(found):
            name = path.rsplit("/", 1)[-1]
            if _NAME.fullmatch(name):
                yield name, _modified(found[path])

    def delete(self, digest: identity.Digest, not_after: float = math.inf) -> bool:
        """Remove a blob unless its age stamp is later than `not_after`; tell whether it was removed.

        Removing one that is not there is no error.
        """
        try:
            if _modified(self._fs.info(self.path(digest))) > not_after:
                return False
            self._fs.rm_file(self.path(digest))
        except FileNotFoundError:
            return False
        return True

    def leftovers(self) -> list[Path]:
        """Return the half-written files of killed writers, sorted; only local stores have such."""
        return sorted(Path(self._root).rglob(".*.part")) if self._local else []


def write_atomically(path: Path, content: bytes) -> None:
    """Write a local file whole or not at all: temporary name, fsync, rename, fsync of the folder.

    Raises:
        NotPlainFileError: a folder, pipe, device, socket or symlink lies there; it stays.
        FolderGoneError: its folder cannot be made.
        StorageFullError: no room; nothing is left behind.
    """
    refuse_to_replace(path)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StorageFullError(str(path), len(content)) from error
        if isinstance(error, FileNotFoundError):
            raise FolderGoneError(path) from error
        raise


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, so that a rename in it survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _protocols(filesystem: Any) -> tuple[str, ...]:
    protocol = filesystem.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _touch(path: Path) -> bool:
    """Give a file a new age stamp; tell whether it is there."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


_STAMPS: Final = ("mtime", "LastModified", "last_modified", "updated", "created")
"""What file systems call the time of the last change: local, S3, Azure, Google, memory."""


def _modified(info: dict[str, Any]) -> float:
    stamp: Any = next((info[name] for name in _STAMPS if info.get(name) is not None), math.inf)
    if isinstance(stamp, str):
        stamp = datetime.fromisoformat(stamp)
    return float(stamp.timestamp() if isinstance(stamp, datetime) else stamp)
