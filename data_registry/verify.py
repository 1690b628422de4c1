"""Whether a release is what it says: from its files alone, trusting none of them, telling all problems at once.

The plain check reads every byte: paths, sizes, digests, tables with their schemas, keys and references, counts, the
lock, the components' own invariants. The deep check also decodes every picture and reads the metadata.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from data_registry import components, identity, tables
from data_registry.manifest import LOCK, MANIFEST, ComponentEntry, FileEntry, ReleaseCorruptError, component_digest
from data_registry.pictures import PictureError
from data_registry.release import Release, content_digest, open_release, table_path

MOST_PROBLEMS: Final = 200
"""Problems that are kept with their text; more are only counted."""
CROISSANT: Final = "croissant.json"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a release."""

    where: str
    """Path in the release."""
    what: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a check of a release found."""

    path: Path
    digest: identity.Digest | None
    """sha256 of manifest.json; None when there is no readable manifest."""
    deep: bool
    files: int
    """Files that the manifest lists."""
    size_bytes: int
    """Their bytes together."""
    problems: tuple[Problem, ...]
    """The first MOST_PROBLEMS, in the order found."""
    count: int
    """All problems."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.count == 0

    def text(self, shown: int = 10) -> str:
        """Say the result to a person: one line, then the first problems."""
        name = f"release {self.digest[:12]} at {self.path}" if self.digest else f"{self.path}"
        if self.ok:
            depth = "bytes, tables, pictures and metadata" if self.deep else "bytes and tables"
            return f"{name}: {self.files} files, {self.size_bytes} bytes, {depth} are right"
        lines = [f"  {problem.where}: {problem.what}" for problem in self.problems[:shown]]
        more = [f"  ... and {self.count - shown} more"] if self.count > shown else []
        return "\n".join([f"{name}: {self.count} problems", *lines, *more, "Fetch the release again, or rebuild it."])


def verify(path: Path, deep: bool = False) -> VerifyReport:
    """Check a release.

    Raises:
        ReleaseMissingError: there is no release at `path`.
        ReleaseSchemaError: the release is newer than this code.
    """
    try:
        release = open_release(path)
    except ReleaseCorruptError as error:
        return VerifyReport(path, None, deep, 0, 0, (Problem(MANIFEST, str(error)),), 1)
    inspection = _Inspection(release, deep)
    kept: list[Problem] = []
    count = 0
    for where, what in inspection.problems():
        count += 1
        if len(kept) < MOST_PROBLEMS:
            kept.append(Problem(_plain(where), _plain(what)))
    size = sum(entry.bytes for entry in release.by_path.values())
    return VerifyReport(release.path, release.digest, deep, len(release.by_path), size, tuple(kept), count)


