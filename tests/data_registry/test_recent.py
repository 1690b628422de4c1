"""The bounded memory that stages and back ends share between threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from data_registry.recent import Recent


def test_what_was_asked_for_last_is_kept_and_no_more() -> None:
    recent, found = Recent[str](kept=2), list[str]()

    def get(key: str) -> str:
        return recent.get(key, lambda: found.append(key) or key.upper())

    assert [get(key) for key in "abacab"] == list("ABACAB")
    assert found == ["a", "b", "c", "b"]


def test_threads_that_ask_at_the_same_time_find_a_value_once() -> None:
    recent, found, together = Recent[int](kept=1), list[int](), Barrier(4)

    def ask(_: int) -> int:
        together.wait(timeout=10)
        return recent.get("key", lambda: found.append(1) or len(found))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [1, 1, 1, 1]


def test_an_error_is_not_remembered() -> None:
    recent = Recent[int](kept=1)
    with pytest.raises(ZeroDivisionError):
        recent.get("key", lambda: 1 // 0)
    assert recent.get("key", lambda: 3) == 3
