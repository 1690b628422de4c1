"""Keyframes on small mapped roads, made in memory: a street with parked cars, a junction to go through or turn at.

The ego stands at the origin on a lane 3.5 m wide that runs along x; to its left runs an oncoming lane, to its right lie
parking bays 2.25 m deep. The junction is a square of 14 m that begins `at` metres ahead, with a crossing before it, one
behind it and one on the arm to the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from data_registry.geometry import Array
from data_registry.records import Annotation, Area, Keyframe, Lane, MapPatch, PathPoint, StopLine, StopLineKind
from tests.street import annotation, keyframe

LANE_M = 3.5
JUNCTION_M = 14.0
BAY = (-4.0, -1.75)
TURN_RADIUS = 5.0


def box_area(x0: float, x1: float, y0: float, y1: float) -> Area:
    """Return a rectangle."""
    return Area(exterior=((x0, y0), (x1, y0), (x1, y1), (x0, y1)))


def lane(token: str, line: Array, successors: Sequence[str] = (), is_connector: bool = False) -> Lane:
    """Return a lane 3.5 m wide along a line (N, 2)."""
    way = np.gradient(line, axis=0)
    side = np.column_stack([-way[:, 1], way[:, 0]]) / np.hypot(way[:, 0], way[:, 1])[:, None] * LANE_M / 2
    ring = np.vstack([line - side, (line + side)[::-1]])
    return Lane(
        token=token,
        area=Area(exterior=tuple((float(x), float(y)) for x, y in ring)),
        centreline=tuple((float(x), float(y)) for x, y in line),
        is_connector=is_connector,
        successors=tuple(successors),
    )


def straight(start: tuple[float, float], end: tuple[float, float]) -> Array:
    """Return points (N, 2) about 1 m apart."""
    steps = int(np.ceil(np.hypot(end[0] - start[0], end[1] - start[1]))) + 1
    return np.linspace(start, end, steps)


def _framed(patch: dict[str, Any], notes: Sequence[Annotation], speed: float, **more: Any) -> Keyframe:
    frame = keyframe(annotations=notes, speed=speed)
    whole = MapPatch.model_validate({"source": "expansion", "layers_sha256": "0" * 64, **patch})
    return frame.model_copy(update={"map": whole, **more})


def two_way_street(notes: Sequence[Annotation] = (), speed: float = 6.0, **more: Any) -> Keyframe:
    """Return a straight two-way street with bays on the right and no junction."""
    lanes = (lane("ego", straight((-20, 0), (90, 0))), lane("oncoming", straight((90, 3.5), (-20, 3.5))))
    return _framed({"drivable": (box_area(-20, 90, BAY[0], 5.25),), "lanes": lanes}, notes, speed, **more)


def one_way_street(notes: Sequence[Annotation] = (), speed: float = 6.0) -> Keyframe:
    """Return the same with both lanes in the ego's direction."""
    lanes = (lane("ego", straight((-20, 0), (90, 0))), lane("left", straight((-20, 3.5), (90, 3.5))))
    return _framed({"drivable": (box_area(-20, 90, BAY[0], 5.25),), "lanes": lanes}, notes, speed)


def junction(
    notes: Sequence[Annotation] = (),
    speed: float = 6.0,
    at: float = 14.0,
    stop: StopLineKind | None = "stop_sign",
    turn: Literal["straight", "right"] = "straight",
) -> Keyframe:
    """Return a junction that the ego goes straight through or turns right at; `stop` None: no stop line is mapped."""
    end, middle = at + JUNCTION_M, 1.75
    corner = at + TURN_RADIUS
    angle = np.linspace(0, np.pi / 2, 9)
    bend = np.column_stack([at + TURN_RADIUS * np.sin(angle), -TURN_RADIUS * (1 - np.cos(angle))])
    lanes = (
        lane("in", straight((-30, 0), (at, 0)), ("right", "through")),
        lane("through", straight((at, 0), (end, 0)), ("out",), is_connector=True),
        lane("right", bend, ("arm",), is_connector=True),
        lane("out", straight((end, 0), (end + 50, 0))),
        lane("arm", straight((corner, -TURN_RADIUS), (corner, -60))),
        lane("oncoming", straight((at, 3.5), (-30, 3.5))),
    )
    patch = {
        "drivable": (
            box_area(-30, end + 50, BAY[0], 5.25),
            box_area(at, end, middle - JUNCTION_M / 2, middle + JUNCTION_M / 2),
            box_area(at + 1, end - 1, -60, 60),
        ),
        "lanes": lanes,
        "crossings": (
            box_area(at - 4, at - 1, -4, 5.25),
            box_area(end + 1, end + 4, -4, 5.25),
            box_area(at + 1, end - 1, -11, -8),
        ),
        "intersections": (box_area(at, end, middle - JUNCTION_M / 2, middle + JUNCTION_M / 2),),
        "stop_lines": () if stop is None else (StopLine(area=box_area(at - 6.5, at - 5, -1.75, 1.75), kind=stop),),
    }
    frame = _framed(patch, notes, speed)
    if turn == "straight":
        return frame
    arc = speed * np.arange(0.0, 3.51, 0.5)
    future = [_turning(at, float(s)) for s in arc]
    points = tuple(PathPoint(t=0.5 * n, x=x, y=y, heading=h) for n, (x, y, h) in enumerate(future))
    return frame.model_copy(update={"motion": frame.motion.model_copy(update={"future": points})})


def _turning(at: float, arc: float) -> tuple[float, float, float]:
    """Return the pose of an ego that turns right at the junction."""
    turned = min(max(arc - at, 0.0) / TURN_RADIUS, np.pi / 2)
    if turned < np.pi / 2:
        return min(arc, at) + TURN_RADIUS * float(np.sin(turned)), -TURN_RADIUS * (1 - float(np.cos(turned))), -turned
    return at + TURN_RADIUS, -TURN_RADIUS - (arc - at - TURN_RADIUS * np.pi / 2), -np.pi / 2


def parked(name: str, x: float, y: float = -2.9) -> Annotation:
    """Return a parked car in a bay."""
    return annotation(name, x, y).model_copy(update={"attributes": ("vehicle.parked",)})


BAYS = (parked("p1", 9.0), parked("p2", 15.0), parked("p3", 21.0))
