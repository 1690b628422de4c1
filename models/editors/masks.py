"""Masks around what was drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageDraw
from scipy import ndimage

from data_registry.geometry import Array
from data_registry.pictures import Mask


def dilated_hull(touched: npt.NDArray[np.bool_], margin_px: int) -> Mask:
    """Return the convex hull of the set pixels, `margin_px` wider, clipped to the array; one pixel set at least."""
    rows = np.flatnonzero(touched.any(axis=1))
    first = touched[rows].argmax(axis=1)
    last = touched.shape[1] - 1 - touched[rows, ::-1].argmax(axis=1)
    corners = np.column_stack([np.concatenate([first, last]), np.concatenate([rows, rows])]).astype(np.float64)
    tight: Any = shapely.convex_hull(shapely.multipoints(corners))
    hull = tight.buffer(margin_px, quad_segs=4)
    image = Image.new("L", (touched.shape[1], touched.shape[0]), 0)
    outline = [(round(x), round(y)) for x, y in shapely.get_coordinates(hull).tolist()]
    ImageDraw.Draw(image).polygon(outline, fill=255, outline=255)
    return np.array(image, dtype=np.uint8)


def dilated(touched: npt.NDArray[np.bool_], margin_px: int) -> Mask:
    """Return the set pixels, `margin_px` wider in every direction."""
    wider: Any = ndimage.maximum_filter(np.where(touched, np.uint8(255), np.uint8(0)), 2 * margin_px + 1)
    return wider


def feather(edit_mask: Mask, width_px: int) -> Array:
    """Return weights in 0..1: 0 outside the mask, rising to 1 `width_px` inside it; the picture's edge is no border."""
    padded = np.pad(edit_mask > 0, 1, mode="edge")
    rows, columns = np.flatnonzero(padded.any(axis=1)), np.flatnonzero(padded.any(axis=0))
    part = (slice(max(0, rows[0] - 1), rows[-1] + 2), slice(max(0, columns[0] - 1), columns[-1] + 2))
    weight = np.zeros(padded.shape)
    distance: Any = ndimage.distance_transform_edt(padded[part])
    weight[part] = np.clip((distance - 0.5) / width_px, 0.0, 1.0)
    return weight[1:-1, 1:-1]
