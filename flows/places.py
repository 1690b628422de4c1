"""Places that a user names to write into: refused before any work where a file is in the way, or inside a release."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_SEALED: Final = (("manifest.json", "lock.json"), ("evaluation.json", "lock.json"))
"""Files by which folders of releases and evaluations are known: nothing may be added to either."""


class WrongPlaceError(ValueError):
    """A folder was named where a file lies, below a file, or inside a release or an evaluation."""


def require_folder_place(folder: Path, named: str) -> None:
    """Refuse a folder that cannot be made because a file is in its way, or that would spoil a release.

    One that is not there yet is fine.

    Args:
        folder: what was asked for.
        named: how the user names it, e.g. `--store`.

    Raises:
        WrongPlaceError: says which file is in the way, or which release it would be part of.
    """
    way = in_the_way(folder)
    if way is not None:
        raise WrongPlaceError(f"{named} {folder}: {way} is no folder, and one is needed there; name another place")
    refuse_sealed(folder, named)


def refuse_sealed(place: Path, named: str) -> None:
    """Raise WrongPlaceError for a place inside a release or an evaluation, symlinks followed."""
    real = Path(os.path.realpath(place))
    for folder in (real, *real.parents):
        if any(all((folder / name).is_file() for name in names) for names in _SEALED):
            raise WrongPlaceError(
                f"{named} {place} lies inside {folder}, which would not verify any more: name a place outside"
            )


def in_the_way(folder: Path) -> Path | None:
    """Return the file that keeps a folder from being there: the folder itself or one above it; None: nothing does."""
    for path in (folder, *folder.parents):
        if path.exists() or path.is_symlink():
            return None if path.is_dir() else path
    return None
