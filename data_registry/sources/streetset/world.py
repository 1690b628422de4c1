"""What a scene is made of, as data: roads, junctions, things that move, and what stands around.

A scene's frame is level with gravity: x along its main street in the ego's direction, y to the left, z up, metres and
radians; traffic drives on the right. Times are seconds from the keyframe. Every scene stands turned at its own place of
the one map, so that no frame is accidentally equal to another. Tables, map, CAN bus, visibility and pictures read these
classes and agree through them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from data_registry.geometry import Transform, yaw_rotation
from data_registry.sources.streetset.lines import Line, Pose
from data_registry.sources.streetset.slopes import LEVEL, Slope

TOWN: Final = "Streetset Harbour"
"""The true name. The map formats know four cities only, so the town is filed under LOCATION."""
LOCATION: Final = "boston-seaport"

Colour = tuple[float, float, float]
"""Linear RGB reflectance."""
Xy = tuple[float, float]
StripKind = Literal["bay", "pavement", "verge", "field", "median", "works"]
Conditions = Literal["day", "overcast", "dusk", "night", "rain", "fog"]
StopType = Literal["PED_CROSSING", "TURN_STOP", "TRAFFIC_LIGHT", "STOP_SIGN", "YIELD"]
HouseStyle = Literal["town", "suburb", "offices", "industry"]
EdgingKind = Literal["iron", "wood", "works", "wall", "hedge", "guard_rail", "posts"]
SignalState = Literal["red", "green"]
Mark = Literal["NIL", "DOUBLE_DASHED_WHITE", "SINGLE_SOLID_WHITE", "DOUBLE_SOLID_WHITE", "SINGLE_SOLID_YELLOW"]


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane of a road between two distances from its axis.

    Attributes:
        name: unique in its road.
        right: t of its side that is to the right when looking along the axis; right < left.
        left: t of the other side.
        forward: whether its traffic follows the axis; else it comes against it.
        right_mark: line painted along `right`.
        left_mark: line painted along `left`.
    """

    name: str
    right: float
    left: float
    forward: bool = True
    right_mark: Mark = "NIL"
    left_mark: Mark = "NIL"

    @property
    def middle(self) -> float:
        """T of its middle."""
        return (self.right + self.left) / 2


@dataclass(frozen=True, slots=True)
class Strip:
    """Ground beside the lanes: kind, extent across the axis and height above the carriageway."""

    kind: StripKind
    right: float
    left: float
    rise: float = 0.0


@dataclass(frozen=True, slots=True)
class Road:
    """A stretch of road from one junction or end to the next.

    Attributes:
        name: unique in its scene.
        axis: the line that s and t of everything on it are counted from.
        kerbs: t of the right and left edges of the drivable ground, parking bays included.
        lanes: from right to left.
        strips: what lies beside the lanes.
        splits: where lane records end and the next begin.
        median: t of right and left edge of ground within the kerbs that is not drivable.
    """

    name: str
    axis: Line
    kerbs: tuple[float, float]
    lanes: tuple[Lane, ...]
    strips: tuple[Strip, ...] = ()
    splits: tuple[float, ...] = ()
    median: tuple[float, float] | None = None

    @property
    def parts(self) -> tuple[tuple[float, float], ...]:
        """Start and end of each stretch that has its own records."""
        bounds = (0.0, *self.splits, self.axis.length)
        return tuple(itertools.pairwise(bounds))

    def lane(self, name: str) -> Lane:
        """Return a lane by name."""
        return next(lane for lane in self.lanes if lane.name == name)

    def course(self, name: str) -> Line:
        """Return the middle line of a lane, in its direction of traffic."""
        lane = self.lane(name)
        line = self.axis.beside(lane.middle)
        return line if lane.forward else line.turned()


@dataclass(frozen=True, slots=True)
class Connector:
    """A way through a junction from one road's lane to another's.

    Attributes:
        name: unique in its junction.
        axis: its middle line, in its direction of traffic.
        width: metres.
        start: road and lane that it leaves.
        end: road and lane that it enters.
    """

    name: str
    axis: Line
    width: float
    start: tuple[str, str]
    end: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Junction:
    """A junction: its drivable outline, the pavements at its corners and the ways through it."""

    name: str
    outline: tuple[Xy, ...]
    corners: tuple[tuple[Xy, ...], ...]
    connectors: tuple[Connector, ...]


@dataclass(frozen=True, slots=True)
class Crossing:
    """A pedestrian crossing: part of a road, from kerb to kerb, between two distances along its axis."""

    name: str
    road: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class StopLine:
    """A line to stop at: lane, extent along the road's axis, and what it belongs to."""

    name: str
    road: str
    lane: str
    start: float
    end: float
    kind: StopType
    crossings: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signal:
    """A traffic light: post, direction that its lamps shine to, what it shows at the keyframe, height of its head."""

    name: str
    x: float
    y: float
    facing: float
    state: SignalState
    height: float = 2.4


@dataclass(frozen=True, slots=True)
class Prop:
    """Something that stands still and is not annotated.

    Attributes:
        kind: name in scenery's PROPS.
        x: place, metres.
        y: place, metres.
        facing: direction that it looks to, radians.
        rise: height of what it stands on above the carriageway.
    """

    kind: str
    x: float
    y: float
    facing: float = 0.0
    rise: float = 0.0


