"""Draws pictures into files, here or in processes of its own: `python -m` this module is told its jobs.

Own processes and not a pool of `multiprocessing`: that imports the caller's main module again, so a script without a
guard would start itself over, and a forked child would inherit the caller's threads half alive.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from data_registry.sources.streetset.pictures import jpeg
from data_registry.sources.streetset.rig import camera_us
from data_registry.sources.streetset.scenes import scene_named
from data_registry.sources.streetset.tables import picture_path

Job = tuple[str, str, int]
"""Scene name, channel, sample index."""
DISK_STATUS: Final = 3
"""Exit status after the disk refused; the last line of stdout is then [errno, reason]."""

THRIFT: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MALLOC_TOP_PAD_": str(1 << 28),
}
"""Environment of a drawing process: one thread, as others would only spin, and a heap that keeps a picture's arrays for
the next one (glibc; elsewhere without effect), as fresh pages from the system cost a tenth of all drawing."""


class PainterError(RuntimeError):
    """A drawing process failed; a bug, or it was killed."""


def paint(root: Path, jobs: Sequence[Job]) -> None:
    """Draw pictures into their files below `root`.

    Raises:
        OSError: the disk is full or refuses.
    """
    for name, channel, index in jobs:
        scene = scene_named(name)
        path = root / picture_path(scene, channel, index)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg(scene, channel, camera_us(scene, channel, index)))


def paint_in_processes(root: Path, jobs: Sequence[Job], workers: int) -> None:
    """Draw pictures in some processes at a time; each takes whole scenes, whose meshes it makes once.

    Raises:
        OSError: the disk is full or refuses.
        PainterError: a process ended otherwise.
    """
    names = sorted({job[0] for job in jobs})
    shares = [[job for job in jobs if names.index(job[0]) % workers == worker] for worker in range(workers)]
    with ExitStack() as stack:
        running = [stack.enter_context(_started(root, share)) for share in shares if share]
        try:
            for process in running:
                _finished(process)
        finally:
            for process in running:
                process.kill()


def _started(root: Path, jobs: Sequence[Job]) -> subprocess.Popen[str]:
    order = json.dumps({"root": str(root), "jobs": jobs})
    return subprocess.Popen(
        [sys.executable, "-m", "data_registry.sources.streetset.painters", order],
        env={**os.environ, **THRIFT, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finished(process: subprocess.Popen[str]) -> None:
    told, complaint = process.communicate()
    if process.returncode == DISK_STATUS:
        number, reason = json.loads(told.splitlines()[-1])
        raise OSError(number, reason)
    if process.returncode:
        raise PainterError(f"a drawing process ended with status {process.returncode}: {complaint.strip()[-2000:]}")


def _main(words: Sequence[str]) -> int:
    order = json.loads(words[0])
    try:
        paint(Path(order["root"]), [(name, channel, index) for name, channel, index in order["jobs"]])
    except OSError as error:
        sys.stdout.write(json.dumps([error.errno, error.strerror or str(error)]))
        return DISK_STATUS
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
