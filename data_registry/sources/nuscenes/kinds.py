"""From a batch's JSON values to a column: one kind for each check of schema.py that a big table uses.

A kind's `convert` takes any values and may raise or return nonsense for wrong ones; `is_sure` says that all are right,
looking at whole batches. It may err in one direction only: where it doubts, the caller asks schema.py value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from data_registry.geometry import Array
from data_registry.sources.nuscenes.schema import FARTHEST_M, LARGEST_PIXELS, SMALLEST_SIDE_M, UNIT_TOLERANCE
from data_registry.sources.nuscenes.tokens import Tokens

Values = list[Any]
Numbers = npt.NDArray[Any]

WRONG: Final = (TypeError, ValueError, OverflowError, KeyError)
"""What `convert` may raise for values that are not of its kind."""
_NONE: Final = "0" * 32
"""Stands for a link that is not there; its row is marked as absent, whatever token it has."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How one field of a big table becomes a column."""

    convert: Callable[[Values], Any]
    """A batch's values -> a part of the column."""
    is_sure: Callable[[Values, Any], bool]
    """A batch's values and their part -> whether all of them are beyond doubt."""
    joined: Callable[[list[Any]], Any]
    """All parts -> the column."""


def _array(dtype: type, is_sure: Callable[[Values, Any], bool], convert: Callable[[Values], Any] | None = None) -> Kind:
    """Return a kind whose parts are arrays."""

    def plain(values: Values) -> Numbers:
        return np.array(values, dtype).reshape(-1)

    def joined(parts: list[Any]) -> Numbers:
        return np.concatenate([*parts, (convert or plain)([])])

    return Kind(convert or plain, is_sure, joined)


def _only(kind: type, values: Sequence[Any]) -> bool:
    return set(map(type, values)) <= {kind}


def _vector(length: int, *, unit: bool = False, least: float = -np.inf) -> Kind:
    """Return the kind of lists of so many finite numbers, (n, length) float64, of unit length or with a least value."""

    def convert(values: Values) -> Array:
        return np.array(list(chain.from_iterable(values)), np.float64).reshape(-1, length)

    def is_sure(values: Values, part: Array) -> bool:
        if not _only(list, values) or not set(map(len, values)) <= {length}:
            return False
        if not set(map(type, chain.from_iterable(values))) <= {int, float} or not np.all(np.abs(part) < FARTHEST_M):
            return False
        # a hair narrower than the exact check, which adds in another order
        if unit and not np.all(np.abs(np.sqrt((part * part).sum(axis=1)) - 1) < UNIT_TOLERANCE - 1e-9):
            return False
        return bool(np.all(part >= least))

    return _array(np.float64, is_sure, convert)


def _is_path(values: Values, part: Values) -> bool:
    del part
    if not _only(str, values):
        return False
    lines = "\n".join(("", *values))
    return lines.isascii() and "\n/" not in lines and ".." not in lines and "\0" not in lines


def _optional_link(values: Values) -> tuple[Tokens, Numbers]:
    absent = [value == "" for value in values]
    return Tokens.of([value or _NONE for value in values]), np.array(absent, np.bool_).reshape(-1)


def _joined_links(parts: list[Any]) -> tuple[Tokens, Numbers]:
    absent = np.concatenate([*(part[1] for part in parts), np.zeros(0, np.bool_)])
    return Tokens.joined([part[0] for part in parts]), absent


POSITION: Final = _vector(3)
QUATERNION: Final = _vector(4, unit=True)
BOX_SIZE: Final = _vector(3, least=SMALLEST_SIDE_M)
STAMP: Final = _array(
    np.int64, lambda values, part: _only(int, values) and bool(np.all((part >= 0) & (part < 1 << 53)))
)
"""Microseconds."""
FLAG: Final = _array(np.bool_, lambda values, _: _only(bool, values))
PIXELS: Final = _array(
    np.int64,  # not less: numpy wraps what does not fit, and would call 2**32 + 64 a sound width
    lambda values, part: (
        set(map(type, values)) <= {int, type(None)} and bool(np.all((part >= 0) & (part <= LARGEST_PIXELS)))
    ),
    lambda values: np.array([value or 0 for value in values], np.int64).reshape(-1),
)
"""Widths or heights; null counts as 0."""
FILE: Final = Kind(lambda values: values, _is_path, lambda parts: list(chain.from_iterable(parts)))
"""Paths below the root, as a list of texts."""
TOKEN: Final = Kind(Tokens.of, lambda values, part: True, Tokens.joined)
"""Tokens, or links to a big table; `Tokens.of` takes nothing but text that UTF-8 can carry."""
OPTIONAL_LINK: Final = Kind(_optional_link, lambda values, _: _only(str, values), _joined_links)
"""Links to a big table, or the empty string: tokens, and where there is none."""


def row(rows: Mapping[str, int]) -> Kind:
    """Return the kind of links to a small table: its row numbers, int32; -1, always in doubt, where it has none.

    Args:
        rows: the small table's row numbers by token.
    """
    return _array(
        np.int32,
        lambda values, part: _only(str, values) and bool(np.all(part >= 0)),
        lambda values: np.array([rows.get(value, -1) for value in values], np.int32).reshape(-1),
    )


class NameSets:
    """Distinct lists of links to a small table with names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Take the small table's names by token."""
        self._names = names
        self._numbers: dict[tuple[Any, ...], int] = {}
        self.found: list[tuple[str, ...]] = []
        """The names of each distinct list, by its number."""

    def kind(self) -> Kind:
        """Return the kind of such lists: their numbers, int32; -1, always in doubt, where a link dangles."""
        return _array(
            np.int32,
            lambda values, part: _only(list, values) and bool(np.all(part >= 0)),
            lambda values: np.array([self._number(tuple(value)) for value in values], np.int32).reshape(-1),
        )

    def _number(self, tokens: tuple[Any, ...]) -> int:
        known = self._numbers.get(tokens)
        if known is None:
            names = [self._names.get(token) for token in tokens]
            known = -1 if None in names else len(self.found)
            self._numbers[tokens] = known
            if known >= 0:
                self.found.append(cast(tuple[str, ...], tuple(names)))
        return known
