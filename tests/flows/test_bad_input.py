"""Wrong input and full disks as a user meets them: one clear error, the right exit code, nothing published."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flows.server import PrefectServer
from prompts.taxonomy import SHIPPED
from tasks.publish import publish
from tests.flows.builds import Place
from tests.tasks import publications

VERSION = "v1.0-streetset"
pytestmark = pytest.mark.timeout(300)  # the first test waits for the embedded logs and a server


@dataclass(frozen=True)
class Case:
    """One thing that is wrong: how it comes about, and what the user must be told."""

    name: str
    parts: tuple[str, ...]
    """What, where, why and what to do, as the message has them."""
    damage: Callable[[Path], object] = lambda logs: None
    words: Callable[[Path], tuple[str, ...]] = lambda folder: ()
    """More options of the build, from the case's own folder."""


def replace(path: Path, content: bytes) -> None:
    """Put a new file in the place of a hard link: the original must not change."""
    path.unlink()
    path.write_bytes(content)


def edited(table: str, change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], None]:
    """Return a damage that changes a table's rows."""

    def damage(logs: Path) -> None:
        path = logs / VERSION / f"{table}.json"
        rows = json.loads(path.read_bytes())
        change(rows)
        replace(path, json.dumps(rows).encode())

    return damage


def without_front_pictures(logs: Path) -> None:
    for path in (logs / "samples" / "CAM_FRONT").iterdir():
        path.unlink()


def without_two_tables(logs: Path) -> None:
    for name in ("ego_pose", "log"):
        (logs / VERSION / f"{name}.json").unlink()


def broken_task_files(folder: Path) -> tuple[str, ...]:
    taxonomy = shutil.copytree(SHIPPED, folder / "taxonomy")
    first, second, *_ = sorted(taxonomy.rglob("*.yaml"))
    first.write_text(first.read_text() + "\ncolour: red\n")
    second.write_text("{")
    return ("--set", f"taxonomy={taxonomy}")


def broken_decisions(folder: Path) -> tuple[str, ...]:
    path = folder / "decisions.jsonl"
    path.write_text('{"pair_id": 1}\nnot json\n')
    return ("--set", f"decisions={path}")


def singular(rows: list[dict[str, Any]]) -> None:
    next(row for row in rows if row["camera_intrinsic"])["camera_intrinsic"] = [[0, 0, 0], [0, 0, 0], [0, 0, 1]]


CASES = [
    Case(
        "missing table",
        (VERSION, "ego_pose.json must be a file", "Unpack the metadata archive"),
        damage=lambda logs: (logs / VERSION / "ego_pose.json").unlink(),
    ),
    Case(
        "dangling token",
        ("table sample_data", "field ego_pose_token: 'nowhere' is not in table ego_pose", "restore that record"),
        damage=edited("sample_data", lambda rows: rows[0].update(ego_pose_token="nowhere")),
    ),
    Case(
        "duplicate token",
        ("table ego_pose", "stands more than once", "keep one record"),
        damage=edited("ego_pose", lambda rows: rows.append(dict(rows[0]))),
    ),
    Case(
        "NaN pose",
        ("table ego_pose", "field translation: [nan, 0, 0] must be 3 finite numbers", "restore the record"),
        damage=edited("ego_pose", lambda rows: rows[0].update(translation=[float("nan"), 0, 0])),
    ),
    Case(
        "singular calibration",
        ("table calibrated_sensor", "field camera_intrinsic", "is singular", "restore the calibration"),
        damage=edited("calibrated_sensor", singular),
    ),
    Case(
        "two problems at once",
        ("2 problems", "table ego_pose", "table log"),
        damage=without_two_tables,
    ),
    Case(
        "unknown task",
        ("unknown tasks: occluded_pedestrain", "the taxonomy has", "occluded_pedestrian"),
        words=lambda folder: ("--tasks", "occluded_pedestrain"),
    ),
    Case("bad task files", ("taxonomy", "colour", "2 "), words=broken_task_files),
    Case(
        "unknown setting",
        ("2 problems in settings", "run.drainz: unknown setting, did you mean drains?", "run.mode", "in_process"),
        words=lambda folder: ("--set", "run.drainz=3", "--mode", "fast"),
    ),
    Case(
        "no source root",
        ("nowhere", "is not a folder", "source.root"),
        words=lambda folder: ("--set", f"source.root={folder / 'nowhere'}"),
    ),
    Case(
        "unknown scene",
        ("scene 'scene-1' is not in this version", "scene-9001", "correct the request"),
        words=lambda folder: ("--scenes", "scene-1"),
    ),
    Case("wrong decisions", ("decisions.jsonl", "line 1", "line 2", "correct the file"), words=broken_decisions),
    Case(
        "no decisions file",
        ("nowhere.jsonl", "cannot be read", "correct the file"),
        words=lambda folder: ("--set", f"decisions={folder / 'nowhere.jsonl'}"),
    ),
]


