"""The lane that the ego vehicle follows, as a line with an arc length, and which ground is drivable.

With map lanes the course is the centreline of the ego's lane and of those that follow, chosen by the recorded path;
without lanes it is straight ahead. Arc length 0 is the point nearest to the ego origin; left of the line is positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import shapely

from data_registry.geometry import EGO_AXLE_TO_CENTRE_M, Array
from data_registry.records import Area, Keyframe, Lane, MapPatch

REACH_M: Final = 80.0
"""A course is known, by extrapolation where the map ends, this far ahead and a quarter of it behind."""
ASSUMED_LANE_WIDTH_M: Final = 3.5
MOST_CHAINS: Final = 64
NEAREST_LANE_M: Final = 0.5
LARGEST_TURN: Final = np.pi / 4
"""A lane this much off the ego's heading, or this far from its centre, is not the ego's."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """A line to follow.

    Attributes:
        points: (N, 2), ego frame, metres.
        arc: (N,) arc length at the points, 0 beside the ego origin.
        ego_lateral: offset of the ego origin from the line, left positive, metres.
        area: plan area of the lanes; without lanes a strip of the assumed width.
        source: what the line was made from.
    """

    points: Array
    arc: Array
    ego_lateral: float
    area: Any
    source: Literal["lanes", "straight"]

    def poses(self, arc: Array, lateral: float) -> Array:
        """Return poses (K, 3) of x, y, heading at arc lengths (K,), `lateral` metres left of the line."""
        x, y = (np.interp(arc, self.arc, self.points[:, axis]) for axis in (0, 1))
        segment = np.clip(np.searchsorted(self.arc, arc, side="right") - 1, 0, len(self.arc) - 2)
        way = self.points[segment + 1] - self.points[segment]
        heading = np.arctan2(way[:, 1], way[:, 0])
        return np.column_stack([x - lateral * np.sin(heading), y + lateral * np.cos(heading), heading])

    def locate(self, points: Array) -> Array:
        """Return (K, 2) arc length and lateral offset of plan points (K, 2)."""
        start, way = self.points[:-1], np.diff(self.points, axis=0)
        length = np.diff(self.arc)
        offset = points[:, None, :] - start[None]
        along = np.clip((offset * way).sum(axis=2) / length**2, 0.0, 1.0)
        miss = offset - along[..., None] * way
        best = np.argmin((miss**2).sum(axis=2), axis=1)
        row = np.arange(len(points))
        cross = way[best, 0] * offset[row, best, 1] - way[best, 1] * offset[row, best, 0]
        return np.column_stack([self.arc[best] + along[row, best] * length[best], cross / length[best]])

    def width_at(self, arc: float) -> float:
        """Return the lane's width across the line at an arc length, metres; the assumed width where it is unknown."""
        pose = self.poses(np.array([arc]), 0.0)[0]
        side = np.array([-np.sin(pose[2]), np.cos(pose[2])])
        across: Any = shapely.intersection(
            shapely.linestrings([pose[:2] - 10.0 * side, pose[:2] + 10.0 * side]), self.area
        )
        middle = shapely.points(pose[:2])
        for piece in getattr(across, "geoms", (across,)):
            if piece.length > 1.0 and piece.distance(middle) < 0.3:
                return float(piece.length)
        return ASSUMED_LANE_WIDTH_M

    def strip(self, half_width: float, ahead_m: float = REACH_M) -> Any:
        """Return the plan area within `half_width` of the line, from the ego origin to `ahead_m`, metres."""
        arc = np.concatenate([[0.0], self.arc[(self.arc > 0) & (self.arc < ahead_m)], [ahead_m]])
        return shapely.LineString(self.poses(arc, 0.0)[:, :2]).buffer(half_width, cap_style="flat")


def ego_course(keyframe: Keyframe) -> Course:
    """Return the course of the ego's lane: among all chains of lanes the one nearest to the recorded path.

    Where the recorded path ends before chains part, it is the one that turns least.
    """
    ahead = [(point.x, point.y) for point in keyframe.motion.future if 0 < point.t <= 3.0]
    reference = np.array([(0.0, 0.0), *ahead]) if ahead else np.array([(x, 0.0) for x in (0.0, 5.0, 10.0, 15.0)])
    lanes = {lane.token: lane for lane in keyframe.map.lanes if len(lane.centreline) >= 2}
    best: tuple[float, float, tuple[str, ...]] | None = None
    for chain in _chains(lanes):
        course = _course([lanes[token] for token in chain])
        score = float(np.abs(course.locate(reference)[:, 1]).mean()) + abs(_turn(course))
        found = round(score, 6), round(_bend(course), 3), chain
        if best is None or found < best:
            best = found
    return _course([lanes[token] for token in best[2]]) if best else straight_course()


