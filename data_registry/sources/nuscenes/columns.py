"""Columns on disk: arrays and texts in a folder, written once, then mapped and never read as a whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
import numpy.typing as npt

from data_registry.blobs import StorageFullError
from data_registry.sources.nuscenes.tokens import KEY_BYTES, Tokens, unpacked

AnyArray = npt.NDArray[Any]
Shapes = dict[str, list[Any]]
"""Per array [type, length of each axis]: what an index says of itself, so that a cut or foreign file is noticed."""

_FULL: Final = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def written(path: Path, size: int) -> Generator[BinaryIO]:
    """Open a new file whose content is on disk afterwards; raises StorageFullError when there is no room."""
    try:
        with path.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFullError(str(path), size) from error
        raise


class ColumnWriter:
    """Writes columns into a folder."""

    def __init__(self, folder: Path) -> None:
        """Make the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.shapes: Shapes = {}
        """What was written so far."""

    def array(self, name: str, values: AnyArray) -> None:
        """Write an array; raises StorageFullError when there is no room."""
        values = np.ascontiguousarray(values)
        with written(self._folder / f"{name}.npy", values.nbytes) as file:
            np.save(file, values, allow_pickle=False)
        self.shapes[name] = [values.dtype.str, *values.shape]

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
    """Columns of a folder, mapped."""

    def __init__(self, folder: Path, shapes: Shapes) -> None:
        """Map what a writer wrote.

        Raises:
            OSError, ValueError, TypeError: a file is not there, or not what the shapes say.
        """
        self._arrays = {name: _mapped(folder / f"{name}.npy", shape) for name, shape in shapes.items()}

    def array(self, name: str) -> AnyArray:
        """Return an array; KeyError when there is none of this name."""
        return self._arrays[name]

    def texts(self, name: str) -> Texts:
        """Return a column of texts or tokens."""
        keys = self._arrays.get(f"{name}-hex")
        if keys is not None:
            return HexTexts(keys)
        return RaggedTexts(self._arrays[f"{name}-ends"], self._arrays[f"{name}-utf8"])


def _mapped(path: Path, shape: Sequence[Any]) -> AnyArray:
    found = cast(AnyArray, np.load(path, mmap_mode="r", allow_pickle=False))
    if [found.dtype.str, *found.shape] != list(shape):
        raise ValueError(f"{path.name} is not what was written")
    return found


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
