"""Edited views between their stored form (a crop and two masks) and full pictures.

The one place that knows what a `ViewEdit` means: where its edit mask is 0, the edited picture is the decoded source and
the stored crop is zero. Stages, checks and releases all go through it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from data_registry.blobs import Blobs
from data_registry.pictures import Mask, Rgb, decode_crop, decode_mask
from data_registry.records import ViewEdit

Window = tuple[int, int, int, int]
"""Left, top, right, bottom in the full picture, pixels, right and bottom exclusive."""


class EditFormError(ValueError):
    """A stored edit does not fit its picture or itself: window, crop and masks disagree."""


def compose(source: Rgb, window: Window, crop: Rgb, edit_mask: Mask) -> Rgb:
    """Return the edited full picture: the crop where the mask is set, the source everywhere else.

    Args:
        source: decoded source picture (height, width, 3).
        window: where crop and mask lie in it.
        crop: edited pixels of the window; what lies under a zero mask is ignored.
        edit_mask: mask of the window.

    Raises:
        EditFormError: the window leaves the picture, or crop or mask has another size than the window.
    """
    left, top, right, bottom = window
    _check_window(window, source.shape[:2])
    if crop.shape != (bottom - top, right - left, 3) or edit_mask.shape != crop.shape[:2]:
        raise EditFormError(f"crop {crop.shape} and mask {edit_mask.shape} do not have the size of window {window}")
    picture = source.copy()
    picture[top:bottom, left:right] = np.where(edit_mask[..., None] > 0, crop, source[top:bottom, left:right])
    return picture


def materialise(source: Rgb, view: ViewEdit, blobs: Blobs) -> Rgb:
    """Return the edited full picture (height, width, 3) of a view, given its decoded source.

    Raises:
        EditFormError: window, crop and masks disagree.
        BlobMissingError, BlobCorruptError, PictureError: a blob is gone, broken or no picture.
    """
    masks = stored_masks(view, blobs)
    return compose(source, view.window, stored_crop(view, blobs), masks.edit)


@dataclass(frozen=True, slots=True, eq=False)
class StoredMasks:
    """A view's two masks, of one size, which should be the window's."""

    edit: Mask
    """Where pixels may differ; set somewhere."""
    object: Mask
    """Where the hazard is seen; inside the edit mask."""


def stored_crop(view: ViewEdit, blobs: Blobs) -> Rgb:
    """Return a view's stored pixels; raises as `materialise`."""
    return decode_crop(blobs.get(view.edited), f"edited crop of {view.sensor_id}")


def stored_masks(view: ViewEdit, blobs: Blobs) -> StoredMasks:
    """Return a view's stored masks.

    Raises:
        EditFormError: they differ in size, the edit mask is empty, or the object mask leaves it.
        BlobMissingError, BlobCorruptError, PictureError: a blob is gone, broken or no mask.
    """
    masks = StoredMasks(
        decode_mask(blobs.get(view.edit_mask), f"edit mask of {view.sensor_id}"),
        decode_mask(blobs.get(view.object_mask), f"object mask of {view.sensor_id}"),
    )
    if masks.edit.shape != masks.object.shape:
        raise EditFormError(f"edit mask {masks.edit.shape} and object mask {masks.object.shape} differ in size")
    if not masks.edit.any():
        raise EditFormError("the edit mask is empty: an edited view differs somewhere")
    if masks.object[masks.edit == 0].any():
        raise EditFormError("the object mask leaves the edit mask: the hazard is where nothing was edited")
    return masks


def full_edit_mask(view: ViewEdit, blobs: Blobs, size: tuple[int, ...]) -> Mask:
    """Return where pixels may differ, in the full picture; `size` is (height, width); raises as `materialise`."""
    return in_full(stored_masks(view, blobs).edit, view.window, size)


def full_object_mask(view: ViewEdit, blobs: Blobs, size: tuple[int, ...]) -> Mask:
    """Return where the hazard is seen, in the full picture; `size` is (height, width); raises as `materialise`."""
    return in_full(stored_masks(view, blobs).object, view.window, size)


def bounding_window(mask: Mask) -> Window:
    """Return the smallest window around the set pixels of a full mask.

    Raises:
        EditFormError: no pixel is set.
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        raise EditFormError("the mask is empty: there is nothing to store")
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def in_full(mask: Mask, window: Window, size: tuple[int, ...]) -> Mask:
    """Return a window's mask in the full picture, zero elsewhere; `size` is (height, width).

    Raises:
        EditFormError: the window leaves the picture, or the mask has another size.
    """
    left, top, right, bottom = window
    _check_window(window, size)
    if mask.shape != (bottom - top, right - left):
        raise EditFormError(f"mask {mask.shape} does not have the size of window {window}")
    full = np.zeros(size[:2], np.uint8)
    full[top:bottom, left:right] = mask
    return full


def _check_window(window: Window, size: tuple[int, ...]) -> None:
    left, top, right, bottom = window
    height, width = size[:2]
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise EditFormError(f"window {window} does not lie in a picture of {width}x{height} pixels")
