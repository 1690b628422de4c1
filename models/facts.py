"""Measures what task files may ask about (`prompts.facts.FACTS`): of the scene once, of each place, of its sights."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely

from data_registry.conflict_areas import AnchorKind, nearest
from data_registry.courses import union_of
from data_registry.identity import METRE_STEP, quantise
from data_registry.paths import clearance, wrap
from data_registry.records import Fact
from models.placements import Candidate
from models.sights import Sight
from models.surroundings import FAR_M, Surroundings
from prompts.facts import UNKNOWN_PASSES
from prompts.taxonomy import Predicate

Value = float | bool | str | None
Values = dict[str, Value]

TURN_REACH_M: Final = 40.0
"""A turn of the lane counts this far ahead."""
ONCOMING_RAD: Final = float(np.deg2rad(120.0))
"""A lane whose direction differs by more runs the other way."""
SIGHT_FACTS: Final = frozenset({"views_count", "projected_height_px"})
"""Facts that need pictures' geometry: dear, so measured only for places that hold without them."""


def scene_facts(around: Surroundings) -> Values:
    """Return what holds for all places."""
    return _fixed(
        {
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
    )


def place_facts(around: Surroundings, candidate: Candidate, braking: float | None) -> Values:
    """Return what holds for one place; None where it cannot be measured."""
    middle: Any = candidate.target.centroid
    knows = around.knows_lanes
    return _fixed(
        {
            "lane_width_m": around.width_at(candidate.arc_m),
            "lane_is_drivable": around.is_drivable(candidate.target),
            "target_gap_m": candidate.gap_m,
            "way_is_clear": around.free_length_m >= min(candidate.gap_m, FAR_M),
            "occluder_gap_m": candidate.occluder_gap_m,
            "clear_of_objects_m": _room(around, candidate),
            "start_distance_m": clearance(around.ego_body, shapely.Polygon(candidate.quad)),
            "required_decel": braking,
            "parked_beside_m": _parked_beside(around, candidate),
            "turned_deg": _turned_deg(around, float(around.course.locate(candidate.quad)[:, 0].mean())),
            "in_intersection": bool(around.intersections.intersects(middle)) if knows else None,
            "on_crossing": bool(around.crossings.intersects(middle)) if knows else None,
            "is_signalised": _is_signalised(around, candidate),
            "oncoming_beside": _oncoming_beside(around, round(candidate.arc_m)),
        }
    )


def sight_facts(seen: tuple[Sight, ...]) -> Values:
    """Return what the cameras see of a place."""
    height = max((sight.height_px for sight in seen), default=0.0)
    return _fixed({"views_count": float(len(seen)), "projected_height_px": height})


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


def _fixed(values: Values) -> Values:
    return {name: quantise(v, METRE_STEP) if isinstance(v, float) else v for name, v in values.items()}


def _gap_to(around: Surroundings, kind: AnchorKind) -> float | None:
    ahead = around.anchors(kind)
    return ahead[0].start_m - around.bumper_arc if ahead else None


def _turn_deg(around: Surroundings) -> float | None:
    """Return the largest turn; None when the course is not a lane's."""
    if around.course.source != "lanes":
        return None
    headings = around.course.poses(np.arange(0.0, TURN_REACH_M + 0.5, 1.0), 0.0)[:, 2]
    return max(abs(float(np.rad2deg(wrap(float(heading - headings[0]))))) for heading in headings)


def _turned_deg(around: Surroundings, arc: float) -> float | None:
    if around.course.source != "lanes":
        return None
    here, there = around.course.poses(np.array([0.0, arc]), 0.0)[:, 2].tolist()
    return abs(float(np.rad2deg(wrap(there - here))))


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
    middle = float(around.course.locate(candidate.quad)[:, 0].mean())
    stop = nearest(around.anchors("stop_line"), middle)
    if stop is None or stop.line_kind == "unknown":
        return None
    return stop.line_kind == "traffic_light"


def _oncoming_beside(around: Surroundings, arc: float) -> bool | None:
    """Tell whether the lane to the left runs the other way; None when the map knows no lanes."""
    if not around.knows_lanes or around.course.source != "lanes":
        return None
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
