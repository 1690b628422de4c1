"""What checks look at: an edited view's pixels and masks, and what the placement should look like in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import shapely

from data_registry import edits, silhouettes
from data_registry.blobs import Blobs
from data_registry.cameras import pinhole
from data_registry.courses import union_of
from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.pictures import Rgb
from data_registry.projection import full_outline
from data_registry.records import Annotation, Keyframe, Placement, ViewEdit
from data_registry.silhouettes import Pixels

BELOW_PX: Final = 2
"""Rows below the lowest hazard pixel where a nearer object would hide the contact."""

LARGEST_CUT: Final = 0.7
"""A body of which the picture cuts off more than this share may show its head only: its contact is not known."""

NO_FOOTPRINT: Final = "the placement's box lies so that its bottom has no area in plan"

TOP_SHARE: Final = 6
"""The highest one of so many parts of a mask is its top."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a check found: a value, or None and why."""

    value: float | None
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ViewPixels:
    """One edited view, decoded; all arrays have the full picture's height and width."""

    sensor_id: str
    source: Rgb
    edited: Rgb
    stored: Rgb
    """The stored crop in an otherwise black picture, also where the edit mask is zero."""
    edit_mask: Pixels
    object_mask: Pixels

    @classmethod
    def load(cls, view: ViewEdit, source: Rgb, blobs: Blobs) -> ViewPixels:
        """Decode a stored view; `source` is its decoded source picture.

        Raises:
            EditFormError: window, crop and masks disagree.
            BlobMissingError, BlobCorruptError, PictureError: a blob is gone, broken or no picture.
        """
        left, top, right, bottom = view.window
        crop, masks = edits.stored_crop(view, blobs), edits.stored_masks(view, blobs)
        edited = edits.compose(source, view.window, crop, masks.edit)
        stored = np.zeros_like(source)
        stored[top:bottom, left:right] = crop
        edit_mask, object_mask = (edits.in_full(mask, view.window, source.shape) for mask in (masks.edit, masks.object))
        return cls(view.sensor_id, source, edited, stored, edit_mask > 0, object_mask > 0)


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a placement should look like in one view."""

    camera: PinholeCamera
    outline: shapely.Polygon
    """Convex outline, pixels; it may reach beyond the picture, and is empty when the camera does not see that way."""
    before: tuple[shapely.Polygon, ...]
    """Outlines of the boxes of annotated objects that stand before the placement, pixels."""

    @cached_property
    def hidden(self) -> Pixels:
        """Pixels (height, width) that those cover."""
        return silhouettes.fill(self.camera, self.before)

    @cached_property
    def visible(self) -> Pixels:
        """Pixels (height, width) where the placement should be seen."""
        return silhouettes.fill(self.camera, [self.outline]) & ~self.hidden

    @cached_property
    def outside_share(self) -> float:
        """Share of the outline that lies outside the picture, 0 to 1; 1 when the camera does not see that way."""
        if self.outline.is_empty:
            return 1.0
        inside = shapely.intersection(self.outline, silhouettes.frame(self.camera))
        return float(np.clip(1.0 - inside.area / self.outline.area, 0.0, 1.0))

    @cached_property
    def visible_share(self) -> float:
        """Share of the whole outline that should be seen, 0 to 1."""
        return min(1.0, float(self.visible.sum()) / self.outline.area) if self.outline.area > 0 else 0.0


@dataclass(frozen=True, eq=False)
class ViewSubject:
    """One view of a candidate with what should be in it."""

    placement: Placement
    footprint: shapely.Polygon
    """In plan, metres; without an area when a box lies so that its bottom stands upright."""
    ground: GroundPlane
    others: tuple[Annotation, ...]
    """Annotated objects but the one that an attached hazard belongs to."""
    road: Any
    """Drivable plan area by the map, metres; None without a map."""
    pixels: ViewPixels
    expected: Expectation

    @cached_property
    def found(self) -> Pixels:
        """The hazard's pixels without specks."""
        return silhouettes.main_parts(self.pixels.object_mask)

    def around(self, margin_px: int) -> tuple[slice, slice]:
        """Return the rows and columns of the hazard with so many pixels on every side, as far as the picture goes."""
        return silhouettes.wider(silhouettes.window_of(self.pixels.object_mask), margin_px, self.pixels.edit_mask.shape)


@dataclass(frozen=True, slots=True, eq=False)
class PairSubject:
    """All views of one candidate."""

    placement: Placement
    views: tuple[ViewSubject, ...]
    wanted: tuple[str, ...]
    """Sensors that see the placement according to screening."""


