"""The role of a reviewer, who says whether an edit shows its hazard rightly, and the rule back end.

The record is the paper's: qualification, task correct, physics valid, background preserved, three scores, a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from data_registry import identity
from data_registry.pictures import Rgb
from data_registry.records import Judgement, Measurements, Region, Screening
from models.backend import Backend, IdentitySettings, LocalBackend
from prompts.taxonomy import TaskSpec

SCORE_PLACES: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class ReviewPicture:
    """One view before and after the edit."""

    sensor_id: str
    source: Rgb
    edited: Rgb


@dataclass(frozen=True, slots=True, eq=False)
class ReviewRequest:
    """One candidate without a hard failure, and everything known about it."""

    task: TaskSpec
    screening: Screening
    measurements: Measurements
    region: Region | None
    """None: no region could be found."""
    pictures: Callable[[], tuple[ReviewPicture, ...]]
    """Decodes the candidate's views in their order; a reviewer who needs no pictures does not call it."""


class Reviewer(Backend, Protocol):
    """A back end that reviews edits."""

    def review(self, request: ReviewRequest) -> Judgement:
        """Return the judgement, with `asked` set and no hard failures."""
        ...


class RuleReviewerSettings(IdentitySettings, frozen=True):
    """Limits of the rule reviewer; the verdict on a pair is decide's, with its own thresholds."""

    backend: Literal["rules"] = "rules"
    revision: str = "2"
    contact_offset_m: float = 0.8
    """Largest offset of the ground contact in any view, metres."""
    hanging_offset_m: float = 0.6
    """Largest offset of the top of a hazard that touches no ground, in any view, metres."""
    cross_view_offset_m: float = 0.8
    """Largest disagreement between views, metres."""
    height_ratio_low: float = 0.6
    """Least height over the placement's, in any view."""
    height_ratio_high: float = 1.5
    """Largest height over the placement's, in any view."""
    edit_to_object_ratio: float = 15.0
    """Largest editable area over the hazard's, in any view."""
    mask_iou: float = 0.2
    """Least overlap with the placement's outline, in the best view."""
    region_iou: float = 0.3
    """Least overlap of found and intended region."""
    good_mask_iou: float = 0.35
    """Overlap with the placement's outline at which confidence is full: a walking person fills no more of a box."""
    good_region_iou: float = 0.8
    """Overlap of found and intended region at which confidence is full."""
    ring_exposure: float = 60.0
    """Difference in exposure around the hazard at which realism is gone, grey levels of 255."""
    visible_area_px: float = 400.0
    """Visible area in the best view at which the conflict is plain, pixels."""


CONFLICT_GRADE: Final = {"both": 1.0, "recorded": 0.8, "lane_keep": 0.8, "none": 0.0}
"""How plainly the hazard is in the way: of both nominal paths, of one, of none."""
AVOIDABLE_GRADE: Final = {"stop": 1.0, "pass": 1.0, "both": 0.9, "none": 0.0}
"""How determined the right action is: one way out, two ways out, none."""


