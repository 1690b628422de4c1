"""Localize: which ground an edit's hazard takes, in metres."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from data_registry import edits
from data_registry.blobs import Blobs
from data_registry.edits import EditFormError
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
                disagrees with itself; `view_unknown`: the keyframe lacks an edited view.
        """
        for item in items:
            try:
                region = self._localizer.localize(self._request(item))
            except RegionNotFoundError as error:
                raise PermanentFailureError("no_region", f"{item.id}: {error}") from error
            yield Outcome(region, kept=True, reason_code="localized")

    def _request(self, item: Edited) -> LocalizeRequest:
        combination = item.screened.combination
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
        return SeenHazard(view.sensor_id, mask > 0)
