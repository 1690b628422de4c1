from __future__ import annotations

import hashlib
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from data_registry.geometry import Transform
from data_registry.scene3d.light import Lamp
from data_registry.scene3d.solids import box
from data_registry.sources.streetset import ground
from data_registry.sources.streetset.conditions import CONDITIONS, Sensor, headlamps
from data_registry.sources.streetset.painting import in_reach, jpeg, lamps_that_matter, picture, world
from data_registry.sources.streetset.skyline import skyline
from tests.data_registry.sources.streetset.scenery import lamp_street, looking_ahead, straight

QUIET = Sensor(noise=0.0, dark_noise=0.0, vignette=0.0, softness=0.0, bloom=0.0)


def test_a_picture_is_the_same_each_time_and_only_its_noise_depends_on_the_seed() -> None:
    one, two, other = (picture(lamp_street("day"), looking_ahead(), seed) for seed in (1, 1, 2))
    assert one.shape == (90, 160, 3)
    assert one.dtype == np.uint8
    assert np.array_equal(one, two)
    difference = one.astype(int) - other
    assert 0 < np.abs(difference).max() <= 8
    assert abs(difference.mean()) < 0.1


def test_jpeg_bytes_are_stable_and_hold_the_picture() -> None:
    one, two = (jpeg(lamp_street("night"), looking_ahead(), 3) for _ in range(2))
    assert hashlib.sha256(one).hexdigest() == hashlib.sha256(two).hexdigest()
    shown = np.asarray(Image.open(io.BytesIO(one))).astype(int)
    assert np.abs(shown - picture(lamp_street("night"), looking_ahead(), 3)).mean() < 4.0


def test_the_noise_is_as_strong_as_set_and_stronger_in_the_dark() -> None:
    for level, strength in ((0.25, 2.0), (0.0, 4.0)):
        grey = box((5.0, -20.0, -20.0), (5.1, 20.0, 20.0), (0.0, 0.0, 0.0))
        scene = world(CONDITIONS["overcast"], (grey,), ())
        bright = replace(scene.light, air=None, sun=np.zeros(3), ambient=np.full(3, 1.0))
        coloured = replace(grey, colours=np.full_like(grey.colours, level / 0.8))
        scene = replace(scene, static=(coloured,), light=bright, sensor=replace(QUIET, noise=2.0, dark_noise=4.0))
        shown = picture(scene, looking_ahead(320, 180), 5).astype(float)
        if level > 0:
            assert shown.std() == pytest.approx(strength, rel=0.08)
        else:  # cut at 0: only the upper half shows
            assert shown.max() > 8


def test_night_is_darker_than_day_and_lamps_make_pools_brighter_than_between() -> None:
    camera = looking_ahead(320, 180)
    day, night = (
        picture(replace(lamp_street(name), sensor=QUIET), camera, 1).astype(float) for name in ("day", "night")
    )
    assert night.mean() < 0.5 * day.mean()
    pixels, _ = camera.project(np.array([[20.0, 0.0, 0.0], [40.0, 0.0, 0.0]]))
    pool, between = (night[round(v) - 1 : round(v) + 2, round(u) - 6 : round(u) + 7].mean() for u, v in pixels)
    assert pool > 1.5 * between
    assert between > 4.0


def test_lamps_are_off_by_day() -> None:
    assert lamp_street("day").light.lamps == ()
    assert len(lamp_street("night").light.lamps) == 2
    dusk, night = (lamp_street(name).light.lamps[0].colour for name in ("dusk", "night"))
    assert (dusk < night).all()


@pytest.mark.parametrize("name", sorted(CONDITIONS))
def test_every_condition_shows_a_sky_above_a_road_and_a_soft_horizon_without_holes(name: str) -> None:
    axis = straight(400.0)
    meshes = (ground.carriageway(axis, -4.0, 4.0), ground.land((axis,)), skyline((200.0, 0.0, -0.3)))
    scene = replace(world(CONDITIONS[name], meshes, ()), sensor=QUIET)
    shown = picture(scene, looking_ahead(), 1).astype(float)
    assert shown[:20].mean() > shown[-20:].mean() or name == "night"
    # Sky and ground meet in haze: no black row and no white one between them.
    middle = shown[30:60].mean(axis=(1, 2))
    assert middle.min() > 10.0
    assert np.abs(np.diff(middle)).max() < 70.0


def test_fog_hides_what_rain_and_day_still_show() -> None:
    board = box((90.0, -9.0, 0.0), (91.0, 9.0, 12.0), (0.02, 0.02, 0.02))

    def contrast(name: str) -> float:
        scene = replace(world(CONDITIONS[name], (board,), ()), sensor=QUIET)
        shown = picture(scene, looking_ahead(), 1).astype(float)
        return float(np.abs(shown[40, 80] - shown[40, 40]).mean())

    assert contrast("fog") < 0.5 * contrast("rain") < contrast("day")


def test_the_sun_of_a_turned_condition_stands_where_it_was_turned_to() -> None:
    turned = CONDITIONS["dusk"].facing(np.pi / 2).light.direction
    before = CONDITIONS["dusk"].light.direction
    assert turned == pytest.approx([-before[1], before[0], before[2]])


def test_headlamps_look_ahead_and_a_little_down() -> None:
    (lamp,) = headlamps((3.0, 1.0, 0.65), np.pi / 2)
    assert lamp.direction is not None
    assert lamp.direction[1] > 0.99
    assert -0.1 < lamp.direction[2] < 0.0


def test_the_lamps_that_are_kept_are_the_nearest_ahead_in_their_order() -> None:
    lamps = [Lamp(np.array([5.0 * k, 0.0, 6.0]), np.ones(3)) for k in range(-20, 60)]
    kept = [float(lamp.position[0]) for lamp in lamps_that_matter(lamps, looking_ahead())]
    assert kept == sorted(kept)
    assert len(kept) <= 14
    assert min(kept) > -40.0
    assert {5.0, 15.0, 30.0} <= set(kept)


def test_leaving_out_what_is_behind_the_camera_changes_no_pixel() -> None:
    scene = lamp_street("day")
    camera = looking_ahead(at=(40.0, 0.0, 1.5))
    kept = in_reach(scene.static[1], camera)
    assert 0 < len(kept.faces) < len(scene.static[1].faces)
    far = replace(scene, static=(*scene.static, box((-90.0, -2.0, 0.0), (-80.0, 2.0, 30.0), (0.5, 0.5, 0.5))))
    assert np.array_equal(picture(scene, camera, 1), picture(far, camera, 1))
    near = box((45.0, -1.0, 0.0), (46.0, 1.0, 1.0), (0.5, 0.1, 0.1)).placed(Transform(np.eye(3), np.zeros(3)))
    assert not np.array_equal(picture(scene, camera, 1), picture(replace(scene, things=(near,)), camera, 1))
