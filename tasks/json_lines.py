"""Files of one JSON object a line, read strictly: other people's programs write them, so they are hostile inputs.

All problems are collected, each with its line; an error shows the first ten and counts the rest.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from data_registry.geometry import Array
from data_registry.plain_files import NotPlainFileError, open_plain

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes of a line; a trajectory of ten thousand points needs half a megabyte."""
SHOWN: Final = 10
_BOM: Final = b"\xef\xbb\xbf"
_LONGEST_NAME: Final = 40
"""Characters of somebody else's text that a message repeats."""
_LONGEST_ID: Final = 200
"""Characters of an id that a message repeats: enough for every pair of a release."""
_INTEGER_DIGITS: Final = 18
"""Integers with more digits are read as doubles, whose range they may leave."""
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class JsonLinesError(ValueError):
    """A file of JSON lines is wrong; the message lists what, with line numbers."""


@dataclass(slots=True)
class Problems:
    """What is wrong with a file: the first few in words, the others counted."""

    path: Path
    what: str
    """What the file should be, e.g. `regions file`."""
    error: type[JsonLinesError]
    count: int = 0
    shown: list[str] = field(default_factory=list[str])

    def add(self, line: int, text: str) -> None:
        """Note a problem of a line."""
        self.count += 1
        if self.count <= SHOWN:
            self.shown.append(f"line {line}: {text}")

    def refuse(self, advice: str) -> None:
        """Raise the file's error when there is a problem, with what a line must be."""
        if not self.count:
            return
        more = [f"... and {self.count - SHOWN:,} more"] if self.count > SHOWN else []
        counted = f"{self.count:,} problem{'s' if self.count > 1 else ''}"
        lines = [f"{counted} in the {self.what} {self.path}:", *self.shown, *more]
        raise self.error("\n  ".join(lines) + f"\n{advice}")


def read_objects(problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each line that holds one; blank lines count and are skipped, others are noted.

    NaN, Infinity and null come as they are; of integers of more than 18 digits the nearest double.

    Raises:
        JsonLinesError: the file cannot be read, or is a pipe or device.
    """
    try:
        with open_plain(problems.path) as file:
            for number, line in _lines(file):
                if line is None:
                    problems.add(number, f"is longer than {LONGEST_LINE // 2**20} MiB")
                elif line.strip():
                    yield from _parsed(number, line, problems)
    except NotPlainFileError as error:
        raise problems.error(f"the {problems.what} {error.strerror}") from error
    except OSError as error:
        raise problems.error(f"the {problems.what} {problems.path} cannot be read: {error.strerror}") from error


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield number and bytes of each line, None for one that is too long: that is skipped without being held."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) <= LONGEST_LINE:
            yield number, line.removeprefix(_BOM) if number == 1 else line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
        yield number, None


def _parsed(number: int, line: bytes, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        content = json.loads(line.decode("utf-8").strip(), object_pairs_hook=_unique, parse_int=_integer)
    except UnicodeDecodeError as error:
        problems.add(number, f"is not UTF-8: byte {line[error.start]:#04x} at {error.start + 1}")
    except json.JSONDecodeError as error:
        problems.add(number, f"is not JSON: {error.msg} at character {error.colno}")
    except RecursionError:
        problems.add(number, "is nested too deeply")
    except _RepeatedFieldError as error:
        problems.add(number, f"names the field {quoted(str(error))} twice")
    else:
        if isinstance(content, dict):
            yield number, content
        else:
            problems.add(number, f"is {told(content)}, not an object {{...}}")


class _RepeatedFieldError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        raise _RepeatedFieldError(next(name for name, _ in pairs if name in seen or seen.add(name)))
    return content


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _INTEGER_DIGITS else float(digits)


def odd_fields(row: dict[str, Any], required: Collection[str], optional: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with an object's field names: those missing, and the first ten that nobody knows."""
    known = [*required, *optional]
    for name in required:
        if name not in row:
            yield f"{name} is missing"
    for name in [name for name in row if name not in known][:SHOWN]:
        near = difflib.get_close_matches(name[:_LONGEST_NAME], known, n=1)
        yield f"unknown field {quoted(name)}{f', did you mean {near[0]}?' if near else ''}"


def quoted(text: str) -> str:
    """Return somebody else's text as a message may show it: cut, and with nothing that a terminal would act on."""
    return ascii(text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}...")


def quoted_id(text: str) -> str:
    """Return somebody else's id as `quoted` does, whole or cut in the middle: ids tell things apart by their ends."""
    half = _LONGEST_ID // 2
    return ascii(text if len(text) <= _LONGEST_ID else f"{text[:half]}...{text[-half:]}")


def told(value: Any) -> str:
    """Return a JSON value in a few words."""
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, list | dict):
        return f"a list of {len(value)}" if isinstance(value, list) else "an object"
    return json.dumps(value)


