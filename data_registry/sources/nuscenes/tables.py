"""The files of a version folder: its tables, and the splits that it gives its scenes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from data_registry.sources.nuscenes.problems import Problems, RootError, TablesError, shorten
from data_registry.sources.nuscenes.schema import FIELDS, text
from data_registry.sources.nuscenes.streaming import load_json

SPLITS_FILE: Final = "splits.json"
REMEDY: Final = "Nothing was read. Restore the tables from the original download, or correct the records named above."


def version_folder(root: Path, version: str) -> Path:
    """Return the folder of the tables.

    Raises:
        RootError: the root or the version is not there; the message lists the versions that are.
    """
    if not root.is_dir():
        raise RootError(
            f"{root} is not a folder: set source.root to a nuScenes root (with samples/ and v1.0-.../ in it)"
        )
    folder = root / version
    if version and "/" not in version and version not in {".", ".."} and folder.is_dir():
        return folder
    found = sorted(path.parent.name for path in root.glob("*/scene.json"))
    there = f"versions there: {', '.join(found)}" if found else "no folder with a scene.json is there"
    raise RootError(f"{root} has no version {version!r}: {there}; set source.version")


def table_files(folder: Path) -> dict[str, Path]:
    """Return the files that hold a version's tables, by table name; raises TablesError naming every missing one."""
    problems = Problems()
    files = {table: folder / f"{table}.json" for table in FIELDS}
    for table, path in files.items():
        if not path.is_file():
            problems.add(f"table {table} is missing: {path.name} must be a file here")
    problems.raise_any(TablesError, str(folder), "Unpack the metadata archive of this version again.")
    return files


def custom_splits(folder: Path) -> dict[str, str]:
    """Return the splits that a version folder gives its scenes: scene name -> train, val or test.

    `splits.json` is the devkit's own way to name splits of scenes it does not know; `mini_train` counts as train, and
    names that are none of the three say nothing.

    Raises:
        TablesError: the file is there but is not {split name: [scene names]}, or puts a scene into two splits.
    """
    path = folder / SPLITS_FILE
    if not path.is_file():
        return {}
    problems, found = Problems(), dict[str, str]()
    for split, scene in _named_scenes(path, problems):
        kind = split.rsplit("_", 1)[-1]
        if kind in {"train", "val", "test"} and found.setdefault(scene, kind) != kind:
            problems.add(f"{SPLITS_FILE}: scene {shorten(scene)} is in {found[scene]} and in {kind}; keep one")
    problems.raise_any(TablesError, str(folder), REMEDY)
    return found


def _named_scenes(path: Path, problems: Problems) -> Iterator[tuple[str, str]]:
    try:
        content = load_json(path)
    except ValueError as error:
        problems.add(str(error))
        return
    if not isinstance(content, dict):
        problems.add(f"{path.name} must be an object {{split name: [scene names]}}")
        return
    for split, scenes in cast(dict[str, Any], content).items():
        listed = cast(list[Any], scenes) if isinstance(scenes, list) else [None]
        for scene in listed:
            if text(scene) is None:
                yield split, cast(str, scene)
            else:
                problems.add(f"{path.name}, split {shorten(split)}: must be a list of scene names")
