from __future__ import annotations

import numpy as np
import pytest
import shapely

from data_registry.geometry import Array, GeometryError
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.rasteriser import render
from data_registry.sources.streetset import ground
from data_registry.sources.streetset.alignment import Alignment
from data_registry.sources.streetset.conditions import CONDITIONS
from tests.data_registry.sources.streetset.scenery import climbing_bend, looking_ahead, offsets_of, straight


def area_of(mesh: Mesh) -> float:
    corners = mesh.triangles()
    return float(
        np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
    )


def surface_height(mesh: Mesh, points: Array) -> Array:
    """Return the height of a road mesh under points: the lowest of the triangles there."""
    triangles = mesh.triangles()
    result = np.full(len(points), np.nan)
    for a, b, c in triangles:
        basis = np.column_stack([b - a, c - a])[:2]
        if abs(np.linalg.det(basis)) < 1e-9:
            continue
        share = np.linalg.solve(basis, (points[:, :2] - a[:2]).T)
        inside = (share >= -1e-6).all(axis=0) & (share.sum(axis=0) <= 1 + 1e-6)
        height = a[2] + share[0] * (b - a)[2] + share[1] * (c - a)[2]
        result[inside] = height[inside]
    return result


def test_a_strip_follows_its_offsets_and_the_heights_of_a_climbing_bend() -> None:
    axis = climbing_bend()
    strip = ground.strip(axis, -2.0, 3.0, ground.ASPHALT, lift=0.05)
    _, offset, lift = offsets_of(axis, strip.vertices)
    assert np.minimum(np.abs(offset + 2.0), np.abs(offset - 3.0)).max() < 0.01
    assert offset.max() - offset.min() > 4.98
    assert lift == pytest.approx(0.05, abs=0.005)


def test_a_carriageway_reaches_from_edge_to_edge_and_has_darker_wheel_tracks() -> None:
    axis = straight()
    road = ground.carriageway(axis, -4.0, 4.0, lanes=(0.0,))
    assert area_of(road) == pytest.approx(8.0 * axis.length, rel=1e-6)
    middle = road.triangles().mean(axis=1)[:, 1]
    track, beside = np.abs(np.abs(middle) - 0.78) < 0.15, np.abs(np.abs(middle) - 2.0) < 0.15
    assert road.colours[track].mean() < 0.97 * road.colours[beside].mean()


@pytest.mark.parametrize("offset", [-3.0, 0.0, 3.0])
def test_markings_lie_one_centimetre_above_their_road_on_a_climbing_bend(offset: float) -> None:
    axis = climbing_bend()
    road = ground.carriageway(axis, -4.0, 4.0)
    marks = ground.dashes(axis, offset, (3.0, 3.0), (1.0, 79.0))
    above = marks.vertices[:, 2] - surface_height(road, marks.vertices)
    assert above == pytest.approx(ground.DECAL_M, abs=0.004)


def test_dashes_have_the_length_and_gap_that_they_are_given() -> None:
    marks = ground.dashes(straight(), 1.75, (3.0, 6.0), (10.0, 50.0), width=0.12)
    x = marks.triangles()[:, :, 0]
    covered = shapely.union_all(
        [shapely.box(low, 0, high, 1) for low, high in zip(x.min(axis=1), x.max(axis=1), strict=True)]
    )
    dashes = [part.bounds for part in shapely.get_parts(covered)]
    assert [(low, high) for low, _, high, _ in dashes] == [(10, 13), (19, 22), (28, 31), (37, 40), (46, 49)]
    assert area_of(marks) == pytest.approx(5 * 3.0 * 0.12)


def test_a_kerb_has_a_face_as_high_as_it_is_and_its_stone_lies_on_the_pavement_side() -> None:
    for side in (1, -1):
        kerb = ground.kerb(straight(), 5.0, side, height=0.12)
        across = side * (kerb.vertices[:, 1] - 5.0)
        assert (across.min(), across.max()) == pytest.approx((0.0, ground.KERB_STONE_M))
        assert kerb.vertices[:, 2].max() == pytest.approx(0.12)
        assert kerb.vertices[:, 2].min() < 0.0


def test_a_pavement_has_joints_darker_than_its_slabs() -> None:
    paving = ground.pavement(straight(), -7.0, -4.15)
    tone = paving.colours[:, 0] / ground.SLABS.colour[0]
    corners = paving.triangles()
    size = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    joints = tone < 0.7
    assert 0.02 < size[joints].sum() / size.sum() < 0.06
    assert tone[~joints].min() > 0.85
    assert paving.vertices[:, 2] == pytest.approx(ground.KERB_M)


