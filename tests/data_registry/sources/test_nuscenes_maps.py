"""Maps of tiny roots: masks, the map expansion, none."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import shapely
from PIL import Image

from data_registry.sources.nuscenes import (
    MapError,
)
from data_registry.sources.source import Request
from tests.data_registry.sources.roots import Tables, opened, select, tiny_tables


@pytest.fixture
def tables() -> Tables:
    return tiny_tables()


def test_no_map_is_no_error(tmp_path: Path, tables: Tables) -> None:
    patch = select(tmp_path, tables).keyframes[0].map
    assert (patch.source, patch.drivable) == ("none", ())


def write_mask(root: Path, pixels: np.ndarray) -> Path:
    path = root / "maps" / "town.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def test_mask_gives_the_drivable_area_in_the_ego_frame(tmp_path: Path, tables: Tables) -> None:
    pixels = np.zeros((1003, 2501), dtype=np.uint8)  # 100.3 m high, row 0 on top
    pixels[1003 - 560 : 1003 - 440, :] = 255  # y from 44 to 56 m: a road around the ego at (104, 50)
    write_mask(tmp_path / "root", pixels)
    (keyframe,) = select(tmp_path, tables).keyframes
    assert keyframe.map.source == "mask"
    (area,) = keyframe.map.drivable
    road = shapely.Polygon(area.exterior)
    assert road.is_valid
    assert road.bounds == pytest.approx((-70, -6, 70, 6), abs=1e-6)
    assert road.area == pytest.approx(140 * 12, abs=1)


def test_mask_is_decoded_once(tmp_path: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mask(tmp_path / "root", np.full((1000, 1000), 255, dtype=np.uint8))
    first = select(tmp_path, tables).keyframes
    monkeypatch.setattr("data_registry.sources.nuscenes.masks._decode", lambda *_: pytest.fail("decoded again"))
    assert opened(tmp_path).select(Request()).keyframes == first


def test_broken_mask_is_refused_and_leaves_nothing(tmp_path: Path, tables: Tables) -> None:
    path = write_mask(tmp_path / "root", np.full((1000, 1000), 255, dtype=np.uint8))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(MapError, match=r"town\.png cannot be decoded"):
        select(tmp_path, tables)
    assert [p.name for p in (tmp_path / "index" / "masks").iterdir()] == ["build.lock"]


def tiny_map() -> dict:
    nodes = {"a": (80, 40), "b": (140, 40), "c": (140, 60), "d": (80, 60), "far": (900, 40)}
    polygon = {"token": "p", "exterior_node_tokens": ["a", "b", "c", "d"], "holes": []}
    path = {"start_pose": [90, 45, 0], "shape": "LSR", "radius": 10.0, "segment_length": [15.708, 0, 0]}
    lane = {"token": "lane", "polygon_token": "p"}
    return {
        "node": [{"token": token, "x": x, "y": y} for token, (x, y) in nodes.items()],
        "polygon": [polygon],
        "drivable_area": [{"token": "road", "polygon_tokens": ["p"]}],
        "lane": [lane],
        "lane_connector": [],
        "ped_crossing": [],
        "walkway": [],
        "stop_line": [],
        "road_segment": [{"token": "s", "polygon_token": "p", "is_intersection": True}],
        "arcline_path_3": {"lane": [path]},
        "connectivity": {"lane": {"incoming": [], "outgoing": ["z", "next"]}},
    }


def write_map(root: Path, content: object) -> None:
    path = root / "maps" / "expansion" / "town.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_expansion_gives_lanes_in_the_ego_frame(tmp_path: Path, tables: Tables) -> None:
    write_map(tmp_path / "root", tiny_map())
    patch = select(tmp_path, tables).keyframes[0].map
    (lane,) = patch.lanes
    assert (patch.source, lane.successors, lane.is_connector) == ("expansion", ("next", "z"), False)
    assert lane.centreline[0] == pytest.approx((90 - 104, 45 - 50), abs=1e-6)
    assert lane.centreline[-1] == pytest.approx((100 - 104, 55 - 50), abs=1e-3)
    assert max(np.hypot(*np.diff(np.array(lane.centreline), axis=0).T)) <= 1.0
    assert shapely.Polygon(patch.intersections[0].exterior).bounds == pytest.approx((-24, -10, 36, 10))


@pytest.mark.parametrize(
    ("written", "kind"),
    [("TRAFFIC_LIGHT", "traffic_light"), ("PED_CROSSING", "ped_crossing"), ("NEW_KIND", "unknown"), (None, "unknown")],
)
def test_a_stop_line_says_what_makes_vehicles_stop(
    tmp_path: Path, tables: Tables, written: str | None, kind: str
) -> None:
    content = tiny_map()
    content["stop_line"] = [{"token": "s", "polygon_token": "p", "stop_line_type": written}]
    write_map(tmp_path / "root", content)
    (line,) = select(tmp_path, tables).keyframes[0].map.stop_lines
    assert line.kind == kind
    assert shapely.Polygon(line.area.exterior).bounds == pytest.approx((-24, -10, 36, 10))


def _broken(change: Callable[[dict], object]) -> dict:
    content = tiny_map()
    change(content)
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "must be a JSON object"),
        (_broken(lambda c: c.pop("node")), "layer node: must be there"),
        (_broken(lambda c: c["node"].pop(0)), "node 'a' is not in layer node"),
        (_broken(lambda c: c["node"][0].update(x=float("nan"))), "finite"),
        (_broken(lambda c: c["lane"][0].update(polygon_token="q")), "polygon 'q' is not in layer polygon"),
        (_broken(lambda c: c["polygon"][0].update(exterior_node_tokens=["a", "b"])), "2 nodes are not a polygon"),
        (_broken(lambda c: c["polygon"].append(c["polygon"][0])), "stands more than once"),
        (_broken(lambda c: c["arcline_path_3"]["lane"][0].update(radius=0)), "arcline_path_3 of lane 'lane'"),
        (_broken(lambda c: c["connectivity"]["lane"].update(outgoing=[None])), "outgoing must be a list"),
        (_broken(lambda c: c["drivable_area"][0].pop("polygon_tokens")), "polygon_tokens: must be a list"),
        (_broken(lambda c: c["polygon"][0].update(holes=[3])), "hole of polygon"),
        (_broken(lambda c: c["lane"].append(4)), "a record without a token"),
    ],
)
def test_broken_map_expansion_is_refused(tmp_path: Path, tables: Tables, content: object, message: str) -> None:
    write_map(tmp_path / "root", content)
    with pytest.raises(MapError, match=message) as caught:
        select(tmp_path, tables)
    assert "remove the file: the map mask serves" in str(caught.value)
