"""Stage edit: draw the placed hazard into every view that sees it.

The stage, not the editor, owns what must always be true: outside the edit mask the edited picture is the decoded source
and the stored crop is zero; each finished view is stored before the next starts; only the keyframe's own pictures are
edited, never its history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

import numpy as np

from data_registry.blobs import Blobs
from data_registry.cameras import pinhole
from data_registry.edits import bounding_window, compose
from data_registry.geometry import GeometryError
from data_registry.identity import Digest, seed_for
from data_registry.pictures import Decoder, Mask, PictureError, Rgb, decode_small, encode_png, is_mask
from data_registry.records import Camera, Candidate, Edit, Keyframe, ViewEdit
from data_registry.sources.source import Source, SourceChangedError
from models.editors.editor import SMALL, Editor, EditorOutputError, EditRequest, HazardNotVisibleError, RawEdit
from tasks.items import Screened
from tasks.measure import require_size
from tasks.stage import ItemStage, Outcome, PermanentFailureError


class EditStage(ItemStage[Screened, Edit]):
    """Combination with screening -> Edit, one candidate per try."""

    name: ClassVar[str] = "edit"
    version: ClassVar[int] = 3
    record = Edit

    def __init__(self, editor: Editor, source: Source, blobs: Blobs) -> None:
        """Take the editor, where source pictures come from, and where edited ones go."""
        self.backend = self.editor = editor
        self._source = source
        self._blobs = blobs
        self._decoder = Decoder()

    def process(self, items: Sequence[Screened]) -> Iterable[Outcome[Edit]]:
        """Yield one edit per item.

        Raises:
            PermanentFailureError: no placement, no shape for it, no view shows it, or a picture is broken or changed.
            EditorOutputError: the editor gave back something that is no edit.
        """
        for item in items:
            yield Outcome(self._edit(item), True, "edited")

    def _edit(self, item: Screened) -> Edit:
        if item.screening.placement is None:
            raise PermanentFailureError("no_placement", f"{item.combination.id} has no placement: nothing can be drawn")
        settings = self.editor.identity_settings
        sources = {name: self._picture(item, name) for name in item.screening.views}
        candidates = [
            self._candidate(item, sources, attempt, seed_for(settings.seed_root, "edit", item.combination.id, attempt))
            for attempt in range(settings.candidates)
        ]
        return Edit(pair_id=item.combination.id, candidates=tuple(candidates))

    def _candidate(self, item: Screened, sources: dict[str, Rgb], attempt: int, seed: int) -> Candidate:
        views: list[ViewEdit] = []
        finished: list[tuple[str, Rgb]] = []
        for name in sources:
            request = self._request(item, name, sources, (seed, tuple(finished)))
            try:
                raw = self.editor.edit(request)
            except HazardNotVisibleError:
                continue  # screening looks at outlines; the view keeps its source pixels
            except GeometryError as error:  # the same placement would raise it again
                raise PermanentFailureError("cannot_be_drawn", f"{item.combination.id}: {error}") from error
            view, picture = self._stored(request, raw)
            views.append(view)
            finished.append((name, picture))
        if not views:
            raise PermanentFailureError("hazard_in_no_view", f"{item.combination.id}: no view shows the hazard")
        return Candidate(seed=seed, attempt=attempt, views=tuple(views))

    def _picture(self, item: Screened, name: str) -> Rgb:
        """Return a view's decoded source picture; what can never be read fails the item for good."""
        keyframe = item.combination.keyframe
        camera = keyframe.view(name)
        try:
            picture = self._decoder.rgb(self._content(keyframe, camera), f"picture of {name} of {keyframe.id}")
        except PictureError as error:
            raise PermanentFailureError("picture_unreadable", str(error)) from error
        require_size(picture, camera, f"{name} of {keyframe.id}")
        return picture

    def _request(
        self, item: Screened, name: str, sources: dict[str, Rgb], drawn: tuple[int, tuple[tuple[str, Rgb], ...]]
    ) -> EditRequest:
        keyframe = item.combination.keyframe
        camera = keyframe.view(name)
        return EditRequest(
            keyframe=keyframe,
            task=item.combination.task,
            screening=item.screening,
            camera=camera,
            model=pinhole(keyframe, camera),
            source=sources[name].copy(),
            seed=drawn[0],
            finished=drawn[1],
            sources=tuple((sensor, picture.copy()) for sensor, picture in sources.items()),
            surroundings=partial(self._surroundings, keyframe),
        )

    def _surroundings(self, keyframe: Keyframe) -> tuple[tuple[str, Rgb], ...]:
        """Return small pictures of all the keyframe's cameras.

        A picture that is broken is left out: its digest is the keyframe's, so it is broken for everybody. One that is
        gone or changed is an error: without it the same key would get another edit.

        Raises:
            PermanentFailureError: a picture is not the one that the keyframe was made from.
            SourceError: a picture cannot be read now.
        """
        found: list[tuple[str, Rgb]] = []
        for camera in sorted(keyframe.cameras, key=lambda one: one.sensor_id):
            if camera.frame_offset == 0:
                content = self._content(keyframe, camera)
                with suppress(PictureError):
                    found.append((camera.sensor_id, decode_small(content, camera.sensor_id, SMALL)))
        return tuple(found)

    def _content(self, keyframe: Keyframe, camera: Camera) -> bytes:
        try:
            return self._source.picture(keyframe, camera)
        except SourceChangedError as error:
            raise PermanentFailureError("picture_changed", str(error)) from error

    def _stored(self, request: EditRequest, raw: RawEdit) -> tuple[ViewEdit, Rgb]:
        """Enforce the mask, store crop and masks, and return the view with its full edited picture."""
        _check(request, raw)
        window = bounding_window(raw.edit_mask)
        left, top, right, bottom = window
        part = (slice(top, bottom), slice(left, right))
        mask = raw.edit_mask[part]
        crop = np.where(mask[..., None] > 0, raw.picture[part], np.uint8(0))
        view = ViewEdit(
            sensor_id=request.camera.sensor_id,
            source_sha256=_digest(request.camera),
            window=window,
            edited=self._blobs.put(encode_png(crop)),
            edit_mask=self._blobs.put(encode_png(mask)),
            object_mask=self._blobs.put(encode_png(raw.object_mask[part])),
        )
        return view, compose(request.source, window, crop, mask)


