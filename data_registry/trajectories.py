"""What a predicted trajectory must be, and the path that it is scored on (DESIGN section 5).

A trajectory is times (N,), seconds from the keyframe, positions (N, 2) of the rear axle, metres, and headings (N,),
radians, or None for ones to be derived. The whole of it is looked at before it is cut: NaN after the horizon is a flaw,
too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.evaluation import Flaw
from data_registry.geometry import Array
from data_registry.path_steps import NEAR_S, are_within, increase, of_one_kind
from data_registry.paths import HEADING, HORIZON_S, T, X, Y, cut, headings_of, wrap

NEAR: Final = 1e-6
"""How far the first point may be from time 0, seconds, and from the start, metres, in whichever direction."""
LARGEST: Final = 1e9
"""Numbers beyond this count as not finite: there a double is too coarse to tell contact, 1e-6 m, from none."""
START_TURN_RAD: Final = float(np.deg2rad(5.0))
"""How far the first given heading may be from that of the vehicle."""
_ROUNDING_RAD: Final = 1e-9
"""Exactly 5 degrees is within, whichever way the difference was rounded."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where the vehicle is at time 0: metres, radians."""

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0


ORIGIN: Final = Start()


def flaw_of(
    t: Array, xy: Array, heading: Array | None, horizon_s: float = HORIZON_S, start: Start = ORIGIN
) -> Flaw | None:
    """Return why a trajectory cannot be scored, the first reason in the order of `Flaw`; None: it can."""
    if not (_is_finite(t) and _is_finite(xy) and (heading is None or _is_finite(heading))):
        return "not_finite"
    if t.ndim != 1 or not len(t) or xy.shape != (len(t), 2) or (heading is not None and heading.shape != t.shape):
        return "length"
    if not increase(t):
        return "order"
    if abs(t.item(0)) > NEAR or math.hypot(xy.item(0) - start.x, xy.item(1) - start.y) > NEAR:
        return "start"
    if t.item(-1) < horizon_s - NEAR_S:
        return "short"
    if heading is not None and abs(wrap(heading[0] - start.heading)) > START_TURN_RAD + _ROUNDING_RAD:
        return "heading_start"
    return None


def _is_finite(numbers: Array) -> bool:
    return are_within(of_one_kind(numbers).reshape(-1), LARGEST)


def path_of_trajectory(
    t: Array, xy: Array, heading: Array | None, horizon_s: float = HORIZON_S, start: Start = ORIGIN
) -> Array:
    """Return the path (N, 4) that a trajectory without flaws is scored on.

    It is cut at the horizon by interpolation, given headings by the short arc; then missing headings are derived.
    """
    path = np.zeros((len(t), 4))
    path[:, T], path[:, X : Y + 1] = t, xy
    if heading is not None:
        path[:, HEADING] = heading
    path = cut(path, horizon_s)
    if heading is None:
        path[:, HEADING] = headings_of(path, start.heading)
    return path
