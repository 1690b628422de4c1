"""Ground to be kept free for a reason other than that a body stands on it: behind a stop, on a crossing, on the way.

Pure functions of the keyframe's map, the ego's course and where a hazard is: the screener expects regions with them and
localizers find regions with them. All areas are plan areas in the ego frame at time 0, metres; arc lengths are along
the course, 0 beside the ego origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Literal

import numpy as np
import shapely

from data_registry.courses import REACH_M, Course, union_of, valid_area
from data_registry.geometry import EGO_FRONT_M, Array, GeometryError, convex_quad
from data_registry.records import LEAST_REGION_M2, MapPatch

AnchorKind = Literal["range", "junction", "crossing", "stop_line"]
AreaKind = Literal["lane_beyond", "crossing", "overlap"]

BEFORE_CROSSING_M: Final = 1.0
"""Where no stop line is mapped, vehicles hold this far before a crossing, and at the edge of a junction."""
SAME_STOP_M: Final = 10.0
"""A stop line this far before a junction or crossing belongs to it: it needs no other."""
THROUGH_M: Final = 0.5
"""The course goes through a junction or crossing when this much of it lies inside."""
THINNEST_LINE_M: Final = 0.05
"""Stop lines are mapped as thin as they are painted."""


class NoConflictAreaError(ValueError):
    """The map, or where the hazard is, gives no such area."""


@dataclass(frozen=True, slots=True)
class AreaRule:
    """How a conflict area follows from a hazard: a task's region rule without its words.

    Attributes:
        area: the lane behind the anchor, the crossing within the lane, or what the hazard sweeps of the lane.
        anchor: what the hazard's place is tied to; range: nothing.
        depth_m: for lane_beyond: how far the area reaches along the lane.
        speed: for overlap: m/s along the hazard's heading.
        seconds: for overlap: how long it moves.
    """

    area: AreaKind
    anchor: AnchorKind = "range"
    depth_m: float = 0.0
    speed: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """A junction, crossing or stop that the course comes to.

    Attributes:
        kind: what it is.
        start_m: arc length where the course enters it; of a stop the place where vehicles hold.
        end_m: arc length where the course leaves it; of a stop the same as `start_m`.
        area: its plan area; of a stop the stop line's, empty where none is mapped.
        line_kind: for stops: the kind of the mapped stop line, None where none is mapped.
    """

    kind: AnchorKind
    start_m: float
    end_m: float
    area: Any
    line_kind: str | None = None


def bumper_arc(course: Course) -> float:
    """Return the arc length of the ego's front bumper, metres."""
    return float(course.locate(np.array([[EGO_FRONT_M, 0.0]]))[0, 0])


def anchors(patch: MapPatch, course: Course, kind: AnchorKind) -> tuple[Anchor, ...]:
    """Return what the course comes to ahead of the bumper, nearest first; nothing for `range` or without lanes."""
    if kind == "range" or patch.source != "expansion":
        return ()
    found = _stops(patch, course) if kind == "stop_line" else _entered(patch, course, kind)
    ahead = [anchor for anchor in found if anchor.start_m >= bumper_arc(course)]
    return tuple(sorted(ahead, key=lambda anchor: (anchor.start_m, anchor.end_m)))


def nearest(found: Sequence[Anchor], arc_m: float) -> Anchor | None:
    """Return the anchor that is nearest to an arc length, the first of equals; None without any."""
    return min(found, key=lambda one: max(one.start_m - arc_m, arc_m - one.end_m, 0.0), default=None)


def conflict_area(patch: MapPatch, course: Course, rule: AreaRule, footprint: Array, heading: float) -> Any:
    """Return the plan area that a hazard makes a conflict area.

    Args:
        patch: the keyframe's map.
        course: the ego's course (`courses.ego_course`).
        rule: what the area follows from.
        footprint: (K, 2) plan outline of the hazard's box.
        heading: the hazard's heading, ego frame, radians.

    Raises:
        NoConflictAreaError: the map has no such crossing, or the hazard's way does not meet the lane.
    """
    return area_at(course, rule, anchors(patch, course, rule.anchor), footprint, heading)


def area_at(course: Course, rule: AreaRule, found: Sequence[Anchor], footprint: Array, heading: float) -> Any:
    """Return the same with the anchors of the rule's kind given; raises NoConflictAreaError."""
    arc = float(course.locate(np.asarray(footprint).mean(axis=0)[None])[0, 0])
    anchor = nearest(found, arc)
    if rule.area == "lane_beyond":
        start = anchor.start_m if anchor is not None else arc
        return lane_piece(course, start, start + rule.depth_m)
    if rule.area == "overlap":
        return swept_of_lane(course, footprint, heading, rule.speed * rule.seconds)
    if anchor is None:
        raise NoConflictAreaError("the map has no crossing ahead on the ego's way")
    return _enough(anchor.area.intersection(lane_piece(course, anchor.start_m - 5.0, anchor.end_m + 5.0)))


