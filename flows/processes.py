"""Background processes that are remembered in files.

A process file holds the process id and the moment that process started, as the kernel counts it. Together they name a
process for ever, so a stale file never leads to a stranger. Reads /proc: the workers' machines run Linux.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GRACE_S = 20.0


@dataclass(frozen=True, slots=True)
class Part:
    """A named background process and where its traces lie."""

    name: str
    """What it is called in messages and file names."""
    folder: Path
    """Absolute folder of its process file and log."""

    @property
    def file(self) -> Path:
        """The process file."""
        return self.folder / f"{self.name}.pid"

    @property
    def log(self) -> Path:
        """What the process printed."""
        return self.folder / f"{self.name}.log"


def start(part: Part, command: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> int:
    """Starts a command in the background, in a session of its own, and writes its process file; returns its id."""
    part.folder.mkdir(parents=True, exist_ok=True)
    with part.log.open("ab") as output:
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    part.file.write_text(json.dumps({"pid": process.pid, "born": _born(process.pid)}))
    process.returncode = 0  # not ours to wait for: keeps the interpreter from warning that it still runs
    return process.pid


def running(part: Part) -> int | None:
    """Returns the process id of a part that runs, else None."""
    try:
        told = json.loads(part.file.read_text())
        pid, born = int(told["pid"]), told["born"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if born is not None and _born(pid) == born else None


def started_at(part: Part) -> float:
    """Returns when the part was last started, in seconds since 1970."""
    return part.file.stat().st_mtime


def stop(part: Part) -> bool:
    """Ends a part and everything it started, TERM then KILL, and removes its file; says whether it ran."""
    pid = running(part)
    if pid is not None:
        family = {member: _born(member) for member in [pid, *_descendants(pid)]}
        _signal(family, signal.SIGTERM, only=pid)
        _wait(family, only=pid)
        _signal(family, signal.SIGTERM)
        _wait(family)
        _signal(family, signal.SIGKILL)
    part.file.unlink(missing_ok=True)
    return pid is not None


def listens(port: int) -> bool:
    """Says whether something accepts connections on a loopback port."""
    with socket.socket() as probe:
        probe.settimeout(2.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _signal(family: Mapping[int, int | None], number: int, only: int | None = None) -> None:
    for pid, born in family.items():
        if only in (None, pid) and born is not None and _born(pid) == born:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _wait(family: Mapping[int, int | None], only: int | None = None) -> None:
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline:
        if not any(born is not None and _born(pid) == born for pid, born in family.items() if only in (None, pid)):
            return
        time.sleep(0.1)


def _born(pid: int) -> int | None:
    """Returns the start time of a live process in clock ticks since boot; None for a dead or unreaped one."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in {"Z", "X"} else None


def _stat(pid: int) -> list[str]:
    """Returns the fields of /proc/PID/stat from the state on (the name before may hold blanks)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _descendants(pid: int) -> list[int]:
    """Returns the processes that a process started, and those that these started."""
    parents = {int(entry.name): _stat(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    children = [child for child, fields in parents.items() if fields and int(fields[1]) == pid]
    return children + [later for child in children for later in _descendants(child)]
