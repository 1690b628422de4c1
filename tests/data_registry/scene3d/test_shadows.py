"""Shadow maps agree with plain geometry: they begin where a body stands and end where its outline falls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data_registry.geometry import Array, GroundPlane, PinholeCamera, Transform, yaw_rotation
from data_registry.scene3d.light import Light
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.rasteriser import render
from data_registry.scene3d.shadows import CREASE_TEXELS, FINE_M, cast_shadows
from data_registry.scene3d.shapes import car, pedestrian
from data_registry.scene3d.solids import box, ellipsoid, panel
from tests.data_registry.scene3d.cast import shadow_polygon
from tests.data_registry.scene3d.conftest import LOOKING_AHEAD

CAMERA = PinholeCamera(
    np.array([[125.0, 0.0, 80.0], [0.0, 125.0, 45.0], [0.0, 0.0, 1.0]]),
    Transform(LOOKING_AHEAD, np.array([0.0, 1.5, 0.0])),
    160,
    90,
)
UP = np.array([0.0, 0.0, 1.0])
GROUND = panel([(-100, -100, 0), (300, -100, 0), (300, 100, 0), (-100, 100, 0)], (0.4, 0.4, 0.4))


def sunny(azimuth: float, elevation: float) -> Light:
    flat = np.cos(elevation)
    direction = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
    return Light(direction / np.linalg.norm(direction), np.full(3, 0.7), np.full(3, 0.3))


def on_ground(points: Array) -> tuple[Array, Array]:
    return np.column_stack([points, np.zeros(len(points))]), np.tile(UP, (len(points), 1))


@given(st.floats(8, 20), st.floats(-4, 4), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.35, 1.4))
@example(8.0, 0.0, 0.0, 1.0, 1.3125)
@settings(max_examples=10, deadline=None)
def test_a_box_darkens_exactly_the_ground_that_it_hides_from_the_sun(x, y, yaw, azimuth, elevation) -> None:
    light = sunny(azimuth, elevation)
    block = box((-1, -0.6, 0), (1, 0.6, 1.5), (1, 1, 1)).placed(Transform(yaw_rotation(yaw), np.array([x, y, 0.0])))
    shadow = shadow_polygon(block, light, GroundPlane())
    shadows = cast_shadows([GROUND, block], CAMERA, light)
    points = np.random.default_rng(1).uniform(-5, 5, (3000, 2)) + np.array([x, y])
    share = shadows.sun_share(*on_ground(points))
    blur = 1.5 * 2**0.5 * FINE_M / np.sin(elevation)  # a look-up averages 3 x 3 texels: 1.5 to a side, more to a corner
    # under the sunny wall's own foot, what is as near as a crease does not count: nobody looks there
    inner = shapely.contains_xy(shadow.buffer(-blur - CREASE_TEXELS * FINE_M), points)
    outer = ~shapely.contains_xy(shadow.buffer(blur), points)
    assert inner.any()
    assert share[inner].max() < 1e-9
    assert (share[outer] == 1).all()


def test_the_shadow_touches_the_body_that_casts_it() -> None:
    light = sunny(np.pi, 0.6)  # the sun behind the viewer: the shadow falls away from it
    shadows = cast_shadows([GROUND, box((10, -1, 0), (11, 1, 1), (1, 1, 1))], CAMERA, light)
    behind = np.column_stack([np.full(50, 11.001), np.linspace(-0.9, 0.9, 50)])
    assert shadows.sun_share(*on_ground(behind)).max() < 1e-9


@pytest.mark.parametrize("elevation", [0.15, 0.5, 1.2])
def test_lit_surfaces_are_free_of_spots(elevation: float) -> None:
    light = sunny(2.4, elevation)
    bodies = [GROUND, ellipsoid((12, 0, 2.2), (1.5, 1.5, 1.2), (0.5, 0.5, 0.5), 24)]
    lit, full = (
        render(bodies, CAMERA, light, shadows=cast_shadows(bodies[:1], CAMERA, light)),
        render(bodies, CAMERA, light),
    )
    assert np.array_equal(lit.rgb, full.rgb)
    own = cast_shadows(bodies, CAMERA, light)
    sun_only = replace(light, ambient=np.zeros(3))
    pictures = [render(bodies, CAMERA, sun_only, shadows=shadows).rgb for shadows in (own, None)]
    ball = (full.owner == 1) & (full.coverage == 1)
    assert np.allclose(pictures[0][ball], pictures[1][ball], atol=0.01)


def test_a_marking_a_centimetre_high_casts_no_shadow_on_the_road() -> None:
    light = sunny(1.0, 0.3)
    stripe = panel([(8, -1, 0.01), (14, -1, 0.01), (14, 1, 0.01), (8, 1, 0.01)], (1, 1, 1))
    points = np.random.default_rng(1).uniform(-4, 4, (2000, 2)) + np.array([11.0, 0.0])
    assert (cast_shadows([GROUND, stripe], CAMERA, light).sun_share(*on_ground(points)) == 1).all()


def test_no_sun_map_is_cast_by_a_sun_below_the_horizon() -> None:
    light = Light(np.array([0.6, 0.0, -0.8]), np.full(3, 0.7), np.full(3, 0.3))
    shadows = cast_shadows([GROUND, box((10, -1, 0), (11, 1, 1), (1, 1, 1))], CAMERA, light)
    assert (shadows.sun_share(*on_ground(np.array([[11.1, 0.0]]))) == 1).all()


@pytest.mark.parametrize("body", [car(4.4, 1.8, 1.5), pedestrian(0.7, 0.6, 1.75)])
def test_ground_under_a_body_loses_sky_and_open_ground_keeps_it(body: Mesh) -> None:
    standing = body.placed(Transform(np.eye(3), np.array([12.0, 0.0, 0.0])))
    shadows = cast_shadows([GROUND, standing], CAMERA, sunny(1.0, 0.6))
    points, _ = on_ground(np.array([[12.0, 0.0], [12.0, 4.0]]))
    below, aside = shadows.sky_share(points)
    assert below < 0.8
    assert aside == 1
    assert shadows.sky_share(points + UP).tolist() == [1, 1]


def test_ground_beside_a_wall_loses_sky_and_a_kerb_takes_none() -> None:
    wall = box((10, 2, 0), (20, 8, 6), (1, 1, 1))
    pavement = box((5, -8, -0.2), (30, -3, 0.15), (1, 1, 1)).made_of(Material.PAVING)
    shadows = cast_shadows([GROUND.made_of(Material.ASPHALT), wall, pavement], CAMERA, sunny(1.0, 0.6))
    beside, kerb, top = shadows.sky_share(np.array([[15, 1.9, 0.0], [15, -2.5, 0.0], [15, -5.0, 0.15]]))
    assert beside < 0.9
    assert (kerb, top) == (1, 1)


def test_nothing_to_cast_takes_nothing() -> None:
    shadows = cast_shadows([], CAMERA, sunny(1.0, 0.6))
    points = on_ground(np.array([[12.0, 0.0]]))
    assert shadows.sun_share(*points).tolist() == [1]
    assert shadows.sky_share(points[0]).tolist() == [1]
