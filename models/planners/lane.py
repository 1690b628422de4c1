"""Planners that follow the ego's lane: one that sees no hazard, and an oracle that knows where it is."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import numpy as np
import shapely
from pydantic import Field

from data_registry.courses import Course, ego_course
from data_registry.geometry import Array, ego_footprints
from data_registry.paths import HEADING, T, X, Y, lane_keep, path_of
from data_registry.recent import Recent
from data_registry.records import Keyframe, Prediction
from models.backend import LocalBackend
from models.planners.answers import answered
from models.planners.blind import TIMES, braked
from models.planners.planner import Case, PlannerSettings

KEPT_COURSES: Final = 2
LOOK_AHEAD_M: Final = 60.0
"""Regions lie within this distance of the ego (DESIGN section 5)."""
LOOK_STEP_M: Final = 0.1


class LaneKeepSettings(PlannerSettings, frozen=True):
    """Everything that decides the answers: nothing but the code's own revision."""

    backend: Literal["lane_keep"] = "lane_keep"
    revision: str = "1"
    name: str = "lane_keep"


class LaneKeep(LocalBackend):
    """Follows the ego's lane at the speed that it has: the nominal path that screening uses; straight without lanes."""

    knows_region = False

    def __init__(self, settings: LaneKeepSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or LaneKeepSettings()
        self._courses = Recent[Course](KEPT_COURSES)

    def predict(self, case: Case) -> Prediction:
        """Answer a case."""
        return _along(case, lane_keep(case.keyframe.motion.speed, _course(self._courses, case.keyframe)))


class BrakeOnHazardSettings(PlannerSettings, frozen=True):
    """Everything that decides the answers; it has no reaction time, since it knows the region beforehand."""

    backend: Literal["brake_on_hazard"] = "brake_on_hazard"
    revision: str = "1"
    name: str = "brake_on_hazard"
    deceleration: Annotated[float, Field(gt=0)] = 3.4
    """m/s2, as of planner `stop`; it brakes as late as this allows."""
    hardest_braking: Annotated[float, Field(gt=0)] = 6.0
    """m/s2, used when the room is short; what screening takes to be possible (DESIGN section 3)."""
    margin_m: Annotated[float, Field(ge=0)] = 0.1
    """Kept on top of the clearance that the task requires."""


class BrakeOnHazard(LocalBackend):
    """An oracle: follows the ego's lane, and stops before the region of the edited variant with the task's clearance.

    Where the hardest braking cannot keep the clearance, it brakes that hard from the start and keeps what it can. It
    never steers around the region, so pairs that can only be passed are beyond it.
    """

    knows_region = True

    def __init__(self, settings: BrakeOnHazardSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or BrakeOnHazardSettings()
        self._courses = Recent[Course](KEPT_COURSES)

    def predict(self, case: Case) -> Prediction:
        """Answer a case."""
        speed, course = case.keyframe.motion.speed, _course(self._courses, case.keyframe)
        region, keep_m = shapely.Polygon(case.region.quad), case.region.clearance_m + self.identity_settings.margin_m
        room = None if case.variant == "source" else free_way(course, region, keep_m)
        if room is None or speed == 0.0:
            return _along(case, lane_keep(speed, course))
        return _along(case, lane_path(course, self._way(speed, room)))

    def _way(self, speed: float, room: float) -> Array:
        """Return the way along the lane (N,) at TIMES, metres, of which `room` metres are free."""
        settings = self.identity_settings
        late = room / speed - speed / (2 * settings.deceleration)
        if late >= 0:
            return braked(TIMES, speed, settings.deceleration, late)
        needed = speed**2 / (2 * room) if room > 0 else settings.hardest_braking
        return braked(TIMES, speed, min(needed, settings.hardest_braking), 0.0)


def lane_path(course: Course, way: Array) -> Array:
    """Return the path (N, 4) at TIMES of an ego that has gone `way` (N,) metres along a course, at its own offset."""
    positions = course.poses(way, course.ego_lateral)[:, :2]
    return path_of(TIMES, positions - positions[0])


def free_way(course: Course, region: Any, keep_m: float) -> float | None:
    """Return how far the ego body can go along a course and stay `keep_m` clear of a region, metres; None: all the way.

    0 when it stands too near already.
    """
    way = np.arange(0.0, LOOK_AHEAD_M + LOOK_STEP_M / 2, LOOK_STEP_M)
    positions = course.poses(way, course.ego_lateral)[:, :2]
    # a pace of 1 m/s, which headings are derived at as those of a moving ego
    bodies = ego_footprints(path_of(way, positions - positions[0])[:, X:])
    swept = shapely.convex_hull(shapely.linestrings(np.concatenate([bodies[:-1], bodies[1:]], axis=1)))
    near = np.flatnonzero(shapely.distance(swept, region) < keep_m)
    return float(way[near[0]]) if len(near) else None


def _course(remembered: Recent[Course], keyframe: Keyframe) -> Course:
    """Return the ego's course, found once for all cases of a keyframe: they come one after the other."""
    return remembered.get(keyframe.payload_digest, lambda: ego_course(keyframe))


def _along(case: Case, path: Array) -> Prediction:
    return answered(case, path[:, T], path[:, X : Y + 1], path[:, HEADING])
