"""What this machine can run: a pytest plugin that lets no test go unrun in silence.

A test that needs what the machine lacks is skipped with a reason. Every skip, whatever called it, is listed at the end
of the session under "not run". With EXCEPTIONDRIVE_REQUIRE_ALL=1 (continuous integration sets it) one such line fails
the session. Expected failures are no skips and are left alone.

Under pytest-xdist each worker hands its list over when it ends; the session that started the workers prints one list.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

REAL_DATA = "EXCEPTIONDRIVE_REAL_DATA"
CHROMIUM = "EXCEPTIONDRIVE_CHROMIUM"
REQUIRE_ALL = "EXCEPTIONDRIVE_REQUIRE_ALL"

_NOT_RUN = pytest.StashKey[dict[str, str]]()
_HANDED_OVER = "exceptiondrive_not_run"


def not_run(missing: str, remedy: str) -> NoReturn:
    """End the calling test as not run: say what this machine lacks and what the reader can do about it."""
    pytest.skip(f"{missing}: {remedy}")


def pytest_configure(config: pytest.Config) -> None:
    """Start the session with an empty list."""
    config.stash[_NOT_RUN] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note a test whose set-up or body was skipped."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        item.config.stash[_NOT_RUN][item.nodeid] = _reason(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Note a module that was skipped as a whole."""
    report = yield
    if report.skipped:
        collector.config.stash[_NOT_RUN][collector.nodeid] = _reason(report)
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session that had to run everything and did not; a worker of one reports instead."""
    handed_over: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if handed_over is not None:
        handed_over[_HANDED_OVER] = session.config.stash[_NOT_RUN]
        return
    if _all_required() and session.config.stash[_NOT_RUN] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)  # pytest-xdist has this hook
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker noted; one that crashed hands nothing over, and fails the session anyway."""
    node.config.stash[_NOT_RUN].update(getattr(node, "workeroutput", {}).get(_HANDED_OVER, {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print one line for each test that did not run."""
    left_out = config.stash[_NOT_RUN]
    if not left_out:
        return
    terminalreporter.section("not run")
    for nodeid, why in sorted(left_out.items()):
        terminalreporter.line(f"{nodeid}: {why}")
    if _all_required():
        terminalreporter.line(f"{REQUIRE_ALL} is set: the session fails because of the {len(left_out)} above", red=True)


def _all_required() -> bool:
    return os.environ.get(REQUIRE_ALL, "") not in {"", "0"}


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ").replace("\n", " ")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real sample data that EXCEPTIONDRIVE_REAL_DATA names; read-only by agreement."""
    given = os.environ.get(REAL_DATA)
    if not given:
        not_run("no real data", f"set {REAL_DATA} to the folder that holds it")
    folder = Path(given)
    if not folder.is_dir():
        pytest.fail(f"{REAL_DATA}={given} is no folder: correct the variable or unset it")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of an installed Chromium, for Playwright's `executable_path`."""
    given = os.environ.get(CHROMIUM)
    names = [given] if given else ["chromium", "chromium-browser", "google-chrome"]
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        not_run("no Chromium", f"install Debian's package chromium, or set {CHROMIUM} to a browser's path")
    return found


@pytest.fixture
def small_disk() -> Iterator[Callable[[int], Path]]:
    """A function that mounts a fresh file system of so many bytes and returns its folder: the way to a full disk.

    The mounts are taken down after the test. Mounting needs root.
    """
    mounted: list[Path] = []

    def mount(size_bytes: int) -> Path:
        if os.name != "posix" or os.geteuid() != 0:
            not_run("no right to mount a file system", "run the tests as root")
        folder = Path(tempfile.mkdtemp(prefix="exceptiondrive-disk-"))
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            folder.rmdir()
            not_run(f"mount was refused ({done.stderr.strip()})", "run the tests where root may mount a tmpfs")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()
