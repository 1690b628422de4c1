"""Indexes of tiny roots: killed builders, two builders, damage."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data_registry.sources.nuscenes import TablesError, index
from data_registry.sources.source import Request
from tests.data_registry.sources.roots import Tables, opened, select, tiny_tables, write_root


@pytest.fixture
def tables() -> Tables:
    return tiny_tables()


SLOW_BUILD = """
import sys, time
from pathlib import Path
from data_registry.sources.nuscenes import NuScenes, index
plain = index.write_atomically
def slow(path, content):
    plain(path, content)
    if sys.argv[4] in str(path):
        print("wrote", flush=True)
        time.sleep(float(sys.argv[3]))
index.write_atomically = slow
NuScenes(Path(sys.argv[1]), "v1.0-tiny", Path(sys.argv[2]))
"""


def builder(tmp_path: Path, pause: float, below: str = "") -> subprocess.Popen[str]:
    """Start a build that pauses after every file that it writes, or after those whose path has `below` in it."""
    command = [sys.executable, "-c", SLOW_BUILD, str(tmp_path / "root"), str(tmp_path / "index"), str(pause), below]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])


def test_killed_build_is_cleaned_up_and_built_again(tmp_path: Path) -> None:
    write_root(tmp_path / "root", tiny_tables(2, ("scene-9101", "scene-9102")))
    process = builder(tmp_path, 60.0, ".building-")
    assert process.stdout is not None
    deadline = time.monotonic() + 60
    while not list((tmp_path / "index").glob(".building-*")) and time.monotonic() < deadline:
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert list((tmp_path / "index").glob(".building-*"))
    assert len(opened(tmp_path).select(Request("all")).keyframes) == 4
    assert not list((tmp_path / "index").glob(".building-*"))


def test_two_builders_at_once_both_succeed(tmp_path: Path) -> None:
    write_root(tmp_path / "root", tiny_tables(2, ("scene-9101", "scene-9102")))
    processes = [builder(tmp_path, 0.05) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0]
    assert len(list((tmp_path / "index").glob("tables-*"))) == 1


def cut_short(content: bytes) -> bytes:
    return content[:-2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0x10]) + content[middle + 1 :]


def emptied(_: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [cut_short, flipped, emptied])
@pytest.mark.parametrize("name", ["contents.json", "columns.bin", "digests.json"])
def test_a_damaged_index_is_built_anew(
    name: str, damage: Callable[[bytes], bytes], tmp_path: Path, tables: Tables
) -> None:
    first = select(tmp_path, tables).keyframes
    (folder,) = (tmp_path / "index").glob("tables-*")
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(damage(whole))
    assert opened(tmp_path).select(Request()).keyframes == first
    assert (folder / name).read_bytes() == whole


def test_a_file_in_the_place_of_an_index_is_replaced(tmp_path: Path, tables: Tables) -> None:
    first = select(tmp_path, tables).keyframes
    (folder,) = (tmp_path / "index").glob("tables-*")
    shutil.rmtree(folder)
    folder.write_text("no folder")
    assert opened(tmp_path).select(Request()).keyframes == first


@pytest.mark.parametrize("content", ["[3", "[" * 100_000, "{}", "[]"])
def test_a_cache_of_digests_that_cannot_be_read_is_an_empty_one(content: str, tmp_path: Path, tables: Tables) -> None:
    first = select(tmp_path, tables).keyframes
    for cache in (tmp_path / "index").glob("root-*/*.json"):
        cache.write_text(content)
    assert opened(tmp_path).select(Request()).keyframes == first


def test_tables_that_change_while_they_are_read_make_no_index(
    tmp_path: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = index.read_tables

    def read_and_change(folder: Path) -> Any:
        found = plain(folder)
        (folder / "log.json").write_text("[]")
        return found

    monkeypatch.setattr(index, "read_tables", read_and_change)
    with pytest.raises(TablesError, match="changed while it was read: run the same command again"):
        select(tmp_path, tables)
    assert not list((tmp_path / "index").glob("tables-*"))
