"""Checks of a hazard's finest detail: its grain and its sharpness, against what the camera makes of the surroundings.

Surroundings are source pixels outside the edit mask, not far from the hazard. Both quantities are taken where a picture
shows them best, grain where it is smoothest and sharpness at its sharpest edges, so that what a thing looks like counts
as little as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from data_registry import silhouettes
from data_registry.pictures import Rgb
from data_registry.silhouettes import Pixels
from qa_audit.evidence import Reading, ViewSubject

Levels = npt.NDArray[np.float32]
"""Grey levels (H, W) of 255."""

NEAR_PX: Final = 80
"""How far around the hazard its surroundings reach at least; else as far as it is large."""
INNER_PX: Final = 3
"""Grain is taken this far inside the hazard's outline, where no edge mixes in."""
BIN_LEVELS: Final = 16
"""Grain depends on brightness: it is compared within ranges of so many grey levels."""
LEAST_PIXELS: Final = 60
"""A brightness range with fewer pixels on either side tells nothing."""
SMOOTHEST: Final = 25.0
"""Percentile of the local noise that counts as grain."""
FLOOR: Final = 0.3
"""Standard deviation of rounding, grey levels: what is lower cannot be told from nothing."""
_KERNEL: Final = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32) / 6
"""Blind to planes and straight edges; gives white noise its own strength (Immerkaer 1996)."""

FINE_PX, COARSE_PX = 0.7, 1.6
"""The two blurs under which an edge's steepness tells its own (Zhuo and Sim 2011)."""
LEAST_STEEPNESS: Final = 6.0
"""Grey levels a pixel at the fine blur: less steep is no edge that tells."""
LEAST_EDGE: Final = 40
"""Fewer edge pixels tell nothing."""
SHARPEST: Final = 25.0
"""Percentile of the edges' blur that counts."""


@dataclass(frozen=True, slots=True, eq=False)
class _Patch:
    """The part of a view around its hazard."""

    edited: Levels
    source: Levels
    hazard: Pixels
    around: Pixels


def grain_ratio(view: ViewSubject) -> Reading:
    """Return the hazard's grain over the surroundings' at the same brightness: 0 without grain, 1 as it should be."""
    patch = _patch(view)
    inner: Any = ndimage.binary_erosion(patch.hazard, np.ones((3, 3)), iterations=INNER_PX)
    (level, noise), (level_around, noise_around) = _grain(patch.edited), _grain(patch.source)
    ratios: list[tuple[float, int]] = []
    for low in range(0, 256, BIN_LEVELS):
        ours = inner & (level >= low) & (level < low + BIN_LEVELS)
        theirs = patch.around & (level_around >= low) & (level_around < low + BIN_LEVELS)
        count = int(ours.sum())
        if count >= LEAST_PIXELS and int(theirs.sum()) >= LEAST_PIXELS:
            found, wanted = (float(np.percentile(values, SMOOTHEST)) for values in (noise[ours], noise_around[theirs]))
            ratios.append(((found + FLOOR) / (wanted + FLOOR), count))
    if not ratios:
        return Reading(None, "nothing around the hazard is as bright as it is, or it is too small")
    logs, weights = np.log([ratio for ratio, _ in ratios]), [count for _, count in ratios]
    return Reading(float(np.exp(np.average(logs, weights=weights))))


def blur_excess_px(view: ViewSubject) -> Reading:
    """Return how much blurrier the hazard's sharpest edges are than the surroundings', standard deviation in pixels."""
    patch = _patch(view)
    outer: Any = ndimage.binary_dilation(patch.hazard, np.ones((3, 3)), iterations=2)
    found, wanted = _blur(patch.edited, outer), _blur(patch.source, patch.around)
    if found is None or wanted is None:
        return Reading(None, f"too few edges {'in the hazard' if found is None else 'around the hazard'}")
    return Reading(found - wanted)


def _patch(view: ViewSubject) -> _Patch:
    pixels = view.pixels
    rows, columns = silhouettes.window_of(pixels.object_mask)
    reach = max(NEAR_PX, rows.stop - rows.start, columns.stop - columns.start)
    height, width = pixels.object_mask.shape
    part = (
        slice(max(0, rows.start - reach), min(height, rows.stop + reach)),
        slice(max(0, columns.start - reach), min(width, columns.stop + reach)),
    )
    return _Patch(
        _grey(pixels.edited[part]), _grey(pixels.source[part]), pixels.object_mask[part], ~pixels.edit_mask[part]
    )


def _grey(picture: Rgb) -> Levels:
    whole = picture.astype(np.float32)
    return 0.299 * whole[..., 0] + 0.587 * whole[..., 1] + 0.114 * whole[..., 2]


def _grain(grey: Levels) -> tuple[Levels, Levels]:
    """Return brightness and local noise of each pixel."""
    rough: Any = ndimage.convolve(grey, _KERNEL, mode="nearest")
    level: Any = ndimage.uniform_filter(grey, 5, mode="nearest")
    power: Any = ndimage.uniform_filter(rough * rough, 5, mode="nearest")
    return level, np.sqrt(np.maximum(power, 0))


def _blur(grey: Levels, where: Pixels) -> float | None:
    """Return the blur of the sharpest edges in a part, pixels; None when there are too few."""
    fine: Any = ndimage.gaussian_gradient_magnitude(grey, FINE_PX)
    ridge = fine >= 0.95 * ndimage.maximum_filter(fine, 3)
    edges = where & ridge & (fine >= LEAST_STEEPNESS)
    if int(edges.sum()) < LEAST_EDGE:
        return None
    coarse: Any = ndimage.gaussian_gradient_magnitude(grey, COARSE_PX)
    ratio = np.maximum(fine[edges] / np.maximum(coarse[edges], 1e-6), 1.0 + 1e-3) ** 2
    own = (COARSE_PX**2 - ratio * FINE_PX**2) / (ratio - 1)
    return float(np.percentile(np.sqrt(np.clip(own, 0, 36)), SHARPEST))
