"""The eight scenes as data: nothing collides, traffic keeps to its lanes, and the places for hazards stay free."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import shapely

from data_registry.geometry import EGO_FRONT_M, ego_footprints, rectangle
from data_registry.scene3d.shapes import SHAPES
from data_registry.sources.streetset.casting import PAVEMENT_RISE
from data_registry.sources.streetset.lines import Line
from data_registry.sources.streetset.scenery import actor_mesh
from data_registry.sources.streetset.scenes import SCENES, scene_named
from data_registry.sources.streetset.tables import ATTRIBUTES, CATEGORIES
from data_registry.sources.streetset.visibility import sightings
from data_registry.sources.streetset.world import Actor, Scene

each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
SAMPLED_S = np.arange(-2.1, 3.01, 0.1)


def footprint(actor: Actor, seconds: float) -> shapely.Polygon:
    x, y, heading = actor.track.pose(seconds)
    return shapely.Polygon(rectangle((x, y), actor.size[0], actor.size[1], heading))


def ego_footprint(scene: Scene, seconds: float) -> shapely.Polygon:
    return shapely.Polygon(ego_footprints(np.array([scene.ego.pose(seconds)]))[0])


def band(line: Line, right: float, left: float) -> shapely.Polygon:
    s = np.linspace(0, line.length, 400)
    return shapely.Polygon(np.vstack([line.places(s, right), line.places(s[::-1], left)]))


@cache
def courses(scene: Scene) -> list[tuple[shapely.Polygon, Line]]:
    """Return every lane and way through a junction, with its middle line in the direction of traffic."""
    lanes = [
        (band(road.axis, lane.right, lane.left), road.course(lane.name)) for road in scene.roads for lane in road.lanes
    ]
    ways = [(band(c.axis, -c.width / 2, c.width / 2), c.axis) for j in scene.junctions for c in j.connectors]
    return lanes + ways


@cache
def drivable(scene: Scene) -> Any:
    parts = [band(road.axis, *road.kerbs) for road in scene.roads]
    parts += [shapely.Polygon(junction.outline) for junction in scene.junctions]
    return shapely.union_all(parts).buffer(0.02)


def corridor(scene: Scene, start: float, end: float, half: float) -> shapely.Polygon:
    """Return the ego's way between two distances from the front bumper."""
    first = scene.ego.s + EGO_FRONT_M
    s = np.arange(start, end + 0.01, 0.5)
    return shapely.LineString([scene.ego.axis.pose(first + d)[:2] for d in s]).buffer(half, cap_style="flat")


def test_there_are_eight_scenes_with_names_that_no_real_scene_has() -> None:
    assert [scene.name for scene in SCENES] == [f"scene-900{number}" for number in range(1, 9)]
    assert {scene.conditions for scene in SCENES} == {"day", "overcast", "dusk", "rain", "night", "fog"}
    assert sum(scene.roadside is not None for scene in SCENES) == 2
    assert len({scene.stamp for scene in SCENES}) == len({scene.start_us for scene in SCENES}) == 8


@each_scene
def test_a_scene_says_that_it_is_synthetic(scene: Scene) -> None:
    assert scene.description.startswith("Synthetic log of Streetset Harbour, ")
    assert "synthetic" in scene.logfile
    assert not scene.description.endswith(".")


@each_scene
def test_a_scene_has_fifteen_to_thirty_actors_with_unique_names_and_known_words(scene: Scene) -> None:
    assert 15 <= len(scene.actors) <= 30
    assert len({actor.name for actor in scene.actors}) == len(scene.actors)
    assert {actor.category for actor in scene.actors} <= set(CATEGORIES)
    assert {actor.attribute for actor in scene.actors} <= {*ATTRIBUTES, ""}
    assert {actor.shape for actor in scene.actors} <= set(SHAPES)


@each_scene
def test_attributes_fit_the_category_and_the_motion(scene: Scene) -> None:
    for actor in scene.actors:
        moves = actor.track.speed > 0
        if actor.category.startswith("human"):
            assert actor.attribute == ("pedestrian.moving" if moves else "pedestrian.standing")
        elif actor.category in {"vehicle.bicycle", "vehicle.motorcycle"}:
            assert actor.attribute == f"cycle.with{'out' if actor.shape == 'bicycle' else ''}_rider"
        elif actor.category.startswith("vehicle"):
            assert actor.attribute in ({"vehicle.moving"} if moves else {"vehicle.stopped", "vehicle.parked"})
        else:
            assert actor.attribute == ""


