"""Checks of an edit: each measures one thing on one view, or on all of them, and says where it applies.

A check returns a value in its unit, or why there is none; it knows no threshold and gives no verdict (those
are decide's). To add one, write its function and enter it in `VIEW_CHECKS` or `PAIR_CHECKS`; raise the
version of the measure stage, give decide a rule, and benchmarks/calibration a fault that it is for. What each is:
docs/checks.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from data_registry import identity, silhouettes
from data_registry.records import Measurement
from data_registry.silhouettes import Pixels
from qa_audit import evidence
from qa_audit.borders import clipped_share, seam_step
from qa_audit.colours import brightness_ratio, cast_inside, over_range_levels, ring_cast, ring_exposure
from qa_audit.evidence import PairSubject, Reading, ViewSubject
from qa_audit.texture import blur_excess_px, detail_ratio, grain_ratio
from qa_audit.traces import detail_kept_around, see_through, unexplained_share
from qa_audit.whereabouts import footprint_overlap, off_drivable_share, over_nearer_share

Kind = Literal["standing", "surface", "mounted", "attached"]
ALL_KINDS: Final[tuple[Kind, ...]] = ("standing", "surface", "mounted", "attached")

BESIDE_PX: Final = 8
"""How far beside a mounted placement's outline its hazard's pixels may lie."""
LEAST_VISIBLE_SHARE: Final = 0.5
"""A hazard that should be seen less than this has no height to compare."""
VALUE_PLACES: Final = 6
"""Decimal places at which values are fixed."""


@dataclass(frozen=True, slots=True)
class ViewCheck:
    """A check of one view."""

    name: str
    unit: str
    kinds: tuple[Kind, ...]
    """Placement kinds that it applies to."""
    measure: Callable[[ViewSubject], Reading]


@dataclass(frozen=True, slots=True)
class PairCheck:
    """A check of all views together."""

    name: str
    unit: str
    kinds: tuple[Kind, ...]
    measure: Callable[[PairSubject], Reading]


def background_touched_px(view: ViewSubject) -> Reading:
    """Count pixels outside the edit mask that differ from the source, or whose stored crop is not zero there."""
    pixels = view.pixels
    changed = _any_channel(pixels.edited != pixels.source) | _any_channel(pixels.stored != 0)
    return Reading(float(np.count_nonzero(changed & ~pixels.edit_mask)))


def visible_area_px(view: ViewSubject) -> Reading:
    """Count the pixels that show the hazard."""
    return Reading(float(view.pixels.object_mask.sum()))


def changed_inside(view: ViewSubject) -> Reading:
    """Return the mean absolute difference to the source over the hazard's pixels: near 0 for a near-copy."""
    part = silhouettes.window_of(view.pixels.object_mask)
    mask = view.pixels.object_mask[part]
    if not mask.any():
        return Reading(None, "the hazard is not seen")
    difference = view.pixels.edited[part][mask].astype(np.float64) - view.pixels.source[part][mask]
    return Reading(float(np.abs(difference).mean()))


def edit_to_object_ratio(view: ViewSubject) -> Reading:
    """Return the area that may differ over the area of the hazard."""
    area = int(view.pixels.object_mask.sum())
    if not area:
        return Reading(None, "the hazard is not seen")
    return Reading(float(view.pixels.edit_mask.sum()) / area)


def truncated_fraction(view: ViewSubject) -> Reading:
    """Return which share of the placement's outline lies outside the picture."""
    return Reading(view.expected.outside_share)


def mask_iou_expected(view: ViewSubject) -> Reading:
    """Return intersection over union of the hazard's pixels and the visible part of the placement's outline.

    What carries a mounted hazard is drawn with it but lies below its box: only pixels around the box count.
    """
    found, expected = view.pixels.object_mask, view.expected.visible
    if view.placement.kind == "mounted":
        found = found & _around(view)
    union = int((found | expected).sum())
    if not union and view.pixels.object_mask.any():
        return Reading(0.0, "the hazard is seen, its placement is not in the picture")
    if not union:
        return Reading(None, "neither the hazard nor its placement is in the picture")
    return Reading(float((found & expected).sum()) / union)


