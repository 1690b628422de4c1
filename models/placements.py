"""Where a task's hazard could go: candidates in a seeded order, each with its shape and the ground it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import EGO_WIDTH_M, Array, Transform, convex_quad, rectangle, yaw_rotation
from data_registry.identity import seed_for
from data_registry.records import Box, Placement, Standing, Surface, Xy
from models.surroundings import Neighbour, Surroundings
from prompts.taxonomy import Appearance, TaskSpec

EMERGING_GAPS_M: Final = (0.4, 0.7, 1.0, 1.4, 1.8, 2.2)
"""Distances along the lane between an occluding object's far end and the hazard behind it that are tried."""
EMERGING_STEPS_M: Final = (0.2, 0.45, 0.7)
"""How far the hazard's centre has come past the occluding object's side towards the lane that is tried, metres."""
OCCLUDER_REACH_M: Final = 3.0
"""An object up to this far beside the lane's edge can hide a hazard that steps into the lane."""
KERB_ROOM_M: Final = 0.3
SURFACE_CORNERS: Final = 16
RAGGED: Final = 0.12
"""Corners of a surface hazard's outline, and how far it is cut in at most, as a share of its radius."""
TWO_WHEELED: Final = ("vehicle.bicycle", "vehicle.motorcycle")


class UnsupportedTaskError(ValueError):
    """A task asks for a kind of placement or region that the rules cannot make."""


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
        swept: (N, 2) convex outline of the ground that it takes.
        quad: (4, 2) the expected region.
        target: plan area that must be drivable: the region, of a moving hazard its part within the lane.
        solid: (N, 3) points whose convex hull the hazard fills.
        gap_m: from the bumper along the lane to the nearest point of the region.
        arc_m: arc length of the hazard's centre.
        occluder_gap_m: from the occluding object's far end to the hazard; None when nothing hides it.
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


@dataclass(frozen=True, slots=True)
class _Spot:
    """A pose on the course and what hides it: arc length, lateral offset, heading to the lane (radians)."""

    arc_m: float
    lateral_m: float
    heading: float
    occluder_gap_m: float | None = None


def candidates(around: Surroundings, task: TaskSpec, rules: PlacingRules) -> Iterator[Candidate]:
    """Yield the places of a task's hazard whose gap lies in the task's range, in a seeded order.

    Raises:
        UnsupportedTaskError: the task's placement is mounted or attached, or its region a conflict area.
    """
    if task.placement.kind not in ("standing", "surface") or task.region.rule == "conflict":
        raise UnsupportedTaskError(
            f"task {task.id}: the rule screener places standing and surface hazards with footprint regions, not"
            f" {task.placement.kind} ones with rule {task.region.rule}; screen it with another back end"
        )
    appearance = task.appearances[int(rules.draw("appearance") * len(task.appearances))]
    size = _size(appearance, rules)
    for spot in _spots(around, task, size, rules):
        yield _candidate(around, task, appearance.name, size, spot)


def _size(appearance: Appearance, rules: PlacingRules) -> tuple[float, float, float]:
    """Draw length, width and height within the appearance's ranges, fixed at a millimetre."""
    ranges = (appearance.size_m.length, appearance.size_m.width, appearance.size_m.height)
    drawn = [r.low + rules.draw("size", axis) * (r.high - r.low) for axis, r in enumerate(ranges)]
    return round(drawn[0], 3), round(drawn[1], 3), round(drawn[2], 3)


def _spots(around: Surroundings, task: TaskSpec, size: tuple[float, float, float], rules: PlacingRules) -> list[_Spot]:
    """Return the spots to try, those with a gap in range only."""
    heading = float(np.deg2rad(task.placement.heading_deg))
    half = _half_extent(size, heading)
    if task.placement.behind_occluder:
        hidden = [
            spot
            for neighbour in around.neighbours
            for spot in _behind(around, neighbour, half, heading)
            if task.placement.gap_m.low <= spot.arc_m - half - around.bumper_arc <= task.placement.gap_m.high
        ]
        if hidden:
            return _turned(hidden, rules.draw("spot"))
    low, high = task.placement.gap_m.low, task.placement.gap_m.high
    gaps = np.unique(np.append(np.arange(low, high, rules.gap_step_m), high))
    spots = [_beside(around, task, size, around.bumper_arc + float(gap) + half) for gap in gaps]
    return _turned(spots, rules.draw("spot"))


def _turned(spots: list[_Spot], share: float) -> list[_Spot]:
    first = int(share * len(spots))
    return spots[first:] + spots[:first]


def _half_extent(size: tuple[float, float, float], heading: float) -> float:
    """Return half the extent along the lane of a body at a heading to the lane."""
    return abs(size[0] * np.cos(heading)) / 2 + abs(size[1] * np.sin(heading)) / 2


