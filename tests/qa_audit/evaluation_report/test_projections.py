import numpy as np
import pytest
import shapely

from benchmarks.made_up.evaluation import CAMERA
from data_registry.geometry import ZOE, Array, GroundPlane, rectangle
from data_registry.paths import path_of, tube
from qa_audit.evaluation_report.projections import seen_area, seen_line, swept_outline

GROUND = GroundPlane(0.1, 0.01, -0.02)


def _pixels(flat: list[int]) -> Array:
    return np.array(flat, dtype=np.float64).reshape(-1, 2)


def _straight(*ends: tuple[float, float]) -> Array:
    return np.array(ends, dtype=np.float64)


def test_a_way_is_drawn_where_its_ground_points_are_seen() -> None:
    (line,) = seen_line(_straight((0, 0), (30, 2)), CAMERA, GROUND)
    pixels = _pixels(line)
    known, _ = CAMERA.project(GROUND.lift(_straight((12, 0.8), (24, 1.6), (30, 2))))
    path = shapely.linestrings(pixels)
    assert np.max(shapely.distance(path, shapely.points(known))) < 1.0
    assert np.hypot(*(pixels[-1] - known[-1])) < 1.0
    assert pixels[0, 1] == pytest.approx(
        CAMERA.height - 0.5, abs=0.6
    )  # from the lower edge on: the bonnet hides no ground


def test_what_lies_behind_the_camera_is_cut_off_and_never_mirrored_into_the_sky() -> None:
    assert seen_line(_straight((0, 0), (-20, 1)), CAMERA, GROUND) == []
    for ends in ([(0, 0), (-20, 1), (-20, 8), (20, 8)], [(20, -3), (-5, -3), (-5, 3), (20, 3)]):
        for line in seen_line(_straight(*ends), CAMERA, GROUND):
            assert (_pixels(line)[:, 1] > 214).all()  # below the horizon


def test_a_way_that_leaves_the_picture_and_returns_is_drawn_in_parts() -> None:
    parts = seen_line(_straight((20, 0), (20, 60), (40, 60), (40, 0)), CAMERA, GROUND)
    assert len(parts) == 2
    for part in parts:
        pixels = _pixels(part)
        assert (pixels >= -1).all()
        assert (pixels <= (800, 450)).all()


def test_a_region_is_outlined_on_the_ground_and_clipped_at_the_edge() -> None:
    quad = rectangle((15, 1), 4, 2, 0.3)
    (outline,) = seen_area(quad, CAMERA, GROUND)
    known, _ = CAMERA.project(GROUND.lift(quad))
    drawn, expected = shapely.polygons(_pixels(outline)), shapely.polygons(known)
    assert shapely.area(shapely.symmetric_difference(drawn, expected)) < 0.06 * shapely.area(expected)
    (clipped,) = seen_area(rectangle((2, 0), 12, 3, 0), CAMERA, GROUND)  # partly behind the camera
    assert (_pixels(clipped) >= -1).all()
    assert seen_area(rectangle((-15, 1), 4, 2, 0.3), CAMERA, GROUND) == []


def test_the_ground_that_the_body_passes_is_its_tube() -> None:
    t = np.linspace(0, 3, 13)
    xy = np.column_stack([6 * t, 0.4 * t**2])
    swept = tube(path_of(t, xy))
    outline = shapely.polygons(swept_outline(t, xy, None, ZOE))
    assert shapely.area(shapely.symmetric_difference(outline, swept)) < 0.003 * shapely.area(swept)


def test_a_standing_body_and_a_single_point_have_no_line() -> None:
    assert seen_line(_straight((0, 0)), CAMERA, GROUND) == []
    assert seen_line(_straight((0, 0), (0, 0)), CAMERA, GROUND) == []