@each_scene
def test_nothing_comes_nearer_than_ten_centimetres_to_anything(scene: Scene) -> None:
    for seconds in SAMPLED_S.tolist():
        shapes = [*(footprint(actor, seconds) for actor in scene.actors), ego_footprint(scene, seconds)]
        names = [*(actor.name for actor in scene.actors), "the ego vehicle"]
        near = [
            (seconds, names[a], names[b])
            for a, b in itertools.combinations(range(len(shapes)), 2)
            if shapes[a].distance(shapes[b]) < 0.1
        ]
        assert near == []


@each_scene
def test_moving_traffic_keeps_to_lanes_in_their_direction(scene: Scene) -> None:
    wheels = [a for a in scene.actors if a.category.startswith("vehicle") and a.track.speed > 0]
    assert wheels
    for actor, seconds in itertools.product(wheels, (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)):
        x, y, heading = actor.track.pose(seconds)
        assert drivable(scene).contains(footprint(actor, seconds)), (actor.name, seconds)
        fitting = [
            line
            for area, line in courses(scene)
            if area.distance(shapely.Point(x, y)) < 1e-3 and _turned_from(line, (x, y), heading) < 0.1
        ]
        assert fitting, (actor.name, seconds)


def _turned_from(line: Line, place: tuple[float, float], heading: float) -> float:
    s = np.linspace(0, line.length, 500)
    nearest = float(s[np.hypot(*(line.places(s, 0.0) - place).T).argmin()])
    return abs(math.remainder(line.pose(nearest)[2] - heading, 2 * math.pi))


@each_scene
def test_the_ego_stays_in_its_lane(scene: Scene) -> None:
    lanes = shapely.union_all([area for area, _ in courses(scene)]).buffer(0.05)
    for seconds in SAMPLED_S.tolist():
        assert lanes.contains(ego_footprint(scene, seconds)), seconds


@each_scene
def test_everything_stands_as_high_as_the_ground_below_it(scene: Scene) -> None:
    raised = [
        band(road.axis, strip.right, strip.left) for road in scene.roads for strip in road.strips if strip.rise > 0
    ]
    raised += [shapely.Polygon(corner) for junction in scene.junctions for corner in junction.corners]
    pavement = shapely.union_all(raised)
    for actor in scene.actors:
        for seconds in (-2.0, 0.0, 3.0):
            x, y, _ = actor.track.pose(seconds)
            assert actor.rise == (PAVEMENT_RISE if pavement.contains(shapely.Point(x, y)) else 0.0), actor.name


@each_scene
def test_the_places_for_hazards_stay_free_for_three_seconds(scene: Scene) -> None:
    ahead = corridor(scene, -1.0, 20.0, 1.3)
    steps: list[float] = np.arange(0.0, 3.01, 0.25).tolist()
    for actor, seconds in itertools.product(scene.actors, steps):
        assert not footprint(actor, seconds).intersects(ahead), (actor.name, seconds)


@each_scene
def test_the_ego_can_stop_for_what_stands_six_metres_ahead(scene: Scene) -> None:
    reaction, braking = 0.5, 6.0
    way = scene.ego.speed * reaction + scene.ego.speed**2 / (2 * braking)
    assert 5.0 <= scene.ego.speed <= 8.0
    assert way <= 6.0


def test_the_right_lane_of_the_avenue_is_free_for_forty_metres() -> None:
    scene = scene_named("scene-9002")
    free = corridor(scene, 0.0, 40.0, 1.6)
    assert not any(footprint(actor, 0.0).intersects(free) for actor in scene.actors)


def _gap_along_way(scene: Scene, place: shapely.Geometry) -> float:
    """Return how far ahead of the bumper the ego's way first meets a place."""
    first = scene.ego.s + EGO_FRONT_M
    steps = np.arange(0.0, 40.0, 0.02)
    way = shapely.points([scene.ego.axis.pose(first + d)[:2] for d in steps])
    return float(steps[np.argmax(shapely.intersects(way, place))])


def _crossing(scene: Scene, name: str) -> shapely.Polygon:
    crossing = next(crossing for crossing in scene.crossings if crossing.name == name)
    road = scene.road(crossing.road)
    return band(road.axis.cut(crossing.start, crossing.end), *road.kerbs)


