"""What the embedded logs cost: CPU seconds of writing all of them, with the processes that draw, and of one picture.

A picture is what is budgeted (0.4 CPU s): its share of a scene's meshes, light and shadows, lens, noise and JPEG, in a
process like those that draw, which has loaded its loops. The alternative that it is held against is Pillow reading the
same pictures and writing them again at the same quality: what a copy of them through a picture library would cost.
"""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.performance import report
from data_registry.sources.streetset import write_streetset
from data_registry.sources.streetset.painters import THRIFT, paint
from data_registry.sources.streetset.scenes import SCENES
from data_registry.sources.streetset.tables import pictured

QUALITY = 95
DRAW = "--draw"
"""Tells the child process of this script to draw."""


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


def drawing_s() -> float:
    """Return the CPU seconds that this process takes to draw all pictures into files."""
    jobs = [(scene.name, *reading) for scene in SCENES for reading in pictured(history=False)]
    with tempfile.TemporaryDirectory() as folder:
        paint(Path(folder), [(SCENES[-1].name, *pictured(history=False)[0])])  # loads the loops, makes another scene
        start = cpu_s()
        paint(Path(folder), jobs)
        return cpu_s() - start


def main() -> None:
    """Measure and print."""
    if sys.argv[1:] == [DRAW]:
        sys.stdout.write(f"{drawing_s()}")
        return
    with tempfile.TemporaryDirectory() as folder:
        write_streetset(Path(folder) / "first")  # compiles the loops where no cache holds them
        start, wall = cpu_s(), time.perf_counter()
        root = write_streetset(Path(folder) / "second")
        drawn, wall = cpu_s() - start, time.perf_counter() - wall
        pictures = sorted(root.rglob("*.jpg"))
        start = cpu_s()
        copied(pictures)
        copy = cpu_s() - start
    child = [sys.executable, __file__, DRAW]
    alone = float(subprocess.run(child, env=os.environ | THRIFT, check=True, capture_output=True, text=True).stdout)
    lines = [
        f"eight scenes, {len(pictures)} pictures of 1600 x 900, tables, map and CAN bus; {os.cpu_count()} processors",
        f"  all            {drawn:6.1f} CPU s, {wall:5.1f} s wall, {drawn / copy:5.1f} x reading and writing by Pillow",
        f"  a picture      {alone / len(pictures):6.2f} CPU s to draw, {drawn / len(pictures):.2f} of all the above",
        f"  Pillow         {copy:6.2f} CPU s",
    ]
    report("embedded_logs", lines)


if __name__ == "__main__":
    main()
