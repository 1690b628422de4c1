"""The places of a task's hazard with the ground that each takes, in a seeded order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import gcd
from typing import Any, Final, TypeVar

import numpy as np
import shapely

from data_registry.conflict_areas import NoConflictAreaError, area_at, area_quad
from data_registry.geometry import Array, convex_quad
from data_registry.identity import seed_for
from data_registry.records import Placement
from models.placements.bodies import Body, door_bodies, mounted_body, standing_body, surface_body
from models.placements.spots import Size, Spot, at_gaps, first_choice
from models.surroundings import Surroundings
from prompts.taxonomy import Appearance, TaskSpec

REGION_REACH_M: Final = 60.0
"""Regions lie within this distance of the ego origin (DESIGN section 5)."""
GAP_SLACK_M: Final = 0.25
"""On bends a region's rectangle begins a little before or behind its body."""
GOLDEN: Final = 0.382
"""Smaller part of the golden section."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class PlacingRules:
    """What places are drawn with: seed root, pair id, distance between gaps in metres."""

    seed_root: int
    pair_id: str
    gap_step_m: float

    def draw(self, role: str, attempt: int = 0) -> float:
        """Return a number in [0, 1) that depends on nothing but the seed root, the role and the pair."""
        return seed_for(self.seed_root, role, self.pair_id, attempt) / 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A hazard at one place; ego frame at time 0, metres.

    Attributes:
        placement: what is placed.
        appearance: name of its look.
        swept: (N, 2) convex outline of the ground that its body takes, moving ones with their way.
        quad: (4, 2) the expected region.
        target: plan area that must be drivable: the region, of a moving hazard its part within the lane.
        solid: (N, 3) points whose convex hull the hazard fills.
        gap_m: from the bumper along the lane to the nearest point of the region.
        arc_m: arc length of the hazard's centre.
        occluder_gap_m: from the occluding object's far end to the hazard; None when nothing hides it.
        anchored: whether it is at what the task ties its place to.
    """

    placement: Placement
    appearance: str
    swept: Array
    quad: Array
    target: Any
    solid: Array
    gap_m: float
    arc_m: float
    occluder_gap_m: float | None
    anchored: bool


def candidates(around: Surroundings, task: TaskSpec, rules: PlacingRules) -> Iterator[Candidate]:
    """Yield the places of a task's hazard within its range of gaps, in a seeded order.

    Places that the task's rule names come alone; where there are none, places by gap are the best effort. Doors need a
    parked car, areas on crossings a crossing: without one nothing is yielded.
    """
    appearance = task.appearances[int(rules.draw("appearance") * len(task.appearances))]
    size = _size(appearance, rules)
    for places in _choices(around, task, size, rules):
        found = False
        for body, spot in places:
            candidate = _candidate(around, task, appearance.name, body, spot)
            if candidate is not None and _in_range(candidate, task):
                found = True
                yield candidate
        if found:
            return


def _choices(
    around: Surroundings, task: TaskSpec, size: Size, rules: PlacingRules
) -> Iterator[Iterator[tuple[Body, Spot]]]:
    """Yield the named places, then those by gap, each lazily."""
    if task.placement.kind == "attached":
        yield _opened(around, size, rules)
        return
    named = first_choice(around, task, size)
    if task.placement.kind != "mounted":
        named = _scattered(named, rules.draw("spot"))
    yield _placed(around, task, size, rules, named)
    by_gap = _scattered(at_gaps(around, task, size, rules.gap_step_m), rules.draw("spot"))
    yield _placed(around, task, size, rules, (spot() for spot in by_gap))


def _placed(
    around: Surroundings, task: TaskSpec, size: Size, rules: PlacingRules, spots: Iterable[Spot]
) -> Iterator[tuple[Body, Spot]]:
    for spot in spots:
        if task.placement.mount_height_m is not None:
            base = task.placement.mount_height_m
            height = round(base.low + rules.draw("mount") * (base.high - base.low), 3)
            yield mounted_body(around, spot, size, height), spot
        elif task.placement.kind == "surface":
            yield surface_body(around, spot, size), spot
        else:
            yield standing_body(around, spot, size), spot


def _opened(around: Surroundings, size: Size, rules: PlacingRules) -> Iterator[tuple[Body, Spot]]:
    for body in _scattered(list(door_bodies(around, size)), rules.draw("spot")):
        arc, lateral = around.course.locate(body.outline.mean(axis=0)[None])[0].tolist()
        yield body, Spot(arc, lateral, 0.0)


def _size(appearance: Appearance, rules: PlacingRules) -> Size:
    """Draw length, width and height within the appearance's ranges, fixed at a millimetre."""
    ranges = (appearance.size_m.length, appearance.size_m.width, appearance.size_m.height)
    drawn = [r.low + rules.draw("size", axis) * (r.high - r.low) for axis, r in enumerate(ranges)]
    return round(drawn[0], 3), round(drawn[1], 3), round(drawn[2], 3)


def _scattered(places: list[_T], share: float) -> list[_T]:
    """Return places in an order that jumps: what comes early is spread over all, whatever is refused before it."""
    count = len(places)
    step = next((n for n in range(max(1, round(count * GOLDEN)), count) if gcd(n, count) == 1), 1)
    return [places[(int(share * count) + index * step) % count] for index in range(count)]


def _in_range(candidate: Candidate, task: TaskSpec) -> bool:
    limits = task.placement.gap_m
    near = float(np.hypot(candidate.quad[:, 0], candidate.quad[:, 1]).max()) <= REGION_REACH_M
    return near and limits.low - GAP_SLACK_M <= candidate.gap_m <= limits.high + GAP_SLACK_M


def _candidate(around: Surroundings, task: TaskSpec, appearance: str, body: Body, spot: Spot) -> Candidate | None:
    """Return the candidate of a body; None when it makes no conflict area."""
    way = np.array([np.cos(body.yaw), np.sin(body.yaw)]) * task.region.speed * task.region.seconds
    swept: Any = shapely.convex_hull(shapely.multipoints(np.concatenate([body.outline, body.outline + way])))
    try:
        quad, target = _region(around, task, body, swept)
    except NoConflictAreaError:
        return None
    gap = float(around.course.locate(quad)[:, 0].min()) - around.bumper_arc
    return Candidate(
        placement=body.placement,
        appearance=appearance,
        swept=np.asarray(swept.exterior.coords)[:-1],
        quad=quad,
        target=target,
        solid=body.solid,
        gap_m=gap,
        arc_m=spot.arc_m,
        occluder_gap_m=spot.occluder_gap_m,
        anchored=spot.anchored,
    )


def _region(around: Surroundings, task: TaskSpec, body: Body, swept: Any) -> tuple[Array, Any]:
    """Return the region's quad (4, 2), and the area that must be drivable; raises NoConflictAreaError."""
    if task.area_rule is not None:
        area = area_at(around.course, task.area_rule, around.anchors(task.area_rule.anchor), body.outline, body.yaw)
        quad = np.round(area_quad(area), 6)
        return quad, area
    quad = np.round(convex_quad(swept), 6)
    target: Any = shapely.Polygon(quad)
    if task.region.rule == "footprint_swept" and target.intersects(around.lane):
        target = shapely.intersection(target, around.lane)
    return quad, target
