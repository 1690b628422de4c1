"""An evaluation's folder: whole or not at all, the same bytes for the same content, read with distrust."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from data_registry.evaluation import EVALUATION_TABLES, SCORES
from data_registry.manifest import ReleasePathError
from data_registry.release import Release, open_release
from data_registry.verify import verify
from flows.inspecting import _releases_below  # pyright: ignore[reportPrivateUsage]
from tasks.evaluation import (
    EvaluatedPlanner,
    EvaluationCorruptError,
    EvaluationDraft,
    EvaluationError,
    EvaluationMissingError,
    EvaluationNameError,
    EvaluationSchemaError,
    EvaluationUnwritableError,
    OtherReleaseError,
    evaluations_of,
    predictions_path,
    read_evaluation,
    scores_path,
    table_path,
    write_evaluation,
)
from tasks.publish import publish
from tests.tasks.publications import build

SCORE = {
    **dict.fromkeys(SCORES.columns, "x"),
    **{"ur": 0.0, "d": 2.0, "hcc": 1.0, "hpr": 0.5, "cts": None, "cts_x": None, "cts_y": None},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that no test may change; it is named by its symlink, as users name it."""
    folder = tmp_path_factory.mktemp("release")
    return publish(build(folder), folder / "releases").path


@pytest.fixture
def release(made: Path, tmp_path: Path) -> Release:
    shutil.copytree(made.parent, tmp_path / made.parent.name, symlinks=True)
    return open_release(tmp_path / made.parent.name / made.name)


def draft(release: Release, horizon_s: float = 3.0, **changed: Any) -> EvaluationDraft:
    tables = {table_path(schema): schema.encode(schema.frame([])) for schema in EVALUATION_TABLES}
    scores = {scores_path("still"): SCORES.encode(SCORES.frame([SCORE]))}
    whole = EvaluationDraft(
        name="first",
        release=release,
        settings={"body": "zoe", "horizon_s": horizon_s},
        pairs=1,
        planners=(
            EvaluatedPlanner(
                name="still", knows_region=False, settings=None, bound=False, statuses={"edited": {"missing": 1}}
            ),
        ),
        files={**tables, **scores, predictions_path("still"): b"{}\n", "report.html": b"<!doctype html>"},
        made_by={"run": "one"},
    )
    return dataclasses.replace(whole, **changed)


def test_what_was_written_is_read_back_with_the_release_that_it_is_about(release: Release) -> None:
    written = write_evaluation(draft(release))
    assert written.path == release.path.parent / "0.0.0-dev.evaluations" / "first"
    opened = read_evaluation(written.path, release)
    assert opened.digest == written.digest
    assert opened.evaluation.components == {"hazards": release.manifest.components["hazards"].digest}
    assert opened.evaluation.release.digest == release.digest
    assert opened.scores("still").equals(SCORES.frame([SCORE]))
    assert all(opened.table(schema).equals(pl.DataFrame(schema.frame([]))) for schema in EVALUATION_TABLES)
    assert opened.read("report.html") == b"<!doctype html>"
    assert opened.lock().made_by == {"run": "one"}


def test_the_same_again_changes_nothing_whoever_made_it(release: Release) -> None:
    first = write_evaluation(draft(release))
    before = {path: path.stat().st_mtime_ns for path in first.path.rglob("*") if path.is_file()}
    again = write_evaluation(draft(release, made_by={"run": "two"}))
    assert (again.digest, again.was_there, first.was_there) == (first.digest, True, False)
    assert {path: path.stat().st_mtime_ns for path in again.path.rglob("*") if path.is_file()} == before


def test_another_result_takes_the_name_and_few_older_ones_stay(release: Release) -> None:
    written = [write_evaluation(draft(release, horizon_s=float(number))) for number in range(1, 6)]
    assert not any(one.was_there for one in written)
    opened = read_evaluation(written[-1].path, release)
    assert opened.evaluation.settings["horizon_s"] == 5.0
    assert len(list(evaluations_of(release).glob("first.*"))) == 3
    assert write_evaluation(draft(release, horizon_s=4.0)).was_there is False  # its folder is, the name was another's


def test_releases_do_not_see_evaluations(release: Release) -> None:
    link = release.path.parent / "0.0.0-dev"
    before = verify(link)
    write_evaluation(draft(release))
    assert verify(link) == before
    assert _releases_below(release.path.parent.parent) == [link]


@pytest.mark.parametrize("name", ["", "A", "a/b", "..", "a.b", "x" * 65, "é"])
def test_a_name_that_no_folder_can_have_is_refused(release: Release, name: str) -> None:
    with pytest.raises(EvaluationNameError, match="not possible"):
        write_evaluation(draft(release, name=name))
    assert not evaluations_of(release).exists()


def test_a_file_that_leaves_the_folder_is_refused_and_nothing_is_left(release: Release) -> None:
    with pytest.raises((ReleasePathError, ValueError)):
        write_evaluation(draft(release, files={"../x": b""}))
    assert list(evaluations_of(release).rglob("*")) == [] or not evaluations_of(release).exists()


def test_something_else_in_its_place_stays(release: Release) -> None:
    (evaluations_of(release) / "first").mkdir(parents=True)
    with pytest.raises(EvaluationUnwritableError, match="move it away"):
        write_evaluation(draft(release))
    assert [path.name for path in evaluations_of(release).iterdir() if path.name != ".lock"] == ["first"]


