"""Whether the ego vehicle could still avoid a hazard: by stopping before it, or by driving past it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import EGO_LENGTH_M, EGO_WIDTH_M, Array
from data_registry.paths import hulls, path_of
from models.placements import Candidate
from models.surroundings import Surroundings

OFFSET_STEP_M: Final = 0.25
LARGEST_OFFSET_M: Final = 5.0
"""Lateral offsets that are tried to pass a hazard."""
QUINTIC_PEAK: Final = 10 / 3**0.5
"""Peak of the second derivative of the quintic 6u^5 - 15u^4 + 10u^3: lateral acceleration = peak * offset / time^2."""
OBJECT_ROOM_M: Final = 0.3
"""Distance to annotated objects while passing."""
BEND_SLACK_M: Final = 0.3
"""On bends a body reaches less far to the side than its half width and the region's corners say."""
STANDING_MPS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Limits:
    """What the ego vehicle can do: seconds, m/s2, m/s2."""

    reaction_s: float
    braking: float
    swerve: float


def required_deceleration(speed: float, gap_m: float, limits: Limits) -> float | None:
    """Return the m/s2 to stop within a gap when braking starts after the reaction time; None when there is no room."""
    if speed < STANDING_MPS:
        return 0.0
    room = gap_m - speed * limits.reaction_s
    return speed**2 / (2 * room) if room > 0 else None


def can_pass(around: Surroundings, candidate: Candidate, clearance_m: float, limits: Limits) -> bool:
    """Tell whether some path at constant speed, shifted sideways, keeps the clearance on free drivable ground."""
    turn_m = candidate.gap_m - around.speed * limits.reaction_s
    if around.speed < 1.0 or turn_m <= 0:
        return False
    shift_s = turn_m / around.speed
    widest = min(LARGEST_OFFSET_M, limits.swerve * shift_s**2 / QUINTIC_PEAK)
    region = shapely.Polygon(candidate.quad)
    return any(
        _clear(around, hulls(_shifted(around, candidate, side * offset, limits)), region, clearance_m)
        for side, needed in _needed(around, candidate, clearance_m)
        for offset in np.arange(OFFSET_STEP_M, widest + 1e-9, OFFSET_STEP_M).tolist()
        if offset >= needed
    )


def _needed(around: Surroundings, candidate: Candidate, clearance_m: float) -> tuple[tuple[float, float], ...]:
    """Return by how much the ego has to move over at least, to the left (1) and to the right (-1), metres."""
    lateral = around.course.locate(candidate.quad)[:, 1] - around.course.ego_lateral
    room = clearance_m + EGO_WIDTH_M / 2 - BEND_SLACK_M
    return (1.0, float(lateral.max()) + room), (-1.0, room - float(lateral.min()))


def _shifted(around: Surroundings, candidate: Candidate, offset: float, limits: Limits) -> Array:
    """Return the path that has moved over by `offset` when its bumper reaches the region, and goes on past it."""
    reaction_m = around.speed * limits.reaction_s
    depth = float(np.ptp(around.course.locate(candidate.quad)[:, 0]))
    arc = np.arange(0.0, candidate.gap_m + depth + EGO_LENGTH_M + 0.25, 0.5)
    share = np.clip((arc - reaction_m) / (candidate.gap_m - reaction_m), 0.0, 1.0)
    lateral = around.course.ego_lateral + offset * (6 * share**5 - 15 * share**4 + 10 * share**3)
    on_line = around.course.poses(arc, 0.0)
    side = np.column_stack([-np.sin(on_line[:, 2]), np.cos(on_line[:, 2])])
    return path_of(arc / around.speed, on_line[:, :2] + lateral[:, None] * side)


def _clear(around: Surroundings, swept: Any, region: Any, clearance_m: float) -> bool:
    """Tell whether hulls (N,) keep clear: their union does when each of them does."""
    return (
        float(np.min(shapely.distance(swept, region))) >= clearance_m
        and around.is_drivable(swept)
        and around.room(swept) >= OBJECT_ROOM_M
    )
