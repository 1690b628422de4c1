"""Which cameras see a placed hazard, and how large; nearer annotated boxes hide it, coarsely by their outlines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from data_registry.geometry import Array, PinholeCamera
from data_registry.projection import outline
from models.placements import Candidate
from models.surroundings import Surroundings

FRONT_CORNERS: Final = (0, 3, 4, 7)
"""Corners of a box's +x face, as geometry.box_corners orders them."""
LEAST_FACING: Final = 0.3
"""Cosine between a lamp's axis and the line to the camera from which on one sees it lit: 72 degrees off."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What one camera sees of a hazard.

    Attributes:
        sensor_id: the camera.
        area_px: visible area, square pixels.
        height_px: height of the visible part, pixels.
        share: visible area over the area within the picture, 0..1.
    """

    sensor_id: str
    area_px: float
    height_px: float
    share: float


def sights(around: Surroundings, candidate: Candidate, smallest_px: float) -> tuple[Sight, ...]:
    """Return the cameras that see at least `smallest_px` square pixels, largest first, then by name."""
    found = [_sight(around, candidate, name, camera) for name, camera in around.cameras]
    seen = [sight for sight in found if sight.area_px >= smallest_px]
    return tuple(sorted(seen, key=lambda sight: (-round(sight.area_px, 3), sight.sensor_id)))


def _sight(around: Surroundings, candidate: Candidate, name: str, camera: PinholeCamera) -> Sight:
    shown = outline(_shown_points(candidate, camera), camera)
    if shown.is_empty:
        return Sight(name, 0.0, 0.0, 0.0)
    whole = float(shown.area)
    for hidden in _hiding(around, candidate, name, camera):
        shown = shapely.difference(shown, hidden)
    if shown.is_empty:
        return Sight(name, 0.0, 0.0, 0.0)
    _, top, _, bottom = shown.bounds
    return Sight(name, float(shown.area), float(bottom - top), float(shown.area) / whole)


def _shown_points(candidate: Candidate, camera: PinholeCamera) -> Array:
    """Return the points (N, 3) that show the hazard: of a mounted one its front, if that looks at the camera."""
    if candidate.placement.kind != "mounted":
        return candidate.solid
    front = candidate.solid[list(FRONT_CORNERS)]
    box = candidate.placement.box.pose()
    towards = float((camera.position - front.mean(axis=0)) @ box.rotation[:, 0])
    distance = float(np.linalg.norm(camera.position - front.mean(axis=0)))
    return front if towards > LEAST_FACING * distance else front[:0]


def _hiding(around: Surroundings, candidate: Candidate, name: str, camera: PinholeCamera) -> list[Any]:
    """Return outlines of annotated boxes that are nearer to the camera than the hazard.

    A door's own car hides nothing of it: the door stands off the side that the car turns to the ego's way.
    """
    eye = camera.position
    reach = float(np.linalg.norm(candidate.solid.mean(axis=0) - eye))
    own = candidate.placement.annotation if candidate.placement.kind == "attached" else None
    return [
        around.outline_of(neighbour, name, camera)
        for neighbour in around.neighbours
        if neighbour.note.token != own and float(np.linalg.norm(np.asarray(neighbour.note.box.centre) - eye)) < reach
    ]
