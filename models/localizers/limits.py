"""What is not believed: fits that leave too much unexplained, sizes that no hazard of the task has.

A least-squares fit always finds something, also in a mask that shows nothing of the task. What lies beyond these limits
is refused with the reason; a region that may be anywhere would be worse than none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely

from data_registry.geometry import Array, ego_footprints
from models.localizers.fitting import Solution
from models.localizers.localizer import RegionNotFoundError

AXES: Final = ("long", "wide", "high")
EGO: Final = shapely.Polygon(ego_footprints(np.zeros((1, 3)))[0])
"""The ego vehicle's own plan outline at time 0."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How bad a fit may be.

    Attributes:
        unexplained: half the sum of squares that a view may leave unexplained, in standard deviations.
        cost_cut: the same of all views and of the size together, where the pictures' sides cut the hazard in every
            view: what is seen of it may then be no foot, and a bad fit metres off.
        overlap: least intersection over union of a view's mask and the body's silhouette.
        size_factor: how many times smaller or larger than the task's sizes a hazard may be.
    """

    unexplained: float
    cost_cut: float
    overlap: float
    size_factor: float


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A fit, the views that it explains, in their order, and whether the pictures' sides cut the hazard in all."""

    solution: Solution
    sensors: tuple[str, ...]
    is_cut: bool


def check_fit(found: Found, extents: Array, limits: Limits) -> None:
    """Refuse a fit that is not to be believed.

    Args:
        found: the fit.
        extents: (2, 3) least and largest length, width and height that the task allows, metres.
        limits: how bad it may be.

    Raises:
        RegionNotFoundError: it is worse; the text says in what.
    """
    solution = found.solution
    for sensor, left, overlap in zip(found.sensors, solution.unexplained, solution.overlaps, strict=True):
        if left > limits.unexplained:
            raise RegionNotFoundError(
                f"what {sensor} shows is no hazard of this task: {left:.0f} of its outline is left unexplained"
                f" (half the sum of squares, in standard deviations), {limits.unexplained:g} at most"
            )
        if overlap < limits.overlap:
            raise RegionNotFoundError(
                f"what {sensor} shows is no hazard of this task: {overlap:.0%} of what its mask and the hazard's"
                f" silhouette cover is shared, {limits.overlap:.0%} needed"
            )
    if found.is_cut and solution.cost > limits.cost_cut:
        raise RegionNotFoundError(
            f"the picture's side cuts the hazard in {', '.join(found.sensors)}, so that its feet are not known, and"
            f" {solution.cost:.0f} of outline and size is left unexplained, {limits.cost_cut:g} at most"
        )
    check_size(solution.size, extents, limits.size_factor)
    if solution.footprint.intersects(EGO):
        raise RegionNotFoundError("what the views show would stand where the ego vehicle is")


def check_size(size: Array, extents: Array, factor: float) -> None:
    """Refuse a size (K,) that lies outside least and largest extents (2, K) by more than a factor.

    Raises:
        RegionNotFoundError: it does; the text says which extent.
    """
    low, high = extents
    outside = (size < low / factor) | (size > high * factor)
    if outside.any():
        axis = int(np.argmax(outside))
        raise RegionNotFoundError(
            f"what the views show would be {size[axis]:.2f} m {AXES[axis]}; hazards of this task are"
            f" {low[axis]:.2f} to {high[axis]:.2f} m, {factor:g} times as small or large at most"
        )
