"""scene-9003: a signalised junction at dusk; the ego vehicle goes straight on at green, cross traffic waits."""

from __future__ import annotations

import math
from typing import Final

from data_registry.sources.streetset.casting import (
    BLACK,
    BLUE,
    GREY,
    RED,
    SAND,
    SILVER,
    STOPPED,
    WHITE,
    along,
    pavements,
    person,
    queued,
    two_way,
    two_wheeler,
    vehicle,
)
from data_registry.sources.streetset.crossroads import Arm, junction
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.world import (
    Crossing,
    Houses,
    Road,
    RoadsideUnit,
    Scene,
    Signal,
    StopLine,
    Strip,
    Track,
)

MOUTH: Final = 114.5
"""x where the junction begins: 11 m ahead of the bumper at the keyframe."""
MIDDLE: Final = 124.0
FAR: Final = 2 * MIDDLE - MOUTH
_RIGHT, _LEFT = -2.0, 5.5


def _main(name: str, start: float, length: float) -> Road:
    return Road(
        name,
        Line.straight((start, 0.0, 0.0), length),
        kerbs=(_RIGHT, _LEFT),
        lanes=two_way(("east", "west"), -1.75, 3.5),
        strips=pavements(_RIGHT, _LEFT, 3.6),
    )


def _side(name: str, y: float, heading: float) -> Road:
    """Return a side road; lane "out" leads away from the junction."""
    return Road(
        name,
        Line.straight((MIDDLE, y, heading), 62.0),
        kerbs=(-5.6, 3.5),
        lanes=two_way(("out", "in"), -3.25, 3.25),
        strips=(Strip("bay", -5.6, -3.25), *pavements(-5.6, 3.5)),
    )


WEST: Final = _main("west", 0.0, MOUTH)
EAST: Final = _main("east", FAR, 110.0)
NORTH: Final = _side("north", 12.0, math.pi / 2)
SOUTH: Final = _side("south", -8.5, -math.pi / 2)
JUNCTION: Final = junction(
    "junction", [Arm(EAST, False, 3.6), Arm(NORTH, False), Arm(WEST, True, 3.6), Arm(SOUTH, False)]
)
THROUGH: Final = Line.straight((0.0, 0.0, 0.0), FAR + 110.0)


def _oncoming(x: float, speed: float) -> Track:
    return Track.straight((x, 3.5), math.pi, speed)


ACTORS: Final = (
    vehicle("ahead", "saloon", Track.straight((158.0, 0.0), 0.0, 6.0), SILVER),
    vehicle("ahead-far", "van", Track.straight((176.0, 0.0), 0.0, 6.5), WHITE),
    vehicle("behind", "suv", Track.straight((79.0, 0.0), 0.0, 6.0), BLACK),
    vehicle("oncoming-past", "car", _oncoming(96.0, 6.0), RED),
    vehicle("oncoming-1", "saloon", _oncoming(151.0, 6.0), WHITE),
    vehicle("oncoming-2", "box_truck", _oncoming(168.0, 6.0), SAND),
    vehicle("waiting-north", "suv", queued(NORTH, "in", 7.4, 4.6), BLUE, STOPPED),
    vehicle("waiting-north-2", "car", queued(NORTH, "in", 14.2, 4.2), GREY, STOPPED),
    vehicle("waiting-south", "car", queued(SOUTH, "in", 7.2, 4.2), (0.40, 0.30, 0.06), STOPPED),
    two_wheeler("waiting-rider", "motorcyclist", queued(SOUTH, "in", 12.6, 2.1), BLACK),
    vehicle("parked-north", "car", Track.still(*NORTH.axis.place(24.0, -4.5), math.pi / 2), SILVER),
    vehicle("parked-south", "saloon", Track.still(*SOUTH.axis.place(20.0, -4.5), -math.pi / 2), RED),
    vehicle("parked-south-2", "van", Track.still(*SOUTH.axis.place(28.0, -4.5), -math.pi / 2), WHITE),
    person("waiting-corner", (114.2, -5.0), 0.0, 0.0, (0.10, 0.20, 0.10)),
    person("waiting-corner-2", (113.4, 7.8), 0.0, 0.0, (0.30, 0.06, 0.05)),
    person("walker-right", (101.0, -4.0), 0.0, 1.3, BLUE),
    person("walker-left", (104.0, 7.4), math.pi, 1.4, SAND),
    person("walker-far", (145.0, -3.6), 0.0, 1.2, GREY),
    person("walker-north", (118.3, 30.0), -math.pi / 2, 1.3, RED),
    two_wheeler("bicycle", "bicycle", Track.still(107.5, -4.9, 0.4), GREY, 0.12),
)