def height_ratio(view: ViewSubject) -> Reading:
    """Return the hazard's height in rows over the height that its placement should have, as far as it is seen."""
    found = evidence.height_px(view.found)
    if not found:
        return Reading(None, "the hazard is not seen")
    if view.expected.visible_share < LEAST_VISIBLE_SHARE:
        return Reading(None, "most of the placement is hidden or outside the picture")
    return Reading(found / evidence.height_px(view.expected.visible))


def hanging_offset_m(view: ViewSubject) -> Reading:
    """Return how far the top of a hazard that touches no ground lies from where it should, across the line of sight."""
    if view.expected.visible_share < LEAST_VISIBLE_SHARE:
        return Reading(None, "most of the placement is hidden or outside the picture")
    found = evidence.top(view.found)
    expected = evidence.top(view.expected.visible)
    for place in (found, expected):
        if isinstance(place, str):
            return Reading(None, place)
    return Reading(float(np.linalg.norm(np.subtract(found, expected))) * evidence.metres_a_pixel(view))


def contact_offset_m(view: ViewSubject) -> Reading:
    """Return how far the hazard touches the ground from where its placement may: large when it floats, or was moved."""
    offset = evidence.contact(view)
    if isinstance(offset, str):
        return Reading(None, offset)
    return Reading(float(np.linalg.norm(offset)))


def patch_offset_m(view: ViewSubject) -> Reading:
    """Return how far the middle of a surface hazard lies from where it should, in plan."""
    offset = evidence.patch(view)
    if isinstance(offset, str):
        return Reading(None, offset)
    return Reading(float(np.linalg.norm(offset)))


def cross_view_offset_m(pair: PairSubject) -> Reading:
    """Return by how much views disagree about the place: the largest difference of their offsets from the placement."""
    locate = evidence.patch if pair.placement.kind == "surface" else evidence.contact
    offsets = [offset for offset in map(locate, pair.views) if not isinstance(offset, str)]
    if len(offsets) < 2:
        shown = f"{len(offsets)} of {len(pair.views)} views"
        return Reading(None, f"{shown} show where the hazard meets the ground, 2 needed")
    return Reading(max(float(np.linalg.norm(a - b)) for a, b in combinations(offsets, 2)))


def views_missing(pair: PairSubject) -> Reading:
    """Count the views that should show the hazard but were not edited."""
    edited = {view.pixels.sensor_id for view in pair.views}
    return Reading(float(sum(sensor not in edited for sensor in pair.wanted)))


