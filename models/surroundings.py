"""What is around the ego vehicle at a keyframe, measured once for all placements that are tried."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
import shapely

from data_registry.cameras import pinhole
from data_registry.courses import Course, drivable_ground, ego_course, union_of
from data_registry.geometry import EGO_FRONT_M, EGO_WIDTH_M, Array, PinholeCamera, ego_footprints
from data_registry.paths import lane_keep, recorded, tube
from data_registry.records import Annotation, Keyframe

MOVING_MPS: Final = 0.5
"""Objects slower than this stand."""
FREE_BESIDE_M: Final = 0.2
"""Room that the ego body needs on each side for ground ahead to count as free."""


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

    @cached_property
    def standing(self) -> Any:
        """Footprints of annotated objects at time 0."""
        return shapely.union_all([shapely.Polygon(neighbour.footprint) for neighbour in self.neighbours])

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
        return float(self.course.locate(np.array([[EGO_FRONT_M, 0.0]]))[0, 0])

    @cached_property
    def free_length_m(self) -> float:
        """Length of the ego's way ahead of the bumper that no object stands on, metres, at most 60."""
        strip = self.course.strip(EGO_WIDTH_M / 2 + FREE_BESIDE_M)
        ahead = [60.0]
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
