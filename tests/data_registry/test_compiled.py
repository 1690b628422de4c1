"""Compiled loops work wherever they are installed, and never run from a stale cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from data_registry import compiled

ROOT = Path(compiled.__file__).parents[1]
PICTURE = (
    "import numpy as np\n"
    "from data_registry.scene3d.grain import noise, noise_levels\n"
    "print(noise(noise_levels(), 3.5, 2.5, 1.0))\n"
)


def run(folder: Path, cache: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": cache, "HOME": cache}
    done = subprocess.run([sys.executable, "-c", PICTURE], capture_output=True, text=True, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def copy_of_the_sources(folder: Path) -> Path:
    shutil.copytree(ROOT / "data_registry", folder / "data_registry", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_every_module_with_compiled_loops_and_what_they_read_is_part_of_the_fingerprint() -> None:
    folder = Path(compiled.__file__).parent
    named = {(folder / f"{name}.py").resolve() for name in compiled.SOURCES}
    loops = {path for path in (ROOT / "data_registry").rglob("*.py") if "\n@compiled\n" in path.read_text()}
    assert {"shading.py", "film.py"} <= {path.name for path in loops}
    assert loops <= named
    for path in loops:
        imported = re.findall(r"^from data_registry\.(\S+) import", path.read_text(), re.MULTILINE)
        unread = {"scene3d.mesh"}  # plain arrays come from there, no numbers
        for module in set(imported) - unread:
            assert (ROOT / "data_registry" / f"{module.replace('.', '/')}.py") in named, module


def test_loops_run_where_no_cache_can_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    there = run(copy_of_the_sources(tmp_path / "package"), str(tmp_path / "cache"))
    assert run(tmp_path / "package", str(blocked / "cache")) == there


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"not what numba wrote"])
def test_a_broken_cache_costs_time_and_nothing_else(ending: str, content: bytes, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    before = run(ROOT, str(cache))
    files = sorted(cache.rglob(f"*.{ending}"))
    assert files
    for path in files:
        path.write_bytes(content)
    assert run(ROOT, str(cache)) == before
    assert run(ROOT, str(cache)) == before


def test_a_cache_without_room_costs_time_and_nothing_else(small_disk: Callable[[int], Path], tmp_path: Path) -> None:
    assert run(ROOT, str(small_disk(8192))) == run(ROOT, str(tmp_path / "cache"))


def test_loops_run_without_a_compiler_for_debugging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_value = float(run(ROOT, str(tmp_path / "cache")))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert float(run(ROOT, str(tmp_path / "cache"))) == pytest.approx(compiled_value, abs=1e-6)


def test_a_change_in_a_neighbour_module_compiles_anew(tmp_path: Path) -> None:
    folder = copy_of_the_sources(tmp_path)
    cache = str(tmp_path / "cache")
    before = run(folder, cache)
    written = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert written
    assert run(folder, cache) == before
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == written
    stamps = [path.stat().st_mtime_ns for path in sorted((tmp_path / "cache").rglob("*.nbi"))]
    with (folder / "data_registry" / "scene3d" / "materials.py").open("a") as file:
        file.write("# changed\n")
    run(folder, cache)
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "cache").rglob("*.nbi"))] != stamps
