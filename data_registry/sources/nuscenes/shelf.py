"""Things derived from a root and kept in the store: built once, beside their place, and renamed into it under a lock.

A reader sees a whole thing or none; what a killed builder left is removed by the next one. Every opening compares the
files with their digests: what was damaged meanwhile is built anew, not believed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from data_registry.blobs import sync_folder, write_atomically
from data_registry.sources.nuscenes.locks import exclusive

Kept = TypeVar("Kept")

DIGESTS: Final = "digests.json"
"""The sha256 of every other file of the folder."""


def kept(place: Path, opened: Callable[[Path], Kept], build: Callable[[Path], None]) -> Kept:
    """Return the thing in a folder, building it when there is none.

    Args:
        place: the folder; its name says what the thing was made from.
        opened: opens a finished folder.
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
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)
        staging = home / f".building-{uuid.uuid4().hex}"
        try:
            build(staging)
            write_atomically(staging / DIGESTS, json.dumps(_digests(staging)).encode())
            staging.rename(place)
            sync_folder(home)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
    return opened(place)


def _finished(place: Path, opened: Callable[[Path], Kept]) -> Kept | None:
    return opened(place) if _is_whole(place) else None


def _is_whole(place: Path) -> bool:
    try:
        return json.loads((place / DIGESTS).read_bytes()) == _digests(place)
    except (OSError, ValueError, RecursionError):
        return False


def _digests(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        if path.name != DIGESTS:
            with path.open("rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found
