"""An evaluation's folder, `<releases>/<name>/<version>.evaluations/<evaluation name>/`: written whole, read warily.

`evaluation.json` says which release, with which component digests, which planners and which settings, and lists every
other file with its sha256; its own sha256 is the evaluation's digest. Nothing in these files knows a clock, a host or a
path, so that the same predictions give the same bytes; who made it when is in `lock.json`, which no digest covers.

A name is a symlink to `<name>.<first 12 digits of the digest>/` (data_registry/staging.py): whoever is killed, and
whoever else writes, there is the old evaluation or the new one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

import polars as pl
from pydantic import AfterValidator, Field, ValidationError

from data_registry import identity
from data_registry.evaluation import SCORES
from data_registry.manifest import (
    LARGEST_FILE,
    LARGEST_MANIFEST,
    LOCK,
    Count,
    ReleaseCorruptError,
    ReleasePath,
    SchemaVersion,
    Strict,
    check_path,
    listed_problems,
)
from data_registry.records import Sha256
from data_registry.release import Release, read_inside
from data_registry.staging import digest_folder, flush, locked, staged, storage_errors, swap_link
from data_registry.tables import TableSchema

EVALUATION: Final = "evaluation.json"
REPORT: Final = "report.html"
SCHEMA_VERSION: Final = 1
"""Version of evaluation.json and lock.json that this code writes and reads."""
COMPONENT: Final = "hazards"
"""Component whose benchmark pairs are scored; evaluations bind to its digest."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class EvaluationError(ValueError):
    """An evaluation cannot be made, written, opened or used; the base of every error about evaluations."""


class EvaluationNameError(EvaluationError):
    """An evaluation's or a planner's name is not one that a file can safely have."""


class EvaluationMissingError(EvaluationError):
    """There is no evaluation at a path."""


class EvaluationCorruptError(EvaluationError):
    """A file of the evaluation is not what its evaluation.json says, or that is none."""


class EvaluationSchemaError(EvaluationError):
    """The evaluation was written by a newer version of this code."""


class OtherReleaseError(EvaluationError):
    """The evaluation is about other content than the release has."""


class EvaluationUnwritableError(EvaluationError):
    """The folder of evaluations cannot be written to, or something else lies in the evaluation's place."""


def check_evaluation_name(name: str) -> str:
    """Return the name of an evaluation or planner; raises EvaluationNameError unless it is short and lower case."""
    if not _NAME.fullmatch(name):
        raise EvaluationNameError(
            f"name {name[:100]!a} is not possible for an evaluation or a planner: up to 64 of a-z, 0-9, _ and -,"
            " beginning with a letter or digit"
        )
    return name


Name = Annotated[str, AfterValidator(check_evaluation_name)]


class EvaluationFile(Strict):
    """One file of an evaluation."""

    path: ReleasePath
    """Relative to the evaluation's folder."""
    bytes: Annotated[int, Field(ge=0, le=LARGEST_FILE)]
    sha256: Sha256


class EvaluatedRelease(Strict):
    """The release that was evaluated on."""

    name: str
    version: str
    digest: Sha256
    """sha256 of its manifest.json."""


class EvaluatedPlanner(Strict):
    """A planner of the evaluation."""

    name: Name
    knows_region: bool
    """Whether it is an oracle that was told where the hazard is."""
    settings: Mapping[str, Any] | None
    """Identity settings of a built-in planner; None: its predictions came from a file."""
    bound: bool
    """Whether there are trajectories and each says from which pixels it was made; False: not bound to pixels."""
    statuses: Mapping[str, Mapping[str, Count]]
    """For each variant, how many predictions say of themselves what: ok, missing, ineligible and so on.

    A trajectory of an `ok` prediction may still have a flaw, so scores and coverage count fewer as scored."""


class Evaluation(Strict):
    """evaluation.json: what was evaluated, and every other file of the folder."""

    schema_version: Annotated[SchemaVersion, Field(alias="schema")] = SCHEMA_VERSION
    name: Name
    release: EvaluatedRelease
    components: Mapping[str, Sha256]
    """Digest of each component of the release that the scores rest on."""
    settings: Mapping[str, Any]
    """Settings of scoring: ego body, horizon in seconds, factor of the required clearance."""
    pairs: Count
    """Pairs of the benchmark: rows of each planner's scores."""
    planners: tuple[EvaluatedPlanner, ...]
    """Sorted by name."""
    files: tuple[EvaluationFile, ...]
    """Sorted by path."""

    def content(self) -> bytes:
        """Return the bytes of evaluation.json."""
        return identity.canonical_json(self.model_dump(mode="json", by_alias=True))


