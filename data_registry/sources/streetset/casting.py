"""Makers of actors, houses and rows of things, so that a scene's module reads as a list of what is in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.world import Actor, Colour, Lane, Mark, Prop, Road, Strip, Track, Xy

PAVEMENT_RISE: Final = 0.12
SOLID: Final[Mark] = "SINGLE_SOLID_WHITE"
DASHED: Final[Mark] = "DOUBLE_DASHED_WHITE"

WHITE: Final[Colour] = (0.56, 0.56, 0.54)
SILVER: Final[Colour] = (0.36, 0.37, 0.38)
GREY: Final[Colour] = (0.16, 0.165, 0.17)
BLACK: Final[Colour] = (0.02, 0.022, 0.026)
RED: Final[Colour] = (0.30, 0.035, 0.03)
BLUE: Final[Colour] = (0.045, 0.11, 0.22)
GREEN: Final[Colour] = (0.06, 0.15, 0.11)
SAND: Final[Colour] = (0.42, 0.36, 0.24)
YELLOW: Final[Colour] = (0.60, 0.38, 0.04)
ORANGE: Final[Colour] = (0.62, 0.20, 0.03)
DARK: Final[Colour] = (0.05, 0.05, 0.06)

VEHICLES: Final[dict[str, tuple[str, tuple[float, float, float]]]] = {
    "car": ("vehicle.car", (4.2, 1.78, 1.48)),
    "saloon": ("vehicle.car", (4.65, 1.82, 1.44)),
    "suv": ("vehicle.car", (4.6, 1.88, 1.72)),
    "van": ("vehicle.car", (5.3, 1.98, 2.30)),
    "box_truck": ("vehicle.truck", (6.8, 2.2, 2.9)),
    "bus": ("vehicle.bus.rigid", (11.5, 2.5, 3.1)),
    "excavator": ("vehicle.construction", (6.4, 2.3, 2.9)),
}
"""Category and usual size of each shape on four wheels or more."""
MOVING, STOPPED, PARKED = "vehicle.moving", "vehicle.stopped", "vehicle.parked"


def vehicle(
    name: str,
    shape: str,
    track: Track,
    colour: Colour,
    attribute: str = "",
    size: tuple[float, float, float] | None = None,
) -> Actor:
    """Return a vehicle: moving when its track moves, else parked unless the attribute says stopped."""
    category, usual = VEHICLES[shape]
    state = attribute or (MOVING if track.speed else PARKED)
    return Actor(name, category, state, shape, size or usual, track, colour=colour)


def parked(name: str, shape: str, place: Xy, colour: Colour, heading: float = 0.0) -> Actor:
    """Return a parked vehicle by the place of its middle."""
    return vehicle(name, shape, Track.still(*place, heading), colour)


def parked_row(name: str, row: Sequence[tuple[str, float, Colour]], t: float, heading: float = 0.0) -> list[Actor]:
    """Return vehicles parked along x: shape, x of the rear end (the smaller x) and colour of each."""
    places = [(shape, (x + VEHICLES[shape][1][0] / 2, t), colour) for shape, x, colour in row]
    return [
        parked(f"{name}-{number}", shape, place, colour, heading)
        for number, (shape, place, colour) in enumerate(places, start=1)
    ]


def queued(road: Road, lane: str, front: float, length: float) -> Track:
    """Return the place of a vehicle that waits on a road that begins at a junction, its front `front` metres away."""
    s = front + length / 2
    x, y = road.axis.place(s, road.lane(lane).middle)
    return Track.still(x, y, road.axis.pose(s)[2] + math.pi)


def person(name: str, place: Xy, heading: float, speed: float, colour: Colour, rise: float = PAVEMENT_RISE) -> Actor:
    """Return an adult who walks straight on or stands."""
    body = ("adult", "pedestrian", (0.72 if speed else 0.50, 0.62, 1.74))
    return _pedestrian(name, Track.straight(place, heading, speed), colour, body, rise)


def child(name: str, place: Xy, heading: float, speed: float, colour: Colour) -> Actor:
    """Return a child on a pavement."""
    body = ("child", "child", (0.65 if speed else 0.45, 0.42, 1.18))
    return _pedestrian(name, Track.straight(place, heading, speed), colour, body, PAVEMENT_RISE)


def worker(name: str, place: Xy, heading: float, speed: float, colour: Colour) -> Actor:
    """Return a construction worker on level ground."""
    body = ("construction_worker", "construction_worker", (0.72 if speed else 0.50, 0.62, 1.74))
    return _pedestrian(name, Track.straight(place, heading, speed), colour, body, 0.0)


def _pedestrian(
    name: str, track: Track, colour: Colour, body: tuple[str, str, tuple[float, float, float]], rise: float
) -> Actor:
    kind, shape, size = body
    attribute = "pedestrian.moving" if track.speed else "pedestrian.standing"
    return Actor(name, f"human.pedestrian.{kind}", attribute, shape, size, track, rise, colour)


def two_wheeler(name: str, shape: str, track: Track, colour: Colour, rise: float = 0.0) -> Actor:
    """Return a cyclist, a motorcyclist, or a bicycle that nobody rides."""
    sizes = {"cyclist": (1.75, 0.62, 1.72), "motorcyclist": (2.1, 0.8, 1.62), "bicycle": (1.75, 0.5, 1.05)}
    category = "vehicle.motorcycle" if shape == "motorcyclist" else "vehicle.bicycle"
    attribute = "cycle.without_rider" if shape == "bicycle" else "cycle.with_rider"
    return Actor(name, category, attribute, shape, sizes[shape], track, rise, colour)


def animal(name: str, shape: str, track: Track, colour: Colour, rise: float = 0.0) -> Actor:
    """Return a dog or a deer."""
    size = {"dog": (0.95, 0.30, 0.62), "deer": (1.5, 0.45, 1.5)}[shape]
    return Actor(name, "animal", "", shape, size, track, rise, colour)


def cones(name: str, places: Sequence[Xy], rise: float = 0.0) -> list[Actor]:
    """Return traffic cones."""
    size = (0.38, 0.38, 0.72)
    return [
        Actor(f"{name}-{number}", "movable_object.trafficcone", "", "cone", size, Track.still(*place), rise, ORANGE)
        for number, place in enumerate(places, start=1)
    ]


def barriers(name: str, places: Sequence[tuple[float, float, float]], rise: float = 0.0) -> list[Actor]:
    """Return barriers 2 m wide by place and the direction that they face."""
    size = (0.45, 2.0, 1.05)
    return [
        Actor(f"{name}-{number}", "movable_object.barrier", "", "barrier", size, Track.still(*place), rise, RED)
        for number, place in enumerate(places, start=1)
    ]


def two_way(
    names: tuple[str, str], right: float, width: float, edges: tuple[Mark, Mark] = (SOLID, SOLID)
) -> tuple[Lane, Lane]:
    """Return a lane along the axis and one against it at its left, a dashed line between them.

    Args:
        names: of the lane along the axis, and of the other.
        right: offset of the first lane's right edge, left positive, metres.
        width: of each lane, metres.
        edges: kinds of the line at the right of all and of that at the left.
    """
    middle, left = round(right + width, 6), round(right + 2 * width, 6)
    return Lane(names[0], right, middle, True, edges[0], DASHED), Lane(names[1], middle, left, False, DASHED, edges[1])


def pavements(right: float, left: float, width: float = 3.0) -> tuple[Strip, Strip]:
    """Return pavements outside two kerbs."""
    return (
        Strip("pavement", right - width, right, PAVEMENT_RISE),
        Strip("pavement", left, left + width, PAVEMENT_RISE),
    )


def along(kind: str, line: Line, stations: Sequence[float], t: float, rise: float = PAVEMENT_RISE) -> list[Prop]:
    """Return the same thing at stations along a line, t beside it, each looking at the line."""
    turn = math.pi / 2 if t < 0 else -math.pi / 2
    return [Prop(kind, *line.place(s, t), line.pose(s)[2] + turn, rise) for s in stations]


def signs(kind: str, line: Line, stations: Sequence[float], t: float, rise: float = PAVEMENT_RISE) -> list[Prop]:
    """Return signs that look at the traffic: on the right of the line at that along it, on the left at the other."""
    turn = math.pi if t < 0 else 0.0
    return [Prop(kind, *line.place(s, t), line.pose(s)[2] + turn, rise) for s in stations]


def planted(kind: str, places: Sequence[Xy], rise: float = 0.0) -> list[Prop]:
    """Return trees or bushes at places."""
    return [Prop(kind, x, y, 0.0, rise) for x, y in places]
