"""The editor's role: draw a placed hazard into one view, and say which pixels changed and where the hazard is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final, Protocol

from pydantic import Field

from data_registry.geometry import PinholeCamera
from data_registry.pictures import Mask, Rgb
from data_registry.records import Camera, Keyframe, Screening
from models.backend import Backend, IdentitySettings
from prompts.taxonomy import TaskSpec

SMALL: Final = 4
"""How much smaller surroundings are than their pictures, along each side."""


class EditorError(RuntimeError):
    """An editor could not edit a view."""


class HazardNotVisibleError(EditorError):
    """Nothing of the hazard shows in this view, e.g. because something nearer hides it whole."""


class EditorOutputError(EditorError):
    """An editor gave back something that is no edit: wrong size or type, NaN, or an empty mask."""


class UnknownShapeError(EditorError):
    """A task file names a shape that the editor cannot draw."""


class EditorSettings(IdentitySettings, frozen=True):
    """What every editor's output depends on; back ends add their own."""

    seed_root: Annotated[int, Field(ge=0, lt=2**53)] = 0
    candidates: Annotated[int, Field(ge=1, le=16)] = 1
    """Tries per pair, each with its own seed."""


@dataclass(frozen=True, slots=True, eq=False)
class EditRequest:
    """Everything about one view that an editor may use.

    Attributes:
        keyframe: the keyframe; its history is there to be looked at, never to be edited.
        task: the task of the hazard.
        screening: where the hazard goes.
        camera: the reading to edit, at frame offset 0.
        model: the camera as the ego frame at time 0 sees it.
        source: decoded source picture (height, width, 3).
        seed: the candidate's seed, the same for all its views.
        finished: edited pictures of this candidate's earlier views by sensor, in editing order.
        sources: decoded source pictures of all views of this candidate by sensor, largest projection first.
        surroundings: gives small source pictures (height / SMALL, width / SMALL, 3) of all the keyframe's cameras by
            sensor, sorted, those that can be read: they tell what holds for the keyframe as a whole, as where the sun
            stands. Reading them costs time: ask once a keyframe.
    """

    keyframe: Keyframe
    task: TaskSpec
    screening: Screening
    camera: Camera
    model: PinholeCamera
    source: Rgb
    seed: int
    finished: tuple[tuple[str, Rgb], ...]
    sources: tuple[tuple[str, Rgb], ...] = ()
    surroundings: Callable[[], tuple[tuple[str, Rgb], ...]] = tuple

    @property
    def reference(self) -> tuple[str, Rgb]:
        """Sensor and source picture that every view of the candidate refers to; this view's own when none is given."""
        return self.sources[0] if self.sources else (self.camera.sensor_id, self.source)


@dataclass(frozen=True, slots=True, eq=False)
class RawEdit:
    """What an editor gives back, before the stage enforces the mask.

    Attributes:
        picture: edited picture, the source's size.
        edit_mask: full picture, 255 where pixels may differ.
        object_mask: full picture, 255 where the hazard is seen.
    """

    picture: Rgb
    edit_mask: Mask
    object_mask: Mask


class Editor(Backend, Protocol):
    """Draws a placed hazard into pictures, one view at a time."""

    @property
    def identity_settings(self) -> EditorSettings:
        """Everything that decides the output, among it the number of candidates and the seed root."""
        ...

    def edit(self, request: EditRequest) -> RawEdit:
        """Return one edited view.

        Raises:
            HazardNotVisibleError: nothing of the hazard shows in this view.
            EditorError: the view cannot be edited.
        """
        ...