@pytest.fixture
def copied(tmp_path: Path, street_root: Path) -> Path:
    """A copy of the embedded logs by hard links: replace its files, never write into them."""
    return shutil.copytree(street_root, tmp_path / "logs", copy_function=os.link)


@pytest.fixture
def place(tmp_path: Path, copied: Path, prefect_server: PrefectServer) -> Place:
    return Place(tmp_path / "place", copied, prefect_server)


def refused(place: Place, done: subprocess.CompletedProcess[str], code: int) -> str:
    """Check what every refusal has in common, and return its message."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Errno" not in done.stderr
    document = json.loads(done.stdout)
    assert document["exit_code"] == code
    assert done.stderr.count("error: ") == 1
    assert f"error: {document['error']}" in done.stderr
    assert not list(place.folder.glob("releases/*/*"))
    return document["error"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_input_is_refused_before_a_flow_run_starts(case: Case, place: Place, copied: Path) -> None:
    case.damage(copied)
    place.folder.mkdir()
    done = place.run(*place.settings(), *case.words(place.folder), "--json")
    message = refused(place, done, 2)
    for part in case.parts:
        assert part in message
    assert not list(place.store.glob("logs/*"))


def test_an_error_in_text_leaves_standard_output_empty(place: Place) -> None:
    done = place.run(*place.settings(), "--set", "run.attempts=0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "run.attempts" in done.stderr


def test_missing_pictures_stop_a_build_and_restored_ones_let_it_go_on(
    place: Place, copied: Path, street_root: Path
) -> None:
    without_front_pictures(copied)
    message = refused(place, place.run(*place.settings(), "--json"), 2)
    assert "streetset/scene-9001: pictures_missing" in message
    assert "CAM_FRONT" in message
    assert "fetch the samples/ files" in message
    front = Path("samples", "CAM_FRONT")
    shutil.copytree(street_root / front, copied / front, dirs_exist_ok=True)
    assert place.build()["complete"]


def test_the_traceback_of_a_refusal_stands_in_the_log_of_its_run(place: Place, copied: Path) -> None:
    for path in (copied / "maps" / "expansion").iterdir():
        replace(path, b"{")
    message = refused(place, place.run(*place.settings(), "--json"), 2)
    assert "cannot be read as JSON" in message
    (log,) = place.store.glob("logs/*.log")
    assert "ended by MapError" in log.read_text()
    assert "Traceback" in log.read_text()


def test_a_truncated_picture_fails_its_pairs_for_good_and_the_build_completes(place: Place, copied: Path) -> None:
    for path in (copied / "samples" / "CAM_FRONT").iterdir():
        replace(path, path.read_bytes()[: path.stat().st_size // 2])
    done = place.run(*place.settings(), "--json")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    made = json.loads(done.stdout)
    assert made["complete"]
    failed = place.rows("SELECT item_id, detail FROM results WHERE status = 'failed_permanent'")
    assert failed
    assert all("CAM_FRONT" in detail for _, detail in failed)
    assert made["funnel"][-1]["failed_permanent"] == len(failed)
    shown = place.run("show", failed[0][0], "--release", str(place.release))
    assert "failed" in shown.stdout
    assert "CAM_FRONT" in shown.stdout


def fill(disk: Path, leave: int) -> Path:
    """Leave so many bytes on a small disk; return the file to delete."""
    filler = disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(disk).free - leave))
    return filler


@pytest.mark.parametrize("leave", [8_192, 400_000])
def test_a_full_disk_under_the_store_is_told_and_the_build_goes_on_later(
    leave: int, place: Place, small_disk: Callable[[int], Path]
) -> None:
    disk = small_disk(64 * 2**20)
    filler = fill(disk, leave)
    command = [*place.settings(), "--store", str(disk / "store"), "--json"]
    message = refused(place, place.run(*command), 3)
    assert "no room" in message
    assert str(disk) in message
    assert "free some space" in message
    assert "run the same command again" in message
    filler.unlink()
    done = place.run(*command)
    assert done.returncode == 0, done.stderr


def test_a_private_server_without_room_for_its_database_is_no_riddle(
    tmp_path: Path, copied: Path, small_disk: Callable[[int], Path]
) -> None:
    place = Place(tmp_path / "place", copied, PrefectServer("", {}))
    disk = small_disk(8 * 2**20)
    fill(disk, 1_900_000)  # room for the index of the tables, not for a database of 2 MiB beside it
    alone = tmp_path / "alone.py"
    alone.write_text("import os\nos.environ.pop('PREFECT_API_URL', None)\nfrom flows.cli import main\nmain()\n")
    process = place.start(*place.settings(), "--store", str(disk / "store"), "--json", script=[str(alone)])
    output, errors = process.communicate(timeout=200)
    done = subprocess.CompletedProcess(process.args, process.returncode, output, errors)
    assert f"no room for 2097152 bytes at {disk / 'store' / 'prefect'}" in refused(place, done, 3)


def test_a_full_disk_under_the_releases_is_told_and_nothing_is_done_twice(
    place: Place, small_disk: Callable[[int], Path]
) -> None:
    disk = small_disk(64 * 2**20)
    filler = fill(disk, 100_000)
    command = [*place.settings(), "--releases", str(disk / "releases"), "--json"]
    message = refused(place, place.run(*command), 3)
    assert "no room" in message
    assert str(disk) in message
    assert not list(disk.rglob("manifest.json"))
    before = place.results()
    filler.unlink()
    done = place.run(*command)
    assert done.returncode == 0, done.stderr
    assert place.results() == before


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return publish(publications.build(tmp_path), tmp_path / "released").path.resolve()


def rewritten(release: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest, as an enemy or a later version would."""
    content = json.loads((release / "manifest.json").read_bytes())
    change(content)
    (release / "manifest.json").write_text(json.dumps(content))


