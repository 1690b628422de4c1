"""scene-9002: an avenue under an overcast sky, two lanes each way with a planted median; the right lane is free."""

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
    WHITE,
    YELLOW,
    along,
    child,
    parked_row,
    pavements,
    person,
    two_wheeler,
    vehicle,
)
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.world import Houses, Lane, Road, Scene, Strip, Track

LENGTH: Final = 250.0
AVENUE: Final = Road(
    "avenue",
    Line.straight((0.0, 0.0, 0.0), LENGTH),
    kerbs=(-4.1, 16.0),
    lanes=(
        Lane("east-right", -1.65, 1.65, True, "SINGLE_SOLID_WHITE", "DOUBLE_DASHED_WHITE"),
        Lane("east-left", 1.65, 4.95, True, "DOUBLE_DASHED_WHITE", "SINGLE_SOLID_WHITE"),
        Lane("west-left", 6.95, 10.25, False, "SINGLE_SOLID_WHITE", "DOUBLE_DASHED_WHITE"),
        Lane("west-right", 10.25, 13.55, False, "DOUBLE_DASHED_WHITE", "SINGLE_SOLID_WHITE"),
    ),
    strips=(
        Strip("bay", -4.1, -1.65),
        Strip("median", 4.95, 6.95, 0.12),
        Strip("bay", 13.55, 16.0),
        *pavements(-4.1, 16.0, 4.0),
    ),
    splits=(125.0,),
    median=(4.95, 6.95),
)


def _lane(lane: str, s: float, speed: float) -> Track:
    """Return a track along a lane, by x of the vehicle's middle."""
    course = AVENUE.course(lane)
    return Track(course, s if AVENUE.lane(lane).forward else LENGTH - s, speed)


ACTORS: Final = (
    vehicle("ahead", "saloon", _lane("east-right", 158.0, 7.0), SILVER),
    vehicle("left-ahead", "suv", _lane("east-left", 136.0, 7.5), RED),
    vehicle("left-behind", "car", _lane("east-left", 74.0, 7.0), WHITE),
    vehicle("behind", "van", _lane("east-right", 72.0, 7.0), WHITE),
    vehicle("bus", "bus", _lane("west-right", 152.0, 6.5), (0.50, 0.10, 0.07)),
    vehicle("oncoming-1", "saloon", _lane("west-left", 121.0, 8.5), BLACK),
    two_wheeler("motorcyclist", "motorcyclist", _lane("west-left", 140.0, 8.0), BLUE),
    vehicle("oncoming-2", "car", _lane("west-left", 172.0, 8.0), BLUE),
    vehicle("oncoming-3", "box_truck", _lane("west-right", 88.0, 7.5), SAND),
    vehicle("oncoming-4", "suv", _lane("west-right", 195.0, 7.0), GREY),
    *parked_row(
        "parked-right",
        [("saloon", 77.0, GREY), ("car", 83.2, WHITE), ("van", 108.4, SILVER), ("car", 115.2, BLUE)],
        -2.95,
    ),
    *parked_row("parked-far", [("suv", 128.0, BLACK), ("saloon", 141.0, WHITE), ("car", 147.2, RED)], -2.95),
    *parked_row("parked-left", [("car", 96.0, SILVER), ("saloon", 112.0, RED), ("suv", 118.5, GREY)], 14.75, math.pi),
    person("stroller", (112.0, -6.3), 0.0, 1.2, RED),
    person("walker", (126.0, -6.8), math.pi, 1.4, BLUE),
    person("waiting", (104.5, -7.3), math.pi / 2, 0.0, (0.10, 0.10, 0.11)),
    child("child", (112.0, -7.3), 0.0, 1.2, YELLOW),
    person("walker-left", (118.0, 18.2), 0.0, 1.3, SAND),
    person("walker-left-far", (139.0, 17.6), math.pi, 1.3, GREY),
    two_wheeler("bicycle", "bicycle", Track.still(99.4, -5.0, 0.1), GREY, 0.12),
)

SCENE: Final = Scene(
    name="scene-9002",
    street="museum-avenue",
    words=("avenue with median", "two lanes each way", "bus and motorcycle oncoming", "overcast", "no hazards"),
    conditions="overcast",
    stamp="2024-06-19-10-20-00",
    start_us=1_718_806_800_000_000,
    at=(338.0, 120.0, -0.18),
    ego=Track(AVENUE.course("east-right"), 100.0, 6.0),
    actors=ACTORS,
    roads=(AVENUE,),
    props=(
        *along("plane", AVENUE.axis, range(10, 245, 16), 5.95),
        *along("linden", AVENUE.axis, range(18, 245, 20), -5.0),
        *along("linden", AVENUE.axis, range(12, 245, 20), 17.0),
        *along("lamp_post", AVENUE.axis, range(14, 245, 32), -4.7),
        *along("lamp_post", AVENUE.axis, range(30, 245, 32), 16.6),
        *along("bench", AVENUE.axis, (121.0, 93.0), -7.4),
        *along("bin", AVENUE.axis, (109.5,), -5.0),
    ),
    houses=(
        Houses("avenue", -8.6, 0.0, LENGTH, "offices", 21),
        Houses("avenue", 20.4, 0.0, LENGTH, "town", 22),
    ),
)