def _beside(around: Surroundings, task: TaskSpec, size: tuple[float, float, float], arc: float) -> _Spot:
    """Return the spot in the task's lane at an arc length; a hazard that moves starts at the lane's right edge."""
    heading = float(np.deg2rad(task.placement.heading_deg))
    width = around.course.width_at(arc)
    lateral = {"ego": 0.0, "left": width, "right": -width, "kerb": 0.0}[task.placement.lane]
    across = abs(size[0] * np.sin(heading)) / 2 + abs(size[1] * np.cos(heading)) / 2
    if task.placement.lane == "kerb":
        lateral = _kerb(around, arc) + KERB_ROOM_M + across
    elif task.region.rule == "footprint_swept":
        lateral -= width / 2
    return _Spot(arc, lateral, heading)


def _kerb(around: Surroundings, arc: float) -> float:
    """Return the lateral offset of the drivable ground's right edge, seen from the lane; its own edge if unknown."""
    middle, out = around.course.poses(np.array([arc]), 0.0)[0, :2], around.course.poses(np.array([arc]), -15.0)[0, :2]
    ground = shapely.intersection(shapely.LineString([middle, out]), around.drivable)
    for piece in shapely.get_parts(ground):
        if piece.distance(shapely.Point(middle)) < 0.3:
            return -float(piece.length)
    return -around.course.width_at(arc) / 2


def _behind(around: Surroundings, neighbour: Neighbour, half: float, heading: float) -> Iterator[_Spot]:
    """Yield spots right behind an object that stands beside the ego's way, stepping out towards the lane."""
    category = neighbour.note.category
    if not neighbour.stands or not category.startswith("vehicle.") or category.startswith(TWO_WHEELED):
        return
    place = around.course.locate(neighbour.footprint)
    side = 1.0 if float(place[:, 1].mean()) < 0 else -1.0
    edge = float((place[:, 1] * side).max())
    beside = -edge - EGO_WIDTH_M / 2
    if beside <= 0 or -edge > around.course.width_at(float(place[:, 0].max())) / 2 + OCCLUDER_REACH_M:
        return
    for gap in EMERGING_GAPS_M:
        for step in EMERGING_STEPS_M:
            lateral = side * (edge + step)
            yield _Spot(float(place[:, 0].max()) + gap + half, lateral, side * heading, gap)


def _candidate(
    around: Surroundings, task: TaskSpec, appearance: str, size: tuple[float, float, float], spot: _Spot
) -> Candidate:
    x, y, along = around.course.poses(np.array([spot.arc_m]), spot.lateral_m)[0].tolist()
    yaw = along + spot.heading
    if task.placement.kind == "surface":
        body = _ragged(x, y, yaw, size)
        placement: Placement = Surface(polygon=tuple((float(px), float(py)) for px, py in body))
        solid = around.keyframe.ground.lift(body)
    else:
        body = rectangle((x, y), size[0], size[1], yaw)
        placement = _standing(around, (x, y), yaw, size)
        solid = placement.box.corners()
    way = np.array([np.cos(yaw), np.sin(yaw)]) * task.region.speed * task.region.seconds
    swept: Any = shapely.convex_hull(shapely.multipoints(np.concatenate([body, body + way])))
    quad = np.round(convex_quad(swept), 6)
    target: Any = shapely.Polygon(quad)
    if task.region.rule == "footprint_swept":
        lane = around.course.strip(around.course.width_at(spot.arc_m) / 2)
        target = shapely.intersection(target, lane) if target.intersects(lane) else target
    gap = float(around.course.locate(quad)[:, 0].min()) - around.bumper_arc
    outline = np.asarray(swept.exterior.coords)[:-1]
    return Candidate(placement, appearance, outline, quad, target, solid, gap, spot.arc_m, spot.occluder_gap_m)


def _standing(around: Surroundings, at: Xy, yaw: float, size: tuple[float, float, float]) -> Standing:
    """Stand a box upright on the local ground."""
    ground = float(around.keyframe.ground.height_at(np.array([at]))[0])
    rotation = Transform(yaw_rotation(yaw), np.zeros(3)).quaternion()
    box = Box(centre=(at[0], at[1], ground + size[2] / 2), size=size, rotation=rotation)
    on_road = bool(around.drivable.buffer(0.1).covers(shapely.Point(at)))
    return Standing(box=box, surface="road" if on_road else "pavement")


def _ragged(x: float, y: float, yaw: float, size: tuple[float, float, float]) -> Array:
    """Return an uneven outline (16, 2) within a rounded rectangle of the given length and width, touching its sides."""
    turn = np.arange(SURFACE_CORNERS) * (2 * np.pi / SURFACE_CORNERS)
    rough = 0.5 + 0.5 * np.sin(5 * turn + 7.0 * size[0] + 13.0 * size[1])
    rounded = (np.cos(turn) ** 4 + np.sin(turn) ** 4) ** -0.25
    radius = rounded * np.where(np.arange(SURFACE_CORNERS) % 4 == 0, 1.0, 1.0 - RAGGED * rough)
    local = np.column_stack([np.cos(turn) * size[0], np.sin(turn) * size[1]]) / 2 * radius[:, None]
    turned = local @ yaw_rotation(yaw)[:2, :2].T
    return turned + np.array([x, y])
