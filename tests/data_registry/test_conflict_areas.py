"""Ground to be kept free: behind a stop, on a crossing, on a moving hazard's way."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data_registry.conflict_areas import (
    AreaRule,
    NoConflictAreaError,
    anchors,
    area_quad,
    conflict_area,
    lane_piece,
)
from data_registry.courses import Course, ego_course, straight_course
from data_registry.geometry import rectangle
from data_registry.records import Area, MapPatch, StopLine, StopLineKind
from tests.street import keyframe


def _area(x0: float, x1: float, y0: float = -6.0, y1: float = 6.0) -> Area:
    return Area(exterior=((x0, y0), (x1, y0), (x1, y1), (x0, y1)))


def _patch(stops: tuple[tuple[Area, StopLineKind], ...] = (), curve: float = 0.0) -> MapPatch:
    """A crossing from 16 to 20 m before a junction from 22 to 34 m, another crossing behind it, one already passed."""
    return keyframe(curve=curve).map.model_copy(
        update={
            "crossings": (_area(36.0, 40.0), _area(16.0, 20.0), _area(-4.0, 2.0), _area(25.0, 28.0, 7.0, 12.0)),
            "intersections": (_area(22.0, 28.0), _area(28.0, 34.0)),
            "stop_lines": tuple(StopLine(area=area, kind=kind) for area, kind in stops),
        }
    )


def _spans(patch: MapPatch, kind: str) -> list[tuple[float, float]]:
    return [(round(one.start_m, 2), round(one.end_m, 2)) for one in anchors(patch, straight_course(), kind)]  # type: ignore[arg-type]


def test_crossings_and_junctions_ahead_on_the_course_are_found_nearest_first() -> None:
    assert _spans(_patch(), "crossing") == [(16.0, 20.0), (36.0, 40.0)]
    assert _spans(_patch(), "junction") == [(22.0, 34.0)]
    assert _spans(_patch(), "range") == []


def test_vehicles_hold_at_the_far_edge_of_a_stop_area() -> None:
    patch = _patch(((_area(13.0, 15.0, -1.75, 1.75), "traffic_light"), (_area(13.0, 15.0, 1.76, 5.0), "stop_sign")))
    first, second = anchors(patch, straight_course(), "stop_line")
    assert (first.start_m, first.line_kind) == (15.0, "traffic_light")
    assert (second.start_m, second.line_kind) == (35.0, None)


def test_a_stop_line_as_thin_as_paint_is_found() -> None:
    patch = _patch(((_area(13.0, 13.3, -1.75, 1.75), "traffic_light"),))
    assert anchors(patch, straight_course(), "stop_line")[0].line_kind == "traffic_light"


def test_without_a_stop_line_they_hold_before_the_crossing_or_at_the_junction() -> None:
    assert _spans(_patch(), "stop_line") == [(15.0, 15.0), (35.0, 35.0)]
    junction = _patch().model_copy(update={"crossings": ()})
    assert _spans(junction, "stop_line") == [(22.0, 22.0)]
    assert _spans(_patch(((_area(24.0, 26.0), "turn_stop"),)), "stop_line") == [(15.0, 15.0), (35.0, 35.0)]


def test_a_map_without_lanes_has_no_anchors() -> None:
    patch = _patch().model_copy(update={"source": "mask"})
    assert anchors(patch, straight_course(), "crossing") == ()


def test_the_lane_behind_the_stop_is_as_deep_as_asked_and_as_wide_as_the_lane() -> None:
    rule = AreaRule("lane_beyond", "stop_line", depth_m=6.0)
    head = rectangle((14.0, -5.0), 0.3, 0.4, np.pi)
    area = conflict_area(_patch(), straight_course(), rule, head, np.pi)
    assert area.bounds == pytest.approx((15.0, -1.75, 21.0, 1.75))
    assert area_quad(area).tolist() == [[15.0, -1.75], [21.0, -1.75], [21.0, 1.75], [15.0, 1.75]]


def test_without_an_anchor_the_lane_is_closed_from_the_hazard_on() -> None:
    rule = AreaRule("lane_beyond", "range", depth_m=4.0)
    area = conflict_area(_patch(), straight_course(), rule, rectangle((12.0, 0.0), 0.5, 0.5, 0.0), 0.0)
    assert area.bounds == pytest.approx((12.0, -1.75, 16.0, 1.75))


def test_of_several_crossings_the_one_beside_the_hazard_counts_within_the_lane() -> None:
    rule = AreaRule("crossing", "crossing")
    area = conflict_area(_patch(), straight_course(), rule, rectangle((37.0, -3.0), 0.5, 0.5, 0.0), 1.57)
    assert area.bounds == pytest.approx((36.0, -1.75, 40.0, 1.75))
    with pytest.raises(NoConflictAreaError, match="no crossing ahead"):
        conflict_area(keyframe().map, straight_course(), rule, rectangle((37.0, 0.0), 0.5, 0.5, 0.0), 0.0)


def test_a_crossing_vehicle_takes_what_it_sweeps_of_the_lane() -> None:
    rule = AreaRule("overlap", "junction", speed=5.0, seconds=2.0)
    car = rectangle((26.0, -8.0), 4.4, 1.8, np.pi / 2)
    area = conflict_area(_patch(), straight_course(), rule, car, np.pi / 2)
    assert area.bounds == pytest.approx((25.1, -1.75, 26.9, 1.75))
    with pytest.raises(NoConflictAreaError, match="does not reach into the ego's lane"):
        conflict_area(_patch(), straight_course(), rule, car, -np.pi / 2)


@given(st.floats(-0.02, 0.02), st.floats(4.0, 30.0), st.floats(1.0, 10.0))
@example(0.015625, 4.984375, 1.0)
@settings(max_examples=30, deadline=None)
def test_a_piece_of_lane_follows_the_bend(curve: float, start: float, depth: float) -> None:
    course = ego_course(keyframe(curve=curve if abs(curve) > 1e-4 else 0.0))
    piece = lane_piece(course, start, start + depth)
    assert piece.area == pytest.approx(depth * 3.5, rel=0.06)
    quad = shapely.Polygon(area_quad(piece))
    assert quad.exterior.is_ccw
    assert quad.buffer(1e-6).covers(piece)


def test_a_piece_of_lane_without_length_is_empty() -> None:
    assert lane_piece(straight_course(), 5.0, 5.0).is_empty


def test_a_piece_of_lane_that_goes_round_some_ground_twice_keeps_it() -> None:
    points = np.array([(0.0, 0.0), (10.0, 0.0), (10.0, 1.0), (0.0, 1.0)])  # turns back more sharply than it is wide
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    course = Course(points, arc, 0.0, shapely.box(7.75, -1.75, 12.25, 2.75), "lanes")

    piece = lane_piece(course, 6.0, 16.0)

    assert piece.is_valid
    assert piece.area == pytest.approx(28.35, abs=0.01)  # holes and all: 22.95
    assert piece.covers(shapely.Point(10.5, 0.5))
