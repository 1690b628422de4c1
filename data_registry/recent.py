"""A bounded memory of what was found lately: items come keyframe by keyframe, and a keyframe has many tasks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Keeps the values of the keys that were asked for last; safe to use from several threads.

    Who asks for a value that is being found waits for it, so that nothing is found twice at a time. What is found must
    follow from its key alone, and must not be changed by who gets it.

    >>> recent = Recent[int](kept=2)
    >>> recent.get("a", lambda: 1), recent.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, kept: int) -> None:
        """Keep at most `kept` values."""
        self._limit = kept
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return the value of a key, found by `find` unless it is remembered; an error that it raises is not."""
        with self._lock:
            if key not in self._values:
                self._values[key] = find()
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
            return self._values[key]
