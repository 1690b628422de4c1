"""Planners: what answers a case with a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from models.planners.blind import ConstantVelocity, Recorded, Stop
from models.planners.lane import BrakeOnHazard, LaneKeep
from models.planners.planner import Planner

suite: Final[Mapping[str, Callable[[], Planner]]] = MappingProxyType(
    {
        "constant_velocity": ConstantVelocity,
        "stop": Stop,
        "recorded": Recorded,
        "lane_keep": LaneKeep,
        "brake_on_hazard": BrakeOnHazard,
    }
)
"""The built-in planners by name; none needs weights or a GPU."""
