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
    """Where a body stands, and what is left unexplained.

    Attributes:
        footprint: its plan outline, metres.
        size: (3,) its length, width and height, metres.
        cost: half the sum of squares of all that is off, in standard deviations.
        unexplained: the share of `cost` that each view has, in the order of the sights.
        overlaps: intersection over union of what each view shows and the body's silhouette; of a view that shows a part
            only, the share of the mask that is in the silhouette.
    """

    footprint: shapely.Polygon
    size: Array
    cost: float
    unexplained: tuple[float, ...]
    overlaps: tuple[float, ...]


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
            return np.concatenate(self._residuals(origin, scale, unknowns[None]), axis=1)[0]

        def slopes(unknowns: Array) -> Array:
            tried = np.vstack([unknowns, unknowns + STEP * np.eye(UNKNOWNS)])
            values = np.concatenate(self._residuals(origin, scale, tried), axis=1)
            return (values[1:] - values[0]).T / STEP

        solver: Any = optimize.least_squares
        found = solver(residuals, np.zeros(UNKNOWNS), jac=slopes, max_nfev=MOST_ROUNDS, ftol=1e-5, xtol=1e-5, gtol=1e-5)
        return self._solution(origin + found.x * scale, self._residuals(origin, scale, found.x[None]))

    def _solution(self, values: Array, residuals: list[Array]) -> Solution:
        """Return the solution with some values (7,) of the unknowns and the residuals that they leave."""
        size = np.maximum(np.abs(values[2:5]), LEAST_EXTENT_M)
        sizes = np.append(size, values[5])[None]
        corners = self.body.placed(values[None, :2], sizes, self.heading, self.ground)[0]
        plan = rectangle((float(values[0]), float(values[1])), float(size[0]), float(size[1]), self.heading)
        return Solution(
            footprint=shapely.Polygon(plan),
            size=size,
            cost=sum(float((part**2).sum()) for part in residuals) / 2,
            unexplained=tuple(float((view**2).sum()) / 2 for view in residuals[2:]),
            overlaps=tuple(
                seen.overlap_of(corners, self.body.slices, float(values[6]), is_partial)
                for seen, is_partial in zip(self.sights, self.partial, strict=True)
            ),
        )

    @property
    def _spread(self) -> Array:
        """How far sizes may be off; the underside as far as the ground may be, where boxes do not lie in its plane."""
        size_m = self.tolerances.size_m
        doubt = max(self.tolerances.residual_share * self.ground.residual_m, LEAST_SPREAD_M)
        return np.hypot(self.body.spread, (size_m, size_m, size_m, doubt))

    def _residuals(self, origin: Array, scale: Array, unknowns: Array) -> list[Array]:
        """Return residuals (M, R) of unknowns (M, 7) in standard deviations: of size, of growth, of each view."""
        values = origin + unknowns * scale
        sizes = np.column_stack([np.abs(values[:, 2:5]), values[:, 5]])
        corners = self.body.placed(values[:, :2], sizes, self.heading, self.ground)
        parts = [_robust(unknowns[:, 2:6]), _rare(unknowns[:, 6:])]
        for seen, is_partial in zip(self.sights, self.partial, strict=True):
            misses = self._misses(seen, is_partial, corners, values[:, 6:])
            parts.append(misses * (INFORMATION / DIRECTIONS) ** 0.5)
        return parts

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
