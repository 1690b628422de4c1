"""What a scene puts on the map: drivable ground, segments, blocks, lanes, connectors, crossings, lines and lights."""

from __future__ import annotations

import itertools
import math
from typing import Final

import numpy as np

from data_registry.identity import METRE_STEP, RADIAN_STEP, quantise
from data_registry.sources.streetset.map_records import MapRecords, map_token, plan_in_map
from data_registry.sources.streetset.tables import Record
from data_registry.sources.streetset.world import Connector, Crossing, Junction, Lane, Road, Scene, Signal, StopLine, Xy

BULBS: Final = (("RED", 0.632), ("YELLOW", 0.381), ("GREEN", 0.13))
"""Colours of a traffic light and their heights above the head's foot, metres, as in the real maps."""
CURVE_STEP: Final = 2.0


def add_scene(records: MapRecords, scene: Scene) -> None:
    """Add everything of one scene to a map."""
    drivable = _drivable(records, scene)
    for road in scene.roads:
        _segments(records, scene, road, drivable)
        _lanes(records, scene, road)
        _walkways(records, scene, road)
        _dividers(records, scene, road)
    for junction in scene.junctions:
        _junction(records, scene, junction, drivable)
    for crossing in scene.crossings:
        _crossing(records, scene, crossing)
    for signal in scene.signals:
        _signal(records, scene, signal)
    for stop in scene.stop_lines:
        _stop_line(records, scene, stop)


def edge(road: Road, s: tuple[float, float], t: float) -> list[Xy]:
    """Return places beside a road's axis from one distance to another, as far apart as its bends allow.

    Curved roads get a place every CURVE_STEP metres of axis, so that neighbouring strips share them.
    """
    low, high = sorted(s)
    bends = [k != 0.0 for _, k in road.axis.pieces]
    bounds = [0.0, *itertools.accumulate(length for length, _ in road.axis.pieces)]
    stations = {low, high, *(bound for bound in bounds if low < bound < high)}
    for bent, (start, end) in zip(bends, itertools.pairwise(bounds), strict=True):
        if bent:
            steps = math.ceil((end - start) / CURVE_STEP)
            inner = (start + (end - start) * k / steps for k in range(1, steps))
            stations.update(station for station in inner if low < station < high)
    ordered = sorted(stations, reverse=s[1] < s[0])
    return [road.axis.place(station, t) for station in ordered]


def _outline(road: Road, s: tuple[float, float], t: tuple[float, float]) -> list[Xy]:
    """Return the corners of a part of a road between two distances along it and two across it."""
    low, high = sorted(s)
    return [*edge(road, (low, high), min(t)), *edge(road, (high, low), max(t))]


def _across(road: Road, s: float, t: tuple[float, float]) -> list[Xy]:
    return [road.axis.place(s, t[0]), road.axis.place(s, t[1])]


def _drivable(records: MapRecords, scene: Scene) -> str:
    tokens: list[str] = []
    for road in scene.roads:
        whole = (0.0, road.axis.length)
        median = road.median
        sides = [road.kerbs] if median is None else [(road.kerbs[0], median[0]), (median[1], road.kerbs[1])]
        for index, side in enumerate(sides):
            outline = _outline(road, whole, side)
            tokens.append(records.polygon(scene, f"drivable-{road.name}-{index}", outline))
    tokens += [records.polygon(scene, f"drivable-{junction.name}", junction.outline) for junction in scene.junctions]
    return records.add("drivable_area", scene, "road", polygon_tokens=tokens)


def _segments(records: MapRecords, scene: Scene, road: Road, drivable: str) -> None:
    """Cut the road into its parts, with one block a direction each."""
    for part, s in enumerate(road.parts):
        name = f"{road.name}-{part}"
        outline = records.polygon(scene, f"segment-{name}", _outline(road, s, road.kerbs))
        fields = {"is_intersection": False, "drivable_area_token": drivable}
        segment = records.add("road_segment", scene, name, polygon_token=outline, **fields)
        middle = _middle(road)
        if any(lane.forward for lane in road.lanes):
            _block(records, scene, road, (f"forward-{name}", segment, s, (road.kerbs[0], middle)))
        if not all(lane.forward for lane in road.lanes):
            _block(records, scene, road, (f"backward-{name}", segment, (s[1], s[0]), (middle, road.kerbs[1])))


def _middle(road: Road) -> float:
    """Return t of the line between the two directions; the left kerb of a one-way road."""
    backward = [lane.right for lane in road.lanes if not lane.forward]
    return min(backward, default=road.kerbs[1])