def first_file(content: dict[str, Any]) -> dict[str, Any]:
    return next(iter(content["components"].values()))["files"][0]


def test_a_flipped_bit_in_a_release_is_found(place: Place, release: Path) -> None:
    victim = next(release.glob("deltas/**/*.png"))
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    done = place.run("verify", str(release), "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["exit_code"], document["ok"]) == (1, 1, False)
    assert document["problems"][0]["where"] == victim.relative_to(release).as_posix()
    assert "fetch it again" in document["error"]
    text = place.run("verify", str(release))
    assert text.returncode == 1
    assert victim.name in text.stdout
    assert "Traceback" not in text.stderr


def test_a_manifest_path_that_climbs_out_is_never_followed(place: Place, release: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    rewritten(release, lambda content: first_file(content).update(path="../../../secret"))
    for words in (("verify", str(release)), ("materialize", str(release), str(tmp_path / "out"))):
        done = place.run(*words, "--json")
        assert done.returncode in {1, 2}, done.stderr
        assert "Traceback" not in done.stderr
        assert "../../../secret" in done.stdout
        assert len(json.loads(done.stdout)["error"]) < 2_000
    assert not (tmp_path / "out").exists()


def test_a_newer_release_asks_for_newer_code(place: Place, release: Path) -> None:
    rewritten(release, lambda content: content.update(schema=99))
    done = place.run("verify", str(release), "--json")
    message = json.loads(done.stdout)["error"]
    assert done.returncode == 2
    assert "99" in message
    assert str(release) in message
    assert "Traceback" not in done.stderr


def test_a_folder_without_a_release_says_so(place: Place, tmp_path: Path) -> None:
    done = place.run("verify", str(tmp_path / "nothing"), "--json")
    assert done.returncode == 2
    assert str(tmp_path / "nothing") in json.loads(done.stdout)["error"]
