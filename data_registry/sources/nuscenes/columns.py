"""Columns on disk: arrays and texts one after another in one file, written once, then mapped and never read whole."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from data_registry.blobs import StorageFullError
from data_registry.sources.nuscenes.tokens import KEY_BYTES, Tokens, unpacked

AnyArray = npt.NDArray[Any]
Layout = dict[str, list[Any]]
"""Per array [type, first byte, length of each axis]."""

_ALIGNED: Final = 64
"""Arrays begin at multiples of this many bytes."""
_FULL: Final = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def written(path: Path) -> Generator[BinaryIO]:
    """Open a new file, folders included, whose content is on disk afterwards.

    Raises:
        StorageFullError: no room.
    """
    size = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            yield file
            size = file.tell()
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFullError(str(path), size or None) from error
        raise


class ColumnWriter:
    """Writes columns into an open file."""

    def __init__(self, file: BinaryIO) -> None:
        """Take an empty file."""
        self._file = file
        self.layout: Layout = {}
        """What was written so far."""

    def array(self, name: str, values: AnyArray) -> None:
        """Write an array; OSError when there is no room."""
        values = np.ascontiguousarray(values)
        self._file.write(bytes(-self._file.tell() % _ALIGNED))
        self.layout[name] = [values.dtype.str, self._file.tell(), *values.shape]
        self._file.write(values.reshape(-1).view(np.uint8).data)

    def tokens(self, name: str, tokens: Tokens) -> None:
        """Write tokens, in 16 bytes each when they all are 32 hexadecimal digits."""
        if tokens.texts is None:
            self.array(f"{name}-hex", tokens.keys)
        else:
            self.texts(name, tokens.texts)

    def texts(self, name: str, texts: Iterable[str]) -> None:
        """Write texts of any length."""
        encoded = [text.encode() for text in texts]
        self.array(f"{name}-ends", np.cumsum([len(text) for text in encoded], dtype=np.int64))
        self.array(f"{name}-utf8", np.frombuffer(b"".join(encoded), np.uint8))


class Columns:
    """Columns of a file, mapped."""

    def __init__(self, path: Path, layout: Layout) -> None:
        """Map what a writer wrote.

        Raises:
            OSError, ValueError, TypeError: the file is not there, or not as long as the layout says.
        """
        # as a plain array: every slice of a memmap would carry the class's own upkeep
        content = np.asarray(np.memmap(path, np.uint8, "r") if path.stat().st_size else np.zeros(0, np.uint8))
        self._arrays: dict[str, AnyArray] = {}
        end = 0
        for name, (kind, first, *shape) in layout.items():
            end = first + math.prod(shape) * np.dtype(kind).itemsize
            self._arrays[name] = content[first:end].view(kind).reshape(shape)
        if end != len(content):
            raise ValueError(f"{path} is not what was written")

    def array(self, name: str) -> AnyArray:
        """Return an array; KeyError when there is none of this name."""
        return self._arrays[name]

    def texts(self, name: str) -> Texts:
        """Return a column of texts or tokens."""
        keys = self._arrays.get(f"{name}-hex")
        if keys is not None:
            return HexTexts(keys)
        return RaggedTexts(self._arrays[f"{name}-ends"], self._arrays[f"{name}-utf8"])


class HexTexts:
    """Tokens of 32 hexadecimal digits."""

    def __init__(self, keys: AnyArray) -> None:
        """Take keys (n, 16)."""
        self._keys = keys

    def some(self, first: int, last: int) -> list[str]:
        """Return the texts of rows from `first` to before `last`."""
        return unpacked(self._keys[first:last].reshape(-1, KEY_BYTES))


class RaggedTexts:
    """Texts of any length."""

    def __init__(self, ends: AnyArray, utf8: AnyArray) -> None:
        """Take where each text ends in the bytes of all."""
        self._ends, self._utf8 = ends, utf8

    def some(self, first: int, last: int) -> list[str]:
        """Return the texts of rows from `first` to before `last`."""
        bounds = [int(self._ends[first - 1]) if first else 0, *self._ends[first:last].tolist()]
        content = self._utf8[bounds[0] : bounds[-1]].tobytes()
        cuts = [bound - bounds[0] for bound in bounds]
        return [content[a:b].decode() for a, b in pairwise(cuts)]


Texts = HexTexts | RaggedTexts
