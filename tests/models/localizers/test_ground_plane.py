"""Regions from masks whose truth is known: the centre within 0.5 m or 5 % of the range, and half of the area shared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from data_registry.blobs import Blobs
from data_registry.conflict_areas import area_quad, conflict_area
from data_registry.courses import ego_course
from data_registry.edits import full_object_mask
from data_registry.geometry import rectangle
from data_registry.records import Annotation, Attached, Mounted, Placement, Region, Standing
from data_registry.silhouettes import placement_footprint
from models.localizers.ground_plane import GroundPlaneLocalizer, GroundPlaneSettings
from models.localizers.localizer import LocalizeRequest, RegionNotFoundError, SeenHazard
from models.placements.bodies import DOOR_SILL_SHARE
from tasks.items import Edited, Screened
from tests.street import keyframe as bent
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Painter,
    box,
    expected_quad,
    hole,
    located,
    parked,
    pedestrian,
    picture,
    screened,
    street,
    truck,
)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(str(tmp_path))


def find(item: Screened, drawn: Placement, blobs: Blobs) -> Region:
    region = located(Painter(blobs).edited(item, drawn), blobs)
    assert region is not None
    return region


def overlap(region: Region, quad: np.ndarray) -> float:
    found, truth = shapely.Polygon(region.quad), shapely.Polygon(quad)
    return found.intersection(truth).area / found.union(truth).area


CASES = [
    *[
        (TRUCK, truck(x, y, yaw))
        for x, y, yaw in [(11, 0, 0), (14, 0.4, 0.1), (20, -1, 0.35), (16, 1, -0.5), (30, 0, 0)]
    ],
    *[(TRUCK, truck(12, y)) for y in (4.5, -4.5)],
    *[(PEDESTRIAN, pedestrian(x, y)) for x, y in [(9, -1.5), (14, -2), (18, 1)]],
    *[(HOLE, hole(x, y)) for x, y in [(8, 0), (12, 0.5), (15, -1)]],
]


@pytest.mark.parametrize(("task", "placement"), CASES)
def test_the_region_is_where_the_hazard_was_drawn(task: str, placement: Placement, blobs: Blobs) -> None:
    item = screened(task, placement)
    truth = expected_quad(item.combination.task, placement)

    region = find(item, placement, blobs)

    centre = np.array(region.quad).mean(axis=0)
    assert np.linalg.norm(centre - truth.mean(axis=0)) <= max(0.5, 0.05 * float(np.hypot(*truth.mean(axis=0))))
    assert overlap(region, truth) >= 0.5


@pytest.mark.parametrize("shift", [-3.0, 4.0])
def test_a_moved_hazard_is_found_where_it_is_and_the_evidence_says_how_far(shift: float, blobs: Blobs) -> None:
    item = screened(TRUCK, truck(15))

    region = find(item, truck(15 + shift), blobs)

    assert np.array(region.quad).mean(axis=0)[0] == pytest.approx(15 + shift, abs=0.5)
    assert region.evidence.centre_offset_m == pytest.approx(abs(shift), abs=0.5)
    assert region.evidence.expected_iou is not None
    assert region.evidence.expected_iou < 0.5


def test_the_region_says_what_the_task_says(blobs: Blobs) -> None:
    item = screened(PEDESTRIAN, pedestrian())

    region = find(item, pedestrian(), blobs)

    assert region.kind == "occupied"
    assert region.clearance_m == 1.5
    assert region.pair_id == item.combination.id
    assert region.evidence.method == "ground_plane"
    assert region.evidence.sensor_ids == ("CAM_FRONT",)


def test_a_walking_pedestrian_takes_the_ground_along_its_heading(blobs: Blobs) -> None:
    ring = np.array(find(screened(PEDESTRIAN, pedestrian(14, -1.5)), pedestrian(14, -1.5), blobs).quad)

    assert np.ptp(ring[:, 1]) == pytest.approx(1.4 * 1.5 + 0.55, abs=0.15)
    assert ring[:, 1].min() == pytest.approx(-1.775, abs=0.15)


def test_quads_are_counter_clockwise_and_convex(blobs: Blobs) -> None:
    quad = shapely.Polygon(find(screened(TRUCK, truck(16, 1, -0.5)), truck(16, 1, -0.5), blobs).quad)

    assert quad.exterior.is_ccw
    assert quad.convex_hull.area == pytest.approx(quad.area)


def test_two_views_of_a_cut_hazard_find_it_whole(blobs: Blobs) -> None:
    placement = truck(10, 4.5)
    item = screened(TRUCK, placement)
    assert len(item.screening.views) == 2

    region = find(item, placement, blobs)

    assert region.evidence.sensor_ids == item.screening.views
    assert overlap(region, expected_quad(item.combination.task, placement)) > 0.8


def test_a_head_at_the_pictures_side_is_not_taken_for_feet(blobs: Blobs) -> None:
    placement = pedestrian(8.0, -3.25)
    item = screened(PEDESTRIAN, placement)
    edited = Painter(blobs).edited(item, placement)
    assert item.screening.views == ("CAM_FRONT", "CAM_FRONT_RIGHT")
    whole, cut = (full_object_mask(v, blobs, picture(v.sensor_id).shape) > 0 for v in edited.candidate.views)
    assert cut[:, 0].any()
    rows = np.flatnonzero(cut.any(axis=1))
    cut[rows[len(rows) // 3] :] = False  # only the head is left, which seems to touch the ground far away
    views = (SeenHazard("CAM_FRONT", whole), SeenHazard("CAM_FRONT_RIGHT", cut))

    region = GroundPlaneLocalizer().localize(replace(request(edited, whole), views=views))

    assert overlap(region, expected_quad(item.combination.task, placement)) >= 0.5


def test_an_edge_hidden_by_a_parked_car_does_not_narrow_the_hazard(blobs: Blobs) -> None:
    placement = truck(20, 0)
    item = screened(TRUCK, placement, street([parked(10, 1.5)]))

    region = find(item, placement, blobs)

    assert overlap(region, expected_quad(item.combination.task, placement)) > 0.7


def test_a_hidden_contact_is_no_contact(blobs: Blobs) -> None:
    placement = pedestrian(14, -1.5)
    item = screened(PEDESTRIAN, placement, street([parked(9, -1.6)]))

    assert located(Painter(blobs).edited(item, placement), blobs) is None


def test_stray_pixels_do_not_move_the_region(blobs: Blobs) -> None:
    item = screened(TRUCK, truck())
    edited = Painter(blobs).edited(item, truck())
    plain = request(edited, mask_of(edited, blobs))
    speckled = mask_of(edited, blobs)
    speckled[430, 100] = speckled[440, 700] = True

    found = [GroundPlaneLocalizer().localize(asked).quad for asked in (plain, request(edited, speckled))]

    assert found[0] == found[1]


def mask_of(edited: Edited, blobs: Blobs) -> np.ndarray:
    return full_object_mask(edited.candidate.views[0], blobs, picture("CAM_FRONT").shape) > 0


def request(edited: Edited, mask: np.ndarray) -> LocalizeRequest:
    combination = edited.screened.combination
    seen = (SeenHazard("CAM_FRONT", mask),)
    return LocalizeRequest(combination.keyframe, combination.task, edited.screened.screening, edited.candidate, seen)


def test_what_cannot_be_found_says_why(blobs: Blobs) -> None:
    edited = Painter(blobs).edited(screened(TRUCK, truck()), truck())
    empty = np.zeros(picture("CAM_FRONT").shape[:2], dtype=bool)
    mounted = Mounted(box=box(10, 0, (0.3, 0.3, 1.0)), faces=("front",))
    changed = edited.screened.screening.model_copy(update={"placement": mounted})
    lamp = Edited(Screened(edited.screened.combination, changed), edited.candidate)
    nowhere = edited.screened.screening.model_copy(update={"placement": None})
    lost = Edited(Screened(edited.screened.combination, nowhere), edited.candidate)

    with pytest.raises(RegionNotFoundError, match="no view shows where the hazard touches"):
        GroundPlaneLocalizer().localize(request(edited, empty))
    with pytest.raises(RegionNotFoundError, match="no view shows the foot or the top of what is mounted"):
        GroundPlaneLocalizer().localize(request(lamp, empty))
    with pytest.raises(RegionNotFoundError, match="no placement"):
        GroundPlaneLocalizer().localize(request(lost, empty))


def test_a_surface_seen_by_no_view_is_not_found(blobs: Blobs) -> None:
    edited = Painter(blobs).edited(screened(HOLE, hole()), hole())

    with pytest.raises(RegionNotFoundError, match="no view shows the hazard on the ground"):
        GroundPlaneLocalizer().localize(request(edited, np.zeros(picture("CAM_FRONT").shape[:2], dtype=bool)))


def test_regions_end_at_their_reach(blobs: Blobs) -> None:
    edited = Painter(blobs).edited(screened(TRUCK, truck(14)), truck(14))
    asked = request(edited, mask_of(edited, blobs))

    cut = GroundPlaneLocalizer(GroundPlaneSettings(reach_m=14)).localize(asked)

    assert np.array(cut.quad)[:, 0].max() < 14.1
    with pytest.raises(RegionNotFoundError):
        GroundPlaneLocalizer(GroundPlaneSettings(reach_m=9)).localize(asked)


def test_without_an_expected_region_there_is_nothing_to_compare(blobs: Blobs) -> None:
    item = screened(TRUCK, truck(), expected_region=None)

    region = find(item, truck(), blobs)

    assert region.evidence.centre_offset_m is None
    assert region.evidence.expected_iou is None


SIGNAL, DOOR, CROSSING = "red_signal", "open_door", "crossing_vehicle"


def ruled_quad(item: Screened, placement: Placement) -> np.ndarray:
    """The conflict area that follows from where a placement really is."""
    keyframe, rule = item.combination.keyframe, item.combination.task.area_rule
    assert rule is not None
    assert placement.kind != "surface"
    footprint = np.asarray(placement_footprint(placement).exterior.coords)[:-1]
    yaw = placement.box.pose().yaw
    return area_quad(conflict_area(keyframe.map, ego_course(keyframe), rule, footprint, yaw))


def signal(x: float, y: float, underside: float = 2.2) -> Mounted:
    return Mounted(box=box(x, y, (0.33, 0.4, 0.975), np.pi, underside), faces=("front",))


def door(car: Annotation, shift: float = 0.0) -> Attached:
    """The left front door of a car that looks along x, opened by about 65 degrees, as high as its sill is."""
    x, y, _ = car.box.centre
    turn = np.pi - 1.13
    middle = np.array([x + 0.9 + shift, y + 0.9]) + 0.55 * np.array([np.cos(turn), np.sin(turn)])
    sill = DOOR_SILL_SHARE * car.box.size[2]
    return Attached(
        annotation=car.token, part="door", box=box(float(middle[0]), float(middle[1]), (1.1, 0.15, 1.1), turn, sill)
    )


@pytest.mark.parametrize(("x", "y", "underside"), [(14, -2.4, 2.2), (18, 2.2, 2.2), (11, -2.0, 2.2)])
def test_a_signal_rules_the_lane_from_where_it_was_found(x: float, y: float, underside: float, blobs: Blobs) -> None:
    placement = signal(x, y, underside)
    item = screened(SIGNAL, placement)

    region = find(item, placement, blobs)

    assert region.kind == "no_go"
    assert overlap(region, ruled_quad(item, placement)) > 0.8


@pytest.mark.parametrize("underside", [2.0, 2.4])
def test_a_head_without_a_post_is_found_as_well_as_the_tasks_heights_allow(underside: float, blobs: Blobs) -> None:
    placement = signal(16, -2.2, underside)
    item = screened(SIGNAL, placement)

    assert overlap(find(item, placement, blobs), ruled_quad(item, placement)) >= 0.5


def test_a_signal_that_was_drawn_elsewhere_rules_another_piece_of_lane(blobs: Blobs) -> None:
    item = screened(SIGNAL, signal(14, -2.4))

    region = find(item, signal(20, -2.4), blobs)

    assert overlap(region, ruled_quad(item, signal(20, -2.4))) > 0.7
    assert overlap(region, ruled_quad(item, signal(14, -2.4))) < 0.2


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_an_open_door_is_found_beside_its_car(shift: float, blobs: Blobs) -> None:
    car = parked(12, -3.0)
    item = screened(DOOR, door(car), street([car]))

    region = find(item, door(car, shift), blobs)

    truth = placement_footprint(door(car, shift)).centroid
    centre = np.array(region.quad).mean(axis=0)
    assert region.kind == "occupied"
    assert float(np.hypot(centre[0] - truth.x, centre[1] - truth.y)) < 0.5


def test_a_crossing_vehicle_takes_what_it_sweeps_of_the_lane(blobs: Blobs) -> None:
    placement = Standing(box=box(16.0, 5.0, (4.4, 1.8, 1.5), -np.pi / 2), surface="road")
    item = screened(CROSSING, placement)

    region = find(item, placement, blobs)

    assert region.kind == "conflict"
    assert overlap(region, ruled_quad(item, placement)) > 0.5


def test_a_vehicle_that_was_drawn_out_of_reach_of_the_lane_has_no_region(blobs: Blobs) -> None:
    item = screened(CROSSING, Standing(box=box(16.0, 5.0, (4.4, 1.8, 1.5), -np.pi / 2), surface="road"))
    away = Standing(box=box(22.0, 14.5, (4.4, 1.8, 1.5), -np.pi / 2), surface="road")

    assert located(Painter(blobs).edited(item, away), blobs) is None


MOVES = st.tuples(st.floats(-8, 8), st.floats(-4, 4), st.floats(-1, 1))


def placed_elsewhere(placement: Standing | Mounted | Attached, by: tuple[float, float, float], larger: float):
    """The same kind of placement with the same heading, at another place and height, and of another size."""
    x, y, z = np.array(placement.box.centre) + by
    length, width, height = np.array(placement.box.size) * larger
    moved = placement.box.model_copy(update={"centre": (x, y, z), "size": (length, width, height)})
    return placement.model_copy(update={"box": moved})


CAR = parked(12, -3.0)
READ: list[tuple[str, Standing | Mounted | Attached, tuple[Annotation, ...]]] = [
    (TRUCK, truck(16, 1, -0.5), ()),
    (PEDESTRIAN, pedestrian(), ()),
    (SIGNAL, signal(14, -2.4), ()),
    (DOOR, door(CAR), (CAR,)),
    (CROSSING, Standing(box=box(16.0, 5.0, (4.4, 1.8, 1.5), -np.pi / 2), surface="road"), ()),
]


@pytest.mark.parametrize(("task", "placement", "notes"), READ, ids=[task for task, _, _ in READ])
def test_of_the_placement_only_kind_and_heading_are_read(task: str, placement, notes, blobs: Blobs) -> None:
    edited = Painter(blobs).edited(screened(task, placement, street(notes)), placement)
    asked = request(edited, mask_of(edited, blobs))
    here = GroundPlaneLocalizer().localize(asked).quad

    @given(MOVES, st.floats(0.5, 2.0))
    @settings(deadline=None, max_examples=4, database=None)
    def elsewhere(by: tuple[float, float, float], larger: float) -> None:
        other = asked.screening.model_copy(update={"placement": placed_elsewhere(placement, by, larger)})
        assert GroundPlaneLocalizer().localize(replace(asked, screening=other)).quad == here

    elsewhere()


def test_a_pedestrian_drawn_far_too_large_is_where_its_feet_are(blobs: Blobs) -> None:
    item = screened(PEDESTRIAN, pedestrian())

    ring = np.array(find(item, pedestrian(scale=1.6), blobs).quad)

    assert abs(ring[:, 0].mean() - 14.0) < 1.5


@given(
    st.floats(-1.5, 1.5), st.floats(20, 75), st.floats(1, 60), st.floats(0.3, 12), st.floats(-3, 3), st.floats(30, 60)
)
@settings(deadline=None, max_examples=80)
def test_quads_lie_within_reach_whatever_the_region(bearing, away, length, width, turn, reach: float) -> None:
    middle = (away * np.cos(bearing), away * np.sin(bearing))
    region = shapely.Polygon(rectangle(middle, length, width, turn))
    localizer = GroundPlaneLocalizer(GroundPlaneSettings(reach_m=reach))
    if region.distance(shapely.Point(0, 0)) >= reach:
        with pytest.raises(RegionNotFoundError, match=r"0\.000 of the region's .* m2 lie within"):
            localizer._quad(region)
    assume(region.intersection(shapely.Point(0, 0).buffer(reach - 3)).area > 0.5)

    quad, part = localizer._quad(region)

    found = shapely.Polygon(quad)
    assert np.hypot(*np.array(quad).T).max() <= reach + 1e-5
    assert found.exterior.is_ccw
    assert len(set(quad)) == 4
    assert found.convex_hull.area == pytest.approx(found.area)
    assert found.buffer(1e-5).contains(part)
    assert region.buffer(1e-6).contains(part)


def test_a_conflict_area_on_a_bend_stays_within_reach_and_says_how_much_its_rectangle_adds(blobs: Blobs) -> None:
    item = screened(SIGNAL, signal(14, -2.4))
    edited = Painter(blobs).edited(item, signal(14, -2.4))
    bend = item.combination.keyframe.model_copy(update={"map": bent(curve=0.02).map})
    asked = replace(request(edited, mask_of(edited, blobs)), keyframe=bend)

    region = GroundPlaneLocalizer(GroundPlaneSettings(reach_m=18)).localize(asked)

    assert np.hypot(*np.array(region.quad).T).max() <= 18 + 1e-5
    assert region.evidence.area_ratio > 1.05


def test_a_region_that_is_too_small_is_not_said_to_be_far_away(blobs: Blobs) -> None:
    edited = Painter(blobs).edited(screened(TRUCK, truck()), truck())
    asked = request(edited, mask_of(edited, blobs))

    with pytest.raises(RegionNotFoundError, match=r"the region that was found has \d+\.\d+ m2, 100.0 needed"):
        GroundPlaneLocalizer(GroundPlaneSettings(least_area_m2=100.0)).localize(asked)


@st.composite
def masks(draw: st.DrawFn) -> np.ndarray:
    """A few rectangles anywhere in the picture, also at its borders and a pixel wide."""
    mask = np.zeros(picture("CAM_FRONT").shape[:2], dtype=bool)
    height, width = mask.shape
    for _ in range(draw(st.integers(0, 4))):
        row, column = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
        mask[row : row + draw(st.integers(1, 200)), column : column + draw(st.integers(1, 300))] = True
    return mask


@pytest.mark.parametrize(
    ("task", "placement", "notes"), [*READ, (HOLE, hole(), ())], ids=[*(task for task, _, _ in READ), HOLE]
)
def test_any_mask_gives_a_region_or_a_reason(task: str, placement, notes, blobs: Blobs) -> None:
    others = (*notes, parked(9.0, 2.5, "other"))
    edited = Painter(blobs).edited(screened(task, placement, street(others)), placement)

    @given(masks())
    @settings(deadline=None, max_examples=8, database=None)
    def any_mask(mask: np.ndarray) -> None:
        try:
            region = GroundPlaneLocalizer().localize(request(edited, mask))
        except RegionNotFoundError as error:
            assert str(error)  # noqa: PT017 - both outcomes are right
        else:
            assert np.hypot(*np.array(region.quad).T).max() <= 60 + 1e-5

    any_mask()


def test_a_door_of_a_car_that_is_not_there_is_not_found(blobs: Blobs) -> None:
    edited = Painter(blobs).edited(screened(DOOR, door(CAR), street([CAR])), door(CAR))
    asked = request(edited, mask_of(edited, blobs))

    with pytest.raises(RegionNotFoundError, match="nothing is known of the car that the door hangs on"):
        GroundPlaneLocalizer().localize(replace(asked, keyframe=street()))
