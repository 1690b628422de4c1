"""Writing releases: whole or not at all, whoever else writes and whatever kills the writer."""

import dataclasses
import datetime
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from data_registry.blobs import StorageFullError
from data_registry.holders import this_process
from data_registry.manifest import ReleaseCorruptError, ReleaseNameError
from data_registry.release import open_release
from data_registry.release_writer import ReleaseExistsError, ReleaseUnwritableError
from data_registry.verify import verify
from tasks.publish import publish
from tests.tasks.publications import ENDS, build

OTHER = ("benchmark", "screened_out", "screened_out", "edit_failed", "decided_against", "no_region")
"""Ends that give another release than the usual ones."""


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def leftovers(releases: Path) -> list[str]:
    return [path.name for path in (releases / "demo").iterdir() if path.name.startswith((".staging", ".link"))]


def test_a_pre_release_is_a_symlink_to_a_folder_named_after_its_digest(tmp_path: Path):
    published = publish(build(tmp_path), tmp_path / "releases")
    assert published.path == tmp_path / "releases/demo/0.0.0-dev"
    assert published.path.readlink() == Path(f"0.0.0-dev.{published.digest[:12]}")
    assert not published.was_there


def test_publishing_the_same_again_changes_nothing(tmp_path: Path):
    first = publish(build(tmp_path), tmp_path / "releases")
    before = content(first.path.resolve())
    again = publish(build(tmp_path, order=-1), tmp_path / "releases")
    assert (again.digest, again.was_there) == (first.digest, True)
    assert content(first.path.resolve()) == before  # the lock too: the first publication counts
    assert not leftovers(tmp_path / "releases")


def test_a_pre_release_moves_on_to_other_content_and_back(tmp_path: Path):
    releases = tmp_path / "releases"
    first = publish(build(tmp_path), releases)
    other = publish(build(tmp_path, ends=OTHER), releases)
    assert other.digest != first.digest
    assert open_release(other.path).digest == other.digest
    back = publish(build(tmp_path), releases)
    assert (back.digest, back.was_there) == (first.digest, False)
    assert open_release(back.path).digest == first.digest


def test_only_the_three_newest_folders_of_a_pre_release_are_kept(tmp_path: Path):
    releases = tmp_path / "releases"
    digests: list[str] = []
    audits = releases / "demo/0.0.0-dev.audits"
    for number in range(5):
        source = dataclasses.replace(
            build(tmp_path), published_on=None if number == 0 else datetime.date(2026, 1, number)
        )
        digests.append(publish(source, releases).digest)
        audits.mkdir(exist_ok=True)
    folders = {path.name for path in (releases / "demo").iterdir() if not path.is_symlink() and path.name[0] != "."}
    assert folders == {audits.name, *(f"0.0.0-dev.{digest[:12]}" for digest in digests[-3:])}


def test_a_final_version_is_a_folder_and_never_changes(tmp_path: Path):
    releases = tmp_path / "releases"
    first = publish(build(tmp_path, "1.0.0"), releases)
    assert first.path.is_dir()
    assert not first.path.is_symlink()
    assert publish(build(tmp_path, "1.0.0", order=-1), releases).was_there
    before = content(first.path)
    with pytest.raises(ReleaseExistsError, match="a final version never changes; choose the next version"):
        publish(build(tmp_path, "1.0.0", ends=OTHER), releases)
    assert content(first.path) == before
    assert not leftovers(releases)


def test_a_damaged_release_is_not_taken_for_the_same_one(tmp_path: Path):
    releases = tmp_path / "releases"
    first = publish(build(tmp_path), releases)
    (first.path / "README.md").write_text("changed")
    with pytest.raises(ReleaseCorruptError, match=r"was damaged: .*delete .* and build again"):
        publish(build(tmp_path), releases)


@pytest.mark.parametrize("harm", [lambda path: path.write_text("{"), lambda path: path.unlink()])
def test_a_final_version_without_a_usable_manifest_is_named_with_the_fix(tmp_path: Path, harm: Callable[[Path], None]):
    first = publish(build(tmp_path, "1.0.0"), tmp_path / "releases")
    harm(first.path / "manifest.json")
    with pytest.raises(ReleaseCorruptError, match=rf"delete {first.path} and build again"):
        publish(build(tmp_path, "1.0.0"), tmp_path / "releases")


def test_a_folder_in_the_place_of_the_symlink_is_left_alone(tmp_path: Path):
    (tmp_path / "releases/demo/0.0.0-dev").mkdir(parents=True)
    with pytest.raises(ReleaseExistsError, match="is not a symlink"):
        publish(build(tmp_path), tmp_path / "releases")


@pytest.mark.parametrize(("field", "value"), [("name", "../up"), ("version", "../1.0.0"), ("version", "latest")])
def test_names_and_versions_cannot_lead_elsewhere(tmp_path: Path, field: str, value: str):
    with pytest.raises(ReleaseNameError):
        publish(dataclasses.replace(build(tmp_path), **{field: value}), tmp_path / "releases")
    assert not (tmp_path / "releases").exists()


