"""What is around the ego vehicle at a keyframe, measured once for all placements that are tried."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeVar

import numpy as np
import shapely

from data_registry.cameras import pinhole
from data_registry.conflict_areas import Anchor, AnchorKind, anchors, bumper_arc
from data_registry.courses import Course, drivable_ground, ego_course, union_of
from data_registry.geometry import EGO_WIDTH_M, Array, PinholeCamera, ego_footprints
from data_registry.paths import lane_keep, recorded, tube
from data_registry.projection import outline
from data_registry.records import Annotation, Keyframe

MOVING_MPS: Final = 0.5
"""Objects slower than this stand."""
FAR_M: Final = 60.0
"""Distances are not told apart beyond this."""
EDGE_M: Final = 0.1
"""How well the edge of drivable ground is known: a pixel of the map mask."""
BESIDE_REACH_M: Final = 3.0
"""An object up to this far beside the lane's edge stands beside the lane."""
KERB_REACH_M: Final = 15.0
"""The edge of the ground is looked for up to this far beside the course."""
TWO_WHEELED: Final = ("vehicle.bicycle", "vehicle.motorcycle")
FREE_BESIDE_M: Final = 0.2
"""Room that the ego body needs on each side for ground ahead to count as free."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Neighbour:
    """An annotated object: its footprint (4, 2) and the ground it keeps over the near time."""

    note: Annotation
    footprint: Array
    kept: Any

    @property
    def stands(self) -> bool:
        """Whether it does not move, as far as the log knows."""
        return self.note.velocity is None or float(np.hypot(*self.note.velocity)) < MOVING_MPS

    @property
    def is_standing_vehicle(self) -> bool:
        """Whether it is a vehicle that stands and is large enough to hide somebody."""
        category = self.note.category
        return self.stands and category.startswith("vehicle.") and not category.startswith(TWO_WHEELED)

    @property
    def is_parked(self) -> bool:
        """Whether it is such a vehicle without a driver about to drive, as far as the log knows."""
        driven = {"vehicle.moving", "vehicle.stopped"} & set(self.note.attributes)
        return self.is_standing_vehicle and not driven


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A keyframe as the screener looks at it; all areas are plan areas in the ego frame at time 0, metres."""

    keyframe: Keyframe
    course: Course
    drivable: Any
    neighbours: tuple[Neighbour, ...]

    @property
    def speed(self) -> float:
        """Ego speed at time 0, m/s."""
        return self.keyframe.motion.speed

    @cached_property
    def occupied(self) -> Any:
        """Ground that annotated objects keep."""
        return shapely.union_all([neighbour.kept for neighbour in self.neighbours])

    def room(self, area: Any) -> float:
        """Return the distance from an area, or the nearest of several, to objects' ground, metres, at most FAR_M."""
        return FAR_M if self.occupied.is_empty else min(FAR_M, float(np.min(shapely.distance(self.occupied, area))))

    @cached_property
    def _drivable_with_edge(self) -> Any:
        wider = self.drivable.buffer(EDGE_M)
        shapely.prepare(wider)
        return wider

    def is_drivable(self, area: Any) -> bool:
        """Tell whether an area, or all of several, lies on drivable ground; its edge is good to EDGE_M."""
        return bool(np.all(shapely.covers(self._drivable_with_edge, area)))

    @cached_property
    def lane(self) -> Any:
        """The ego's lane as a strip of its width here, prepared."""
        strip = self.course.strip(self.width_at(self.bumper_arc) / 2)
        shapely.prepare(strip)
        return strip

    def width_at(self, arc: float) -> float:
        """Return the ego lane's width at an arc length, metres."""
        place = round(arc, 3)  # measured there too, else what is remembered would depend on who asked first
        return self._remembered(("width", place), lambda: self.course.width_at(place))

    def right_edge(self, arc: float) -> float:
        """Return the lateral offset of the drivable ground's right edge, seen from the lane; its own edge if unknown.

        Where the ground goes on beyond KERB_REACH_M, it ends there.
        """
        place = round(arc, 3)
        return self._remembered(("right_edge", place), lambda: self._find_right_edge(place))

    def _find_right_edge(self, arc: float) -> float:
        at = np.array([arc])
        middle, out = self.course.poses(at, 0.0)[0, :2], self.course.poses(at, -KERB_REACH_M)[0, :2]
        ground = shapely.intersection(shapely.LineString([middle, out]), self.drivable)
        for piece in shapely.get_parts(ground):
            if piece.distance(shapely.Point(middle)) < 0.3:
                return -float(piece.length)
        return -self.width_at(arc) / 2

    def anchors(self, kind: AnchorKind) -> tuple[Anchor, ...]:
        """Return the junctions, crossings or stops ahead on the course, nearest first."""
        return self._remembered(("anchors", kind), lambda: anchors(self.keyframe.map, self.course, kind))

    @cached_property
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    def _remembered(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return what is known under a key, found once: many tasks ask about the same places."""
        if key not in self._memory:
            self._memory[key] = find()
        return self._memory[key]

    def place_of(self, neighbour: Neighbour) -> Array:
        """Return arc lengths and lateral offsets (4, 2) of an object's corners."""
        return self._remembered(("place", neighbour.note.token), lambda: self.course.locate(neighbour.footprint))

    def is_beside_lane(self, neighbour: Neighbour) -> bool:
        """Tell whether an object ahead stands beside the ego's way, not farther off than BESIDE_REACH_M."""
        place = self.place_of(neighbour)
        if float(place[:, 0].max()) < self.bumper_arc or place[:, 1].min() <= 0.0 <= place[:, 1].max():
            return False
        lateral = float(np.abs(place[:, 1]).min())
        return lateral <= self.width_at(float(place[:, 0].max())) / 2 + BESIDE_REACH_M

    @cached_property
    def parked_beside(self) -> tuple[Neighbour, ...]:
        """Parked vehicles ahead beside the ego's lane."""
        return tuple(one for one in self.neighbours if one.is_parked and self.is_beside_lane(one))

    @property
    def parked_cars(self) -> tuple[Neighbour, ...]:
        """Those of them that have front doors of a car; vans are cars in nuScenes."""
        return tuple(one for one in self.parked_beside if one.note.category.startswith("vehicle.car"))

    def outline_of(self, neighbour: Neighbour, sensor_id: str, camera: PinholeCamera) -> Any:
        """Return the picture area that an object's box covers, pixels."""
        return self._remembered(
            ("outline", neighbour.note.token, sensor_id), lambda: outline(neighbour.note.box.corners(), camera)
        )

    @cached_property
    def ego_body(self) -> Any:
        """The ego body at time 0."""
        return shapely.Polygon(ego_footprints(np.zeros((1, 3)))[0])

    @cached_property
    def lane_keep_tube(self) -> Any:
        """Ground that the ego sweeps when it follows its lane at constant speed."""
        return tube(lane_keep(self.speed, self.course))

    @cached_property
    def recorded_tube(self) -> Any | None:
        """Ground that the ego really swept; None when the log ends here."""
        path = recorded(self.keyframe.motion)
        return None if path is None else tube(path)

    @cached_property
    def bumper_arc(self) -> float:
        """Arc length of the front bumper along the course, metres."""
        return bumper_arc(self.course)

    @cached_property
    def free_length_m(self) -> float:
        """Length of the ego's way ahead of the bumper that no object stands on, metres, at most FAR_M."""
        strip = self.course.strip(EGO_WIDTH_M / 2 + FREE_BESIDE_M)
        ahead = [FAR_M]
        for neighbour in self.neighbours:
            part = shapely.intersection(strip, shapely.Polygon(neighbour.footprint))
            if part.is_empty:
                continue
            arc = self.course.locate(shapely.get_coordinates(part))[:, 0].min() - self.bumper_arc
            if arc > -1.0:
                ahead.append(max(0.0, float(arc)))
        return min(ahead)

    @cached_property
    def intersections(self) -> Any:
        """Area of the map's intersections."""
        return union_of(self.keyframe.map.intersections)

    @cached_property
    def crossings(self) -> Any:
        """Area of the map's pedestrian crossings."""
        return union_of(self.keyframe.map.crossings)

    @property
    def knows_lanes(self) -> bool:
        """Whether the map tells about lanes, intersections and crossings."""
        return self.keyframe.map.source == "expansion"

    @property
    def is_wet(self) -> bool | None:
        """Whether the scene's description says rain or wet; None without a description."""
        words = self.keyframe.description.lower()
        return any(word in words for word in ("rain", "wet", "puddle")) if words else None

    @property
    def is_night(self) -> bool | None:
        """Whether the scene's description says night; None without a description."""
        words = self.keyframe.description.lower()
        return "night" in words if words else None

    @property
    def path_source(self) -> Literal["poses", "can", "samples", "sensor_poses", "straight"]:
        """Where the nominal paths come from; straight when there is neither a recorded path nor a lane."""
        if not self.keyframe.motion.future and self.course.source == "straight":
            return "straight"
        return self.keyframe.motion.source

    @cached_property
    def cameras(self) -> tuple[tuple[str, PinholeCamera], ...]:
        """The keyframe's own cameras by name."""
        now = [camera for camera in self.keyframe.cameras if camera.frame_offset == 0]
        return tuple((camera.sensor_id, pinhole(self.keyframe, camera)) for camera in now)


def survey(keyframe: Keyframe, near_time_s: float) -> Surroundings:
    """Look around; moving objects keep the ground that they cover within `near_time_s` seconds."""
    course = ego_course(keyframe)
    neighbours = tuple(_neighbour(note, near_time_s) for note in keyframe.annotations)
    return Surroundings(keyframe, course, drivable_ground(keyframe.map, course), neighbours)


def _neighbour(note: Annotation, near_time_s: float) -> Neighbour:
    footprint = note.box.footprint()
    velocity = np.zeros(2) if note.velocity is None else np.array(note.velocity)
    if float(np.hypot(*velocity)) < MOVING_MPS:
        return Neighbour(note, footprint, shapely.Polygon(footprint))
    both = np.concatenate([footprint, footprint + velocity * near_time_s])
    return Neighbour(note, footprint, shapely.convex_hull(shapely.multipoints(both)))
