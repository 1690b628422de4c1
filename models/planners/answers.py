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
from models.planners.planner import Case

START: Final = 1e-6
"""How far from 0 a trajectory may begin, seconds and metres, and by how much it may end before the horizon, seconds."""
HEADING_START_RAD: Final = float(np.deg2rad(5.0))
"""The ego frame is the vehicle's own: a first heading further off 0 than this is in some other frame."""

FLAWS: Final[dict[Flaw, str]] = {
    "not_finite": "the trajectory holds NaN or infinity",
    "length": "times, positions and headings are not equally many, or there is none",
    "order": "the times do not increase strictly",
    "start": "the trajectory does not start at t = 0 in (0, 0)",
    "short": f"the trajectory ends before {HORIZON_S} s",
    "heading_start": "the first heading is more than 5 degrees off 0",
}
"""What is wrong with a trajectory, in words."""


def flaw_of(times: Array, positions: Array, headings: Array | None = None) -> Flaw | None:
    """Return why a trajectory cannot be scored, None when it can (DESIGN section 5).

    Args:
        times: (N,), seconds from the keyframe.
        positions: (N, 2), rear axle in the ego frame at time 0, metres.
        headings: (N,), radians, left positive; None: to be derived.
    """
    count = len(times) if times.ndim == 1 else 0
    if not count or positions.shape != (count, 2) or (headings is not None and headings.shape != (count,)):
        return "length"
    if not all(np.isfinite(values).all() for values in (times, positions, headings) if values is not None):
        return "not_finite"
    if not (np.diff(times) > 0).all():
        return "order"
    if abs(float(times[0])) > START or float(np.abs(positions[0]).max()) > START:
        return "start"
    if float(times[-1]) < HORIZON_S - START:
        return "short"
    if headings is not None and abs(float(headings[0])) > HEADING_START_RAD:
        return "heading_start"
    return None


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
