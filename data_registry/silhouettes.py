"""Where a placement should be seen: its points and footprint, what stands before it, its pixels; masks without specks.

Screening, checks and localizers share these, so that expected and found are drawn the same way. Outlines are in pixels
(column, row), pixel centres at integers, and may reach beyond the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageDraw
from scipy import ndimage

from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.projection import full_outline
from data_registry.records import Annotation, Placement, Surface

Pixels = npt.NDArray[np.bool_]
"""Shape (height, width): which pixels belong."""

FAR_M: Final = 200.0
"""Longer than any sight line that matters."""
OVERHANG_SHARE: Final = 0.2
"""Wheels and feet touch the ground up to this share of a body's length behind where its footprint begins."""
LEAST_FOOTPRINT_M2: Final = 1e-6
"""A plan outline with less is a line, rounding apart."""
SPECK_SHARE: Final = 0.1
"""Connected parts of a mask below this share of the largest one are specks, not the hazard."""


def placement_points(placement: Placement, ground: GroundPlane) -> Array:
    """Return the points (N, 3) in the ego frame that span a placement: box corners, or the polygon on the ground."""
    if isinstance(placement, Surface):
        return ground.lift(np.array(placement.polygon))
    return placement.box.corners()


def placement_footprint(placement: Placement) -> shapely.Polygon:
    """Return the plan outline of a placement in the ego frame, metres."""
    ring = np.array(placement.polygon) if isinstance(placement, Surface) else placement.box.footprint()
    return shapely.Polygon(ring)


def has_area(footprint: shapely.Polygon) -> bool:
    """Tell whether a plan outline is more than a line: a box pitched by 90 degrees stands on an edge of its bottom."""
    return footprint.area > LEAST_FOOTPRINT_M2


def frame(camera: PinholeCamera) -> shapely.Polygon:
    """Return the picture's own outline."""
    return shapely.box(-0.5, -0.5, camera.width - 0.5, camera.height - 0.5)


def fill(camera: PinholeCamera, outlines: Sequence[shapely.Polygon]) -> Pixels:
    """Return the picture's pixels (height, width) that any of the outlines covers."""
    picture = Image.new("1", (camera.width, camera.height))
    draw = ImageDraw.Draw(picture)
    for shape in outlines:
        part: Any = shapely.intersection(shape, frame(camera))
        if isinstance(part, shapely.Polygon) and not part.is_empty:
            draw.polygon([(float(x), float(y)) for x, y in part.exterior.coords], fill=1)
    return np.array(picture, dtype=np.bool_)


def outlines_before(
    camera: PinholeCamera, target: shapely.Polygon, seen: shapely.Polygon, annotations: Sequence[Annotation]
) -> list[shapely.Polygon]:
    """Return the outlines of annotated objects that hide part of a target from a camera, in their own order.

    Args:
        camera: the camera.
        target: plan footprint of the target, metres.
        seen: the target's own outline, pixels.
        annotations: all annotated objects.
    """
    found: list[shapely.Polygon] = []
    for note in annotations:
        shape = full_outline(note.box.corners(), camera)
        if shapely.intersects(shape, seen) and _stands_before(camera.position[:2], note, target):
            found.append(shape)
    return found


def _stands_before(eye: Array, note: Annotation, target: shapely.Polygon) -> bool:
    """Tell whether an object's footprint comes before the target's, seen from an eye; a line comes before nothing.

    Two convex footprints that do not overlap hide each other the same way along every bearing that they share, so one
    bearing in the middle of those decides.
    """
    footprint = shapely.Polygon(note.box.footprint())
    if not (has_area(footprint) and has_area(target)):
        return False
    towards = np.asarray(target.centroid.coords[0]) - eye
    middle = float(np.arctan2(towards[1], towards[0]))
    spans = [_bearings(eye, np.asarray(shape.exterior.coords), middle) for shape in (footprint, target)]
    low, high = max(span[0] for span in spans), min(span[1] for span in spans)
    if low > high or max(span[1] - span[0] for span in spans) > np.pi:
        return False
    direction = np.array([np.cos(middle + (low + high) / 2), np.sin(middle + (low + high) / 2)])
    reach, limit = first_meeting(eye, direction, footprint), first_meeting(eye, direction, target)
    return reach is not None and limit is not None and reach < limit


def _bearings(eye: Array, ring: Array, middle: float) -> tuple[float, float]:
    """Return the least and the largest bearing of plan points (N, 2) from an eye, relative to a middle one."""
    angles = np.arctan2(ring[:, 1] - eye[1], ring[:, 0] - eye[0]) - middle
    angles = (angles + np.pi) % (2 * np.pi) - np.pi
    return float(angles.min()), float(angles.max())


def first_meeting(eye: Array, direction: Array, shape: shapely.Polygon) -> float | None:
    """Return how far along a plan direction (2,) of length 1 a shape begins, metres; None when it is missed."""
    meeting: Any = shapely.intersection(shapely.LineString([eye, eye + direction * FAR_M]), shape)
    if meeting.is_empty:
        return None
    return float(shapely.distance(shapely.Point(eye), meeting))


def main_parts(mask: npt.NDArray[Any]) -> Pixels:
    """Return a mask without its specks: parts (8-connected) of at least a tenth of the largest part's area."""
    found = np.asarray(mask > 0)
    part = window_of(found)
    labelled: Any = ndimage.label(found[part], structure=np.ones((3, 3), dtype=np.int8))
    labels, count = labelled
    if count <= 1:
        return found
    areas = np.bincount(labels.ravel())
    areas[0] = 0
    large = areas >= SPECK_SHARE * areas.max()
    large[0] = False
    found[part] = large[labels]
    return found


def window_of(mask: Pixels) -> tuple[slice, slice]:
    """Return the rows and columns that a mask spans, empty ones when nothing is set: most of a picture is not."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return slice(0, 0), slice(0, 0)
    span = slice(int(rows[0]), int(rows[-1]) + 1)
    columns = np.flatnonzero(mask[span].any(axis=0))
    return span, slice(int(columns[0]), int(columns[-1]) + 1)


def wider(window: tuple[slice, slice], margin_px: int, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Return rows and columns with so many pixels more on every side, inside a picture of a shape (height, width)."""
    rows, columns = (
        slice(max(0, span.start - margin_px), min(length, span.stop + margin_px))
        for span, length in zip(window, shape, strict=False)
    )
    return rows, columns


def column_ends(mask: Pixels) -> Array:
    """Return the highest and the lowest pixel (column, row) of each column that a mask covers, shape (2 K, 2).

    Every corner of the mask's convex hull is among them.
    """
    columns = np.flatnonzero(mask.any(axis=0))
    top = np.argmax(mask[:, columns], axis=0)
    bottom = mask.shape[0] - 1 - np.argmax(mask[::-1, columns], axis=0)
    return np.concatenate([np.column_stack([columns, rows]) for rows in (top, bottom)]).astype(np.float64)
