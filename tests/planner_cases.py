"""Cases by hand for the tests of planners and of what asks them."""

from __future__ import annotations

import numpy as np

from data_registry.evaluation import PairRegion, Variant
from data_registry.geometry import EGO_FRONT_M, Array, rectangle
from data_registry.identity import combination_id
from data_registry.paths import path_of
from data_registry.records import Keyframe, Prediction
from models.planners.planner import Case, CaseView
from tests.street import keyframe

TASK = "broken_down_car"


def block(gap_m: float, lateral_m: float = 0.0, yaw: float = 0.0) -> Array:
    """A region of 2 x 2 m whose near side is `gap_m` ahead of the bumper, when it is not turned."""
    return rectangle((EGO_FRONT_M + gap_m + 1.0, lateral_m), 2.0, 2.0, yaw)


def case(
    frame: Keyframe | None = None, quad: Array | None = None, variant: Variant = "edited", clearance_m: float = 1.0
) -> Case:
    """A case whose edited variant differs in the first camera."""
    frame = frame or keyframe()
    edited = "e" * 64 if variant == "edited" else "a" * 64
    views = tuple(
        CaseView(camera.sensor_id, camera.frame_offset, "a" * 64 if index else edited)
        for index, camera in enumerate(frame.cameras)
    )
    region = PairRegion(
        pair_id=combination_id(frame.id, TASK),
        quad=block(10.0) if quad is None else quad,
        clearance_m=clearance_m,
        family="lane_blockage",
        task=TASK,
        scene=frame.scene,
        split=frame.split,
    )
    return Case(variant, frame, views, region, "c" * 64)


def path_from(answer: Prediction) -> Array:
    """The path (N, 4) of an answer that is ok."""
    assert answer.status == "ok", answer.reason
    headings = None if answer.heading is None else np.array(answer.heading)
    return path_of(np.array(answer.t), np.array(answer.xy), headings)
