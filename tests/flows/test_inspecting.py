"""Commands that look at a release: what they refuse before any work is spent."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from data_registry.materialize import UnknownPairError
from flows.cli import app
from flows.inspecting import materialize_release
from flows.options import BuildOptions
from tasks.publish import publish
from tests.tasks.publications import DRAWN_ENDS, build

PAIR = "streetset/town/aaaa/collapsed_road_surface"


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    return publish(build(folder), folder / "releases").path


def test_an_unknown_pair_is_refused_before_the_embedded_logs_are_written(tmp_path: Path) -> None:
    release = publish(build(tmp_path / "made"), tmp_path / "releases").path
    options = BuildOptions("sample", store=str(tmp_path / "store"))
    with pytest.raises(UnknownPairError, match="has no pair ''; its table pairs lists the ids"):
        materialize_release(release, tmp_path / "out", options, [""], as_json=False)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("cases", "releases/demo/0.0.0-dev", "releases/demo/0.0.0-dev/asked"),
        ("materialize", "releases/demo/0.0.0-dev", "releases/demo/0.0.0-dev/deltas"),
        ("score", "--regions", "R", "--predictions", "P", "--out", "releases/demo/0.0.0-dev/S.parquet"),
        ("evaluate", "releases/demo/0.0.0-dev", "--store", "releases/demo/0.0.0-dev/store"),
    ],
)
def test_nothing_is_written_into_a_release(words: tuple[str, ...], home: Path) -> None:
    before = sorted(home.rglob("*"))
    ended = invoke(*words)
    assert ended.exit_code == 2
    assert "lies inside" in ended.stderr
    assert "would not verify any more: name a place outside" in ended.stderr
    assert sorted(home.rglob("*")) == before


def test_an_empty_name_is_none_for_an_evaluation(home: Path) -> None:
    ended = invoke("evaluate", "releases/demo/0.0.0-dev", "--name", "")
    assert (ended.exit_code, "name '' is not possible for an evaluation" in ended.stderr) == (2, True)


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with the release `demo` below `releases`."""
    shutil.copytree(made.parent, tmp_path / "releases" / "demo", symlinks=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_show_finds_the_release_that_knows_the_pair(home: Path) -> None:
    other = home / "releases" / "a_newer"
    publish(build(home / "other", version="1.0.0", ends=DRAWN_ENDS), home / "releases")
    (home / "releases" / "demo" / "1.0.0").rename(home / "releases" / "1.0.0")
    other.mkdir()
    (home / "releases" / "1.0.0").rename(other / "1.0.0")
    os.utime(home / "releases" / "demo" / "0.0.0-dev", (1, 1))
    assert json.loads(invoke("show", PAIR, "--json").stdout)["release"].startswith("demo 1.0.0 ")
    os.utime(other / "1.0.0", (0, 0))
    assert json.loads(invoke("show", PAIR, "--json").stdout)["release"].startswith("demo 0.0.0-dev ")
    (home / "releases" / "demo" / "0.0.0-dev" / "manifest.json").write_text("{")  # is damaged: it asks the next one
    assert json.loads(invoke("show", PAIR, "--json").stdout)["release"].startswith("demo 1.0.0 ")


def test_show_says_in_how_many_releases_it_looked(home: Path) -> None:
    done = invoke("show", "nuscenes/scene-0061/x/y")
    assert done.exit_code == 2
    assert "release demo 0.0.0-dev knows nothing about 'nuscenes/scene-0061/x/y'" in done.stderr
    assert "nor do" not in done.stderr  # the pre-release version's symlink and its folder are one
    shutil.rmtree(home / "releases")
    done = invoke("show", PAIR)
    assert done.exit_code == 2
    assert f"there is no release below {home / 'releases'}" in done.stderr


def test_the_report_is_text_of_a_terminals_width_or_one_document(made: Path) -> None:
    done = invoke("report", "screening", str(made))
    assert done.exit_code == 0
    assert done.stdout.startswith("demo 0.0.0-dev (")
    assert max(map(len, done.stdout.splitlines())) <= 110
    document = json.loads(invoke("report", "screening", str(made), "--json").stdout)
    assert document["combinations"] == 6


@pytest.mark.parametrize(("harm", "code"), [("gone", 2), ("manifest", 1), ("table", 1), ("older", 2)])
def test_a_report_about_a_release_that_is_none_ends_with_a_clear_error(
    harm: str, code: int, made: Path, tmp_path: Path
) -> None:
    release = shutil.copytree(made.resolve(), tmp_path / "release")
    manifest, table = release / "manifest.json", release / "tables/screenings.parquet"
    if harm == "gone":
        shutil.rmtree(release)
    elif harm == "manifest":
        manifest.write_text("{")
    elif harm == "table":
        table.write_bytes(table.read_bytes()[:-8])
    else:
        manifest.write_bytes(manifest.read_bytes().replace(b'"schema_version":3', b'"schema_version":1'))
    done = invoke("report", "screening", str(release), "--json")
    assert done.exit_code == code
    assert json.loads(done.stdout)["exit_code"] == code
    assert "Traceback" not in done.stderr
