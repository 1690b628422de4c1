"""Measure: what an edit candidate is like, as numbers; no thresholds, no verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from data_registry.blobs import Blobs
from data_registry.edits import EditFormError
from data_registry.pictures import Decoder, PictureError, Rgb
from data_registry.records import Camera, Keyframe, Measurements, ViewEdit
from data_registry.sources.source import Source, SourceChangedError
from models.backend import IdentitySettings, Pure, on_all_cores
from qa_audit import checks, evidence
from tasks.items import Edited
from tasks.stage import ItemStage, Outcome, PermanentFailureError


class MeasureSettings(IdentitySettings, frozen=True):
    """The checks that measure an edit."""

    backend: Literal["checks"] = "checks"
    revision: str = "4"


class Measuring(Pure):
    """Runs the checks."""

    execution = on_all_cores()


class MeasureStage(ItemStage[Edited, Measurements]):
    """Applies every check to one edit candidate; always keeps it."""

    name: ClassVar[str] = "measure"
    version: ClassVar[int] = 5
    record = Measurements

    def __init__(self, source: Source, blobs: Blobs, settings: MeasureSettings | None = None) -> None:
        """Remember where pictures and edits come from."""
        self.backend = Measuring(settings or MeasureSettings())
        self._source = source
        self._blobs = blobs
        self._decoder = Decoder()

    def process(self, items: Sequence[Edited]) -> Iterable[Outcome[Measurements]]:
        """Yield the measurements of each candidate.

        Raises:
            PermanentFailureError: a picture is unreadable or not the one that was edited, the stored edit disagrees
                with itself, or there is no placement to be measured against.
        """
        for item in items:
            yield Outcome(self._measure(item), kept=True, reason_code="measured")

    def _measure(self, item: Edited) -> Measurements:
        combination, screening = item.screened.combination, item.screened.screening
        if screening.placement is None:
            raise PermanentFailureError("no_placement", f"{item.id}: an edit without a placement cannot be measured")
        views = [self._pixels(combination.keyframe, view) for view in item.candidate.views]
        subject = evidence.subject(combination.keyframe, screening.placement, views, screening.views)
        return Measurements(
            pair_id=combination.id, edit_digest=item.candidate.edit_digest, values=checks.measure(subject)
        )

    def _pixels(self, keyframe: Keyframe, view: ViewEdit) -> evidence.ViewPixels:
        picture = source_rgb(self._source, keyframe, view, self._decoder)
        try:
            return evidence.ViewPixels.load(view, picture, self._blobs)
        except (EditFormError, PictureError) as error:
            raise PermanentFailureError("edit_malformed", f"{view.sensor_id} of {keyframe.id}: {error}") from error


def source_rgb(source: Source, keyframe: Keyframe, view: ViewEdit, decoder: Decoder) -> Rgb:
    """Return the decoded source picture (height, width, 3) that a view was made from; it cannot be written to.

    Raises:
        PermanentFailureError: the keyframe lacks the view, or the picture is unreadable, of another size than the
            tables say, or not the one that was edited.
        SourceError: the file is gone.
    """
    where = f"{view.sensor_id} of {keyframe.id}"
    try:
        camera = keyframe.view(view.sensor_id, view.frame_offset)
    except KeyError as error:
        raise PermanentFailureError("view_unknown", f"{where} was edited, but the keyframe has no such view") from error
    if camera.sha256 != view.source_sha256:
        raise PermanentFailureError("source_changed", f"{where} is not the picture that was edited: build again")
    try:
        picture = decoder.rgb(source.picture(keyframe, camera), where)
    except SourceChangedError as error:
        raise PermanentFailureError("source_changed", str(error)) from error
    except PictureError as error:
        raise PermanentFailureError("picture_unreadable", str(error)) from error
    require_size(picture, camera, where)
    return picture


def require_size(picture: Rgb, camera: Camera, where: str) -> None:
    """Refuse a picture of another size than its camera's: every pixel's ray would be wrong.

    Raises:
        PermanentFailureError: `picture_size`.
    """
    if picture.shape[:2] != (camera.height, camera.width):
        raise PermanentFailureError(
            "picture_size",
            f"picture of {where} has {picture.shape[1]}x{picture.shape[0]} pixels, the tables say"
            f" {camera.width}x{camera.height}: correct sample_data.json or fetch the file again",
        )
