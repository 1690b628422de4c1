"""What can be wrong with a root of driving logs: one error class per situation, all problems together."""

from __future__ import annotations

from typing import Final, NoReturn

from data_registry.sources.source import SourceChangedError, SourceError

SHOWN: Final = 10
"""Problems that an error spells out; the rest is a count."""


class RootError(SourceError):
    """The root or its version folder is not there."""


class TablesError(SourceError):
    """The tables of a version folder are missing, unreadable or contradict themselves."""


class MapError(SourceError):
    """A map file is there but cannot be used."""


class CanBusError(SourceError):
    """A CAN bus file is there but cannot be used."""


class UnknownRequestError(SourceError):
    """A scene, token or picture was asked for that the root does not have."""


class PictureMissingError(SourceError):
    """A picture that a keyframe was made from is not there any more, or never was."""


class PictureChangedError(SourceChangedError):
    """A picture is not the one that the keyframe was made from."""


class Problems:
    """Collects what is wrong, in the order found, and raises it once; memory stays bounded however much is broken."""

    def __init__(self) -> None:
        """Start with none."""
        self._texts: list[str] = []
        self.count = 0

    def add(self, text: str) -> None:
        """Note one problem: where, what, and what to do."""
        self.count += 1
        if len(self._texts) < SHOWN:
            self._texts.append(text)

    def clear(self) -> None:
        """Forget what was noted."""
        self._texts, self.count = [], 0

    def take_over(self, other: Problems) -> None:
        """Note the problems that another one has collected after one's own."""
        self.count += other.count
        self._texts.extend(other._texts[: SHOWN - len(self._texts)])

    def raise_any(self, kind: type[SourceError], where: str, remedy: str) -> None:
        """Raise `kind` with the first ten problems and a count when there are any."""
        if not self.count:
            return
        noun = "problem" if self.count == 1 else "problems"
        more = [f"... and {self.count - SHOWN} more"] if self.count > SHOWN else []
        lines = "\n".join(f"  - {text}" for text in [*self._texts, *more])
        raise kind(f"{where}: {self.count} {noun}\n{lines}\n{remedy}")

    def raise_with(self, text: str, kind: type[SourceError], where: str, remedy: str) -> NoReturn:
        """Note a last problem, beyond which nothing can be read, and raise."""
        self.add(text)
        self.raise_any(kind, where, remedy)
        raise AssertionError("a problem was just added")


def shorten(value: object, limit: int = 60) -> str:
    """Return a value's repr, cut to `limit` characters; a huge integer is named, not spelled out."""
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return "a huge integer"
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"
    return text if len(text) <= limit else f"{text[:limit]}..."
