"""Records of a map expansion v1.3: nodes, lines and polygons, shared by place, and what refers to them.

Line nodes lie at most 2 m apart because radius queries count nodes, and neighbouring lanes share their edge's nodes
because `get_next_roads` compares node tokens.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from data_registry.geometry import Array
from data_registry.identity import METRE_STEP, RADIAN_STEP, quantise
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.tables import Record, token
from data_registry.sources.streetset.world import Scene, Xy

NODE_STEP: Final = 2.0
LAYERS: Final = (
    *("polygon", "line", "node", "drivable_area", "road_segment", "road_block", "lane", "lane_connector"),
    *("ped_crossing", "walkway", "stop_line", "carpark_area", "road_divider", "lane_divider", "traffic_light"),
)
STRAIGHT_RADIUS: Final = 999.999


def plan_in_map(scene: Scene, points: Array) -> Array:
    """Return map coordinates (N, 2) of plan points (N, 2) of a scene."""
    return scene.to_global.apply(np.column_stack([points, np.zeros(len(points))]))[:, :2]


class MapRecords:
    """One map expansion that grows; equal places of a scene have one node."""

    def __init__(self, canvas: tuple[float, float]) -> None:
        """Start with a map that has nothing in it, of a width and height in metres."""
        self.record: Record = {layer: [] for layer in LAYERS}
        self.record |= {"connectivity": {}, "arcline_path_3": {}, "version": "1.3", "canvas_edge": list(canvas)}
        self._nodes: dict[tuple[str, float, float], str] = {}

    def add(self, layer: str, scene: Scene, name: str, **fields: Any) -> str:
        """Add a record and return its token."""
        own = map_token(scene, layer, name)
        self.record[layer].append({"token": own, **fields})
        return own

    def node(self, scene: Scene, place: Xy) -> str:
        """Return the node at a plan place of a scene."""
        key = (scene.name, round(place[0], 3) + 0.0, round(place[1], 3) + 0.0)
        if key not in self._nodes:
            x, y = (quantise(v, METRE_STEP) for v in plan_in_map(scene, np.array([key[1:]]))[0].tolist())
            self._nodes[key] = self.add("node", scene, f"{key[1]:.3f},{key[2]:.3f}", x=x, y=y)
        return self._nodes[key]

    def run(self, scene: Scene, corners: Sequence[Xy]) -> list[str]:
        """Return the nodes along corners, both ends included, at most NODE_STEP apart."""
        found = [self.node(scene, corners[0])]
        for a, b in itertools.pairwise(corners):
            steps = max(1, math.ceil(math.dist(a, b) / NODE_STEP - 1e-6))
            # Places in between are counted from the same end in both directions, so that neighbours share nodes.
            (x0, y0), (x1, y1) = sorted((a, b))
            places = [(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps) for k in range(steps + 1)]
            ordered = places if (x0, y0) == a else places[::-1]
            found.extend(self.node(scene, place) for place in ordered[1:])
        return [node for index, node in enumerate(found) if index == 0 or node != found[index - 1]]

    def polygon(self, scene: Scene, name: str, corners: Sequence[Xy], holes: Sequence[Sequence[Xy]] = ()) -> str:
        """Add a polygon and return its token."""
        rings = [self.run(scene, [*ring, ring[0]])[:-1] for ring in (corners, *holes)]
        inner = [{"node_tokens": ring} for ring in rings[1:]]
        return self.add("polygon", scene, name, exterior_node_tokens=rings[0], holes=inner)

    def line(self, scene: Scene, name: str, corners: Sequence[Xy]) -> str:
        """Add a line and return its token."""
        return self.add("line", scene, name, node_tokens=self.run(scene, corners))

    def follow(self, lane: str, scene: Scene, line: Line) -> None:
        """Give a lane or connector its arcline paths, one for each piece of its middle line.

        Every lane needs them: a missing one breaks the devkit's `get_closest_lane`.
        """
        bounds = [0.0, *itertools.accumulate(length for length, _ in line.pieces)]
        self.record["arcline_path_3"][lane] = [
            _path(scene, line, start, end) for start, end in itertools.pairwise(bounds)
        ]

    def connect(self, first: str, second: str) -> None:
        """Let traffic go from one lane or connector to another."""
        links = self.record["connectivity"]
        for own in (first, second):
            links.setdefault(own, {"incoming": [], "outgoing": []})
        links[first]["outgoing"].append(second)
        links[second]["incoming"].append(first)


def map_token(scene: Scene, layer: str, name: str) -> str:
    """Return the token of a map record."""
    return token("map", scene.name, layer, name)


def _path(scene: Scene, line: Line, start: float, end: float) -> Record:
    """Return one piece as an arcline path: an arc and two pieces of no length, or a straight line between two."""
    curvature = line.curvature((start + end) / 2)
    length = quantise(end - start, METRE_STEP)
    if curvature == 0.0:
        shape, radius, lengths = "LSR", STRAIGHT_RADIUS, [0.0, length, 0.0]
    else:
        shape, radius = ("LSR" if curvature > 0 else "RSL"), quantise(1 / abs(curvature), METRE_STEP)
        lengths = [length, 0.0, 0.0]
    return {
        "start_pose": _pose_in_map(scene, line.pose(start)),
        "end_pose": _pose_in_map(scene, line.pose(end)),
        "shape": shape,
        "radius": radius,
        "segment_length": lengths,
    }


def _pose_in_map(scene: Scene, pose: tuple[float, float, float]) -> list[float]:
    x, y = plan_in_map(scene, np.array([pose[:2]]))[0].tolist()
    yaw = (pose[2] + scene.at[2] + math.pi) % (2 * math.pi) - math.pi
    return [quantise(x, METRE_STEP), quantise(y, METRE_STEP), quantise(yaw, RADIAN_STEP)]
