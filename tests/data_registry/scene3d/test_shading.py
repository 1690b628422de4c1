"""Materials, lamps, air and water look as they should, and the same each time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from data_registry.geometry import PinholeCamera, Transform
from data_registry.scene3d.light import Air, Lamp, Light
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.rasteriser import render
from data_registry.scene3d.shadows import cast_shadows
from data_registry.scene3d.shapes import car
from data_registry.scene3d.solids import panel

GREY = (0.4, 0.4, 0.4)
NOON = Light(np.array([0.0, 0.0, 1.0]), np.full(3, 0.6), np.full(3, 0.3))
DARK = Light(np.array([0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))


def road(material: Material, colour: tuple[float, float, float] = GREY) -> Mesh:
    return panel([(-50, -300, 0), (600, -300, 0), (600, 300, 0), (-50, 300, 0)], colour).made_of(material)


def wall(x: float, material: Material = Material.MATTE, colour: tuple[float, float, float] = (1, 1, 1)) -> Mesh:
    return panel([(x, 90, -90), (x, -90, -90), (x, -90, 90), (x, 90, 90)], colour).made_of(material)


def test_grain_fades_with_distance(camera: PinholeCamera) -> None:
    picture = render([road(Material.ASPHALT)], camera, NOON).rgb[:, :, 0]
    near, middle, far = (picture[rows].std() / picture[rows].mean() for rows in (slice(84, 90), slice(58, 60), 47))
    assert near > 0.03
    assert middle < near * 0.8
    assert far < near * 0.35
    assert render([road(Material.MATTE)], camera, NOON).rgb[50:, :, 0].std() < 1e-12


def test_grain_keeps_the_mean_colour(camera: PinholeCamera) -> None:
    grass = render([road(Material.GRASS)], camera, NOON).rgb[50:, :, 0].mean()
    assert grass == pytest.approx(render([road(Material.MATTE)], camera, NOON).rgb[50:, :, 0].mean(), rel=0.02)


def test_one_and_four_samples_a_pixel_agree_on_the_mean(camera: PinholeCamera) -> None:
    meshes = [road(Material.ASPHALT), car(4.4, 1.8, 1.5).placed(Transform(np.eye(3), np.array([9.0, 0.5, 0.0])))]
    one, two = (render(meshes, camera, NOON, samples=samples).rgb.mean(axis=(0, 1)) for samples in (1, 2))
    assert one.tolist() == pytest.approx(two.tolist(), rel=0.01)


def test_a_lamp_falls_with_distance_squared(camera: PinholeCamera) -> None:
    white = Lamp(np.array([0.0, 0.0, 1.5]), np.full(3, 8.0))
    light = replace(DARK, lamps=(white,))
    # the pixel at (80, 45) looks straight ahead, at the wall's foot of the lamp's perpendicular
    five, ten = (render([wall(x)], camera, light, (80, 45, 81, 46), 1).rgb[0, 0, 0] for x in (5.0, 10.0))
    assert five == pytest.approx(8.0 / 25)
    assert ten == pytest.approx(8.0 / 100)


def test_a_beam_is_full_inside_its_spread_and_gone_a_third_beyond(camera: PinholeCamera) -> None:
    beam = Lamp(np.array([0.0, 0.0, 1.5]), np.full(3, 90.0), np.array([1.0, 0.0, 0.0]), spread=0.2)
    around = replace(beam, direction=None)
    row, all_around = (
        render([wall(9.0)], camera, replace(DARK, lamps=(lamp,)), samples=1).rgb[45, 80:, 0] for lamp in (beam, around)
    )
    share, angle = row / all_around, np.arctan(np.arange(80) / 125)
    assert share[angle < 0.2].tolist() == pytest.approx([1.0] * int((angle < 0.2).sum()))
    assert not row[angle > 0.2 * 4 / 3].any()
    assert (np.diff(share) <= 1e-9).all()


def test_things_fade_to_the_airs_colour(camera: PinholeCamera) -> None:
    air = Air(np.array([0.2, 0.5, 0.7]), sight_m=20.0)
    seen = render([wall(20.0)], camera, replace(NOON, air=air), (80, 45, 81, 46), 1).rgb[0, 0]
    clear = render([wall(20.0)], camera, NOON, (80, 45, 81, 46), 1).rgb[0, 0]
    lost = 1 - np.exp(-1.0)
    assert seen.tolist() == pytest.approx((clear * (1 - lost) + air.colour * lost).tolist())
    assert render([wall(400.0)], camera, replace(NOON, air=air), samples=1).rgb[45, 80] == pytest.approx(air.colour)


def test_wet_ground_is_darker_below_and_mirrors_the_sky_at_flat_angles(camera: PinholeCamera) -> None:
    sky = replace(NOON, sun=np.zeros(3), ambient=np.array([0.3, 0.3, 0.5]))
    dry, wet = (
        render([road(Material.ASPHALT, (0.1, 0.1, 0.1))], camera, replace(sky, air=Air(sky.ambient, 1e9, wetness))).rgb
        for wetness in (0.0, 1.0)
    )
    steep = PinholeCamera(camera.intrinsics, Transform(np.diag([1.0, -1.0, -1.0]), np.array([0, 0, 4.0])), 160, 90)
    below = [
        render([road(Material.ASPHALT)], steep, replace(sky, air=Air(sky.ambient, 1e9, wetness))).rgb.mean()
        for wetness in (0.0, 1.0)
    ]
    assert below[1] < 0.75 * below[0]
    assert wet[46:48].mean() > 3 * dry[46:48].mean()
    tint = wet[46:48, :, 2].mean() / wet[46:48, :, 0].mean()
    assert tint == pytest.approx(5 / 3, rel=0.02)


def test_only_level_ground_gets_a_mirror_of_water(camera: PinholeCamera) -> None:
    wet = replace(NOON, air=Air(np.full(3, 0.3), 1e9, 1.0))
    dry = replace(NOON, air=Air(np.full(3, 0.3), 1e9, 0.0))
    upright = [render([wall(9.0, Material.PAVING)], camera, light).rgb for light in (wet, dry)]
    assert np.array_equal(upright[0], upright[1])


def test_a_wet_road_shows_a_long_reflection_of_a_lamp(camera: PinholeCamera) -> None:
    lamp = Lamp(np.array([30.0, 0.0, 3.0]), np.full(3, 20.0))
    pictures = [
        render([road(Material.ASPHALT, (0.1, 0.1, 0.1))], camera, replace(DARK, lamps=(lamp,), air=air)).rgb[50:, :, 0]
        for air in (Air(np.zeros(3), 1e9, 0.0), Air(np.zeros(3), 1e9, 1.0))
    ]
    gain = pictures[1] - pictures[0]
    streak = gain > gain.max() / 4
    assert gain.max() > 5 * pictures[0][np.unravel_index(gain.argmax(), gain.shape)]
    rows, columns = np.flatnonzero(streak.any(axis=1)), np.flatnonzero(streak.any(axis=0))
    assert len(rows) > 1.5 * len(columns) > 0
    assert abs(columns.mean() - 80) < 2


def test_glowing_faces_ignore_light(camera: PinholeCamera) -> None:
    lamp = wall(9.0, Material.GLOWING, (1.5, 0.8, 0.2))
    for light in (NOON, DARK):
        assert render([lamp], camera, light).rgb[45, 80].tolist() == pytest.approx([1.5, 0.8, 0.2])


@pytest.mark.parametrize("material", list(Material))
def test_every_material_gives_finite_light_in_any_weather(material: Material, camera: PinholeCamera) -> None:
    lamps = (Lamp(np.array([5.0, 0.0, 0.0]), np.ones(3)), Lamp(np.array([3.0, 1.0, 2.0]), np.ones(3)))
    light = replace(NOON, lamps=lamps, air=Air(np.full(3, 0.3), 80.0, 1.0))
    seen = render([road(material), wall(30.0, material)], camera, light)
    assert np.isfinite(seen.rgb).all()
    assert (seen.rgb >= 0).all()


def test_a_window_is_the_crop_with_all_lights_and_shadows_too(camera: PinholeCamera) -> None:
    light = replace(
        NOON,
        direction=np.array([-0.6, 0.0, 0.8]),
        lamps=(Lamp(np.array([8.0, 0.0, 3.0]), np.full(3, 5.0)),),
        air=Air(np.full(3, 0.3), 80.0, 0.7),
    )
    meshes = [road(Material.ASPHALT), car(4.4, 1.8, 1.5).placed(Transform(np.eye(3), np.array([9.0, 0.5, 0.0])))]
    shadows = cast_shadows(meshes, camera, light)
    whole = render(meshes, camera, light, shadows=shadows)
    again = render(meshes, camera, light, shadows=cast_shadows(meshes, camera, light))
    part = render(meshes, camera, light, window=(31, 40, 118, 83), shadows=shadows)
    assert np.array_equal(whole.rgb, again.rgb)
    assert np.array_equal(part.rgb, whole.rgb[40:83, 31:118])
    assert np.array_equal(part.depth, whole.depth[40:83, 31:118])


def test_road_markings_a_centimetre_above_the_road_do_not_fight_with_it(camera: PinholeCamera) -> None:
    long = PinholeCamera(camera.intrinsics * [[10], [10], [1]], camera.ego_to_camera, 1600, 900)
    stripe = panel([(95, -2, 0.01), (105, -2, 0.01), (105, 2, 0.01), (95, 2, 0.01)], (1, 1, 1))
    owner = render([road(Material.MATTE), stripe], long, NOON, samples=1).owner
    rows, columns = np.nonzero(owner == 1)
    box = owner[rows.min() : rows.max() + 1, (columns.min() + columns.max()) // 2]
    assert (box == 1).all()
    # 10 m of road at 100 m: from 1250 * 1.49 / 105 to 1250 * 1.49 / 95 below the horizon
    assert len(box) == pytest.approx(1250 * 1.49 * (1 / 95 - 1 / 105), abs=1)
