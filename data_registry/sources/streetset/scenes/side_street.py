"""scene-9004: an unsignalised junction by day; the ego vehicle turns right, towards a crosswalk that is free."""

from __future__ import annotations

import math
from typing import Final

from data_registry.sources.streetset.casting import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    RED,
    SAND,
    SILVER,
    STOPPED,
    WHITE,
    YELLOW,
    along,
    animal,
    pavements,
    person,
    planted,
    queued,
    signs,
    two_way,
    two_wheeler,
    vehicle,
)
from data_registry.sources.streetset.crossroads import Arm, junction
from data_registry.sources.streetset.lines import Line, joining
from data_registry.sources.streetset.world import (
    Crossing,
    Houses,
    Road,
    RoadsideUnit,
    Scene,
    StopLine,
    Strip,
    Track,
)

MOUTH: Final = 100.0
MIDDLE: Final = 112.0
FAR: Final = 2 * MIDDLE - MOUTH
EGO_IN: Final = 1.6
"""How far the rear axle is past the junction's edge at the keyframe: the turn has just begun."""
_RIGHT, _LEFT = -2.0, 5.5


def _main(name: str, start: float, length: float) -> Road:
    return Road(
        name,
        Line.straight((start, 0.0, 0.0), length),
        kerbs=(_RIGHT, _LEFT + 2.2),
        lanes=two_way(("east", "west"), -1.75, 3.5),
        strips=(Strip("bay", 5.25, _LEFT + 2.2), *pavements(_RIGHT, _LEFT + 2.2, 3.2)),
    )


def _side(name: str, y: float, heading: float) -> Road:
    """Return a side road; lane "out" leads away from the junction."""
    return Road(
        name,
        Line.straight((MIDDLE, y, heading), 80.0 if y < 0 else 60.0),
        kerbs=(-3.5, 3.5),
        lanes=two_way(("out", "in"), -3.25, 3.25),
        strips=pavements(-3.5, 3.5, 2.8),
    )


WEST: Final = _main("west", 0.0, MOUTH)
EAST: Final = _main("east", FAR, 90.0)
NORTH: Final = _side("north", 16.2, math.pi / 2)
SOUTH: Final = _side("south", -10.5, -math.pi / 2)
JUNCTION: Final = junction(
    "junction", [Arm(EAST, False, 3.2), Arm(NORTH, False, 2.8), Arm(WEST, True, 3.2), Arm(SOUTH, False, 2.8)]
)
_TURN: Final = joining((MOUTH, 0.0, 0.0), (*SOUTH.axis.place(0.0, -1.625), -math.pi / 2))
WAY: Final = WEST.course("east").then(_TURN).then(SOUTH.course("out"))
"""The ego's way: along the main road, right into the southern arm."""


def _west(x: float, speed: float) -> Track:
    return Track.straight((x, 3.5), math.pi, speed)


ACTORS: Final = (
    vehicle("ahead", "saloon", Track(WAY, MOUTH + 49.0, 5.5), SILVER),
    vehicle("ahead-straight", "van", Track.straight((146.0, 0.0), 0.0, 7.0), WHITE),
    vehicle("behind", "suv", Track.straight((74.0, 0.0), 0.0, 5.0), GREY),
    vehicle("oncoming-past", "saloon", _west(92.0, 6.5), BLUE),
    vehicle("oncoming-1", "car", _west(152.0, 6.0), RED),
    vehicle("oncoming-2", "box_truck", _west(172.0, 6.0), SAND),
    vehicle("waiting-south", "car", queued(SOUTH, "in", 7.0, 4.2), YELLOW, STOPPED),
    vehicle("waiting-north", "saloon", queued(NORTH, "in", 2.4, 4.65), BLACK, STOPPED),
    two_wheeler("waiting-cyclist", "cyclist", queued(NORTH, "in", 8.4, 1.75), GREEN),
    *(
        vehicle(f"parked-left-{n}", shape, Track.still(x, 6.55, math.pi), colour)
        for n, (shape, x, colour) in enumerate(
            (("car", 62.0, WHITE), ("suv", 69.0, RED), ("saloon", 76.0, GREY), ("car", 86.0, GREEN)), start=1
        )
    ),
    person("corner", (99.0, -4.2), 0.6, 0.0, RED),
    person("corner-south", (105.9, -27.0), -math.pi / 2, 1.2, BLUE),
    person("corner-south-left", (117.4, -24.0), math.pi / 2, 0.0, SAND),
    person("walker-right", (90.0, -3.6), math.pi, 1.3, GREY),
    person("walker-left", (88.0, 9.4), 0.0, 1.3, RED),
    person("walker-east", (131.0, -3.8), 0.0, 1.4, BLACK),
    animal("dog", "dog", Track.straight((89.0, -4.6), math.pi, 1.3), (0.16, 0.10, 0.05), 0.12),
    two_wheeler("cyclist-south", "cyclist", Track(SOUTH.axis.beside(2.6).turned(), 28.0, 3.5), BLUE),
)

