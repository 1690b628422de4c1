"""A run that is spread over workers tells the same as one that is not."""

from pathlib import Path

import pytest

PLUGIN = "pytest_plugins = ['tests.spread']\n"
SPREAD = ("-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "-v")


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project of its own whose runs use the plugin."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    pytester.makeconftest(PLUGIN)
    return pytester


def test_a_test_may_log_half_a_surrogate_pair(inner: pytest.Pytester) -> None:
    logs = "import logging\ndef test_it():\n    logging.warning('half %s', chr(0xD800))\n    assert {}\n"
    inner.makepyfile(test_fine=logs.format(True), test_failing=logs.format(False))
    result = inner.runpytest_subprocess(*SPREAD)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([r"*half \ud800*"])


def test_files_that_need_a_server_begin(inner: pytest.Pytester) -> None:
    inner.makeconftest(PLUGIN + "import pytest\n@pytest.fixture\ndef served(): pass\n")
    inner.makepyfile(test_a="def test_it(): pass", test_b="def test_it(): pass", test_c="def test_it(): pass")
    inner.makepyfile(test_z="def test_first(): pass\ndef test_it(served): pass")
    result = inner.runpytest_subprocess(*SPREAD, "-n", "1")
    result.assert_outcomes(passed=5)
    passed = [line.split("PASSED ")[1].strip() for line in result.outlines if "PASSED " in line]
    files = ["test_z.py::test_first", "test_z.py::test_it", *(f"test_{name}.py::test_it" for name in "abc")]
    assert passed == files
