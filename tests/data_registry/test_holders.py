"""Only a process that is surely dead loses its leases at once."""

import os
import subprocess
import sys

from data_registry import holders


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def _name_of(pid: int) -> str:
    machine = holders.this_process().rsplit("/", 2)[0]
    return f"{machine}/{pid}/{holders._started(pid)}"


def test_a_living_process_is_not_gone() -> None:
    assert not holders.is_gone(holders.this_process())
    child = _sleeper()
    assert not holders.is_gone(_name_of(child.pid))
    child.kill()
    child.wait()


def test_a_killed_process_is_gone_as_a_zombie_and_after() -> None:
    child = _sleeper()
    name = _name_of(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, but not reaped: a zombie
    assert holders.is_gone(name)
    child.wait()
    assert holders.is_gone(name)


def test_a_reused_process_id_is_another_process() -> None:
    assert holders.is_gone(holders.this_process() + "0")


def test_nothing_is_known_about_other_machines_and_odd_names() -> None:
    dead = _name_of(os.getpid()) + "0"
    assert not holders.is_gone("elsewhere-" + dead)
    for name in ("", "/", "a/b", "elsewhere/unknown/1/2", holders._machine() + "/pid/1"):
        assert not holders.is_gone(name)


def test_a_machine_without_proc_knows_nothing_of_its_processes(monkeypatch) -> None:
    def absent(*_arguments: object, **_options: object) -> str:
        raise FileNotFoundError

    holders._machine.cache_clear()
    with monkeypatch.context() as context:
        context.setattr("pathlib.Path.read_text", absent)
        name = holders.this_process()
        assert name.endswith(f"/unknown/{os.getpid()}/unknown")
        assert not holders.is_gone(name)
        assert not holders.is_gone(name.replace(str(os.getpid()), "999999999"))
    holders._machine.cache_clear()