def _block(
    records: MapRecords,
    scene: Scene,
    road: Road,
    block: tuple[str, str, tuple[float, float], tuple[float, float]],
) -> None:
    name, segment, s, t = block
    records.add(
        *("road_block", scene, name),
        polygon_token=records.polygon(scene, f"block-{name}", _outline(road, s, t)),
        from_edge_line_token=records.line(scene, f"block-{name}-from", _across(road, s[0], t)),
        to_edge_line_token=records.line(scene, f"block-{name}-to", _across(road, s[1], t)),
        road_segment_token=segment,
    )


def lane_token(scene: Scene, road: Road, lane: Lane, part: int) -> str:
    """Return the token of a lane's record in one part of its road."""
    return map_token(scene, "lane", f"{road.name}-{lane.name}-{part}")


def _lanes(records: MapRecords, scene: Scene, road: Road) -> None:
    """Add the lanes part by part, with their paths and what follows what."""
    for lane in road.lanes:
        for part, s in enumerate(road.parts):
            own = _lane(records, scene, road, (lane, part, s if lane.forward else (s[1], s[0])))
            records.record["connectivity"].setdefault(own, {"incoming": [], "outgoing": []})
        order = list(range(len(road.parts)))
        for a, b in itertools.pairwise(order if lane.forward else order[::-1]):
            records.connect(lane_token(scene, road, lane, a), lane_token(scene, road, lane, b))


def _lane(records: MapRecords, scene: Scene, road: Road, place: tuple[Lane, int, tuple[float, float]]) -> str:
    lane, part, s = place
    t = (lane.right, lane.left)
    sides = [(lane.left, lane.left_mark), (lane.right, lane.right_mark)]
    left, right = sides if lane.forward else sides[::-1]
    name = f"{road.name}-{lane.name}-{part}"
    own = records.add(
        *("lane", scene, name),
        polygon_token=records.polygon(scene, f"lane-{name}", _outline(road, s, t)),
        lane_type="CAR",
        from_edge_line_token=records.line(scene, f"lane-{name}-from", _across(road, s[0], t)),
        to_edge_line_token=records.line(scene, f"lane-{name}-to", _across(road, s[1], t)),
        left_lane_divider_segments=_divider_run(records, scene, edge(road, s, left[0]), left[1]),
        right_lane_divider_segments=_divider_run(records, scene, edge(road, s, right[0]), right[1]),
    )
    records.follow(own, scene, road.axis.cut(*s).beside(lane.middle * (1 if lane.forward else -1)))
    return own


def _divider_run(records: MapRecords, scene: Scene, places: list[Xy], kind: str) -> list[Record]:
    nodes = records.run(scene, places)
    kinds = [kind] * (len(nodes) - 1) + ["NIL"]
    return [{"node_token": node, "segment_type": name} for node, name in zip(nodes, kinds, strict=True)]


def _walkways(records: MapRecords, scene: Scene, road: Road) -> None:
    for index, strip in enumerate(strip for strip in road.strips if strip.kind == "pavement"):
        name = f"{road.name}-{index}"
        outline = _outline(road, (0.0, road.axis.length), (strip.right, strip.left))
        records.add("walkway", scene, name, polygon_token=records.polygon(scene, f"walkway-{name}", outline))


def _dividers(records: MapRecords, scene: Scene, road: Road) -> None:
    """Add the line between the directions, and those between lanes of one direction."""
    middle = _middle(road)
    pairs = itertools.pairwise(road.lanes)
    inner = [lane for lane, other in pairs if lane.forward == other.forward and lane.left == other.right]
    for part, s in enumerate(road.parts):
        segment = map_token(scene, "road_segment", f"{road.name}-{part}")
        if middle < road.kerbs[1]:
            line = records.line(scene, f"divider-{road.name}-{part}", edge(road, s, middle))
            name = f"{road.name}-{part}"
            records.add("road_divider", scene, name, line_token=line, road_segment_token=segment)
        for lane in inner:
            name, places = f"{road.name}-{part}-{lane.name}", edge(road, s, lane.left)
            line = records.line(scene, f"lane-divider-{name}", places)
            marks = _divider_run(records, scene, places, lane.left_mark)
            records.add("lane_divider", scene, name, line_token=line, lane_divider_segments=marks)


