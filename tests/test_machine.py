"""What a session says about tests that this machine could not run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.machine import REAL_DATA, REQUIRE_ALL

MIXED = """
import pytest
from tests.machine import not_run

def test_runs(): pass
def test_lacks_gpu(): not_run("no GPU", "use a machine that has one")
@pytest.mark.skip(reason="by a mark")
def test_marked(): pass
@pytest.mark.xfail(strict=True)
def test_known_fault(): assert False
"""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project of its own whose sessions use the plugin."""
    monkeypatch.delenv(REQUIRE_ALL, raising=False)
    monkeypatch.delenv(REAL_DATA, raising=False)
    pytester.makeconftest("pytest_plugins = ['tests.machine']")
    return pytester


def test_each_test_not_run_has_one_line_with_its_reason(inner: pytest.Pytester) -> None:
    inner.makepyfile(test_mixed=MIXED)
    result = inner.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "*= not run =*",
            "test_mixed.py::test_lacks_gpu: no GPU: use a machine that has one",
            "test_mixed.py::test_marked: by a mark",
        ]
    )
    assert "test_known_fault:" not in result.stdout.str()


def test_a_session_that_must_run_all_fails_when_one_is_left_out(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REQUIRE_ALL, "1")
    inner.makepyfile(test_mixed=MIXED)
    result = inner.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{REQUIRE_ALL} is set*the 2 above"])


def test_a_session_that_must_run_all_passes_when_all_ran(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REQUIRE_ALL, "1")
    inner.makepyfile(test_fine="def test_runs(): pass")
    result = inner.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.OK
    assert "not run" not in result.stdout.str()


def test_a_module_skipped_as_a_whole_is_listed(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRE_ALL, "1")
    inner.makepyfile(test_whole="import pytest\npytest.importorskip('no_such_library_here')\ndef test_it(): pass")
    inner.makepyfile(test_fine="def test_runs(): pass")
    result = inner.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["test_whole.py: could not import 'no_such_library_here'*"])


@pytest.mark.parametrize("required", [False, True])
def test_workers_of_a_run_hand_over_what_they_did_not_run(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, required: bool
) -> None:
    monkeypatch.setenv(REQUIRE_ALL, str(int(required)))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    inner.makepyfile(test_mixed=MIXED, test_other=MIXED)
    inner.makepyfile(test_whole="import pytest\npytest.importorskip('no_such_library_here')\ndef test_it(): pass")
    result = inner.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile")
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if required else pytest.ExitCode.OK)
    lines = [line for line in result.outlines if re.match(r"test_\w+\.py(::\w+)?: ", line)]
    assert lines == [
        "test_mixed.py::test_lacks_gpu: no GPU: use a machine that has one",
        "test_mixed.py::test_marked: by a mark",
        "test_other.py::test_lacks_gpu: no GPU: use a machine that has one",
        "test_other.py::test_marked: by a mark",
        "test_whole.py: could not import 'no_such_library_here': No module named 'no_such_library_here'",
    ]


def test_real_data_is_the_named_folder(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REAL_DATA, str(inner.path))
    inner.makepyfile(test_data=f"def test_it(real_data): assert str(real_data) == {str(inner.path)!r}")
    inner.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_without_real_data_the_test_is_not_run(inner: pytest.Pytester) -> None:
    inner.makepyfile(test_data="def test_it(real_data): pass")
    result = inner.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines([f"test_data.py::test_it: no real data: set {REAL_DATA}*"])


def test_a_wrong_real_data_path_is_an_error_and_no_skip(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REAL_DATA, str(inner.path / "absent"))
    inner.makepyfile(test_data="def test_it(real_data): pass")
    inner.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(errors=1)


def test_a_machine_without_chromium_says_what_to_install(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(inner.path))
    monkeypatch.delenv("EXCEPTIONDRIVE_CHROMIUM", raising=False)
    inner.makepyfile(test_page="def test_it(chromium): pass")
    result = inner.runpytest_inprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["test_page.py::test_it: no Chromium: install Debian's package chromium*"])


def test_the_chromium_found_can_be_run(chromium: str) -> None:
    assert Path(chromium).is_file()


def test_a_small_disk_fills_up(small_disk: Callable[[int], Path]) -> None:
    folder = small_disk(64 * 1024)
    with pytest.raises(OSError, match="No space left on device"):
        (folder / "big").write_bytes(bytes(128 * 1024))
