"""One scene's log as the reader keeps it: links resolved, times in order, everything still in the global frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

LONGEST_GAP_S: Final = 1.5
"""Beyond this from neighbour to neighbour a velocity means nothing (nuScenes devkit, `box_velocity`)."""

Xyz = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Matrix = tuple[Xyz, Xyz, Xyz]


@dataclass(frozen=True, slots=True)
class Posed:
    """Where the ego vehicle was: ego frame to global, metres, (w, x, y, z)."""

    timestamp_us: int
    translation: Xyz
    rotation: Quaternion


@dataclass(frozen=True, slots=True)
class Reading:
    """One picture that belongs to a keyframe; `translation` and `rotation` are camera frame to ego frame."""

    channel: str
    timestamp_us: int
    filename: str
    width: int
    height: int
    intrinsics: Matrix
    translation: Xyz
    rotation: Quaternion
    pose: Posed


@dataclass(frozen=True, slots=True)
class Note:
    """One annotation in the global frame; size is width, length, height as nuScenes has it."""

    token: str
    instance: str
    category: str
    attributes: tuple[str, ...]
    visibility: str
    translation: Xyz
    size: Xyz
    rotation: Quaternion
    velocity: Xyz | None
    """Global, m/s; None when the neighbouring keyframes do not give one."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One keyframe: readings by channel name, notes by token."""

    token: str
    timestamp_us: int
    lidar: Posed | None
    """Pose of the LIDAR_TOP record; None when the log has no such record."""
    readings: tuple[Reading, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class SceneLog:
    """One scene: keyframes in time order, and every recorded ego pose in time order."""

    name: str
    description: str
    location: str
    split: Literal["train", "val", "test", "none"]
    mask: str
    """Map mask, relative to the root; empty when the map table names none for this log."""
    moments: tuple[Moment, ...]
    poses: tuple[Posed, ...]
