from __future__ import annotations

import numpy as np
import pytest

from data_registry.geometry import Transform, yaw_rotation
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.sources.streetset import fences, fittings, signs
from tests.data_registry.sources.streetset.scenery import climbing_bend, offsets_of

KINDS = ("no_entry", "warning", "give_way", "crossing", "stop", "speed")


def glowing(mesh: Mesh) -> np.ndarray:
    return mesh.colours[mesh.materials == Material.GLOWING]


@pytest.mark.parametrize(("state", "channel"), [("red", 0), ("green", 1)])
def test_a_signal_shows_its_one_state_and_nothing_else_glows(state: str, channel: int) -> None:
    lit = glowing(fittings.signal(state))
    assert len(lit)
    assert (lit.argmax(axis=1) == channel).all()
    assert not len(glowing(fittings.signal("off")))


def test_red_is_the_highest_lens_and_a_mast_repeats_it_above_the_road() -> None:
    def level(state: str, arm: float) -> float:
        mesh = fittings.signal(state, arm)
        return float(mesh.triangles()[mesh.materials == Material.GLOWING][:, :, 2].max())

    assert level("red", 0.0) > level("amber", 0.0) > level("green", 0.0)
    assert level("red", 4.0) > 5.0
    mast = fittings.signal("red", 4.0)
    assert mast.triangles()[mast.materials == Material.GLOWING][:, :, 1].max() == pytest.approx(4.1, abs=0.05)


def test_a_street_lamp_glows_only_when_lit_and_its_light_hangs_below_its_head() -> None:
    dark, lamp = fittings.street_lamp(6.5, 1.5, lit=False)
    assert not len(glowing(dark))
    assert len(glowing(fittings.street_lamp(6.5, 1.5, lit=True)[0]))
    assert lamp.position.tolist() == pytest.approx([0.0, 1.5, 6.4])
    moved = fittings.lamp_at(lamp, Transform(yaw_rotation(np.pi), np.array([10.0, 0.0, 1.0])))
    assert moved.position == pytest.approx([10.0, -1.5, 7.4])
    assert moved.direction == pytest.approx([0.0, 0.0, -1.0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_sign_shows_its_face_to_who_comes_along_x_and_a_grey_back(kind: str) -> None:
    mesh = signs.sign(kind)
    face = mesh.triangles()[mesh.materials == Material.MARKING]
    colours = mesh.colours[mesh.materials == Material.MARKING]
    front, back = face[:, :, 0].min(axis=1) < 0.001, face[:, :, 0].max(axis=1) > 0.004
    assert np.ptp(colours[front], axis=1).max() > 0.2
    assert back.any()
    assert np.ptp(colours[back], axis=1).max() < 0.05
    assert 1.8 < face[:, :, 2].min() < face[:, :, 2].max() < 3.2


def test_small_things_stand_on_the_ground() -> None:
    things = [fittings.bollard(), fittings.litter_bin(), fittings.bench(), fittings.roadside_camera()]
    for mesh in [*things, fittings.power_pole(), signs.billboard()]:
        assert -0.6 < mesh.vertices[:, 2].min() <= 0.0


def test_wires_hang_between_their_poles() -> None:
    poles = [Transform(np.eye(3), np.array([x, 0.0, 0.0])) for x in (0.0, 30.0)]
    wires = fittings.wires(poles, 8.5)
    assert wires.vertices[:, 0].min() == pytest.approx(0.0)
    assert wires.vertices[:, 0].max() == pytest.approx(30.0)
    middle = np.abs(wires.vertices[:, 0] - 15.0) < 0.1
    assert wires.vertices[middle, 2].max() < 8.5 - 0.25 - 0.5


@pytest.mark.parametrize("kind", ["iron", "wood", "works", "wall"])
def test_fences_and_rails_follow_a_climbing_bend(kind: str) -> None:
    axis = climbing_bend()
    for mesh in (fences.fence(axis, 7.0, (10.0, 40.0), kind), fences.guard_rail(axis, 7.0, (10.0, 40.0))):
        stations, across, lift = offsets_of(axis, mesh.vertices)
        assert np.abs(across - 7.0).max() < 0.25
        assert 9.8 < stations.min() < stations.max() < 40.2
        assert lift.min() < 0.2
        assert 0.7 < lift.max() < 2.1
