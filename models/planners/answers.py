"""How a planner's answer is made: with a trajectory that can be scored, or with the reason why there is none."""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from data_registry.evaluation import Flaw, Status
from data_registry.geometry import Array
from data_registry.identity import METRE_STEP
from data_registry.paths import HORIZON_S
from data_registry.records import Prediction
from data_registry.records.base import Xy
from data_registry.trajectories import LARGEST, flaw_of
from models.planners.planner import Case

FLAWS: Final[dict[Flaw, str]] = {
    "not_finite": f"the trajectory holds NaN, infinity or a number beyond {LARGEST:.0e}",
    "length": "times, positions and headings are not equally many, or there is none",
    "order": "the times do not increase strictly",
    "start": "the trajectory does not start at t = 0 in (0, 0)",
    "short": f"the trajectory ends before {HORIZON_S} s",
    "heading_start": "the first heading is more than 5 degrees off 0",
}
"""What is wrong with a trajectory, in words."""


def answered(case: Case, times: Array, positions: Array, headings: Array | None = None) -> Prediction:
    """Return the answer of a planner that has a trajectory; a flawed one becomes an error with the flaw as reason.

    Args:
        case: what was asked.
        times: (N,), seconds from the keyframe, the first 0, the last at least 3.
        positions: (N, 2), rear axle in the ego frame at time 0, metres, the first (0, 0).
        headings: (N,), radians, left positive, the first within 5 degrees of 0; None: to be derived from the positions.
    """
    times = np.round(times, METRE_STEP)  # as the record fixes them: two that become one do not increase
    flaw = flaw_of(times, positions, headings)
    if flaw is not None:
        return without_trajectory(case, "error", FLAWS[flaw])
    return Prediction(
        pair_id=case.pair_id,
        variant=case.variant,
        status="ok",
        t=tuple(times.tolist()),
        xy=cast(tuple[Xy, ...], tuple(map(tuple, positions.tolist()))),
        heading=None if headings is None else tuple(headings.tolist()),
        component_digest=case.component_digest,
        inputs_sha256=case.inputs_sha256,
    )


def ineligible(case: Case, reason: str) -> Prediction:
    """Return the answer of a planner that cannot take the case, e.g. for want of history."""
    return without_trajectory(case, "ineligible", reason)


def without_trajectory(case: Case, status: Status, reason: str) -> Prediction:
    """Return an answer without a trajectory; `status` is any but `ok`, `reason` says why in a few words."""
    return Prediction(
        pair_id=case.pair_id,
        variant=case.variant,
        status=status,
        reason=reason,
        component_digest=case.component_digest,
        inputs_sha256=case.inputs_sha256,
    )
