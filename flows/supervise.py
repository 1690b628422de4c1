"""Runs a command that must not outlive the process that asked for it.

    python -I supervise.py OWNER_PID COMMAND...

When the owner disappears, however it died, or on TERM, the command gets TERM and, after ten seconds, KILL. The parent's
process id is polled: unlike a pipe it is not kept open by the owner's other children, and unlike PR_SET_PDEATHSIG it
does not fire when a mere thread of the owner ends. Standard library only and started by path, so it starts in
milliseconds and needs none of the owner's import path.
"""

import os
import signal
import subprocess
import sys
import time
from types import FrameType

_POLL_S = 0.25
_GRACE_S = 10.0


def main(arguments: list[str]) -> int:
    """Runs the command until it ends, the owner ends or TERM comes; returns the command's exit status."""
    owner, command = int(arguments[0]), arguments[1:]
    asked_to_stop: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        asked_to_stop.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, remember)
    child = subprocess.Popen(command)
    while child.poll() is None and os.getppid() == owner and not asked_to_stop:
        time.sleep(_POLL_S)
    return _end(child)


def _end(child: "subprocess.Popen[bytes]") -> int:
    if child.poll() is None:
        child.terminate()
    try:
        return child.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
