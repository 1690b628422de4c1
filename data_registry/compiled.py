"""The one door to numba: plain loops over arrays, compiled once and kept beside the source.

No `fastmath` and no threads, so the same input gives the same bits. Where the source folder cannot be written, numba
takes the user's cache folder or `NUMBA_CACHE_DIR`; where none can, or what lies there is broken or finds no room, the
loops are compiled anew in each process: a cache is never a reason to fail.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba

_BROKEN: Final = (OSError, EOFError, pickle.UnpicklingError, ValueError, KeyError, AttributeError, ImportError)
"""What reading or writing a cache raises when its files are cut short, foreign, or have no room."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


SOURCES: Final = (
    *("compiled", "geometry", "path_steps", "quad_distance", "resampling", "swept_distance"),
    *(f"scene3d/{name}" for name in ("spans", "fragments", "grain", "raw_noise", "shading", "shadows")),
    *("scene3d/materials", "scene3d/light", "sources/streetset/film"),
)
"""Modules whose text ends up in compiled loops."""


@lru_cache(maxsize=1)
def _fingerprint() -> str:
    folder = Path(__file__).parent
    return sha256(b"".join((folder / f"{name}.py").read_bytes() for name in SOURCES)).hexdigest()


class _Forgiving:
    """A cache of compiled loops whose trouble costs time, not the run."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the loop compiled earlier, None when there is none that can be read; a broken index is emptied."""
        try:
            return self._cache.load_overload(signature, target)
        except _BROKEN:
            with suppress(*_BROKEN):
                self._cache.flush()
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep a compiled loop for later processes where that is possible."""
        with suppress(*_BROKEN):
            self._cache.save_overload(signature, data)


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function on its first call, for the types of that call; with NUMBA_DISABLE_JIT it stays as it is."""
    jit: Any = numba.njit
    try:
        loop = jit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return cast("Callable[Arguments, Result]", jit(nogil=True, error_model="numpy")(function))
    if loop is not function:
        # numba looks at the function's own file only and would go on with loops of another module that has changed
        loop._cache._cache_file._source_stamp = _fingerprint()
        loop._cache = _Forgiving(loop._cache)
    return cast("Callable[Arguments, Result]", loop)
