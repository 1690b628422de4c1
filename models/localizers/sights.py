"""What one view says about a body: how far its mask reaches in some directions of the picture, where nothing hides it.

A convex outline is known from how far it reaches in every direction; sixteen of them say nearly as much. What lies
within the outlines of nearer annotated objects is left out, of the mask and of the body that is held against it; where
the picture ends, both end there. Pixels are (column, row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from scipy import ndimage

from data_registry import silhouettes
from data_registry.geometry import Array, PinholeCamera
from data_registry.projection import full_outline
from data_registry.records import Annotation
from data_registry.silhouettes import Pixels

DIRECTIONS: Final = 16
DOWN: Final = DIRECTIONS // 4
UP: Final = 3 * DIRECTIONS // 4
_TURN: Final = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)
NORMALS: Final = np.column_stack([np.cos(_TURN), np.sin(_TURN)])
"""Directions of the picture (K, 2): to the right, down, to the left, up, and between."""
BESIDE_PX: Final = 2
"""Where a nearer object is this near to an end of the mask, it may hide how far the hazard really reaches."""
LEAST_SHOWN: Final = 0.3
"""A mask of which less than this share is outside all outlines shows that the objects are smaller than these."""
LEAST_PART: Final = 0.01
LARGE_PART: Final = 0.1
"""Parts of a mask below a share of the largest one are specks: the first near to large parts, the second elsewhere."""
NEAR_PARTS: Final = 0.25
"""How near: this share of the large parts' extent."""
FARTHEST_GROWTH_PX: Final = 4.0
"""Silhouettes are compared with masks that may be so much too large or small all around, no more."""
NOWHERE_PX: Final = -1e4
"""How far a body reaches that a view cannot show."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What a view shows.

    Attributes:
        camera: the view's camera.
        reach: (K,) how far the mask reaches in each direction, without what lies in nearer objects' outlines, pixels.
        whole: (K,) the same with it.
        lowest: (2,) pixel of the mask's lower end.
        highest: (2,) pixel of its upper end.
        lower_is_bare: whether nothing hides what may be below the lower end.
        upper_is_bare: the same of the upper end.
        hidden: outlines of nearer objects; None where there are none.
        is_cut: whether the picture ends at the mask's left or right.
        at_border: whether it ends anywhere at the mask.
        extent_px: the larger one of the mask's width and height.
        shown: (height, width) the mask without what lies in nearer objects' outlines.
        covered: (height, width) these outlines.
    """

    camera: PinholeCamera
    reach: Array
    whole: Array
    lowest: Array
    highest: Array
    lower_is_bare: bool
    upper_is_bare: bool
    hidden: Any
    is_cut: bool
    at_border: bool
    extent_px: float
    shown: Pixels
    covered: Pixels

    def overlap_of(self, corners: Array, slices: Any, growth_px: float, is_partial: bool) -> float:
        """Return the intersection over union of the mask and a body's (N, 3) silhouette, where nothing hides it.

        Args:
            corners: of the body's convex slices, ego frame.
            slices: (N,) which slice each belongs to.
            growth_px: how far the mask is too large all around.
            is_partial: whether only the mask has to be covered; then the share of it that is.
        """
        parts = [full_outline(corners[slices == index], self.camera) for index in range(int(slices[-1]) + 1)]
        limited = float(np.clip(growth_px, -FARTHEST_GROWTH_PX, FARTHEST_GROWTH_PX))
        grown: Any = shapely.buffer(shapely.union_all(parts), limited)
        body = silhouettes.fill(self.camera, list(shapely.get_parts(grown))) & ~self.covered
        either = self.shown.sum() if is_partial else (self.shown | body).sum()
        return float((self.shown & body).sum() / either)

    def reach_of(self, corners: Array, slices: Any) -> tuple[Array, Array]:
        """Return how far bodies (M, N, 3) would reach: (M, K) as far as they would be seen, and (M, K) whole.

        `slices` (N,) says which of the corners span a convex part.
        """
        count, size, _ = corners.shape
        found, _ = self.camera.project(corners.reshape(-1, 3))
        pixels = found.reshape(count, size, 2)
        along = np.nan_to_num(pixels @ NORMALS.T, nan=NOWHERE_PX)
        whole = along.max(axis=1)
        if self.hidden is None and not self.at_border:
            return whole, whole
        return self._seen(pixels, slices), whole

    def _seen(self, pixels: Array, slices: Any) -> Array:
        """Return how far what is not hidden of bodies (M, N, 2) reaches, (M, K)."""
        count = len(pixels)
        parts = int(slices[-1]) + 1
        owner = (np.arange(count)[:, None] * parts + slices).ravel()
        flat = pixels.reshape(-1, 2)
        known = np.isfinite(flat[:, 0])
        shapes: Any = shapely.convex_hull(shapely.multipoints(flat[known], indices=_dense(owner[known])))
        bodies = np.unique(owner[known]) // parts
        if self.at_border:
            shapes = shapely.intersection(shapes, silhouettes.frame(self.camera))
        if self.hidden is not None:
            shapes = shapely.difference(shapes, self.hidden)
        coordinates, index = shapely.get_coordinates(shapes, return_index=True)
        reach = np.full((count, DIRECTIONS), NOWHERE_PX)
        np.maximum.at(reach, bodies[index], coordinates @ NORMALS.T)
        return reach


