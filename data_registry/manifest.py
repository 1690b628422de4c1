"""The two files that make a folder a release: what it holds (manifest.json) and what made it (lock.json).

The manifest lists every file of the release but itself, the lock and the audits; its sha256 is the release's digest.
Both are canonical JSON, so that the same content is the same bytes. Whatever is read here may have been written by an
enemy: paths, sizes and versions are checked before anything else looks at the folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from data_registry import identity
from data_registry.records import Sha256

MANIFEST: Final = "manifest.json"
LOCK: Final = "lock.json"
SCHEMA_VERSION: Final = 1
"""Version of manifest.json and lock.json that this code writes and reads."""

LARGEST_FILE: Final = 4 * 2**30
LARGEST_MANIFEST: Final = 512 * 2**20
LONGEST_PATH: Final = 400
"""Bounds on what a release may ask its reader to swallow: bytes of one file, of the manifest, characters of a path."""

_SEGMENT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+=-]{0,199}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_NUMBER: Final = r"(?:0|[1-9][0-9]{0,8})"
_PART: Final = rf"(?:{_NUMBER}|[0-9]*[a-z-][0-9a-z-]*)"
_VERSION: Final = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?P<pre>-{_PART}(?:\.{_PART})*)?")
_DIGEST_LIKE: Final = re.compile(r".*\.(?:[0-9a-f]{12}|audits|evaluations)")


class ReleaseError(ValueError):
    """A release cannot be written, opened or used; the base of every error about releases."""


class ReleaseNameError(ReleaseError):
    """A release's name or version is not one that a folder can safely have."""


class ReleasePathError(ReleaseError):
    """A path does not stay inside the release, or cannot be the same file on every file system."""


class ReleaseCorruptError(ReleaseError):
    """A file of the release is not what its manifest says, or the manifest is none."""


class ReleaseSchemaError(ReleaseError):
    """The release was written by a newer version of this code."""


def check_name(name: str) -> str:
    """Return a release's name; raises ReleaseNameError unless it is short, lower case and without dots or slashes."""
    if not _NAME.fullmatch(name):
        raise ReleaseNameError(
            f"release name {name!r} is not possible: up to 64 of a-z, 0-9, _ and -, beginning with a letter or digit"
        )
    return name


def check_version(version: str) -> str:
    """Return a release's version.

    Raises:
        ReleaseNameError: not a lower-case semantic version, with build metadata, or with a last part that the folder
            of a digest, of audits or of evaluations has.
    """
    if len(version) > 100 or not _VERSION.fullmatch(version) or _DIGEST_LIKE.fullmatch(version):
        raise ReleaseNameError(
            f"release version {version!r} is not possible: use a semantic version in lower case, such as 1.2.0 or, for"
            " one that may still change, 0.0.0-dev (no + part, no last part of 12 hexadecimal digits)"
        )
    return version


def is_pre_release(version: str) -> bool:
    """Tell whether a version may still change: it has a pre-release part, as 0.0.0-dev has.

    >>> is_pre_release("0.0.0-dev"), is_pre_release("1.0.0")
    (True, False)
    """
    match = _VERSION.fullmatch(version)
    return match is not None and match["pre"] is not None


def check_path(path: str) -> str:
    """Return a relative POSIX path below the release's folder.

    Raises:
        ReleasePathError: absolute, climbing, with a backslash, an empty or hidden part, a character outside ASCII
            letters, digits and `_.@+=-`, a part that ends in a dot, or too long.
    """
    parts = path.split("/")
    if len(path) > LONGEST_PATH or not all(_SEGMENT.fullmatch(part) and not part.endswith(".") for part in parts):
        raise ReleasePathError(
            f"path {path[:200]!a} is not possible in a release: it must be relative, stay inside, and have parts of"
            f" ASCII letters, digits and _.@+=- only, at most {LONGEST_PATH} characters"
        )
    return path


ReleasePath = Annotated[str, AfterValidator(check_path)]
Count = Annotated[int, Field(ge=0, lt=2**53)]
SchemaVersion = Annotated[int, Field(ge=1, lt=2**31)]


class Strict(BaseModel):
    """Base of what release and evaluation folders say about themselves: frozen, closed, finite, strictly typed."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True, populate_by_name=True)


class FileEntry(Strict):
    """One file of a release."""

    path: ReleasePath
    """Relative to the release's folder, with forward slashes."""
    bytes: Annotated[int, Field(ge=0, le=LARGEST_FILE)]
    sha256: Sha256
    """Of the bytes: the same on one constraints.txt, operating system and architecture."""
    content_sha256: Sha256
    """Of the pixels of a PNG, the canonical rows of a table, the bytes of a text: the same on every machine."""


class ComponentEntry(Strict):
    """One component's part of a release."""

    schema_version: SchemaVersion
    counts: Mapping[str, Count]
    """Rows of each table."""
    funnel: Mapping[str, Mapping[str, Count]]
    """For each step how many items came to what, with their total."""
    strata: Mapping[str, Mapping[str, Count]] = Field(default_factory=dict[str, Mapping[str, Count]])
    """For each kind of thing that the component tells apart, its rows by subset, with their total."""
    digest: Sha256
    """What evaluations bind to: over schema version and (path, content_sha256) of the files."""
    files: tuple[FileEntry, ...]
    """Sorted by path."""


