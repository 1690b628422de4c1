"""Maps of tiny roots: masks, the map expansion, none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from data_registry.sources.nuscenes import MapError, expansion, masks
from data_registry.sources.nuscenes.map_reading import read_map
from data_registry.sources.nuscenes.masks import drivable_cells, mask_tiles
from data_registry.sources.nuscenes.patches import Patch
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


def test_tiles_hold_the_picture_right_side_up_whatever_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masks, "TILE_PIXELS", 16)
    rng = np.random.default_rng(0)
    cells = rng.random((11, 9)) < 0.5
    pixels = np.repeat(np.repeat(cells[::-1] * np.uint8(255), 5, axis=0), 5, axis=1)
    tiles = mask_tiles(write_mask(tmp_path, pixels), "0" * 64, tmp_path / "masks")
    assert tiles.shape == (4, 3, 16, 2)
    around = np.pad(cells, 20)
    for left, low, width, height in rng.integers((-9, -9, 1, 1), (12, 14, 15, 15), (300, 4)).tolist():
        window = drivable_cells(tiles, (left, low, left + width, low + height))
        assert (window == around[20 + low : 20 + low + height, 20 + left : 20 + left + width]).all()


def test_cut_tiles_are_decoded_again(tmp_path: Path, tables: Tables) -> None:
    write_mask(tmp_path / "root", np.full((1000, 1000), 255, dtype=np.uint8))
    first = select(tmp_path, tables).keyframes
    (tiles,) = (tmp_path / "index" / "masks").glob("*/tiles.npy")
    tiles.write_bytes(tiles.read_bytes()[:-100])
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


def test_a_map_is_read_once_and_again_when_what_was_kept_is_damaged(
    tmp_path: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_map(tmp_path / "root", tiny_map())
    first = select(tmp_path, tables).keyframes
    with monkeypatch.context() as patch:
        patch.setattr(expansion, "read_map", lambda _: pytest.fail("read again"))
        assert opened(tmp_path).select(Request()).keyframes == first
    for name in ("columns.bin", "contents.json"):
        (kept,) = (tmp_path / "index" / "maps").glob(f"*/{name}")
        kept.write_bytes(kept.read_bytes()[:-1] + b"?")
        assert opened(tmp_path).select(Request()).keyframes == first


def test_a_polygon_beyond_repair_is_named(tmp_path: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> NoReturn:
        raise shapely.GEOSException("TopologyException: side location conflict")

    write_map(tmp_path / "root", tiny_map())
    monkeypatch.setattr(shapely, "set_precision", refuse)
    with pytest.raises(MapError, match=r"layer drivable_area, token .*crosses itself beyond repair .*side location"):
        select(tmp_path, tables)


def test_a_changed_map_is_another_map(tmp_path: Path, tables: Tables) -> None:
    write_map(tmp_path / "root", tiny_map())
    first = select(tmp_path, tables).keyframes[0].map
    content = tiny_map()
    content["node"][0]["x"] = 90
    write_map(tmp_path / "root", content)
    assert opened(tmp_path).select(Request()).keyframes[0].map.layers_sha256 != first.layers_sha256


def test_a_map_without_anything_gives_empty_areas(tmp_path: Path, tables: Tables) -> None:
    content = {name: {} if isinstance(value, dict) else [] for name, value in tiny_map().items()}
    write_map(tmp_path / "root", content)
    patch = select(tmp_path, tables).keyframes[0].map
    assert (patch.source, patch.drivable, patch.lanes) == ("expansion", (), ())


@given(st.integers(0, 2**32 - 1))
def test_what_touches_a_square_is_what_meets_it_one_by_one(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    content = tiny_map()
    for number, layer in enumerate(rng.choice(["lane", "walkway", "stop_line", "ped_crossing"], 30).tolist()):
        corners = rng.uniform(0, 100, 2) + np.array([(0, 0), (9, 1), (5, 8)])
        content["node"] += [{"token": f"{number}-{n}", "x": x, "y": y} for n, (x, y) in enumerate(corners.tolist())]
        content["polygon"] += [{"token": f"{number}", "exterior_node_tokens": [f"{number}-{n}" for n in range(3)]}]
        content[layer] += [{"token": f"{number}", "polygon_token": f"{number}"}]
    root = tmp_path_factory.mktemp("map")
    write_map(root, content)
    path = root / "maps" / "expansion" / "town.json"
    x, y = rng.uniform(-40, 160, 2).tolist()
    square = Patch(x, y, 0.3).square
    kept = expansion.open_expansion(path, "0" * 64, root / "kept")
    found = {layer: kept.tokens(numbers) for layer, numbers in kept.touching(square).items()}
    polygons = read_map(path).polygons
    assert found == {layer: [t for t, shape in polygons[layer] if shape.intersects(square)] for layer in polygons}


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
