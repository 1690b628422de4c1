"""The slow oracle of scoring: DESIGN section 5 word by word, by another hand than the fast code.

Plain loops over Python floats; shapely makes hulls and measures distances. It imports nothing of the scorer, only the
contracts (`data_registry.evaluation`, `Body`). Where DESIGN leaves room, this is how it was read:

- A trajectory with several flaws gets the first of `Flaw` in the order of that literal. `not_finite` looks at every
  number of t, xy and heading, those after the horizon too; a finite number is finite however large.
- `length`: no times, no positions, or not equally many times, positions and headings. One point alone is `short`.
- "t[0] = 0, xy[0] = (0, 0) within 1e-6": both within 1e-6, the position by its distance. What lies within is used as it
  came, nothing is moved to 0; before the first time the vehicle stands at its first position.
- A time that does not miss the horizon by more than 1e-6 s reaches it (the tolerance of `short`): the first such point
  at or before the horizon is the end, and none is made up between it and the horizon, where a velocity would be a
  quotient of two rounding errors. Only a first time after the horizon calls for interpolation.
- "Previous heading" is that of the point before, as it came out: held or turned. The first point's is h0, also where
  it is at odds with the path. Given headings are used as they came, the first one too, and interpolated at the horizon
  by the short arc.
- "More than 90 degrees": exactly 90 is not reversing. "Within 5 degrees" includes 5. Exactly 0.3 m/s is not slower.
- Where two headings are exactly opposed, the short arc goes left (+180 degrees).
- With another horizon, the grid of CTS ends at the last multiple of 0.5 s within it (and within 1e-6 s).
- The clearance of a pair is its own times `clearance_factor`.
- CTS needs two predictions without failure; a flaw in the headings of the source prediction is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import shapely

from data_registry.evaluation import PairRegion, Predicted
from data_registry.geometry import ZOE, Body

Point = tuple[float, float]
Pose = tuple[float, float, float]
"""x, y, heading of the rear axle."""

TOLERANCE = 1e-6
STEP_S, STEP_RAD, STEP_M = 0.1, math.radians(5.0), 1.0
HELD_BELOW_MPS = 0.3
GRID_S = 0.5


@dataclass(frozen=True, slots=True)
class Rules:
    """What an evaluation may set, and where the vehicle starts."""

    body: Body = ZOE
    horizon_s: float = 3.0
    clearance_factor: float = 1.0
    start: Point = (0.0, 0.0)
    h0: float = 0.0


@dataclass(frozen=True, slots=True)
class Path:
    """A trajectory in plain numbers."""

    t: list[float]
    xy: list[Point]
    heading: list[float] | None = None

    @classmethod
    def of(cls, predicted: Predicted) -> Path:
        """Take the numbers out of a planner's answer."""
        t = [] if predicted.t is None else [float(value) for value in predicted.t]
        xy = [] if predicted.xy is None else [(float(point[0]), float(point[1])) for point in predicted.xy]
        heading = None if predicted.heading is None else [float(value) for value in predicted.heading]
        return cls(t, xy, heading)


@dataclass(frozen=True, slots=True)
class Scores:
    """One pair's row."""

    edited: str
    source: str
    ur: float | None = None
    d: float | None = None
    hcc: float | None = None
    hpr: float | None = None
    cts: float | None = None
    cts_x: float | None = None
    cts_y: float | None = None


def short_arc(angle: float) -> float:
    """Bring an angle into (-pi, pi]."""
    turned = math.remainder(angle, 2 * math.pi)
    return math.pi if turned == -math.pi else turned


