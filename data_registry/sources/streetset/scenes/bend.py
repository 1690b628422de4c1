"""scene-9008: a country road that bends to the left through trees and fields, in fog."""

from __future__ import annotations

import math
from typing import Final

from data_registry.sources.streetset.casting import (
    BLUE,
    GREY,
    RED,
    SAND,
    WHITE,
    along,
    animal,
    person,
    signs,
    two_way,
    two_wheeler,
    vehicle,
)
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.world import Edging, Houses, Road, Scene, Strip, Track

RADIUS: Final = 60.0
ENTRY: Final = 84.0
"""Where the bend begins along the axis: the ego vehicle is 16 m inside it at the keyframe."""
AXIS: Final = Line((0.0, 0.0, 0.0), ((ENTRY, 0.0), (RADIUS * 1.35, 1 / RADIUS), (70.0, 0.0)))
ROAD: Final = Road(
    "road",
    AXIS,
    kerbs=(-1.9, 5.2),
    lanes=two_way(("out", "in"), -1.65, 3.3),
    strips=(
        Strip("verge", -5.4, -1.9),
        Strip("verge", 5.2, 8.4),
        Strip("field", -40.0, -5.4),
        Strip("field", 8.4, 36.0),
    ),
    splits=(ENTRY, ENTRY + RADIUS * 0.675),
)
_IN: Final = ROAD.course("in")


def _out(s: float, speed: float) -> Track:
    """Return a track along the ego's lane."""
    return Track(ROAD.course("out"), s, speed)


def _oncoming(s: float, speed: float) -> Track:
    """Return a track along the opposite lane, by the distance along the axis at the keyframe."""
    share = (AXIS.length - s) / AXIS.length
    return Track(_IN, share * _IN.length, speed)


def _beside(s: float, t: float, turn: float = 0.0) -> Track:
    return Track.still(*AXIS.place(s, t), AXIS.pose(s)[2] + turn)


ACTORS: Final = (
    two_wheeler("cyclist", "cyclist", Track(AXIS.beside(-0.9), 150.0, 4.5), RED),
    vehicle("ahead", "saloon", _out(172.0, 7.0), BLUE),
    vehicle("behind", "suv", _out(72.0, 6.5), GREY),
    vehicle("oncoming", "car", _oncoming(166.0, 7.0), WHITE),
    vehicle("oncoming-truck", "box_truck", _oncoming(190.0, 7.0), SAND),
    vehicle("oncoming-past", "saloon", _oncoming(84.0, 7.0), RED),
    vehicle("parked-van", "van", _beside(114.5, -3.1), WHITE),
    vehicle("parked-car", "car", _beside(78.0, -3.3), (0.20, 0.05, 0.04)),
    vehicle("tractor", "suv", _beside(136.0, 14.0, 0.6), (0.05, 0.20, 0.06)),
    person("farmer", AXIS.place(133.0, 12.0), 2.0, 0.0, BLUE, 0.0),
    person("hiker", AXIS.place(124.0, 6.6), AXIS.pose(124.0)[2] + math.pi, 1.2, RED, 0.0),
    person("hiker-2", AXIS.place(126.0, 7.2), AXIS.pose(126.0)[2] + math.pi, 1.2, SAND, 0.0),
    animal("deer", "deer", _beside(138.0, -19.0, 1.2), (0.20, 0.12, 0.06)),
    animal("deer-2", "deer", _beside(141.0, -21.5, 0.4), (0.18, 0.11, 0.06)),
    animal("dog", "dog", Track.straight(AXIS.place(125.0, 5.7), AXIS.pose(125.0)[2] + math.pi, 1.2), (0.1, 0.08, 0.06)),
)

SCENE: Final = Scene(
    name="scene-9008",
    street="orchard-bend",
    words=("country road", "bend left", "parked van on the verge", "cyclist ahead", "fog", "no hazards"),
    conditions="fog",
    stamp="2024-06-25-06-50-00",
    start_us=1_719_312_600_000_000,
    at=(945.0, 320.0, -0.10),
    ego=_out(100.0, 6.0),
    actors=ACTORS,
    roads=(ROAD,),
    props=(
        *along("poplar", AXIS, range(6, 230, 14), 9.6, 0.0),
        *along("birch", AXIS, [s for s in range(12, 230, 13) if s < 108 or s > 146], -7.2, 0.0),
        *along("pine", AXIS, range(20, 230, 22), 24.0, 0.0),
        *along("pine", AXIS, range(62, 150, 9), -13.0, 0.0),
        *along("birch", AXIS, range(66, 150, 11), -10.2, 0.0),
        *along("pine", AXIS, range(58, 150, 8), -18.5, 0.0),
        *along("bush", AXIS, [s for s in range(4, 230, 7) if s < 106 or s > 122], -6.3, 0.0),
        *signs("warning", AXIS, (80.0,), -2.9, 0.0),
    ),
    edgings=(
        Edging("posts", "road", -2.4, 10.0, 230.0),
        Edging("posts", "road", 5.7, 10.0, 230.0),
        Edging("wood", "road", 8.8, 92.0, 180.0),
    ),
    houses=(Houses("road", 40.0, 20.0, 60.0, "suburb", 81),),
)