def straight_course() -> Course:
    """Return the course straight ahead, with the assumed lane width."""
    points = np.array([(-REACH_M / 4, 0.0), (0.0, 0.0), (REACH_M, 0.0)])
    half = ASSUMED_LANE_WIDTH_M / 2
    return Course(points, points[:, 0].copy(), 0.0, shapely.box(-REACH_M / 4, -half, REACH_M, half), "straight")


def drivable_ground(patch: MapPatch, course: Course) -> Any:
    """Return the drivable plan area; without any map the assumed lane itself."""
    return union_of(patch.drivable) if patch.drivable else course.area


def union_of(areas: tuple[Area, ...]) -> Any:
    """Return the union of map areas as one valid shapely area; of rings that cross themselves every part counts."""
    return shapely.union_all([valid_area(shapely.Polygon(area.exterior, area.holes)) for area in areas])


def valid_area(polygon: shapely.Polygon) -> Any:
    """Return all that a polygon encloses as a valid area.

    Of a ring that crosses itself a buffer of 0 keeps one side only, and `make_valid` makes a hole of what it encloses
    twice, as lanes that turn sharply do: together they keep both.
    """
    if polygon.is_valid:
        return polygon
    pieces: Any = shapely.get_parts(shapely.make_valid(polygon))
    areas = [piece for piece in pieces if shapely.get_dimensions(piece) == 2]
    return shapely.union_all([*areas, polygon.buffer(0)])


def _chains(lanes: dict[str, Lane]) -> Iterator[tuple[str, ...]]:
    """Yield chains of lane tokens that start under the ego vehicle and reach far enough, at most MOST_CHAINS."""
    centre = shapely.Point(EGO_AXLE_TO_CENTRE_M, 0.0)
    starts = [token for token in sorted(lanes) if union_of((lanes[token].area,)).distance(centre) <= NEAREST_LANE_M]
    open_chains: list[tuple[str, ...]] = [
        (token,) for token in starts if abs(_turn(_course([lanes[token]]))) <= LARGEST_TURN
    ]
    given = 0
    while open_chains and given < MOST_CHAINS:
        chain = open_chains.pop(0)
        last = list(chain)[-1]
        after = [token for token in lanes[last].successors if token in lanes and token not in chain]
        if not after or len(chain) >= 6 or _ahead(lanes[last]) > REACH_M:
            given += 1
            yield chain
        open_chains.extend((*chain, token) for token in after if len(chain) < 6 and _ahead(lanes[last]) <= REACH_M)


def _ahead(lane: Lane) -> float:
    return float(np.hypot(*lane.centreline[-1]))


def _bend(course: Course) -> float:
    """Return how far the course has turned at its reach, radians."""
    start, end = course.poses(np.array([0.0, REACH_M]), 0.0)[:, 2].tolist()
    return abs((end - start + np.pi) % (2 * np.pi) - np.pi)


def _turn(course: Course) -> float:
    return float(course.poses(np.array([0.0]), 0.0)[0, 2])


def _course(chain: list[Lane]) -> Course:
    points = np.concatenate([np.array(lane.centreline) for lane in chain])
    keep = np.concatenate([[True], np.hypot(*np.diff(points, axis=0).T) > 1e-3])
    points = _extended(points[keep])
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    raw = Course(points, arc, 0.0, None, "lanes")
    here = raw.locate(np.zeros((1, 2)))[0]
    return Course(points, arc - here[0], float(here[1]), union_of(tuple(lane.area for lane in chain)), "lanes")


def _extended(points: Array) -> Array:
    """Continue a line straight at both ends, so that it covers the ego's surroundings."""
    first, last = points[0] - points[1], points[-1] - points[-2]
    before = points[0] + first / np.hypot(*first) * REACH_M
    beyond = points[-1] + last / np.hypot(*last) * REACH_M
    return np.vstack([before, points, beyond])