def test_a_folder_that_cannot_be_written_to_is_its_own_error(tmp_path: Path):
    (tmp_path / "releases").write_text("a file")
    with pytest.raises(ReleaseUnwritableError, match="name another folder with --releases"):
        publish(build(tmp_path), tmp_path / "releases")


def test_staging_folders_of_dead_writers_are_removed_and_those_of_living_ones_are_not(tmp_path: Path):
    releases = tmp_path / "releases"
    dead = subprocess.run(
        [sys.executable, "-c", "from data_registry import holders; print(holders.this_process())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    mine, theirs = (
        releases / "demo" / f".staging~0.0.0-dev~{holder.replace('/', '~')}~12345678"
        for holder in (this_process(), dead)
    )
    for folder in (mine, theirs):
        folder.mkdir(parents=True)
    publish(build(tmp_path), releases)
    assert mine.is_dir()
    assert not theirs.exists()


def test_a_full_disk_leaves_nothing_behind_and_room_makes_it_work(tmp_path: Path, small_disk: Callable[[int], Path]):
    disk = small_disk(1024 * 1024)
    blocker = disk / "blocker"
    blocker.write_bytes(b"x" * 960 * 1024)
    with pytest.raises(StorageFullError, match="no room"):
        publish(build(tmp_path), disk / "releases")
    assert not leftovers(disk / "releases")
    blocker.unlink()
    assert publish(build(tmp_path), disk / "releases").path.is_symlink()


KILLED = """
import os, signal, sys
from pathlib import Path
from tasks.publish import publish
from tests.tasks.publications import build

point, number, folder, ends = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), tuple(sys.argv[4].split(","))
real, calls = getattr(os, point), []

def fault(*arguments, **options):
    calls.append(arguments)
    if len(calls) == abs(number) and number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*arguments, **options)
    if len(calls) == number:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

publication = build(folder, ends=ends)
setattr(os, point, fault)
publish(publication, folder / "releases")
print(len(calls))
"""
"""Publishes and dies by SIGKILL before (negative) or after the n-th call of a function of `os`."""


def killed(folder: Path, point: str, number: int, ends: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED, point, str(number), str(folder), ",".join(ends)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("point", "number"),
    [
        *(("rename", -1), ("rename", 1), ("symlink", -1), ("symlink", 1), ("replace", -1), ("replace", 1)),
        *(("fsync", 5), ("fsync", -20), ("fsync", 26), ("utime", 1)),
    ],
)
def test_a_writer_killed_anywhere_leaves_the_old_or_the_new_release(tmp_path: Path, point: str, number: int):
    releases = tmp_path / "releases"
    old = publish(build(tmp_path), releases)
    done = killed(tmp_path, point, number, OTHER)
    assert done.returncode == -signal.SIGKILL, done.stderr
    report = verify(old.path, deep=True)
    assert report.ok, report.text()
    new = publish(build(tmp_path, ends=OTHER), releases)
    assert report.digest in {old.digest, new.digest}
    assert verify(new.path, deep=True).ok
    assert open_release(new.path).digest == new.digest
    assert not [name for name in leftovers(releases) if name.startswith(".staging")]


def test_the_first_release_killed_in_its_rename_is_there_after_a_second_run(tmp_path: Path):
    assert killed(tmp_path, "rename", -1, ENDS).returncode == -signal.SIGKILL
    assert not (tmp_path / "releases/demo/0.0.0-dev").exists()
    assert verify(publish(build(tmp_path), tmp_path / "releases").path, deep=True).ok


def test_two_publishers_at_once_make_one_release(tmp_path: Path):
    ends = [ENDS, ENDS, OTHER]
    command = [sys.executable, "-c", KILLED, "rename", "0", str(tmp_path)]
    running = [
        subprocess.Popen([*command, ",".join(one)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for one in ends
    ]
    for process in running:
        _, errors = process.communicate(timeout=90)
        assert process.returncode == 0, errors
    releases = tmp_path / "releases"
    assert verify(releases / "demo/0.0.0-dev", deep=True).ok
    assert not leftovers(releases)
    folders = [path for path in (releases / "demo").glob("0.0.0-dev.*") if path.is_dir()]
    assert len(folders) == 2


def test_nothing_that_is_covered_says_when_where_or_by_whom(tmp_path: Path):
    published = publish(build(tmp_path), tmp_path / "releases")
    covered = {name: held for name, held in content(published.path.resolve()).items() if name != "lock.json"}
    for name, held in covered.items():
        for secret in (str(tmp_path), "/srv/", "made_at", "run 1"):
            assert secret.encode() not in held, f"{secret} in {name}"
    lock = json.loads((published.path / "lock.json").read_bytes())
    assert lock["release"] == published.digest
    assert lock["made_by"]["made_at"] == "run 1"
    assert lock["made_by"]["stages"]["edit"] == {
        "backend": {"backend": "rules", "revision": "1", "threshold": 0.5},
        "version": 3,
    }
