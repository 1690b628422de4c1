"""Each of the 21 tasks: where it suits and where its hazard goes, in numbers; where it is refused, and as what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from data_registry.geometry import EGO_FRONT_M
from data_registry.records import Attached, Keyframe, Mounted, Screening, Standing, Surface
from data_registry.sources.nuscenes import NuScenes
from data_registry.sources.source import Request
from models.screeners import RuleScreener, RuleScreenerSettings
from prompts.taxonomy import load_taxonomy
from tests.street import annotation, keyframe
from tests.worlds import BAYS, junction, one_way_street, parked, two_way_street

TASKS = {task.id: task for task in load_taxonomy()}
CLOSE_CAR = parked("close", 12.0, -2.4)
TRUCK_SIZE = (9.0, 2.4, 4.5)


def screen(task: str, frame: Keyframe, seed_root: int = 0) -> Screening:
    return RuleScreener(RuleScreenerSettings(seed_root=seed_root)).screen(frame, TASKS[task])


def value(screening: Screening, name: str) -> Any:
    return next(fact.value for fact in screening.evidence if fact.name == name)


def behind_a_car() -> Keyframe:
    return two_way_street([annotation("lead", 9.0, 0.0)])


def bays_taken() -> Keyframe:
    return two_way_street([parked(f"p{n}", 5.0 + 5.0 * n) for n in range(8)])


def turning(**more: Any) -> Keyframe:
    return junction(at=7.0, turn="right", **more)


SUITABLE: dict[str, Callable[[], Keyframe]] = {
    "occluded_pedestrian": lambda: two_way_street(BAYS),
    "child_or_ball": two_way_street,
    "emerging_cyclist": two_way_street,
    "crossing_animal": two_way_street,
    "vehicle_pulling_out": two_way_street,
    "large_vehicle_blocking_lane": two_way_street,
    "broken_down_car": two_way_street,
    "construction_closure": two_way_street,
    "fallen_cargo_or_tree": two_way_street,
    "double_parked_vehicle": lambda: two_way_street(BAYS),
    "open_door": lambda: two_way_street([CLOSE_CAR]),
    "lane_narrowing": two_way_street,
    "oncoming_vehicle_in_ego_half": two_way_street,
    "red_signal": lambda: junction(at=18.0),
    "traffic_controller_stop": lambda: junction(at=18.0),
    "crossing_vehicle": junction,
    "blocked_junction": junction,
    "pedestrian_on_crosswalk_while_turning": turning,
    "collapsed_road_surface": two_way_street,
    "flooded_or_icy_road": two_way_street,
    "spilled_debris": two_way_street,
}

REFUSED: dict[str, list[tuple[str, Callable[[], Keyframe]]]] = {
    "occluded_pedestrian": [("no_occluder", two_way_street)],
    "child_or_ball": [
        ("ego_standing", lambda: two_way_street(speed=0.0)),
        ("cannot_stop", lambda: two_way_street(speed=16.0)),
    ],
    "emerging_cyclist": [("way_blocked", behind_a_car)],
    "crossing_animal": [("way_blocked", behind_a_car)],
    "vehicle_pulling_out": [("no_free_place", bays_taken)],
    "large_vehicle_blocking_lane": [("target_off_road", lambda: keyframe(lanes=False, curve=0.1, annotations=()))],
    "broken_down_car": [("way_blocked", behind_a_car)],
    "construction_closure": [("cannot_stop", lambda: two_way_street(speed=18.0))],
    "fallen_cargo_or_tree": [("ego_standing", lambda: two_way_street(speed=0.5))],
    "double_parked_vehicle": [
        ("no_parked_row", two_way_street),
        ("no_parked_row", lambda: two_way_street([parked("left", 12.0, 6.3)])),
    ],
    "open_door": [
        ("no_parked_car", two_way_street),
        ("no_parked_car", lambda: two_way_street([annotation("drives", 12.0, -2.4, vx=5.0)])),
        ("no_conflict", lambda: two_way_street([parked("far", 12.0, -3.3)])),
        ("no_placement", lambda: two_way_street([parked("beyond", 40.0, -2.4)])),
    ],
    "lane_narrowing": [("way_blocked", behind_a_car)],
    "oncoming_vehicle_in_ego_half": [
        ("no_oncoming_lane", one_way_street),
        ("no_oncoming_lane", lambda: keyframe(source="mask", lanes=False)),
    ],
    "red_signal": [
        ("no_stop_line", two_way_street),
        ("no_stop_line", lambda: keyframe(source="mask", lanes=False)),
        ("signals_there_or_unknown", lambda: junction(at=18.0, stop="traffic_light")),
        ("signals_there_or_unknown", lambda: junction(at=18.0, stop="unknown")),
    ],
    "traffic_controller_stop": [("no_stop_line", two_way_street)],
    "crossing_vehicle": [
        ("no_junction", two_way_street),
        ("no_junction", lambda: keyframe(source="none", lanes=False)),
        ("way_blocked", lambda: junction([annotation("lead", 9.0, 0.0)])),
    ],
    "blocked_junction": [
        ("no_junction", two_way_street),
        ("target_occupied", lambda: junction([annotation(f"waits-{x}", x, 3.5) for x in (16.0, 21.0, 26.0)])),
    ],
    "pedestrian_on_crosswalk_while_turning": [
        ("no_turn", junction),
        ("no_turn", lambda: keyframe(source="mask", lanes=False)),
        ("cannot_stop", lambda: turning(speed=14.0)),
    ],
    "collapsed_road_surface": [("way_blocked", behind_a_car)],
    "flooded_or_icy_road": [("ego_standing", lambda: two_way_street(speed=0.0))],
    "spilled_debris": [("cannot_stop", lambda: two_way_street(speed=18.0))],
}


def test_every_task_has_a_case_on_both_sides() -> None:
    assert set(SUITABLE) == set(REFUSED) == set(TASKS)


@pytest.mark.parametrize("seed_root", [0, 1])
@pytest.mark.parametrize("task", sorted(SUITABLE))
def test_a_task_suits_its_world_within_its_ranges(task: str, seed_root: int) -> None:
    spec, found = TASKS[task], screen(task, SUITABLE[task](), seed_root)
    assert found.suitable, (found.reason_code, [fact for fact in found.evidence if not fact.holds])
    assert found.placement is not None
    assert found.placement.kind == spec.placement.kind
    assert found.expected_region is not None
    region = shapely.Polygon(found.expected_region)
    assert region.exterior.is_ccw
    assert spec.placement.gap_m.low - 0.25 <= value(found, "target_gap_m") <= spec.placement.gap_m.high + 0.25
    assert found.required_decel is not None
    assert found.required_decel <= 6.0
    assert "CAM_FRONT" in found.views or "CAM_FRONT_RIGHT" in found.views
    if found.placement.kind != "surface":
        sizes = spec.appearance(found.appearance or "").size_m
        ranges = (sizes.length, sizes.width, sizes.height)
        pairs = zip(found.placement.box.size, ranges, strict=True)
        assert all(size <= limits.high and (size >= limits.low or task == "open_door") for size, limits in pairs)


@pytest.mark.parametrize(
    ("task", "code", "frame"), [(task, code, frame) for task, cases in sorted(REFUSED.items()) for code, frame in cases]
)
def test_a_task_is_refused_with_its_code_and_what_was_measured(
    task: str, code: str, frame: Callable[[], Keyframe]
) -> None:
    found = screen(task, frame())
    assert not found.suitable
    assert found.reason_code == code
    assert found.evidence
    asked = {predicate.reason_code: predicate.fact for predicate in TASKS[task].predicates}
    if code in asked:
        (fact,) = [fact for fact in found.evidence if fact.name == asked[code]]
        assert not fact.holds


def _standing(found: Screening) -> tuple[float, float, float]:
    assert isinstance(found.placement, Standing)
    x, y, _ = found.placement.box.centre
    return x, y, found.placement.box.pose().yaw


@pytest.mark.parametrize("task", ["child_or_ball", "emerging_cyclist"])
def test_what_comes_in_from_the_right_edge_reaches_half_a_metre_into_the_lane_at_most(task: str) -> None:
    found = screen(task, two_way_street())
    _, y, yaw = _standing(found)
    assert y <= -1.75
    assert isinstance(found.placement, Standing)
    assert found.placement.box.footprint()[:, 1].max() <= -1.75 + 0.5 + 1e-6
    assert yaw == pytest.approx(np.deg2rad(TASKS[task].placement.heading_deg))
    assert max(y for _, y in found.expected_region or ()) > -0.865


def test_animals_come_from_either_side_with_mirrored_heading() -> None:
    found = [_standing(screen("crossing_animal", two_way_street(), seed_root)) for seed_root in range(8)]
    seen = {np.sign(y): yaw for _, y, yaw in found}
    assert seen == {-1.0: pytest.approx(np.pi / 2), 1.0: pytest.approx(-np.pi / 2)}


def test_a_vehicle_pulls_out_of_a_bay_into_the_lane() -> None:
    found = screen("vehicle_pulling_out", two_way_street())
    _, _, yaw = _standing(found)
    assert isinstance(found.placement, Standing)
    assert yaw == pytest.approx(np.deg2rad(20.0))
    assert found.placement.box.footprint()[:, 1].min() == pytest.approx(-4.0 + 0.3, abs=1e-3)
    assert max(y for _, y in found.expected_region or ()) > -0.865


def test_a_double_parked_vehicle_stands_in_the_right_part_beside_the_row() -> None:
    found = screen("double_parked_vehicle", two_way_street(BAYS))
    assert isinstance(found.placement, Standing)
    assert found.placement.box.footprint()[:, 1].min() == pytest.approx(-1.75, abs=1e-3)
    assert value(found, "parked_beside_m") == pytest.approx(0.25, abs=2.0)


def test_a_narrowing_begins_at_the_lanes_right_edge_and_slants_into_the_ego_way() -> None:
    found = screen("lane_narrowing", two_way_street())
    _, _, yaw = _standing(found)
    assert isinstance(found.placement, Standing)
    corners = found.placement.box.footprint()
    assert yaw == pytest.approx(np.deg2rad(8.0))
    assert corners[:, 1].min() == pytest.approx(-1.75, abs=1e-3)
    assert corners[np.argmin(corners[:, 0]), 1] < corners[np.argmax(corners[:, 0]), 1] < 0.0


def test_an_oncoming_vehicle_faces_the_ego_in_the_left_part_and_its_way_ends_at_the_gap() -> None:
    found = screen("oncoming_vehicle_in_ego_half", two_way_street())
    x, _, yaw = _standing(found)
    assert isinstance(found.placement, Standing)
    assert abs(yaw) == pytest.approx(np.pi)
    assert found.placement.box.footprint()[:, 1].max() == pytest.approx(1.75, abs=1e-3)
    nearest = min(px for px, _ in found.expected_region or ())
    assert x - found.placement.box.size[0] / 2 - nearest == pytest.approx(4.5, abs=1e-3)
    assert value(found, "target_gap_m") == pytest.approx(nearest - EGO_FRONT_M, abs=1e-5)


def test_an_open_door_hangs_on_the_street_side_of_the_parked_car() -> None:
    found = screen("open_door", two_way_street([CLOSE_CAR]))
    assert isinstance(found.placement, Attached)
    assert (found.placement.annotation, found.placement.part) == ("close", "door")
    box, car = found.placement.box, CLOSE_CAR.box
    hinge = np.array(box.centre) - box.pose().rotation[:, 0] * box.size[0] / 2
    assert hinge[:2] == pytest.approx([12.0 + 0.2 * 4.4, -2.4 + 0.9], abs=1e-3)
    assert box.pose().yaw == pytest.approx(np.deg2rad(180 - 70))
    assert box.size[0] <= 0.27 * car.size[0] + 1e-6
    assert box.centre[2] - box.size[2] / 2 == pytest.approx(0.16 * 1.5, abs=1e-3)
    assert box.centre[2] + box.size[2] / 2 < 1.5
    region = shapely.Polygon(found.expected_region)
    assert region.area == pytest.approx(box.size[0] * box.size[1], rel=1e-3)


def test_a_door_of_a_car_parked_on_the_left_opens_to_the_right() -> None:
    found = screen("open_door", one_way_street([parked("left", 12.0, 2.4)]))
    assert isinstance(found.placement, Attached)
    assert found.placement.box.pose().yaw == pytest.approx(np.deg2rad(-180 + 70))
    assert found.placement.box.centre[1] < 2.4 - 0.9


def test_a_red_signal_hangs_outside_the_ground_at_the_stop_line_and_faces_the_ego() -> None:
    found = screen("red_signal", junction(at=18.0))
    assert isinstance(found.placement, Mounted)
    assert found.placement.faces == ("front",)
    x, y, _ = found.placement.box.centre
    assert min(abs(x - 13.0 - beyond) for beyond in (0.0, 1.0, 2.0, 3.5)) < 1e-3
    assert y < -4.0
    assert abs(found.placement.box.pose().yaw) == pytest.approx(np.pi)
    below = found.placement.box.centre[2] - found.placement.box.size[2] / 2
    assert 2.0 <= below <= 2.4
    assert shapely.Polygon(found.expected_region).bounds == pytest.approx((13.0, -1.75, 19.0, 1.75), abs=1e-3)
    assert value(found, "target_gap_m") == pytest.approx(13.0 - EGO_FRONT_M, abs=1e-3)
    assert value(found, "is_signalised") is False


def test_without_a_mapped_stop_line_the_signal_stands_before_the_crossing() -> None:
    found = screen("red_signal", junction(at=18.0, stop=None))
    assert found.suitable
    assert min(x for x, _ in found.expected_region or ()) == pytest.approx(14.0 - 1.0, abs=1e-3)


def test_a_traffic_controller_stands_behind_the_stop_line_and_faces_the_ego() -> None:
    found = screen("traffic_controller_stop", junction(at=18.0))
    x, y, yaw = _standing(found)
    assert isinstance(found.placement, Standing)
    assert x == pytest.approx(13.0 + 1.0 + found.placement.box.size[0] / 2, abs=1e-3)
    assert (y, abs(yaw)) == (pytest.approx(0.0, abs=1e-3), pytest.approx(np.pi))
    assert shapely.Polygon(found.expected_region).bounds == pytest.approx((13.0, -1.75, 19.0, 1.75), abs=1e-3)


def test_a_crossing_vehicle_is_in_the_junction_and_conflicts_where_it_sweeps_the_lane() -> None:
    found = screen("crossing_vehicle", junction())
    x, y, yaw = _standing(found)
    assert isinstance(found.placement, Standing)
    assert 14.0 < x < 28.0
    assert yaw == pytest.approx(-np.sign(y) * np.pi / 2)
    left, low, right, high = shapely.Polygon(found.expected_region).bounds
    assert (low, high) == (pytest.approx(-1.75, abs=1e-3), pytest.approx(1.75, abs=1e-3))
    assert right - left == pytest.approx(found.placement.box.size[1], abs=1e-3)


def test_a_blocked_junction_has_a_large_vehicle_across_its_middle() -> None:
    found = screen("blocked_junction", junction())
    x, y, yaw = _standing(found)
    assert 14.0 + 0.35 * 14.0 < x < 14.0 + 0.65 * 14.0
    assert (y, yaw) == (pytest.approx(0.0, abs=1e-3), pytest.approx(np.pi / 2))
    assert value(found, "in_intersection") is True


def test_a_pedestrian_walks_on_the_crossing_behind_the_turn() -> None:
    found = screen("pedestrian_on_crosswalk_while_turning", turning())
    x, y, _ = _standing(found)
    assert y == pytest.approx(-9.5, abs=0.1)
    assert abs(x - 12.0) == pytest.approx(1.75, abs=0.1)
    assert shapely.Polygon(found.expected_region).bounds == pytest.approx((10.25, -11.0, 13.75, -8.0), abs=0.05)
    assert value(found, "turned_deg") == pytest.approx(90.0, abs=1.0)


@pytest.mark.parametrize("task", ["collapsed_road_surface", "flooded_or_icy_road", "spilled_debris"])
def test_surface_hazards_lie_in_the_ego_lane(task: str) -> None:
    found = screen(task, two_way_street())
    assert isinstance(found.placement, Surface)
    assert shapely.Polygon(found.placement.polygon).centroid.y == pytest.approx(0.0, abs=0.1)
    assert shapely.Polygon(found.expected_region).buffer(1e-5).covers(shapely.Polygon(found.placement.polygon))


def test_a_signal_that_a_standing_truck_hides_is_not_seen() -> None:
    wall = annotation("wall", 10.5, -2.95, size=TRUCK_SIZE)
    found = screen("red_signal", junction([wall], at=18.0))
    assert found.reason_code == "too_small"
    assert value(found, "projected_height_px") == 0.0


def test_surroundings_are_surveyed_once_for_all_tasks_of_a_keyframe(monkeypatch: pytest.MonkeyPatch) -> None:
    from models import screeners

    asked: list[str] = []
    survey = screeners.survey

    def counted(frame: Keyframe, near_time_s: float) -> Any:
        asked.append(frame.id)
        return survey(frame, near_time_s)

    monkeypatch.setattr(screeners, "survey", counted)
    screener = RuleScreener()
    frames = [two_way_street(), junction(), two_way_street(BAYS)]
    for frame in frames:
        for task in ("red_signal", "spilled_debris", "open_door"):
            screener.screen(frame, TASKS[task])
    assert len(asked) == 3
    alone = RuleScreener().screen(frames[0], TASKS["spilled_debris"])
    assert screener.screen(frames[0], TASKS["spilled_debris"]).payload_digest == alone.payload_digest


@pytest.fixture(scope="module")
def real_keyframe(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Keyframe:
    source = NuScenes(real_data / "nuscenes_real", "v1.0-mini", tmp_path_factory.mktemp("index"))
    return next(frame for frame in source.select(Request()).keyframes if frame.scene == "scene-0061")


def test_on_the_real_keyframe_each_task_suits_or_says_why_not_and_many_suit(real_keyframe: Keyframe) -> None:
    screener = RuleScreener()
    found = {task: screener.screen(real_keyframe, spec) for task, spec in TASKS.items()}
    assert sum(screening.suitable for screening in found.values()) >= 6
    for task, screening in found.items():
        codes = {predicate.reason_code for predicate in TASKS[task].predicates}
        assert screening.suitable or screening.reason_code in codes | {"no_placement", "no_conflict", "not_avoidable"}
    unknown = {"red_signal", "traffic_controller_stop", "crossing_vehicle", "blocked_junction"}
    for task in unknown:
        assert found[task].reason_code in {"no_stop_line", "no_junction"}
