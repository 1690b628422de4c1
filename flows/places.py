"""Folders that a user names to write into: refused at once where a file is in the way, before any work is spent."""

from __future__ import annotations

from pathlib import Path


class WrongPlaceError(ValueError):
    """A folder was named where a file lies, or below a file."""


def require_folder_place(folder: Path, named: str) -> None:
    """Refuse a folder that cannot be made because a file is in its way; one that is not there yet is fine.

    Args:
        folder: what was asked for.
        named: how the user names it, e.g. `--store`.

    Raises:
        WrongPlaceError: says which file is in the way.
    """
    way = in_the_way(folder)
    if way is not None:
        raise WrongPlaceError(f"{named} {folder}: {way} is no folder, and one is needed there; name another place")


def in_the_way(folder: Path) -> Path | None:
    """Return the file that keeps a folder from being there: the folder itself or one above it; None: nothing does."""
    for path in (folder, *folder.parents):
        if path.exists() or path.is_symlink():
            return None if path.is_dir() else path
    return None
