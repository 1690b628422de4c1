"""A map expansion of a city's size, made up: what map queries are measured on.

12,600 polygons of 15 nodes each and an arc for every lane, in the form of the official `boston-seaport.json` and about
as many. Polygons are star-shaped and lie anywhere in the city's extent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

CITY = "boston-seaport"
EXTENT_M = (2979.5, 2118.1)
COUNTS = {
    "lane": 3000,
    "lane_connector": 3000,
    "ped_crossing": 1500,
    "walkway": 1500,
    "stop_line": 1500,
    "road_segment": 1500,
    "drivable_area": 600,
}
NODES = 15
EMPTY = ("line", "road_block", "carpark_area", "road_divider", "lane_divider", "traffic_light")


def write_map(root: Path) -> Path:
    """Write `maps/expansion/boston-seaport.json` below a root and return its path."""
    rng = np.random.default_rng(0)
    content: dict[str, Any] = {name: [] for name in ("node", "polygon", *COUNTS, *EMPTY)}
    content |= {"version": "1.3", "canvas_edge": list(EXTENT_M)}
    for layer, count in COUNTS.items():
        for number in range(count):
            token = f"{layer}-{number:06d}"
            _add_polygon(content, token, rng)
            content[layer].append({"token": token, **_fields(layer, token)})
    lanes = [row["token"] for name in ("lane", "lane_connector") for row in content[name]]
    content["arcline_path_3"] = {token: [_arc(rng)] for token in lanes}
    content["connectivity"] = dict(_links(lanes))
    path = root / "maps" / "expansion" / f"{CITY}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def _add_polygon(content: dict[str, Any], token: str, rng: np.random.Generator) -> None:
    middle = rng.uniform(20, np.array(EXTENT_M) - 20)
    turns, reach = np.sort(rng.uniform(0, 2 * np.pi, NODES)), rng.uniform(3, 15, NODES)
    points = middle + np.stack([np.cos(turns) * reach, np.sin(turns) * reach], axis=1)
    nodes = [f"{token}-{number:02d}" for number in range(NODES)]
    rows = zip(nodes, points.tolist(), strict=True)
    content["node"].extend({"token": node, "x": x, "y": y} for node, (x, y) in rows)
    content["polygon"].append({"token": f"{token}-p", "exterior_node_tokens": nodes, "holes": []})


def _fields(layer: str, token: str) -> dict[str, Any]:
    if layer == "drivable_area":
        return {"polygon_tokens": [f"{token}-p"]}
    more: dict[str, Any] = {
        "lane": {"left_lane_divider_segments": [], "right_lane_divider_segments": []},
        "stop_line": {"stop_line_type": "STOP_SIGN"},
        "road_segment": {"is_intersection": True},
    }.get(layer, {})
    return {"polygon_token": f"{token}-p", **more}


def _arc(rng: np.random.Generator) -> dict[str, Any]:
    x, y = rng.uniform(20, np.array(EXTENT_M) - 20).tolist()
    lengths = rng.uniform(0, 20, 3).tolist()
    return {
        "start_pose": [x, y, 0.5],
        "end_pose": [x, y, 0.5],
        "shape": "LSR",
        "radius": 12.0,
        "segment_length": lengths,
    }


def _links(lanes: list[str]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    for number, token in enumerate(lanes):
        yield token, {"incoming": [lanes[number - 1]], "outgoing": [lanes[(number + 1) % len(lanes)]]}
