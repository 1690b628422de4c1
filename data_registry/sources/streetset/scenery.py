"""A scene as meshes: its ground, houses and furniture, made once, and its actors as they stand at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from data_registry.geometry import EGO_FRONT_M
from data_registry.scene3d.light import Lamp
from data_registry.scene3d.materials import Material
from data_registry.scene3d.mesh import Mesh, joined
from data_registry.scene3d.shapes import SHAPES
from data_registry.sources.streetset import buildings, fences, fittings, ground, signs, skyline, vegetation
from data_registry.sources.streetset.alignment import Alignment
from data_registry.sources.streetset.conditions import CONDITIONS, Condition, ego_headlamps, headlamps
from data_registry.sources.streetset.streets import alignment, junction_mesh, road_mesh
from data_registry.sources.streetset.world import Actor, Edging, Prop, Scene

LAMP_HEIGHT_M: Final = 0.65
BEAMS_SHOW: Final = 0.9
"""Headlamps light the road visibly from this share of full brightness on; before, they are only seen to be lit."""
TREES: Final = {"linden": 7.0, "plane": 8.5, "birch": 7.0, "poplar": 11.0, "pine": 9.5}
"""Kinds of trees and their usual heights, metres."""
FAR_M: Final = 60.0
"""Trees farther from the ego vehicle than this, at the keyframe, need not show every leaf."""
SIGNS: Final = frozenset({"no_entry", "warning", "give_way", "crossing", "stop", "speed"})
PROPS: Final[dict[str, tuple[Callable[[], Mesh], float]]] = {
    "bench": (fittings.bench, math.pi / 2),
    "bin": (fittings.litter_bin, 0.0),
    "bollard": (fittings.bollard, 0.0),
    "crates": (lambda: SHAPES["crates"](2.0, 1.4, 1.1), 0.0),
}
"""Plain things by name: how to make one, and the turn that lets it look where it shall."""


def actor_mesh(scene: Scene, actor: Actor, seconds: float) -> Mesh:
    """Return an actor's mesh in the scene's frame at a time."""
    return _shape(actor.shape, actor.size, actor.colour).placed(scene.pose(actor, seconds))


@lru_cache(maxsize=256)
def _shape(name: str, size: tuple[float, float, float], colour: tuple[float, float, float]) -> Mesh:
    return SHAPES[name](*size, colour=colour)


@lru_cache(maxsize=2)
def static_mesh(scene: Scene) -> Mesh:
    """Return everything of a scene that stands still and is no actor, scene's frame."""
    lit = condition_of(scene).lit_windows
    axes = {road.name: alignment(scene, road) for road in scene.roads}
    parts = [ground.land(tuple(axes.values()), below=0.06), *(road_mesh(scene, road) for road in scene.roads)]
    parts += [junction_mesh(scene, junction) for junction in scene.junctions]
    for row in scene.houses:
        parts.append(buildings.row(axes[row.road], row.offset, (row.start, row.end), row.style, row.seed, lit))
    parts += [_edging(edging, axes[edging.road]) for edging in scene.edgings]
    parts += [_prop_mesh(scene, prop, index) for index, prop in enumerate(scene.props)]
    parts += [_posted(scene, fittings.signal(s.state), (s.x, s.y, s.facing)) for s in scene.signals]
    if scene.roadside:
        unit = scene.roadside
        parts.append(_posted(scene, fittings.roadside_camera(unit.height), (unit.x, unit.y, unit.facing)))
    x, y, _ = scene.ego.pose(0.0)
    parts.append(skyline.skyline((x, y, scene.slope.height(x)), int(scene.name[-1]), lit=lit))
    return joined(parts)


def condition_of(scene: Scene) -> Condition:
    """Return the conditions that a scene names, the sun turned for it."""
    return CONDITIONS[scene.conditions].facing(scene.sun_turn)


@lru_cache(maxsize=2)
def _standing_lamps(scene: Scene) -> tuple[Lamp, ...]:
    posts = (prop for prop in scene.props if prop.kind == "lamp_post")
    lamp = fittings.street_lamp(lit=True)[1]
    return tuple(fittings.lamp_at(lamp, scene.on_ground(_lamp_pose(post), post.rise, upright=True)) for post in posts)


