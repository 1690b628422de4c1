"""Measures what task files may ask about (`prompts.facts.FACTS`): of the scene once, of each place, of its sights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import shapely

from data_registry.conflict_areas import AnchorKind, nearest
from data_registry.courses import union_of
from data_registry.identity import METRE_STEP, quantise
from data_registry.paths import clearance, wrap
from data_registry.records import Fact
from models.placements import Candidate
from models.surroundings import FAR_M, Surroundings
from prompts.facts import UNKNOWN_PASSES
from prompts.taxonomy import Predicate

Value = float | bool | str | None
Values = dict[str, Value]

TURN_REACH_M: Final = 40.0
"""A turn of the lane counts this far ahead."""
ONCOMING_RAD: Final = float(np.deg2rad(120.0))
"""A lane whose direction differs by more runs the other way."""


def scene_facts(around: Surroundings) -> Values:
    """Return what holds for all places."""
    values: Values = {
        "speed": around.speed,
        "free_length_m": around.free_length_m,
        "parked_cars_count": float(len(around.parked_cars)),
        "junction_gap_m": _gap_to(around, "junction"),
        "crossing_gap_m": _gap_to(around, "crossing"),
        "stop_line_gap_m": _gap_to(around, "stop_line"),
        "turn_deg": _turn_deg(around),
        "is_night": around.is_night,
        "is_wet": around.is_wet,
    }
    return {name: fixed(value) for name, value in values.items()}


def fixed(value: Value) -> Value:
    """Return a value as evidence keeps it: numbers at 1e-6."""
    return quantise(value, METRE_STEP) if isinstance(value, float) else value


def judge(predicate: Predicate, value: Value) -> Fact:
    """Hold a measured value against a predicate; `equals` shows as both limits."""
    if value is None:
        holds = predicate.fact in UNKNOWN_PASSES
    elif predicate.equals is not None:
        holds = bool(value) == predicate.equals
    else:
        number = float(value)
        holds = (predicate.at_least is None or number >= predicate.at_least) and (
            predicate.at_most is None or number <= predicate.at_most
        )
    limits = (predicate.at_least, predicate.at_most)
    if predicate.equals is not None:
        limits = (float(predicate.equals), float(predicate.equals))
    return Fact(name=predicate.fact, value=value, at_least=limits[0], at_most=limits[1], holds=holds)


def _gap_to(around: Surroundings, kind: AnchorKind) -> float | None:
    ahead = around.anchors(kind)
    return ahead[0].start_m - around.bumper_arc if ahead else None


def _turn_deg(around: Surroundings) -> float | None:
    """Return the largest turn; None when the course is not a lane's."""
    if around.course.source != "lanes":
        return None
    headings = around.course.poses(np.arange(0.0, TURN_REACH_M + 0.5, 1.0), 0.0)[:, 2]
    return max(abs(float(np.rad2deg(wrap(float(heading - headings[0]))))) for heading in headings)


def _turned_deg(around: Surroundings, candidate: Candidate) -> float | None:
    if around.course.source != "lanes":
        return None
    here, there = around.course.poses(np.array([0.0, _middle_arc(around, candidate)]), 0.0)[:, 2].tolist()
    return abs(float(np.rad2deg(wrap(there - here))))


def _middle_arc(around: Surroundings, candidate: Candidate) -> float:
    """Return the arc length of the region's middle."""
    return float(around.course.locate(candidate.quad)[:, 0].mean())


def _room(around: Surroundings, candidate: Candidate) -> float:
    """Return the distance to the nearest object; a part's own vehicle does not count."""
    body = shapely.Polygon(candidate.swept)
    if candidate.placement.kind != "attached":
        return around.room(body)
    others = [one.kept for one in around.neighbours if one.note.token != candidate.placement.annotation]
    return min([FAR_M, *(float(shapely.distance(kept, body)) for kept in others)])


def _parked_beside(around: Surroundings, candidate: Candidate) -> float | None:
    """Return the distance to the nearest parked vehicle on the hazard's side of the lane's middle."""
    body = shapely.Polygon(candidate.swept)
    side = float(around.course.locate(candidate.solid[:, :2].mean(axis=0)[None])[0, 1])
    beside = [one for one in around.parked_beside if float(around.place_of(one)[:, 1].mean()) * side >= 0]
    return min((float(shapely.distance(shapely.Polygon(one.footprint), body)) for one in beside), default=None)


def _is_signalised(around: Surroundings, candidate: Candidate) -> bool | None:
    """Tell whether lights rule the stop at the place; None without a stop or where its kind is not told."""
    stop = nearest(around.anchors("stop_line"), _middle_arc(around, candidate))
    if stop is None or stop.line_kind == "unknown":
        return None
    return stop.line_kind == "traffic_light"


def _oncoming_beside(around: Surroundings, candidate: Candidate) -> bool | None:
    """Tell whether the lane to the left runs the other way; None when the map knows no lanes."""
    if not around.knows_lanes or around.course.source != "lanes":
        return None
    arc = candidate.arc_m
    x, y, heading = around.course.poses(np.array([arc]), around.width_at(arc))[0].tolist()
    for lane in around.keyframe.map.lanes:
        line = np.array(lane.centreline)
        if len(line) < 2 or not union_of((lane.area,)).contains(shapely.Point(x, y)):
            continue
        start = min(int(np.argmin(np.hypot(line[:, 0] - x, line[:, 1] - y))), len(line) - 2)
        way = line[start + 1] - line[start]
        if abs(wrap(float(np.arctan2(way[1], way[0])) - heading)) > ONCOMING_RAD:
            return True
    return False


def _on(around: Surroundings, area: Any, candidate: Candidate) -> bool | None:
    """Tell whether the target's middle lies in a mapped area; None when the map knows none."""
    return bool(area.intersects(candidate.target.centroid)) if around.knows_lanes else None


PLACE_FACTS: Final[dict[str, Callable[[Surroundings, Candidate], Value]]] = {
    "lane_width_m": lambda around, one: around.width_at(one.arc_m),
    "lane_is_drivable": lambda around, one: around.is_drivable(one.target),
    "target_gap_m": lambda around, one: one.gap_m,
    "way_is_clear": lambda around, one: around.free_length_m >= min(one.gap_m, FAR_M),
    "occluder_gap_m": lambda around, one: one.occluder_gap_m,
    "clear_of_objects_m": _room,
    "start_distance_m": lambda around, one: clearance(around.ego_body, shapely.Polygon(one.quad)),
    "parked_beside_m": _parked_beside,
    "turned_deg": _turned_deg,
    "in_intersection": lambda around, one: _on(around, around.intersections, one),
    "on_crossing": lambda around, one: _on(around, around.crossings, one),
    "is_signalised": _is_signalised,
    "oncoming_beside": _oncoming_beside,
}
"""What holds for one place, by name; None where it cannot be measured."""
