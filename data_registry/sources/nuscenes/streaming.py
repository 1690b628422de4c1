"""A JSON list read in batches: memory stays that of a batch, whatever the size of the file.

A batch is cut at the last `}` of what was read and parsed as a list of its own. JSON is read from left to right, so
text that is a valid list once `[` and `]` are put around it ended between two items of the outer list: a cut inside a
nested object or a string is not valid, and the one before it is tried. orjson, which cannot read NaN, broken surrogates
or huge numbers, is asked first; whatever it refuses the standard library reads item by item, so that errors are named
as ever. Integers beyond 64 bits come as floats.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import orjson

from data_registry.sources.nuscenes.problems import shorten

BATCH_BYTES: Final = 1 << 20
LONGEST_ITEM_BYTES: Final = 1 << 26
"""An item that does not end within this many bytes is taken for a broken one."""
_CUTS: Final = 3
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_SPACE: Final = b" \t\n\r"


def load_json(path: Path) -> Any:
    """Parse a JSON file; whatever is wrong with it becomes a ValueError that says so."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: BaseException) -> ValueError:
    """Say why a file cannot be read as JSON."""
    reason = error.strerror if isinstance(error, OSError) else shorten(str(error), 120)
    return ValueError(f"{path.name} cannot be read as JSON ({reason}): fetch the file again")


def batches(path: Path) -> Iterator[list[Any]]:
    """Yield the items of a JSON list in file order, some thousand at a time.

    Raises:
        ValueError: the file cannot be read, is not JSON or not a list; items before the fault were yielded then.
    """
    try:
        with path.open("rb") as file:
            text = _Text(file)
            if not text.is_plain_list:
                yield _whole_list(path)
            else:
                yield from text.batches()
    except _NotAListError:
        raise
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise unreadable(path, error) from error


class _NotAListError(ValueError):
    """The file is sound JSON, but no list."""


def _whole_list(path: Path) -> list[Any]:
    content = json.loads(path.read_bytes())
    if not isinstance(content, list):
        raise _NotAListError(f"{path.name} must be a list of records, not {type(content).__name__}")
    return cast(list[Any], content)


class _Text:
    """What was read of a file and not yet parsed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rest = file.read(BATCH_BYTES)
        self._ended = not self._rest
        self._parsed = 0
        plain = json.detect_encoding(self._rest) == "utf-8"
        self.is_plain_list = plain and self._rest.lstrip(_SPACE).startswith(b"[")
        """False for other encodings, too: those are read at once."""

    def _more(self) -> bool:
        """Read on, at least as much again as is waiting; False at the end of the file."""
        found = self._file.read(max(BATCH_BYTES, len(self._rest)))
        self._rest += found
        self._ended = not found
        return bool(found)

    def _take(self, count: int) -> None:
        self._rest = self._rest[count:]
        self._parsed += count

    def _next(self) -> bytes:
        """Return the next byte that is not space; none at the end of the file."""
        while True:
            self._take(len(self._rest) - len(self._rest.lstrip(_SPACE)))
            if self._rest or not self._more():
                return self._rest[:1]

    def batches(self) -> Iterator[list[Any]]:
        self._next()
        self._take(1)
        mark = self._next()
        while mark != b"]":
            yield self._batch()
            mark = self._next()
            if mark not in {b",", b"]"}:
                raise self._fault("Expecting ',' delimiter")
            if mark == b",":
                self._take(1)
        self._take(1)
        if self._next():
            raise self._fault("Extra data")

    def _fault(self, message: str) -> ValueError:
        return ValueError(f"{message}: byte {self._parsed}")

    def _batch(self) -> list[Any]:
        cut = self._rest.rfind(b"}")
        while cut < 0 and len(self._rest) <= LONGEST_ITEM_BYTES and self._more():
            cut = self._rest.rfind(b"}")
        for _ in range(_CUTS):
            if cut < 0:
                break
            try:
                found = cast(list[Any], orjson.loads(b"[%b]" % self._rest[: cut + 1]))
            except orjson.JSONDecodeError:
                cut = self._rest.rfind(b"}", 0, cut)
            else:
                self._take(cut + 1)
                return found
        return self._careful_batch()

    def _careful_batch(self) -> list[Any]:
        """Parse item by item with the standard library, at least one item."""
        while True:
            text, _ = codecs.utf_8_decode(self._rest, "surrogatepass", self._ended)
            found, end, fault = _items(text, self._ended)
            if found:
                self._take(len(text[:end].encode("utf-8", "surrogatepass")))
                return found
            if len(self._rest) > LONGEST_ITEM_BYTES or not self._more():
                raise self._fault(fault)


def _after_space(text: str, start: int) -> int:
    found = _BLANK.match(text, start)
    return found.end() if found else start


def _items(text: str, ended: bool) -> tuple[list[Any], int, str]:
    """Return the items at the start of a text, where the last of them ends, and what was wrong after it."""
    decoder, found, end, start = json.JSONDecoder(), list[Any](), 0, 0
    while True:
        start = _after_space(text, start)
        try:
            item, stop = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            return found, end, error.msg
        if stop == len(text) and not ended and not isinstance(item, (dict, list, str)):
            return found, end, "Expecting ',' delimiter"  # a number may go on in what was not read yet
        found.append(item)
        end = stop
        start = _after_space(text, stop)
        if text[start : start + 1] != ",":
            return found, end, ""
        start += 1