def subject(
    keyframe: Keyframe, placement: Placement, views: Sequence[ViewPixels], wanted: Sequence[str]
) -> PairSubject:
    """Put a candidate's views beside what its placement should look like in them.

    Raises:
        KeyError: the keyframe has no camera of a view's name.
    """
    footprint = silhouettes.placement_footprint(placement)
    points = silhouettes.placement_points(placement, keyframe.ground)
    # An open door is drawn in front of its own car, whose box would hide it.
    own = placement.annotation if placement.kind == "attached" else None
    others = tuple(note for note in keyframe.annotations if note.token != own)
    road = union_of(keyframe.map.drivable) if keyframe.map.drivable else None
    subjects = [
        ViewSubject(
            placement,
            footprint,
            keyframe.ground,
            others,
            road,
            pixels,
            _expect(pinhole(keyframe, keyframe.view(pixels.sensor_id)), others, points, footprint),
        )
        for pixels in views
    ]
    return PairSubject(placement, tuple(subjects), tuple(wanted))


def _expect(
    camera: PinholeCamera, others: Sequence[Annotation], points: Array, footprint: shapely.Polygon
) -> Expectation:
    hull = full_outline(points, camera)
    return Expectation(camera, hull, tuple(silhouettes.outlines_before(camera, footprint, hull, others)))


def contact(view: ViewSubject) -> Array | str:
    """Return how far a standing hazard's lowest pixel touches the ground from where it should, or why none can be told.

    The offset (2,) is in plan, metres. It should touch within the placement's footprint, at most an overhang behind
    where that begins along the pixel's bearing.
    """
    mask = view.found
    if not mask.any():
        return "the hazard is not seen"
    if not silhouettes.has_area(view.footprint):
        return NO_FOOTPRINT
    row = int(np.flatnonzero(mask.any(axis=1))[-1])
    column = float(np.flatnonzero(mask[row]).mean())
    if row == mask.shape[0] - 1:
        return "the picture's lower edge cuts the hazard"
    if view.expected.outside_share > LARGEST_CUT:
        return "most of the placement is outside the picture: what is seen need not be its feet"
    below = min(row + BELOW_PX, mask.shape[0] - 1)
    if view.expected.hidden[row : below + 1, round(column)].any():
        return "a nearer object hides the contact"
    camera = view.expected.camera
    found = view.ground.intersect(camera.position, camera.rays(np.array([[column, row + 0.5]])))[0, :2]
    if not np.isfinite(found).all():
        return "the hazard's lowest pixel lies above the horizon"
    overhang = silhouettes.OVERHANG_SHARE * placed_length(view.placement)
    return _miss(camera.position[:2], found, view.footprint, overhang)


def placed_length(placement: Placement) -> float:
    """Return the length of a placed body, metres; 0 for a surface."""
    return 0.0 if placement.kind == "surface" else placement.box.size[0]


def _miss(eye: Array, found: Array, footprint: shapely.Polygon, overhang: float) -> Array:
    reach = float(np.linalg.norm(found - eye))
    direction = (found - eye) / reach
    begin = silhouettes.first_meeting(eye, direction, footprint)
    if begin is None:
        return found - np.asarray(shapely.shortest_line(footprint, shapely.Point(found)).coords[0])
    return direction * (reach - float(np.clip(reach, begin, begin + overhang)))


def patch(view: ViewSubject) -> Array | str:
    """Return how far the centre of a surface hazard lies from where it should, as far as it is seen, or why not.

    The offset (2,) is in plan, metres.
    """
    centres: list[Array] = []
    for mask, what in ((view.found, "found"), (view.expected.visible, "expected")):
        camera = view.expected.camera
        rays = camera.rays(silhouettes.column_ends(mask))
        ground = view.ground.intersect(camera.position, rays)[:, :2]
        ground = ground[np.isfinite(ground).all(axis=1)]
        if not len(ground):
            return f"nothing is {what} on the ground"
        hull: Any = shapely.convex_hull(shapely.multipoints(ground))
        centres.append(np.asarray(hull.centroid.coords[0]))
    return centres[0] - centres[1]


def top(mask: Pixels) -> Array | str:
    """Return the middle (column, row) of a mask's highest rows, a sixth of its height, or why there is none."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return "nothing is seen"
    if rows[0] == 0:
        return "the picture's upper edge cuts it"
    highest = mask[rows[0] : rows[0] + max(1, len(rows) // TOP_SHARE)]
    return np.array([float(np.flatnonzero(highest.any(axis=0)).mean()), float(rows[0])])


def metres_a_pixel(view: ViewSubject) -> float:
    """Return how many metres across the line of sight one pixel is at the placement's distance."""
    camera = view.expected.camera
    points = silhouettes.placement_points(view.placement, view.ground)
    depth = float(camera.ego_to_camera.apply(points)[:, 2].mean())
    return max(depth, 0.0) / float(camera.intrinsics[0, 0])


def height_px(mask: Pixels) -> int:
    """Return how many rows a mask spans, 0 when it is empty."""
    rows = np.flatnonzero(mask.any(axis=1))
    return int(rows[-1] - rows[0]) + 1 if len(rows) else 0
