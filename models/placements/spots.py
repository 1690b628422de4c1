"""Where on the ego's course a task's hazards may be: arc length, lateral offset, heading to the lane."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from data_registry.conflict_areas import Anchor
from data_registry.geometry import EGO_WIDTH_M
from models.surroundings import Neighbour, Surroundings
from prompts.taxonomy import PlacementRule, TaskSpec

EMERGING_GAPS_M: Final = (0.4, 0.7, 1.0, 1.4, 1.8, 2.2)
"""Distances along the lane between an occluding object's far end and the hazard behind it that are tried."""
EMERGING_STEPS_M: Final = (0.2, 0.45, 0.7)
"""How far the hazard's centre has come past the occluding object's side towards the lane that is tried, metres."""
COME_IN_M: Final = 0.5
"""A hazard at a lane's edge reaches this far into the lane, a smaller one stands with its middle on the edge."""
KERB_ROOM_M: Final = 0.3
"""Room between a hazard at the kerb and the kerb."""
PARKING_REACH_M: Final = 4.0
"""The ground's edge is a kerb to park at up to this far beside the lane's edge; else one stands beside the lane."""
STANDS_BEYOND_M: Final = 1.0
"""Who stops traffic stands this far behind the place where vehicles hold."""
JUNCTION_SHARES: Final = {0.0: (0.5, 0.4, 0.6), -1.0: (0.65, 0.5, 0.8), 1.0: (0.35, 0.5, 0.2)}
"""How far through a junction hazards stand that are tried: standing ones, ones from the right, ones from the left.

In right-hand traffic what comes from the right drives on the far half of the junction's cross road."""
POSTS_BEYOND_M: Final = (0.0, 1.0, 2.0, 3.5)
"""How far behind the place where vehicles hold mounted hazards hang that are tried: parked cars may hide one."""
POST_ROOM_M: Final = 0.4
"""Mounted hazards hang this far outside the drivable ground."""
POST_REACH_M: Final = 4.5
"""Up to this far beside the lane's edge; where the ground goes on farther, they stand in it, beside the lane."""

Size = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Spot:
    """A pose on the course.

    Attributes:
        arc_m: arc length.
        lateral_m: offset from the course, left positive.
        heading: to the lane, radians, left positive.
        occluder_gap_m: along the lane from what hides the hazard; None when nothing does.
        anchored: whether it is at what the task's rule ties it to; true where the rule ties it to nothing.
    """

    arc_m: float
    lateral_m: float
    heading: float
    occluder_gap_m: float | None = None
    anchored: bool = True


def first_choice(around: Surroundings, task: TaskSpec, size: Size) -> list[Spot]:
    """Return the spots that a task's rule names: behind occluders or at anchors; none when it names gaps only.

    Of stops the next one counts, which the ego comes to first; junctions and crossings all do.
    """
    rule = task.placement
    if rule.behind_occluder:
        heading = float(np.deg2rad(rule.heading_deg))
        half = half_extent(size, heading)
        return [spot for neighbour in around.neighbours for spot in _behind(around, neighbour, half, heading)]
    spots: list[Spot] = []
    ahead = around.anchors(rule.anchor)
    if rule.kind == "mounted":
        return [spot for anchor in ahead[:1] for spot in _posts_at(around, anchor.start_m, size)]
    for anchor in ahead[:1] if rule.anchor == "stop_line" else ahead:
        for side in _sides(rule):
            spots.extend(_beside(around, task, size, arc, side) for arc in _arcs_at(anchor, task, size, side))
    return spots


def at_gaps(around: Surroundings, task: TaskSpec, size: Size, step_m: float) -> list[Callable[[], Spot]]:
    """Return spots by gap alone, nearest first: for tasks tied to nothing, and as best effort for the others.

    Each is worked out when it is called: there are many, and one of the first to be tried mostly does.
    """
    rule = task.placement
    low, high = rule.gap_m.low, rule.gap_m.high
    gaps = np.unique(np.append(np.arange(low, high, step_m), high))
    lead = reach_back(task, size)
    tied = rule.anchor != "range"
    return [
        partial(_beside, around, task, size, around.bumper_arc + float(gap) + lead, side, anchored=not tied)
        for gap in gaps
        for side in _sides(rule)
    ]


def reach_back(task: TaskSpec, size: Size) -> float:
    """Return how far the region of a body reaches back along the lane from the body's middle, metres."""
    if task.region.area == "lane_beyond":
        return 0.0
    heading = float(np.deg2rad(task.placement.heading_deg))
    way = task.region.speed * task.region.seconds
    return half_extent(size, heading) + max(0.0, -float(np.cos(heading)) * way)


