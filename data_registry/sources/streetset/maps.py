"""The map of the street: the mask raster and the map expansion v1.3, plus the three empty cities that readers ask for.

Line nodes lie 2 m apart because radius queries count nodes, and neighbouring lanes share their edge's nodes because
`get_next_roads` compares node tokens. Every lane has an arcline path: a missing one breaks `get_closest_lane`.
"""

from __future__ import annotations

import io
import itertools
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw

from data_registry.geometry import Array
from data_registry.identity import METRE_STEP, RADIAN_STEP, quantise
from data_registry.sources.streetset.layout import (
    BAY_EDGE,
    CENTRE_LINE,
    CROSSING,
    GLOBAL_FROM_STREET,
    KERB_LEFT,
    KERB_RIGHT,
    LOCATION,
    SPLIT_S,
    STOP_GAP,
    STREET_END,
    STREET_START,
    WALL_LEFT,
    WALL_RIGHT,
)
from data_registry.sources.streetset.tables import Record, token

CITIES: Final = ("boston-seaport", "singapore-hollandvillage", "singapore-onenorth", "singapore-queenstown")
CANVAS: Final = (320.0, 160.0)
"""Extent of the map, metres: width, height."""
MASK_SCALE: Final = 10
"""Mask pixels a metre."""
NODE_STEP: Final = 2.0
LAYERS: Final = (
    *("polygon", "line", "node", "drivable_area", "road_segment", "road_block", "lane", "lane_connector"),
    *("ped_crossing", "walkway", "stop_line", "carpark_area", "road_divider", "lane_divider", "traffic_light"),
)


def to_global(street: Array) -> Array:
    """Return map coordinates (N, 2) of street points (N, 2)."""
    return GLOBAL_FROM_STREET.apply(np.column_stack([street, np.zeros(len(street))]))[:, :2]


def empty_map() -> Record:
    """Return the least map that the devkit loads."""
    layers: Record = {layer: [] for layer in LAYERS}
    return {**layers, "connectivity": {}, "arcline_path_3": {}, "version": "1.3", "canvas_edge": list(CANVAS)}


def mask_png() -> bytes:
    """Return the mask of drivable ground and pavements: 0 or 255, 0.1 m a pixel, row 0 at the largest y."""
    width, height = int(CANVAS[0] * MASK_SCALE), int(CANVAS[1] * MASK_SCALE)
    image = Image.new("L", (width, height), 0)
    outline = to_global(_corners(STREET_START, STREET_END, WALL_RIGHT, WALL_LEFT))
    pixels = np.column_stack([outline[:, 0] * MASK_SCALE, height - outline[:, 1] * MASK_SCALE])
    ImageDraw.Draw(image).polygon([(float(x), float(y)) for x, y in pixels], fill=255)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def expansions() -> dict[str, Record]:
    """Return the map expansion of every city by name; the street's is filed under LOCATION."""
    return {city: StreetMap().record if city == LOCATION else empty_map() for city in CITIES}


def _corners(s0: float, s1: float, t0: float, t1: float) -> Array:
    return np.array([(s0, t0), (s1, t0), (s1, t1), (s0, t1)])


