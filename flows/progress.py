"""How far a build is, for whoever watches it in the same process: the command line's bars."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

Listener = Callable[[str, int, int | None], None]
"""Called with a stage's name, the number of its items that have a result, and the number of all its items, None while
that is not known."""

_LISTENERS: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Tell `listener` about every step until the block ends."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


def tell(stage: str, done: int, total: int | None) -> None:
    """Tell all listeners how far a stage is."""
    for listener in tuple(_LISTENERS):
        listener(stage, done, total)
