"""Plain files: what is read, and what is replaced, must be one; a pipe or a device never ends or is lost for good."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

_KINDS: Final = (
    (stat.S_ISLNK, "a symlink"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotPlainFileError(FileExistsError):
    """Something else than a plain file lies where one is read or written."""

    def __init__(self, path: Path, kind: str, advice: str) -> None:
        """Say where lies what, and what to do."""
        self.kind = kind
        super().__init__(errno.EEXIST, f"{path} is {kind}, not a plain file: {advice}")


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file, or a symlink to one, for reading.

    Raises:
        NotPlainFileError: it is a pipe, a device or a socket; none of them is waited for.
        OSError: it is missing, a folder, or cannot be read.
    """
    # O_NONBLOCK: a named pipe in the file's place must not make its reader wait for ever
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise NotPlainFileError(path, _kind(mode), "name one")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def special_kind(path: Path) -> str | None:
    """Return what lies at a path, symlinks followed, when it is neither a plain file nor a folder; None: no such."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else _kind(mode)


def refuse_to_replace(path: Path) -> None:
    """Make sure that writing to a path replaces nothing but a plain file.

    Raises:
        NotPlainFileError: there is a folder, a pipe, a device, a socket, or a symlink: one that is dangling, too.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # nothing is there; what keeps a file from being written shows when it is
    if not stat.S_ISREG(mode):
        raise NotPlainFileError(path, _kind(mode), "name another, or move it away")


def _kind(mode: int) -> str:
    return next((words for holds, words in _KINDS if holds(mode)), "something else")
