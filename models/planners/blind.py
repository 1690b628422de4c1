"""Planners that look at nothing but the ego's own motion: the floor that every other planner is held against."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from data_registry.geometry import Array
from data_registry.paths import HEADING, HORIZON_S, STEP_S, T, X, Y, recorded
from data_registry.records import Prediction
from data_registry.trajectories import NEAR
from models.backend import LocalBackend
from models.planners.answers import answered, ineligible
from models.planners.planner import Case, PlannerSettings

TIMES: Final = np.round(np.arange(round(HORIZON_S / STEP_S) + 1) * STEP_S, 6)
"""0, 0.1, .. 3.0 s."""


class ConstantVelocitySettings(PlannerSettings, frozen=True):
    """Everything that decides the answers: nothing but the code's own revision."""

    backend: Literal["constant_velocity"] = "constant_velocity"
    revision: str = "1"
    name: str = "constant_velocity"


class ConstantVelocity(LocalBackend):
    """Goes straight ahead at the speed that the ego has."""

    knows_region = False

    def __init__(self, settings: ConstantVelocitySettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or ConstantVelocitySettings()

    def predict(self, case: Case) -> Prediction:
        """Answer a case."""
        return _straight(case, case.keyframe.motion.speed * TIMES)


class StopSettings(PlannerSettings, frozen=True):
    """Everything that decides the answers."""

    backend: Literal["stop"] = "stop"
    revision: str = "1"
    name: str = "stop"
    deceleration: Annotated[float, Field(gt=0)] = 3.4
    """m/s2. Comfortable yet firm: nine in ten drivers brake harder when they have to stop, and at this rate keep their
    lane on a wet road too (AASHTO, A Policy on Geometric Design of Highways and Streets, stopping sight distance)."""
    reaction_s: Annotated[float, Field(ge=0)] = 0.0
    """Time at constant speed before it brakes; none, since it stops whatever it sees."""


class Stop(LocalBackend):
    """Brakes straight ahead to a stop, hazard or not: what the most cautious planner scores."""

    knows_region = False

    def __init__(self, settings: StopSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or StopSettings()

    def predict(self, case: Case) -> Prediction:
        """Answer a case."""
        settings, speed = self.identity_settings, case.keyframe.motion.speed
        return _straight(case, braked(TIMES, speed, settings.deceleration, settings.reaction_s))


class RecordedSettings(PlannerSettings, frozen=True):
    """Everything that decides the answers: nothing but the code's own revision."""

    backend: Literal["recorded"] = "recorded"
    revision: str = "1"
    name: str = "recorded"


class Recorded(LocalBackend):
    """Goes where the human driver of the log went; ineligible where the log ends before the horizon."""

    knows_region = False

    def __init__(self, settings: RecordedSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or RecordedSettings()

    def predict(self, case: Case) -> Prediction:
        """Answer a case."""
        path = recorded(case.keyframe.motion)
        if path is None:
            return ineligible(case, "the log has no recorded path after the keyframe")
        if float(path[-1, T]) < HORIZON_S - NEAR:
            return ineligible(case, f"the recorded path ends after {path[-1, T]:.1f} s, {HORIZON_S} s are needed")
        return answered(case, path[:, T], path[:, X : Y + 1], path[:, HEADING])


def braked(times: Array, speed: float, deceleration: float, brake_at_s: float) -> Array:
    """Return the way gone (N,) at times (N,), metres: constant speed, from `brake_at_s` on braking to a stop.

    Speeds are in m/s, the deceleration in m/s2, positive.
    """
    braking = np.clip(times - brake_at_s, 0.0, speed / deceleration)
    return speed * np.minimum(times, brake_at_s) + speed * braking - deceleration * braking**2 / 2


def _straight(case: Case, way: Array) -> Prediction:
    return answered(case, TIMES, np.column_stack([way, np.zeros_like(way)]), np.zeros_like(way))
