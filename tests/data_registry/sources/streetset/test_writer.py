"""Writing the log: same bytes, whole or absent, never over somebody else's files."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from data_registry import holders
from data_registry.sources.streetset import StreetsetTargetError, StreetsetWriteError, painters, write_streetset, writer
from data_registry.sources.streetset.pictures import jpeg
from data_registry.sources.streetset.rig import KEY_INDEX, camera_us
from data_registry.sources.streetset.scenes import SCENES, scene_named
from data_registry.sources.streetset.tables import picture_path

DOCUMENTS_DIGEST = "e410aab02c065b639e58b0371d4eef830520d14c77011c0cd4f959629e354b74"
"""Of recipe 3. When it changes, raise RECIPE: logs on disk are then written anew."""


@pytest.fixture(scope="module")
def documents() -> dict[str, bytes]:
    return writer.documents()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, documents: dict[str, bytes]) -> None:
    """Take a stand-in for the pictures, and make the documents once: these tests are about files."""
    monkeypatch.setattr(painters, "jpeg", lambda scene, channel, time: f"{scene.name} {channel} {time}".encode())
    monkeypatch.setattr(writer, "documents", lambda: documents)
    monkeypatch.setattr(writer.os, "cpu_count", lambda: 1)


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.timeout(600)  # waits for the log to be written
def test_documents_and_pictures_come_out_the_same_again(street_root: Path, documents: dict[str, bytes]) -> None:
    for path, content in documents.items():
        assert (street_root / path).read_bytes() == content
    for name, channel in (("scene-9003", "CAM_FRONT"), ("scene-9006", "CAM_BACK_LEFT")):
        scene = scene_named(name)
        again = jpeg(scene, channel, camera_us(scene, channel, KEY_INDEX))
        assert (street_root / picture_path(scene, channel, KEY_INDEX)).read_bytes() == again


def test_two_writes_are_equal(tmp_path: Path, quick) -> None:
    one, two = write_streetset(tmp_path / "a" / "one"), write_streetset(tmp_path / "two")
    assert contents(one) == contents(two)
    assert len(list(one.rglob("*.jpg"))) == 6 * len(SCENES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "two"]


def test_history_is_written_on_demand_and_a_root_that_has_it_serves_both(tmp_path: Path, quick) -> None:
    root = write_streetset(tmp_path / "log")
    assert writer.is_complete(root)
    assert not writer.is_complete(root, history=True)
    write_streetset(root, history=True)
    assert len(list(root.rglob("*.jpg"))) == 5 * 6 * len(SCENES)
    before = (root / writer.STAMP).stat().st_mtime_ns
    assert write_streetset(root) == root
    assert (root / writer.STAMP).stat().st_mtime_ns == before
    assert writer.is_complete(root, history=True)


@pytest.mark.timeout(600)
def test_a_full_disk_is_told_by_drawing_processes_too(tmp_path: Path) -> None:
    (tmp_path / "samples").write_text("in the way of the folder")
    jobs = [(name, "CAM_FRONT", KEY_INDEX) for name in ("scene-9001", "scene-9002")]
    with pytest.raises(OSError, match="Not a directory") as caught:
        painters.paint_in_processes(tmp_path, jobs, 2)
    assert caught.value.errno == errno.ENOTDIR


def test_a_drawing_process_that_breaks_is_told(tmp_path: Path) -> None:
    with pytest.raises(painters.PainterError, match=r"status 1: (.|\n)*StopIteration"):
        painters.paint_in_processes(tmp_path, [("scene-0000", "CAM_FRONT", KEY_INDEX)], 2)


def test_a_changed_document_asks_for_a_new_recipe() -> None:
    assert (writer.RECIPE, writer.documents_digest()) == (3, DOCUMENTS_DIGEST)


def test_a_complete_log_is_left_alone(tmp_path: Path, quick, monkeypatch) -> None:
    root = write_streetset(tmp_path / "log")
    monkeypatch.setattr(writer, "documents", lambda: pytest.fail("written again"))
    assert write_streetset(root) == root


def test_a_missing_or_shortened_file_is_written_again(tmp_path: Path, quick) -> None:
    root = write_streetset(tmp_path / "log")
    before = contents(root)
    next(root.rglob("*.jpg")).unlink()
    (root / writer.VERSION / "sample.json").write_bytes(b"[")
    assert contents(write_streetset(root)) == before


def test_a_log_of_an_older_recipe_is_replaced(tmp_path: Path, quick) -> None:
    root = write_streetset(tmp_path / "log")
    stamp = json.loads((root / writer.STAMP).read_text())
    (root / writer.STAMP).write_text(json.dumps({**stamp, "recipe": 0}))
    write_streetset(root)
    assert json.loads((root / writer.STAMP).read_text()) == stamp
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_an_empty_folder_is_filled(tmp_path: Path, quick) -> None:
    (tmp_path / "log").mkdir()
    assert (write_streetset(tmp_path / "log") / writer.STAMP).is_file()


def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_fills_is_not(tmp_path: Path, quick) -> None:
    living = holders.this_process()
    machine, _, _ = living.rpartition("/")
    dead, alive = (
        tmp_path / f".log~{name.replace('/', '~')}~xyz"
        for name in (f"{machine.rpartition('/')[0]}/999999999/1", living)
    )
    for folder in (dead, alive):
        (folder / "new").mkdir(parents=True)
    write_streetset(tmp_path / "log")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive.name, "log"])


def test_a_folder_with_other_files_is_refused(tmp_path: Path, quick) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StreetsetTargetError, match=r"holds files that are not part of the streetset logs: thesis\.tex"):
        write_streetset(tmp_path)
    assert contents(tmp_path) == {"thesis.tex": b"mine"}


def test_a_damaged_log_with_other_files_is_refused(tmp_path: Path, quick) -> None:
    root = write_streetset(tmp_path / "log")
    (root / writer.VERSION / "sample.json").unlink()
    (root / "notes.txt").write_text("mine")
    with pytest.raises(StreetsetTargetError, match=r"notes\.txt"):
        write_streetset(root)


def test_a_file_as_target_is_refused(tmp_path: Path, quick) -> None:
    (tmp_path / "log").write_text("")
    with pytest.raises(StreetsetTargetError, match="is a file"):
        write_streetset(tmp_path / "log")


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path, quick, monkeypatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(writer, "_write", full)
    with pytest.raises(StreetsetWriteError, match=r"cannot write .*No space left on device.*another folder") as caught:
        write_streetset(tmp_path / "log")
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_of_two_writers_the_first_wins_and_the_second_is_content(tmp_path: Path, quick, monkeypatch) -> None:
    root, fill = tmp_path / "log", writer._fill

    def overtaken(folder: Path, history: bool) -> None:
        fill(folder, history)
        monkeypatch.setattr(writer, "_fill", fill)
        write_streetset(root)

    monkeypatch.setattr(writer, "_fill", overtaken)
    assert write_streetset(root) == root
    assert writer.is_complete(root)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_writer_overtaken_at_the_last_moment_keeps_the_other_log(tmp_path: Path, quick, monkeypatch) -> None:
    root, rename, overtaken = tmp_path / "log", Path.rename, []

    def late(self: Path, target: Path) -> Path:
        if self.name == "new" and not overtaken:
            overtaken.append(self)
            write_streetset(root)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", late)
    assert write_streetset(root) == root
    assert writer.is_complete(root)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_rename_that_fails_is_told(tmp_path: Path, quick, monkeypatch) -> None:
    def refused(self: Path, target: Path) -> Path:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(StreetsetWriteError, match="Read-only file system"):
        write_streetset(tmp_path / "log")
