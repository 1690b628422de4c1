"""The compositor draws every kind of hazard: exact masks, looks by seed, lights by the picture, bodies that hide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from data_registry.pictures import Rgb
from data_registry.scene3d.materials import Material
from models.editors.compositor import Compositor
from models.editors.editor import EditRequest, RawEdit
from models.editors.grain import spot
from models.editors.hazards import hazard_mesh
from tests.models.editors.placed import KINDS, Setting, request, standing
from tests.street import HEIGHT, PARKED, annotation, picture

DARK = (picture(0) // 7).astype(np.uint8)


def edit(name: str, setting: Setting | None = None) -> tuple[EditRequest, RawEdit]:
    shape, placement = KINDS[name]
    asked = request(shape, placement, setting)
    return asked, Compositor().edit(asked)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_changes_its_own_pixels_and_nothing_outside_the_edit_mask(name: str) -> None:
    asked, raw = edit(name)
    np.testing.assert_array_equal(raw.picture[raw.edit_mask == 0], asked.source[raw.edit_mask == 0])
    assert (raw.edit_mask[raw.object_mask > 0] == 255).all()
    changed = (raw.picture != asked.source).any(axis=2)
    assert (raw.object_mask > 0).sum() > 150
    assert changed[raw.object_mask > 0].mean() > 0.85


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_comes_out_the_same_again(name: str) -> None:
    asked, raw = edit(name)
    again = Compositor().edit(asked)
    assert again.picture.tobytes() == raw.picture.tobytes()
    assert again.object_mask.tobytes() == raw.object_mask.tobytes()


def test_a_signals_post_reaches_the_ground_and_its_head_fills_the_box() -> None:
    asked, raw = edit("signal_post")
    corners, _ = asked.model.project(asked.screening.placement.box.corners())  # pyright: ignore
    rows = np.flatnonzero(raw.object_mask.any(axis=1))
    assert rows[0] == pytest.approx(corners[:, 1].min(), abs=3)
    foot, _ = asked.model.project(asked.keyframe.ground.lift(np.array([[13.1, -1.6]])))
    assert rows[-1] == pytest.approx(foot[0, 1], abs=5)


def test_a_signals_red_lamp_shines_by_night() -> None:
    _, raw = edit("signal_post", Setting(source=DARK, description="a street at night"))
    seen = raw.picture[raw.object_mask > 0].astype(np.int64)
    assert (seen[:, 0] - seen[:, 2]).max() > 120


@pytest.mark.parametrize(("words", "lit"), [("a street at night", True), ("a street by day", False)])
def test_a_vehicle_has_its_tail_lamps_on_only_in_the_dark(words: str, lit: bool) -> None:
    shape, placement = "van", standing((12.0, 0.0), (5.0, 2.0, 2.3))
    glows = hazard_mesh(request(shape, placement, Setting(description=words)), placement).materials == Material.GLOWING
    assert glows.any() == lit


def test_the_grain_is_not_taken_from_texture_that_is_streaked() -> None:
    dice = np.random.Generator(np.random.PCG64(3))
    road = 100 + 6 * ndimage.gaussian_filter(dice.standard_normal((256, 256)), (0.0, 12.0)) * 5
    sky = 120 + 2.0 * dice.standard_normal((256, 256))
    picture = np.repeat(np.rint(np.vstack([road, road, road, sky])).astype(np.uint8)[..., None], 3, axis=2)
    found = spot(picture)[..., 1]
    across, down = (float(np.abs(np.diff(found, axis=axis)).mean()) for axis in (1, 0))
    assert down == pytest.approx(across, rel=0.25)


def test_a_hole_in_a_wet_road_is_dark_and_mirrors_no_sky() -> None:
    asked, raw = edit("pothole", Setting(description="rain in a street"))
    inside = np.asarray(ndimage.binary_erosion(raw.object_mask > 0, iterations=5), dtype=np.bool_)
    assert raw.picture[inside].mean() < 0.75 * asked.source[inside].mean()


def test_an_open_door_lays_a_dark_hole_bare_in_its_car() -> None:
    asked, raw = edit("car_door")
    beside = (raw.edit_mask > 0) & (raw.object_mask == 0)
    darker = asked.source[beside].mean(axis=1) - raw.picture[beside].mean(axis=1)
    assert (darker > 70).sum() > 40


def test_several_seeds_give_several_looks() -> None:
    shown = {edit("pedestrian", Setting(seed=seed))[1].picture.tobytes() for seed in (1, 2, 3)}
    means = [edit("car", Setting(seed=seed))[1] for seed in (0, 2, 4)]
    colours = [raw.picture[raw.object_mask > 0].mean(axis=0) for raw in means]
    assert len(shown) == 3
    assert max(float(np.abs(one - other).max()) for one in colours for other in colours) > 15


def test_by_night_a_hazard_is_no_brighter_than_what_is_around() -> None:
    for name in ("box_truck", "pedestrian", "crates"):
        asked, raw = edit(name, Setting(source=DARK, description="a street at night"))
        inside = raw.object_mask > 0
        rows, columns = np.nonzero(raw.edit_mask)
        around = asked.source[rows.min() : rows.max(), columns.min() : columns.max()].mean(axis=2)
        assert np.percentile(raw.picture[inside].mean(axis=1), 97) <= np.percentile(around, 99) + 3


@pytest.mark.parametrize("sigma", [1.5, 4.0])
def test_the_grain_on_a_hazard_is_the_pictures(sigma: float) -> None:
    plain = np.where(np.arange(HEIGHT)[:, None, None] < HEIGHT // 2, 170.0, 110.0)
    noise = np.random.Generator(np.random.PCG64(3)).normal(0, sigma, (*picture(0).shape[:2], 3))
    source = np.clip(np.rint(plain + noise), 0, 255).astype(np.uint8)
    _, raw = edit("box_truck", Setting(source=source))
    core = np.asarray(ndimage.binary_erosion(raw.object_mask > 0, iterations=4))
    for channel in range(3):
        assert grain_of(raw.picture, core, channel) == pytest.approx(grain_of(source, core, channel), rel=0.3)


def grain_of(shown: Rgb, where: np.ndarray, channel: int) -> float:
    """Return the median size of the finest detail, which edges hardly move."""
    level = shown[..., channel].astype(np.float64)
    return float(np.median(np.abs(level - ndimage.uniform_filter(level, 3))[where]))


def test_a_wet_road_mirrors_the_hazard_and_a_dry_one_does_not() -> None:
    _, dry = edit("pedestrian", Setting(description="a street by day"))
    asked, wet = edit("pedestrian", Setting(description="a street in the rain"))
    lowest = int(np.flatnonzero(wet.object_mask.any(axis=1))[-1])
    columns = np.flatnonzero(wet.object_mask.any(axis=0))
    below = (slice(lowest + 8, lowest + 40), slice(columns[0], columns[-1]))
    changes = [np.abs(raw.picture[below].astype(int) - asked.source[below]).mean() for raw in (dry, wet)]
    assert changes[1] > changes[0] + 3


def test_fog_pales_what_is_far_more_than_what_is_near() -> None:
    def contrast(x: float, description: str) -> float:
        asked = request("pedestrian", standing((x, 0.0), (0.6, 0.6, 1.75)), Setting((), None, description))
        raw = Compositor().edit(asked)
        sky = asked.source[200:220].mean()
        return abs(float(raw.picture[raw.object_mask > 0].mean()) - float(sky))

    lost = [contrast(x, "dense fog") / contrast(x, "a street by day") for x in (7.0, 30.0)]
    assert lost[1] < lost[0] - 0.1


def test_a_nearer_car_hides_a_pedestrian_by_its_body_not_by_its_box() -> None:
    """Beside a car's raked rear window its box is empty: there the hazard behind it is seen."""
    car = annotation("nearer", 8.0, 0.0, size=(4.4, 1.8, 1.5))
    placement = standing((12.0, 0.0), (0.8, 3.0, 2.0))
    free = Compositor().edit(request("crates", placement, Setting(())))
    raw = Compositor().edit(request("crates", placement, Setting((car,))))
    whole, part = (free.object_mask > 0).sum(), (raw.object_mask > 0).sum()
    assert 0 < part < 0.8 * whole
    corners, _ = request("crates", placement).model.project(car.box.corners())
    top, left, right = corners[:, 1].min(), corners[:, 0].min(), corners[:, 0].max()
    inside = raw.object_mask[int(top) + 1 : 240, int(left) + 1 : int(right)] > 0
    assert inside.sum() > 8


def test_a_hazard_behind_a_parked_car_is_partly_hidden() -> None:
    behind = standing((11.5, -3.0), (0.6, 0.6, 1.75), 1.57)
    hidden, free = (
        (Compositor().edit(request("pedestrian", behind, Setting(notes))).object_mask > 0).sum()
        for notes in (PARKED, ())
    )
    assert 0 < hidden < 0.9 * free
