"""Localize: which ground an edit's hazard takes, in metres."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import shapely

from data_registry import edits
from data_registry.blobs import Blobs
from data_registry.edits import EditFormError
from data_registry.geometry import GeometryError
from data_registry.pictures import PictureError
from data_registry.records import Keyframe, Region, ViewEdit
from models.localizers.localizer import Localizer, LocalizeRequest, RegionNotFoundError, SeenHazard
from tasks.items import Edited
from tasks.stage import ItemStage, Outcome, PermanentFailureError


class LocalizeStage(ItemStage[Edited, Region]):
    """Asks a localizer for the region of one edit candidate; keeps it, however far it is from the placement."""

    name: ClassVar[str] = "localize"
    version: ClassVar[int] = 5
    record = Region

    def __init__(self, localizer: Localizer, blobs: Blobs) -> None:
        """Remember who localizes and where masks come from."""
        self.backend = localizer
        self._localizer = localizer
        self._blobs = blobs

    def process(self, items: Sequence[Edited]) -> Iterable[Outcome[Region]]:
        """Yield the region of each candidate.

        Raises:
            PermanentFailureError: `no_region`: the localizer cannot find one; `edit_malformed`: the stored edit
                disagrees with itself; `view_unknown`: the keyframe lacks an edited view; `appearance_unknown`: the task
                has no such look; `screening_malformed`: the expected region crosses itself; `geometry_unusable`: a
                calibration, pose or box of the keyframe is none.
        """
        for item in items:
            try:
                region = self._localizer.localize(self._request(item))
            except RegionNotFoundError as error:
                raise PermanentFailureError("no_region", f"{item.id}: {error}") from error
            except GeometryError as error:
                raise PermanentFailureError("geometry_unusable", f"{item.id}: {error}") from error
            yield Outcome(region, kept=True, reason_code="localized")

    def _request(self, item: Edited) -> LocalizeRequest:
        combination = item.screened.combination
        _check_screening(item)
        _check_boxes(item)
        views = tuple(self._seen(combination.keyframe, view) for view in item.candidate.views)
        return LocalizeRequest(combination.keyframe, combination.task, item.screened.screening, item.candidate, views)

    def _seen(self, keyframe: Keyframe, view: ViewEdit) -> SeenHazard:
        where = f"{view.sensor_id} of {keyframe.id}"
        try:
            camera = keyframe.view(view.sensor_id, view.frame_offset)
            mask = edits.full_object_mask(view, self._blobs, (camera.height, camera.width))
        except KeyError as error:
            raise PermanentFailureError("view_unknown", f"{where}: the keyframe has no such view") from error
        except (EditFormError, PictureError) as error:
            raise PermanentFailureError("edit_malformed", f"{where}: {error}") from error
        return SeenHazard(view.sensor_id, mask > 0, view.frame_offset)


def _check_screening(item: Edited) -> None:
    """Refuse a screening that contradicts its task or itself; raises PermanentFailureError."""
    task, screening = item.screened.combination.task, item.screened.screening
    known = [look.name for look in task.appearances]
    if screening.appearance is not None and screening.appearance not in known:
        text = f"{item.id}: task {task.id} has no appearance {screening.appearance}; known are {', '.join(known)}"
        raise PermanentFailureError("appearance_unknown", text)
    expected = shapely.Polygon(screening.expected_region or ())
    if not expected.is_valid:
        text = f"{item.id}: the expected region is no polygon: {shapely.is_valid_reason(expected)}"
        raise PermanentFailureError("screening_malformed", text)


def _check_boxes(item: Edited) -> None:
    """Refuse a placement or annotated objects whose boxes are none; raises PermanentFailureError."""
    placement, notes = item.screened.screening.placement, item.screened.combination.keyframe.annotations
    boxes = [(f"annotation {note.token}", note.box) for note in notes]
    if placement is not None and placement.kind != "surface":
        boxes.append(("the placement", placement.box))
    for name, box in boxes:
        try:
            box.pose()
        except GeometryError as error:
            raise PermanentFailureError("geometry_unusable", f"{item.id}: box of {name}: {error}") from error
