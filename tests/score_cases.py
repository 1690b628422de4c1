"""Regions, trajectories and predictions for tests of scoring, drawn by hypothesis or written out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from data_registry.evaluation import PairRegion, Predicted, Status, Variant
from data_registry.geometry import Array

PAIR = "demo/scene/sample/crate"


def square(x: float, y: float, half: float = 1.0) -> Array:
    """Return a square (4, 2) around a point."""
    return np.array([(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)])


@st.composite
def quads(draw: st.DrawFn) -> tuple[Array, Array]:
    """Draw a simple quad (4, 2), convex or concave, of either orientation, and a point (2,) that sees all of it."""
    centre: Array = np.array([draw(st.floats(-15, 30)), draw(st.floats(-12, 12))])
    angles = [(index + draw(st.floats(0.05, 0.95))) * np.pi / 2 for index in range(4)]
    reaches = [draw(st.floats(0.4, 6)) for _ in range(4)]
    ring: Array = np.array([(np.cos(a) * r, np.sin(a) * r) for a, r in zip(angles, reaches, strict=True)])
    return centre + (ring[::-1] if draw(st.booleans()) else ring), centre


@st.composite
def trajectories(draw: st.DrawFn, headed: bool | None = None) -> tuple[Array, Array, Array | None]:
    """Draw times from 0 to 3 s or beyond, positions from (0, 0), and headings or None: driving, reversing, standing."""
    count = draw(st.integers(1, 6))
    spans = [draw(st.sampled_from([0.25, 0.5, 1.0])) for _ in range(count)]
    t: Array = np.array([0.0, *np.cumsum(spans)])
    t = t if t[-1] >= 3.0 else np.append(t, 3.0 + draw(st.sampled_from([0.0, 0.3])))
    speeds = draw(st.lists(st.sampled_from([-3.0, 0.0, 0.1, 2.0, 7.5, 14.0]), min_size=len(t) - 1, max_size=len(t) - 1))
    turns = draw(st.lists(st.floats(-0.4, 0.4), min_size=len(t) - 1, max_size=len(t) - 1))
    headings: Array = np.array([0.0, *np.cumsum(turns)])
    ways = np.array(speeds, dtype=np.float64) * (t[1:] - t[:-1])
    moves = np.array([ways * np.cos(headings[1:]), ways * np.sin(headings[1:])], dtype=np.float64).T
    xy = np.concatenate([np.zeros((1, 2)), np.cumsum(moves, axis=0)])
    given = draw(st.booleans()) if headed is None else headed
    return t, xy, headings if given else None


def region(quad: Array, clearance_m: float = 1.0, pair_id: str = PAIR) -> PairRegion:
    """Return a pair with a region."""
    return PairRegion(pair_id, quad, clearance_m, "lane_blockage", "crate", "scene")


def answer(
    variant: Variant, t: Sequence[float] | Array, xy: Sequence[Sequence[float]] | Array, heading: Array | None = None
) -> Predicted:
    """Return an ok prediction."""
    return Predicted(PAIR, variant, "ok", np.array(t, dtype=float), np.array(xy, dtype=float), heading)


def failed(variant: Variant, status: Status, reason: str = "") -> Predicted:
    """Return a prediction without a trajectory."""
    return Predicted(PAIR, variant, status, reason=reason)


def straight(speed: float, variant: Variant = "edited") -> Predicted:
    """Return a prediction straight ahead at constant speed, m/s, given each half second."""
    t = np.arange(7) * 0.5
    return answer(variant, t, np.column_stack([speed * t, 0 * t]))