def half_extent(size: Size, heading: float) -> float:
    """Return half the extent along the lane of a body at a heading to the lane."""
    return abs(size[0] * float(np.cos(heading))) / 2 + abs(size[1] * float(np.sin(heading))) / 2


def _sides(rule: PlacementRule) -> tuple[float, ...]:
    """Return which side of the lane a hazard comes from: -1 right, 1 left, 0 none."""
    if rule.across == "either_edge":
        return -1.0, 1.0
    return {"right_edge": (-1.0,), "left_edge": (1.0,)}.get(rule.across, (0.0,))


def _arcs_at(anchor: Anchor, task: TaskSpec, size: Size, side: float) -> Iterator[float]:
    """Yield the arc lengths of a hazard's middle at an anchor."""
    if anchor.kind == "stop_line":
        yield anchor.start_m + STANDS_BEYOND_M + half_extent(size, float(np.deg2rad(task.placement.heading_deg)))
    elif anchor.kind == "crossing":
        yield (anchor.start_m + anchor.end_m) / 2
    else:
        for share in JUNCTION_SHARES[side]:
            yield anchor.start_m + share * (anchor.end_m - anchor.start_m)


def _beside(around: Surroundings, task: TaskSpec, size: Size, arc: float, side: float, anchored: bool = True) -> Spot:
    """Return the spot of a hazard in the task's lane at an arc length."""
    rule = task.placement
    heading = float(np.deg2rad(rule.heading_deg)) * (-1.0 if side > 0 else 1.0)
    across = abs(size[0] * float(np.sin(heading))) / 2 + abs(size[1] * float(np.cos(heading))) / 2
    width = around.width_at(arc)
    if rule.kind == "mounted":
        return Spot(arc, _post(around, arc, width, across), heading, anchored=anchored)
    if rule.lane == "kerb":
        return Spot(arc, _parking(around, arc, width, across), heading, anchored=anchored)
    middle = {"ego": 0.0, "left": width, "right": -width}[rule.lane]
    inside = max(0.0, width / 2 - across)
    lateral = {"left_part": inside, "right_part": -inside}.get(rule.across, 0.0)
    if side:
        lateral = side * (width / 2 + max(0.0, across - COME_IN_M))
    return Spot(arc, middle + lateral, heading, anchored=anchored)


def _parking(around: Surroundings, arc: float, width: float, across: float) -> float:
    """Return the lateral offset of a body at the right kerb, or beside the lane where no kerb is near."""
    kerb = around.right_edge(arc)
    if -width / 2 - kerb > PARKING_REACH_M:
        return -width / 2 - across
    return kerb + KERB_ROOM_M + across


def _posts_at(around: Surroundings, hold_m: float, size: Size) -> list[Spot]:
    """Return spots of a mounted body from the best on: outside the ground, then beside the lane, where bays end."""
    arcs = [hold_m + beyond for beyond in POSTS_BEYOND_M]
    widths = [around.width_at(arc) for arc in arcs]
    outside = [_post(around, arc, width, size[1] / 2) for arc, width in zip(arcs, widths, strict=True)]
    beside = [-width / 2 - POST_ROOM_M - size[1] / 2 for width in widths]
    return [
        Spot(arc, lateral, 0.0) for laterals in (outside, beside) for arc, lateral in zip(arcs, laterals, strict=True)
    ]


def _post(around: Surroundings, arc: float, width: float, across: float) -> float:
    """Return the lateral offset of a mounted body beside the lane's right edge, outside the ground where known."""
    kerb = around.right_edge(arc)
    near = -width / 2 - kerb <= POST_REACH_M
    return (kerb if near else -width / 2) - POST_ROOM_M - across


def _behind(around: Surroundings, neighbour: Neighbour, half: float, heading: float) -> Iterator[Spot]:
    """Yield spots right behind an object that stands beside the ego's way, stepping out towards the lane."""
    if not neighbour.is_standing_vehicle or not around.is_beside_lane(neighbour):
        return
    place = around.place_of(neighbour)
    side = 1.0 if float(place[:, 1].mean()) < 0 else -1.0
    edge = float((place[:, 1] * side).max())
    if edge > -EGO_WIDTH_M / 2:
        return
    for gap in EMERGING_GAPS_M:
        for step in EMERGING_STEPS_M:
            lateral = side * (edge + step)
            yield Spot(float(place[:, 0].max()) + gap + half, lateral, side * heading, gap)
