"""Reading the JSON tables of a version folder, and refusing what contradicts itself, all problems at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from data_registry.sources.nuscenes.problems import Problems, RootError, TablesError, shorten
from data_registry.sources.nuscenes.schema import FIELDS, LINKS, Link, text

Row = dict[str, Any]
Tables = dict[str, dict[str, Row]]
"""Per table, rows by token, in file order."""

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


def read_tables(folder: Path) -> Tables:
    """Read and check all tables.

    Raises:
        TablesError: missing or unreadable tables, missing or wrong fields, duplicate or dangling tokens.
    """
    problems = Problems()
    rows = {table: list(_rows(path, problems)) for table, path in table_files(folder).items()}
    for table, entries in rows.items():
        for entry in entries:
            _check_fields(table, entry, problems)
    problems.raise_any(TablesError, str(folder), REMEDY)
    tables = {table: _by_token(table, entries, problems) for table, entries in rows.items()}
    for table, table_links in LINKS.items():
        for each in table_links:
            _check_link(tables, table, each, problems)
    problems.raise_any(TablesError, str(folder), REMEDY)
    return tables


def load_json(path: Path) -> Any:
    """Parse a JSON file; whatever is wrong with it becomes a ValueError that says so."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        reason = error.strerror if isinstance(error, OSError) else shorten(str(error), 120)
        raise ValueError(f"{path.name} cannot be read as JSON ({reason}): fetch the file again") from error


def _rows(path: Path, problems: Problems) -> Iterator[Row]:
    try:
        content = load_json(path)
    except ValueError as error:
        problems.add(f"table {path.stem}: {error}")
        return
    if not isinstance(content, list):
        problems.add(f"table {path.stem}: {path.name} must be a list of records, not {type(content).__name__}")
        return
    for index, row in enumerate(cast(list[Any], content)):
        if isinstance(row, dict):
            yield cast(Row, row)
        else:
            problems.add(f"table {path.stem}, record {index}: must be an object, not {shorten(row)}")


def _check_fields(table: str, row: Row, problems: Problems) -> None:
    for field, check in FIELDS[table].items():
        if field not in row:
            problems.add(f"table {table}, token {shorten(row.get('token'))}: field {field} is missing")
        elif complaint := check(row[field]):
            found = shorten(row[field])
            problems.add(f"table {table}, token {shorten(row.get('token'))}, field {field}: {found} {complaint}")


def _by_token(table: str, rows: list[Row], problems: Problems) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        if row["token"] in found:
            problems.add(f"table {table}, token {shorten(row['token'])}: stands more than once; keep one record")
        found[row["token"]] = row
    return found


def _check_link(tables: Tables, table: str, link: Link, problems: Problems) -> None:
    target = tables[link.target]
    for token, row in tables[table].items():
        value = row[link.field]
        for name in cast(list[str], value) if isinstance(value, list) else [cast(str, value)]:
            if name not in target and not (link.optional and name == ""):
                problems.add(
                    f"table {table}, token {shorten(token)}, field {link.field}: {shorten(name)} is not in table"
                    f" {link.target}; restore that record, or drop this one"
                )


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
