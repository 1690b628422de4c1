"""Masks that show no hazard of the task have no region; the text says why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely

from data_registry.blobs import Blobs
from data_registry.edits import full_object_mask
from data_registry.geometry import Transform, rectangle
from data_registry.records import Annotation, Area, Mounted, Placement, StopLine
from data_registry.silhouettes import Pixels
from models.localizers.fitting import Solution
from models.localizers.ground_plane import GroundPlaneLocalizer
from models.localizers.limits import Found, Limits, check_fit, check_size
from models.localizers.localizer import LocalizeRequest, RegionNotFoundError, SeenHazard
from tests.street import keyframe as lane
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Painter,
    box,
    hole,
    parked,
    pedestrian,
    picture,
    screened,
    street,
    truck,
)

LIMITS = Limits(unexplained=50.0, cost_cut=10.0, overlap=0.25, size_factor=2.0)
EXTENTS = np.array([[4.0, 1.6, 1.4], [5.0, 2.0, 1.6]])
HEIGHT, WIDTH = picture("CAM_FRONT").shape[:2]
HORIZON = 235
"""Row of the horizon in CAM_FRONT, within some pixels."""


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(str(tmp_path))


def squares(*corners: tuple[int, int], side: int = 10) -> Pixels:
    mask = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    for row, column in corners:
        mask[row : row + side, column : column + side] = True
    return mask


def asked(task: str, placement: Placement, blobs: Blobs, *masks: Pixels | None) -> LocalizeRequest:
    """Ask about an edit whose views show some masks instead of the hazard; None is what the view shows."""
    edited = Painter(blobs).edited(screened(task, placement), placement)
    combination, views = edited.screened.combination, edited.candidate.views
    seen = tuple(
        SeenHazard(view.sensor_id, full_object_mask(view, blobs, (HEIGHT, WIDTH)) > 0 if mask is None else mask)
        for view, mask in zip(views, masks, strict=True)
    )
    return LocalizeRequest(combination.keyframe, combination.task, edited.screened.screening, edited.candidate, seen)


def refused(request: LocalizeRequest, why: str) -> None:
    with pytest.raises(RegionNotFoundError, match=why):
        GroundPlaneLocalizer().localize(request)


@pytest.mark.parametrize(
    "mask",
    [squares((300, 400), side=1), squares((300, 50), (300, 700), side=30)],
    ids=["one pixel", "far left and far right"],
)
def test_what_is_no_truck_has_no_region(mask: Pixels, blobs: Blobs) -> None:
    refused(asked(TRUCK, truck(), blobs, mask), "CAM_FRONT shows is no hazard of this task|the views show would be")


def test_something_else_in_the_second_view_takes_the_region_away_instead_of_moving_it(blobs: Blobs) -> None:
    placement = pedestrian(8.0, -3.25)
    assert GroundPlaneLocalizer().localize(asked(PEDESTRIAN, placement, blobs, None, None)).evidence.expected_iou

    refused(
        asked(PEDESTRIAN, placement, blobs, None, squares((430, 400))),
        r"CAM_FRONT.* shows is no hazard of this task: \d+ of its outline is left unexplained",
    )


def test_a_head_alone_at_the_pictures_side_does_not_say_where_the_feet_are(blobs: Blobs) -> None:
    both = asked(PEDESTRIAN, pedestrian(8.0, -3.25), blobs, None, None)
    side = both.views[1]
    rows = np.flatnonzero(side.object_mask.any(axis=1))
    head = side.object_mask.copy()
    head[rows[len(rows) // 3] :] = False

    refused(
        replace(both, views=(replace(side, object_mask=head),)),
        "the picture's side cuts the hazard in CAM_FRONT_RIGHT, so that its feet are not known",
    )


@pytest.mark.parametrize(
    ("top", "why"),
    [
        (HORIZON - 30, "CAM_FRONT shows the hazard above the horizon, in 100% of its width: it does not lie on the"),
        (HORIZON + 8, r"the views show would be \d+\.\d+ m long; hazards of this task are 2.00 to 3.00 m"),
    ],
)
def test_a_hole_that_reaches_to_the_sky_or_far_down_the_road_has_no_region(top: int, why: str, blobs: Blobs) -> None:
    mask = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    mask[top:300, 330:480] = True

    refused(asked(HOLE, hole(), blobs, mask), why)


def test_one_column_of_sky_is_enough_since_the_far_end_is_unknown_there(blobs: Blobs) -> None:
    mask = asked(HOLE, hole(), blobs, None).views[0].object_mask.copy()
    assert GroundPlaneLocalizer().localize(asked(HOLE, hole(), blobs, mask))
    column = int(np.flatnonzero(mask.any(axis=0)).mean())
    mask[HORIZON - 20 : int(np.flatnonzero(mask[:, column])[0]), column] = True

    refused(asked(HOLE, hole(), blobs, mask), "above the horizon, in [1-9]% of its width")


SIGNAL = Mounted(box=box(14.0, -2.4, (0.33, 0.4, 0.975), np.pi, 2.2), faces=("front",))


def with_stop_line(request: LocalizeRequest, at_m: float) -> LocalizeRequest:
    """The same on a mapped lane with a stop line: a signal rules the lane behind it."""
    ring = ((at_m - 1.0, -1.75), (at_m, -1.75), (at_m, 1.75), (at_m - 1.0, 1.75))
    stop = StopLine(area=Area(exterior=ring), kind="stop_sign")
    patch = lane().map.model_copy(update={"stop_lines": (stop,)})
    return replace(request, keyframe=request.keyframe.model_copy(update={"map": patch}))


@pytest.mark.parametrize("corner", [(2, 400), (150, 750), (350, 150), (440, 400)])
def test_a_red_signal_must_be_seen_before_its_stop_line_gives_the_region(corner: tuple[int, int], blobs: Blobs) -> None:
    seen = with_stop_line(asked("red_signal", SIGNAL, blobs, None), 14.0)
    region = shapely.Polygon(GroundPlaneLocalizer().localize(seen).quad)
    assert region.bounds == pytest.approx((14.0, -1.75, 20.0, 1.75), abs=0.01)

    refused(
        with_stop_line(asked("red_signal", SIGNAL, blobs, squares(corner, side=5)), 14.0),
        "is no hazard of this task|the views show would be|no view shows the foot or the top",
    )


def test_a_signal_far_from_every_stop_line_rules_none(blobs: Blobs) -> None:
    refused(
        with_stop_line(asked("red_signal", SIGNAL, blobs, None), 30.0),
        r"the hazard was found 1\d\.\d m from the ground that it would rule, 5 m at most",
    )


def on_its_side(note: Annotation) -> Annotation:
    """A box pitched by a quarter turn: its bottom is a line in plan."""
    half = 0.5**0.5
    turned = Transform.from_quaternion((0, 0, 0), (half, 0, half, 0)).quaternion()
    return note.model_copy(update={"box": note.box.model_copy(update={"rotation": turned})})


@pytest.mark.parametrize("y", [0.0, 5.0])
def test_a_box_that_lies_on_its_side_may_stand_before_the_hazard(y: float, blobs: Blobs) -> None:
    request = asked(TRUCK, truck(20.0), blobs, None)

    region = GroundPlaneLocalizer().localize(replace(request, keyframe=street([on_its_side(parked(9.0, y))])))

    assert region.evidence.expected_iou is not None
    assert region.evidence.expected_iou > 0.5


def test_the_evidence_says_what_the_worst_view_leaves_unexplained(blobs: Blobs) -> None:
    exact = GroundPlaneLocalizer().localize(asked(TRUCK, truck(), blobs, None)).evidence.unexplained
    surface = GroundPlaneLocalizer().localize(asked(HOLE, hole(), blobs, None)).evidence.unexplained

    assert exact is not None
    assert 0 <= exact < 50
    assert surface is None


def fit(
    unexplained: float = 1.0, overlap: float = 0.9, x: float = 12.0, cost: float = 60.0, *, is_cut: bool = False
) -> Found:
    footprint = shapely.Polygon(rectangle((x, 0.0), 4.5, 1.8, 0.0))
    solution = Solution(footprint, np.array([4.5, 1.8, 1.5]), cost, (0.5, unexplained), (0.9, overlap))
    return Found(solution, ("CAM_FRONT", "CAM_FRONT_LEFT"), is_cut)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (fit(unexplained=50.1), "what CAM_FRONT_LEFT shows is no hazard of this task: 50 of its outline"),
        (fit(cost=11.0, is_cut=True), "side cuts the hazard in CAM_FRONT, CAM_FRONT_LEFT, so .* 11 of .* 10 at most"),
        (fit(overlap=0.24), "CAM_FRONT_LEFT shows is no hazard of this task: 24% of what its mask"),
        (fit(x=2.0), "would stand where the ego vehicle is"),
    ],
)
def test_every_view_must_be_explained(found: Found, why: str) -> None:
    with pytest.raises(RegionNotFoundError, match=why):
        check_fit(found, EXTENTS, LIMITS)


def test_fits_up_to_the_limits_are_believed() -> None:
    check_fit(fit(unexplained=50.0, overlap=0.25), EXTENTS, LIMITS)
    check_fit(fit(cost=10.0, is_cut=True), EXTENTS, LIMITS)
    check_size(np.array([2.0, 0.8, 0.7]), EXTENTS, 2.0)
    check_size(np.array([10.0, 4.0, 3.2]), EXTENTS, 2.0)


@pytest.mark.parametrize(
    ("size", "why"),
    [
        ((4.5, 0.79, 1.5), r"would be 0\.79 m wide; hazards of this task are 1\.60 to 2\.00 m, 2 times"),
        ((4.5, 1.8, 3.3), r"would be 3\.30 m high"),
    ],
)
def test_sizes_far_outside_the_tasks_are_refused(size: tuple[float, ...], why: str) -> None:
    with pytest.raises(RegionNotFoundError, match=why):
        check_size(np.array(size), EXTENTS, 2.0)
