"""Judge: what a reviewer, rules or a VLM, says about a candidate; not asked when the edit is broken anyway."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from data_registry import edits
from data_registry.blobs import Blobs
from data_registry.edits import EditFormError
from data_registry.pictures import Decoder, PictureError
from data_registry.records import Judgement, Keyframe, Measurements, ViewEdit
from data_registry.sources.source import Source
from models.reviewers import Reviewer, ReviewPicture, ReviewRequest
from tasks.items import Examined
from tasks.measure import source_rgb
from tasks.stage import ItemStage, Outcome, PermanentFailureError

BACKGROUND_TOUCHED: Final = "background_touched"
NOTHING_CHANGED: Final = "nothing_changed"
HAZARD_IN_NO_VIEW: Final = "hazard_in_no_view"
NOTHING_CHANGED_LEVELS: Final = 1.0
"""Mean difference inside the hazard, grey levels of 255, below which a view is unchanged: as much as rounding makes."""


def hard_failures(measurements: Measurements) -> tuple[str, ...]:
    """Return the codes of what breaks an edit beyond judgement, in a fixed order.

    - background_touched: a pixel outside an edit mask differs from the source.
    - nothing_changed: no view that shows the hazard differs from its source there.
    - hazard_in_no_view: no view shows any pixel of the hazard.
    """
    touched, changed, seen = (
        [entry.value for entry in measurements.of(check) if entry.value is not None]
        for check in ("background_touched_px", "changed_inside", "visible_area_px")
    )
    found = {
        BACKGROUND_TOUCHED: max(touched, default=0.0) > 0,
        NOTHING_CHANGED: bool(changed) and max(changed) < NOTHING_CHANGED_LEVELS,
        HAZARD_IN_NO_VIEW: max(seen, default=0.0) <= 0,
    }
    return tuple(code for code, holds in found.items() if holds)


class JudgeStage(ItemStage[Examined, Judgement]):
    """Asks a reviewer about one candidate; keeps the qualified ones, rejected judgements go on to decide as well."""

    name: ClassVar[str] = "judge"
    version: ClassVar[int] = 1
    record = Judgement

    def __init__(self, reviewer: Reviewer, source: Source, blobs: Blobs) -> None:
        """Remember who reviews and where pictures come from."""
        self.backend = reviewer
        self._reviewer = reviewer
        self._source = source
        self._blobs = blobs
        self._decoder = Decoder()

    def process(self, items: Sequence[Examined]) -> Iterable[Outcome[Judgement]]:
        """Yield the judgement of each candidate; raises PermanentFailureError when its pictures cannot be shown."""
        for item in items:
            failures = hard_failures(item.measurements)
            judgement = _unasked(item, failures) if failures else self._reviewer.review(self._request(item))
            reason = failures[0] if failures else "qualified" if judgement.qualified else "not_qualified"
            yield Outcome(judgement, kept=judgement.qualified, reason_code=reason)

    def _request(self, item: Examined) -> ReviewRequest:
        screened = item.edited.screened
        return ReviewRequest(
            screened.combination.task,
            screened.screening,
            item.measurements,
            item.region,
            lambda: tuple(self._picture(screened.combination.keyframe, view) for view in item.edited.candidate.views),
        )

    def _picture(self, keyframe: Keyframe, view: ViewEdit) -> ReviewPicture:
        source = source_rgb(self._source, keyframe, view, self._decoder)
        try:
            return ReviewPicture(view.sensor_id, source, edits.materialise(source, view, self._blobs))
        except (EditFormError, PictureError) as error:
            raise PermanentFailureError("edit_malformed", f"{view.sensor_id} of {keyframe.id}: {error}") from error


def _unasked(item: Examined, failures: tuple[str, ...]) -> Judgement:
    return Judgement(
        pair_id=item.measurements.pair_id,
        edit_digest=item.measurements.edit_digest,
        asked=False,
        hard_failures=failures,
        qualified=False,
        task_correct=False,
        physics_valid=False,
        background_preserved=BACKGROUND_TOUCHED not in failures,
        task_confidence=0.0,
        realism=0.0,
        action_determinacy=0.0,
        reason=f"not asked: {', '.join(failures)}",
    )
