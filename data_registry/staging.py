"""Folders that are there whole or not at all, whoever else writes and whatever kills the writer.

What is written goes to a staging folder beside its target, is flushed, and is renamed once. A name that may change is
a symlink to `<name>.<first 12 digits of the digest>/`, swapped in one step under a lock; the newest such folders are
kept, so that whoever reads an older one has time to finish. Staging folders of writers that died are removed by the
next one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from data_registry import holders, identity
from data_registry.blobs import StorageFullError, sync_folder

KEPT: Final = 3
"""Folders of one changing name that stay: the one that the symlink names, and the newest others."""
_ABANDONED_S: Final = 7 * 24 * 3600.0
"""Age at which a staging folder of another machine, whose writer cannot be asked, counts as left behind."""
_LINK_S: Final = 60.0
"""Age at which a half-made symlink is nobody's any more."""


@contextmanager
def staged(home: Path, name: str) -> Generator[Path]:
    """Yield the path of a new staging folder in `home` for something called `name`; what is left of it goes at the end.

    The caller makes the folder, flushes it and renames it away.
    """
    home.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(home)
    staging = home / f".staging~{name}~{holders.this_process().replace('/', '~')}~{uuid.uuid4().hex[:8]}"
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def storage_errors(home: Path, unwritable: Callable[[str], Exception]) -> Generator[None]:
    """Turn what the file system says into StorageFullError, or into what `unwritable` makes of the reason."""
    try:
        yield
    except OSError as error:
        if isinstance(error, StorageFullError):
            raise
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StorageFullError(str(home)) from error
        raise unwritable(str(error.strerror or error)) from error


def flush(staging: Path) -> None:
    """Flush files, then their folders, to disk: all at the end, so that the disk can take them together."""
    for folder, _, names in os.walk(staging, topdown=False):
        for name in names:
            with (Path(folder) / name).open("rb") as file:
                os.fsync(file.fileno())
        sync_folder(Path(folder))


@contextmanager
def locked(home: Path) -> Generator[None]:
    """Hold the one lock of a folder's names; it goes with its process, however that ends."""
    with (home / ".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def digest_folder(home: Path, name: str, digest: identity.Digest) -> Path:
    """Return the folder that a changing name's symlink leads to when its content has this digest."""
    return home / f"{name}.{digest[:12]}"


def swap_link(link: Path, folder: Path) -> bool:
    """Let a symlink name a folder beside it, in one step; tell whether it did before. Hold the lock.

    Older folders of the same name are removed but for the newest ones.
    """
    named = link.is_symlink() and link.readlink() == Path(folder.name)
    os.utime(folder)  # the newest by publication, not by first writing, is what pruning keeps
    if not named:
        temporary = link.parent / f".link~{uuid.uuid4().hex}"
        temporary.symlink_to(folder.name)
        temporary.replace(link)
        sync_folder(link.parent)
    _prune(link, folder.name)
    return named


def _prune(link: Path, current: str) -> None:
    """Remove the folders of a name beyond the newest ones, never the current one."""
    pattern = re.compile(re.escape(link.name) + r"\.[0-9a-f]{12}")
    others = [path for path in link.parent.iterdir() if pattern.fullmatch(path.name) and path.name != current]
    others.sort(key=lambda path: (path.stat().st_mtime, path.name), reverse=True)
    for path in others[KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def _remove_abandoned(home: Path) -> None:
    """Remove staging folders and links whose writers are known to be dead, or have been silent for a week."""
    for path in home.glob(".staging~*"):
        holder = "/".join(path.name.split("~")[2:-1])
        if holders.is_gone(holder) or _age(path) > _ABANDONED_S:
            shutil.rmtree(path, ignore_errors=True)
    for path in home.glob(".link~*"):
        if _age(path) > _LINK_S:
            path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
