"""What views say about where a standing body is, in plan: bearings of its edges, distances of its contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely

from data_registry import silhouettes
from data_registry.geometry import Array
from data_registry.silhouettes import Pixels

TOUCHING_PX: Final = 3
TOUCHING_SHARE: Final = 0.04
"""Rows above the lowest within which columns count as touching: at least, and as a share of the height."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What one view says about a standing hazard, in plan."""

    eye: Array
    left: Array
    """Unit direction (L, 2) along which the hazard begins on the left; none (L = 0) when that edge is not seen."""
    right: Array
    """The same on the right, (R, 2)."""
    contact: Array
    """Unit directions (N, 2) of columns that touch the ground."""
    reach: Array
    """Distance (N,) at which they do, metres."""
    touching: float
    """Share of the hazard's columns that end about as low as the lowest: 1 for a box, little for feet."""


def across(directions: Array, eye: Array, box: Array) -> Array:
    """Return how far a box's corners lie left of directions (E, 2) from an eye, metres, shape (E, 4)."""
    return np.column_stack([-directions[:, 1], directions[:, 0]]) @ (box - eye).T


def touching_share(mask: Pixels) -> float:
    """Return the share of a mask's columns whose lowest pixels lie within a few rows of the lowest of all."""
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    reach = max(TOUCHING_PX, int(TOUCHING_SHARE * (rows[-1] - rows[0])))
    return float(mask[rows[-1] - reach :, columns].any(axis=0).mean())


def contact_miss(sight: Sight, box: Array, slender: bool) -> Array:
    """Return by how many metres the contact columns lie beyond where the box begins, shape (0,) or (1,).

    On average; of a slender body the nearest one, as its feet are few pixels at several distances.
    """
    if not len(sight.contact):
        return np.zeros(0)
    shape = shapely.Polygon(box)
    lines = shapely.linestrings(
        np.stack(
            [np.broadcast_to(sight.eye, sight.contact.shape), sight.eye + sight.contact * silhouettes.FAR_M], axis=1
        )
    )
    meeting = shapely.intersection(lines, shape)
    begins = shapely.distance(shapely.Point(sight.eye), meeting)
    nearest = float(np.min((box - sight.eye) @ sight.contact.mean(axis=0)))
    begins = np.where(np.isnan(begins), nearest, begins)
    miss = sight.reach - begins
    return np.array([float(miss[np.argmin(sight.reach)] if slender else miss.mean())])


def first_guess(sights: Sequence[Sight], size: Array) -> Array:
    """Return a first guess (2,) of the centre: half a width behind the mean contact of the first view that has one."""
    sight = next(sight for sight in sights if len(sight.contact))
    direction = sight.contact.mean(axis=0)
    return sight.eye + direction * (float(sight.reach.mean()) + float(size.min()) / 2)
