"""Checks of what else is where a hazard is: annotated objects, and ground that is no road."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import shapely
from shapely import affinity

from data_registry import silhouettes
from qa_audit import evidence
from qa_audit.evidence import Reading, ViewSubject

CORE: Final = 0.6
"""Of an object's outline this share of its height and width, around its middle, is surely the object."""
LEAST_CORE_PX: Final = 20
"""Smaller cores tell nothing."""


def covers_nearer_share(view: ViewSubject) -> Reading:
    """Return which share of an annotated object that stands before the placement the hazard covers, the worst one's."""
    shares: list[float] = []
    for outline in view.expected.before:
        core = silhouettes.fill(view.expected.camera, [affinity.scale(outline, CORE, CORE)])
        area = int(core.sum())
        if area >= LEAST_CORE_PX:
            shares.append(float((core & view.pixels.object_mask).sum()) / area)
    return Reading(max(shares)) if shares else Reading(None, "no annotated object stands before the placement")


def footprint_overlap(view: ViewSubject) -> Reading:
    """Return which share of the hazard's footprint, where it is found, lies in annotated objects' footprints."""
    if not view.others:
        return Reading(None, "nothing is annotated")
    found, note = found_footprint(view)
    taken = shapely.union_all([shapely.Polygon(other.box.footprint()) for other in view.others])
    return Reading(_share(shapely.intersection(found, taken), found), note)


def off_drivable_share(view: ViewSubject) -> Reading:
    """Return which share of the hazard's footprint, where it is found, lies outside the map's drivable ground."""
    if view.road is None:
        return Reading(None, "no map says where the drivable ground is")
    if view.placement.kind == "standing" and view.placement.surface == "pavement":
        return Reading(None, "the hazard belongs on the pavement")
    found, note = found_footprint(view)
    return Reading(_share(shapely.difference(found, view.road), found), note)


def found_footprint(view: ViewSubject) -> tuple[Any, str]:
    """Return the placement's footprint moved to where the hazard meets the ground, and a note when that is not seen."""
    standing = view.placement.kind == "standing"
    offset = evidence.contact(view) if standing else evidence.patch(view) if view.placement.kind == "surface" else ""
    if isinstance(offset, str):
        return view.footprint, "of the placement: where the hazard meets the ground is not seen"
    return affinity.translate(view.footprint, *np.asarray(offset).tolist()), ""


def _share(part: Any, whole: Any) -> float:
    return float(part.area) / float(whole.area)
