"""Settings: what is accepted, what is refused and with which words."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flows.settings import Settings, SettingsError, load_settings, parse_settings, shipped_names


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_settings_load_with_nothing_but_the_logs_place(name: str) -> None:
    loaded = load_settings(name, ["source.root=/data", "source.version=v1.0-mini"])
    assert loaded.source.root == Path("/data")
    assert parse_settings(loaded.model_dump(mode="json"), "again") == loaded


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("sourc.root=/x", "sourc: unknown setting, did you mean source?"),
        ("source.rot=/x", "source.rot: unknown setting, did you mean root?"),
        ("run.zebra=1", "run.zebra: unknown setting"),
        ("source.keyframes=last", "source.keyframes: Input should be 'middle', 'first' or 'all'"),
        ("source.limit=0", "source.limit: Input should be greater than or equal to 1"),
        ("source.history=41", "source.history: Input should be less than or equal to 40"),
        ("source.kind=kitti", "source.kind: Input should be 'streetset' or 'nuscenes'"),
        ("source.kind=nuscenes", "source: nuscenes needs root and version"),
        ("source.root=/x", "source: root and version go together"),
        ("release.name=Big Name", "release.name: release name 'Big Name' is not possible"),
        ("release.version=''", "release.version: release version '' is not possible: use a semantic version"),
        ("release.version=../x", "release.version: release version '../x' is not possible"),
        ("release.version='1.0'", "release.version: release version '1.0' is not possible"),
        (f"source.limit={10**30}", "source.limit: Input should be less than or equal to 10000000"),
        ("tasks=['']", "tasks.0: empty name"),
        ("source.scenes=[a, '']", "source.scenes.1: empty name"),
        (r'store.path="st\udcff"', r"store.path: must not have control characters, NUL or bytes that are not UTF-8"),
        (r'releases="a\0b"', r"releases: must not have control characters, NUL or bytes that are not UTF-8"),
        (r'tasks=["a\nb"]', r"tasks.0: must not have control characters"),
        ("store.ledger=sqlite:///x", "store: ledger and blobs go together"),
        ("run.mode=fast", "run.mode: Input should be 'in_process' or 'workers'"),
        ("run.attempts=0", "run.attempts: Input should be greater than or equal to 1"),
        ("run.lease_s=.nan", "run.lease_s"),
        ("run.lease_s=.inf", "run.lease_s"),
        ("auxiliary.share=true", "auxiliary.share: Input should be a valid number, got True"),
        ("auxiliary.share='2'", "auxiliary.share: Input should be a valid number, got '2'"),
        ("run.attempts=yes", "run.attempts: Input should be a valid integer, got True"),
        ("release.allow_incomplete=1", "release.allow_incomplete: Input should be a valid boolean, got 1"),
        ("schema_version=2", "schema_version: Input should be 1"),
        ("tasks=a", "tasks: Input should be a valid array"),
        ("measure={colour: red}", "measure.colour: unknown setting"),
    ],
)
def test_a_wrong_setting_is_named_with_what_it_may_be(override: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("sample", [override])
    assert words in str(caught.value)
    assert str(caught.value).startswith("1 problem in settings ")
    assert "exceptiondrive settings" in str(caught.value)


def test_an_error_says_where_the_values_came_from_and_says_them_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("sample", ["score.body=foo", "store.ledger=postgresql://me:secret@host/x", "store.blobs=s3://x"])
    first, problem, *_ = str(caught.value).splitlines()
    assert first == "1 problem in settings sample with --set score.body, store.ledger, store.blobs:"
    assert problem.endswith("there is no body 'foo'; there are zoe, zoe_lidar_0944, zoe_lidar_0986, zoe_wide")
    path = tmp_path / "mine.yaml"
    path.write_text("score: {body: foo}")
    with pytest.raises(SettingsError) as caught:
        load_settings(str(path))
    assert str(caught.value).startswith(f"1 problem in settings {path}:")


def test_wrong_overrides_and_wrong_fields_come_together() -> None:
    with pytest.raises(SettingsError, match="3 problems in settings") as caught:
        load_settings("sample", ["nonsense", "run.attempts=0", "run.mode=["])
    assert all(part in str(caught.value) for part in ("'nonsense'", "run.attempts", "run.mode: not a YAML value"))


def test_all_problems_come_at_once_and_bounded(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="2 problems in settings") as caught:
        load_settings("sample", ["run.attempts=0", "source.limit=-1"])
    assert "run.attempts" in str(caught.value)
    assert "source.limit" in str(caught.value)
    path = tmp_path / "many.yaml"
    path.write_text(yaml.safe_dump({f"field{number}": number for number in range(40)}))
    with pytest.raises(SettingsError, match=r"40 problems") as caught:
        load_settings(str(path))
    assert str(caught.value).count("unknown setting") == 10
    assert "... and 30 more" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[1, 2]", "must be a mapping of fields, got list"),
        (b"just words", "must be a mapping of fields, got str"),
        (b"a: [", "cannot read settings"),
        (b"\xff\xfe\x00", "cannot read settings"),
        (b"a: 1\x00", "cannot read settings"),
        (b"1: 2", "a key is not text"),
        (b"? [a, b]\n: 1", "a key is not text"),
        (b"2024-01-01: x", "a key is not text"),
        (b"[" * 1_000_001, "is larger than 1,000,000 bytes"),
        (b"d: 2026-99-99", "settings"),
        (b"&a [*a]", "settings"),
        (b"source: &a {kind: *a}", "settings"),
        (b"[" * 3000, "cannot read settings"),
        (b"a: !!python/object:os.system {}", "cannot read settings"),
        (b"tasks: [a]\ntasks: [b]", "tasks is given twice"),
    ],
)
def test_a_file_that_holds_no_settings_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        load_settings(str(path))
    assert words in str(caught.value)
    assert "mine.yaml" in str(caught.value)


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("# nothing\n")
    assert load_settings(str(path)) == Settings()


def test_a_name_that_is_neither_shipped_nor_a_file_says_what_there_is() -> None:
    with pytest.raises(SettingsError, match="neither a file nor one of the shipped nuscenes, sample"):
        load_settings("sampel")


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("run.attempts", "--set takes key.path=value, got 'run.attempts'"),
        ("=3", "--set takes key.path=value"),
        ("run..attempts=3", "--set takes key.path=value"),
        ("run.attempts=[", "--set run.attempts: not a YAML value: '['"),
        ("schema_version.x=1", "--set schema_version.x: schema_version holds a value, not fields"),
        ("run.attempts=2026-99-99", "not a YAML value"),
    ],
)
def test_an_override_that_cannot_be_read_is_refused(override: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("sample", [override])
    assert words in str(caught.value)


def test_later_overrides_win_and_values_are_yaml() -> None:
    loaded = load_settings("sample", ["run.attempts=4", "run.attempts=5", "tasks=[a, b]", " run.mode =workers"])
    assert (loaded.run.attempts, loaded.tasks, loaded.run.mode) == (5, ("a", "b"), "workers")
    root = load_settings("sample", ["source.root=/data/a=b", "source.version=v1.0-mini"]).source.root
    assert root == Path("/data/a=b")


def _numbers(schema: Any) -> list[dict[str, Any]]:
    """Return every whole number that a JSON schema describes."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = [schema] if isinstance(schema, dict) and schema.get("type") == "integer" else []
    return own + [number for part in inner for number in _numbers(part)]


