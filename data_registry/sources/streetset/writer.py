"""Writes the logs: everything into a sibling folder first, checked, then one rename: a root is whole or absent."""

from __future__ import annotations

import glob
import json
import os
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from data_registry import holders
from data_registry.identity import digest, sha256
from data_registry.sources.streetset.canbus import make_messages
from data_registry.sources.streetset.checks import check_tables
from data_registry.sources.streetset.maps import expansions, mask_png
from data_registry.sources.streetset.painters import Job, paint, paint_in_processes
from data_registry.sources.streetset.scenes import SCENES
from data_registry.sources.streetset.tables import make_tables, mask_path, pictured, split_file
from data_registry.sources.streetset.world import TOWN

VERSION: Final = "v1.0-streetset"
RECIPE: Final = 3
"""Raise whenever any written byte changes: an older set on disk is then written anew."""
STAMP: Final = "streetset.json"
WORKERS: Final = 8
SIZE_MB: Final = 30
HISTORY_SIZE_MB: Final = 100
"""Room that the logs take, without and with the pictures of the history."""


class StreetsetTargetError(ValueError):
    """The target exists and is not a streetset that may be replaced."""


class StreetsetWriteError(OSError):
    """The logs could not be written: no space, no permission, a broken disk."""


def write_streetset(root: Path, history: bool = False) -> Path:
    """Write the logs into `root`, unless they are there already, complete and of this recipe; return `root`.

    The same bytes come out every time on one machine architecture. Two writers at once are harmless: the first to
    finish wins.

    Args:
        root: folder to write into.
        history: write the pictures of the four samples before each keyframe too. Without them their records are there
            and their files are not, as in a partial download.

    Raises:
        StreetsetTargetError: `root` exists and holds files that are not part of a streetset, or is a file itself.
        StreetsetWriteError: the disk is full or refuses; nothing is left behind at `root`.
    """
    root = Path(root)
    if is_complete(root, history):
        return root
    _refuse_foreign(root)
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with _staging(root) as folder:
            _fill(folder, history)
            _publish(folder, root, history)
    except OSError as error:
        reason = f"{error.strerror or error}"
        size = HISTORY_SIZE_MB if history else SIZE_MB
        text = f"cannot write the streetset logs to {root}: {reason}. They need about {size} MB; free some space or"
        raise StreetsetWriteError(error.errno, f"{text} choose another folder") from error
    return root


def is_complete(root: Path, history: bool = False) -> bool:
    """Tell whether a folder holds the whole logs of this recipe: the stamp, and every file with its size."""
    stamp = _read_stamp(root)
    if stamp is None or stamp.get("recipe") != RECIPE or (history and not stamp.get("history")):
        return False
    sizes: dict[str, int] = stamp["files"]
    return all(_size(root / path) == size for path, size in sizes.items())


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _read_stamp(root: Path) -> dict[str, Any] | None:
    try:
        stamp = json.loads((root / STAMP).read_bytes())
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) and isinstance(stamp.get("files"), dict) else None


def _refuse_foreign(root: Path) -> None:
    """Refuse to replace what this module did not write."""
    if not root.exists():
        return
    if not root.is_dir():
        raise StreetsetTargetError(f"{root} is a file; give a folder that is empty or does not exist")
    present = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir())
    stamp = _read_stamp(root)
    own = {STAMP, *stamp["files"]} if stamp else set[str]()
    foreign = [path for path in present if path not in own]
    if foreign:
        listed = ", ".join(foreign[:10]) + (f" and {len(foreign) - 10} more" if len(foreign) > 10 else "")
        raise StreetsetTargetError(
            f"{root} holds files that are not part of the streetset logs: {listed}; "
            "give a folder that is empty or does not exist, or move them away"
        )


@contextmanager
def _staging(root: Path) -> Generator[Path]:
    """Give a folder beside `root` to fill; those that killed writers of this machine left behind are removed."""
    for left in root.parent.glob(f".{glob.escape(root.name)}~*"):
        if holders.is_gone("/".join(left.name.rpartition("~")[0].split("~")[1:])):
            shutil.rmtree(left, ignore_errors=True)
    holder = holders.this_process().replace("/", "~")
    folder = Path(tempfile.mkdtemp(prefix=f".{root.name}~{holder}~", dir=root.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(folder: Path, root: Path, history: bool) -> None:
    """Put the finished folder in its place; an older streetset there is moved into the staging area first.

    When another writer was faster, its logs, which have the same bytes, stay.
    """
    if is_complete(root, history):
        return
    if root.is_dir() and any(root.iterdir()):
        root.rename(folder / "old")
    try:
        (folder / "new").rename(root)
    except OSError:
        if not is_complete(root, history):
            raise


def _fill(folder: Path, history: bool) -> None:
    """Write all files below `folder`/new, the stamp last."""
    root = folder / "new"
    root.mkdir()
    for path, content in documents().items():
        _write(root / path, content)
    _paint(root, [(scene.name, *reading) for scene in SCENES for reading in pictured(history)])
    files = sorted(path for path in root.rglob("*") if path.is_file())
    sizes = {path.relative_to(root).as_posix(): path.stat().st_size for path in files}
    stamp = {"files": sizes, "history": history, "recipe": RECIPE, "town": TOWN, "version": VERSION}
    _write(root / STAMP, _json(stamp))


def documents() -> dict[str, bytes]:
    """Return every file but the pictures: path below the root -> content. Tables are checked first.

    Raises:
        BrokenTablesError: the tables do not hold together.
    """
    tables = make_tables(SCENES)
    check_tables(tables)
    files = {f"{VERSION}/{name}.json": _json(records) for name, records in tables.items()}
    files[f"{VERSION}/splits.json"] = _json(split_file(SCENES))
    files[mask_path()] = mask_png(SCENES)
    files |= {f"maps/expansion/{city}.json": _json(record) for city, record in expansions(SCENES).items()}
    for scene in SCENES:
        messages = make_messages(scene)
        files |= {f"can_bus/{scene.name}_{name}.json": _json(content) for name, content in messages.items()}
    return files


def documents_digest() -> str:
    """Return a digest of all files but the pictures; a change of it asks for a new RECIPE."""
    return digest({path: sha256(content) for path, content in documents().items() if not path.endswith(".png")})


def _json(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _paint(root: Path, jobs: Sequence[Job]) -> None:
    """Draw all pictures, in processes when there is more than one processor."""
    workers = min(os.cpu_count() or 1, WORKERS, len(SCENES))
    if workers == 1:
        paint(root, jobs)
    else:
        paint_in_processes(root, jobs, workers)