class Manifest(Strict):
    """manifest.json: what a release holds."""

    schema_version: Annotated[SchemaVersion, Field(alias="schema")] = SCHEMA_VERSION
    name: Annotated[str, AfterValidator(check_name)]
    version: Annotated[str, AfterValidator(check_version)]
    complete: bool
    """False: some items had no result yet; only pre-releases may be so."""
    components: Mapping[str, ComponentEntry]
    files: tuple[FileEntry, ...]
    """Files about the whole release: card, licences, Croissant; sorted by path."""

    @model_validator(mode="after")
    def _consistent(self) -> Manifest:
        if not (self.complete or is_pre_release(self.version)):
            raise ValueError(f"{self.version} is a final version and not complete")
        for group in (self.files, *(component.files for component in self.components.values())):
            paths = [entry.path for entry in group]
            if paths != sorted(paths):
                raise ValueError("files are not sorted by path")
        _refuse_collisions([entry.path for entry in self.entries()])
        return self

    def entries(self) -> Iterator[FileEntry]:
        """Yield every file of the release, component by component in the order of their names, then the others."""
        for name in sorted(self.components):
            yield from self.components[name].files
        yield from self.files

    def content(self) -> bytes:
        """Return the bytes of manifest.json."""
        return identity.canonical_json(self.model_dump(mode="json", by_alias=True))


def _refuse_collisions(paths: list[str]) -> None:
    """Refuse paths that are one file on a file system that folds case, or a file and a folder at once."""
    seen = {MANIFEST: MANIFEST, LOCK: LOCK}
    for path in paths:
        folded = path.casefold()
        if folded in seen:
            raise ValueError(f"paths {seen[folded]!a} and {path!a} are one file, or would be where case does not count")
        seen[folded] = path
    for path in paths:
        parts = path.casefold().split("/")
        for depth in range(1, len(parts)):
            if "/".join(parts[:depth]) in seen:
                raise ValueError(f"path {path!a} goes through a file")


def component_digest(schema_version: int, files: tuple[FileEntry, ...]) -> identity.Digest:
    """Return what identifies a component's content on every machine."""
    content = [[entry.path, entry.content_sha256] for entry in files]
    return identity.digest({"schema_version": schema_version, "files": content})


class Lock(Strict):
    """lock.json: what made a release. Not part of the release's digest, since it says when and where."""

    schema_version: Annotated[SchemaVersion, Field(alias="schema")] = SCHEMA_VERSION
    name: str
    version: str
    release: Sha256
    """Digest of the release: sha256 of manifest.json."""
    made_by: Mapping[str, Any]
    """Git, packages, settings, back ends, prompts, seeds, source fingerprint, flow run, clock."""
    sha256: Sha256
    """Of this file's canonical JSON without this field."""

    @classmethod
    def of(cls, manifest: Manifest, made_by: Mapping[str, Any]) -> Lock:
        """Make the lock of a release."""
        release = identity.sha256(manifest.content())
        unsigned = cls(name=manifest.name, version=manifest.version, release=release, made_by=made_by, sha256="0" * 64)
        return unsigned.model_copy(update={"sha256": unsigned.own_digest})

    @property
    def own_digest(self) -> identity.Digest:
        """What the field `sha256` must hold."""
        return identity.digest(self.model_dump(mode="json", by_alias=True, exclude={"sha256"}))

    def content(self) -> bytes:
        """Return the bytes of lock.json."""
        return identity.canonical_json(self.model_dump(mode="json", by_alias=True))


def parse_manifest(content: bytes) -> Manifest:
    """Read manifest.json.

    Raises:
        ReleaseSchemaError: its schema is newer than this code.
        ReleaseCorruptError: it is not a manifest in canonical form; the message says where.
    """
    _refuse_newer(content, MANIFEST)
    try:
        manifest = Manifest.model_validate_json(content)
        canonical = manifest.content()
    except (ValidationError, ValueError, RecursionError) as error:
        raise ReleaseCorruptError(f"{MANIFEST} is not a release's manifest: {listed_problems(error)}") from error
    if canonical != content:
        raise ReleaseCorruptError(f"{MANIFEST} is not in canonical form: it was changed by hand or by another program")
    return manifest


def parse_lock(content: bytes) -> Lock:
    """Read lock.json and check its own digest; raises ReleaseSchemaError or ReleaseCorruptError."""
    _refuse_newer(content, LOCK)
    try:
        lock = Lock.model_validate_json(content)
        own = lock.own_digest
    except (ValidationError, ValueError, RecursionError) as error:
        raise ReleaseCorruptError(f"{LOCK} is not a release's lock: {listed_problems(error)}") from error
    if own != lock.sha256 or lock.content() != content:
        raise ReleaseCorruptError(f"{LOCK} was changed: its own sha256 is not {lock.sha256}")
    return lock


def _refuse_newer(content: bytes, name: str) -> None:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ReleaseCorruptError(f"{name} is not JSON ({str(error)[:200]!a}): fetch the release again") from error
    version = found.get("schema") if isinstance(found, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ReleaseSchemaError(
            f"{name} has schema {version}, this code knows up to {SCHEMA_VERSION}: update exceptiondrive to read it"
        )


def listed_problems(error: Exception, shown: int = 10) -> str:
    """List what pydantic found, first ten only, one line each, in ASCII: the content is not ours."""
    if not isinstance(error, ValidationError):
        return ascii(str(error)[:300])
    found = error.errors(include_url=False, include_input=False)
    lines = [f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"[:400] for item in found[:shown]]
    more = [f"and {len(found) - shown} more"] if len(found) > shown else []
    return "; ".join(ascii(line)[1:-1] for line in lines + more)