def _plain(text: str) -> str:
    """Make a text from a hostile release safe to print: printable characters only, bounded."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:1000])


Found = Iterator[tuple[str, str]]


@dataclass
class _Inspection:
    """One pass over a release; remembers which files are broken, so that each fault is told once."""

    release: Release
    deep: bool
    broken: set[str] = field(default_factory=set[str])

    def problems(self) -> Found:
        """Yield (where, what) of everything that is wrong."""
        yield from self._files()
        yield from self._strays()
        yield from self._lock()
        for name in sorted(self.release.manifest.components):
            yield from self._component(name, self.release.manifest.components[name])
        for entry in self.release.manifest.files:
            yield from self._document(entry)

    def _files(self) -> Found:
        for path, entry in self.release.by_path.items():
            problem = _file_problem(self.release.path, entry)
            if problem:
                self.broken.add(path)
                yield path, problem

    def _strays(self) -> Found:
        """Find what the manifest does not list: files, symlinks, pipes, folders without files."""
        expected = {*self.release.by_path, MANIFEST, LOCK}
        folders = {parent for path in expected for parent in Path(path).parents}
        for folder, names, files in os.walk(self.release.path):
            inside = Path(folder).relative_to(self.release.path)
            for name in sorted([*names, *files]):
                place = inside / name
                if (self.release.path / place).is_symlink():
                    if place.as_posix() not in self.broken:
                        yield place.as_posix(), "is a symlink; a release holds plain files only"
                elif name in names and place not in folders:
                    yield place.as_posix(), "is a folder that holds nothing of the release"
                elif name in files and place.as_posix() not in expected:
                    yield place.as_posix(), "is not in the manifest"

    def _lock(self) -> Found:
        try:
            lock = self.release.lock()
        except ReleaseCorruptError as error:
            yield LOCK, str(error)
            return
        manifest = self.release.manifest
        if (lock.name, lock.version) != (manifest.name, manifest.version):
            yield LOCK, f"names {lock.name} {lock.version}, the manifest {manifest.name} {manifest.version}"

    def _component(self, name: str, entry: ComponentEntry) -> Found:
        component = components.component(name)
        if component_digest(entry.schema_version, entry.files) != entry.digest:
            yield MANIFEST, f"the digest of component {name} is not that of its files"
        frames: dict[str, pl.DataFrame] = {}
        for schema in component.tables:
            yield from self._table(schema, entry, frames)
        for odd in sorted(entry.counts.keys() ^ {schema.name for schema in component.tables}):
            yield MANIFEST, f"component {name} counts the rows of {odd!a}, or does not, against its schema"
        yield from self._pictures(component, entry)
        if len(frames) < len(component.tables):
            return  # what tables say about each other means nothing while one is missing
        for schema in component.tables:
            yield from _references(schema, frames)
        yield from self._named_files(component, entry, frames)
        if component.check is not None:
            yield from component.check(_Content(self.release, entry.funnel, entry.strata, frames), self.deep)

    def _table(self, schema: tables.TableSchema, entry: ComponentEntry, frames: dict[str, pl.DataFrame]) -> Found:
        path = table_path(schema.name)
        if path not in {file.path for file in entry.files}:
            yield path, "is missing from the manifest"
            return
        if path in self.broken:
            return
        try:
            content = self.release.read(path)
            frame = schema.decode(content, path)
            digest = schema.content_digest(frame)
        except (tables.TableError, identity.IdentityError, ReleaseCorruptError) as error:
            yield path, str(error)
            return
        if digest != self.release.by_path[path].content_sha256:
            yield path, "its rows are not those of content_sha256"
        if entry.counts.get(schema.name) != frame.height:
            yield path, f"has {frame.height} rows, the manifest counts {entry.counts.get(schema.name)}"
        frames[schema.name] = frame

    def _pictures(self, component: tables.Component, entry: ComponentEntry) -> Found:
        """Compare the content digests of files that are no tables; only the deep check decodes them."""
        known = {table_path(schema.name) for schema in component.tables}
        for file in entry.files if self.deep else ():
            if file.path not in known and file.path not in self.broken:
                yield from self._content(file)

    def _document(self, entry: FileEntry) -> Found:
        if entry.path in self.broken or not self.deep:
            return
        yield from self._content(entry)
        if entry.path == CROISSANT:
            yield from _metadata(self.release)

    def _content(self, entry: FileEntry) -> Found:
        try:
            digest = content_digest(entry.path, self.release.read(entry.path))
        except (PictureError, ReleaseCorruptError) as error:
            self.broken.add(entry.path)
            yield entry.path, str(error)
            return
        if digest != entry.content_sha256:
            yield entry.path, "its content is not that of content_sha256"

    def _named_files(
        self, component: tables.Component, entry: ComponentEntry, frames: Mapping[str, pl.DataFrame]
    ) -> Found:
        """Every path in a table is a file of the component, and every file is a table or named once."""
        named: Counter[str] = Counter()
        for schema in component.tables:
            for column in [name for name, column in schema.columns.items() if column.is_file]:
                named.update(frames[schema.name][column].drop_nulls().to_list())
        owned = {file.path for file in entry.files} - {table_path(schema.name) for schema in component.tables}
        for path in sorted(named.keys() - owned):
            yield path, f"is named by a table of {component.name} and not among its files"
        for path in sorted(owned - named.keys()):
            yield path, f"is named by no table of {component.name}"
        for path in sorted(path for path, count in named.items() if count > 1):
            yield path, f"is named {named[path]} times"


@dataclass(frozen=True, slots=True)
class _Content:
    """A release as a component's check sees it; see tables.ReleaseContent."""

    release: Release
    funnel: Mapping[str, Mapping[str, int]]
    strata: Mapping[str, Mapping[str, int]]
    frames: Mapping[str, pl.DataFrame]

    def frame(self, table: str) -> pl.DataFrame:
        return self.frames[table]

    def read(self, path: str) -> bytes:
        return self.release.read(path)


def _file_problem(folder: Path, entry: FileEntry) -> str | None:
    """Compare one file with its entry, reading it in pieces; None when it is right."""
    place = folder
    for part in entry.path.split("/"):
        place = place / part
        if place.is_symlink():
            return f"{part} is a symlink; a release holds plain files only"
    if not place.is_file():
        return "is missing" if not place.exists() else "is not a plain file"
    size = place.stat().st_size
    if size != entry.bytes:
        return f"has {size} bytes, the manifest says {entry.bytes}"
    try:
        with place.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if found == entry.sha256 else f"was changed: its sha256 is {found}, the manifest says {entry.sha256}"


def _references(schema: tables.TableSchema, frames: Mapping[str, pl.DataFrame]) -> Found:
    for reference in schema.references:
        columns = list(reference.columns)
        rows = frames[schema.name].select(columns).drop_nulls().unique()
        dangling = rows.join(frames[reference.table].select(columns), on=columns, how="anti").sort(columns)
        for row in dangling.iter_rows():
            yield table_path(schema.name), f"{', '.join(columns)} {row} is not in table {reference.table}"


def _metadata(release: Release) -> Found:
    """Check that croissant.json is JSON and names files of the release with their digests."""
    try:
        content: Any = json.loads(release.read(CROISSANT))
        listed: list[Any] = content["distribution"]
        digests = {item["contentUrl"]: item["sha256"] for item in listed if "sha256" in item}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        yield CROISSANT, f"is no Croissant description: {type(error).__name__} {str(error)[:200]}"
        return
    for path, digest in digests.items():
        known = release.by_path.get(str(path))
        if known is None or known.sha256 != digest:
            yield CROISSANT, f"names {str(path)!a} with a digest that the manifest does not have"
