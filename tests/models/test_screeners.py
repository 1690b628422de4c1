"""The rule screener: facts, placements and reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data_registry.geometry import EGO_FRONT_M
from data_registry.records import Screening, Standing, Surface
from models.evasion import Limits, required_deceleration
from models.screeners import RuleScreener, RuleScreenerSettings
from prompts.taxonomy import Range, TaskSpec, load_taxonomy
from tests.street import PARKED, annotation, keyframe

TASKS = {task.id: task for task in load_taxonomy()}
LARGE_VEHICLE = TASKS["large_vehicle_blocking_lane"]
TRUCK = LARGE_VEHICLE.model_copy(
    update={
        "appearances": (LARGE_VEHICLE.appearance("box_truck"),),
        "placement": LARGE_VEHICLE.placement.model_copy(update={"gap_m": Range(low=5.0, high=8.0)}),
    }
)
"""A short task: trucks only, near only."""
HOLE = TASKS["collapsed_road_surface"]
PEDESTRIAN = TASKS["occluded_pedestrian"]


def screen(task: TaskSpec, seed_root: int = 0, **street: Any) -> Screening:
    return RuleScreener(RuleScreenerSettings(seed_root=seed_root)).screen(keyframe(**street), task)


def value(screening: Screening, name: str) -> Any:
    (found,) = {fact.value for fact in screening.evidence if fact.name == name}
    return found


@given(
    st.sampled_from(sorted(TASKS)),
    st.integers(0, 2**20),
    st.floats(0.0, 14.0),
    st.sampled_from([0.0, 0.004, -0.006]),
    st.sampled_from([("expansion", True), ("mask", False), ("none", False)]),
)
@example("flooded_or_icy_road", 248, 2.0, -0.006, ("expansion", True))
@settings(max_examples=40, deadline=None)
def test_what_is_suitable_is_on_the_way_avoidable_and_apart(
    task: str, seed_root: int, speed: float, curve: float, world: tuple[str, bool]
) -> None:
    found = screen(TASKS[task], seed_root, speed=speed, curve=curve, source=world[0], lanes=world[1])
    assert found.suitable == (found.reason_code == "suitable") == all(fact.holds for fact in found.evidence)
    if found.expected_region is None:
        assert found.placement is None
        assert not found.suitable
        return
    region = shapely.Polygon(found.expected_region)
    assert region.exterior.is_ccw
    assert region.area >= 0.05
    assert region.equals(region.convex_hull)
    if not found.suitable:
        return
    gap = value(found, "target_gap_m")
    limits = TASKS[task].placement.gap_m
    assert limits.low - 0.25 <= gap <= limits.high + 0.25
    assert found.nominal_conflict != "none"
    assert found.avoidable != "none"
    assert value(found, "start_distance_m") >= 0.5
    assert found.views
    if TASKS[task].region.rule != "conflict" and TASKS[task].placement.kind != "attached":
        occupied = shapely.union_all([shapely.Polygon(note.box.footprint()) for note in PARKED])
        # a surface's region is the rectangle around a ragged patch: a corner of it may reach where the patch does not
        taken = shapely.Polygon(found.placement.polygon) if isinstance(found.placement, Surface) else region
        assert taken.distance(occupied) > 0


def test_the_same_combination_gives_the_same_record_and_another_seed_another() -> None:
    assert screen(TRUCK).payload_digest == screen(TRUCK).payload_digest
    assert screen(TRUCK).payload_digest != screen(TRUCK, seed_root=1).payload_digest


def test_a_truck_stands_on_the_ground_in_the_lane_within_its_size_range() -> None:
    found = screen(TRUCK)
    assert isinstance(found.placement, Standing)
    box = found.placement.box
    assert 6.2 <= box.size[0] <= 7.4
    assert 2.15 <= box.size[1] <= 2.35
    frame = keyframe()
    bottom = box.centre[2] - box.size[2] / 2
    assert bottom == pytest.approx(frame.ground.height_at(np.array([box.centre[:2]]))[0], abs=1e-5)
    nearest = min(x for x, _ in found.expected_region or ())
    assert value(found, "target_gap_m") == pytest.approx(nearest - EGO_FRONT_M, abs=1e-6)
    assert found.placement.surface == "road"
    assert found.path_source == "poses"


def test_on_a_bend_the_truck_follows_the_lane() -> None:
    found = screen(TRUCK, curve=0.006)
    assert isinstance(found.placement, Standing)
    x, y, _ = found.placement.box.centre
    assert y == pytest.approx(0.006 * x**2 / 2, abs=0.1)
    assert found.placement.box.pose().yaw == pytest.approx(0.006 * x, abs=0.01)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_pedestrian_comes_out_from_behind_the_parked_car_towards_the_lane(side: float) -> None:
    found = screen(PEDESTRIAN, annotations=[annotation("parked", 8.0, side * 3.0)])
    assert found.suitable, found.reason_code
    assert isinstance(found.placement, Standing)
    x, y, _ = found.placement.box.centre
    assert x > 8.0 + 2.2
    assert np.sign(y) == side
    assert found.placement.box.pose().yaw == pytest.approx(-side * np.pi / 2)
    assert value(found, "occluder_gap_m") <= 2.5
    reach = [corner for _, corner in found.expected_region or ()]
    assert min(abs(corner) for corner in reach) < abs(y)


@pytest.mark.parametrize(
    ("notes", "why"),
    [
        ([], "nothing there"),
        ([annotation("driving", 8.0, -3.0, vx=5.0)], "it drives"),
        ([annotation("far", 8.0, -9.0)], "too far beside the lane"),
    ],
)
def test_without_a_standing_vehicle_beside_the_lane_nobody_can_be_hidden(notes: list[Any], why: str) -> None:
    found = screen(PEDESTRIAN, annotations=notes)
    assert found.reason_code == "no_occluder", why
    assert found.placement is not None


def test_a_hole_lies_in_the_surface_of_the_lane() -> None:
    found = screen(HOLE)
    assert found.suitable
    assert isinstance(found.placement, Surface)
    outline = shapely.Polygon(found.placement.polygon)
    assert shapely.Polygon(found.expected_region).buffer(1e-5).covers(outline)
    assert outline.area > 0.75 * shapely.Polygon(found.expected_region).area


def test_each_reason_is_that_of_the_first_rule_that_fails() -> None:
    assert screen(TRUCK, speed=0.2).reason_code == "ego_standing"
    assert screen(TRUCK, speed=13.0).reason_code == "cannot_stop"
    blocked = [annotation("blocker", 13.0, 0.0, size=(20.0, 3.0, 1.5))]
    assert screen(TRUCK, annotations=blocked).reason_code == "way_blocked"
    beside = [annotation("beside", 13.0, 1.6, size=(20.0, 0.9, 1.5))]
    assert screen(TRUCK, annotations=beside).reason_code == "target_occupied"


def test_off_the_road_is_refused() -> None:
    frame = keyframe(lanes=False, curve=0.1)
    found = RuleScreener().screen(frame, TRUCK)
    assert found.reason_code == "target_off_road"
    assert value(found, "lane_is_drivable") is False


def test_in_an_intersection_is_refused_and_an_unknown_one_is_not() -> None:
    frame = keyframe()
    crossing = {"exterior": [(5.0, -10.0), (30.0, -10.0), (30.0, 10.0), (5.0, 10.0)]}
    area = type(frame.map.drivable[0]).model_validate(crossing)
    inside = frame.model_copy(update={"map": frame.map.model_copy(update={"intersections": (area,)})})
    assert RuleScreener().screen(inside, TRUCK).reason_code == "target_in_intersection"
    unknown = screen(TRUCK, source="mask", lanes=False)
    assert unknown.suitable
    assert value(unknown, "in_intersection") is None


def test_a_hazard_that_a_nearer_box_hides_is_not_shown() -> None:
    wall = annotation("wall", 4.6, 0.0, size=(0.2, 6.0, 6.0))
    found = screen(HOLE, annotations=[wall])
    assert not found.suitable
    assert value(found, "views_count") == 0.0


def test_a_moving_object_keeps_the_ground_that_it_is_about_to_cover() -> None:
    oncoming = annotation("oncoming", 22.0, 0.5, vx=-8.0)
    near = screen(TRUCK, annotations=[oncoming])
    still = screen(TRUCK, annotations=[annotation("oncoming", 22.0, 0.5)])
    assert value(near, "clear_of_objects_m") == 0.0
    assert value(still, "clear_of_objects_m") > 0.3


@given(st.floats(0.2, 25.0), st.floats(0.0, 40.0))
def test_braking_as_required_stops_within_the_gap(speed: float, gap: float) -> None:
    braking = required_deceleration(speed, gap, Limits(0.5, 6.0, 3.0))
    if braking is None:
        assert speed * 0.5 >= gap
    else:
        assert speed * 0.5 + speed**2 / (2 * braking) == pytest.approx(gap)


def test_a_slow_ego_can_pass_a_hole_and_stop_before_it() -> None:
    content = HOLE.model_dump()
    content["placement"]["gap_m"] = {"low": 30.0, "high": 30.0}
    far = TaskSpec.model_validate(content)
    found = screen(far, speed=10.5, annotations=[])
    assert found.avoidable == "both"
    narrow = screen(far, speed=10.5, annotations=[annotation("l", 30, 3.4, size=(40.0, 1.8, 1.5)), PARKED[1]])
    assert narrow.avoidable == "stop"


def _with_placement(task: TaskSpec, **changes: Any) -> TaskSpec:
    content = task.model_dump()
    content["placement"].update(changes)
    return TaskSpec.model_validate(content)


def test_beyond_the_reach_of_regions_there_is_no_placement() -> None:
    found = screen(_with_placement(HOLE, gap_m={"low": 58.0, "high": 60.0}))
    assert (found.suitable, found.reason_code) == (False, "no_placement")
    assert found.placement is None
    assert found.expected_region is None
    assert found.views == ()


@pytest.mark.parametrize(("lane", "lateral"), [("left", 3.5), ("right", -3.5)])
def test_the_neighbouring_lanes_lie_a_lane_width_beside_the_ego_lane(lane: str, lateral: float) -> None:
    found = screen(_with_placement(TRUCK, lane=lane))
    assert isinstance(found.placement, Standing)
    assert found.placement.box.centre[1] == pytest.approx(lateral, abs=0.02)
    assert value(found, "nominal_conflict") == "none"


def test_at_the_kerb_a_hazard_stands_just_inside_the_drivable_ground() -> None:
    found = screen(_with_placement(TRUCK, lane="kerb"), annotations=[])
    assert isinstance(found.placement, Standing)
    right = min(y for _, y in found.placement.box.footprint())
    assert right == pytest.approx(-4.0 + 0.3, abs=0.02)
    assert found.reason_code == "no_conflict"
