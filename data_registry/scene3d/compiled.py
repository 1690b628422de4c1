"""The one door to numba: plain loops over arrays, compiled once and kept beside the source.

No `fastmath` and no threads, so the same input gives the same bits. Where the source folder cannot be written, numba
takes the user's cache folder or `NUMBA_CACHE_DIR`; where none can, the loops are compiled anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


SOURCES: Final = ("compiled", "spans", "fragments", "grain", "shading", "shadows", "materials", "light", "../geometry")
"""Modules whose text ends up in compiled loops."""


@lru_cache(maxsize=1)
def _fingerprint() -> str:
    folder = Path(__file__).parent
    return sha256(b"".join((folder / f"{name}.py").read_bytes() for name in SOURCES)).hexdigest()


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function on its first call, for the types of that call."""
    jit: Any = numba.njit
    try:
        loop = jit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return cast("Callable[Arguments, Result]", jit(error_model="numpy", nogil=True)(function))
    # numba looks at the function's own file only and would go on with loops of another module that has changed
    loop._cache._cache_file._source_stamp = _fingerprint()
    return cast("Callable[Arguments, Result]", loop)
