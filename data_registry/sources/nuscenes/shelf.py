"""Things derived from a root and kept in the store: built once, beside their place, and renamed into it under a lock.

A reader sees a whole thing or none; what a killed builder left is removed by the next one; what cannot be opened is
built anew.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from data_registry.blobs import sync_folder
from data_registry.sources.nuscenes.locks import exclusive

Kept = TypeVar("Kept")


def kept(place: Path, opened: Callable[[Path], Kept], build: Callable[[Path], None]) -> Kept:
    """Return the thing in a folder, building it when there is none.

    Args:
        place: the folder; its name says what the thing was made from.
        opened: opens a finished folder; OSError, ValueError, TypeError or LookupError: it is not there, or damaged.
        build: fills a new folder; whatever it raises comes through, and nothing is kept then.

    Raises:
        OSError: the folder cannot be made.
    """
    found = _finished(place, opened)
    if found is not None:
        return found
    home = place.parent
    home.mkdir(parents=True, exist_ok=True)
    with exclusive(home / "build.lock"):
        found = _finished(place, opened)
        if found is not None:
            return found
        for leftover in sorted([*home.glob(".building-*"), place]):
            shutil.rmtree(leftover, ignore_errors=True)
        staging = home / f".building-{uuid.uuid4().hex}"
        try:
            build(staging)
            staging.rename(place)
            sync_folder(home)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
    return opened(place)


def _finished(place: Path, opened: Callable[[Path], Kept]) -> Kept | None:
    try:
        return opened(place)
    except (OSError, ValueError, TypeError, LookupError):
        return None