class EvaluationLock(Strict):
    """lock.json: who made an evaluation, and when; covered by no digest."""

    schema_version: Annotated[SchemaVersion, Field(alias="schema")] = SCHEMA_VERSION
    evaluation: Sha256
    """Digest of the evaluation: sha256 of evaluation.json."""
    made_by: Mapping[str, Any]
    """Git, packages, settings, flow run, clock."""

    def content(self) -> bytes:
        """Return the bytes of lock.json."""
        return identity.canonical_json(self.model_dump(mode="json", by_alias=True))


@dataclass(frozen=True, slots=True)
class EvaluationDraft:
    """An evaluation to be written."""

    name: str
    release: Release
    settings: Mapping[str, Any]
    pairs: int
    planners: tuple[EvaluatedPlanner, ...]
    files: Mapping[str, bytes]
    """Content by path; see `predictions_path`, `scores_path`, `table_path`, REPORT."""
    made_by: Mapping[str, Any]
    """For lock.json; any JSON, outside the digest."""


@dataclass(frozen=True, slots=True)
class WrittenEvaluation:
    """An evaluation that is on disk."""

    path: Path
    """`<version>.evaluations/<name>`, a symlink."""
    digest: identity.Digest
    evaluation: Evaluation
    was_there: bool
    """Whether the name held exactly this content already."""


@dataclass(frozen=True)
class OpenedEvaluation:
    """An evaluation whose files are all what evaluation.json says."""

    path: Path
    """Folder, symlinks resolved."""
    evaluation: Evaluation
    digest: identity.Digest
    """sha256 of evaluation.json."""

    @cached_property
    def _by_path(self) -> Mapping[str, EvaluationFile]:
        return {entry.path: entry for entry in self.evaluation.files}

    def read(self, path: str) -> bytes:
        """Return a file's bytes; raises EvaluationCorruptError when it is missing or was changed."""
        if path not in self._by_path:
            raise EvaluationCorruptError(f"{path[:200]!a} is no file of evaluation {self.path}")
        entry = self._by_path[path]
        content = _read(self.path, path, entry.bytes)
        if len(content) != entry.bytes or identity.sha256(content) != entry.sha256:
            raise EvaluationCorruptError(f"{path} of {self.path} was changed after the evaluation: evaluate again")
        return content

    def scores(self, planner: str) -> pl.DataFrame:
        """Return one planner's scores, schema SCORES; raises EvaluationCorruptError or TableError."""
        return SCORES.decode(self.read(scores_path(planner)), scores_path(planner))

    def table(self, schema: TableSchema) -> pl.DataFrame:
        """Return one of EVALUATION_TABLES; raises EvaluationCorruptError or TableError."""
        return schema.decode(self.read(table_path(schema)), table_path(schema))

    def lock(self) -> EvaluationLock:
        """Return who made it; raises EvaluationCorruptError when lock.json is not this evaluation's."""
        content = _read(self.path, LOCK, LARGEST_MANIFEST)
        try:
            lock = EvaluationLock.model_validate_json(content)
        except ValueError as error:
            raise EvaluationCorruptError(f"{LOCK} is not an evaluation's lock: {listed_problems(error)}") from error
        if lock.evaluation != self.digest:
            raise EvaluationCorruptError(f"{LOCK} belongs to another evaluation: it names {lock.evaluation}")
        return lock


def predictions_path(planner: str) -> str:
    """Return where an evaluation keeps a planner's predictions."""
    return f"predictions/{planner}.jsonl"


def scores_path(planner: str) -> str:
    """Return where an evaluation keeps a planner's scores."""
    return f"scores/{planner}.parquet"


def table_path(schema: TableSchema) -> str:
    """Return where an evaluation keeps one of EVALUATION_TABLES."""
    return f"tables/{schema.name}.parquet"


def evaluations_of(release: Release) -> Path:
    """Return the folder of a release's evaluations: beside it, named after its version whatever its content."""
    return release.path.parent / f"{release.manifest.version}.evaluations"


def write_evaluation(draft: EvaluationDraft) -> WrittenEvaluation:
    """Write an evaluation whole, or leave what was there; the same again changes nothing.

    Raises:
        EvaluationNameError, ReleasePathError: the name or a file's path is not possible.
        EvaluationCorruptError: the same evaluation was written before and its files were changed since.
        EvaluationUnwritableError: the folder cannot be written to, or something else lies in its place.
        StorageFullError: no room; nothing is left behind.
    """
    home = evaluations_of(draft.release)
    link = home / check_evaluation_name(draft.name)
    evaluation = _described(draft)
    content = evaluation.content()
    digest = identity.sha256(content)
    lock = EvaluationLock(evaluation=digest, made_by=draft.made_by)
    files = {**draft.files, EVALUATION: content, LOCK: lock.content()}
    with storage_errors(home, lambda reason: _unwritable(home, reason)), staged(home, draft.name) as staging:
        _fill(staging, files)
        with locked(home):
            was_there = _put_in_place(link, staging, digest)
    return WrittenEvaluation(link, digest, evaluation, was_there)


