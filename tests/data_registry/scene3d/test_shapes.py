"""Standing shapes fill the box they are asked for, stand on the ground, hold together and are the same every time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from data_registry.geometry import GeometryError
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh
from data_registry.scene3d.shapes import MOUNTED, SHAPES, building

SIZES = {
    "ball": ((0.22, 0.22, 0.22), (0.3, 0.28, 0.3)),
    "barrier": ((0.45, 2.0, 1.0), (0.5, 1.2, 1.1)),
    "barrier_row": ((8.0, 0.5, 1.1), (6.0, 0.5, 1.0), (10.0, 0.6, 1.2)),
    "bicycle": ((1.75, 0.6, 1.05), (1.6, 0.5, 1.1)),
    "box_truck": ((7.0, 2.4, 3.1), (5.5, 2.2, 2.6), (9.5, 2.55, 3.6)),
    "broken_down_car": ((5.2, 1.8, 1.7), (4.8, 1.75, 1.6)),
    "bus": ((11.0, 2.55, 3.2), (9.0, 2.5, 3.0), (12.5, 2.9, 3.4)),
    "car": ((4.4, 1.8, 1.5), (3.7, 1.65, 1.5)),
    "car_door": ((1.1, 0.2, 1.1), (1.3, 0.25, 1.25)),
    "child": ((0.7, 0.45, 1.15), (0.5, 0.5, 1.35)),
    "cone": ((0.4, 0.4, 0.75), (0.3, 0.3, 0.5)),
    "construction_worker": ((0.6, 0.6, 1.8), (0.7, 0.7, 1.75)),
    "crates": ((1.6, 1.8, 1.2), (2.4, 2.2, 1.0)),
    "cyclist": ((1.8, 0.65, 1.75), (1.7, 0.6, 1.65)),
    "deer": ((1.7, 0.5, 1.6), (1.3, 0.45, 1.3)),
    "dog": ((0.9, 0.3, 0.65), (0.7, 0.25, 0.5)),
    "excavator": ((6.5, 2.4, 3.0), (7.5, 2.5, 2.9)),
    "fallen_tree": ((2.5, 5.0, 1.6), (1.8, 3.4, 1.2)),
    "motorcyclist": ((2.1, 0.8, 1.55), (2.2, 0.75, 1.6)),
    "pedestrian": ((0.7, 0.6, 1.75), (0.45, 0.5, 1.6), (0.9, 0.7, 1.9)),
    "portable_signal": ((1.0, 1.0, 2.6), (1.2, 1.0, 2.2)),
    "saloon": ((4.7, 1.85, 1.45), (5.0, 1.9, 1.5)),
    "signal_head": ((0.30, 0.35, 0.95), (0.4, 0.4, 1.1)),
    "signal_post": ((0.45, 0.40, 3.2), (0.6, 0.5, 3.6)),
    "suv": ((4.6, 1.9, 1.7), (4.2, 1.85, 1.65)),
    "traffic_controller": ((0.6, 0.8, 2.1), (0.7, 0.8, 2.15)),
    "van": ((5.3, 2.0, 2.2), (4.8, 1.95, 2.0)),
    "works_barrier": ((1.0, 3.2, 1.3), (1.2, 2.6, 1.4), (0.8, 3.6, 1.1)),
}
CASES = [(name, size) for name in sorted(SHAPES) for size in SIZES[name]]
MIRRORED = ("ball", "broken_down_car", "car", "cone", "saloon", "signal_head", "suv", "van")
GAP_M = 0.02
HEAD = (0.30, 0.35, 0.95)


def _bounds(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    return mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)


def _floating_parts(mesh: Mesh) -> list[float]:
    """Return the lowest z of every part that neither touches the ground nor anything that does (within GAP_M).

    Faces are sampled as finely as the gap; samples in neighbouring cells of its size touch.
    """
    samples, owners = _samples(mesh, GAP_M)
    cell = np.floor(samples / GAP_M).astype(np.int64) + 2000
    keys, place = np.unique((cell[:, 0] << 40) + (cell[:, 1] << 20) + cell[:, 2], return_inverse=True)
    starts, ends = [place.ravel()], [len(keys) + owners]
    for i, j, k in itertools.product((-1, 0, 1), repeat=3):
        near = keys + (i << 40) + (j << 20) + k
        at = np.minimum(np.searchsorted(keys, near), len(keys) - 1)
        found = np.flatnonzero(keys[at] == near)
        starts.append(found)
        ends.append(at[found])
    start, end = np.concatenate(starts), np.concatenate(ends)
    size = len(keys) + int(owners.max()) + 1
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(size, size))
    labels: Any = connected_components(graph, directed=False)[1]
    mine = labels[place.ravel()]
    grounded = np.unique(mine[samples[:, 2] < GAP_M])
    return [float(samples[mine == label][:, 2].min()) for label in np.setdiff1d(mine, grounded)]


def _samples(mesh: Mesh, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points all over the faces, and the number of the face's connected part for each."""
    start, end = mesh.faces.ravel(), np.roll(mesh.faces, 1, axis=1).ravel()
    size = len(mesh.vertices)
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(size, size))
    parts: Any = connected_components(graph, directed=False)[1]
    triangles = mesh.triangles()
    longest = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2).argmax(axis=1)
    order = (longest[:, None] + np.arange(3)) % 3
    one, other, tip = np.moveaxis(np.take_along_axis(triangles, order[:, :, None], axis=1), 1, 0)
    base = np.maximum(np.linalg.norm(other - one, axis=1), 1e-9)
    rise = np.linalg.norm(np.cross(other - one, tip - one), axis=1) / base
    steps = np.maximum(1, np.ceil(np.column_stack([base, rise]) / spacing)).astype(np.int64)
    points, owners = [], []
    shapes, group = np.unique(steps, axis=0, return_inverse=True)
    for number, (along, up) in enumerate(shapes.tolist()):
        u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, along + 1), np.linspace(0, 1, up + 1)))
        chosen = np.flatnonzero(group.ravel() == number)
        weights = np.column_stack([(1 - v) * (1 - u), (1 - v) * u, v])
        corners = np.stack([one[chosen], other[chosen], tip[chosen]], axis=1)
        points.append(np.einsum("wk,mkc->mwc", weights, corners).reshape(-1, 3))
        owners.append(np.repeat(parts[mesh.faces[chosen, 0]], len(weights)))
    return np.concatenate(points), np.concatenate(owners)


