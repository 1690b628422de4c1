"""scene-9001: a straight two-way street by day, cars parked on the right, a gap in the bay beside the ego vehicle."""

from __future__ import annotations

import math
from typing import Final

from data_registry.sources.streetset.casting import (
    BLUE,
    SILVER,
    WHITE,
    along,
    pavements,
    person,
    two_way,
    vehicle,
)
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.world import (
    Actor,
    Colour,
    Crossing,
    Houses,
    Road,
    Scene,
    StopLine,
    Strip,
    Track,
)

LENGTH: Final = 240.0
STREET: Final = Road(
    "street",
    Line.straight((0.0, 0.0, 0.0), LENGTH),
    kerbs=(-4.0, 5.25),
    lanes=two_way(("east", "west"), -1.75, 3.5, ("SINGLE_SOLID_WHITE", "NIL")),
    strips=(Strip("bay", -4.0, -1.75), *pavements(-4.0, 5.25)),
    splits=(120.0,),
)
_CAR: Final = (4.4, 1.8, 1.48)


def _parked(number: int, rear: float, size: tuple[float, float, float], colour: Colour, shape: str = "car") -> Actor:
    track = Track.still(rear + size[0] / 2, -2.92)
    return vehicle(f"parked-{number}", shape, track, colour, size=size)


def _moving(name: str, s: float, t: float, colour: Colour, shape: str = "car") -> Actor:
    way = math.pi if t > 1.75 else 0.0
    return vehicle(name, shape, Track.straight((s, t), way, 6.0), colour, size=_CAR)


ACTORS: Final = (
    _parked(1, 74.0, (4.3, 1.76, 1.46), (0.34, 0.35, 0.36)),
    _parked(2, 80.2, (4.5, 1.82, 1.52), (0.02, 0.022, 0.026), "saloon"),
    _parked(3, 86.4, (4.2, 1.78, 1.50), (0.26, 0.035, 0.03)),
    _parked(4, 109.5, (4.6, 1.86, 1.72), (0.045, 0.11, 0.20), "suv"),
    _parked(5, 116.7, (4.3, 1.78, 1.48), (0.52, 0.52, 0.50)),
    _parked(6, 122.4, (4.4, 1.80, 1.50), (0.20, 0.21, 0.22), "saloon"),
    _parked(7, 136.0, (4.2, 1.76, 1.47), (0.30, 0.04, 0.035)),
    _parked(8, 142.0, (4.5, 1.82, 1.50), (0.04, 0.045, 0.05), "saloon"),
    _parked(9, 148.3, (4.6, 1.86, 1.75), (0.42, 0.36, 0.24), "suv"),
    _parked(10, 156.0, (4.3, 1.78, 1.46), (0.06, 0.15, 0.11)),
    _moving("ahead", 152.0, 0.05, SILVER, "saloon"),
    _moving("behind", 78.0, -0.05, (0.07, 0.09, 0.16)),
    _moving("oncoming-near", 84.0, 3.5, WHITE),
    vehicle("oncoming-truck", "box_truck", Track.straight((163.0, 3.6), math.pi, 6.5), (0.60, 0.61, 0.62)),
    _moving("oncoming-far", 186.0, 3.5, (0.22, 0.03, 0.03), "saloon"),
    person("pedestrian-right", (123.0, -5.6), math.pi, 1.3, (0.30, 0.06, 0.05)),
    person("pedestrian-left", (113.0, 6.9), 0.0, 1.4, (0.05, 0.14, 0.28)),
    person("pedestrian-left-far", (131.0, 6.3), math.pi, 1.2, (0.40, 0.33, 0.12)),
    person("pedestrian-shop", (97.0, -6.2), math.pi / 2, 0.0, (0.10, 0.20, 0.10)),
    person("pedestrian-behind", (88.5, -5.4), 0.0, 1.3, (0.08, 0.08, 0.10)),
    person("pedestrian-far", (148.0, -5.2), 0.0, 1.2, BLUE),
)

SCENE: Final = Scene(
    name="scene-9001",
    street="harbour-street",
    words=("straight two-way street", "parked cars right", "oncoming truck", "peds on pavement", "day", "no hazards"),
    conditions="day",
    stamp="2024-06-18-13-00-00",
    start_us=1_718_730_000_000_000,
    at=(40.0, 90.0, 0.25),
    ego=Track(Line.straight((0.0, 0.0, 0.0), LENGTH), 100.0, 6.0),
    actors=ACTORS,
    roads=(STREET,),
    crossings=(Crossing("crossing", "street", 172.0, 175.5),),
    stop_lines=(
        StopLine("east", "street", "east", 170.4, 170.8, "PED_CROSSING", ("crossing",)),
        StopLine("west", "street", "west", 176.7, 177.1, "PED_CROSSING", ("crossing",)),
    ),
    props=(
        *along("linden", STREET.axis, [s for s in range(20, 230, 24) if abs(s - 173) > 10], -4.8),
        *along("linden", STREET.axis, [s for s in range(32, 230, 24) if abs(s - 173) > 10], 6.0),
        *along("lamp_post", STREET.axis, range(26, 230, 30), -4.5),
        *along("lamp_post", STREET.axis, range(41, 230, 30), 5.75),
        *along("bench", STREET.axis, (98.0, 128.0), 7.6),
        *along("bin", STREET.axis, (101.0, 160.0), 7.4),
        *along("bollard", STREET.axis, (169.0, 178.0), -4.5),
    ),
    houses=(
        Houses("street", -7.0, 0.0, LENGTH, "town", 11),
        Houses("street", 8.25, 0.0, LENGTH, "town", 12),
    ),
)