def test_every_whole_number_is_bounded() -> None:
    numbers = _numbers(Settings.model_json_schema())
    assert len(numbers) > 5
    assert all({"maximum", "exclusiveMaximum", "const"} & number.keys() for number in numbers)


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates()
_KEYS = st.sampled_from([*Settings.model_fields, "root", "path", "limit", "x"]) | st.text(max_size=6)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=8
)


def refusal(read: Callable[[], Settings]) -> str | None:
    """Return how settings are refused, None when they are not; anything else that is raised fails the test."""
    try:
        read()
    except SettingsError as error:
        return str(error)
    return None


@given(st.dictionaries(_KEYS | st.integers(), _VALUES, max_size=5))
def test_arbitrary_content_raises_nothing_but_settings_errors(content: dict[Any, Any]) -> None:
    assert len(refusal(lambda: parse_settings(content, "mine")) or "") < 20_000


@given(st.lists(st.text(max_size=12) | st.tuples(_KEYS, st.text(max_size=8)).map("=".join), max_size=4))
def test_arbitrary_overrides_raise_nothing_but_settings_errors(overrides: list[str]) -> None:
    assert refusal(lambda: load_settings("sample", overrides)) != ""


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode()))
def test_arbitrary_files_raise_nothing_but_settings_errors(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mine.yaml")
        path.write_bytes(content)
        assert "mine.yaml" in (refusal(lambda: load_settings(str(path))) or "mine.yaml")