def find_flaw(path: Path, rules: Rules) -> str | None:
    """Say why a trajectory cannot be scored: a code of `Flaw`, or None."""
    t, xy, heading = path.t, path.xy, path.heading
    numbers = [*t, *(value for point in xy for value in point), *(heading or [])]
    if not all(math.isfinite(number) for number in numbers):
        return "not_finite"
    if len(t) == 0 or len(xy) != len(t) or (heading is not None and len(heading) != len(t)):
        return "length"
    if not all(before < after for before, after in pairwise(t)):
        return "order"
    if abs(t[0]) > TOLERANCE or math.dist(xy[0], rules.start) > TOLERANCE:
        return "start"
    if t[-1] < rules.horizon_s - TOLERANCE:
        return "short"
    if heading is not None and abs(short_arc(heading[0] - rules.h0)) > math.radians(5.0):
        return "heading_start"
    return None


def cut(path: Path, horizon_s: float) -> Path:
    """Let a sound trajectory end at the horizon."""
    end = next(index for index, time in enumerate(path.t) if time >= horizon_s - TOLERANCE)
    t, xy = path.t[: end + 1], path.xy[: end + 1]
    heading = None if path.heading is None else path.heading[: end + 1]
    if t[end] > horizon_s:
        share = (horizon_s - t[end - 1]) / (t[end] - t[end - 1])
        t[end] = horizon_s
        xy[end] = between(xy[end - 1], xy[end], share)
        if heading is not None:
            heading[end] = heading[end - 1] + share * short_arc(heading[end] - heading[end - 1])
    return Path(t, xy, heading)


def between(a: Point, b: Point, share: float) -> Point:
    """Return the point at a share of the way from a to b."""
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def velocity(path: Path, index: int) -> Point:
    """Central difference inside, backward difference at the end, over the time it spans, m/s."""
    before, after = index - 1, min(index + 1, len(path.t) - 1)
    span = path.t[after] - path.t[before]
    return (path.xy[after][0] - path.xy[before][0]) / span, (path.xy[after][1] - path.xy[before][1]) / span


def headings(path: Path, h0: float) -> list[float]:
    """Return a heading for each point of a cut trajectory: the given ones, or derived from the positions."""
    if path.heading is not None:
        return path.heading
    found = [h0]
    for index in range(1, len(path.t)):
        vx, vy = velocity(path, index)
        if math.hypot(vx, vy) < HELD_BELOW_MPS:
            found.append(found[-1])
            continue
        heading = math.atan2(vy, vx)
        if abs(short_arc(heading - found[-1])) > math.pi / 2:
            heading += math.pi
        found.append(heading)
    return found


def parts(path: Path, turned: list[float], index: int) -> float:
    """Return x of DESIGN's k = max(1, ceil(x - 1e-9)) for the way from a point to the next."""
    seconds = path.t[index + 1] - path.t[index]
    radians = abs(short_arc(turned[index + 1] - turned[index]))
    return max(seconds / STEP_S, radians / STEP_RAD, math.dist(path.xy[index], path.xy[index + 1]) / STEP_M)


def poses(path: Path, h0: float) -> list[Pose]:
    """Densify a cut trajectory."""
    turned = headings(path, h0)
    dense: list[Pose] = [(*path.xy[0], turned[0])]
    for index in range(len(path.t) - 1):
        steps = max(1, math.ceil(parts(path, turned, index) - 1e-9))
        arc = short_arc(turned[index + 1] - turned[index])
        for step in range(1, steps + 1):
            x, y = between(path.xy[index], path.xy[index + 1], step / steps)
            dense.append((x, y, turned[index] + arc * step / steps))
    return dense


def footprint(pose: Pose, body: Body) -> list[Point]:
    """Return the body's four corners."""
    x, y, heading = pose
    front, rear = body.axle_to_centre_m + body.length_m / 2, body.axle_to_centre_m - body.length_m / 2
    left = body.width_m / 2
    cosine, sine = math.cos(heading), math.sin(heading)
    return [
        (x + ahead * cosine - aside * sine, y + ahead * sine + aside * cosine)
        for ahead, aside in ((front, left), (rear, left), (rear, -left), (front, -left))
    ]