def _digest(camera: Camera) -> Digest:
    if camera.sha256 is None:
        raise PermanentFailureError("picture_missing", f"the root has no picture of {camera.sensor_id}")
    return camera.sha256


def _check(request: EditRequest, raw: RawEdit) -> None:
    """Refuse what is no edit of this view, saying everything that is wrong at once."""
    shape = request.source.shape
    problems = [
        *_array_problems("picture", raw.picture, shape),
        *_mask_problems("edit mask", raw.edit_mask, shape[:2]),
        *_mask_problems("object mask", raw.object_mask, shape[:2]),
    ]
    if not problems and bool((raw.object_mask[raw.edit_mask == 0] > 0).any()):
        problems.append("the object mask leaves the edit mask")
    if problems:
        backend = "the editor"
        raise EditorOutputError(
            f"{backend} gave no edit of {request.camera.sensor_id} of {request.screening.combination_id}:"
            f" {'; '.join(problems)}. This is a fault of the back end, not of the log"
        )


def _array_problems(what: str, array: Any, shape: tuple[int, ...]) -> list[str]:
    if not isinstance(array, np.ndarray) or array.shape != shape:
        return [f"{what} has shape {getattr(array, 'shape', None)} instead of {shape}"]
    if array.dtype != np.uint8:
        bad = "with NaN" if array.dtype.kind == "f" and bool(np.isnan(array).any()) else "instead of uint8"
        return [f"{what} is {array.dtype} {bad}"]
    return []


def _mask_problems(what: str, mask: Mask, shape: tuple[int, ...]) -> list[str]:
    problems = _array_problems(what, mask, shape)
    if problems:
        return problems
    if not is_mask(mask):
        return [f"{what} holds values other than 0 and 255"]
    return [] if mask.any() else [f"{what} is empty"]