@pytest.mark.parametrize(("name", "size"), CASES)
def test_a_standing_shape_fills_its_box_and_stands_on_the_ground(name: str, size: tuple[float, float, float]) -> None:
    low, high = _bounds(SHAPES[name](*size))
    assert low.tolist() == pytest.approx([-size[0] / 2, -size[1] / 2, 0.0], abs=1e-9)
    assert high.tolist() == pytest.approx([size[0] / 2, size[1] / 2, size[2]], abs=1e-9)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_standing_shape_has_few_enough_faces_to_draw_and_enough_to_look_like_itself(name: str) -> None:
    assert 90 <= len(SHAPES[name](*SIZES[name][0]).faces) <= 4600


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_no_part_of_a_standing_shape_floats(name: str) -> None:
    assert _floating_parts(SHAPES[name](*SIZES[name][0])) == []


def test_a_part_that_floats_is_found() -> None:
    shape = SHAPES["cone"](0.4, 0.4, 0.75)
    lifted = Mesh(shape.vertices + np.array([0.0, 0.0, 0.05]), shape.faces, shape.colours)
    assert _floating_parts(lifted)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_colours_are_reflectances_and_materials_more_than_one_thing(name: str) -> None:
    mesh = SHAPES[name](*SIZES[name][0])
    assert mesh.colours.min() >= 0.0
    assert mesh.colours.max() <= 1.0
    assert len(np.unique(mesh.colours, axis=0)) >= 2


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_same_size_gives_the_same_shape(name: str) -> None:
    one, again = (SHAPES[name](*SIZES[name][-1]) for _ in range(2))
    assert np.array_equal(one.vertices, again.vertices)
    assert np.array_equal(one.faces, again.faces)
    assert np.array_equal(one.colours, again.colours)
    assert np.array_equal(one.materials, again.materials)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_colour_asked_for_is_seen(name: str) -> None:
    wanted = (0.111, 0.222, 0.333)
    mesh = SHAPES[name](*SIZES[name][0], colour=wanted)
    parallel = np.cross(mesh.colours, wanted)
    assert (np.linalg.norm(parallel, axis=1) < 1e-9).any()


