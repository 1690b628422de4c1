"""The command doctor: tells what is there, changes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from data_registry.store import Store
from flows import doctor
from flows.doctor import examine
from flows.exits import NoError


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.chdir(tmp_path)


def checks(capsys: pytest.CaptureFixture[str], store: Path | None = None) -> dict[str, dict[str, str]]:
    examine(str(store) if store else None, True)
    return {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def test_a_sound_machine_is_told_what_it_has(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = checks(capsys)
    assert {"python", "gpu", "disk", "store", "prefect", "taxonomy", "extra nuscenes", "extra bev"} <= set(found)
    assert found["python"]["state"] == "ok"
    assert found["store"] == {
        "name": "store",
        "state": "missing",
        "found": "no store at .work/store",
        "advice": "the first build makes it",
    }
    assert all(check["advice"] for check in found.values() if check["state"] != "ok")
    assert not list(tmp_path.iterdir())


def test_its_table_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    examine(None, False)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 110


def test_it_makes_no_store_in_a_folder_that_has_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert checks(capsys, tmp_path / "mine")["store"]["state"] == "missing"
    assert not list((tmp_path / "mine").iterdir())


def test_a_store_is_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with Store.at(tmp_path / "mine"):
        pass
    assert checks(capsys, tmp_path / "mine")["store"]["state"] == "ok"


def test_what_is_broken_is_named_and_the_answer_is_no(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "ledger.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(NoError, match="broken: store") as caught:
        examine(str(tmp_path / "mine"), False)
    assert "is damaged or not ours" in " ".join(caught.value.text.split())
    assert "checks" in caught.value.document


def test_a_server_that_does_not_answer_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    with pytest.raises(NoError, match="broken: prefect") as caught:
        examine(None, False)
    assert "unset PREFECT_API_URL" in " ".join(caught.value.text.split())


def test_little_disk_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(doctor, "ENOUGH_DISK_BYTES", usage.total + 1)
    with pytest.raises(NoError, match="broken: disk"):
        examine(None, False)