def read_evaluation(path: Path, release: Release) -> OpenedEvaluation:
    """Open an evaluation of a release, every file checked.

    Raises:
        EvaluationMissingError: no evaluation.json there.
        EvaluationSchemaError: it is newer than this code.
        EvaluationCorruptError: it is none, or a file is missing or was changed.
        OtherReleaseError: it is about another release, or about other content of this one.
    """
    opened = _opened(path)
    made = opened.evaluation
    manifest = release.manifest
    if (made.release.name, made.release.version) != (manifest.name, manifest.version):
        raise OtherReleaseError(
            f"{path} evaluates {made.release.name} {made.release.version}, not {manifest.name} {manifest.version}"
        )
    for name, digest in made.components.items():
        found = manifest.components[name].digest if name in manifest.components else "no such component"
        if found != digest:
            raise OtherReleaseError(
                f"{path} evaluates other content: component {name} {digest[:12]}, the release has {found[:12]};"
                " evaluate the release again"
            )
    return opened


def _opened(path: Path) -> OpenedEvaluation:
    folder = path.resolve()
    if not os.path.lexists(folder / EVALUATION):
        raise EvaluationMissingError(f"there is no evaluation at {path}: `exceptiondrive evaluate RELEASE` makes one")
    content = _read(folder, EVALUATION, LARGEST_MANIFEST)
    opened = OpenedEvaluation(folder, _parsed(content, path), identity.sha256(content))
    for entry in opened.evaluation.files:
        opened.read(entry.path)
    return opened


def _parsed(content: bytes, path: Path) -> Evaluation:
    """Read evaluation.json in canonical form; raises EvaluationSchemaError or EvaluationCorruptError."""
    try:
        found = json.loads(content)
        version = found.get("schema") if isinstance(found, dict) else None
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise EvaluationSchemaError(
                f"{path} has schema {version}, this code knows up to {SCHEMA_VERSION}: update exceptiondrive to read it"
            )
        evaluation = Evaluation.model_validate_json(content)
        canonical = evaluation.content()
    except EvaluationSchemaError:
        raise
    except (ValidationError, ValueError, RecursionError) as error:
        raise EvaluationCorruptError(f"{path}: {EVALUATION} is not one: {listed_problems(error)}") from error
    if canonical != content:
        raise EvaluationCorruptError(f"{path}: {EVALUATION} is not in canonical form: it was changed by hand")
    return evaluation


def _read(folder: Path, path: str, most: int) -> bytes:
    try:
        return read_inside(folder, path, most)
    except ReleaseCorruptError as error:
        raise EvaluationCorruptError(f"evaluation {folder} was damaged: {error}") from error


def _described(draft: EvaluationDraft) -> Evaluation:
    """Return the draft's evaluation.json."""
    manifest = draft.release.manifest
    return Evaluation(
        name=draft.name,
        release=EvaluatedRelease(name=manifest.name, version=manifest.version, digest=draft.release.digest),
        components={COMPONENT: manifest.components[COMPONENT].digest},
        settings=draft.settings,
        pairs=draft.pairs,
        planners=tuple(sorted(draft.planners, key=lambda planner: planner.name)),
        files=tuple(
            EvaluationFile(path=path, bytes=len(content), sha256=identity.sha256(content))
            for path, content in sorted(draft.files.items())
        ),
    )


def _fill(staging: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        target = staging / check_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    flush(staging)


def _put_in_place(link: Path, staging: Path, digest: identity.Digest) -> bool:
    """Give the staged evaluation its place under the lock; tell whether the name held this content before."""
    if os.path.lexists(link) and not link.is_symlink():
        raise EvaluationUnwritableError(f"{link} is not a symlink to an evaluation: move it away and run again")
    folder = digest_folder(link.parent, link.name, digest)
    there = os.path.lexists(folder)
    if there:
        _require_sound(folder, digest)
    else:
        staging.rename(folder)
    return swap_link(link, folder) and there


def _require_sound(folder: Path, digest: identity.Digest) -> None:
    try:
        found = _opened(folder).digest
    except EvaluationError as error:
        raise EvaluationCorruptError(
            f"{folder} holds this evaluation, but was changed since: delete it and evaluate again"
        ) from error
    if found != digest:
        raise EvaluationCorruptError(f"{folder} holds evaluation {found[:12]}: delete it and evaluate again")


def _unwritable(home: Path, reason: str) -> EvaluationUnwritableError:
    return EvaluationUnwritableError(
        f"cannot write an evaluation to {home}: {reason}; mend that, or evaluate a copy of the release elsewhere"
    )
