"""The JSON of a map expansion v1.3, looked up and checked: polygons, centre lines, links and stop kinds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import shapely

from data_registry.geometry import Array
from data_registry.records import StopLineKind
from data_registry.sources.nuscenes.patches import parts
from data_registry.sources.nuscenes.problems import MapError, Problems, shorten
from data_registry.sources.nuscenes.schema import number
from data_registry.sources.nuscenes.streaming import load_json

STEP_M: Final = 1.0
"""Points of a centre line are at most this far apart."""
REMEDY: Final = "Unpack the map expansion v1.3 again, or remove the file: the map mask serves without it."
LAYERS: Final = ("drivable_area", "lane", "lane_connector", "ped_crossing", "walkway", "stop_line", "road_segment")
STOP_KINDS: Final[dict[str, StopLineKind]] = {
    "PED_CROSSING": "ped_crossing",
    "TURN_STOP": "turn_stop",
    "STOP_SIGN": "stop_sign",
    "TRAFFIC_LIGHT": "traffic_light",
    "YIELD": "yield",
}
"""Values of the map's `stop_line_type`."""
_SIGNS: Final = {"L": 1.0, "S": 0.0, "R": -1.0}
_SHAPES: Final = {"LRL", "LSL", "LSR", "RLR", "RSL", "RSR"}


@dataclass(frozen=True, slots=True, eq=False)
class MapContent:
    """What a keyframe's patch is cut from; map frame, metres."""

    polygons: dict[str, list[tuple[str, shapely.Polygon]]]
    """Per layer, valid polygons with the tokens of their records, by token: the order of the file does not matter."""
    centrelines: dict[str, Array]
    """Per lane and connector, points (N, 2); none when the map has no arcs for it."""
    successors: dict[str, tuple[str, ...]]
    """Per lane and connector, the lanes that follow it, sorted."""
    stop_kinds: dict[str, StopLineKind]
    """Per stop line."""


def read_map(path: Path) -> MapContent:
    """Read and check the layers that a keyframe carries.

    Raises:
        MapError: the file is not such a map; all problems at once.
    """
    problems = Problems()
    reader = _MapReader(path, problems)
    lanes = reader.lane_tokens()
    content = MapContent(
        polygons={name: reader.layer(name) for name in LAYERS},
        centrelines={token: reader.centreline(token) for token in lanes},
        successors={token: reader.successors(token) for token in lanes},
        stop_kinds=reader.stop_kinds(),
    )
    problems.raise_any(MapError, str(path), REMEDY)
    return content