def sight(camera: PinholeCamera, mask: Pixels, nearer: Sequence[Annotation]) -> Sight:
    """Return what a mask (height, width), without specks and not empty, shows before some nearer objects."""
    hidden = _outlines(camera, mask, nearer)
    covered = silhouettes.fill(camera, hidden) if hidden else np.zeros_like(mask)
    shown = mask & ~covered
    if shown.sum() < LEAST_SHOWN * mask.sum():
        hidden, covered, shown = [], np.zeros_like(mask), mask
    every, ends = silhouettes.column_ends(mask), silhouettes.column_ends(shown)
    last = np.array([mask.shape[1] - 1, mask.shape[0] - 1])
    touched = (ends <= 0).any(axis=0) | (ends >= last).any(axis=0)
    along = ends @ NORMALS.T
    return Sight(
        camera=camera,
        reach=along.max(axis=0) + 0.5,
        whole=(every @ NORMALS.T).max(axis=0) + 0.5,
        lowest=ends[along[:, DOWN].argmax()],
        highest=ends[along[:, UP].argmax()],
        lower_is_bare=_is_bare(covered, ends[along[:, DOWN] > along[:, DOWN].max() - 1.0], BESIDE_PX),
        upper_is_bare=_is_bare(covered, ends[along[:, UP] > along[:, UP].max() - 1.0], -BESIDE_PX),
        hidden=shapely.union_all(hidden) if hidden else None,
        is_cut=bool(touched[0]),
        at_border=bool(touched.any()),
        extent_px=float(np.ptp(ends, axis=0).max()) + 1.0,
        shown=shown,
        covered=covered,
    )


def without_specks(mask: Pixels) -> Pixels:
    """Return a mask without parts that are too small to belong to it: a hazard may have several, near to each other."""
    found = mask.copy()
    window = silhouettes.window_of(found)
    labelled: Any = ndimage.label(found[window], structure=np.ones((3, 3), dtype=np.int8))
    labels, count = labelled
    if count <= 1:
        return found
    areas = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    bounds = np.array([(r.start, c.start, r.stop, c.stop) for r, c in ndimage.find_objects(labels)])
    large = areas >= LARGE_PART * areas.max()
    low, high = bounds[large, :2].min(axis=0), bounds[large, 2:].max(axis=0)
    reach = NEAR_PARTS * float((high - low).max())
    near = (bounds[:, :2] >= low - reach).all(axis=1) & (bounds[:, 2:] <= high + reach).all(axis=1)
    kept = np.concatenate([[False], large | (near & (areas >= LEAST_PART * areas.max()))])
    found[window] = kept[labels]
    return found


def _outlines(camera: PinholeCamera, mask: Pixels, nearer: Sequence[Annotation]) -> list[shapely.Polygon]:
    """Return the outlines of objects that touch the mask's surroundings."""
    rows, columns = silhouettes.window_of(mask)
    around = shapely.box(
        columns.start - BESIDE_PX, rows.start - BESIDE_PX, columns.stop + BESIDE_PX, rows.stop + BESIDE_PX
    )
    outlines = [full_outline(note.box.corners(), camera) for note in nearer]
    return [outline for outline in outlines if outline.intersects(around)]


def _is_bare(covered: Pixels, ends: Array, beside: int) -> bool:
    """Tell whether some pixels (N, 2) end in the picture, and no nearer object is `beside` rows below them."""
    rows, columns = ends[:, 1].astype(np.int64) + beside, ends[:, 0].astype(np.int64)
    height = covered.shape[0]
    if (rows - beside + np.sign(beside) >= height).any() or (rows - beside + np.sign(beside) < 0).any():
        return False
    return not covered[np.clip(rows, 0, height - 1), columns].any()


def _dense(values: Any) -> Any:
    """Return sorted integers renumbered from 0 on without gaps."""
    return np.unique(values, return_inverse=True)[1]
