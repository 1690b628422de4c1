"""A build that is killed goes on where it was: the same manifest, nothing finished redone."""

import random
import signal
import time
from pathlib import Path

import pytest

from flows.inspecting import verify  # with the release's components registered
from flows.server import PrefectServer
from tests.flows.builds import DRAWING, Place


@pytest.fixture
def place(tmp_path: Path, street_root: Path, prefect_server: PrefectServer) -> Place:
    return Place(tmp_path, street_root, prefect_server, DRAWING)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, street_root: Path, prefect_server: PrefectServer) -> str:
    """Digest of an undisturbed build."""
    place = Place(tmp_path_factory.mktemp("reference"), street_root, prefect_server, DRAWING)
    made = place.build()
    assert made["auxiliary"]["drawn"]
    return str(made["digest"])


def _goes_on(place: Place, reference: str) -> None:
    """Build again: the undisturbed digest, and every finished item as it was, done by one process once."""
    before = place.results() if (place.store / "ledger.sqlite").exists() else {}
    assert place.build()["digest"] == reference
    after = place.results()
    assert {key: after[key] for key in before} == before
    assert place.rows("SELECT * FROM conflicts") == []
    assert place.rows("SELECT * FROM leases") == []
    assert verify(place.release, deep=True).ok


@pytest.mark.parametrize(
    ("point", "count"),
    [
        ("before-row", 1),
        ("before-row", 5),
        ("after-row", 4),
        ("after-blob", 2),
        ("before-draw", 1),
        ("before-publish-rename", 1),
        ("after-publish-rename", 1),
        ("before-index-rename", 1),
        ("after-index-rename", 1),
    ],
)
def test_a_build_killed_at_a_fault_point_goes_on(place: Place, reference: str, point: str, count: int) -> None:
    assert place.killed_at(point, count) == -signal.SIGKILL
    _goes_on(place, reference)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_build_killed_at_a_random_time_goes_on(place: Place, reference: str, seed: int) -> None:
    process = place.start(*place.settings())
    time.sleep(random.Random(seed).uniform(1.5, 8.0))
    process.kill()
    process.communicate()
    _goes_on(place, reference)


def test_two_builds_at_once_on_one_store_agree_and_share_the_work(place: Place, reference: str) -> None:
    both = [place.start(*place.settings(), "--json") for _ in range(2)]
    outputs = [process.communicate(timeout=180) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert all(reference in output for output, _ in outputs)
    assert place.rows("SELECT * FROM conflicts") == []
    assert place.rows("SELECT * FROM attempts") == []