class _MapReader:
    """The JSON of a map with everything looked up and checked."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self._problems = problems
        content = self._content(path)
        self._nodes = self._table(content, "node")
        self._polygons = self._table(content, "polygon")
        self._records = {name: self._table(content, name) for name in LAYERS}
        self._paths = self._object(content, "arcline_path_3")
        self._links = self._object(content, "connectivity")

    def _content(self, path: Path) -> dict[str, Any]:
        try:
            content = load_json(path)
        except ValueError as error:
            self._problems.raise_with(str(error), MapError, str(path), REMEDY)
        if not isinstance(content, dict):
            self._problems.raise_with("must be a JSON object", MapError, str(path), REMEDY)
        return cast(dict[str, Any], content)

    def _table(self, content: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
        rows = content.get(name)
        if not isinstance(rows, list):
            self._problems.add(f"layer {name}: must be there and a list of records (version 1.3)")
            return {}
        found: dict[str, dict[str, Any]] = {}
        for row in cast(list[Any], rows):
            token = cast(dict[str, Any], row).get("token") if isinstance(row, dict) else None
            if not isinstance(token, str) or not token.isprintable():
                self._problems.add(f"layer {name}: a record without a token: {shorten(row)}")
            elif token in found:
                self._problems.add(f"layer {name}, token {shorten(token)}: stands more than once")
            else:
                found[token] = row
        return found

    def _object(self, content: dict[str, Any], name: str) -> dict[str, Any]:
        value = content.get(name)
        if not isinstance(value, dict):
            self._problems.add(f"{name}: must be there and an object by lane token (version 1.3)")
            return {}
        return cast(dict[str, Any], value)

    def lane_tokens(self) -> list[str]:
        """Return the tokens of lanes and connectors, sorted."""
        return sorted(self._records["lane"].keys() | self._records["lane_connector"].keys())

    def layer(self, name: str) -> list[tuple[str, shapely.Polygon]]:
        """Return one layer; of road segments only the intersections."""
        found: list[tuple[str, shapely.Polygon]] = []
        for token, row in self._records[name].items():
            if name == "road_segment" and row.get("is_intersection") is not True:
                continue
            tokens = row.get("polygon_tokens") if name == "drivable_area" else [row.get("polygon_token")]
            where = f"layer {name}, token {shorten(token)}"
            if not isinstance(tokens, list):
                self._problems.add(f"{where}, field polygon_tokens: must be a list")
                continue
            for polygon in cast(list[Any], tokens):
                found.extend((token, piece) for piece in self._polygon(polygon, where))
        found.sort(key=lambda pair: (pair[0], pair[1].wkb))
        return found

    def _polygon(self, token: Any, where: str) -> list[shapely.Polygon]:
        row = self._polygons.get(token) if isinstance(token, str) else None
        if row is None:
            self._problems.add(f"{where}: polygon {shorten(token)} is not in layer polygon")
            return []
        exterior = self._ring(row.get("exterior_node_tokens"), f"polygon {shorten(token)}")
        holes = row.get("holes", [])
        listed = cast(list[Any], holes) if isinstance(holes, list) else [None]
        inner = [
            self._ring(hole.get("node_tokens") if isinstance(hole, dict) else None, f"hole of polygon {shorten(token)}")
            for hole in listed
        ]
        if len(exterior) < 3:
            return []
        try:
            return parts(shapely.Polygon(exterior, [ring for ring in inner if len(ring) >= 3]))
        except shapely.GEOSException as error:
            self._problems.add(
                f"{where}: polygon {shorten(token)} crosses itself beyond repair ({shorten(str(error))})"
            )
            return []

    def _ring(self, tokens: Any, where: str) -> list[tuple[float, float]]:
        """Return a ring's points; no nodes at all means no polygon, one or two are a mistake."""
        if not isinstance(tokens, list):
            self._problems.add(f"{where}: must have a list of node tokens")
            return []
        points = [self._node(token, where) for token in cast(list[Any], tokens)]
        if 0 < len(points) < 3:
            self._problems.add(f"{where}: {len(points)} nodes are not a polygon")
        return [point for point in points if point is not None]

    def _node(self, token: Any, where: str) -> tuple[float, float] | None:
        row = self._nodes.get(token) if isinstance(token, str) else None
        if row is None:
            self._problems.add(f"{where}: node {shorten(token)} is not in layer node")
            return None
        x, y = row.get("x"), row.get("y")
        if not number(x) or not number(y):
            self._problems.add(f"node {shorten(token)}: x and y must be finite numbers, got {shorten([x, y])}")
            return None
        return float(cast(float, x)), float(cast(float, y))

    def stop_kinds(self) -> dict[str, StopLineKind]:
        """Return what each stop line is for, by token; unknown when the map says something else, or nothing."""
        rows = self._records["stop_line"]
        return {token: STOP_KINDS.get(str(row.get("stop_line_type")), "unknown") for token, row in rows.items()}

    def successors(self, token: str) -> tuple[str, ...]:
        """Return the lanes that follow a lane, sorted; none when the map does not connect it."""
        entry = self._links.get(token, {})
        following = cast(dict[str, Any], entry).get("outgoing", []) if isinstance(entry, dict) else None
        listed = cast(list[Any], following) if isinstance(following, list) else [None]
        if not all(isinstance(name, str) and name.isprintable() for name in listed):
            self._problems.add(f"connectivity of lane {shorten(token)}: outgoing must be a list of tokens")
            return ()
        return tuple(sorted(set(cast(list[str], listed))))

    def centreline(self, token: str) -> Array:
        """Return a lane's centre line (N, 2) in the map's frame; empty when the map has no arcs for it."""
        arcs = self._paths.get(token, [])
        listed = cast(list[Any], arcs) if isinstance(arcs, list) else [None]
        wrong = [arc for arc in listed if not _is_arc(arc)]
        if wrong:
            self._problems.add(
                f"arcline_path_3 of lane {shorten(token)}: {shorten(wrong[0])} needs start_pose, shape, radius and"
                " segment_length"
            )
            return np.zeros((0, 2))
        points = [point for arc in cast(list[dict[str, Any]], listed) for point in _arc_points(arc)]
        kept = [p for n, p in enumerate(points) if n == 0 or math.dist(p, points[n - 1]) > 1e-3]
        return np.array(kept).reshape(-1, 2)


def _is_arc(arc: Any) -> bool:
    if not isinstance(arc, dict):
        return False
    fields = cast(dict[str, Any], arc)
    vectors = [fields.get("start_pose"), fields.get("segment_length")]
    if not all(isinstance(v, list) and len(cast(list[Any], v)) == 3 and all(map(number, v)) for v in vectors):
        return False
    lengths, radius, shape = fields["segment_length"], fields.get("radius"), fields.get("shape")
    return (
        isinstance(shape, str)
        and shape in _SHAPES
        and number(radius)
        and cast(float, radius) > 1e-3
        and all(0 <= length < 1e5 for length in lengths)
    )


def _arc_points(arc: dict[str, Any]) -> Iterator[tuple[float, float]]:
    """Yield points of one arc-line-arc path, both ends included, evenly spaced by STEP_M or a little less."""
    total = float(sum(arc["segment_length"]))
    steps = max(1, math.ceil(total / STEP_M - 1e-9))
    for step in range(steps + 1):
        yield _along(arc, total * step / steps)


def _along(arc: dict[str, Any], distance: float) -> tuple[float, float]:
    """Return the point at a distance along a path whose three pieces turn left, go straight or turn right."""
    x, y, heading = cast(Sequence[float], arc["start_pose"])
    for kind, length in zip(arc["shape"], arc["segment_length"], strict=True):
        run = min(distance, length)
        turn = _SIGNS[kind] * run / arc["radius"]
        chord = run * float(np.sinc(turn / 2 / np.pi))
        x += chord * math.cos(heading + turn / 2)
        y += chord * math.sin(heading + turn / 2)
        heading += turn
        distance -= run
    return x, y
