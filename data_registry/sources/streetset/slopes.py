"""How the ground of a scene rises: level, then climbing along x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.geometry import Array


@dataclass(frozen=True, slots=True)
class Slope:
    """The ground's height: level up to `start`, then rising along x, eased in over `ease` metres.

    >>> round(Slope(0.06, start=50.0, ease=20.0).height(100.0), 6)
    2.4
    """

    grade: float = 0.0
    start: float = 0.0
    ease: float = 20.0

    def height(self, x: float) -> float:
        """Return the height of the ground at x."""
        way = max(x - self.start, 0.0)
        rise = way * way / (2 * self.ease) if way < self.ease else way - self.ease / 2
        return self.grade * rise

    def rise(self, x: float) -> float:
        """Return the grade at x, metres a metre."""
        return self.grade * min(max((x - self.start) / self.ease, 0.0), 1.0)

    def heights(self, points: Array) -> Array:
        """Return heights (N,) under points (N, 2) or (N, 3)."""
        way = np.maximum(points[:, 0] - self.start, 0.0)
        eased = np.where(way < self.ease, way * way / (2 * self.ease), way - self.ease / 2)
        return self.grade * eased


LEVEL: Final = Slope()
