"""What `make demo` costs: CPU and wall seconds, cold in a fresh clone with no environment, and warm without results.

Warm keeps the environment, the compiled loops and the embedded logs; store and releases are deleted. Both are held
against the floor of any command: `exceptiondrive settings`, which starts Python, reads the settings and ends.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.performance import report

CHECKOUT = Path(__file__).parents[1]


def cost(work: Callable[[], object]) -> tuple[float, float]:
    """Return CPU seconds of finished child processes and wall seconds that `work` takes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - start


def run(clone: Path, *command: str) -> str:
    """Run a command in the clone and return what it said; raises CalledProcessError when it fails."""
    return subprocess.run(command, cwd=clone, check=True, capture_output=True, text=True).stdout


def forget(clone: Path) -> None:
    """Delete releases and store; the embedded logs lie in the store's folder, and stay."""
    shutil.rmtree(clone / "releases")
    for entry in (clone / ".work" / "store").iterdir():
        if entry.name == "streetset":
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "exceptiondrive"
        run(CHECKOUT, "git", "clone", "--quiet", str(CHECKOUT), str(clone))
        cold = cost(lambda: run(clone, "make", "demo"))
        forget(clone)
        warm = cost(lambda: run(clone, "make", "demo"))
        again = cost(lambda: run(clone, "make", "demo"))
        floor = cost(lambda: run(clone, ".venv/bin/exceptiondrive", "settings"))
    rows = (("cold", cold), ("warm", warm), ("nothing to do", again), ("settings", floor))
    lines = ["make demo, seconds          CPU    wall   CPU against `exceptiondrive settings`"]
    lines += [f"  {name:<20} {cpu:8.1f} {wall:7.1f} {cpu / floor[0]:6.1f} x" for name, (cpu, wall) in rows]
    report("demo_run", lines)


if __name__ == "__main__":
    main()
