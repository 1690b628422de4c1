"""Blobs: whole or not at all, checked when read, safe from a clean-up."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.blobs import (
    BlobCorruptError,
    BlobMissingError,
    Blobs,
    FolderGoneError,
    StorageFullError,
    _modified,
    write_atomically,
)
from data_registry.identity import sha256
from data_registry.plain_files import NotPlainFileError


@pytest.fixture(params=["local", "file", "memory"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    folder = tmp_path / "blobs"
    urls = {"local": str(folder), "file": f"file://{folder}", "memory": f"memory://{uuid.uuid4().hex}/blobs"}
    return Blobs(urls[request.param])


def test_content_comes_back_under_its_digest(blobs: Blobs) -> None:
    digest = blobs.put(b"content")
    assert digest == sha256(b"content")
    assert blobs.has(digest)
    assert blobs.get(digest) == b"content"
    assert blobs.path(digest).endswith(f"/{digest[:2]}/{digest}")


def test_the_same_content_is_stored_once_and_gets_a_new_stamp(blobs: Blobs) -> None:
    digest = blobs.put(b"content")
    if blobs._local:
        os.utime(blobs.path(digest), (1.0, 1.0))
    assert blobs.put(b"content") == digest
    ((name, modified),) = blobs.names()
    assert name == digest
    assert abs(modified - time.time()) < 60


def test_names_are_sorted_and_nothing_else_is_listed(blobs: Blobs) -> None:
    assert list(blobs.names()) == []
    digests = sorted(blobs.put(bytes([number])) for number in range(20))
    if blobs._local:
        (Path(blobs._root) / "readme.txt").write_text("not a blob")
    assert [name for name, _ in blobs.names()] == digests


def test_a_deleted_blob_is_missing_and_can_be_deleted_again(blobs: Blobs) -> None:
    digest = blobs.put(b"content")
    assert not blobs.delete(digest, not_after=time.time() - 600)
    assert blobs.delete(digest)
    assert not blobs.has(digest)
    assert not blobs.delete(digest)
    with pytest.raises(BlobMissingError, match=f"blob {digest} is not in .*: the store is incomplete"):
        blobs.get(digest)


def test_a_flipped_bit_is_an_error_and_never_a_picture(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path))
    digest = blobs.put(b"content")
    Path(blobs.path(digest)).write_bytes(b"c0ntent")
    with pytest.raises(BlobCorruptError, match="does not hold what its name says: run `exceptiondrive store repair`"):
        blobs.get(digest)


@given(st.text(max_size=70))
def test_only_a_digest_is_a_name(name: str) -> None:
    with pytest.raises(BlobMissingError, match="is not the name of a blob"):
        Blobs("memory://").path(name)


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, "0" * 64 + "\n", "0" * 63])
def test_a_climbing_or_odd_name_is_refused(name: str) -> None:
    with pytest.raises(BlobMissingError):
        Blobs("memory://").path(name)


def test_a_full_disk_leaves_nothing_half_written(small_disk: Callable[[int], Path]) -> None:
    folder = small_disk(200_000)
    blobs = Blobs(str(folder))
    kept = blobs.put(b"k" * 50_000)
    with pytest.raises(StorageFullError, match=r"no room for 400000 bytes at .*`exceptiondrive store gc`"):
        blobs.put(b"x" * 400_000)
    assert [name for name, _ in blobs.names()] == [kept]
    assert blobs.leftovers() == []
    assert blobs.get(blobs.put(b"y" * 50_000)) == b"y" * 50_000


def test_another_error_keeps_its_kind(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match=r"Not a directory|File exists") as caught:
        write_atomically(tmp_path / "file" / "below", b"x")
    assert not isinstance(caught.value, StorageFullError)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "dangling link"])
def test_only_a_plain_file_is_replaced(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("there" if kind == "link" else "nowhere")
    (tmp_path / "there").write_bytes(b"kept")
    before = place.lstat()
    with pytest.raises(NotPlainFileError, match="not a plain file: name another, or move it away"):
        write_atomically(place, b"x")
    assert place.lstat() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["place", "there"]
    assert (tmp_path / "there").read_bytes() == b"kept"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where nobody can make a folder")
def test_a_folder_that_cannot_be_made_is_an_error_of_the_place() -> None:
    with pytest.raises(FolderGoneError, match="/proc/x/y cannot be written: its folder cannot be made"):
        write_atomically(Path("/proc/x/y"), b"x")


KILLED = """
import sys
from data_registry.blobs import Blobs
blobs = Blobs(sys.argv[1])
print("ready", flush=True)
number = 0
while True:
    blobs.put(number.to_bytes(8, "big") * 200_000)
    number += 1
"""


def test_a_killed_writer_leaves_no_bad_blob(tmp_path: Path) -> None:
    for pause in (0.02, 0.07):
        writer = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
    blobs = Blobs(str(tmp_path))
    for name, _ in blobs.names():
        assert len(blobs.get(name)) == 1_600_000


@pytest.mark.parametrize(
    "info",
    [
        {"mtime": 1e9},
        {"LastModified": datetime.fromtimestamp(1e9, UTC)},
        {"last_modified": datetime.fromtimestamp(1e9, UTC)},
        {"updated": "2001-09-09T01:46:40.000Z"},
        {"created": datetime.fromtimestamp(1e9, UTC)},
    ],
)
def test_each_file_systems_age_stamp_is_understood(info: dict[str, object]) -> None:
    assert _modified(info) == 1e9


def test_a_blob_of_unknown_age_is_young() -> None:
    assert _modified({"name": "x"}) == float("inf")
