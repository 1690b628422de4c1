"""Checks of light and colour: of what surrounds a hazard inside the edit mask, and of the hazard itself."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from data_registry import silhouettes
from data_registry.pictures import Rgb
from data_registry.silhouettes import Pixels
from qa_audit.evidence import Reading, ViewSubject

RING_PX: Final = 8
"""Width of the ring around a hazard whose exposure is compared."""
NEAR_PX: Final = 120
"""How far around the hazard its surroundings reach, pixels."""
EVERY: Final = 3
"""Of the surroundings every third row and column is looked at: they are a hundred times larger than needed."""
DARK: Final = 24.0
"""Darker than this a colour is mostly noise, grey levels of 255."""
LEAST_PIXELS: Final = 60
GREYEST: Final = 10.0
"""Percentile of the hazard's colours, by distance from the grey around, that counts: most things have grey parts."""
LIGHTEST: Final = 99.5
"""Percentile of the surroundings' brightness that ends their range."""
LIGHT_PARTS: Final = 75.0
"""Percentile of a hazard's brightness: most things have light parts, dark as they may be."""
BLACK: Final = 5.0
"""Grey levels that are added to both, so that dark pictures give no wild ratios."""
TOO_LITTLE: Final = "too little of the hazard, or of what surrounds it, is seen"


def ring_exposure(view: ViewSubject) -> Reading:
    """Return how much lighter the edit is than the source in a ring around the hazard, inside the edit mask."""
    found = _ring(view)
    if found is None:
        return Reading(None, "no editable pixel lies around the hazard")
    edited, source = found
    return Reading(float(edited.mean()) - float(source.mean()))


def ring_cast(view: ViewSubject) -> Reading:
    """Return by how much the colour of that ring was turned: largest change of a channel's share of the brightness.

    Shadows change the brightness of all channels nearly alike, a colour cast does not.
    """
    found = _ring(view)
    if found is None:
        return Reading(None, "no editable pixel lies around the hazard")
    edited, source = (_share(pixels.mean(axis=0)) for pixels in found)
    return Reading(float(np.abs(edited - source).max()))


def cast_inside(view: ViewSubject) -> Reading:
    """Return how far the greyest tenth of the hazard is from the surroundings' grey, as a share of its brightness."""
    hazard, around = _colours(view)
    hazard, around = (pixels[pixels.mean(axis=1) > DARK] for pixels in (hazard, around))
    if min(len(hazard), len(around)) < LEAST_PIXELS:
        return Reading(None, "too little of the hazard, or of what surrounds it, is light enough to have a colour")
    grey = np.median(_share(around), axis=0)
    return Reading(float(np.percentile(np.abs(_share(hazard) - grey).max(axis=1), GREYEST)))


def over_range_levels(view: ViewSubject) -> Reading:
    """Return by how much the hazard is lighter than nearly everything around it, the mean over its pixels.

    Nothing can be told from it where something around is as light as a picture can be.
    """
    hazard, around = (pixels.mean(axis=1) for pixels in _colours(view))
    if min(len(hazard), len(around)) < LEAST_PIXELS:
        return Reading(None, TOO_LITTLE)
    return Reading(float(np.maximum(hazard - np.percentile(around, LIGHTEST), 0).mean()))


def brightness_ratio(view: ViewSubject) -> Reading:
    """Return how light the hazard's lighter parts are, against the middle of its surroundings: low in deep shade."""
    hazard, around = (pixels.mean(axis=1) for pixels in _colours(view))
    if min(len(hazard), len(around)) < LEAST_PIXELS:
        return Reading(None, TOO_LITTLE)
    return Reading((float(np.percentile(hazard, LIGHT_PARTS)) + BLACK) / (float(np.median(around)) + BLACK))


def _ring(view: ViewSubject) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]] | None:
    """Return edited and source pixels (N, 3) of the ring, None when it is empty."""
    part = silhouettes.window_of(view.pixels.edit_mask)
    mask = view.pixels.object_mask[part]
    grown: Any = ndimage.binary_dilation(mask, np.ones((3, 3)), iterations=RING_PX)
    ring: Pixels = grown & ~mask & view.pixels.edit_mask[part]
    if not ring.any():
        return None
    return _of(view.pixels.edited[part], ring), _of(view.pixels.source[part], ring)


def _colours(view: ViewSubject) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the hazard's edited pixels (N, 3) and the source's around it, outside the edit mask (K, 3)."""
    pixels, (rows, columns) = view.pixels, view.around(NEAR_PX)
    coarse = (slice(rows.start, rows.stop, EVERY), slice(columns.start, columns.stop, EVERY))
    near = silhouettes.window_of(pixels.object_mask)
    return _of(pixels.edited[near], pixels.object_mask[near]), _of(pixels.source[coarse], ~pixels.edit_mask[coarse])


def _of(picture: Rgb, mask: Pixels) -> npt.NDArray[np.float32]:
    return picture[mask].astype(np.float32)


def _share(colour: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return each channel over the mean of all three."""
    return colour / np.maximum(colour.mean(axis=-1, keepdims=True), 1.0)