SCENE: Final = Scene(
    name="scene-9003",
    street="mill-junction",
    words=("signalised junction", "going straight on green", "cross traffic waits", "dusk", "no hazards"),
    conditions="dusk",
    stamp="2024-06-19-20-40-00",
    start_us=1_718_844_000_000_000,
    at=(650.0, 95.0, 0.12),
    ego=Track(THROUGH, 100.0, 6.0),
    actors=ACTORS,
    roads=(WEST, EAST, NORTH, SOUTH),
    junctions=(JUNCTION,),
    crossings=(
        Crossing("west", "west", 109.5, 112.5),
        Crossing("east", "east", 2.0, 5.0),
        Crossing("north", "north", 2.0, 5.0),
        Crossing("south", "south", 2.0, 5.0),
    ),
    stop_lines=(
        StopLine("west", "west", "east", 107.9, 108.3, "TRAFFIC_LIGHT", (), ("west",)),
        StopLine("east", "east", "west", 6.2, 6.6, "TRAFFIC_LIGHT", (), ("east",)),
        StopLine("north", "north", "in", 6.2, 6.6, "TRAFFIC_LIGHT", (), ("north",)),
        StopLine("south", "south", "in", 6.2, 6.6, "TRAFFIC_LIGHT", (), ("south",)),
    ),
    signals=(
        Signal("west", 109.0, -2.6, math.pi, "green"),
        Signal("east", FAR + 5.6, 6.1, 0.0, "green"),
        Signal("north", MIDDLE - 4.0, 17.6, math.pi / 2, "red"),
        Signal("south", MIDDLE + 4.0, -14.1, -math.pi / 2, "red"),
    ),
    props=(
        *along("linden", WEST.axis, (22.0, 38.0, 54.0, 70.0, 86.0), -4.4),
        *along("linden", WEST.axis, (30.0, 46.0, 62.0, 78.0, 94.0), 7.8),
        *along("linden", EAST.axis, range(20, 105, 16), -4.4),
        *along("linden", EAST.axis, range(28, 105, 16), 7.8),
        *along("lamp_post", WEST.axis, (14.0, 42.0, 74.0, 100.0), -2.5),
        *along("lamp_post", WEST.axis, (28.0, 58.0, 90.0), 6.0),
        *along("lamp_post", EAST.axis, (10.0, 38.0, 70.0), -2.5),
        *along("lamp_post", EAST.axis, (24.0, 54.0, 86.0), 6.0),
        *along("lamp_post", NORTH.axis, (12.0, 40.0), 4.0),
        *along("lamp_post", SOUTH.axis, (14.0, 42.0), 4.0),
        *along("bin", WEST.axis, (104.5,), -2.6),
        *along("bollard", WEST.axis, (112.9, 109.1), 6.0),
        *along("bench", WEST.axis, (98.0,), -5.0),
    ),
    houses=(
        Houses("west", -5.6, 0.0, MOUTH - 2.0, "town", 31),
        Houses("west", 9.1, 0.0, MOUTH - 2.0, "town", 32),
        Houses("east", -5.6, 2.0, 110.0, "town", 33),
        Houses("east", 9.1, 2.0, 110.0, "offices", 34),
        Houses("north", 6.5, 0.5, 62.0, "town", 35),
        Houses("north", -8.6, 0.5, 62.0, "town", 36),
        Houses("south", 6.5, 0.5, 62.0, "town", 37),
        Houses("south", -8.6, 0.5, 62.0, "town", 38),
    ),
    roadside=RoadsideUnit("mill-junction-unit", FAR - 1.5, -5.2, math.radians(150.0), math.radians(20.0), 6.2),
)
