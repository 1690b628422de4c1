"""Pairs of a region and two answers for tests of scoring: sensible ones, odd ones, flawed ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np
import shapely
from hypothesis import assume
from hypothesis import strategies as st

from data_registry.evaluation import PairRegion, Predicted, Status, Variant
from data_registry.geometry import BODIES, EGO_FRONT_M
from tasks.score import ScoreSettings
from tests.oracle_score import Path, Point

DEGREE = math.pi / 180


@dataclass(frozen=True, slots=True)
class Pair:
    """A region with its predictions; None: no row."""

    region: PairRegion
    edited: Predicted | None
    source: Predicted | None


def region(corners: Sequence[Point], clearance_m: float = 1.0, name: str = "a") -> PairRegion:
    return PairRegion(f"streetset/s/{name}/t", np.array(corners, dtype=np.float64), clearance_m, "family", "t", "s")


def predicted(path: Path, variant: Variant = "edited", name: str = "a") -> Predicted:
    heading = None if path.heading is None else np.array(path.heading, dtype=np.float64)
    xy = np.array(path.xy, dtype=np.float64).reshape(-1, 2)
    return Predicted(f"streetset/s/{name}/t", variant, "ok", np.array(path.t, dtype=np.float64), xy, heading)


def answered(status: Status, variant: Variant = "edited", name: str = "a") -> Predicted:
    return Predicted(f"streetset/s/{name}/t", variant, status)


@st.composite
def times(draw: st.DrawFn) -> list[float]:
    """Times of a sound trajectory: even, summed up, uneven; just up to 3 s or past it."""
    kind = draw(st.sampled_from(["even", "summed", "uneven", "few"]))
    if kind == "few":
        return draw(st.sampled_from([[0.0, 3.0], [0.0, 7.0], [0.0, 1.5, 3.0], [0.0, 3.0 - 5e-7], [5e-7, 2.0, 3.0]]))
    if kind == "uneven":
        gaps = draw(st.lists(st.floats(0.02, 1.2), min_size=1, max_size=10))
        t = [0.0, *accumulate(gaps)]
        return t if t[-1] >= 3.0 else [*t, draw(st.sampled_from([3.0, 3.25, 7.0])) + (0.5 if t[-1] > 2.9 else 0.0)]
    step = draw(st.sampled_from([0.1, 0.2, 0.25, 0.5, 1.0]))
    n = round(draw(st.sampled_from([3.0, 4.0, 6.0])) / step) + 1
    return [step * i for i in range(n)] if kind == "even" else [0.0, *accumulate([step] * (n - 1))]


def speeds(draw: st.DrawFn, n: int) -> list[float]:
    """Speeds over n gaps: steady, braking to a stop, changing to reverse, any."""
    kind = draw(st.sampled_from(["steady", "stops", "turns back", "any"]))
    if kind == "any":
        return draw(st.lists(st.floats(-6, 20), min_size=n, max_size=n))
    first, change = draw(st.floats(-6, 25)), draw(st.integers(0, n))
    later = {"steady": first, "stops": 0.0, "turns back": -first / 3}[kind]
    return [first] * change + [later] * (n - change)


def steered(draw: st.DrawFn, t: list[float]) -> Path:
    """A vehicle that goes where it heads: straight, in an arc, winding."""
    n = len(t) - 1
    steady = draw(st.sampled_from([0.0, 0.02, -0.3, 0.7]))
    rates = draw(st.one_of(st.just([steady] * n), st.lists(st.floats(-0.8, 0.8), min_size=n, max_size=n)))
    x, y, heading = 0.0, 0.0, draw(st.sampled_from([0.0, 0.0, 0.08, -0.08]))
    xy, turned = [(x, y)], [heading]
    for gap, speed, rate in zip((b - a for a, b in pairwise(t)), speeds(draw, n), rates, strict=True):
        heading += rate * gap
        x, y = x + speed * gap * math.cos(heading), y + speed * gap * math.sin(heading)
        xy.append((x, y))
        turned.append(heading)
    return Path(t, xy, turned)


def scattered(draw: st.DrawFn, t: list[float]) -> Path:
    """A path that no vehicle drives, or a place where it stands and turns."""
    n = len(t) - 1
    point = st.one_of(st.tuples(st.floats(-4, 12), st.floats(-6, 6)), st.just((0.0, 0.0)))
    xy = draw(st.one_of(st.just([(0.0, 0.0)] * n), st.lists(point, min_size=n, max_size=n)))
    turns = draw(st.lists(st.floats(-3, 3), min_size=n, max_size=n))
    return Path(t, [(0.0, 0.0), *xy], [*accumulate(turns, initial=draw(st.floats(-0.08, 0.08)))])


@st.composite
def sound_paths(draw: st.DrawFn) -> Path:
    """A trajectory that can be scored."""
    path = draw(st.sampled_from([steered, steered, scattered]))(draw, draw(times()))
    if draw(st.booleans()):
        path = replace(path, heading=None)
    elif draw(st.booleans()) and path.heading is not None:
        whole = draw(st.lists(st.integers(-2, 2), min_size=len(path.t), max_size=len(path.t)))
        path = replace(path, heading=[h + 2 * math.pi * k for h, k in zip(path.heading, whole, strict=True)])
    if draw(st.integers(0, 9)) == 0:
        path = replace(path, xy=[(4e-7, -5e-7), *path.xy[1:]])
    return path


MUTATIONS = (
    "not a number",
    "infinite",
    "position too few",
    "time too few",
    "heading too few",
    "empty",
    "time twice",
    "swapped",
    "late",
    "aside",
    "short",
    "one point",
    "heading aside",
)


def spoil(draw: st.DrawFn, path: Path, how: str) -> Path:
    """Give a trajectory one more flaw."""
    t, xy, n = list(path.t), list(path.xy), len(path.t)
    heading = list(path.heading) if path.heading is not None else [0.0] * n
    at = draw(st.integers(1, max(1, n - 1))) if n > 1 else 0
    if how == "empty" or n == 0:
        return Path([], [])
    if how in ("not a number", "infinite"):
        value = math.nan if how == "not a number" else draw(st.sampled_from([math.inf, -math.inf]))
        which = draw(st.sampled_from(["t", "xy", "heading"]))
        if which == "xy":
            return replace(path, xy=[*xy[:at], (0.0, value), *xy[at + 1 :]])
        numbers = t if which == "t" else heading
        return replace(path, **{which: [*numbers[:at], value, *numbers[at + 1 :]]})
    changes: dict[str, dict[str, object]] = {
        "position too few": {"xy": xy[:-1]},
        "time too few": {"t": t[1:]},
        "heading too few": {"heading": heading[:-1]},
        "time twice": {"t": [*t[:at], t[at - 1], *t[at + 1 :]]},
        "swapped": {"t": t[::-1]},
        "late": {"t": [t[0] + draw(st.sampled_from([2e-6, -2e-6, 0.01])), *t[1:]]},
        "aside": {"xy": [draw(st.sampled_from([(2e-6, 0.0), (0.0, -0.5)])), *xy[1:]]},
        "short": {"t": [time * draw(st.sampled_from([0.3, 2.999995 / 3])) / max(t[-1] / 3, 1.0) for time in t]},
        "one point": {"t": t[:1], "xy": xy[:1], "heading": None},
        "heading aside": {"heading": [draw(st.sampled_from([0.09, -1.0, math.pi])), *heading[1:]]},
    }
    return replace(path, **changes[how])


@st.composite
def answers(draw: st.DrawFn, variant: Variant, name: str, spoilt: int) -> Predicted | None:
    """Any answer or none: `spoilt` in ten are no sound trajectory."""
    if draw(st.integers(0, 9)) >= spoilt:
        return predicted(draw(sound_paths()), variant, name)
    kind = draw(st.sampled_from(["missing row", "status", "flaw", "flaw", "flaws"]))
    if kind == "missing row":
        return None
    if kind == "status":
        return answered(
            draw(st.sampled_from(["parse_failed", "truncated", "missing", "error", "ineligible"])), variant, name
        )
    path = draw(sound_paths())
    for how in draw(st.lists(st.sampled_from(MUTATIONS), min_size=1, max_size=1 if kind == "flaw" else 3)):
        path = spoil(draw, path, how)
    return predicted(path, variant, name)


@st.composite
def shapes(draw: st.DrawFn) -> list[Point]:
    """Four corners about the origin: rectangle, convex, dart, sliver."""
    kind = draw(st.sampled_from(["rectangle", "convex", "dart", "sliver"]))
    if kind == "rectangle":
        a, b = draw(st.floats(0.2, 6)), draw(st.floats(0.2, 6))
        return [(a, b), (-a, b), (-a, -b), (a, -b)]
    if kind == "sliver":
        long, thin = draw(st.floats(3, 20)), draw(st.floats(0.005, 0.02))
        return [(long, thin), (-long, thin), (-long, -thin), (long, -thin)]
    if kind == "convex":  # a corner in each quarter of an ellipse
        a, b = draw(st.floats(0.5, 6)), draw(st.floats(0.5, 6))
        angles = [90 * DEGREE * quarter + draw(st.floats(0, 85)) * DEGREE for quarter in range(4)]
        return [(a * math.cos(angle), b * math.sin(angle)) for angle in angles]
    back, wings, notch = draw(st.floats(1, 8)), draw(st.floats(0.5, 8)), draw(st.floats(0.05, 0.95))
    return [(back, 0.0), (0.0, wings), (back * notch, 0.0), (0.0, -wings * draw(st.floats(0.3, 1)))]


@st.composite
def quads(draw: st.DrawFn, path: Path | None) -> list[Point]:
    """Near a path, before the bumper to a hair, on the vehicle, far away; either orientation, any first corner."""
    corners = draw(shapes())
    if draw(st.booleans()):
        corners = corners[::-1]
    first = draw(st.integers(0, 3))
    corners = [*corners[first:], *corners[:first]]
    where = draw(st.sampled_from(["path", "path", "path", "bumper", "start", "far"]))
    if where == "bumper":
        gap = draw(st.sampled_from([0.0, 5e-7, -5e-7, 3e-6, 1e-3]))
        return moved(corners, EGO_FRONT_M + gap - min(x for x, _ in corners), draw(st.floats(-1, 1)), 0.0)
    turn = draw(st.one_of(st.sampled_from([0.0, math.pi / 2]), st.floats(-3, 3)))
    reach = {"path": 8.0, "start": 1.0, "far": 1000.0}[where]
    x, y = draw(st.floats(-reach, reach)), draw(st.floats(-reach, reach))
    if where == "path" and path is not None and len(path.xy):
        near = draw(st.sampled_from(path.xy))
        x, y = (near[0] + x, near[1] + y) if math.isfinite(near[0] + near[1]) else (x, y)
    return moved(corners, x, y, turn)


def moved(corners: list[Point], x: float, y: float, turn: float) -> list[Point]:
    cosine, sine = math.cos(turn), math.sin(turn)
    return [(x + a * cosine - b * sine, y + a * sine + b * cosine) for a, b in corners]


@st.composite
def pairs(draw: st.DrawFn, name: str) -> Pair:
    edited = draw(answers("edited", name, 3))
    source = draw(answers("source", name, 3))
    corners = draw(quads(None if edited is None else Path.of(edited)))
    shape = shapely.Polygon(corners)
    assume(shape.is_valid and shape.area >= 0.05)
    clearance_m = draw(st.one_of(st.sampled_from([0.5, 1.0, 1.5]), st.floats(0.01, 10)))
    return Pair(region(corners, clearance_m, name), edited, source)


chosen_settings = st.builds(
    ScoreSettings,
    body=st.sampled_from(sorted(BODIES)),
    horizon_s=st.sampled_from([3.0, 3.0, 3.0, 2.0, 1.0, 2.5]),
    clearance_factor=st.sampled_from([1.0, 0.5, 1.5]),
)
