"""Junctions made from the roads that meet there: outline with rounded corners, pavements, and every way through."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from data_registry.sources.streetset.lines import Pose, joining
from data_registry.sources.streetset.world import Connector, Junction, Lane, Road, Xy

CORNER_STEPS: Final = 8
CONNECTOR_WIDTH: Final = 3.2


@dataclass(frozen=True, slots=True)
class Arm:
    """A road that ends at a junction.

    Attributes:
        road: the road.
        at_end: whether the junction lies at the end of its axis, else at its start.
        pavement: width of its pavements, metres.
    """

    road: Road
    at_end: bool
    pavement: float = 3.0

    def place(self, t: float, back: float = 0.0) -> Xy:
        """Return the place at the mouth of the arm (or `back` metres inside it), t to the left looking outwards."""
        if self.at_end:
            return self.road.axis.place(self.road.axis.length - back, -t)
        return self.road.axis.place(back, t)

    @property
    def outwards(self) -> float:
        """Heading from the junction into the arm."""
        axis = self.road.axis
        return axis.pose(axis.length)[2] + math.pi if self.at_end else axis.start[2]

    @property
    def kerbs(self) -> tuple[float, float]:
        """Offsets of the right and left kerb when looking outwards."""
        right, left = self.road.kerbs
        return (-left, -right) if self.at_end else (right, left)

    def lanes(self, incoming: bool) -> list[Lane]:
        """Return the lanes whose traffic comes into the junction, or leaves it."""
        return [lane for lane in self.road.lanes if (lane.forward == self.at_end) == incoming]

    def mouth(self, lane: Lane) -> Pose:
        """Return the pose of a lane's middle at the junction, in its direction of traffic."""
        axis = self.road.axis
        s = axis.length if self.at_end else 0.0
        x, y = axis.place(s, lane.middle)
        return x, y, axis.pose(s)[2] + (0.0 if lane.forward else math.pi)


def junction(name: str, arms: Sequence[Arm]) -> Junction:
    """Return the junction of arms given counter-clockwise."""
    corners = [_corner(a, b) for a, b in itertools.pairwise([*arms, arms[0]])]
    mouths = [[arm.place(arm.kerbs[0]), arm.place(arm.kerbs[1])] for arm in arms]
    outline = [place for mouth, corner in zip(mouths, corners, strict=True) for place in (*mouth, *corner[1:-1])]
    pavements = [
        _pavement(a, b, corner) for (a, b), corner in zip(itertools.pairwise([*arms, arms[0]]), corners, strict=True)
    ]
    return Junction(name, tuple(outline), tuple(pavements), tuple(_connectors(arms)))


def _corner(a: Arm, b: Arm) -> list[Xy]:
    """Return the kerb from one arm's left side to the next one's right side."""
    return _curve(a.place(a.kerbs[1]), a.outwards + math.pi, b.place(b.kerbs[0]), b.outwards)


def _pavement(a: Arm, b: Arm, kerb: Sequence[Xy]) -> tuple[Xy, ...]:
    start, end = a.place(a.kerbs[1] + a.pavement), b.place(b.kerbs[0] - b.pavement)
    return (*_curve(start, a.outwards + math.pi, end, b.outwards), *kerb[::-1])


def _curve(start: Xy, heading: float, end: Xy, end_heading: float) -> list[Xy]:
    """Return places along a cubic curve that leaves and arrives in given directions, both ends included."""
    span = math.dist(start, end)
    turn = abs((end_heading - heading + math.pi) % (2 * math.pi) - math.pi)
    pull = span / 3 if turn < 1e-6 else 4 / 3 * math.tan(turn / 4) * span / (2 * math.sin(turn / 2))
    a = (start[0] + pull * math.cos(heading), start[1] + pull * math.sin(heading))
    b = (end[0] - pull * math.cos(end_heading), end[1] - pull * math.sin(end_heading))
    steps = CORNER_STEPS if turn > 1e-6 else 1
    return [_bezier((start, a, b, end), k / steps) for k in range(steps + 1)]


def _bezier(points: tuple[Xy, Xy, Xy, Xy], u: float) -> Xy:
    weights = ((1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u * u * (1 - u), u**3)
    x, y = (sum(w * p[k] for w, p in zip(weights, points, strict=True)) for k in (0, 1))
    return x, y


def _connectors(arms: Sequence[Arm]) -> list[Connector]:
    found: list[Connector] = []
    for a, b in itertools.permutations(arms, 2):
        for first, second in itertools.product(a.lanes(True), b.lanes(False)):
            name = f"{a.road.name}-{first.name}-to-{b.road.name}-{second.name}"
            line = joining(a.mouth(first), b.mouth(second))
            ends = ((a.road.name, first.name), (b.road.name, second.name))
            found.append(Connector(name, line, CONNECTOR_WIDTH, *ends))
    return found
