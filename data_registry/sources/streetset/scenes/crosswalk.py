"""scene-9005: a shopping street in the rain with a pedestrian crossing that has no signals."""

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
    WHITE,
    YELLOW,
    along,
    animal,
    child,
    parked_row,
    pavements,
    person,
    signs,
    two_way,
    two_wheeler,
    vehicle,
)
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.world import Crossing, Houses, Road, Scene, StopLine, Strip, Track

LENGTH: Final = 230.0
STREET: Final = Road(
    "street",
    Line.straight((0.0, 0.0, 0.0), LENGTH),
    kerbs=(-4.1, 5.3),
    lanes=two_way(("east", "west"), -1.7, 3.4, ("SINGLE_SOLID_WHITE", "NIL")),
    strips=(Strip("bay", -4.1, -1.7), *pavements(-4.1, 5.3, 4.2)),
    splits=(110.0,),
)


def _along(x: float, speed: float, west: bool = False) -> Track:
    return Track.straight((x, 3.4 if west else 0.0), math.pi if west else 0.0, speed)


ACTORS: Final = (
    vehicle("ahead", "saloon", _along(156.0, 6.0), BLUE),
    vehicle("behind", "car", _along(78.0, 6.0), WHITE),
    vehicle("oncoming-past", "suv", _along(94.0, 6.0, True), SILVER),
    vehicle("oncoming-1", "bus", _along(160.0, 5.5, True), (0.08, 0.16, 0.36)),
    vehicle("oncoming-2", "car", _along(178.0, 5.5, True), RED),
    *parked_row("parked", [("car", 76.6, GREY), ("saloon", 82.6, BLACK), ("suv", 88.6, GREEN)], -2.9),
    *parked_row("parked-ahead", [("van", 109.8 - 5.3 + 1.2, WHITE)], -2.9),
    *parked_row("parked-far", [("saloon", 124.0, RED), ("car", 131.0, SAND), ("suv", 137.2, BLUE)], -2.9),
    person("waiting", (116.6, -6.9), math.pi / 2, 0.0, (0.05, 0.05, 0.06)),
    person("waiting-left", (118.8, 7.6), -math.pi / 2, 0.0, YELLOW),
    person("shopper-1", (107.0, -7.0), 0.0, 1.3, RED),
    person("shopper-2", (126.0, -6.0), 0.0, 1.2, BLUE),
    person("shopper-3", (134.0, -7.2), math.pi, 1.3, SAND),
    person("shopper-left-1", (109.0, 7.2), math.pi, 1.3, GREEN),
    person("shopper-left-2", (128.0, 7.8), 0.0, 1.2, GREY),
    person("shopper-left-3", (97.0, 6.8), 0.0, 1.3, RED),
    child("child", (107.3, -6.3), 0.0, 1.3, YELLOW),
    animal("dog", "dog", Track.straight((127.0, 7.3), 0.0, 1.2), (0.07, 0.05, 0.04), 0.12),
    two_wheeler("bicycle", "bicycle", Track.still(121.0, -5.0, 0.3), GREY, 0.12),
)

SCENE: Final = Scene(
    name="scene-9005",
    street="market-street",
    words=("shopping street", "crosswalk without signals ahead", "bus oncoming", "rain", "no hazards"),
    conditions="rain",
    stamp="2024-06-21-16-10-00",
    start_us=1_719_000_600_000_000,
    at=(45.0, 345.0, 0.20),
    ego=Track(Line.straight((0.0, 0.0, 0.0), LENGTH), 100.0, 6.0),
    actors=ACTORS,
    roads=(STREET,),
    crossings=(Crossing("crossing", "street", 114.6, 118.2),),
    stop_lines=(
        StopLine("east", "street", "east", 113.0, 113.4, "PED_CROSSING", ("crossing",)),
        StopLine("west", "street", "west", 119.4, 119.8, "PED_CROSSING", ("crossing",)),
    ),
    props=(
        *along("plane", STREET.axis, (18.0, 42.0, 66.0, 90.0, 130.0, 154.0, 178.0, 202.0), 6.3),
        *along("lamp_post", STREET.axis, (16.0, 46.0, 76.0, 113.2, 150.0, 182.0, 214.0), -4.6),
        *along("lamp_post", STREET.axis, (30.0, 62.0, 96.0, 119.6, 166.0, 198.0), 5.8),
        *signs("crossing", STREET.axis, (113.6,), -4.7),
        *signs("crossing", STREET.axis, (119.2,), 5.9),
        *along("bollard", STREET.axis, (114.2, 118.6), 5.75),
        *along("bench", STREET.axis, (103.0, 140.0), 8.6),
        *along("bin", STREET.axis, (110.8, 144.0), -4.9),
    ),
    houses=(
        Houses("street", -8.3, 0.0, LENGTH, "town", 51),
        Houses("street", 9.5, 0.0, LENGTH, "town", 52),
    ),
)
