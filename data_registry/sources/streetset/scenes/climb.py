"""scene-9006: the foot of a hill that climbs at 6 %, works beside it; the ego's lane itself is free."""

from __future__ import annotations

import math
from typing import Final

from data_registry.sources.streetset.casting import (
    BLACK,
    BLUE,
    DARK,
    GREY,
    ORANGE,
    RED,
    SILVER,
    WHITE,
    YELLOW,
    along,
    barriers,
    cones,
    pavements,
    person,
    signs,
    two_way,
    two_wheeler,
    vehicle,
    worker,
)
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.slopes import Slope
from data_registry.sources.streetset.world import Edging, Houses, Road, Scene, Strip, Track

LENGTH: Final = 240.0
FOOT: Final = 100.0
"""Where the level road ends: under the ego's rear axle at the keyframe, so that all that is far ahead stands higher."""
GRADE: Final = 0.06
BEND_M: Final = 6.0
"""How long the road takes to bend upwards: short, as at a ramp, so that one plane fits all that is ahead."""
ROAD: Final = Road(
    "hill",
    Line.straight((0.0, 0.0, 0.0), LENGTH),
    kerbs=(-2.1, 5.4),
    lanes=two_way(("up", "down"), -1.75, 3.5),
    strips=(Strip("works", -8.5, -2.1), pavements(-2.1, 5.4)[1]),
    splits=(120.0,),
)


def _down(x: float, speed: float) -> Track:
    return Track.straight((x, 3.5), math.pi, speed)


ACTORS: Final = (
    vehicle("ahead", "suv", Track.straight((152.0, 0.0), 0.0, 6.5), GREY),
    vehicle("behind", "van", Track.straight((77.0, 0.0), 0.0, 6.0), WHITE),
    vehicle("oncoming-past", "car", _down(88.0, 6.5), RED),
    vehicle("oncoming-1", "box_truck", _down(158.0, 6.0), (0.50, 0.42, 0.10)),
    vehicle("oncoming-2", "saloon", _down(184.0, 6.5), BLACK),
    vehicle("excavator", "excavator", Track.still(106.2, -7.1, 0.12), YELLOW),
    vehicle("works-van", "van", Track.still(112.5, -3.6, 0.0), ORANGE),
    vehicle("site-truck", "box_truck", Track.still(143.0, -5.0, 0.1), WHITE),
    *cones("cone", [(x, -2.45) for x in (94.0, 99.0, 104.0, 118.0, 122.0, 132.5, 137.0)]),
    *barriers("barrier", [(90.0, -4.2, math.pi), (90.0, -6.6, math.pi), (150.0, -4.2, 0.0)]),
    worker("worker-1", (117.4, -4.6), 0.8, 0.0, ORANGE),
    worker("worker-2", (100.0, -4.4), 0.0, 1.1, ORANGE),
    worker("worker-3", (134.0, -6.4), math.pi, 0.0, YELLOW),
    person("walker-left", (109.0, 6.8), math.pi, 1.3, BLUE),
    person("walker-left-far", (130.0, 7.2), 0.0, 1.2, SILVER),
    two_wheeler("cyclist", "cyclist", Track.straight((142.0, 4.7), math.pi, 4.0), DARK),
)

SCENE: Final = Scene(
    name="scene-9006",
    street="quarry-hill",
    words=(
        "foot of a hill, road climbing at 6 percent ahead",
        "construction works beside the road",
        "excavator",
        "day",
        "no hazards",
    ),
    conditions="day",
    stamp="2024-06-24-11-45-00",
    start_us=1_719_243_900_000_000,
    at=(345.0, 390.0, -0.22),
    ego=Track(Line.straight((0.0, 0.0, 0.0), LENGTH), 100.0, 5.5),
    actors=ACTORS,
    roads=(ROAD,),
    props=(
        *along("birch", ROAD.axis, range(12, 238, 18), 9.6, 0.0),
        *along("pine", ROAD.axis, (8.0, 24.0, 40.0, 58.0, 74.0, 166.0, 184.0, 202.0, 220.0), -11.0, 0.0),
        *along("lamp_post", ROAD.axis, range(20, 238, 34), 5.9),
        *along("crates", ROAD.axis, (97.0, 119.0), -7.4, 0.0),
        *signs("warning", ROAD.axis, (84.0,), -2.9, 0.0),
    ),
    edgings=(
        Edging("works", "hill", -8.7, 90.0, 152.0),
        Edging("hedge", "hill", 9.0, 0.0, 92.0),
        Edging("wood", "hill", 8.7, 100.0, 200.0),
    ),
    houses=(
        Houses("hill", 12.0, 0.0, 92.0, "suburb", 61),
        Houses("hill", 12.0, 100.0, LENGTH, "suburb", 62),
        Houses("hill", -14.0, 0.0, 78.0, "suburb", 63),
        Houses("hill", -14.0, 158.0, LENGTH, "industry", 64),
    ),
    slope=Slope(GRADE, start=FOOT, ease=BEND_M),
)
