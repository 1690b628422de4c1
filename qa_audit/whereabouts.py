"""Checks of what else is where a hazard is: annotated objects, and ground that is no road."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely
from shapely import affinity

from data_registry import silhouettes
from data_registry.records import Box
from qa_audit import evidence
from qa_audit.evidence import Reading, ViewSubject

CORE: Final = 0.75
"""Of an object's outline this share of its height and width, around its middle, is surely the object."""
LEAST_CORE_PX: Final = 20
"""Smaller parts tell nothing."""
EDGE_M: Final = 0.1
"""How well the edge of drivable ground is known: a pixel of the map mask."""


def over_nearer_share(view: ViewSubject) -> Reading:
    """Return which share of the placement's outline that nearer annotated objects surely hide shows the hazard."""
    camera, outline = view.expected.camera, view.expected.outline
    cores = silhouettes.fill(camera, [affinity.scale(before, CORE, CORE) for before in view.expected.before])
    hidden = cores & silhouettes.fill(camera, [outline])
    area = int(hidden.sum())
    if area < LEAST_CORE_PX:
        return Reading(None, "no annotated object hides the placement")
    return Reading(float((hidden & view.pixels.object_mask).sum()) / area)


def footprint_overlap(view: ViewSubject) -> Reading:
    """Return how much the hazard's footprint, where it is found, and an annotated object's overlap, the worst one's.

    It is the share of the smaller of the two.
    """
    if not silhouettes.has_area(view.footprint):
        return Reading(None, evidence.NO_FOOTPRINT)
    found, note = found_footprint(view)
    near = [other.box for other in view.others if _may_touch(other.box, found.bounds)]
    others = [shape for shape in (shapely.Polygon(box.footprint()) for box in near) if silhouettes.has_area(shape)]
    shares = [_area(shapely.intersection(found, other)) / min(_area(found), _area(other)) for other in others]
    return Reading(max(shares, default=0.0), note)


def off_drivable_share(view: ViewSubject) -> Reading:
    """Return which share of the hazard's footprint, where it is found, lies outside the map's drivable ground."""
    if view.road is None:
        return Reading(None, "no map says where the drivable ground is")
    if view.placement.kind == "standing" and view.placement.surface == "pavement":
        return Reading(None, "the hazard belongs on the pavement")
    if not silhouettes.has_area(view.footprint):
        return Reading(None, evidence.NO_FOOTPRINT)
    found, note = found_footprint(view)
    near = shapely.intersection(view.road, found.buffer(1.0)).buffer(EDGE_M)
    return Reading(_area(shapely.difference(found, near)) / _area(found), note)


def found_footprint(view: ViewSubject) -> tuple[Any, str]:
    """Return the placement's footprint moved to where the hazard meets the ground, and a note when that is not seen."""
    standing = view.placement.kind == "standing"
    offset = evidence.contact(view) if standing else evidence.patch(view) if view.placement.kind == "surface" else ""
    if isinstance(offset, str):
        return view.footprint, "of the placement: where the hazard meets the ground is not seen"
    return affinity.translate(view.footprint, *np.asarray(offset).tolist()), ""


def _may_touch(box: Box, bounds: tuple[float, float, float, float]) -> bool:
    """Tell whether a box's middle is near enough to plan bounds: most objects are far, and their outlines cost time."""
    (x, y, _), reach = box.centre, (box.size[0] + box.size[1]) / 2
    left, bottom, right, top = bounds
    return left - reach <= x <= right + reach and bottom - reach <= y <= top + reach


def _area(shape: Any) -> float:
    return float(shape.area)
