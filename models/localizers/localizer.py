"""The role of a localizer: from an edit to the ground that its hazard takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from data_registry.records import Candidate, Keyframe, Region, Screening
from data_registry.silhouettes import Pixels
from models.backend import Backend
from prompts.taxonomy import TaskSpec


class RegionNotFoundError(Exception):
    """No region can be found for this edit, and never will be with the same back end; the text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenHazard:
    """Where one view shows the hazard."""

    sensor_id: str
    object_mask: Pixels
    """The full picture's pixels (height, width) that show it."""
    frame_offset: int = 0
    """Keyframes before the keyframe, counted negative."""


@dataclass(frozen=True, slots=True, eq=False)
class LocalizeRequest:
    """One edit candidate, with what its views show."""

    keyframe: Keyframe
    task: TaskSpec
    screening: Screening
    candidate: Candidate
    views: tuple[SeenHazard, ...]


class Localizer(Backend, Protocol):
    """A back end that finds regions."""

    def localize(self, request: LocalizeRequest) -> Region:
        """Return the region that an edit's hazard takes, ego frame at time 0.

        The placement may serve as a prior for what no view shows; disagreement with it is evidence, never a correction.

        Raises:
            RegionNotFoundError: the views do not show where the hazard is.
            GeometryError: a calibration, pose or box of the keyframe is not what it claims to be; the text says which.
        """
        ...