def lane_piece(course: Course, start_m: float, end_m: float) -> Any:
    """Return the lane between two arc lengths, as wide as it is in their middle."""
    half = course.width_at((start_m + end_m) / 2) / 2
    arc = np.concatenate([[start_m], course.arc[(course.arc > start_m) & (course.arc < end_m)], [end_m]])
    right, left = course.poses(arc, -half)[:, :2], course.poses(arc, half)[:, :2]
    pieces = shapely.get_parts(valid_area(shapely.Polygon(np.vstack([right, left[::-1]]))))
    # where a bend begins the sides may cross: slivers are no lane
    return max(pieces, key=lambda piece: piece.area, default=shapely.Polygon())


def swept_of_lane(course: Course, footprint: Array, heading: float, way_m: float) -> Any:
    """Return what a body (K, 2) that moves `way_m` along its heading sweeps of the ego's lane.

    Raises:
        NoConflictAreaError: it does not come into the lane.
    """
    way = np.array([np.cos(heading), np.sin(heading)]) * way_m
    swept: Any = shapely.convex_hull(shapely.multipoints(np.concatenate([footprint, footprint + way])))
    arcs = course.locate(np.asarray(swept.exterior.coords))[:, 0]
    return _enough(swept.intersection(lane_piece(course, float(arcs.min()) - 5.0, float(arcs.max()) + 5.0)))


def area_quad(area: Any) -> Array:
    """Return four counter-clockwise corners (4, 2) for an area: the smallest rectangle around it.

    Raises:
        NoConflictAreaError: the area is too small to be a region.
    """
    try:
        return convex_quad(_enough(area))
    except GeometryError as error:
        raise NoConflictAreaError(str(error)) from error


def _enough(area: Any) -> Any:
    """Return the largest part of an area; raises NoConflictAreaError when it is too small to be a region."""
    pieces = [piece for piece in shapely.get_parts(area) if piece.geom_type == "Polygon"]
    largest = max(pieces, key=lambda piece: (piece.area, piece.wkb), default=None)
    if largest is None or largest.area < LEAST_REGION_M2:
        raise NoConflictAreaError("the conflict area does not reach into the ego's lane")
    return largest


def _entered(patch: MapPatch, course: Course, kind: AnchorKind) -> list[Anchor]:
    if kind == "junction":
        areas = list(shapely.get_parts(union_of(patch.intersections)))
    else:
        areas = [union_of((area,)) for area in patch.crossings]
    return [Anchor(kind, start, end, area) for area in areas for start, end in _intervals(course, area)]


def _intervals(course: Course, area: Any, least_m: float = THROUGH_M) -> list[tuple[float, float]]:
    """Return the arc lengths ahead between which the course lies inside an area, for `least_m` at least."""
    arc = np.concatenate([[0.0], course.arc[(course.arc > 0) & (course.arc < REACH_M)], [REACH_M]])
    line = shapely.LineString(course.poses(arc, 0.0)[:, :2])
    found: list[tuple[float, float]] = []
    for piece in shapely.get_parts(shapely.line_merge(line.intersection(area))):
        if piece.geom_type != "LineString" or piece.length < least_m:
            continue
        ends = [line.project(shapely.Point(end)) for end in (piece.coords[0], piece.coords[-1])]
        found.append((float(min(ends)), float(max(ends))))
    return found


def _stops(patch: MapPatch, course: Course) -> list[Anchor]:
    """Return where vehicles hold: at the far edge of mapped stop areas, else before crossings and junctions."""
    found = [
        Anchor("stop_line", end, end, union_of((line.area,)), line.kind)
        for line in patch.stop_lines
        if line.kind != "turn_stop"
        for _, end in _intervals(course, union_of((line.area,)), THINNEST_LINE_M)
    ]
    crossings = [(one.start_m, one.start_m - BEFORE_CROSSING_M) for one in _entered(patch, course, "crossing")]
    junctions = [(one.start_m, one.start_m) for one in _entered(patch, course, "junction")]
    for start, hold in chain(sorted(crossings), sorted(junctions)):
        if not any(start - SAME_STOP_M <= stop.start_m <= start + THROUGH_M for stop in found):
            found.append(Anchor("stop_line", hold, hold, shapely.Polygon()))
    return found
