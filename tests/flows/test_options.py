"""Options of a build: the same from the command line and from a deployment."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.cli import build as build_command
from flows.options import BuildOptions
from flows.settings import SettingsError, load_settings


def test_options_left_out_leave_what_the_settings_say() -> None:
    assert BuildOptions("sample").resolve() == load_settings("sample")


def test_options_stand_above_set_and_set_above_the_file() -> None:
    options = BuildOptions("sample", set=["run.mode=workers", "releases=elsewhere"], releases="here", limit=3)
    resolved = options.resolve()
    assert (resolved.run.mode, resolved.releases, resolved.source.limit) == ("workers", Path("here"), 3)


@pytest.mark.parametrize("text", ["1", "1.0", "yes", "null", "2026-01-01", "a: b", "#x", "[", "'", " x "])
def test_words_of_the_command_line_stay_words(text: str) -> None:
    resolved = BuildOptions("sample", scenes=[text], tasks=[text]).resolve()
    assert (resolved.source.scenes, resolved.tasks) == ((text,), (text,))


@given(st.text())
def test_any_text_survives_as_an_option_or_is_refused(text: str) -> None:
    try:
        assert BuildOptions("sample", scenes=[text], store=text).resolve().source.scenes == (text,)
    except SettingsError:
        assert not text or not text.isprintable()


def test_wrong_options_are_told_as_settings() -> None:
    with pytest.raises(SettingsError, match=r"run\.mode"):
        BuildOptions("sample", mode="fast").resolve()
    with pytest.raises(SettingsError, match=r"source\.limit"):
        BuildOptions("sample", limit=0).resolve()


def test_the_flow_takes_exactly_the_options_with_their_defaults() -> None:
    from flows.build_exceptiondrive import build_exceptiondrive

    parameters = inspect.signature(build_exceptiondrive.fn).parameters
    expected = {field.name: field.default for field in BuildOptions.__dataclass_fields__.values()}
    assert {name: parameter.default for name, parameter in parameters.items()} == expected
    command = {name.rstrip("_") for name in inspect.signature(build_command).parameters}
    assert command == {*expected, "dry_run", "as_json"}
