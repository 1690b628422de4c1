"""Where the sun stands: the clock, the shadows of boxes, and an honest default; shadows that follow it."""

from __future__ import annotations

import numpy as np
import pytest

from data_registry.cameras import pinhole
from data_registry.geometry import GroundPlane
from data_registry.records import Keyframe
from data_registry.scene3d.solids import box
from models.editors.compositor import Compositor
from models.editors.shadows import sky_shade, sun_shade
from models.editors.sun import find_sun, solar_direction
from tests.models.editors.placed import Setting, request, standing
from tests.street import annotation, camera, keyframe, picture

CARS = (annotation("a", 10.0, 1.5), annotation("b", 15.0, -2.2), annotation("c", 22.0, 1.8))


def street_with_shadows(direction: np.ndarray | None, seen: Keyframe, sensor: str = "CAM_FRONT") -> np.ndarray:
    """Paint a grey road, darker where a ray towards the sun meets one of the boxes; returns (H, W, 3)."""
    model = pinhole(seen, camera(sensor))
    rows, columns = np.mgrid[226 : model.height, 0 : model.width]
    rays = model.rays(np.column_stack([columns.ravel(), rows.ravel()]).astype(float))
    points = seen.ground.intersect(model.position, rays)
    dark = np.zeros(len(points), bool)
    for note in seen.annotations if direction is not None else ():
        for height in np.linspace(0.0, note.box.size[2], 24):
            at = points[:, :2] + direction[:2] / direction[2] * height  # pyright: ignore
            offset = np.abs(at - np.array(note.box.centre[:2]))
            dark |= (offset[:, 0] < note.box.size[0] / 2) & (offset[:, 1] < note.box.size[1] / 2)
    shown = picture(0)
    shown[rows.ravel()[dark], columns.ravel()[dark]] //= 2
    return shown


@pytest.mark.parametrize(("azimuth", "elevation"), [(200.0, 40.0), (60.0, 30.0), (-75.0, 25.0)])
def test_the_sun_is_found_from_the_shadows_of_boxes(azimuth: float, elevation: float) -> None:
    turn, up = np.deg2rad([azimuth, elevation])
    truth = np.array([np.cos(turn) * np.cos(up), np.sin(turn) * np.cos(up), np.sin(up)])
    seen = keyframe(CARS)
    shown = street_with_shadows(truth, seen)
    found = find_sun(seen, [((shown.mean(axis=2) / 255.0) ** 2.2, pinhole(seen, camera("CAM_FRONT")))])
    assert found.known_from == "shadows"
    miss = np.rad2deg(np.arctan2(found.direction[1], found.direction[0]) - turn)
    assert abs((miss + 180) % 360 - 180) <= 25
    assert found.contrast == pytest.approx(np.log(2.0**2.2), rel=0.4)


def test_a_road_without_shadows_gives_the_default_and_says_so() -> None:
    seen = keyframe(CARS)
    level = (street_with_shadows(None, seen).mean(axis=2) / 255.0) ** 2.2
    found = find_sun(seen, [(level, pinhole(seen, camera("CAM_FRONT")))])
    assert (found.known_from, found.contrast) == ("default", None)


def test_the_sun_of_a_clock_is_astronomys() -> None:
    # equinox of March 2018 (20th, 16:15 UTC): over the equator, at its noon there the sun is overhead
    noon = solar_direction(1_521_547_650_000_000, (0.0, 0.0))
    assert noon[2] == pytest.approx(1.0, abs=0.01)
    # Singapore, 24 July 2018, 11:28 local time: in the north-east, 60 to 70 degrees high
    morning = solar_direction(1_532_402_927_647_951, (1.30, 103.79))
    assert morning[0] > 0.1
    assert morning[1] > 0.25
    assert np.rad2deg(np.arcsin(morning[2])) == pytest.approx(60, abs=6)


def test_real_logs_take_the_sun_from_their_clock() -> None:
    real = keyframe(CARS).model_copy(
        update={"dataset": "nuscenes", "location": "singapore-onenorth", "timestamp_us": 1_532_402_927_647_951}
    )
    found = find_sun(real, [(np.full((450, 800), 0.2), pinhole(real, camera("CAM_FRONT")))])
    assert found.known_from == "clock"
    np.testing.assert_allclose(found.direction, solar_direction(real.timestamp_us, (1.30, 103.79)), atol=1e-9)


@pytest.mark.parametrize("azimuth", [70.0, -70.0])
def test_the_drawn_shadow_lies_on_the_side_away_from_the_sun(azimuth: float) -> None:
    turn, up = np.deg2rad([azimuth, 30.0])
    truth = np.array([np.cos(turn) * np.cos(up), np.sin(turn) * np.cos(up), np.sin(up)])
    seen = keyframe(CARS)
    asked = request(
        "pedestrian", standing((7.0, 0.0), (0.6, 0.6, 1.75)), Setting(CARS, street_with_shadows(truth, seen))
    )
    raw = Compositor().edit(asked)
    below = (raw.object_mask == 0) & (np.arange(450)[:, None] > 225)
    darker = np.where(below, asked.source.mean(axis=2) - raw.picture.mean(axis=2), 0.0) > 20
    middle = np.nonzero(raw.object_mask)[1].mean()
    offset = np.nonzero(darker)[1].mean() - middle
    assert darker.sum() > 60
    assert np.sign(offset) == np.sign(azimuth)  # sun on the left (y > 0): shadow on the right, larger columns


def test_a_shadow_touches_sharply_and_ends_softly() -> None:
    mast = box((-0.1, -0.1, 0.0), (0.1, 0.1, 3.0), (0.5, 0.5, 0.5))
    shade = sun_shade(mast, np.array([-0.8, 0.0, 0.6]), 0.05, GroundPlane())
    assert shade is not None
    across = np.linspace(-0.6, 0.6, 121)

    def steepest(x: float) -> float:
        return float(np.abs(np.diff(shade.at(np.column_stack([np.full(121, x), across])))).max())  # pyright: ignore

    assert steepest(0.4) > 1.8 * steepest(3.4)
    assert shade.at(np.array([[0.3, 0.0], [-0.8, 0.0]])) == pytest.approx([1.0, 0.0], abs=0.1)


def test_the_sky_is_missing_below_and_close_around() -> None:
    crate = box((-0.5, -0.5, 0.0), (0.5, 0.5, 0.8), (0.5, 0.5, 0.5))
    shade = sky_shade(crate, GroundPlane())
    under, beside, away = shade.at(np.array([[0.0, 0.0], [0.53, 0.0], [1.6, 0.0]]))
    assert under > 0.9
    assert 0.1 < beside < under
    assert away < 0.05


def test_a_sun_below_the_ground_throws_no_shadow() -> None:
    crate = box((-0.5, -0.5, 0.0), (0.5, 0.5, 0.8), (0.5, 0.5, 0.5))
    assert sun_shade(crate, np.array([1.0, 0.0, 0.0]), 0.02, GroundPlane()) is None
