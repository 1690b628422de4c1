"""The official devkit's map API reads the map of the scenes: layers, lanes, junctions, lines, lights, masks."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import shapely

from data_registry.sources.streetset.map_records import plan_in_map
from data_registry.sources.streetset.maps import CANVAS, CITIES, paved
from data_registry.sources.streetset.scenes import SCENES, scene_named
from data_registry.sources.streetset.world import LOCATION, Scene

pytestmark = pytest.mark.timeout(600)  # the first test waits for the logs to be written
each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)


def place(scene: Scene, x: float, y: float) -> tuple[float, float]:
    east, north = plan_in_map(scene, np.array([(x, y)]))[0].tolist()
    return east, north


@each_scene
def test_the_map_knows_the_egos_lane_and_nothing_outside(nusc_map, scene: Scene) -> None:
    for seconds in (-2.0, 0.0, 3.0):
        x, y, _ = scene.ego.pose(seconds)
        layers = nusc_map.layers_on_point(*place(scene, x, y))
        on_way = nusc_map.get_closest_lane(*place(scene, x, y), radius=1.5)
        assert layers["drivable_area"]
        assert layers["road_segment"]
        assert not layers["walkway"]
        assert on_way
    ego = scene.ego.pose(0.0)
    far = nusc_map.layers_on_point(*place(scene, ego[0], ego[1] + 45.0 if scene.name < "scene-9003" else -90.0))
    assert not any(far.values())


@each_scene
def test_lane_paths_follow_the_lanes_and_lead_into_each_other(nusc_map, scene: Scene) -> None:
    x, y, heading = scene.ego.pose(0.0)
    here = nusc_map.get_closest_lane(*place(scene, x, y), radius=1.5)
    path = np.array(nusc_map.discretize_lanes([here], 0.5)[here])
    gap = np.hypot(*(path[:, :2] - place(scene, x, y)).T)
    assert gap.min() < 0.3
    turned = path[gap.argmin(), 2] - (heading + scene.at[2])
    assert np.cos(turned) > np.cos(0.05)
    following = [path]
    for _ in range(4):
        ahead = nusc_map.get_outgoing_lane_ids(here)
        if not ahead:
            break
        for other in ahead:
            first = np.array(nusc_map.discretize_lanes([other], 0.5)[other])[0]
            assert np.allclose(first[:2], following[-1][-1, :2], atol=0.02)
            assert np.cos(first[2] - following[-1][-1, 2]) > 0.9999
            assert here in nusc_map.get_incoming_lane_ids(other)
        here = ahead[0]
        following.append(np.array(nusc_map.discretize_lanes([here], 0.5)[here]))


def test_every_lane_and_connector_has_a_path_within_its_area(nusc_map) -> None:
    for layer in ("lane", "lane_connector"):
        for record in getattr(nusc_map, layer):
            shape = nusc_map.extract_polygon(record["polygon_token"])
            assert shape.is_valid
            points = nusc_map.discretize_lanes([record["token"]], 1.0)[record["token"]]
            assert len(points) >= 2
            assert shape.buffer(0.1).covers(shapely.MultiPoint([point[:2] for point in points]))


def test_next_roads_share_nodes(nusc_map) -> None:
    scene = scene_named("scene-9001")
    mine = nusc_map.get_closest_lane(*place(scene, 100, 0.5))
    ahead = nusc_map.get_closest_lane(*place(scene, 130, 0.0))
    assert nusc_map.get_outgoing_lane_ids(mine) == [ahead]
    assert nusc_map.get_next_roads(*place(scene, 100, 0))["lane"] == [ahead]


def test_stop_lines_have_their_kinds_and_cues(nusc_map) -> None:
    kinds = Counter(record["stop_line_type"] for record in nusc_map.stop_line)
    assert kinds == {"PED_CROSSING": 6, "TRAFFIC_LIGHT": 4, "STOP_SIGN": 1, "YIELD": 1, "TURN_STOP": 1}
    for record in nusc_map.stop_line:
        wanted = {"PED_CROSSING": "ped_crossing_tokens", "TURN_STOP": "ped_crossing_tokens"}
        wanted["TRAFFIC_LIGHT"] = "traffic_light_tokens"
        named = record[wanted[record["stop_line_type"]]] if record["stop_line_type"] in wanted else []
        assert [cue["token"] for cue in record["cue"]] == named
        assert bool(named) == (record["stop_line_type"] in wanted)
        assert nusc_map.get("road_block", record["road_block_token"])


def test_traffic_lights_stand_at_the_signalised_junction_and_face_the_traffic(nusc_map) -> None:
    scene = scene_named("scene-9003")
    assert len(nusc_map.traffic_light) == len(scene.signals) == 4
    record = nusc_map.traffic_light[0]
    line = nusc_map.extract_line(record["line_token"])
    (x0, y0), (x1, y1) = line.coords[0], line.coords[-1]
    assert np.allclose((x0, y0), place(scene, scene.signals[0].x, scene.signals[0].y), atol=1e-3)
    assert np.cos(np.arctan2(y1 - y0, x1 - x0) - (np.pi + scene.at[2])) > 0.999
    assert {item["color"] for item in record["items"]} == {"RED", "YELLOW", "GREEN"}


def test_junctions_are_intersections_and_drivable(nusc_map) -> None:
    junctions = [record for record in nusc_map.road_segment if record["is_intersection"]]
    assert len(junctions) == sum(len(scene.junctions) for scene in SCENES) == 2
    for scene in (scene_named("scene-9003"), scene_named("scene-9004")):
        middle = np.mean(np.array(scene.junctions[0].outline), axis=0)
        layers = nusc_map.layers_on_point(*place(scene, *middle))
        assert layers["drivable_area"]
        assert nusc_map.get("road_segment", layers["road_segment"])["is_intersection"]
        found = nusc_map.get_records_in_radius(*place(scene, *middle), 12, ["lane_connector"])["lane_connector"]
        assert len(found) == len(scene.junctions[0].connectors) == 12


def test_drivable_ground_has_no_seams_and_no_islands_but_the_median(nusc_map) -> None:
    areas = [
        shapely.union_all([nusc_map.extract_polygon(own) for own in record["polygon_tokens"]])
        for record in nusc_map.drivable_area
    ]
    assert len(areas) == 8
    pieces = [len(shapely.get_parts(area)) for area in areas]
    assert pieces == [2 if road.median else 1 for road in (scene.roads[0] for scene in SCENES)]
    assert not any(part.interiors for area in areas for part in shapely.get_parts(area))


def test_dividers_crossings_and_walkways_are_there(nusc_map) -> None:
    assert len(nusc_map.ped_crossing) == sum(len(scene.crossings) for scene in SCENES)
    assert len(nusc_map.lane_divider) == 4  # two lanes each way on the avenue, in two parts
    assert len(nusc_map.road_divider) >= 16
    harbour = scene_named("scene-9001")
    assert nusc_map.layers_on_point(*place(harbour, 100, -5))["walkway"]
    assert nusc_map.layers_on_point(*place(harbour, 173, 0))["ped_crossing"]
    assert nusc_map.layers_on_point(*place(harbour, 170.6, 0))["stop_line"]


def test_the_map_mask_of_the_expansion_shows_the_road(nusc_map) -> None:
    x, y = place(scene_named("scene-9001"), 110, 0.625)
    mask = nusc_map.get_map_mask((x, y, 40, 40), np.degrees(0.25), ["drivable_area", "walkway"], (400, 400))
    assert mask[0].mean() == pytest.approx(9.25 / 40, abs=0.01)
    assert mask[1].mean() == pytest.approx(6.0 / 40, abs=0.01)
    assert mask[0, 200, 200] == 1


def test_the_mask_raster_is_set_on_the_roads_and_clear_beside_them(nusc) -> None:
    mask = nusc.map[0]["mask"]
    raster = mask.mask()
    assert raster.shape == (CANVAS[1] * 10, CANVAS[0] * 10)
    assert set(np.unique(raster)) == {0, 255}
    for scene in SCENES:
        inside = np.array([place(scene, *scene.ego.pose(t)[:2]) for t in (-2.0, 0.0, 3.0)])
        assert mask.is_on_mask(inside[:, 0], inside[:, 1]).all()
    harbour = scene_named("scene-9001")
    outside = np.array([place(harbour, s, t) for s in (5, 100, 230) for t in (-8, 9)] + [place(harbour, 250, 0)])
    assert not mask.is_on_mask(outside[:, 0], outside[:, 1]).any()


def test_scenes_lie_apart_on_the_canvas() -> None:
    outlines = [
        shapely.union_all([shapely.Polygon(plan_in_map(scene, area)) for area in paved(scene)]) for scene in SCENES
    ]
    assert shapely.box(0, 0, *CANVAS).covers(shapely.union_all(outlines))
    assert min(a.distance(b) for a, b in itertools.combinations(outlines, 2)) > 40.0
    egos = [place(scene, *scene.ego.pose(0.0)[:2]) for scene in SCENES]
    assert min(np.hypot(a[0] - b[0], a[1] - b[1]) for a, b in itertools.combinations(egos, 2)) > 150.0


@pytest.mark.parametrize("city", CITIES)
def test_all_four_cities_load(street_root: Path, city: str, nusc_map) -> None:
    from nuscenes.map_expansion.map_api import NuScenesMap

    if city != LOCATION:
        assert len(NuScenesMap(str(street_root), city).lane) == 0
    assert nusc_map.lane