class RuleReviewer(LocalBackend):
    """Derives the record from measurements, region and screening.

    - physics_valid: contact, hanging, height and cross-view offset, where measured, are within their limits; a standing
      hazard needs at least one of contact and height, a mounted or attached one the offset of its top.
    - background_preserved: no background pixel was touched, and the editable area is not out of proportion.
    - task_correct: the region was found, it overlaps the intended one, and so does the hazard in its best view.
    - qualified: all three.
    - task_confidence: mean of the region's and the best view's overlap, each 0 at 0 and 1 at its good value.
    - realism: mean of the grades of contact and hanging (0 at twice their limits), height (0 at its limits) and
      exposure, worst view each, over those that were measured; 0 when none was.
    - action_determinacy: conflict grade x avoidable grade x visible area up to `visible_area_px`.
    """

    def __init__(self, settings: RuleReviewerSettings | None = None) -> None:
        """Remember the limits."""
        self.identity_settings = settings or RuleReviewerSettings()

    def review(self, request: ReviewRequest) -> Judgement:
        """Return the judgement."""
        problems = {
            "task_correct": self._task_problems(request),
            "physics_valid": self._physics_problems(request),
            "background_preserved": self._background_problems(request),
        }
        said = [problem for found in problems.values() for problem in found]
        return Judgement(
            pair_id=request.measurements.pair_id,
            edit_digest=request.measurements.edit_digest,
            asked=True,
            hard_failures=(),
            qualified=not said,
            task_correct=not problems["task_correct"],
            physics_valid=not problems["physics_valid"],
            background_preserved=not problems["background_preserved"],
            task_confidence=_score(self._confidence(request)),
            realism=_score(self._realism(request)),
            action_determinacy=_score(self._determinacy(request)),
            reason="; ".join(said) or "the hazard is where and as it was placed",
        )

    def _task_problems(self, request: ReviewRequest) -> list[str]:
        limits, overlap = self.identity_settings, _region_iou(request)
        best = max(_values(request, "mask_iou_expected"), default=0.0)
        problems: list[str] = []
        if request.region is None:
            problems.append("no region was found")
        elif overlap < limits.region_iou:
            problems.append(f"region overlaps the intended one by {overlap:.2f}, {limits.region_iou} needed")
        if best < limits.mask_iou:
            problems.append(f"hazard overlaps its placement by {best:.2f} at best, {limits.mask_iou} needed")
        return problems

    def _physics_problems(self, request: ReviewRequest) -> list[str]:
        limits = self.identity_settings
        problems = [
            *_above(request, "contact_offset_m", limits.contact_offset_m),
            *_above(request, "hanging_offset_m", limits.hanging_offset_m),
            *_above(request, "cross_view_offset_m", limits.cross_view_offset_m),
            *_above(request, "height_ratio", limits.height_ratio_high),
        ]
        heights = _values(request, "height_ratio")
        if heights and min(heights) < limits.height_ratio_low:
            problems.append(f"height_ratio {min(heights):.2f} is below {limits.height_ratio_low}")
        placement = request.screening.placement
        kind = "" if placement is None else placement.kind
        if kind == "standing" and not heights and not _values(request, "contact_offset_m"):
            problems.append("neither height nor ground contact can be seen")
        if kind in ("mounted", "attached") and not _values(request, "hanging_offset_m"):
            problems.append("the place where it hangs cannot be seen")
        return problems

    def _background_problems(self, request: ReviewRequest) -> list[str]:
        ratio = self.identity_settings.edit_to_object_ratio
        return [*_above(request, "background_touched_px", 0.0), *_above(request, "edit_to_object_ratio", ratio)]

    def _confidence(self, request: ReviewRequest) -> float:
        limits = self.identity_settings
        best = max(_values(request, "mask_iou_expected"), default=0.0) / limits.good_mask_iou
        return (min(1.0, best) + min(1.0, _region_iou(request) / limits.good_region_iou)) / 2

    def _realism(self, request: ReviewRequest) -> float:
        limits = self.identity_settings
        grades = [
            *_worst([1 - value / (2 * limits.contact_offset_m) for value in _values(request, "contact_offset_m")]),
            *_worst([1 - value / (2 * limits.hanging_offset_m) for value in _values(request, "hanging_offset_m")]),
            *_worst([self._height_grade(value) for value in _values(request, "height_ratio")]),
            *_worst([1 - abs(value) / limits.ring_exposure for value in _values(request, "ring_exposure")]),
        ]
        return sum(grades) / len(grades) if grades else 0.0

    def _height_grade(self, ratio: float) -> float:
        limits = self.identity_settings
        room = limits.height_ratio_high - 1 if ratio > 1 else 1 - limits.height_ratio_low
        return 1 - abs(ratio - 1) / room

    def _determinacy(self, request: ReviewRequest) -> float:
        seen = max(_values(request, "visible_area_px"), default=0.0) / self.identity_settings.visible_area_px
        screening = request.screening
        return CONFLICT_GRADE[screening.nominal_conflict] * AVOIDABLE_GRADE[screening.avoidable] * min(1.0, seen)


def _values(request: ReviewRequest, check: str) -> list[float]:
    """Return the values of one check where it gave any."""
    return [entry.value for entry in request.measurements.of(check) if entry.value is not None]


def _above(request: ReviewRequest, check: str, limit: float) -> list[str]:
    """Say when a check's largest value is above a limit."""
    largest = max(_values(request, check), default=None)
    return [] if largest is None or largest <= limit else [f"{check} {largest:.2f} is above {limit}"]


def _region_iou(request: ReviewRequest) -> float:
    iou = request.region.evidence.expected_iou if request.region else None
    return iou or 0.0


def _worst(grades: Sequence[float]) -> list[float]:
    """Return the least of some grades, kept in 0 to 1, as a list; empty when there is none."""
    return [min(1.0, max(0.0, min(grades)))] if grades else []


def _score(value: float) -> float:
    return identity.quantise(min(1.0, max(0.0, value)), SCORE_PLACES)
