"""Manifests, locks, names and paths: what is accepted, and that nothing else gets through."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.identity import canonical_json, sha256
from data_registry.manifest import (
    FileEntry,
    Lock,
    Manifest,
    ReleaseCorruptError,
    ReleaseError,
    ReleaseNameError,
    ReleasePathError,
    ReleaseSchemaError,
    check_name,
    check_path,
    check_version,
    is_pre_release,
    parse_lock,
    parse_manifest,
)


def entry(path: str) -> dict:
    return {"path": path, "bytes": 3, "sha256": "a" * 64, "content_sha256": "b" * 64}


def manifest(*paths: str, **changes: object) -> bytes:
    content = {
        "schema": 1,
        "name": "demo",
        "version": "0.0.0-dev",
        "complete": True,
        "components": {},
        "files": [entry(path) for path in paths],
    }
    return canonical_json({**content, **changes})


@pytest.mark.parametrize("version", ["0.0.0-dev", "1.0.0-rc.1", "2.10.3-a-b.0"])
def test_a_version_with_a_pre_release_part_may_change(version: str):
    assert is_pre_release(check_version(version))


@pytest.mark.parametrize("version", ["1.0.0", "0.1.0", "12.3.45"])
def test_a_version_without_one_is_final(version: str):
    assert not is_pre_release(check_version(version))


@pytest.mark.parametrize(
    "version",
    [
        *("1.0", "v1.0.0", "1.0.0+linux", "../1.0.0", "1.0.0-", "1.0.0-a..b", "01.0.0", "1.0.0-01", "1.0.0-DEV"),
        *("0.0.0-dev.0123456789ab", "0.0.0-dev.audits", "0.0.0-dev.evaluations", "", "1.0.0\n", "1.0.0-" + "a" * 100),
    ],
)
def test_versions_that_no_folder_should_have_are_refused(version: str):
    with pytest.raises(ReleaseNameError, match="semantic version"):
        check_version(version)


@pytest.mark.parametrize("name", ["", "..", "a/b", "Demo", ".hidden", "a b", "a" * 65, "a\n"])
def test_names_that_no_folder_should_have_are_refused(name: str):
    with pytest.raises(ReleaseNameError, match="not possible"):
        check_name(name)


BAD_PATHS = [
    *("../x", "a/../../x", "/etc/passwd", "a\\b", "a//b", "", ".", "a/.", "a/./b", "a/.hidden", "C:/x", "a/b.", "a b"),
    *("tables/x\0", "t\u00e4ble", "a/" + "b" * 201, "/".join(["abc"] * 101), "a\n", "~root/x", "-rf"),
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_that_leave_the_release_or_differ_between_systems_are_refused(path: str):
    with pytest.raises(ReleasePathError, match="stay inside"):
        check_path(path)
    with pytest.raises(ReleaseCorruptError, match="stay inside"):
        parse_manifest(manifest(path))


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        (("a.png", "a.png"), "are one file"),
        (("A.png", "a.png"), "are one file"),
        (("Manifest.JSON",), "are one file"),
        (("lock.json",), "are one file"),
        (("a", "a/b"), "goes through a file"),
        (("b", "a"), "not sorted"),
    ],
)
def test_paths_that_collide_are_refused(paths: tuple[str, ...], problem: str):
    with pytest.raises(ReleaseCorruptError, match=problem):
        parse_manifest(manifest(*paths))


def test_a_manifest_survives_writing_and_reading():
    content = manifest("a.png", "b/c.png")
    assert parse_manifest(content).content() == content


@pytest.mark.parametrize("change", [b" ", b"\n"])
def test_a_manifest_that_is_not_canonical_is_refused(change: bytes):
    with pytest.raises(ReleaseCorruptError, match="canonical"):
        parse_manifest(manifest("a.png") + change)


def test_a_duplicate_key_in_a_manifest_is_refused():
    content = manifest("a.png").replace(b'"complete":true', b'"complete":false,"complete":true')
    with pytest.raises(ReleaseCorruptError, match="canonical"):
        parse_manifest(content)


def test_a_newer_schema_is_its_own_error_and_says_what_to_do():
    with pytest.raises(ReleaseSchemaError, match=r"schema 2, this code knows up to 1: update exceptiondrive"):
        parse_manifest(manifest(schema=2, something_new=[]))


def test_a_final_version_cannot_be_incomplete():
    with pytest.raises(ReleaseCorruptError, match="final version and not complete"):
        parse_manifest(manifest(version="1.0.0", complete=False))


def test_problems_of_a_manifest_are_told_together_and_bounded():
    with pytest.raises(ReleaseCorruptError) as caught:
        parse_manifest(manifest(*(f"../{number}" for number in range(30))))
    assert str(caught.value).count("stay inside") == 10
    assert "and 20 more" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"null", b"{}", b"[" * 100_000, b'{"schema":"x"}', b"1e999"])
def test_what_is_no_manifest_is_refused(content: bytes):
    with pytest.raises(ReleaseCorruptError):
        parse_manifest(content)


@given(st.data())
def test_a_mutated_manifest_raises_nothing_but_its_own_errors(data: st.DataObject):
    content = bytearray(manifest("a.png", "b/c.png"))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        parsed = parse_manifest(bytes(content))
    except ReleaseError:
        return
    assert parsed.content() == bytes(content)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(["schema", "name", "version", "complete", "components", "files"]), JSON)
def test_a_manifest_with_any_value_anywhere_raises_nothing_but_its_own_errors(field: str, value: object):
    content = json.loads(manifest("a.png")) | {field: value}
    for parse in (parse_manifest, parse_lock):
        try:
            parse(json.dumps(content).encode())
        except ReleaseError:
            continue


def test_a_lock_holds_the_release_and_its_own_digest():
    released = parse_manifest(manifest("a.png"))
    lock = Lock.of(released, {"git": {"commit": "c"}, "sha256": "of something else"})
    assert lock.release == sha256(released.content())
    assert parse_lock(lock.content()) == lock


def test_a_changed_lock_is_refused():
    lock = Lock.of(parse_manifest(manifest("a.png")), {"git": {"commit": "c"}})
    with pytest.raises(ReleaseCorruptError, match="own sha256"):
        parse_lock(lock.content().replace(b'"commit":"c"', b'"commit":"d"'))


def test_a_lock_of_a_newer_schema_is_its_own_error():
    with pytest.raises(ReleaseSchemaError, match=r"lock.json has schema 7"):
        parse_lock(canonical_json({"schema": 7}))


def test_numbers_are_not_read_from_other_types():
    for value in (True, 3.5, "3", -1, 2**60):
        changed = {**entry("a.png"), "bytes": value}
        content = json.dumps({**json.loads(manifest()), "files": [changed]}).encode()
        with pytest.raises(ReleaseCorruptError):
            parse_manifest(content)


def test_entries_come_component_by_component():
    made = Manifest.model_validate(
        {
            "name": "demo",
            "version": "0.0.0-dev",
            "complete": True,
            "components": {},
            "files": (FileEntry.model_validate(entry("a.png")),),
        }
    )
    assert [one.path for one in made.entries()] == ["a.png"]
