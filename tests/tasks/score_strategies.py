"""Pairs of a region and two answers for tests of scoring: sensible ones, odd ones, flawed ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from random import Random

import numpy as np
import shapely
from hypothesis import assume
from hypothesis import strategies as st

from data_registry.evaluation import PairRegion, Predicted, Status, Variant
from data_registry.geometry import BODIES, EGO_FRONT_M
from tasks.score import ScoreSettings
from tests.oracle_score import Path, Point, Pose, Rules, cut, find_flaw, poses

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


dice = st.randoms(use_true_random=True)
"""Kinds are hypothesis's choice, so that it can shrink to the simplest. Numbers are thrown: its own are mostly round,
and round ones seldom tell one rule from another."""


@st.composite
def times(draw: st.DrawFn) -> list[float]:
    """Times of a sound trajectory: even, summed up, uneven; just up to 3 s or past it."""
    kind = draw(st.sampled_from(["few", "even", "summed", "uneven"]))
    if kind == "few":
        return draw(st.sampled_from([[0.0, 3.0], [0.0, 7.0], [0.0, 1.5, 3.0], [0.0, 3.0 - 5e-7], [5e-7, 2.0, 3.0]]))
    if kind == "uneven":
        thrown, longest = draw(dice), draw(st.sampled_from([0.3, 1.0, 2.0]))
        t = [0.0]
        while t[-1] < 3.0:
            t.append(t[-1] + thrown.uniform(0.02, longest))
        return t
    step = draw(st.sampled_from([1.0, 0.5, 0.3, 0.25, 0.2, 0.1]))
    n = round(draw(st.sampled_from([3.0, 4.2, 6.0])) / step + 0.49) + 1
    return [step * i for i in range(n)] if kind == "even" else [0.0, *accumulate([step] * (n - 1))]


@st.composite
def speeds(draw: st.DrawFn, n: int) -> list[float]:
    """Speeds over n gaps: steady, braking to a stop, changing to reverse, crawling, any."""
    kind = draw(st.sampled_from(["steady", "stops", "turns back", "crawls", "any"]))
    thrown = draw(dice)
    if kind in ("crawls", "any"):
        return [thrown.uniform(*((0.0, 0.9) if kind == "crawls" else (-6.0, 20.0))) for _ in range(n)]
    first, change = thrown.choice([thrown.uniform(-6, 0), thrown.uniform(0, 12), thrown.uniform(0, 25)]), n // 2
    later = {"steady": first, "stops": 0.0, "turns back": -first / 3}[kind]
    return [first] * change + [later] * (n - change)


@st.composite
def steered(draw: st.DrawFn, t: list[float]) -> Path:
    """A vehicle that goes where it heads: straight, in an arc, winding."""
    n, thrown = len(t) - 1, draw(dice)
    steady = draw(st.sampled_from([0.0, 0.02, -0.3, 0.7, None]))
    x, y, heading = 0.0, 0.0, draw(st.sampled_from([0.0, 0.08, -0.08]))
    xy, turned = [(x, y)], [heading]
    for gap, speed in zip((after - before for before, after in pairwise(t)), draw(speeds(n)), strict=True):
        heading += gap * (thrown.uniform(-1.5, 1.5) if steady is None else steady)
        x, y = x + speed * gap * math.cos(heading), y + speed * gap * math.sin(heading)
        xy.append((x, y))
        turned.append(heading)
    return Path(t, xy, turned)


@st.composite
def scattered(draw: st.DrawFn, t: list[float]) -> Path:
    """A path that no vehicle drives, or a place where it stands and turns."""
    n, thrown, stands = len(t) - 1, draw(dice), draw(st.booleans())
    points = [(0.0, 0.0) if stands else (thrown.uniform(-4, 12), thrown.uniform(-6, 6)) for _ in range(n)]
    most = draw(st.sampled_from([0.3, 3.0]))
    turns = [thrown.uniform(-most, most) for _ in range(n)]
    return Path(t, [(0.0, 0.0), *points], [*accumulate(turns, initial=thrown.uniform(-0.08, 0.08))])


@st.composite
def sound_paths(draw: st.DrawFn) -> Path:
    """A trajectory that can be scored."""
    t = draw(times())
    path = draw(st.one_of(steered(t), steered(t), scattered(t)))
    headings = draw(st.sampled_from(["derived", "derived", "given", "given with whole turns"]))
    if headings == "derived":
        path = replace(path, heading=None)
    elif headings != "given" and path.heading is not None:
        thrown = draw(dice)
        path = replace(path, heading=[value + 2 * math.pi * thrown.randint(-2, 2) for value in path.heading])
    if draw(st.integers(0, 9)) == 9:
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
    kind, thrown = draw(st.sampled_from(["rectangle", "convex", "dart", "sliver"])), draw(dice)
    a, b = thrown.uniform(0.2, 4), thrown.uniform(0.2, 4)
    if kind == "convex":  # a corner in each quarter of an ellipse
        angles = [(90 * quarter + thrown.uniform(0, 85)) * DEGREE for quarter in range(4)]
        return [(a * math.cos(angle), b * math.sin(angle)) for angle in angles]
    if kind == "dart":
        return [
            (2 * a, 0.0),
            (0.0, 2 * b),
            (2 * a * thrown.uniform(0.05, 0.9), 0.0),
            (0.0, -2 * thrown.uniform(0.2, 4)),
        ]
    if kind == "sliver":
        a, b = thrown.uniform(3, 20), thrown.uniform(0.005, 0.02)
    return [(a, b), (-a, b), (-a, -b), (a, -b)]


@st.composite
def quads(draw: st.DrawFn, path: Path | None) -> list[Point]:
    """Near a path, before the bumper to a hair, on the vehicle, far away; either orientation, any first corner."""
    corners, thrown = draw(shapes()), draw(dice)
    first = thrown.randrange(4)
    corners = [*corners[first:], *corners[:first]][:: draw(st.sampled_from([1, -1]))]
    where = draw(st.sampled_from(["path", "path", "path", "path", "path", "bumper", "start", "far"]))
    if where == "bumper":
        gap = draw(st.sampled_from([0.0, 5e-7, -5e-7, 3e-6, 1e-3]))
        return moved(corners, EGO_FRONT_M + gap - min(x for x, _ in corners), thrown.uniform(-1, 1), 0.0)
    turn = draw(st.sampled_from([0.0, math.pi / 2, thrown.uniform(-3, 3)]))
    if where != "path":
        reach = 2.0 if where == "start" else 1000.0
        return moved(corners, thrown.uniform(-reach, reach), thrown.uniform(-reach, reach), turn)
    away = thrown.uniform(0.9, 6.0) + thrown.random() * max(math.hypot(*corner) for corner in corners)
    x, y, direction = aside(thrown, path)
    return moved(corners, x + away * math.cos(direction), y + away * math.sin(direction), turn)


def aside(thrown: Random, path: Path | None) -> Pose:
    """Return where the body comes by and a direction to its side, or where it ends and any direction."""
    if path is None or find_flaw(path, Rules()):
        path = Path([0.0, 3.0], [(0.0, 0.0), (0.0, 0.0)])
    way = poses(cut(path, 3.0), 0.0)
    x, y, heading = thrown.choice([way[-1], thrown.choice(way)])
    any_side = thrown.uniform(-math.pi, math.pi) if (x, y, heading) == way[-1] else thrown.choice([-1.6, 1.6])
    return x + 1.4 * math.cos(heading), y + 1.4 * math.sin(heading), heading + any_side


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
    clearance_m = draw(st.sampled_from([0.5, 1.0, 1.5, 7.3]))
    return Pair(region(corners, clearance_m, name), edited, source)


chosen_settings = st.builds(
    ScoreSettings,
    body=st.sampled_from(sorted(BODIES)),
    horizon_s=st.sampled_from([3.0, 3.0, 3.0, 2.0, 1.0, 2.5]),
    clearance_factor=st.sampled_from([1.0, 0.5, 1.5]),
)