def _junction(records: MapRecords, scene: Scene, junction: Junction, drivable: str) -> None:
    outline = records.polygon(scene, f"segment-{junction.name}", junction.outline)
    fields = {"is_intersection": True, "drivable_area_token": drivable}
    records.add("road_segment", scene, junction.name, polygon_token=outline, **fields)
    for index, corner in enumerate(junction.corners):
        name = f"{junction.name}-{index}"
        records.add("walkway", scene, name, polygon_token=records.polygon(scene, f"walkway-{name}", corner))
    for connector in junction.connectors:
        _connector(records, scene, (junction, connector))


def _connector(records: MapRecords, scene: Scene, place: tuple[Junction, Connector]) -> None:
    junction, connector = place
    name = f"{junction.name}-{connector.name}"
    axis, half = connector.axis, connector.width / 2
    s = np.linspace(0.0, axis.length, max(2, math.ceil(axis.length / 1.0) + 1))
    right, left = axis.places(s, -half).tolist(), axis.places(s[::-1], half).tolist()
    corners: list[Xy] = [(x, y) for x, y in (*right, *left)]
    own = records.add("lane_connector", scene, name, polygon_token=records.polygon(scene, f"connector-{name}", corners))
    records.follow(own, scene, axis)
    records.connect(_end_of(scene, connector.start, last=True), own)
    records.connect(own, _end_of(scene, connector.end, last=False))


def _end_of(scene: Scene, place: tuple[str, str], last: bool) -> str:
    """Return the last lane record of a road in its direction of traffic, or the first one."""
    road = scene.road(place[0])
    lane = road.lane(place[1])
    return lane_token(scene, road, lane, len(road.parts) - 1 if lane.forward == last else 0)


def _crossing(records: MapRecords, scene: Scene, crossing: Crossing) -> None:
    road = scene.road(crossing.road)
    outline = _outline(road, (crossing.start, crossing.end), road.kerbs)
    part = _part(road, crossing.start)
    records.add(
        *("ped_crossing", scene, crossing.name),
        polygon_token=records.polygon(scene, f"crossing-{crossing.name}", outline),
        road_segment_token=map_token(scene, "road_segment", f"{road.name}-{part}"),
    )


def _part(road: Road, s: float) -> int:
    return next(part for part, (low, high) in enumerate(road.parts) if low <= s <= high)


def _block_token(scene: Scene, stop: StopLine) -> str:
    road = scene.road(stop.road)
    way = "forward" if road.lane(stop.lane).forward else "backward"
    return map_token(scene, "road_block", f"{way}-{road.name}-{_part(road, stop.start)}")


def _stop_line(records: MapRecords, scene: Scene, stop: StopLine) -> None:
    road = scene.road(stop.road)
    lane = road.lane(stop.lane)
    outline = _outline(road, (stop.start, stop.end), (lane.right, lane.left))
    records.add(
        *("stop_line", scene, stop.name),
        polygon_token=records.polygon(scene, f"stop-{stop.name}", outline),
        stop_line_type=stop.kind,
        ped_crossing_tokens=[map_token(scene, "ped_crossing", name) for name in stop.crossings],
        traffic_light_tokens=[map_token(scene, "traffic_light", name) for name in stop.signals],
        road_block_token=_block_token(scene, stop),
    )


def _signal(records: MapRecords, scene: Scene, signal: Signal) -> None:
    """Add a light: its line leads from the lamp half a metre to where it shines; maps know no states."""
    ahead = (signal.x + 0.5 * math.cos(signal.facing), signal.y + 0.5 * math.sin(signal.facing))
    x, y = plan_in_map(scene, np.array([(signal.x, signal.y)]))[0].tolist()
    stop = next((stop for stop in scene.stop_lines if signal.name in stop.signals), None)
    yaw = (signal.facing + scene.at[2] + math.pi) % (2 * math.pi) - math.pi
    none = {"tx": 0.0, "ty": 0.0, "rx": 0.0, "ry": 0.0, "rz": 0.0}
    records.add(
        *("traffic_light", scene, signal.name),
        line_token=records.line(scene, f"light-{signal.name}", [(signal.x, signal.y), ahead]),
        traffic_light_type="VERTICAL",
        from_road_block_token=_block_token(scene, stop) if stop else "",
        items=[
            {"color": colour, "shape": "CIRCLE", "rel_pos": {**none, "tz": height}, "to_road_block_tokens": []}
            for colour, height in BULBS
        ],
        pose={
            **{"tx": quantise(x, METRE_STEP), "ty": quantise(y, METRE_STEP), "tz": signal.height},
            **{"rx": 0.0, "ry": 0.0, "rz": quantise(yaw, RADIAN_STEP)},
        },
    )
