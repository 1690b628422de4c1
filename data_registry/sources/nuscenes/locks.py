"""A lock on the local file system that its holder's death releases."""

from __future__ import annotations

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Be the only process in this block for a lock file; others wait, and a killed holder lets go."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
