"""scene-9007: a narrow two-way street at night, cars parked on both sides, lanes 2.8 m wide."""

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
    along,
    animal,
    parked_row,
    pavements,
    person,
    two_way,
    two_wheeler,
    vehicle,
)
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.world import Houses, Road, Scene, Strip, Track

LENGTH: Final = 220.0
STREET: Final = Road(
    "street",
    Line.straight((0.0, 0.0, 0.0), LENGTH),
    kerbs=(-3.6, 6.4),
    lanes=two_way(("east", "west"), -1.4, 2.8, ("NIL", "NIL")),
    strips=(Strip("bay", -3.6, -1.4), Strip("bay", 4.2, 6.4), *pavements(-3.6, 6.4, 2.2)),
    splits=(110.0,),
)

ACTORS: Final = (
    vehicle("ahead", "car", Track.straight((148.0, 0.0), 0.0, 5.5), RED),
    vehicle("behind", "saloon", Track.straight((82.0, 0.0), 0.0, 5.0), GREY),
    vehicle("oncoming", "saloon", Track.straight((150.0, 2.8), math.pi, 5.0), SILVER),
    vehicle("oncoming-far", "suv", Track.straight((172.0, 2.8), math.pi, 5.0), BLACK),
    *parked_row(
        "parked-right",
        [("car", 70.0, BLUE), ("saloon", 75.6, WHITE), ("suv", 81.4, GREY), ("car", 87.0, BLACK)],
        -2.55,
    ),
    *parked_row(
        "parked-ahead",
        [("van", 110.4, WHITE), ("saloon", 117.2, GREEN), ("car", 128.0, RED), ("suv", 134.0, SILVER)],
        -2.5,
    ),
    *parked_row(
        "parked-left",
        [("saloon", 84.0, RED), ("car", 90.4, SILVER), ("suv", 101.0, BLACK), ("car", 107.2, SAND)],
        5.35,
        math.pi,
    ),
    *parked_row("parked-left-far", [("van", 118.0, BLUE), ("saloon", 125.0, WHITE)], 5.3, math.pi),
    person("walker-right", (121.0, -4.7), math.pi, 1.2, (0.12, 0.12, 0.14)),
    person("walker-left", (112.0, 7.4), 0.0, 1.3, RED),
    person("doorway", (105.0, -5.0), math.pi / 2, 0.0, (0.10, 0.16, 0.22)),
    two_wheeler("bicycle", "bicycle", Track.still(131.0, -4.1, 0.0), GREY, 0.12),
    animal("dog", "dog", Track.straight((122.2, -4.3), math.pi, 1.2), (0.12, 0.10, 0.08), 0.12),
)

SCENE: Final = Scene(
    name="scene-9007",
    street="tanner-lane",
    words=("narrow two-way street", "parked cars both sides", "oncoming car with headlights", "night", "no hazards"),
    conditions="night",
    stamp="2024-06-24-23-15-00",
    start_us=1_719_285_300_000_000,
    at=(655.0, 350.0, 0.15),
    ego=Track(Line.straight((0.0, 0.0, 0.0), LENGTH), 100.0, 5.0),
    actors=ACTORS,
    roads=(STREET,),
    props=(
        *along("lamp_post", STREET.axis, range(12, 218, 24), -3.95),
        *along("lamp_post", STREET.axis, range(24, 218, 24), 6.75),
        *along("bin", STREET.axis, (99.0, 124.0), -5.4),
        *along("birch", STREET.axis, (46.0, 96.0, 146.0), 7.3),
        *along("bollard", STREET.axis, (104.0, 106.0, 108.0), -3.9),
    ),
    houses=(
        Houses("street", -5.8, 0.0, LENGTH, "town", 71),
        Houses("street", 8.6, 0.0, LENGTH, "town", 72),
    ),
)