VIEW_CHECKS: Final = (
    ViewCheck("background_touched_px", "pixels", ALL_KINDS, background_touched_px),
    ViewCheck("blur_excess_px", "pixels", ALL_KINDS, blur_excess_px),
    ViewCheck("brightness_ratio", "ratio", ALL_KINDS, brightness_ratio),
    ViewCheck("cast_inside", "ratio", ALL_KINDS, cast_inside),
    ViewCheck("changed_inside", "grey levels of 255", ALL_KINDS, changed_inside),
    ViewCheck("clipped_share", "ratio", ALL_KINDS, clipped_share),
    ViewCheck("contact_offset_m", "metres", ("standing",), contact_offset_m),
    ViewCheck("detail_kept_around", "ratio", ALL_KINDS, detail_kept_around),
    ViewCheck("detail_ratio", "ratio", ALL_KINDS, detail_ratio),
    ViewCheck("edit_to_object_ratio", "ratio", ALL_KINDS, edit_to_object_ratio),
    ViewCheck("footprint_overlap", "ratio", ("standing", "surface", "attached"), footprint_overlap),
    ViewCheck("grain_ratio", "ratio", ALL_KINDS, grain_ratio),
    ViewCheck("hanging_offset_m", "metres", ("mounted", "attached"), hanging_offset_m),
    ViewCheck("height_ratio", "ratio", ("standing", "attached"), height_ratio),
    ViewCheck("mask_iou_expected", "ratio", ALL_KINDS, mask_iou_expected),
    ViewCheck("off_drivable_share", "ratio", ("standing", "surface"), off_drivable_share),
    ViewCheck("over_nearer_share", "ratio", ("standing", "mounted", "attached"), over_nearer_share),
    ViewCheck("over_range_levels", "grey levels of 255", ALL_KINDS, over_range_levels),
    ViewCheck("patch_offset_m", "metres", ("surface",), patch_offset_m),
    ViewCheck("ring_cast", "ratio", ALL_KINDS, ring_cast),
    ViewCheck("ring_exposure", "grey levels of 255", ALL_KINDS, ring_exposure),
    ViewCheck("seam_step", "grey levels of 255", ALL_KINDS, seam_step),
    ViewCheck("see_through", "ratio", ALL_KINDS, see_through),
    ViewCheck("truncated_fraction", "ratio", ALL_KINDS, truncated_fraction),
    ViewCheck("unexplained_share", "ratio", ALL_KINDS, unexplained_share),
    ViewCheck("visible_area_px", "pixels", ALL_KINDS, visible_area_px),
)
PAIR_CHECKS: Final = (
    PairCheck("cross_view_offset_m", "metres", ("standing", "surface"), cross_view_offset_m),
    PairCheck("views_missing", "views", ALL_KINDS, views_missing),
)
CHECKS: Final[tuple[ViewCheck | PairCheck, ...]] = (*VIEW_CHECKS, *PAIR_CHECKS)


def measure(pair: PairSubject) -> tuple[Measurement, ...]:
    """Apply every check to a candidate: one measurement a view or pair check, sorted by check, then sensor.

    A check that does not apply to the placement's kind gives no value and says so; it never counts as passed.
    """
    found = [
        _measurement(check, view.pixels.sensor_id, check.measure(view) if _applies(check, pair) else None, pair)
        for check in VIEW_CHECKS
        for view in pair.views
    ]
    found += [
        _measurement(check, None, check.measure(pair) if _applies(check, pair) else None, pair) for check in PAIR_CHECKS
    ]
    return tuple(sorted(found, key=lambda value: (value.check, value.sensor_id or "")))


def _applies(check: ViewCheck | PairCheck, pair: PairSubject) -> bool:
    return pair.placement.kind in check.kinds


def _measurement(
    check: ViewCheck | PairCheck, sensor_id: str | None, reading: Reading | None, pair: PairSubject
) -> Measurement:
    if reading is None:
        note = f"not applicable to {pair.placement.kind} hazards"
        return Measurement(check=check.name, sensor_id=sensor_id, value=None, note=note)
    value = None if reading.value is None else identity.quantise(reading.value, VALUE_PLACES)
    return Measurement(check=check.name, sensor_id=sensor_id, value=value, note=reading.note)


def _any_channel(pixels: npt.NDArray[np.bool_]) -> Pixels:
    """Return where any of three channels is set; numpy's own `any` over so short an axis is ten times slower."""
    return pixels[..., 0] | pixels[..., 1] | pixels[..., 2]


def _around(view: ViewSubject) -> Pixels:
    """Return the pixels of the upright rectangle around the placement's outline, a little wider."""
    mask = np.zeros(view.pixels.object_mask.shape, dtype=np.bool_)
    if not view.expected.outline.is_empty:
        left, top, right, bottom = view.expected.outline.bounds
        rows = slice(max(0, int(top) - BESIDE_PX // 4), max(0, int(bottom) + 1))
        columns = slice(max(0, int(left) - BESIDE_PX), max(0, int(right) + BESIDE_PX + 1))
        mask[rows, columns] = True
    return mask