def gap(path: Path, quad: list[Point], rules: Rules) -> float:
    """Return the distance from the tube of a sound trajectory to a region, as measured."""
    region = shapely.Polygon(quad)
    dense = poses(cut(path, rules.horizon_s), rules.h0)
    nearest = math.inf
    for before, after in pairwise(dense):
        corners = footprint(before, rules.body) + footprint(after, rules.body)
        nearest = min(nearest, shapely.MultiPoint(corners).convex_hull.distance(region))
    return nearest


def distance(path: Path, quad: list[Point], rules: Rules) -> float:
    """Return d of DESIGN: the gap, or 0 for contact."""
    measured = gap(path, quad, rules)
    return 0.0 if measured <= TOLERANCE else measured


def place(path: Path, time: float) -> Point:
    """Return where a trajectory is at a time; outside its times, its nearest end."""
    if time <= path.t[0]:
        return path.xy[0]
    for index in range(len(path.t) - 1):
        if time <= path.t[index + 1]:
            share = (time - path.t[index]) / (path.t[index + 1] - path.t[index])
            return between(path.xy[index], path.xy[index + 1], share)
    return path.xy[-1]


def change(source: Path, edited: Path, horizon_s: float) -> tuple[float, float, float]:
    """Return CTS, CTS_x and CTS_y of two sound trajectories."""
    apart: list[Point] = []
    for tick in range(int((horizon_s + TOLERANCE) // GRID_S) + 1):
        was, became = (place(cut(path, horizon_s), tick * GRID_S) for path in (source, edited))
        apart.append((became[0] - was[0], became[1] - was[1]))
    n = len(apart)
    return (
        sum(math.hypot(*dxy) for dxy in apart) / n,
        sum(abs(x) for x, _ in apart) / n,
        sum(abs(y) for _, y in apart) / n,
    )


def outcome(predicted: Predicted | None, rules: Rules) -> str:
    """Say what became of a prediction: ok, its status, or its trajectory's flaw."""
    if predicted is None:
        return "missing"
    if predicted.status != "ok":
        return predicted.status
    return find_flaw(Path.of(predicted), rules) or "ok"


def score_pair(region: PairRegion, edited: Predicted | None, source: Predicted | None, rules: Rules) -> Scores:
    """Score one pair."""
    codes = outcome(edited, rules), outcome(source, rules)
    if edited is None or codes[0] != "ok":
        return Scores(*codes)
    quad = [(float(x), float(y)) for x, y in region.quad]
    d = distance(Path.of(edited), quad, rules)
    safe = region.clearance_m * rules.clearance_factor
    ur = 1.0 if d == 0.0 else 0.0
    hcc = (1 - ur) * min(d / safe, 1.0)
    hpr = (1 - ur) * safe / (abs(d - safe) + safe)
    if source is None or codes[1] != "ok":
        return Scores(*codes, ur, d, hcc, hpr)
    return Scores(*codes, ur, d, hcc, hpr, *change(Path.of(source), Path.of(edited), rules.horizon_s))


def hangs_on_rounding(path: Path, quad: list[Point], rules: Rules) -> bool:
    """Tell whether a yes or no about a sound trajectory is so close that rounding decides it.

    Speed and turn at their limits, half a turn between points, a step more or less, contact or not: a comparison of
    two programs says nothing there. Limits that floats meet exactly have cases of their own.
    """
    ending = cut(path, rules.horizon_s)
    turned = headings(ending, rules.h0)
    for index in range(1, len(turned)):
        arc = abs(short_arc(turned[index] - turned[index - 1]))
        steps = parts(ending, turned, index - 1) - 1e-9
        if math.pi - arc < 1e-7 or abs(steps - round(steps)) < 5e-10:
            return True
        vx, vy = velocity(ending, index)
        over = math.hypot(vx, vy) - HELD_BELOW_MPS
        turn = abs(short_arc(math.atan2(vy, vx) - turned[index - 1]))
        if path.heading is None and (abs(over) < 1e-7 or (over > 0 and abs(turn - math.pi / 2) < 1e-7)):
            return True
    return abs(gap(path, quad, rules) - TOLERANCE) < 2e-9