def test_a_zebra_fills_half_of_the_way_and_stays_on_the_road() -> None:
    zebra = ground.zebra(straight(), (20.0, 24.0), -4.0, 4.0)
    assert area_of(zebra) == pytest.approx(0.5 * 8.0 * 4.0, rel=0.1)
    assert np.abs(zebra.vertices[:, 1]).max() <= 4.0


@pytest.mark.parametrize("kind", sorted(ground.ARROWS))
def test_arrows_are_four_metres_long_and_point_back_for_oncoming_traffic(kind: str) -> None:
    for against, reach in ((False, (30.0, 34.0)), (True, (26.0, 30.0))):
        x = ground.arrow(straight(), 30.0, 0.0, kind, against).vertices[:, 0]
        assert reach[0] - 1e-9 <= x.min()
        assert x.max() <= reach[1] + 1e-9
        assert x.max() - x.min() > 3.0


def test_teeth_covers_gratings_bays_and_patches_lie_on_the_road_where_they_are_asked_to() -> None:
    axis = straight()
    for mesh, low, high in (
        (ground.give_way_teeth(axis, 20.0, 0.0, 3.0), (20.0, 0.125), (20.6, 2.875)),
        (ground.manhole(axis, 20.0, 1.0), (19.68, 0.68), (20.32, 1.32)),
        (ground.gully(axis, 20.0, -3.8), (20.0, -3.975), (20.5, -3.625)),
        (ground.bays(axis, -4.0, -2.0, (20.0, 32.0)), (20.0, -4.0), (32.1, -1.95)),
        (ground.patch(axis, (20.0, 25.0), -1.0, 1.0), (20.0, -1.0), (25.0, 1.0)),
        (ground.stop_bar(axis, 20.0, -1.6, 1.6), (20.0, -1.6), (20.45, 1.6)),
    ):
        assert mesh.vertices[:, :2].min(axis=0) == pytest.approx(low, abs=1e-6)
        assert mesh.vertices[:, :2].max(axis=0) == pytest.approx(high, abs=1e-6)
        assert 0.0 < mesh.vertices[:, 2].min() <= mesh.vertices[:, 2].max() < 0.015


def test_an_area_covers_its_polygon_with_holes_and_follows_the_ground() -> None:
    polygon = shapely.box(0, 0, 20, 10).difference(shapely.box(5, 2, 8, 6))

    def climbing(points: Array) -> Array:
        return 0.1 * points[:, 0]

    mesh = ground.area(polygon, climbing, ground.CONCRETE, lift=0.02)
    assert area_of(mesh) == pytest.approx(polygon.area * np.hypot(1, 0.1), rel=1e-6)
    assert mesh.vertices[:, 2] == pytest.approx(0.1 * mesh.vertices[:, 0] + 0.02)
    assert (mesh.materials == Material.PAVING).all()


def test_an_area_with_a_crossing_outline_is_refused() -> None:
    with pytest.raises(GeometryError, match="Self-intersection"):
        ground.area(np.array([[0, 0], [1, 1], [1, 0], [0, 1]]), lambda points: points[:, 0], ground.GRASS)


def test_the_land_never_reaches_up_to_a_road_that_climbs_through_it() -> None:
    axis = climbing_bend()
    land = ground.land((axis,), margin=100.0)
    road = ground.strip(axis, -6.0, 6.0, ground.ASPHALT)
    below = road.vertices[:, 2] - surface_height(land, road.vertices)
    assert np.nanmin(below) > 0.05
    assert np.isfinite(below).all()


def test_a_marking_hides_its_road_without_flicker_up_to_a_hundred_metres() -> None:
    axis = climbing_bend(radius=400.0, grade=0.03)
    longer = Alignment(axis.at(np.arange(0.0, 80.1, 4.0)))
    road = ground.carriageway(longer, -4.0, 4.0)
    mark = ground.line(longer, 0.0, 0.8)
    camera = looking_ahead(1600, 900, (-25.0, 0.0, 1.5))
    rendering = render([road, mark], camera, CONDITIONS["day"].light)
    pixels, _ = camera.project(longer.at(np.arange(2.0, 78.0, 0.5), 0.0, ground.DECAL_M))
    column, row = pixels.round().astype(int).T
    assert (rendering.owner[row, column] == 1).all()
