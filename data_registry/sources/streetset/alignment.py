"""Alignments: lines through a scene, bending and sloping, that streets, markings and rows of houses are built along."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from data_registry.geometry import Array, GeometryError, Transform, yaw_rotation

Reach = tuple[float, float]
"""From where to where along an axis, metres; what reaches past its ends is cut there."""


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """A polyline with heights. Places on it: `s` metres along it in plan, `offset` metres to its left.

    Attributes:
        points: (N, 3) metres, scene frame; bends should be sampled every 1-3 m. N >= 2, no point twice.

    >>> Alignment(np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 1.0]])).at([5.0], 2.0, 0.1).tolist()
    [[5.0, 2.0, 0.6]]
    """

    points: Array
    stations: Array = field(init=False)
    normals: Array = field(init=False)

    def __post_init__(self) -> None:
        """Measure the plan length up to every point, and the direction to the left there.

        Raises:
            GeometryError: fewer than two points, wrong shape, not finite, or a point repeats the one before.
        """
        if self.points.ndim != 2 or self.points.shape[1:] != (3,) or len(self.points) < 2:
            raise GeometryError(f"an axis needs points (N >= 2, 3), got shape {self.points.shape}")
        steps = np.diff(self.points[:, :2], axis=0)
        lengths = np.hypot(steps[:, 0], steps[:, 1])
        if not np.isfinite(self.points).all() or not (lengths > 1e-6).all():
            raise GeometryError("an axis' points must be finite and different from the one before in plan")
        left = np.column_stack([-steps[:, 1], steps[:, 0]]) / lengths[:, None]
        corner = np.concatenate([left[:1], left[:-1] + left[1:], left[-1:]])
        object.__setattr__(self, "stations", np.concatenate([[0.0], np.cumsum(lengths)]))
        object.__setattr__(self, "normals", corner / np.linalg.norm(corner, axis=1)[:, None])

    @property
    def length(self) -> float:
        """Plan length, metres."""
        return float(self.stations[-1])

    def _between(self, s: Array, values: Array) -> Array:
        return np.column_stack([np.interp(s, self.stations, values[:, k]) for k in range(values.shape[1])])

    def at(self, s: Array | list[float], offset: Array | float = 0.0, lift: Array | float = 0.0) -> Array:
        """Return points (N, 3) at stations s (N,), `offset` to the left and `lift` above the axis (scalars or (N,))."""
        place = np.asarray(s, dtype=np.float64)
        result = self._between(place, self.points)
        result[:, :2] += np.reshape(offset, (-1, 1)) * self._left(place)
        result[:, 2] += lift
        return result

    def _left(self, s: Array) -> Array:
        left = self._between(s, self.normals)
        return left / np.linalg.norm(left, axis=1)[:, None]

    def heading(self, s: float) -> float:
        """Return the direction of the axis at a station, radians, scene frame."""
        x, y = self._left(np.array([s]))[0].tolist()
        return float(np.arctan2(-x, y))

    def pose(self, s: float, offset: float = 0.0, lift: float = 0.0, turned: float = 0.0) -> Transform:
        """Return an upright frame there: x along the axis plus `turned` radians, y left, z up; parent is the scene."""
        return Transform(yaw_rotation(self.heading(s) + turned), self.at([s], offset, lift)[0])

    def cuts(self, reach: Reach | None, step: float) -> Array:
        """Return stations from end to end of a reach: its ends, the axis' points between, none farther than `step`."""
        low, high = (0.0, self.length) if reach is None else (max(reach[0], 0.0), min(reach[1], self.length))
        if high <= low:
            return np.zeros(0)
        inside = self.stations[(self.stations > low + 1e-9) & (self.stations < high - 1e-9)]
        marks = np.concatenate([[low], inside, [high]])
        counts = np.maximum(1, np.ceil(np.diff(marks) / step - 1e-9)).astype(int)
        pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(marks[:-1], marks[1:], counts, strict=True)]
        return np.concatenate([*pieces, [high]])

    def beside(self, offset: float) -> Alignment:
        """Return the axis that runs `offset` metres to the left of this one."""
        return Alignment(self.at(self.stations, offset))


def height_near(axes: tuple[Alignment, ...], points: Array) -> Array:
    """Return the heights (N,) of the axes' nearest places to plan points (N, 2 or more), metres: a scene's ground."""
    best = np.full(len(points), np.inf)
    height = np.zeros(len(points))
    for axis in axes:
        start, step = axis.points[:-1], np.diff(axis.points, axis=0)
        delta = points[:, None, :2] - start[None, :, :2]
        share = np.clip(np.einsum("nmk,mk->nm", delta, step[:, :2]) / (step[:, :2] ** 2).sum(axis=1), 0.0, 1.0)
        gap = np.linalg.norm(delta - share[:, :, None] * step[None, :, :2], axis=2)
        nearest = gap.argmin(axis=1)
        row = np.arange(len(points))
        closer = gap[row, nearest] < best
        found = start[nearest, 2] + share[row, nearest] * step[nearest, 2]
        best, height = np.where(closer, gap[row, nearest], best), np.where(closer, found, height)
    return height