@dataclass(frozen=True, slots=True)
class Edging:
    """A fence, wall or hedge beside a road: kind, road, distance from its axis, and extent along it."""

    kind: EdgingKind
    road: str
    offset: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Houses:
    """A row of houses whose fronts stand beside a road and look at it.

    Attributes:
        road: name of the road.
        offset: t of the fronts.
        start: where the row begins along the road's axis.
        end: where it ends.
        style: town, suburb, offices or industry.
        seed: decides widths, heights and colours.
    """

    road: str
    offset: float
    start: float
    end: float
    style: HouseStyle
    seed: int


@dataclass(frozen=True, slots=True)
class Track:
    """A way at constant speed: where on its axis something is at the keyframe, and how fast it goes."""

    axis: Line
    s: float = 0.0
    speed: float = 0.0

    @classmethod
    def still(cls, x: float, y: float, heading: float = 0.0) -> Track:
        """Return the track of something that stands."""
        return cls(Line.straight((x, y, heading), 1.0))

    @classmethod
    def straight(cls, place: Xy, heading: float, speed: float) -> Track:
        """Return the track of something that goes straight on."""
        return cls(Line.straight((*place, heading), 1.0), 0.0, speed)

    def pose(self, seconds: float) -> Pose:
        """Return x, y, heading at a time."""
        return self.axis.pose(self.s + self.speed * seconds)

    def curvature(self, seconds: float) -> float:
        """Return the curvature of the way at a time."""
        return self.axis.curvature(self.s + self.speed * seconds)


@dataclass(frozen=True, slots=True)
class Actor:
    """An annotated thing on its track; the track leads the middle of its box.

    Attributes:
        name: unique in its scene, part of its tokens.
        category: nuScenes category.
        attribute: nuScenes attribute; empty where the category has none.
        shape: name in scene3d's SHAPES.
        size: length, width, height, metres.
        track: where it is when.
        rise: height of what it stands on above the carriageway.
        colour: linear RGB of its main surface.
    """

    name: str
    category: str
    attribute: str
    shape: str
    size: tuple[float, float, float]
    track: Track
    rise: float = 0.0
    colour: Colour = field(default=(0.3, 0.3, 0.3))

    @property
    def upright(self) -> bool:
        """Whether it stands along gravity rather than on its wheels."""
        return self.category.startswith(("human", "animal"))


@dataclass(frozen=True, slots=True)
class RoadsideUnit:
    """A camera on a post beside the road: place, direction, downward tilt, height and calibration."""

    name: str
    x: float
    y: float
    facing: float
    tilt: float
    height: float
    focal: float = 1100.0
    width: int = 1600
    height_px: int = 900


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One scene.

    Attributes:
        name: `scene-` and four digits.
        street: short name, part of its log's name.
        words: what its description says besides the town.
        conditions: light and weather.
        stamp: local date and time of its first sample, YYYY-MM-DD-HH-MM-SS.
        start_us: the same, Unix microseconds.
        at: where the frame's origin lies in the map, and its yaw.
        ego: track of the ego vehicle's rear axle.
        sun_turn: how far the conditions' sun is turned about the vertical, radians.
    """

    name: str
    street: str
    words: tuple[str, ...]
    conditions: Conditions
    stamp: str
    start_us: int
    at: Pose
    ego: Track
    actors: tuple[Actor, ...]
    roads: tuple[Road, ...]
    junctions: tuple[Junction, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    stop_lines: tuple[StopLine, ...] = ()
    signals: tuple[Signal, ...] = ()
    props: tuple[Prop, ...] = ()
    edgings: tuple[Edging, ...] = ()
    houses: tuple[Houses, ...] = ()
    slope: Slope = LEVEL
    roadside: RoadsideUnit | None = None
    sun_turn: float = 0.0

    @property
    def logfile(self) -> str:
        """Name of its log: says the town, the street and the local start time."""
        return f"streetset-synthetic-{self.street}-{self.stamp}-0400"

    @property
    def to_global(self) -> Transform:
        """The scene's frame in the map's."""
        return Transform(yaw_rotation(self.at[2]), np.array([self.at[0], self.at[1], 0.0]))

    @property
    def description(self) -> str:
        """Description in the manner of nuScenes, with what it is first."""
        return ", ".join((f"Synthetic log of {TOWN}", *self.words))

    def road(self, name: str) -> Road:
        """Return a road by name."""
        return next(road for road in self.roads if road.name == name)

    def on_ground(self, pose: Pose, rise: float = 0.0, upright: bool = False) -> Transform:
        """Return the frame of something that stands at a plan pose, tilted with the ground unless upright."""
        x, y, heading = pose
        place = np.array([x, y, self.slope.height(x) + rise])
        grade = 0.0 if upright else self.slope.rise(x)
        if grade == 0.0:
            return Transform(yaw_rotation(heading), place)
        up = np.array([-grade, 0.0, 1.0]) / math.hypot(1.0, grade)
        ahead = np.array([math.cos(heading), math.sin(heading), grade * math.cos(heading)])
        ahead /= float(np.linalg.norm(ahead))
        return Transform(np.column_stack([ahead, np.cross(up, ahead), up]), place)

    def pose(self, actor: Actor, seconds: float) -> Transform:
        """Return the frame of an actor's ground contact, below the middle of its box, at a time."""
        return self.on_ground(actor.track.pose(seconds), actor.rise, actor.upright)

    def ego_pose(self, seconds: float) -> Transform:
        """Return the ego frame at a time."""
        return self.on_ground(self.ego.pose(seconds))
