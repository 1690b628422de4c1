"""Columns of tokens: 16 bytes each, whatever they look like, and the rows that they name.

nuScenes tokens are 32 hexadecimal digits: their 16 bytes are the key. Any other text is allowed, too; its key is a
128-bit BLAKE2 digest, and the texts are kept beside the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

HEX_DIGITS: Final = 32
KEY_BYTES: Final = 16

Keys = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A column of tokens in table order."""

    keys: Keys
    """Shape (n, 16)."""
    texts: list[str] | None
    """None when every token is 32 lower-case hexadecimal digits: the keys say it all then."""

    @classmethod
    def of(cls, texts: list[str]) -> Tokens:
        """Make a column; TypeError when one is not text, UnicodeEncodeError when UTF-8 cannot carry it."""
        packed = _packed(texts)
        if packed is not None:
            return cls(_keys(packed), None)
        return cls(_keys(b"".join(map(_key, texts))), texts)

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """Put columns one after another."""
        keys = np.concatenate([part.keys for part in parts]) if parts else _keys(b"")
        if all(part.texts is None for part in parts):
            return cls(keys, None)
        return cls(keys, [text for part in parts for text in part.listed()])

    def listed(self) -> list[str]:
        """Return all tokens as texts."""
        return unpacked(self.keys) if self.texts is None else self.texts

    def text(self, row: int) -> str:
        """Return one token."""
        return bytes(self.keys[row]).hex() if self.texts is None else self.texts[row]

    def ranks(self) -> Rows:
        """Return each row's place when the column is sorted by text (code points)."""
        ranks = np.empty(len(self.keys), np.int64)
        ranks[self._order()] = np.arange(len(self.keys))
        return ranks

    def _order(self) -> Rows:
        if self.texts is None:
            return Directory(self).order
        texts = self.texts
        return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)

    def take(self, rows: Rows) -> Tokens:
        """Return the tokens of some rows."""
        texts = self.texts
        return Tokens(self.keys[rows], None if texts is None else [texts[row] for row in rows.tolist()])


def unpacked(keys: Keys) -> list[str]:
    """Return the hexadecimal texts of keys (n, 16)."""
    digits = keys.tobytes().hex()
    return [digits[start : start + HEX_DIGITS] for start in range(0, len(digits), HEX_DIGITS)]


def _keys(packed: bytes) -> Keys:
    return np.frombuffer(packed, np.uint8).reshape(-1, KEY_BYTES)


def _packed(texts: list[str]) -> bytes | None:
    """Return the bytes of hexadecimal tokens; None when one of them is something else."""
    digits = "".join(texts)
    if len(digits) != HEX_DIGITS * len(texts) or not set(map(len, texts)) <= {HEX_DIGITS}:
        return None
    try:
        packed = bytes.fromhex(digits)
    except ValueError:
        return None
    return packed if packed.hex() == digits else None  # capitals are other tokens; spaces are none at all


def _key(text: str) -> bytes:
    packed = _packed([text])
    return blake2b(text.encode(), digest_size=KEY_BYTES).digest() if packed is None else packed


class Directory:
    """Which row has which token."""

    def __init__(self, tokens: Tokens) -> None:
        """Sort a column; rows with the same token stay in table order."""
        self._keys = tokens.keys
        head, tail = _words(tokens.keys)
        self.order: Rows = np.argsort(head, kind="stable")
        self._head, self._tail = head[self.order], tail[self.order]
        self._is_plain = not np.any(self._head[1:] == self._head[:-1])
        if not self._is_plain:
            self.order = np.lexsort((tail, head))
            self._head, self._tail = head[self.order], tail[self.order]

    def repeated(self) -> Rows:
        """Return the rows whose token stands in an earlier one, too, in table order."""
        same = (self._head[1:] == self._head[:-1]) & (self._tail[1:] == self._tail[:-1])
        return np.sort(self.order[1:][same])

    def rows(self, wanted: Tokens) -> Rows:
        """Return the row of each wanted token, -1 where there is none."""
        if not len(self.order):
            return np.full(len(wanted.keys), -1, np.int64)
        if not self._is_plain:
            return self._rows_by_bytes(wanted)
        head, tail = _words(wanted.keys)
        # neighbours look up neighbours: searching in sorted order stays in the processor's cache
        walk = np.argsort(head, kind="stable")
        places = np.empty(len(walk), np.int64)
        places[walk] = np.searchsorted(self._head, head[walk])
        places = np.minimum(places, len(self.order) - 1)
        found = (self._head[places] == head) & (self._tail[places] == tail)
        return np.where(found, self.order[places], -1)

    def _rows_by_bytes(self, wanted: Tokens) -> Rows:
        """Look up where several tokens share their first eight bytes."""
        own, asked = (np.ascontiguousarray(keys).view(f"S{KEY_BYTES}")[:, 0] for keys in (self._sorted, wanted.keys))
        places = np.minimum(np.searchsorted(own, asked), len(own) - 1)
        return np.where(own[places] == asked, self.order[places], -1)

    @cached_property
    def _sorted(self) -> Keys:
        return self._keys[self.order]


def _words(keys: Keys) -> tuple[Words, Words]:
    """Return the two halves of each key as numbers that sort like the bytes."""
    words = np.ascontiguousarray(keys).view(">u8").astype(np.uint64)
    return words[:, 0], words[:, 1]
