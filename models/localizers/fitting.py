"""Which place and size of a body explain best what the views show of it.

The unknowns are the plan position, length, width, height and underside, and how many pixels the masks are too large
all around, as masks that a network drew are. Least squares with a robust loss: outlines may have spikes and dents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from scipy import optimize

from data_registry.geometry import Array, GroundPlane, rectangle
from models.localizers.bodies import Body
from models.localizers.sights import DIRECTIONS, Sight

UNKNOWNS: Final = 7
STEP: Final = 1e-4
"""Step of the differences, in units of the unknowns."""
MOST_ROUNDS: Final = 40
INFORMATION: Final = 4.0
"""Neighbouring directions say nearly the same: all together count as so many."""
ROBUST_FROM: Final = 2.0
"""Misses beyond so many standard deviations count less than their square."""
FARTHEST_PX: Final = 300.0
"""Larger misses count as this one."""
LEAST_EXTENT_M: Final = 0.05
LEAST_SPREAD_M: Final = 1e-3
"""What is known exactly is known so well."""


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Standard deviations of what is not known exactly.

    Attributes:
        outline_px: how well a mask's outline is known, pixels.
        outline_share: how far the body's may differ from the task's look, as a share of its extent in the picture.
        growth_px: how far masks are too large or too small all around, pixels.
        size_m: how far length, width and height may lie outside the task's range, metres.
        residual_share: how far the ground may lie from its plane, as a share of the plane's residual.
    """

    outline_px: float
    outline_share: float
    growth_px: float
    size_m: float
    residual_share: float


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Where a body stands, in plan, and what is left unexplained: half the sum of squares, in standard deviations."""

    footprint: shapely.Polygon
    cost: float


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A body, what is known about how it stands, and the views that show it.

    Attributes:
        body: the body.
        heading: its heading in the ego frame, radians.
        ground: what it stands on.
        sights: what the views show.
        partial: which of the views show a part only, which may be any: a body must cover it, and no more is known.
        tolerances: what is not known exactly.
    """

    body: Body
    heading: float
    ground: GroundPlane
    sights: Sequence[Sight]
    partial: Sequence[bool]
    tolerances: Tolerances

    def solve(self, start: Array) -> Solution:
        """Return the place and size of the body that explain the sights best, from a first guess (2,) of its middle."""
        origin = np.concatenate([start, self.body.size, [0.0]])
        scale = np.concatenate([[1.0, 1.0], self._spread, [self.tolerances.growth_px]])

        def residuals(unknowns: Array) -> Array:
            return self._residuals(origin, scale, unknowns[None])[0]

        def slopes(unknowns: Array) -> Array:
            tried = np.vstack([unknowns, unknowns + STEP * np.eye(UNKNOWNS)])
            values = self._residuals(origin, scale, tried)
            return (values[1:] - values[0]).T / STEP

        solver: Any = optimize.least_squares
        found = solver(residuals, np.zeros(UNKNOWNS), jac=slopes, max_nfev=MOST_ROUNDS, ftol=1e-5, xtol=1e-5, gtol=1e-5)
        x, y, length, width = (origin + found.x * scale)[:4].tolist()
        extents = (max(abs(length), LEAST_EXTENT_M), max(abs(width), LEAST_EXTENT_M))
        return Solution(shapely.Polygon(rectangle((x, y), *extents, self.heading)), float(found.cost))

    @property
    def _spread(self) -> Array:
        """How far sizes may be off; the underside as far as the ground may be, where boxes do not lie in its plane."""
        size_m = self.tolerances.size_m
        doubt = max(self.tolerances.residual_share * self.ground.residual_m, LEAST_SPREAD_M)
        return np.hypot(self.body.spread, (size_m, size_m, size_m, doubt))

    def _residuals(self, origin: Array, scale: Array, unknowns: Array) -> Array:
        """Return residuals (M, R) of unknowns (M, 7), each in standard deviations."""
        values = origin + unknowns * scale
        sizes = np.column_stack([np.abs(values[:, 2:5]), values[:, 5]])
        corners = self.body.placed(values[:, :2], sizes, self.heading, self.ground)
        parts = [_robust(unknowns[:, 2:6]), _rare(unknowns[:, 6:])]
        for seen, is_partial in zip(self.sights, self.partial, strict=True):
            misses = self._misses(seen, is_partial, corners, values[:, 6:])
            parts.append(misses * (INFORMATION / DIRECTIONS) ** 0.5)
        return np.concatenate(parts, axis=1)

    def _misses(self, seen: Sight, is_partial: bool, corners: Array, growth: Array) -> Array:
        """Return by how much a mask reaches farther than bodies (M, N, 3), (M, R); all of it must be covered."""
        sigma = float(np.hypot(self.tolerances.outline_px, self.tolerances.outline_share * seen.extent_px))
        shown, whole = seen.reach_of(corners, self.body.slices)
        uncovered = np.clip(seen.whole - whole - growth, 0.0, FARTHEST_PX) / sigma
        if is_partial:
            return _robust(uncovered)
        missed = _robust(np.clip(seen.reach - shown - growth, -FARTHEST_PX, FARTHEST_PX) / sigma)
        return missed if seen.hidden is None else np.concatenate([missed, _robust(uncovered)], axis=1)


def _rare(values: Array) -> Array:
    """Return values whose squares grow like a logarithm: mostly next to nothing, but sometimes large (Cauchy)."""
    return np.copysign(np.sqrt(np.log1p(values**2)), values)


def _robust(values: Array) -> Array:
    """Return values whose squares grow linearly from a few standard deviations on (pseudo-Huber)."""
    grown: Array = np.sqrt(2.0 * (np.sqrt(1.0 + (values / ROBUST_FROM) ** 2) - 1.0))
    return np.copysign(ROBUST_FROM * grown, values)
