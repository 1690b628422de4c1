"""The build flow, run as a user runs it, on a real Prefect server."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

from data_registry.release import open_release
from flows.artifacts import MAX_BYTES
from flows.inspecting import verify  # with the release's components registered
from flows.server import PrefectServer
from tests.flows.builds import DRAWING, Place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, street_root: Path, prefect_server: PrefectServer) -> Place:
    return Place(tmp_path_factory.mktemp("build"), street_root, prefect_server)


@pytest.fixture(scope="module")
def made(place: Place) -> dict[str, Any]:
    return place.build()


def test_a_build_publishes_a_release_that_verifies_deeply(place: Place, made: dict[str, Any]) -> None:
    assert made["complete"]
    assert made["pairs"]
    assert (place.folder / made["path"]).resolve() == place.release.resolve()
    done = place.run("verify", "--deep", str(place.release), "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["digest"] == made["digest"]


def test_counts_add_up_at_every_stage(made: dict[str, Any]) -> None:
    rows = {row.pop("stage"): row for row in [dict(row) for row in made["funnel"]]}
    for row in rows.values():
        assert sum(count for name, count in row.items() if name != "total") == row["total"]
    assert rows["screen"]["total"] == rows["source"]["kept"] * 3
    assert rows["edit"]["total"] == rows["screen"]["kept"] + rows["draw"]["kept"]
    assert rows["release"]["total"] == rows["screen"]["total"]


def test_the_flow_run_shows_its_artifacts_within_their_size(place: Place, made: dict[str, Any]) -> None:
    with get_client(sync_client=True) as client:
        run_id = json.loads((place.release / "lock.json").read_bytes())["made_by"]["run"]["flow_run"]
        of_the_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[UUID(run_id)]))
        found = {artifact.key: artifact for artifact in client.read_artifacts(artifact_filter=of_the_run)}
    assert {
        "source",
        "funnel",
        "rejections",
        "contact-sheet",
        "contact-sheet-1",
        "auxiliary",
        "screening",
        "release",
        "index",
    } <= set(found)
    assert all(len(str(artifact.data).encode()) <= MAX_BYTES for artifact in found.values())
    for sheet in ("contact-sheet", "contact-sheet-1"):
        assert "data:image/jpeg;base64," in str(found[sheet].data)
    assert made["digest"] in str(found["release"].data)
    assert f"[funnel](../artifact/{found['funnel'].id})" in str(found["index"].data)
    assert "## What became of all combinations" in str(found["screening"].data)


def test_a_second_build_redoes_nothing_and_finds_the_release(place: Place, made: dict[str, Any]) -> None:
    before = place.results()
    again = place.build()
    assert (again["digest"], again["was_there"]) == (made["digest"], True)
    assert place.results() == before


def test_another_order_gives_the_same_bytes(place: Place, made: dict[str, Any], tmp_path: Path) -> None:
    other = Place(tmp_path, place.logs, place.server)
    tasks = ["occluded_pedestrian", "large_vehicle_blocking_lane", "collapsed_road_surface"]
    again = other.build(*[word for task in tasks for word in ("--tasks", task)])
    assert again["digest"] == made["digest"]


def test_a_changed_threshold_redoes_only_decide(place: Place, made: dict[str, Any]) -> None:
    before = place.results()
    done = place.run(*place.settings(), "--set", "decide.revision=stricter", "--version", "0.0.0-stricter", "--json")
    assert done.returncode == 0, done.stderr
    new = set(place.results()) - set(before)
    stages = {stage for key, stage in place.rows("SELECT key, stage FROM results") if key in new}
    assert stages == {"decide"}


def test_a_release_holds_auxiliary_pairs_and_another_draw_redoes_only_what_it_draws(
    place: Place, tmp_path: Path
) -> None:
    other = Place(tmp_path, place.logs, place.server, DRAWING)
    made = other.build()
    pairs = open_release(other.release).frame("hazards", "pairs")
    auxiliary = pairs.filter(subset="auxiliary")
    assert auxiliary.height == made["auxiliary"]["drawn"] == 2
    assert set(auxiliary["reason_code"]) <= {row["reason"] for row in made["rejected"] if row["stage"] == "screen"}
    assert verify(other.release, deep=True).ok
    shown = other.run("show", auxiliary["pair_id"][0], "--release", str(other.release))
    assert "it was drawn for auxiliary" in shown.stdout
    before = other.results()
    asked = ("--set", "auxiliary.size=3", "--version", "0.0.0-three")
    planned = other.run(*other.settings(), *asked, "--dry-run")
    assert "auxiliary: 3 of" in planned.stdout
    done = other.run(*other.settings(), *asked)
    assert "drawn for auxiliary: 3 of" in done.stdout, done.stderr
    after = other.results()
    assert {key: after[key] for key in before} == before
    new = [stage for key, stage in other.rows("SELECT key, stage FROM results") if key not in before]
    assert sorted(new) == sorted(["edit", "measure", "localize", "judge", "decide"])


def test_a_dry_run_says_what_is_memoised_and_does_nothing(place: Place, made: dict[str, Any]) -> None:
    before = place.results()
    done = place.run(*place.settings(), "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    assert all(row["to_do"] == 0 for row in json.loads(done.stdout)["stages"])
    assert place.results() == before


def test_each_run_leaves_a_log(place: Place, made: dict[str, Any]) -> None:
    logs = sorted((place.store / "logs").glob("*.log"))
    assert logs
    assert "decide:" in logs[0].read_text()


def test_show_explains_a_pair_and_materialize_writes_it(place: Place, made: dict[str, Any], tmp_path: Path) -> None:
    pair = made["pairs"][0]
    shown = place.run("show", pair, "--release", str(place.release))
    assert shown.returncode == 0, shown.stderr
    assert "measure" in shown.stdout
    options = ["--set", f"source.root={place.logs}", "--set", "source.version=v1.0-streetset"]
    done = place.run("materialize", str(place.release), str(tmp_path / "out"), "--store", str(place.store), *options)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "out").rglob("*.png"))


def test_materialize_refuses_logs_of_another_dataset(place: Place, made: dict[str, Any], tmp_path: Path) -> None:
    options = ["--set", "source.kind=nuscenes", "--set", f"source.root={place.logs}", "--set", "source.version=v1.0-x"]
    done = place.run("materialize", str(place.release), str(tmp_path / "out"), *options)
    assert done.returncode == 2
    assert (
        "was made from streetset logs, the settings name nuscenes logs: name them with --settings sample, which brings"
        in done.stderr
    )


def test_the_summary_names_what_was_left_out_and_why(place: Place, made: dict[str, Any], tmp_path: Path) -> None:
    other = Place(tmp_path, place.logs, place.server)
    hardly = other.settings("screen.hardest_braking=0.5", "screen.hardest_swerve=0.1")
    done = other.run(*hardly, "--tasks", "large_vehicle_blocking_lane")
    assert done.returncode == 0, done.stderr
    assert "screen left out streetset/scene-9001/" in done.stdout
    assert "not_avoidable" in done.stdout or "cannot_stop" in done.stdout


def test_a_store_that_lost_a_blob_is_repaired(made: dict[str, Any], place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path, place.logs, place.server)
    other.build()
    lost = next(path for path in (other.store / "blobs").rglob("*") if path.is_file())
    lost.unlink()
    broken = other.run(*other.settings("release.name=again"))
    assert broken.returncode == 3, broken.stderr
    assert "exceptiondrive store repair" in broken.stderr
    repaired = other.run("store", "repair", "--store", str(other.store))
    assert "1 missing or corrupt; forgot 1 result" in repaired.stdout
    assert other.build()["digest"] == made["digest"]


def test_a_shared_postgresql_ledger_gives_the_same_release(
    made: dict[str, Any], place: Place, tmp_path: Path, postgres_database: str
) -> None:
    other = Place(tmp_path, place.logs, place.server)
    shared = (f"store.ledger={postgres_database}", f"store.blobs={tmp_path / 'blobs'}")
    done = other.run(*other.settings(*shared), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["digest"] == made["digest"]
    assert not (other.store / "ledger.sqlite").exists()
