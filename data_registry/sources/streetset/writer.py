"""Writes the log: everything into a sibling folder first, checked, then one rename: a root is whole or absent."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from data_registry.identity import digest
from data_registry.sources.streetset.canbus import make_messages
from data_registry.sources.streetset.checks import check_tables
from data_registry.sources.streetset.layout import SCENE, TOWN, camera_us
from data_registry.sources.streetset.maps import expansions, mask_png
from data_registry.sources.streetset.pictures import jpeg
from data_registry.sources.streetset.tables import make_tables, mask_path, picture_path, pictured, split_file

VERSION: Final = "v1.0-streetset"
RECIPE: Final = 1
"""Raise whenever any written byte changes: an older set on disk is then written anew."""
STAMP: Final = "streetset.json"
WORKERS: Final = 8


class StreetsetTargetError(ValueError):
    """The target exists and is not a streetset that may be replaced."""


class StreetsetWriteError(OSError):
    """The log could not be written: no space, no permission, a broken disk."""


def write_streetset(root: Path) -> Path:
    """Write the log into `root`, unless it is there already, complete and of this recipe; return `root`.

    The same bytes come out every time on one machine architecture. Two writers at once are harmless: the first to
    finish wins.

    Raises:
        StreetsetTargetError: `root` exists and holds files that are not part of a streetset, or is a file itself.
        StreetsetWriteError: the disk is full or refuses; nothing is left behind at `root`.
    """
    root = Path(root)
    if is_complete(root):
        return root
    _refuse_foreign(root)
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with _staging(root) as folder:
            _fill(folder)
            _publish(folder, root)
    except OSError as error:
        reason = f"{error.strerror or error}"
        text = f"cannot write the streetset log to {root}: {reason}. It needs about 12 MB; free some space or choose"
        raise StreetsetWriteError(error.errno, f"{text} another folder") from error
    return root


def is_complete(root: Path) -> bool:
    """Tell whether a folder holds the whole log of this recipe: the stamp, and every file with its size."""
    stamp = _read_stamp(root)
    if stamp is None or stamp.get("recipe") != RECIPE:
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
            f"{root} holds files that are not part of the streetset log: {listed}; "
            "give a folder that is empty or does not exist, or move them away"
        )


@contextmanager
def _staging(root: Path) -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=f".{root.name}.", dir=root.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(folder: Path, root: Path) -> None:
    """Put the finished folder in its place; an older streetset there is moved into the staging area first.

    When another writer was faster, its log, which has the same bytes, stays.
    """
    if is_complete(root):
        return
    if root.is_dir() and any(root.iterdir()):
        root.rename(folder / "old")
    try:
        (folder / "new").rename(root)
    except OSError:
        if not is_complete(root):
            raise


def _fill(folder: Path) -> None:
    """Write all files below `folder`/new, the stamp last."""
    root = folder / "new"
    root.mkdir()
    for path, content in documents().items():
        _write(root / path, content)
    jobs = pictured()
    sizes = dict(zip((picture_path(*job) for job in jobs), _each(partial(_write_picture, root), jobs), strict=True))
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        sizes[path.relative_to(root).as_posix()] = path.stat().st_size
    stamp = {"files": dict(sorted(sizes.items())), "recipe": RECIPE, "town": TOWN, "version": VERSION}
    _write(root / STAMP, _json(stamp))


def documents() -> dict[str, bytes]:
    """Return every file but the pictures: path below the root -> content. Tables are checked first.

    Raises:
        BrokenTablesError: the tables do not hold together.
    """
    tables = make_tables()
    check_tables(tables)
    files = {f"{VERSION}/{name}.json": _json(records) for name, records in tables.items()}
    files[f"{VERSION}/splits.json"] = _json(split_file())
    files[mask_path()] = mask_png()
    files |= {f"maps/expansion/{city}.json": _json(record) for city, record in expansions().items()}
    files |= {f"can_bus/{SCENE}_{name}.json": _json(content) for name, content in make_messages().items()}
    return files


def documents_digest() -> str:
    """Return a digest of all files but the pictures; a change of it asks for a new RECIPE."""
    return digest({path: content.hex() for path, content in documents().items() if not path.endswith(".png")})


def _json(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _write_picture(root: Path, job: tuple[str, int]) -> int:
    channel, index = job
    content = jpeg(channel, camera_us(channel, index))
    _write(root / picture_path(channel, index), content)
    return len(content)


def _each(work: Any, jobs: list[tuple[str, int]]) -> list[int]:
    """Run the work for every job, in processes when there is more than one processor."""
    workers = min(os.cpu_count() or 1, WORKERS, len(jobs))
    if workers == 1:
        return [work(job) for job in jobs]
    # spawn: callers may hold threads (Prefect, test runners), which a forked child would inherit half alive.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(work, jobs))