SCENE: Final = Scene(
    name="scene-9004",
    street="chapel-corner",
    words=("unsignalised junction", "turn right", "crosswalk in the side street", "day", "no hazards"),
    conditions="day",
    stamp="2024-06-20-09-30-00",
    start_us=1_718_890_200_000_000,
    at=(940.0, 105.0, 0.08),
    ego=Track(WAY, MOUTH + EGO_IN, 5.0),
    actors=ACTORS,
    roads=(WEST, EAST, NORTH, SOUTH),
    junctions=(JUNCTION,),
    crossings=(Crossing("south", "south", 1.2, 4.4), Crossing("west", "west", 84.0, 87.2)),
    stop_lines=(
        StopLine("south-yield", "south", "in", 5.6, 6.0, "YIELD"),
        StopLine("south-out", "south", "out", 0.1, 0.5, "TURN_STOP", ("south",)),
        StopLine("north", "north", "in", 1.2, 1.6, "STOP_SIGN"),
        StopLine("west-east", "west", "east", 82.4, 82.8, "PED_CROSSING", ("west",)),
        StopLine("west-west", "west", "west", 88.4, 88.8, "PED_CROSSING", ("west",)),
    ),
    props=(
        *along("linden", WEST.axis, (12.0, 30.0, 48.0, 66.0), -4.2),
        *along("linden", WEST.axis, (20.0, 38.0, 56.0, 74.0), 9.9),
        *along("birch", EAST.axis, range(14, 88, 18), -4.2),
        *along("birch", SOUTH.axis, range(12, 78, 16), -5.4),
        *along("birch", SOUTH.axis, range(18, 78, 16), 5.4),
        *along("birch", NORTH.axis, range(10, 58, 16), 5.4),
        *along("lamp_post", WEST.axis, (22.0, 56.0, 90.0), 8.2),
        *along("lamp_post", EAST.axis, (8.0, 42.0, 76.0), 8.2),
        *along("lamp_post", SOUTH.axis, (8.0, 38.0, 68.0), 4.0),
        *along("lamp_post", NORTH.axis, (10.0, 40.0), 4.0),
        *signs("give_way", SOUTH.axis, (5.8,), 4.0),
        *signs("stop", NORTH.axis, (1.4,), 4.0),
        *planted("linden", [(121.5, -9.5), (128.5, -8.6), (121.0, -17.5), (135.0, -9.0), (92.0, 13.2), (129.0, 14.2)]),
        *planted("birch", [(125.0, -13.5), (131.5, -13.0), (126.0, -20.0), (98.0, -9.5), (91.5, -8.4), (101.5, -16.0)]),
        *planted("birch", [(98.5, 15.5), (102.5, 21.0), (95.0, 20.0), (123.5, 17.0), (121.0, 24.0), (126.5, 22.0)]),
        *planted("bush", [(120.0, -12.6), (123.4, -8.2), (126.2, -7.4), (103.6, -12.0), (100.0, -8.0), (96.6, -7.4)]),
        *planted("bush", [(103.8, 18.4), (101.2, 15.0), (97.2, 13.4), (120.4, 18.6), (122.8, 15.2), (126.6, 13.4)]),
        *along("bench", EAST.axis, (20.0,), -4.8),
        *along("bollard", SOUTH.axis, (11.0, 14.8), -4.0),
        *along("bin", WEST.axis, (95.0,), -4.6),
    ),
    houses=(
        Houses("west", -5.2, 0.0, MOUTH - 12.0, "suburb", 41),
        Houses("west", 10.9, 0.0, MOUTH - 11.0, "town", 42),
        Houses("east", -5.2, 15.0, 90.0, "town", 43),
        Houses("east", 10.9, 12.0, 90.0, "suburb", 44),
        Houses("south", -6.3, 9.0, 80.0, "suburb", 45),
        Houses("south", 6.3, 14.0, 80.0, "town", 46),
        Houses("north", -6.3, 12.0, 60.0, "town", 47),
        Houses("north", 6.3, 9.0, 60.0, "suburb", 48),
    ),
    roadside=RoadsideUnit("chapel-corner-unit", FAR + 1.0, -4.4, math.radians(165.0), math.radians(18.0), 6.0),
)
