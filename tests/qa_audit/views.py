"""A view with edges and grain, as a camera gives it, and an edit of it that looks the same; made without any stage."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from data_registry.cameras import pinhole
from data_registry.pictures import Rgb
from data_registry.projection import outline
from data_registry.records import Keyframe, Placement
from data_registry.silhouettes import fill, outlines_before, placement_footprint, placement_points
from qa_audit import evidence
from qa_audit.evidence import ViewPixels, ViewSubject
from tests.verdict_cases import street, truck

HEIGHT, WIDTH = 450, 800
MARGIN_PX = 10
Levels = npt.NDArray[np.float64]


@cache
def plain(seed: int) -> Levels:
    """Grey rectangles on grey, as sharp as a lens is, without grain; another arrangement for each seed."""
    draw = np.random.Generator(np.random.PCG64(seed))
    picture = np.full((HEIGHT, WIDTH), 110.0)
    for _ in range(900):
        row, column = draw.integers(0, HEIGHT), draw.integers(0, WIDTH)
        high, wide = draw.integers(8, 40, 2)
        picture[row : row + high, column : column + wide] = draw.uniform(40, 190)
    return np.repeat(np.asarray(ndimage.gaussian_filter(picture, 0.9))[..., None], 3, axis=2)


def grain(strength: float, seed: int) -> Levels:
    return np.random.Generator(np.random.PCG64(100 + seed)).normal(0, strength, (HEIGHT, WIDTH, 3))


def bytes_of(levels: npt.NDArray[Any]) -> Rgb:
    return np.rint(np.clip(levels, 0, 255)).astype(np.uint8)


def view(
    hazard: Levels | None = None,
    placement: Placement | None = None,
    keyframe: Keyframe | None = None,
    hides: bool = True,
) -> ViewSubject:
    """An edit that shows `hazard` where a truck is placed; by default it is as sharp and grainy as its surroundings."""
    placement, keyframe = placement or truck(), keyframe or street()
    model = pinhole(keyframe, keyframe.view("CAM_FRONT"))
    seen = outline(placement_points(placement, keyframe.ground), model)
    before = outlines_before(model, placement_footprint(placement), seen, keyframe.annotations)
    mask = fill(model, [seen]) & ~(fill(model, before) & hides)
    source = bytes_of(plain(0) + grain(3, 0))
    shown = bytes_of(plain(1) + grain(3, 1) if hazard is None else hazard)
    edited = np.where(mask[..., None], shown, source)
    editable = np.asarray(ndimage.binary_dilation(mask, np.ones((3, 3)), iterations=MARGIN_PX), dtype=np.bool_)
    stored = np.where(editable[..., None], edited, np.uint8(0))
    pixels = ViewPixels("CAM_FRONT", source, edited, stored, editable, mask)
    return evidence.subject(keyframe, placement, [pixels], ["CAM_FRONT"]).views[0]


def changed(subject: ViewSubject, levels: npt.NDArray[Any]) -> ViewSubject:
    """The same view with other colours inside the edit mask."""
    mask = subject.pixels.edit_mask
    edited = np.where(mask[..., None], bytes_of(levels), subject.pixels.source)
    return replace(subject, pixels=replace(subject.pixels, edited=edited))
