"""The one door to numba: plain loops over arrays, compiled once and kept beside the source.

No `fastmath` and no threads, so the same input gives the same bits. Where neither the source folder nor the user's cache
folder (or `NUMBA_CACHE_DIR`) can be written, the loops are compiled anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function on its first call, for the types of that call."""
    jit: Any = numba.njit
    try:
        return cast("Callable[Arguments, Result]", jit(cache=True)(function))
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return cast("Callable[Arguments, Result]", jit(function))
