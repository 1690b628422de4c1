"""Checks of where an edit ends: a step along the border of its mask, a hazard that the mask cuts off.

Outside the edit mask the picture is the source, exactly. So along the mask's border the change itself is the step that
an eye may see: none where an editor leaves the pixels as they were, or fades to them. The edge of the picture is no
border.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import ndimage

from data_registry import silhouettes
from data_registry.silhouettes import Pixels
from qa_audit.evidence import Reading, ViewSubject

BORDER_PX: Final = 2
"""Width of the band inside the edit mask whose change is a step."""
RUN_PX: Final = 9
"""Along so many pixels a step must go the same way: noise does not, and no eye sees it."""
WORST: Final = 90.0
"""Percentile along the border that counts: a seam on a tenth of it is seen."""
CUT_PX: Final = 3
"""An outline so near to the edit mask's border ends there because the mask does: masks are good to a pixel or two."""
_AROUND: Final = np.ones((3, 3))


def seam_step(view: ViewSubject) -> Reading:
    """Return the step along the edit mask's border, grey levels: the change there, averaged along the border."""
    part = _window(view.pixels.edit_mask, RUN_PX)
    editable = view.pixels.edit_mask[part]
    border = editable & _grown(~editable, BORDER_PX)
    if not border.any():
        return Reading(None, "the edit mask has no border inside the picture")
    change = view.pixels.edited[part].astype(np.float32) - view.pixels.source[part]
    change[~border] = 0
    share = _mean(border.astype(np.float32))[border]
    steps = [np.abs(_mean(change[..., channel])[border]) / share for channel in range(3)]
    return Reading(float(np.percentile(np.max(steps, axis=0), WORST)))


def clipped_share(view: ViewSubject) -> Reading:
    """Return which share of the hazard's outline lies at the border of the edit mask, as if the mask cut it off.

    Where a nearer object hides the hazard its outline is that object's, and does not count.
    """
    part = _window(view.pixels.edit_mask, CUT_PX + 1)
    mask, editable = view.pixels.object_mask[part], view.pixels.edit_mask[part]
    if not mask.any():
        return Reading(None, "the hazard is not seen")
    outline = mask & _grown(~mask, 1)
    free = outline & ~_grown(view.expected.hidden[part], CUT_PX)
    if not free.any():
        return Reading(None, "the hazard has no outline of its own in the picture")
    return Reading(float((free & _grown(~editable, CUT_PX)).sum()) / float(free.sum()))


def _window(mask: Pixels, margin: int) -> tuple[slice, slice]:
    return silhouettes.wider(silhouettes.window_of(mask), margin, mask.shape)


def _grown(mask: Pixels, pixels: int) -> Pixels:
    """Return a mask, so many pixels wider; what lies outside the array adds nothing."""
    wider: Any = ndimage.binary_dilation(mask, _AROUND, iterations=pixels)
    return wider


def _mean(values: Any) -> Any:
    return ndimage.uniform_filter(values, RUN_PX, mode="constant")
