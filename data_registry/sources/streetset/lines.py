"""Lines that lanes, roads and everything that moves follow: straight pieces and arcs, as the map expansion has them.

A line lives in the plan of a scene's frame (metres, radians, left positive). Before its start and after its end it goes
on straight, so that whatever follows it never falls off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from data_registry.geometry import Array

Pose = tuple[float, float, float]
"""x, y, heading."""
Piece = tuple[float, float]
"""Length, metres, and curvature, 1/metres, left positive."""

NEGLIGIBLE_M: Final = 1e-6


class LineError(ValueError):
    """No line of the wanted kind joins two poses; a bug in a scene."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of straight pieces and arcs.

    Attributes:
        start: pose of its first point.
        pieces: in order, each of positive length.

    >>> quarter = Line((0.0, 0.0, 0.0), ((10.0 * math.pi / 2, 0.1),))
    >>> [round(value, 6) for value in quarter.pose(quarter.length)]
    [10.0, 10.0, 1.570796]
    """

    start: Pose
    pieces: tuple[Piece, ...]

    @classmethod
    def straight(cls, start: Pose, length: float) -> Line:
        """Return a straight line."""
        return cls(start, ((length, 0.0),))

    @property
    def length(self) -> float:
        """Metres along the line."""
        return sum(length for length, _ in self.pieces)

    def pose(self, s: float) -> Pose:
        """Return the pose at a distance from the start."""
        if s <= 0 or not self.pieces:
            return _along(self.start, s, 0.0)
        pose = self.start
        for length, curvature in self.pieces:
            if s <= length:
                return _along(pose, s, curvature)
            pose, s = _along(pose, length, curvature), s - length
        return _along(pose, s, 0.0)

    def curvature(self, s: float) -> float:
        """Return the curvature at a distance from the start; 0 beyond the ends."""
        for length, curvature in self.pieces:
            if 0 <= s < length:
                return curvature
            s -= length
        return 0.0

    def place(self, s: float, t: float) -> tuple[float, float]:
        """Return the point beside the line at a distance from the start, t to the left."""
        x, y, heading = self.pose(s)
        return x - t * math.sin(heading), y + t * math.cos(heading)

    def places(self, s: Sequence[float] | Array, t: float) -> Array:
        """Return points (N, 2) beside the line."""
        return np.array([self.place(float(value), t) for value in s]).reshape(-1, 2)

    def cut(self, start: float, end: float) -> Line:
        """Return the part between two distances, which may lie beyond the ends; reversed when end < start."""
        if end < start:
            return self.cut(end, start).turned()
        bounds = [0.0, *np.cumsum([length for length, _ in self.pieces]).tolist()]
        extents = [(-math.inf, 0.0, 0.0), *zip(bounds, bounds[1:], (k for _, k in self.pieces), strict=False)]
        extents.append((bounds[-1], math.inf, 0.0))
        found = [(min(high, end) - max(low, start), curvature) for low, high, curvature in extents]
        return Line(self.pose(start), tuple(piece for piece in found if piece[0] > NEGLIGIBLE_M))

    def turned(self) -> Line:
        """Return the same line in the other direction."""
        x, y, heading = self.pose(self.length)
        return Line((x, y, _wrapped(heading + math.pi)), tuple((length, -k) for length, k in self.pieces[::-1]))

    def beside(self, t: float) -> Line:
        """Return the parallel line t to the left."""
        pieces = tuple((length * (1 - k * t), k / (1 - k * t)) for length, k in self.pieces)
        return Line((*self.place(0.0, t), self.start[2]), pieces)

    def then(self, other: Line) -> Line:
        """Return this line followed by another one that starts where it ends.

        Raises:
            LineError: it starts elsewhere or in another direction.
        """
        x, y, heading = self.pose(self.length)
        gap = math.hypot(other.start[0] - x, other.start[1] - y)
        if gap > 1e-3 or abs(_wrapped(other.start[2] - heading)) > 1e-3:
            raise LineError(f"a line ends at {(x, y, heading)}, the next starts at {other.start}")
        return Line(self.start, (*self.pieces, *other.pieces))


def _along(pose: Pose, s: float, curvature: float) -> Pose:
    x, y, heading = pose
    turn = s * curvature
    chord = s if abs(turn) < 1e-12 else 2 * math.sin(turn / 2) / curvature
    return x + chord * math.cos(heading + turn / 2), y + chord * math.sin(heading + turn / 2), heading + turn


def _wrapped(angle: float) -> float:
    return (angle + math.pi) % (2 * math.pi) - math.pi


def joining(start: Pose, end: Pose) -> Line:
    """Return the line between two poses: straight, or one arc with a straight piece where one side is longer.

    Raises:
        LineError: the poses are parallel but not in line, or the corner lies behind one of them.
    """
    turn = _wrapped(end[2] - start[2])
    dx, dy = end[0] - start[0], end[1] - start[1]
    c, s = math.cos(start[2]), math.sin(start[2])
    ahead, aside = dx * c + dy * s, dy * c - dx * s
    if abs(turn) < 1e-9:
        if abs(aside) > 1e-3 or ahead <= 0:
            raise LineError(f"no straight line from {start} to {end}")
        return Line.straight(start, ahead)
    after = aside / math.sin(turn)
    before = ahead - after * math.cos(turn)
    if min(before, after) <= 0:
        raise LineError(f"the corner between {start} and {end} lies behind one of them")
    reach = min(before, after)
    radius = reach / math.tan(abs(turn) / 2)
    pieces = ((before - reach, 0.0), (radius * abs(turn), math.copysign(1 / radius, turn)), (after - reach, 0.0))
    return Line(start, tuple(piece for piece in pieces if piece[0] > NEGLIGIBLE_M))
