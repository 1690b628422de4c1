"""Roads and junctions as meshes: carriageway, kerbs, pavements, verges, markings."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from data_registry.scene3d.mesh import Mesh, joined
from data_registry.sources.streetset import ground, vegetation
from data_registry.sources.streetset.alignment import Alignment, Reach
from data_registry.sources.streetset.world import Junction, Lane, Road, Scene, StopLine, Strip, Xy

STEP_M: Final = 2.0
FIELD: Final = ground.Finish((0.13, 0.125, 0.045), ground.GRASS.material)
LEAST_M: Final = 4.0
"""Shorter pieces of line between two crossings are left out."""
CLEAR_M: Final = 0.8
"""Lane lines end this far before a crossing and what belongs to it."""


def alignment(scene: Scene, road: Road) -> Alignment:
    """Return a road's axis with the ground's heights, sampled every STEP_M."""
    stations = np.linspace(0.0, road.axis.length, max(2, math.ceil(road.axis.length / STEP_M) + 1))
    plan = road.axis.places(stations, 0.0)
    return Alignment(np.column_stack([plan, scene.slope.heights(plan)]))


def road_mesh(scene: Scene, road: Road) -> Mesh:
    """Return a road with everything that is flat about it."""
    axis = alignment(scene, road)
    seed = sum(map(ord, scene.name + road.name))
    middles = [lane.middle for lane in road.lanes]
    parts = [ground.carriageway(axis, *road.kerbs, seed, lanes=middles)]
    parts += [part for strip in road.strips for part in _strip(axis, road, strip, seed)]
    parts += _lane_lines(scene, road, axis)
    parts += [
        ground.zebra(axis, (c.start, c.end), road.kerbs[0] + 0.3, road.kerbs[1] - 0.3)
        for c in scene.crossings
        if c.road == road.name
    ]
    parts += [_stop(axis, road, stop) for stop in scene.stop_lines if stop.road == road.name]
    parts += [ground.manhole(axis, s, middles[0] + 0.5) for s in np.arange(17.0, axis.length, 41.0).tolist()]
    parts += [ground.gully(axis, s, road.kerbs[0] + 0.28) for s in np.arange(11.0, axis.length, 25.0).tolist()]
    return joined(parts)


def _strip(axis: Alignment, road: Road, strip: Strip, seed: int) -> list[Mesh]:
    right, left = strip.right, strip.left
    if strip.kind == "bay":
        edge, kerb = (left, right) if abs(left) < abs(right) else (right, left)
        return [ground.bays(axis, kerb, edge, (0.0, axis.length), 6.2)]
    if strip.kind == "pavement":
        if left <= road.kerbs[0] + 1e-6:
            stone, slabs = ground.kerb(axis, left, -1), (right, left - ground.KERB_STONE_M)
        else:
            stone, slabs = ground.kerb(axis, right, 1), (right + ground.KERB_STONE_M, left)
        return [stone, ground.pavement(axis, *slabs, seed)]
    if strip.kind == "median":
        inside = (right + ground.KERB_STONE_M, left - ground.KERB_STONE_M)
        stones = [ground.kerb(axis, right, 1), ground.kerb(axis, left, -1)]
        return [*stones, ground.verge(axis, *inside, seed, lift=ground.KERB_M)]
    if strip.kind == "works":
        return [ground.strip(axis, right, left, ground.EARTH)]
    if strip.kind == "field":
        return [ground.strip(axis, right, left, FIELD)]
    return [ground.verge(axis, right, left, seed), vegetation.tufts(axis, right, left, (0.0, axis.length), seed)]


def _lane_lines(scene: Scene, road: Road, axis: Alignment) -> list[Mesh]:
    """Return the lines between and beside the lanes, not across crossings; bays have marks of their own."""
    bays = {t for strip in road.strips if strip.kind == "bay" for t in (strip.right, strip.left)}
    marks = {t: mark for lane in road.lanes for t, mark in _sides(lane) if mark != "NIL" and t not in bays}
    parts: list[Mesh] = []
    for reach in _clear(scene, road):
        for t, mark in marks.items():
            dashed = mark == "DOUBLE_DASHED_WHITE"
            parts.append(ground.dashes(axis, t, reach=reach) if dashed else ground.line(axis, t, reach=reach))
    return parts


def _sides(lane: Lane) -> list[tuple[float, str]]:
    return [(lane.right, lane.right_mark), (lane.left, lane.left_mark)]


def _clear(scene: Scene, road: Road) -> list[Reach]:
    """Return the stretches of a road without crossings."""
    ends = [0.0]
    for crossing in sorted((c for c in scene.crossings if c.road == road.name), key=lambda c: c.start):
        ends += [crossing.start - CLEAR_M, crossing.end + CLEAR_M]
    ends.append(road.axis.length)
    return [(low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if high - low > LEAST_M]


def _stop(axis: Alignment, road: Road, stop: StopLine) -> Mesh:
    lane = road.lane(stop.lane)
    if stop.kind == "TURN_STOP":
        return joined([])
    if stop.kind == "YIELD":
        return ground.give_way_teeth(axis, stop.start, lane.right + 0.1, lane.left - 0.1, against=not lane.forward)
    return ground.stop_bar(axis, stop.start, lane.right + 0.1, lane.left - 0.1, stop.end - stop.start)


def junction_mesh(scene: Scene, junction: Junction) -> Mesh:
    """Return a junction's asphalt, and kerbs and slabs about its corners."""
    heights = scene.slope.heights
    parts = [ground.area(np.array(junction.outline), heights, ground.ASPHALT)]
    for corner in junction.corners:
        kerb = corner[len(corner) // 2 :][::-1]
        parts.append(ground.area(np.array(corner), heights, ground.SLABS, ground.KERB_M - 0.002))
        parts.append(ground.kerb(_lifted(scene, kerb), 0.0, -1))
    return joined(parts)


def _lifted(scene: Scene, places: tuple[Xy, ...]) -> Alignment:
    plan = np.array(places)
    return Alignment(np.column_stack([plan, scene.slope.heights(plan)]))