@pytest.mark.parametrize("name", MIRRORED)
def test_a_symmetric_shape_is_its_own_mirror_image(name: str) -> None:
    # The stay of the open bonnet and what lies under it are on one side.
    vertices = SHAPES[name](*SIZES[name][0]).vertices
    if name == "broken_down_car":
        vertices = vertices[(vertices[:, 0] < 0.0)]
    apart, _ = KDTree(vertices).query(vertices * (1, -1, 1))
    assert apart.max() < 1e-6


@pytest.mark.parametrize(
    ("name", "material"),
    [
        *[(name, Material.PAINTWORK) for name in ("bus", "box_truck", "car", "car_door", "excavator", "suv", "van")],
        *[(name, Material.GLASS) for name in ("bus", "box_truck", "car", "car_door", "excavator", "saloon", "van")],
        *[(name, Material.SKIN) for name in ("child", "cyclist", "pedestrian", "traffic_controller")],
        *[(name, Material.GLOWING) for name in ("broken_down_car", "portable_signal", "signal_head", "signal_post")],
        *[(name, Material.GLOWING) for name in ("barrier_row", "works_barrier")],
        ("fallen_tree", Material.FOLIAGE),
    ],
)
def test_a_shape_is_made_of_what_it_should_be(name: str, material: Material) -> None:
    assert (SHAPES[name](*SIZES[name][0]).materials == material).any()


def test_only_a_car_in_trouble_has_its_hazard_lights_lit() -> None:
    lit = [(SHAPES[name](*SIZES[name][0]).materials == Material.GLOWING).sum() for name in ("car", "broken_down_car")]
    assert lit[0] == 0
    assert lit[1] >= 48


def test_a_broken_down_car_has_its_triangle_behind_it_and_its_bonnet_above_its_roof() -> None:
    mesh = SHAPES["broken_down_car"](5.2, 1.8, 1.7)
    behind = mesh.vertices[mesh.vertices[:, 0] < -2.3]
    assert behind[:, 2].max() < 0.6
    assert np.abs(behind[:, 1]).max() < 0.4
    highest = mesh.vertices[mesh.vertices[:, 2] > 1.65]
    assert highest[:, 0].min() > 0.5


@pytest.mark.parametrize("name", ["signal_head", "signal_post", "portable_signal"])
def test_a_signal_shines_red_towards_plus_x(name: str) -> None:
    mesh = SHAPES[name](*SIZES[name][0])
    lit = mesh.materials == Material.GLOWING
    assert (mesh.colours[lit][:, 0] > 5 * mesh.colours[lit][:, 1]).all()
    triangles = mesh.triangles()
    housing = triangles[~lit & (triangles[:, :, 2].mean(axis=1) > 0.8 * mesh.vertices[:, 2].max())]
    assert triangles[lit][:, :, 0].mean() > housing[:, :, 0].mean()


@pytest.mark.parametrize("name", sorted(MOUNTED))
@pytest.mark.parametrize("underside", [2.1, 1.4, 3.0])
def test_a_mounted_signal_has_its_head_in_the_box_and_stands_on_the_ground(name: str, underside: float) -> None:
    mesh = MOUNTED[name](*HEAD, underside)
    top = np.array([HEAD[0] / 2, HEAD[1] / 2, underside + HEAD[2]])
    head = SHAPES["signal_head"](*HEAD).vertices
    assert np.allclose(mesh.vertices[: len(head)], head + np.array([0, 0, underside]))
    assert mesh.vertices[:, 2].min() == pytest.approx(0.0, abs=1e-9)
    assert mesh.vertices[:, 2].max() == pytest.approx(top[2])
    assert mesh.vertices[mesh.vertices[:, 2] > underside][:, 0].max() == pytest.approx(top[0])
    assert _floating_parts(mesh) == []


def test_a_mounted_signal_on_the_ground_is_refused() -> None:
    with pytest.raises(GeometryError, match=r"0\.5 m"):
        MOUNTED["signal_post"](*HEAD, 0.1)


def test_a_building_fills_its_box() -> None:
    low, high = _bounds(building(12, 9, 10))
    assert np.allclose(high - low, (12, 9, 10), atol=0.03)


@pytest.mark.parametrize("size", [(0.55, 0.60, 1.75), (0.80, 0.62, 1.68)])
def test_both_feet_of_a_walking_adult_touch_the_ground(size: tuple[float, float, float]) -> None:
    vertices = SHAPES["pedestrian"](*size).vertices
    lowest = [float(vertices[vertices[:, 1] * side > 0.02, 2].min()) for side in (1, -1)]
    assert lowest == pytest.approx([0.0, 0.0], abs=0.005)
