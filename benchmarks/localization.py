"""How well regions are found on the embedded logs: by task, by range, and from masks as a network might draw them.

Every combination of the eight scenes and all tasks is screened, edited and localized, three times with other seeds; the
truth is the region of the placement, which the compositor draws exactly. `--folder DIR` keeps logs and edits for the
next run. The last row is about a localizer that knows of no look more than its size.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import shapely
from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.drawn_pairs import drawn_pairs
from benchmarks.drawn_pairs.faults import FAULTS
from benchmarks.performance import report
from data_registry import edits
from data_registry.blobs import Blobs
from data_registry.geometry import Array
from models.localizers.ground_plane import GroundPlaneLocalizer
from models.localizers.localizer import LocalizeRequest, RegionNotFoundError, SeenHazard
from tasks.items import Edited

PAGE = Path(__file__).parents[1] / "docs" / "localization.md"
SEEDS = (0, 1, 2)
NEAREST_M, NEAREST_SHARE, LEAST_IOU = 0.5, 0.05, 0.5
"""The target: the centre within the larger of a distance and a share of the range, and so much overlap."""
RANGE_BIN_M = 10

Change = Callable[[LocalizeRequest], LocalizeRequest]


@dataclass(frozen=True, slots=True)
class Found:
    """One pair: its task, whether screening kept it, range and error of the region's centre, overlap with the truth.

    A pair without a region has an infinite error.
    """

    task: str
    suitable: bool
    range_m: float
    error_m: float
    iou: float

    @property
    def centred(self) -> bool:
        """Whether the centre is near enough."""
        return self.error_m <= max(NEAREST_M, NEAREST_SHARE * self.range_m)


def asked(item: Edited, blobs: Blobs) -> LocalizeRequest:
    """Return what the localize stage would ask."""
    combination = item.screened.combination
    views: list[SeenHazard] = []
    for view in item.candidate.views:
        camera = combination.keyframe.view(view.sensor_id, view.frame_offset)
        mask = edits.full_object_mask(view, blobs, (camera.height, camera.width))
        views.append(SeenHazard(view.sensor_id, mask > 0, view.frame_offset))
    return LocalizeRequest(
        combination.keyframe, combination.task, item.screened.screening, item.candidate, tuple(views)
    )


def found(request: LocalizeRequest) -> Found:
    """Localize one pair; a region that is not found is infinitely far and does not overlap."""
    truth = shapely.Polygon(request.screening.expected_region or ())
    range_m = float(np.hypot(truth.centroid.x, truth.centroid.y))
    error_m, iou = float("inf"), 0.0
    try:
        region = shapely.Polygon(GroundPlaneLocalizer().localize(request).quad)
        error_m = float(region.centroid.distance(truth.centroid))
        iou = float(region.intersection(truth).area / region.union(truth).area)
    except RegionNotFoundError:
        pass
    return Found(request.task.id, request.screening.suitable, range_m, error_m, iou)


def faulty(name: str, seed: int) -> Change:
    """Return how a request's masks become faulty."""

    def change(request: LocalizeRequest) -> LocalizeRequest:
        draw = np.random.Generator(np.random.PCG64(seed))
        views = [replace(view, object_mask=FAULTS[name](view.object_mask, draw)) for view in request.views]
        return replace(request, views=tuple(views))

    return change


def without_look(request: LocalizeRequest) -> LocalizeRequest:
    """Return the request for a task whose looks nobody knows."""
    looks = tuple(look.model_copy(update={"shape": "unknown"}) for look in request.task.appearances)
    copied = BaseModel.model_copy(request.task, update={"appearances": looks})  # a task file could not say that
    return replace(request, task=copied)


def squares(*corners: tuple[int, int], side: int) -> Change:
    """Return how all views come to show nothing but squares, with corners at (row, column)."""

    def change(request: LocalizeRequest) -> LocalizeRequest:
        views: list[SeenHazard] = []
        for view in request.views:
            mask = np.zeros_like(view.object_mask)
            for top, left in corners:
                mask[top : top + side, left : left + side] = True
            views.append(replace(view, object_mask=mask))
        return replace(request, views=tuple(views))

    return change


NO_HAZARDS: dict[str, Change] = {
    "one pixel of the road": squares((600, 800), side=1),
    "a square of 10 px in the sky": squares((5, 800), side=10),
    "a square of 10 px on the road": squares((700, 300), side=10),
    "two squares far from each other": squares((600, 100), (600, 1400), side=60),
}
"""Masks that show no hazard: pictures are 1600 x 900."""


def row(name: str, group: Sequence[Found]) -> str:
    """Return the line about some pairs."""
    error, iou = np.array([one.error_m for one in group]), np.array([one.iou for one in group])
    refused = np.isinf(error).mean()
    centred, shared = np.array([one.centred for one in group]), iou >= LEAST_IOU
    return (
        f"  {name:<38} {len(group):4d} {np.median(error):8.2f} {_ninth(error):6.2f} m"
        f" {np.median(iou):7.2f} {centred.mean():9.0%} {shared.mean():7.0%} {(centred & shared).mean():7.0%}"
        f" {refused:8.1%}"
    )


def _ninth(error: Array) -> float:
    """Return the error that nine of ten do not exceed."""
    return float(np.sort(error)[int(np.ceil(0.9 * len(error))) - 1])


def tables(plain: Sequence[Found], changed: dict[str, list[Found]], nothing: dict[str, list[Found]]) -> Iterator[str]:
    """Yield the lines: by task, by range, what screening left out, by fault, and for masks that show no hazard."""
    kept = [one for one in plain if one.suitable]
    yield f"{'pairs that screening kept':<40}    n   centre off, 90 %    IoU   centred  IoU>=.5   both  refused"
    for task in sorted({one.task for one in kept}):
        yield row(task, [one for one in kept if one.task == task])
    for low in sorted({int(one.range_m // RANGE_BIN_M) * RANGE_BIN_M for one in kept}):
        group = [one for one in kept if low <= one.range_m < low + RANGE_BIN_M]
        yield row(f"{low} to {low + RANGE_BIN_M} m away", group)
    yield row("all", kept)
    yield row("those that screening left out", [one for one in plain if not one.suitable])
    yield "all that screening kept, but"
    for name, group in changed.items():
        yield row(name, [one for one in group if one.suitable])
    yield f"{'instead of every view of these':<40}    n   refused"
    for name, group in nothing.items():
        suitable = [one for one in group if one.suitable]
        yield f"  masks: {name:<31} {len(suitable):4d} {np.mean([np.isinf(one.error_m) for one in suitable]):9.1%}"


def main() -> None:
    """Measure and print."""
    kept = Path(sys.argv[sys.argv.index("--folder") + 1]) if "--folder" in sys.argv else None
    plain: list[Found] = []
    changed: dict[str, list[Found]] = {}
    nothing: dict[str, list[Found]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for seed in SEEDS:
            changes: dict[str, Change] = {f"masks: {name}": faulty(name, seed) for name in FAULTS}
            changes["looks unknown, only their sizes known"] = without_look
            with drawn_pairs(kept or Path(temporary), seed) as (items, blobs):
                requests = [asked(item, blobs) for item in items]
            plain += [found(request) for request in requests]
            for name, change in changes.items():
                changed.setdefault(name, []).extend(found(change(request)) for request in requests)
            for name, change in NO_HAZARDS.items():
                nothing.setdefault(name, []).extend(found(change(request)) for request in requests)
    report("localization", list(tables(plain, changed, nothing)), PAGE)


if __name__ == "__main__":
    main()