class Row:
    """One object: its fields by type, and what is wrong with them noted as problems of its line.

    A field that is missing is not noted: `odd_fields` has done so.
    """

    def __init__(self, line: int, content: Mapping[str, Any], problems: Problems) -> None:
        self.line = line
        self._content, self._problems = content, problems

    def refuse(self, text: str) -> None:
        """Note what is wrong with the row."""
        self._problems.add(self.line, text)

    def text(self, name: str, allowed: Collection[str] = ()) -> str:
        """Return a text, printable and not empty, one of `allowed` if there are such; empty when it is none."""
        value = self._content.get(name)
        if not isinstance(value, str) or not value or not value.isprintable():
            if name in self._content:
                self.refuse(f"{name} must be a text, printable and not empty, got {told(value)}")
            return ""
        if allowed and value not in allowed:
            near = difflib.get_close_matches(value[:_LONGEST_NAME], allowed, n=1)
            mean = f", did you mean {near[0]}?" if near else ""
            self.refuse(f"{name} must be one of {', '.join(allowed)}, got {quoted(value)}{mean}")
            return ""
        return value

    def at_least(self, name: str, least: float) -> float:
        """Return a finite number that is not below a positive one; 1 when it is none."""
        value = self._content.get(name)
        if isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value) and value >= least:
            return float(value)
        if name in self._content:
            self.refuse(f"{name} must be a finite number, at least {least:g}, got {told(value)}")
        return 1.0

    def numbers(self, name: str) -> Array | None:
        """Return numbers (N,), null as NaN; None when the field is null, missing or no such list."""
        value = self._content.get(name)
        if value is None:
            return None
        if not isinstance(value, list):
            self.refuse(f"{name} must be a list of numbers, got {told(value)}")
            return None
        for entry in value:
            if not _is_number(entry):
                self.refuse(f"{name} must hold numbers, got {told(entry)}")
                return None
        return np.array(value, dtype=np.float64)

    def points(self, name: str, may_be_null: bool = True) -> Array | None:
        """Return points (N, 2), null as NaN; None when the field is null, missing or no such list."""
        value = self._content.get(name)
        if value is None and (may_be_null or name not in self._content):
            return None
        if not isinstance(value, list):
            self.refuse(f"{name} must be a list of points [x, y], got {told(value)}")
            return None
        for entry in value:
            if entry is not None and not _is_point(entry):
                self.refuse(f"{name} must hold points [x, y] of two numbers, got {_told_point(entry)}")
                return None
        return np.array([(None, None) if entry is None else entry for entry in value], dtype=np.float64).reshape(-1, 2)

    def digest(self, name: str) -> str | None:
        """Return a sha256; None when the field is null, missing or none."""
        value = self._content.get(name)
        if value is None or (isinstance(value, str) and _SHA256.fullmatch(value)):
            return value
        self.refuse(f"{name} must be 64 lower-case hex digits, got {told(value)}")
        return None


def _is_number(value: Any) -> bool:
    return value is None or type(value) in (float, int)


def _is_point(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and _is_number(value[0]) and _is_number(value[1])


def _told_point(value: Any) -> str:
    if isinstance(value, list) and len(value) == 2:
        return f"one with {told(value[0] if not _is_number(value[0]) else value[1])}"
    return told(value)
