"""What lock.json says about the making of a release: complete where it can be, and without secrets."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.identity import canonical_json
from tasks.provenance import git_state, packages, provenance, strip_credentials, without_secrets


def git(folder: Path, *arguments: str) -> str:
    identity_options = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(folder), *identity_options, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://me:hunter2@example.org/a/b.git")
    (folder / "file").write_text("1")
    git(folder, "add", "file")
    git(folder, "commit", "-qm", "one")
    return folder


def test_the_state_of_a_checkout_has_no_credentials(checkout: Path):
    state = git_state(checkout)
    assert state == {
        "origin": "https://example.org/a/b.git",
        "commit": git(checkout, "rev-parse", "HEAD"),
        "dirty": False,
    }
    (checkout / "file").write_text("2")
    assert git_state(checkout)["dirty"] is True


@pytest.mark.parametrize("origin", ["/srv/clones/a", "../a", "~/a", "file:///srv/a"])
def test_a_folder_as_origin_is_not_told(checkout: Path, origin: str):
    git(checkout, "remote", "set-url", "origin", origin)
    assert git_state(checkout)["origin"] is None


def test_what_is_no_checkout_is_unknown_even_inside_one(checkout: Path):
    unknown = {"origin": None, "commit": None, "dirty": None}
    inside = checkout / "installed"
    inside.mkdir()
    assert git_state(inside) == unknown
    assert git_state(checkout / "nowhere") == unknown


def test_a_machine_without_git_is_no_error(checkout: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(checkout))
    assert git_state(checkout)["commit"] is None


def test_packages_have_normalised_names():
    found = packages()
    assert found["polars"]
    assert all(name == name.lower() and "_" not in name for name in found)


def test_provenance_is_json_without_secrets(checkout: Path):
    made = provenance(
        {"store": {"ledger": "postgresql://me:hunter2@db/x", "api_key": "hunter2"}, "tries": 3},
        {"flow_run": "abc", "token": "hunter2"},
        checkout,
    )
    assert b"hunter2" not in canonical_json(made)
    assert made["settings"]["store"] == {"ledger": "postgresql://db/x", "api_key": "(left out)"}
    assert made["settings"]["tries"] == 3
    assert made["run"]["flow_run"] == "abc"
    assert made["git"]["dirty"] is False


def test_secrets_are_left_out_at_any_depth():
    assert without_secrets({"a": [{"Password": "x", "note": "see https://u:p@h/x?k=1"}]}) == {
        "a": [{"Password": "(left out)", "note": "see https://h/x"}]
    }


@given(st.text(max_size=30))
def test_no_url_keeps_its_user(rest: str):
    assert "hunter2" not in strip_credentials(f"https://me:hunter2@{rest}")