def lamps(scene: Scene, seconds: float) -> tuple[Lamp, ...]:
    """Return street lamps, and by night the beams of vehicles in traffic, the ego vehicle's too; none by day."""
    condition = condition_of(scene)
    if not condition.lamps_lit:
        return ()
    if condition.lamp_share < BEAMS_SHOW:
        return _standing_lamps(scene)
    driving = [a for a in scene.actors if a.attribute in {"vehicle.moving", "vehicle.stopped"}]
    fronts = [(scene.pose(a, seconds), a.size[0] / 2) for a in driving]
    fronts.append((scene.ego_pose(seconds), EGO_FRONT_M))
    beams: list[Lamp] = []
    for number, (pose, front) in enumerate(fronts):
        x, y, z = pose.apply(np.array([[front + 0.05, 0.0, LAMP_HEIGHT_M]]))[0].tolist()
        shine = ego_headlamps if number == len(driving) else headlamps
        beams.extend(shine((x, y, z), pose.yaw))
    return (*_standing_lamps(scene), *beams)


def things(scene: Scene, seconds: float) -> tuple[Mesh, ...]:
    """Return the meshes of all actors at a time, with their lamps lit where traffic has them on."""
    lit = condition_of(scene).lamps_lit
    return tuple(
        joined([actor_mesh(scene, actor, seconds), *(_lit_lamps(scene, actor, seconds) if lit else ())])
        for actor in scene.actors
    )


def _lit_lamps(scene: Scene, actor: Actor, seconds: float) -> list[Mesh]:
    """Return the glowing faces of a vehicle in traffic: white in front, red behind."""
    if actor.attribute not in {"vehicle.moving", "vehicle.stopped"}:
        return []
    length, width, height = actor.size
    level = min(0.75, 0.46 * height)
    faces = [
        _pane(side * length / 2 * 1.002, y * 0.36 * width, level, colour)
        for side, colour in ((1.0, (3.0, 2.8, 2.4)), (-1.0, (0.9, 0.02, 0.015)))
        for y in (-1.0, 1.0)
    ]
    return [joined(faces).made_of(Material.GLOWING).placed(scene.pose(actor, seconds))]


def _pane(x: float, y: float, z: float, colour: tuple[float, float, float]) -> Mesh:
    corners = np.array([(x, y + dy, z + dz) for dy, dz in ((-0.11, -0.05), (0.11, -0.05), (0.11, 0.05), (-0.11, 0.05))])
    return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), np.array([colour, colour]))


def _posted(scene: Scene, mesh: Mesh, place: tuple[float, float, float], rise: float = ground.KERB_M) -> Mesh:
    """Return a thing that looks to its -x, placed so that it looks to a direction."""
    x, y, facing = place
    return mesh.placed(scene.on_ground((x, y, facing + math.pi), rise, upright=True))


def _prop_mesh(scene: Scene, prop: Prop, number: int) -> Mesh:
    if prop.kind in SIGNS:
        return _posted(scene, signs.sign(prop.kind), (prop.x, prop.y, prop.facing), prop.rise)
    if prop.kind == "lamp_post":
        post = fittings.street_lamp(lit=condition_of(scene).lamps_lit)[0]
        return post.placed(scene.on_ground(_lamp_pose(prop), prop.rise, upright=True))
    pose = scene.on_ground((prop.x, prop.y, prop.facing), prop.rise, upright=True)
    if prop.kind in TREES:
        return _tree(scene, prop, number).placed(pose)
    if prop.kind == "bush":
        return vegetation.bush((1.6, 1.5, 1.2), number % 7).placed(pose)
    make, turn = PROPS[prop.kind]
    return make().placed(scene.on_ground((prop.x, prop.y, prop.facing + turn), prop.rise, upright=True))


def _tree(scene: Scene, prop: Prop, number: int) -> Mesh:
    """Return a tree; one that the ego vehicle never comes near has fewer and larger leaves."""
    tall = TREES[prop.kind] * (0.85 + 0.06 * (number * 7 % 6))
    x, y, _ = scene.ego.pose(0.0)
    detail = 0.2 if math.hypot(prop.x - x, prop.y - y) > FAR_M else 1.0
    return vegetation.tree(prop.kind, TREES[prop.kind], number % 5, detail).scaled(tall / TREES[prop.kind])


def _lamp_pose(prop: Prop) -> tuple[float, float, float]:
    """Return the pose of a lamp post: its arm, along +y, reaches to where it looks."""
    return prop.x, prop.y, prop.facing - math.pi / 2


def _edging(edging: Edging, axis: Alignment) -> Mesh:
    reach = (edging.start, edging.end)
    if edging.kind == "hedge":
        return vegetation.hedge(axis, edging.offset, reach)
    if edging.kind == "guard_rail":
        return fences.guard_rail(axis, edging.offset, reach)
    if edging.kind == "posts":
        return fences.posts(axis, edging.offset, reach, (12.0, 0.05, 0.95), (0.6, 0.6, 0.58))
    return fences.fence(axis, edging.offset, reach, edging.kind)
