"""Masks as a network might draw them: too large or small, uneven, with holes and specks; the same for one seed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from scipy import ndimage

from data_registry.silhouettes import Pixels, window_of

AROUND_PX: Final = 12
"""Pixels around a mask that faults may reach."""
UNEVEN_PX: Final = 2.0
WAVE_PX: Final = 6.0
"""How far an uneven edge strays, and over which distance along it."""
HOLES_SHARE: Final = 0.1
HOLE_SHARE: Final = 0.05
"""Share of a mask that is missing, in squares of this share of its height."""
SPECKS: Final = 12
SPECK_PX: Final = 3


def grown(mask: Pixels, _draw: np.random.Generator, pixels: int) -> Pixels:
    """Return the mask wider by some pixels, or narrower by less than none."""
    change = ndimage.binary_dilation if pixels > 0 else partial(ndimage.binary_erosion, border_value=1)
    found: Any = change(mask, iterations=abs(pixels))
    return found


def uneven(mask: Pixels, draw: np.random.Generator) -> Pixels:
    """Return the mask with an edge that strays to both sides."""
    if not mask.any():
        return mask
    rows, columns = window_of(mask)
    part = (
        slice(max(0, rows.start - AROUND_PX), rows.stop + AROUND_PX),
        slice(max(0, columns.start - AROUND_PX), columns.stop + AROUND_PX),
    )
    inside = mask[part]
    noise = ndimage.gaussian_filter(draw.normal(size=inside.shape), WAVE_PX)
    distance: Any = ndimage.distance_transform_edt
    outward = distance(~inside) - distance(inside)
    changed = np.zeros_like(mask)
    changed[part] = outward < UNEVEN_PX * noise / noise.std()
    return changed


def holed(mask: Pixels, draw: np.random.Generator) -> Pixels:
    """Return the mask without a tenth of it."""
    rows, columns = np.nonzero(mask)
    changed = mask.copy()
    if len(rows):
        side = max(1, int(HOLE_SHARE * (np.ptp(rows) + 1)))
        for index in draw.integers(0, len(rows), max(1, int(HOLES_SHARE * len(rows) / side**2))):
            changed[rows[index] : rows[index] + side, columns[index] : columns[index] + side] = False
    return changed


def specked(mask: Pixels, draw: np.random.Generator) -> Pixels:
    """Return the mask with specks anywhere in the picture."""
    changed = mask.copy()
    height, width = mask.shape
    places = zip(draw.integers(0, height - SPECK_PX, SPECKS), draw.integers(0, width - SPECK_PX, SPECKS), strict=True)
    for row, column in places:
        changed[row : row + SPECK_PX, column : column + SPECK_PX] = True
    return changed


Fault = Callable[[Pixels, np.random.Generator], Pixels]
FAULTS: Final[dict[str, Fault]] = {
    "2 px too wide": partial(grown, pixels=2),
    "4 px too wide": partial(grown, pixels=4),
    "2 px too narrow": partial(grown, pixels=-2),
    "4 px too narrow": partial(grown, pixels=-4),
    "edge strays by 2 px": uneven,
    "a tenth is missing": holed,
    "specks": specked,
}
