"""What every source of driving logs gives: chosen keyframes as records, and their pictures as bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from data_registry.identity import Digest
from data_registry.records import Camera, Keyframe

Choice = Literal["middle", "first", "all"]
"""middle: per scene the keyframe nearest the scene's middle that has its pictures; first: the first such; all."""


class SourceError(ValueError):
    """A log cannot be read; the message lists every problem found, bounded, and what to do."""


class SourceChangedError(SourceError):
    """A picture is not the one that the keyframe was made from."""


@dataclass(frozen=True, slots=True)
class Request:
    """Which keyframes of a source are wanted."""

    choice: Choice = "middle"
    scenes: tuple[str, ...] = ()
    """Scene names; empty: all."""
    tokens: tuple[str, ...] = ()
    """Sample tokens; when given they replace `choice`."""
    limit: int | None = None
    """At most this many keyframes, in scene order then time order."""
    history: int = 4
    """Earlier keyframes whose pictures belong to a keyframe (2 s at 2 Hz)."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A keyframe or scene that could not be chosen, and why."""

    id: str
    """Keyframe id, or `<dataset>/<scene>` for a whole scene."""
    reason_code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What a source gave for a request; nothing asked for is in neither list."""

    keyframes: tuple[Keyframe, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class Licence:
    """Terms of a source, for the licence chain of a release."""

    name: str
    spdx: str
    """SPDX identifier, or `LicenseRef-...`."""
    url: str
    attribution: str
    share_alike: bool
    non_commercial: bool


class Source(Protocol):
    """A root of driving logs, opened read-only."""

    @property
    def dataset(self) -> Literal["nuscenes", "streetset"]:
        """First part of every keyframe id."""
        ...

    @property
    def licence(self) -> Licence:
        """Terms under which the logs came."""
        ...

    def fingerprint(self) -> Digest:
        """Return a digest of the tables' content: the same logs give the same one wherever they lie."""
        ...

    def select(self, request: Request) -> Selection:
        """Return the wanted keyframes in scene order, then time order, and what was skipped.

        Raises:
            SourceError: an unknown scene or token was asked for, or the tables are broken.
        """
        ...

    def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
        """Return one picture file of a keyframe.

        Raises:
            SourceError: the file is gone.
            SourceChangedError: its digest is not the keyframe's.
        """
        ...

    def file_name(self, keyframe: Keyframe, camera: Camera) -> str:
        """Return where one picture file of a keyframe lies below the root, with forward slashes.

        Raises:
            SourceError: the keyframe or camera is not of this root.
        """
        ...