def test_a_folder_that_cannot_be_made_says_so(release: Release) -> None:
    evaluations_of(release).write_text("in the way")
    with pytest.raises(EvaluationUnwritableError, match="cannot write an evaluation"):
        write_evaluation(draft(release))


def _newer(folder: Path) -> None:
    _rewrite(folder, schema=2, more="field")


def _rewrite(folder: Path, **fields: Any) -> None:
    path = folder / "evaluation.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields, separators=(",", ":"), sort_keys=True))


def _linked(folder: Path) -> None:
    (folder / "report.html").unlink()
    (folder / "report.html").symlink_to("/etc/hostname")


@pytest.mark.parametrize(
    ("harm", "error", "text"),
    [
        (lambda folder: (folder / "report.html").write_bytes(b"<!doctype HTML>"), EvaluationCorruptError, "changed"),
        (lambda folder: (folder / "report.html").write_bytes(b"longer" * 9), EvaluationCorruptError, "damaged"),
        (lambda folder: (folder / "scores/still.parquet").unlink(), EvaluationCorruptError, "scores/still.parquet"),
        (_linked, EvaluationCorruptError, "symlink"),
        (lambda folder: (folder / "evaluation.json").write_text("{"), EvaluationCorruptError, "is not one"),
        (lambda folder: (folder / "evaluation.json").write_text("[" * 9999), EvaluationCorruptError, "is not one"),
        (lambda folder: _rewrite(folder, pairs=-1), EvaluationCorruptError, "pairs"),
        (lambda folder: _rewrite(folder, extra=1), EvaluationCorruptError, "extra"),
        (lambda folder: (folder / "evaluation.json").unlink(), EvaluationMissingError, "no evaluation"),
        (_newer, EvaluationSchemaError, "update exceptiondrive"),
    ],
)
def test_a_damaged_or_newer_evaluation_is_refused(
    release: Release, harm: Callable[[Path], Any], error: type[EvaluationError], text: str
) -> None:
    written = write_evaluation(draft(release))
    harm(written.path.resolve())
    with pytest.raises(error, match=text):
        read_evaluation(written.path, release)
    if error is not EvaluationMissingError:
        with pytest.raises(EvaluationCorruptError, match=r"was changed since: delete it and evaluate again"):
            write_evaluation(draft(release))


def test_another_content_or_another_release_is_refused(release: Release, tmp_path: Path) -> None:
    path = write_evaluation(draft(release)).path
    ends = ("benchmark", "benchmark", "screened_out", "edit_failed", "decided_against", "no_region")
    other = open_release(publish(build(tmp_path / "o", order=-1, ends=ends), tmp_path / "o" / "releases").path)
    assert other.manifest.components["hazards"].digest != release.manifest.components["hazards"].digest
    with pytest.raises(OtherReleaseError, match="evaluate the release again"):
        read_evaluation(path, other)
    final = open_release(publish(build(tmp_path / "f", version="1.0.0"), tmp_path / "f" / "releases").path)
    with pytest.raises(OtherReleaseError, match=r"evaluates demo 0\.0\.0-dev, not demo 1\.0\.0"):
        read_evaluation(path, final)


def _killing(point: str, number: int) -> None:
    """Let this process die at the number-th call of a function of os: before it when the number is negative."""
    original, left = getattr(os, point), [abs(number)]

    def patched(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] == 0 and number < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        made = original(*args, **kwargs)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    setattr(os, point, patched)


def _forked(write: Callable[[], object]) -> int:
    """Start a process that writes and ends; return its id. Drafts are made before: tables have threads of their own."""
    child = os.fork()
    if child:
        return child
    try:
        write()
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.parametrize(
    ("point", "number", "is_new"),
    [
        *(("fsync", 3, False), ("fsync", 12, False), ("rename", -1, False), ("rename", 1, False)),
        *(("symlink", -1, False), ("symlink", 1, False), ("replace", -1, False), ("replace", 1, True)),
    ],
)
def test_a_killed_writer_leaves_the_old_or_the_new_evaluation(
    release: Release, point: str, number: int, is_new: bool
) -> None:
    old = write_evaluation(draft(release))
    other = draft(release, horizon_s=2.0)

    def write() -> None:
        _killing(point, number)
        write_evaluation(other)

    _, status = os.waitpid(_forked(write), 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert (read_evaluation(old.path, release).digest != old.digest) == is_new
    new = write_evaluation(other)
    assert read_evaluation(new.path, release).evaluation.settings["horizon_s"] == 2.0
    assert not list(evaluations_of(release).glob(".staging*"))


def test_two_writers_at_once_and_a_reader_see_whole_evaluations(release: Release) -> None:
    path = write_evaluation(draft(release)).path
    drafts = [draft(release, horizon_s=horizon_s) for horizon_s in (2.0, 5.0, 6.0)]
    writers = {_forked(lambda: [write_evaluation(one) for one in [*drafts, *drafts][1:]]) for _ in range(2)}
    seen: set[float] = set()
    codes: list[int] = []
    while writers:
        seen.add(read_evaluation(path, release).evaluation.settings["horizon_s"])
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended in writers:
            writers.remove(ended)
            codes.append(os.waitstatus_to_exitcode(status))
    assert codes == [0, 0]
    assert seen <= {2.0, 3.0, 5.0, 6.0}
    assert read_evaluation(path, release).evaluation.settings["horizon_s"] == 6.0