@pytest.mark.parametrize("name", ["scene-9003"])
def test_the_signalised_junction_begins_eight_to_fourteen_metres_ahead(name: str) -> None:
    scene = scene_named(name)
    assert 8 <= _gap_along_way(scene, shapely.Polygon(scene.junctions[0].outline)) <= 14
    stopped = [actor for actor in scene.actors if actor.attribute == "vehicle.stopped"]
    assert len(stopped) >= 3
    assert {signal.state for signal in scene.signals} == {"red", "green"}


@pytest.mark.parametrize(("name", "crossing"), [("scene-9004", "south"), ("scene-9005", "crossing")])
def test_a_free_crosswalk_lies_eight_to_fifteen_metres_ahead_on_the_way(name: str, crossing: str) -> None:
    scene = scene_named(name)
    place = _crossing(scene, crossing)
    assert 8 <= _gap_along_way(scene, place) <= 15
    for actor, seconds in itertools.product(scene.actors, (0.0, 1.0, 2.0)):
        assert not footprint(actor, seconds).intersects(place), actor.name


@pytest.mark.parametrize("name", ["scene-9001", "scene-9005", "scene-9007", "scene-9008"])
def test_a_parked_vehicle_stands_beside_the_lane_within_door_reach(name: str) -> None:
    scene = scene_named(name)
    beside = corridor(scene, 3.0, 14.0, 2.6)
    rears = [
        _gap_along_way(scene, footprint(actor, 0.0).buffer(1.8))
        for actor in scene.actors
        if actor.attribute == "vehicle.parked" and footprint(actor, 0.0).intersects(beside)
    ]
    assert rears


@pytest.mark.parametrize("name", ["scene-9001", "scene-9007"])
def test_the_bay_has_a_gap_to_pull_out_of(name: str) -> None:
    scene = scene_named(name)
    edge = scene.roads[0].lane("east").right
    bay = shapely.box(scene.ego.s + EGO_FRONT_M - 6.0, edge - 1.9, scene.ego.s + EGO_FRONT_M + 5.0, edge - 0.2)
    assert not any(footprint(actor, 0.0).intersects(bay) for actor in scene.actors)


def test_the_ego_comes_to_the_foot_of_a_hill_that_rises_by_six_percent() -> None:
    scene = scene_named("scene-9006")
    for seconds, grade in ((-2.0, 0.0), (0.0, 0.0), (3.0, 0.06)):
        ahead = scene.ego_pose(seconds).rotation[:, 0]
        assert ahead[2] / math.hypot(ahead[0], ahead[1]) == pytest.approx(grade)
    assert scene.slope.rise(scene.ego.s + 10.0) == pytest.approx(0.06)
    for actor in scene.actors:
        pose = scene.pose(actor, 0.0)
        x = float(pose.translation[0])
        assert pose.translation[2] == pytest.approx(scene.slope.height(x) + actor.rise)
        assert (pose.rotation[2, 2] == 1.0) == (actor.upright or x <= scene.ego.s)
    assert sum(actor.category == "vehicle.construction" for actor in scene.actors) == 1


def test_the_bend_turns_the_ego_to_the_left_at_sixty_metres() -> None:
    scene = scene_named("scene-9008")
    assert 1 / scene.roads[0].axis.curvature(scene.ego.s) == pytest.approx(60.0)
    assert scene.ego.pose(3.0)[2] - scene.ego.pose(0.0)[2] == pytest.approx(3 * 6.0 / 60.0)


@each_scene
def test_visibility_has_blind_spots_and_clear_views(scene: Scene) -> None:
    levels = {sighting.level for sample in sightings(scene) for sighting in sample}
    assert {"1", "4"} <= levels
    assert len(levels) >= 3


def test_houses_hide_what_waits_in_the_side_street() -> None:
    scene = scene_named("scene-9003")
    hidden = next(k for k, actor in enumerate(scene.actors) if actor.name == "parked-south-2")
    bare = Scene(**{name: getattr(scene, name) for name in Scene.__slots__ if name != "houses"}, houses=())
    assert sightings(scene)[4][hidden].level < sightings(bare)[4][hidden].level


@each_scene
def test_meshes_fill_their_boxes(scene: Scene) -> None:
    for actor in scene.actors:
        mesh = actor_mesh(scene, actor, 0.0).placed(scene.pose(actor, 0.0).inverse())
        extent = mesh.vertices.max(axis=0) - mesh.vertices.min(axis=0)
        assert (extent <= np.array(actor.size) * 1.02 + 0.02).all(), actor.name
        assert (extent >= np.array(actor.size) * 0.75).all(), actor.name
