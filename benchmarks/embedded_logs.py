"""What the embedded logs cost: CPU seconds of writing all of them, with the processes that draw, and by picture.

The alternative that it is held against is Pillow reading the same pictures and writing them again at the same quality:
what a copy of them through a picture library would cost.
"""

from __future__ import annotations

import io
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.performance import report
from data_registry.sources.streetset import write_streetset

QUALITY = 95


def cpu_s() -> float:
    """Return the CPU seconds of this process and of its finished children, so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def copied(pictures: list[Path]) -> int:
    """Read pictures and write them again in memory; return the bytes."""
    total = 0
    for path in pictures:
        stream = io.BytesIO()
        Image.open(path).convert("RGB").save(stream, "JPEG", quality=QUALITY)
        total += len(stream.getvalue())
    return total


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        write_streetset(Path(folder) / "first")  # compiles the loops where no cache holds them
        start, wall = cpu_s(), time.perf_counter()
        root = write_streetset(Path(folder) / "second")
        drawn, wall = cpu_s() - start, time.perf_counter() - wall
        pictures = sorted(root.rglob("*.jpg"))
        start = cpu_s()
        copied(pictures)
        copy = cpu_s() - start
    lines = [
        f"eight scenes, {len(pictures)} pictures of 1600 x 900, tables, map and CAN bus; {os.cpu_count()} processors",
        f"  all            {drawn:6.1f} CPU s, {wall:5.1f} s wall, {drawn / copy:5.1f} x reading and writing by Pillow",
        f"  a picture      {drawn / len(pictures):6.2f} CPU s, everything included",
        f"  Pillow         {copy:6.2f} CPU s",
    ]
    report("embedded_logs", lines)


if __name__ == "__main__":
    main()
