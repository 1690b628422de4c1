from __future__ import annotations

import numpy as np
import pytest

from data_registry.scene3d.materials import Material
from data_registry.sources.streetset.buildings import STYLES, row
from data_registry.sources.streetset.skyline import skyline
from tests.data_registry.sources.streetset.scenery import climbing_bend, offsets_of, straight

AWNING_M = 0.91


@pytest.mark.parametrize("style", sorted(STYLES))
@pytest.mark.parametrize("offset", [9.0, -9.0])
def test_no_row_comes_nearer_than_its_offset_but_for_awnings_and_eaves(style: str, offset: float) -> None:
    for axis in (straight(), climbing_bend()):
        houses = row(axis, offset, (0.0, axis.length), style, seed=3)
        _, across, _ = offsets_of(axis, houses.vertices)
        assert (across * np.sign(offset)).min() > 9.0 - AWNING_M


@pytest.mark.parametrize("style", sorted(STYLES))
def test_houses_stand_in_the_ground_along_a_slope(style: str) -> None:
    axis = climbing_bend()
    houses = row(axis, 9.0, (0.0, axis.length), style, seed=1)
    low = houses.vertices[:, 2] < axis.at([0.0])[0, 2] - 0.5
    assert low.any()
    stations, across, lift = offsets_of(axis, houses.vertices)
    for start in np.arange(5.0, 75.0, 10.0):
        front = (np.abs(stations - start) < 12.0) & (across < 12.0)
        assert not front.any() or lift[front].min() < -0.3


def test_the_walls_at_the_ends_of_a_town_row_have_windows() -> None:
    axis = straight()
    houses = row(axis, 8.0, (0.0, 80.0), "town", seed=2)
    panes = houses.vertices[houses.faces[houses.materials == Material.GLASS]]
    sideways = np.ptp(panes[:, :, 0], axis=1) < 1e-6
    for end in (houses.vertices[:, 0].min(), houses.vertices[:, 0].max()):
        assert (sideways & (np.abs(panes[:, 0, 0] - end) < 0.1)).sum() >= 12


def test_neighbours_of_a_town_row_touch_and_differ_in_height() -> None:
    axis = straight()
    houses = row(axis, 8.0, (0.0, 80.0), "town", seed=2)
    front = houses.vertices[np.abs(houses.vertices[:, 1] - 8.0) < 0.01]
    tops = [front[(front[:, 0] >= x) & (front[:, 0] < x + 8.0), 2].max() for x in np.arange(0.0, 80.0, 8.0)]
    assert max(tops) - min(tops) > 2.0
    assert np.diff(np.unique(front[:, 0])).max() < 3.0


def test_windows_are_glass_by_day_and_the_asked_share_glows_at_night() -> None:
    axis = straight()

    def glowing(lit: float) -> float:
        materials = row(axis, 8.0, (0.0, 80.0), "offices", seed=4, lit=lit).materials
        # A lit window is two panes of light.
        lamps, panes = (materials == Material.GLOWING).sum() / 2, (materials == Material.GLASS).sum()
        return float(lamps / (lamps + panes))

    assert glowing(0.0) == 0.0
    assert glowing(0.3) == pytest.approx(0.3, abs=0.12)
    assert glowing(1.0) == 1.0


def test_equal_arguments_give_equal_houses_and_another_seed_gives_others() -> None:
    one, two, other = (row(straight(), 8.0, (0.0, 60.0), "town", seed) for seed in (5, 5, 6))
    assert np.array_equal(one.vertices, two.vertices)
    assert np.array_equal(one.colours, two.colours)
    assert one.vertices.shape != other.vertices.shape or not np.array_equal(one.vertices, other.vertices)


def test_the_skyline_closes_the_horizon_all_around() -> None:
    ring = skyline((10.0, 20.0, 1.0), radius=300.0)
    away = ring.vertices - (10.0, 20.0, 1.0)
    distance = np.hypot(away[:, 0], away[:, 1])
    assert distance.min() > 200.0
    high = away[:, 2] > 5.0
    angles = np.sort(np.arctan2(away[high, 1], away[high, 0]))
    assert np.diff(angles).max() < 0.08
    assert away[:, 2].min() < -10.0