class StreetMap:
    """Builds the street's map record; points are shared by place, so equal places have one node."""

    def __init__(self) -> None:
        self.record = empty_map()
        self._nodes: dict[tuple[float, float], str] = {}
        area = self._polygon("drivable", STREET_START, STREET_END, KERB_RIGHT, KERB_LEFT)
        drivable = self._add("drivable_area", "road", polygon_tokens=[area])
        self._segments(drivable)
        self._lanes()
        self._walkways()
        self._crossing()
        self._dividers()

    def _add(self, layer: str, name: str, **fields: Any) -> str:
        own = token("map", layer, name)
        self.record[layer].append({"token": own, **fields})
        return own

    def _node(self, s: float, t: float) -> str:
        place = (round(s, 3), round(t, 3))
        if place not in self._nodes:
            x, y = (quantise(value, METRE_STEP) for value in to_global(np.array([place]))[0].tolist())
            self._nodes[place] = self._add("node", f"{place[0]:.3f},{place[1]:.3f}", x=x, y=y)
        return self._nodes[place]

    def _run(self, start: tuple[float, float], end: tuple[float, float]) -> list[str]:
        """Return the nodes from start to end, both included, at most NODE_STEP apart."""
        (s0, t0), (s1, t1) = start, end
        steps = max(1, int(np.ceil(np.hypot(s1 - s0, t1 - t0) / NODE_STEP)))
        return [self._node(s0 + (s1 - s0) * k / steps, t0 + (t1 - t0) * k / steps) for k in range(steps + 1)]

    def _polygon(self, name: str, s0: float, s1: float, t0: float, t1: float) -> str:
        corners = [(s0, t0), (s1, t0), (s1, t1), (s0, t1), (s0, t0)]
        outline = [node for a, b in itertools.pairwise(corners) for node in self._run(a, b)[:-1]]
        return self._add("polygon", name, exterior_node_tokens=outline, holes=[])

    def _line(self, name: str, start: tuple[float, float], end: tuple[float, float]) -> str:
        return self._add("line", name, node_tokens=self._run(start, end))

    def _segments(self, drivable: str) -> None:
        """Cut the road into two segments with one block a direction each."""
        for part, (s0, s1) in enumerate(((STREET_START, SPLIT_S), (SPLIT_S, STREET_END))):
            outline = self._polygon(f"segment-{part}", s0, s1, KERB_RIGHT, KERB_LEFT)
            segment = self._add(
                *("road_segment", f"{part}"), polygon_token=outline, is_intersection=False, drivable_area_token=drivable
            )
            for way, t0, t1 in (("forward", KERB_RIGHT, CENTRE_LINE), ("backward", CENTRE_LINE, KERB_LEFT)):
                self._block(f"{way}-{part}", segment, (s0, s1) if way == "forward" else (s1, s0), (t0, t1))

    def _block(self, name: str, segment: str, s: tuple[float, float], t: tuple[float, float]) -> None:
        self._add(
            *("road_block", name),
            polygon_token=self._polygon(f"block-{name}", min(s), max(s), *t),
            from_edge_line_token=self._line(f"block-{name}-from", (s[0], t[0]), (s[0], t[1])),
            to_edge_line_token=self._line(f"block-{name}-to", (s[1], t[0]), (s[1], t[1])),
            road_segment_token=segment,
        )

    def _lanes(self) -> None:
        """Add two lanes a direction, one after the other, with their paths and connections."""
        ahead = [self._lane(f"forward-{k}", s, (BAY_EDGE, CENTRE_LINE)) for k, s in enumerate(_HALVES)]
        back = [
            self._lane(f"backward-{k}", (s[1], s[0]), (CENTRE_LINE, KERB_LEFT)) for k, s in enumerate(_HALVES[::-1])
        ]
        for first, second in (ahead, back):
            self.record["connectivity"][first] = {"incoming": [], "outgoing": [second]}
            self.record["connectivity"][second] = {"incoming": [first], "outgoing": []}

    def _lane(self, name: str, s: tuple[float, float], t: tuple[float, float]) -> str:
        forward = s[1] > s[0]
        right, left = t if forward else t[::-1]
        own = self._add(
            *("lane", name),
            polygon_token=self._polygon(f"lane-{name}", min(s), max(s), *t),
            lane_type="CAR",
            from_edge_line_token=self._line(f"lane-{name}-from", (s[0], t[0]), (s[0], t[1])),
            to_edge_line_token=self._line(f"lane-{name}-to", (s[1], t[0]), (s[1], t[1])),
            left_lane_divider_segments=self._divider_run((s[0], left), (s[1], left), "DOUBLE_DASHED_WHITE"),
            right_lane_divider_segments=self._divider_run(
                (s[0], right), (s[1], right), "SINGLE_SOLID_WHITE" if forward else "NIL"
            ),
        )
        self.record["arcline_path_3"][own] = [_straight_path(s, sum(t) / 2)]
        return own

    def _divider_run(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> list[Record]:
        nodes = self._run(start, end)
        kinds = [kind] * (len(nodes) - 1) + ["NIL"]
        return [{"node_token": node, "segment_type": name} for node, name in zip(nodes, kinds, strict=True)]

    def _walkways(self) -> None:
        for name, t0, t1 in (("right", WALL_RIGHT, KERB_RIGHT), ("left", KERB_LEFT, WALL_LEFT)):
            self._add("walkway", name, polygon_token=self._polygon(f"walkway-{name}", STREET_START, STREET_END, t0, t1))

    def _crossing(self) -> None:
        low, high = CROSSING
        segment = token("map", "road_segment", "1")
        outline = self._polygon("crossing", low, high, KERB_RIGHT, KERB_LEFT)
        crossing = self._add("ped_crossing", "one", polygon_token=outline, road_segment_token=segment)
        stops = {
            "forward-1": (low - STOP_GAP[1], low - STOP_GAP[0], BAY_EDGE, CENTRE_LINE),
            "backward-1": (high + STOP_GAP[0], high + STOP_GAP[1], CENTRE_LINE, KERB_LEFT),
        }
        for block, extent in stops.items():
            self._add(
                *("stop_line", block),
                polygon_token=self._polygon(f"stop-{block}", *extent),
                stop_line_type="PED_CROSSING",
                ped_crossing_tokens=[crossing],
                traffic_light_tokens=[],
                road_block_token=token("map", "road_block", block),
            )

    def _dividers(self) -> None:
        for part, (s0, s1) in enumerate(_HALVES):
            line = self._line(f"divider-{part}", (s0, CENTRE_LINE), (s1, CENTRE_LINE))
            self._add("road_divider", f"{part}", line_token=line, road_segment_token=token("map", "road_segment", part))


_HALVES: Final = ((STREET_START, SPLIT_S), (SPLIT_S, STREET_END))


def _straight_path(s: tuple[float, float], t: float) -> Record:
    """Return an arcline path along the street: three arcs, the outer ones of no length."""
    ends = to_global(np.array([(s[0], t), (s[1], t)]))
    yaw = float(np.arctan2(*(ends[1] - ends[0])[::-1]))
    start, end = (
        [*(quantise(value, METRE_STEP) for value in point.tolist()), quantise(yaw, RADIAN_STEP)] for point in ends
    )
    length = float(abs(s[1] - s[0]))
    return {
        "start_pose": start,
        "end_pose": end,
        "shape": "LSR",
        "radius": 999.999,
        "segment_length": [0.0, length, 0.0],
    }
