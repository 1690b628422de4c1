import json
import os
import subprocess
import sys
import time
from pathlib import Path

from flows import processes
from flows.processes import Part

_SLEEP = [sys.executable, "-c", "import time; time.sleep(300)"]
_FAMILY = [
    sys.executable,
    "-c",
    f"import subprocess, sys, time; subprocess.Popen({_SLEEP!r}, start_new_session=True); print('on'); "
    "sys.stdout.flush(); time.sleep(300)",
]


def test_a_started_part_runs_until_it_is_stopped(tmp_path: Path) -> None:
    part = Part("sleeper", tmp_path)
    pid = processes.start(part, _SLEEP, cwd=tmp_path, environment=os.environ)
    assert processes.running(part) == pid
    assert processes.stop(part)
    assert processes.running(part) is None
    assert not processes.stop(part)


def test_stopping_ends_what_the_part_started_in_other_sessions(tmp_path: Path) -> None:
    part = Part("family", tmp_path)
    pid = processes.start(part, _FAMILY, cwd=tmp_path, environment=os.environ)
    while "on" not in part.log.read_text():
        time.sleep(0.05)
    child = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    processes.stop(part)
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_stale_file_with_a_reused_process_id_stops_nobody(tmp_path: Path) -> None:
    with subprocess.Popen(_SLEEP) as stranger:
        part = Part("stale", tmp_path)
        part.file.write_text(json.dumps({"pid": stranger.pid, "born": 1}))
        assert processes.running(part) is None
        assert not processes.stop(part)
        assert stranger.poll() is None
        stranger.kill()


def test_a_damaged_file_counts_as_stopped(tmp_path: Path) -> None:
    part = Part("damaged", tmp_path)
    for text in ("", "[]", '{"pid": "x", "born": 1}', '{"pid": 1}'):
        part.file.write_text(text)
        assert processes.running(part) is None
