"""Faults of place: the hazard drawn elsewhere, in another size or floating, and placements where no hazard may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

from data_registry import silhouettes
from data_registry.cameras import pinhole
from data_registry.courses import union_of
from data_registry.geometry import Array, PinholeCamera, yaw_rotation
from data_registry.projection import full_outline
from data_registry.records import Attached, Box, Keyframe, Mounted, Placement, Standing
from tasks.items import Screened


@dataclass(frozen=True, slots=True)
class Misplacement:
    """One kind of wrong place or size."""

    name: str
    strengths: tuple[float, ...]
    """From weak to strong."""
    unit: str
    place: Callable[[Screened, float], Placement | None]
    """Gives where to draw; None where the hazard cannot be misplaced so."""
    intended: bool = False
    """Whether the edit is measured against that place, a wrong placement, instead of the right one."""


def moved(placement: Placement, offset: Array) -> Placement:
    """Return a placement elsewhere; offset (3,) in the ego frame, metres, of which surfaces use the plan."""
    if placement.kind == "surface":
        ring = np.asarray(placement.polygon) + offset[:2]
        return placement.model_copy(update={"polygon": tuple((float(x), float(y)) for x, y in ring)})
    return _with_box(placement, np.asarray(placement.box.centre) + offset, 1.0)


def scaled(placement: Placement, factor: float) -> Placement:
    """Return a placement of another size on the same foot; a surface keeps its middle."""
    if placement.kind == "surface":
        ring = np.asarray(placement.polygon)
        ring = ring.mean(axis=0) + factor * (ring - ring.mean(axis=0))
        return placement.model_copy(update={"polygon": tuple((float(x), float(y)) for x, y in ring)})
    centre: Array = np.array(placement.box.centre)
    centre[2] += (factor - 1) * placement.box.size[2] / 2
    return _with_box(placement, centre, factor)


def _with_box(placement: Standing | Mounted | Attached, centre: Array, factor: float) -> Placement:
    x, y, z = centre.tolist()
    length, width, height = (factor * extent for extent in placement.box.size)
    box = Box(centre=(x, y, z), size=(length, width, height), rotation=placement.box.rotation)
    return placement.model_copy(update={"box": box})


def _sight(item: Screened, placement: Placement) -> Array:
    """Return the plan direction (3,) of length 1 in which the first view sees the placement."""
    keyframe = item.combination.keyframe
    eye = pinhole(keyframe, keyframe.view(item.screening.views[0])).position[:2]
    away = np.asarray(silhouettes.placement_footprint(placement).centroid.coords[0]) - eye
    return np.array([*(away / np.linalg.norm(away)), 0.0])


def _placed(item: Screened) -> Placement:
    if item.screening.placement is None:
        raise ValueError(f"{item.id} has no placement")
    return item.screening.placement


def _along(item: Screened, metres: float) -> Placement:
    return moved(_placed(item), metres * _sight(item, _placed(item)))


def _across(item: Screened, metres: float) -> Placement:
    x, y, _ = _sight(item, _placed(item))
    return moved(_placed(item), metres * np.array([-y, x, 0.0]))


def _lifted(item: Screened, metres: float) -> Placement | None:
    return None if _placed(item).kind == "surface" else moved(_placed(item), np.array([0.0, 0.0, metres]))


def _scaled(item: Screened, factor: float) -> Placement:
    return scaled(_placed(item), factor)


def _on_object(item: Screened, share: float) -> Placement | None:
    """Return the placement so far towards the nearest annotated object ahead that it stands in it."""
    placement, keyframe = _placed(item), item.combination.keyframe
    if placement.kind not in ("standing", "surface"):
        return None
    here = np.asarray(silhouettes.placement_footprint(placement).centroid.coords[0])
    spots = [np.asarray(note.box.centre[:2]) for note in keyframe.annotations if 6 < note.box.centre[0] < 40]
    if not spots:
        return None
    there = min(spots, key=lambda spot: float(np.linalg.norm(spot - here)))
    return moved(placement, np.array([*(share * (there - here)), 0.0]))


def _off_road(item: Screened, metres: float) -> Placement | None:
    """Return the placement that far beyond the right edge of the road."""
    placement, keyframe = _placed(item), item.combination.keyframe
    if placement.kind not in ("standing", "surface") or not keyframe.map.drivable:
        return None
    if placement.kind == "standing" and placement.surface == "pavement":
        return None
    road: Any = union_of(keyframe.map.drivable)
    for side in np.arange(0.0, -20.0, -0.25):
        found = moved(placement, np.array([0.0, side, 0.0]))
        footprint = silhouettes.placement_footprint(found)
        if not shapely.intersects(footprint, road):
            return moved(found, np.array([0.0, -metres, 0.0]))
    return None


def _truncated(item: Screened, share: float) -> Placement | None:
    """Return the placement so far to the side that the first view's edge cuts off at least such a share of it."""
    placement, keyframe = _placed(item), item.combination.keyframe
    model = pinhole(keyframe, keyframe.view(item.screening.views[0]))
    x, y, _ = _sight(item, placement)
    for metres in np.arange(0.0, 40.0, 0.1):
        found = moved(placement, metres * np.array([-y, x, 0.0]))
        outline = full_outline(silhouettes.placement_points(found, keyframe.ground), model)
        if outline.is_empty:
            return None
        inside: Any = shapely.intersection(outline, silhouettes.frame(model))
        if 1 - inside.area / outline.area >= share:
            return found if inside.area > 150 else None
    return None


