"""Which cameras see a placed hazard, and how large; nearer annotated boxes hide it, coarsely by their outlines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from data_registry.geometry import PinholeCamera
from data_registry.projection import outline
from models.placements import Candidate
from models.surroundings import Surroundings


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
    shown = outline(candidate.solid, camera)
    if shown.is_empty:
        return Sight(name, 0.0, 0.0, 0.0)
    whole = float(shown.area)
    for hidden in _hiding(around, candidate, camera):
        shown = shapely.difference(shown, hidden)
    if shown.is_empty:
        return Sight(name, 0.0, 0.0, 0.0)
    _, top, _, bottom = shown.bounds
    return Sight(name, float(shown.area), float(bottom - top), float(shown.area) / whole)


def _hiding(around: Surroundings, candidate: Candidate, camera: PinholeCamera) -> list[Any]:
    """Return outlines of annotated boxes that are nearer to the camera than the hazard."""
    eye = camera.position
    reach = float(np.linalg.norm(candidate.solid.mean(axis=0) - eye))
    nearer = [
        neighbour.note.box.corners()
        for neighbour in around.neighbours
        if float(np.linalg.norm(np.asarray(neighbour.note.box.centre) - eye)) < reach
    ]
    return [outline(corners, camera) for corners in nearer]
