"""Who holds a lease: one process, named so that its own machine can tell whether it still lives.

After a kill -9 a re-run on the same machine must not wait for the dead process's leases to expire; another machine
cannot know, and waits.
"""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path


@cache
def _machine() -> str:
    """Name this boot of this machine and this process-id namespace: only there does a process id mean anything."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return f"{socket.gethostname()}/unknown"
    return f"{socket.gethostname()}/{boot[:8]}-{namespace}"


def _started(pid: int) -> str | None:
    """Return the kernel's start tick of a process, None when there is no such process or no /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else fields[19]


def this_process() -> str:
    """Return the holder name of the calling process: `<machine>/<pid>/<start tick>`."""
    pid = os.getpid()
    return f"{_machine()}/{pid}/{_started(pid) or 'unknown'}"


def is_gone(holder: str) -> bool:
    """Tell whether a holder is known to be dead: a process of this machine and boot that does not run any more."""
    machine, _, rest = holder.rpartition("/")
    machine, _, pid = machine.rpartition("/")
    if machine != _machine() or machine.endswith("/unknown") or not pid.isdigit():
        return False
    return _started(int(pid)) != rest
