"""What an index holds: `contents.json` names scenes and all that is few, `columns.bin` has the columns.

moment       token, time, has_lidar, lidar_time, lidar_xyz, lidar_wxyz, readings_end, notes_end; by scene, then time
token-order  moments sorted by token
reading      channel, time, file, width, height, rig, pose_time, pose_xyz, pose_wxyz; by moment, then channel name
rig          matrix, xyz, wxyz: camera frame to ego frame
note         token, instance, category, attributes, visibility, xyz, size, wxyz, velocity; by moment, then token
instance     token
pose         time, xyz, wxyz; by scene, then time, each time once

Times are microseconds since 1970, lengths metres, poses ego to global, velocities m/s in the global frame and NaN where
there is none. `_end` columns say where the rows of a moment end: those of a scene lie together, so that its log is a
few slices.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Split = Literal["train", "val", "test", "none"]


class SceneEntry(BaseModel):
    """One scene."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    """In nuScenes' own words."""
    location: str
    """Name of its map."""
    split: Split
    """Official split, or the version folder's own."""
    mask: str
    """Map mask, relative to the root; empty when there is none."""
    moments_end: int
    """Its keyframes end before this row of `moment`; they begin where those of the scene before end."""
    poses_end: int
    """The same for its ego poses in `pose`."""


class Contents(BaseModel):
    """What `contents.json` says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenes: tuple[SceneEntry, ...]
    """By name."""
    channels: tuple[str, ...]
    """What `reading-channel` counts."""
    categories: tuple[str, ...]
    """What `note-category` counts."""
    attributes: tuple[tuple[str, ...], ...]
    """What `note-attributes` counts: names, in the annotation's order."""
    visibilities: tuple[str, ...]
    """What `note-visibility` counts."""
    columns: dict[str, list[Any]]
    """Where the arrays lie in `columns.bin`: type, first byte, length of each axis."""
