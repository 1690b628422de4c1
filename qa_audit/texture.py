"""Checks of a hazard's finest detail: its grain and its sharpness, against what the camera makes of the surroundings.

Surroundings are source pixels outside the edit mask, not far from the hazard. Both quantities are taken where a picture
shows them best, grain where it is smoothest and sharpness at edges, so that what a thing looks like counts as little as
possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from data_registry.pictures import Rgb
from data_registry.silhouettes import Pixels
from qa_audit.evidence import Reading, ViewSubject

Levels = npt.NDArray[np.float32]
"""Grey levels (H, W) of 255."""

NEAR_PX: Final = 80
"""How far around the hazard its surroundings reach, pixels."""
INNER_PX: Final = 3
"""Grain is taken this far inside the hazard's outline, where no edge mixes in."""
BIN_LEVELS: Final = 16
"""Grain depends on brightness: it is compared within ranges of so many grey levels."""
LEAST_PIXELS: Final = 60
"""A brightness range with fewer pixels on either side tells nothing."""
SMOOTHEST: Final = 5.0
"""Percentile of the local noise that counts as grain: the rest has texture in it."""
FLOOR: Final = 0.3
"""Standard deviation of rounding, grey levels: what is lower cannot be told from nothing."""
ROUGHNESS_FLOOR: Final = 0.1
"""Grey levels added to both sides where usual detail is compared, so that black pictures give no wild ratios."""
_KERNEL: Final = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32) / 6
"""Blind to planes and straight edges; gives white noise its own strength (Immerkaer 1996)."""

FINE_PX, COARSE_PX = 0.7, 1.6
"""The two blurs under which an edge's steepness tells its own (Zhuo and Sim 2011)."""
LEAST_STEEPNESS: Final = 6.0
"""Grey levels a pixel at the fine blur: less steep is no edge that tells."""
LEAST_EDGE: Final = 40
"""Fewer edge pixels tell nothing."""
LARGEST_BLUR: Final = 6.0
"""More cannot be told with such blurs, pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class _Patch:
    """The part of an edited view around its hazard; outside the edit mask it is the source."""

    grey: Levels
    hazard: Pixels
    around: Pixels


def grain_ratio(view: ViewSubject) -> Reading:
    """Return the hazard's grain over the surroundings' at the same brightness: 0 without grain, 1 as it should be."""
    patch = _patch(view)
    inner = patch.hazard & ~grown(~patch.hazard, INNER_PX)
    levels, noise = _grain(patch.grey)
    ours, theirs = (_by_brightness(levels[part], noise[part]) for part in (inner, patch.around))
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return Reading(None, "nothing around the hazard is as bright as it is, or it is too small")
    # what is of one brightness may be all edges; grain changes slowly with it, so ranges beside tell as well
    wanted = [min(theirs[near][0] for near in (key - 1, key, key + 1) if near in theirs) for key in common]
    logs = [np.log((ours[key][0] + FLOOR) / (grain + FLOOR)) for key, grain in zip(common, wanted, strict=True)]
    return Reading(float(np.exp(np.average(logs, weights=[ours[key][1] for key in common]))))


def blur_excess_px(view: ViewSubject) -> Reading:
    """Return how much blurrier the hazard's edges are than the surroundings', standard deviation in pixels.

    Both are medians over edges. Negative: sharper than what the camera gives, as after sharpening.
    """
    patch = _patch(view)
    fine: Any = ndimage.gaussian_gradient_magnitude(patch.grey, FINE_PX, truncate=3.0)
    coarse: Any = ndimage.gaussian_gradient_magnitude(patch.grey, COARSE_PX, truncate=3.0)
    edges = (fine >= LEAST_STEEPNESS) & (fine >= 0.95 * ndimage.maximum_filter(fine, 3))
    found, wanted = (_blur(fine[part], coarse[part]) for part in (edges & grown(patch.hazard, 2), edges & patch.around))
    if found is None or wanted is None:
        return Reading(None, f"too few edges {'in the hazard' if found is None else 'around the hazard'}")
    return Reading(found - wanted)


def detail_ratio(view: ViewSubject) -> Reading:
    """Return the hazard's usual fine detail over the surroundings': near 0 for a flat field, whatever its colour."""
    patch = _patch(view)
    inner = patch.hazard & ~grown(~patch.hazard, INNER_PX)
    if min(int(inner.sum()), int(patch.around.sum())) < LEAST_PIXELS:
        return Reading(None, "too little of the hazard, or of what surrounds it, is seen")
    _, detail = _grain(patch.grey)
    found, wanted = (float(np.median(detail[part])) for part in (inner, patch.around))
    return Reading((found + ROUGHNESS_FLOOR) / (wanted + ROUGHNESS_FLOOR))


def _patch(view: ViewSubject) -> _Patch:
    pixels = view.pixels
    part = view.around(NEAR_PX)
    return _Patch(grey_levels(pixels.edited[part]), pixels.object_mask[part], ~grown(pixels.edit_mask[part], INNER_PX))


def grey_levels(picture: Rgb) -> Levels:
    """Return the brightness (H, W) of a picture (H, W, 3)."""
    red, green, blue = (picture[..., channel].astype(np.float32) for channel in range(3))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def grown(mask: Pixels, pixels: int) -> Pixels:
    """Return a mask so many pixels wider, with square corners; the picture's edge adds nothing."""
    wider: Any = ndimage.maximum_filter(mask.view(np.uint8), 2 * pixels + 1)
    return wider > 0


def _grain(grey: Levels) -> tuple[Levels, Levels]:
    """Return brightness and local noise of each pixel."""
    rough = np.zeros_like(grey)
    across = grey[:, 2:] - 2 * grey[:, 1:-1] + grey[:, :-2]
    rough[1:-1, 1:-1] = (across[2:] - 2 * across[1:-1] + across[:-2]) / 6
    level: Any = ndimage.uniform_filter(grey, 5, mode="nearest")
    power: Any = ndimage.uniform_filter(rough * rough, 5, mode="nearest")
    return level, np.sqrt(np.maximum(power, 0))


def _by_brightness(levels: Levels, noise: Levels) -> dict[int, tuple[float, int]]:
    """Return grain and number of pixels by brightness range, of ranges with enough of them."""
    ranges = (levels / BIN_LEVELS).astype(np.int64)
    counts = np.bincount(ranges)
    return {
        int(key): (float(np.percentile(noise[ranges == key], SMOOTHEST)), int(counts[key]))
        for key in np.flatnonzero(counts >= LEAST_PIXELS)
    }


def _blur(fine: Levels, coarse: Levels) -> float | None:
    """Return the median blur of some edges (N,), pixels; None when there are too few.

    Lines and overshooting edges are steeper than a step can be: they count as negative.
    """
    if len(fine) < LEAST_EDGE:
        return None
    ratio = np.maximum(fine / np.maximum(coarse, 1e-6), 1.0 + 1e-3) ** 2
    square = (COARSE_PX**2 - ratio * FINE_PX**2) / (ratio - 1)
    return float(np.median(np.sign(square) * np.minimum(np.sqrt(np.abs(square)), LARGEST_BLUR)))