MISPLACEMENTS: Final = (
    Misplacement("moved away", (0.5, 1, 2, 3), "m", _along),
    Misplacement("moved nearer", (0.5, 1, 2, 3), "m", lambda item, metres: _along(item, -metres)),
    Misplacement("moved sideways", (0.5, 1, 2, 3), "m", _across),
    Misplacement("floating", (0.2, 0.4, 0.8), "m", _lifted),
    Misplacement("too small", (0.8, 0.7, 0.5), "times", _scaled),
    Misplacement("too large", (1.25, 1.5, 2), "times", _scaled),
    Misplacement("on another object", (0.8, 1), "of the way to its middle", _on_object, intended=True),
    Misplacement("off the road", (0, 1, 2), "m beyond its edge", _off_road, intended=True),
    Misplacement("truncated", (0.5, 0.75, 0.9), "of the outline", _truncated, intended=True),
)

TURNS: Final = np.radians([sign * degrees for degrees in range(20, 50, 2) for sign in (1, -1)])
"""Where between two cameras' middles a hazard is looked for, radians."""
LEAST_HIDDEN: Final = 0.2
"""Share of a half hidden hazard that is hidden at least."""
LARGEST_CUT: Final = 0.4
"""Of a hazard in two views either picture's edge cuts off less."""


def in_two_views(item: Screened) -> Screened | None:
    """Return an item with its placement turned round the ego until two views see it; None when there is no such."""
    placement, keyframe = _placed(item), item.combination.keyframe
    if placement.kind == "attached":
        return None
    here = np.asarray(silhouettes.placement_footprint(placement).centroid.coords[0])
    for turn in TURNS.tolist():
        there = yaw_rotation(turn)[:2, :2] @ here
        found = moved(placement, np.array([*(there - here), 0.0]))
        sensors = _seeing(keyframe, found)
        if len(sensors) == 2:
            return Screened(item.combination, item.screening.model_copy(update={"placement": found, "views": sensors}))
    return None


def half_hidden(item: Screened) -> Screened | None:
    """Return an item with its placement moved behind the edge of an annotated object; None when there is no such."""
    placement, keyframe = _placed(item), item.combination.keyframe
    if placement.kind == "surface" or placement.kind == "attached":
        return None
    size = max(placement.box.size[:2])
    camera = keyframe.view(item.screening.views[0])
    model = pinhole(keyframe, camera)
    here = np.asarray(silhouettes.placement_footprint(placement).centroid.coords[0])
    for note in keyframe.annotations:
        away = np.array(note.box.centre[:2]) - model.position[:2]
        sight = away / np.linalg.norm(away)
        behind = max(note.box.size[:2]) / 2 + size / 2 + 1.0
        beside = 0.5 * min(note.box.size[:2]) * np.array([-sight[1], sight[0]])
        there = np.array(note.box.centre[:2]) + behind * sight + beside
        found = moved(placement, np.array([*(there - here), 0.0]))
        if camera.sensor_id in _seeing(keyframe, found) and LEAST_HIDDEN < _hidden_share(keyframe, model, found) < 0.7:
            changed = {"placement": found, "views": (camera.sensor_id,)}
            return Screened(item.combination, item.screening.model_copy(update=changed))
    return None


def _hidden_share(keyframe: Keyframe, model: PinholeCamera, placement: Placement) -> float:
    """Return which share of a placement's outline nearer annotated objects' outlines cover."""
    seen = full_outline(silhouettes.placement_points(placement, keyframe.ground), model)
    footprint = silhouettes.placement_footprint(placement)
    before = silhouettes.outlines_before(model, footprint, seen, keyframe.annotations)
    hidden: Any = shapely.intersection(shapely.union_all(before), seen)
    return float(hidden.area) / seen.area


def _seeing(keyframe: Keyframe, placement: Placement) -> tuple[str, ...]:
    """Return the cameras that see most of a placement, largest projection first."""
    points, areas = silhouettes.placement_points(placement, keyframe.ground), dict[str, float]()
    for camera in keyframe.cameras:
        if camera.frame_offset == 0:
            model = pinhole(keyframe, camera)
            outline = full_outline(points, model)
            inside: Any = shapely.intersection(outline, silhouettes.frame(model))
            if outline.area and inside.area > (1 - LARGEST_CUT) * outline.area:
                areas[camera.sensor_id] = float(inside.area)
    return tuple(sorted(areas, key=lambda name: (-areas[name], name)))


APART: Final = Misplacement("moved away in one view", (0.5, 1, 2, 3), "m", _along)
"""A fault of hazards in two views: the second alone is drawn so."""

TRIFLES: Final = (
    Misplacement("0.25 m away", (0.25,), "m", _along),
    Misplacement("0.25 m sideways", (-0.25,), "m", _across),
    Misplacement("6 % larger", (1.06,), "times", _scaled),
    Misplacement("6 % smaller", (0.94,), "times", _scaled),
)
"""What is no fault: good edits so far off must still pass."""
