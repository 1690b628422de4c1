"""Checks of what is left of the source: behind a hazard nothing should be, around it everything that light left.

A shadow multiplies what it falls on, a lamp or a reflection adds to it; both leave its fine detail in place. What is
painted anew, or smeared, has other detail or none, and what shines through a hazard brings its detail along. So the
source's own finest detail, grain included, tells: how much of it is still there is a regression coefficient.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import ndimage

from data_registry import silhouettes
from data_registry.silhouettes import Pixels
from qa_audit.evidence import Reading, ViewSubject
from qa_audit.texture import Levels, grey_levels, grown

FINE_PX: Final = 1.0
"""Standard deviation, pixels: detail is what a blur so wide takes away."""
INNER_PX: Final = 3
"""What shines through is looked for so far inside the hazard's outline, where no edge mixes in."""
OUTER_PX: Final = 4
"""So near to the object mask a change may be the hazard's own edge, or a mask that is a little small."""
LEAST_PIXELS: Final = 60
LARGEST_ERROR: Final = 0.1
"""A coefficient that is less sure than this (standard error) tells nothing: the source has too little detail."""
OUTLIER: Final = 3.0
"""Detail counts up to so many times its usual strength, so that a few edges do not outvote all the rest."""
ROUNDING: Final = 2.0
"""Grey levels added to that: rounding alone makes as much."""
GAIN_PX: Final = 2.0
"""Over such a blur the ratio of edit and source is the light's."""
DARKEST: Final = 0.35
"""Where less light is left, and beside it, detail drowns in rounding and the edges of contact shadows."""
BLACK: Final = 4.0
"""Grey levels added to both before they are divided, so that dark pixels give no wild ratios."""

EVEN_PX: Final = 5
"""Side of the median of ratios: it keeps a shadow's edge, and nothing of what is painted in."""
GLOW_PX: Final = 4.0
"""Added light that changes within less is no glow and no reflection on a road."""
SEEN_LEVELS: Final = 10.0
"""Smaller unexplained differences no eye sees, grey levels."""


def see_through(view: ViewSubject) -> Reading:
    """Return how much of the source's fine detail is still in the hazard: 0 when it is opaque, else 1 - opacity."""
    part = view.around(INNER_PX + 1)
    hazard = view.pixels.object_mask[part]
    inner = hazard & ~grown(~hazard, INNER_PX)
    edited, source = (grey_levels(picture[part]) for picture in (view.pixels.edited, view.pixels.source))
    return _kept(_fine(source)[inner], _fine(edited)[inner], "too little of the hazard is seen", by_edited=True)


def detail_kept_around(view: ViewSubject) -> Reading:
    """Return how much of the source's fine detail is left where the edit changed what surrounds the hazard.

    1 in shadows and reflections, 0 where something was painted or smeared; less than 1 after JPEG.
    """
    edited, source, around = _around(view)
    gain = (ndimage.gaussian_filter(edited, GAIN_PX) + BLACK) / (ndimage.gaussian_filter(source, GAIN_PX) + BLACK)
    told = around & ~grown(gain < DARKEST, int(2 * GAIN_PX))
    wanted = _fine(source) * np.minimum(gain, 1.0)  # what light adds leaves detail as it is
    return _kept(wanted[told], _fine(edited)[told], "too little was changed around the hazard", by_edited=False)


def unexplained_share(view: ViewSubject) -> Reading:
    """Return the area around the hazard whose change no light explains, over the hazard's area.

    Light explains what keeps the source's texture: darker by a ratio that is even but for a shadow's edge, or lighter
    by what changes gently. New things, stripes and textures do neither.
    """
    area = int(view.pixels.object_mask.sum())
    if not area:
        return Reading(None, "the hazard is not seen")
    edited, source, around = _around(view)
    if not around.any():
        return Reading(0.0)
    ratio: Any = ndimage.median_filter((edited + BLACK) / (source + BLACK), EVEN_PX)
    glow: Any = ndimage.gaussian_filter(np.maximum(edited - source, 0), GLOW_PX)
    as_shadow = np.abs(edited + BLACK - np.minimum(ratio, 1.0) * (source + BLACK))
    unexplained = np.minimum(as_shadow, np.abs(edited - source - glow)) > SEEN_LEVELS
    return Reading(float((unexplained & around).sum()) / area)


def _around(view: ViewSubject) -> tuple[Levels, Levels, Pixels]:
    """Return edit and source around the hazard, and which pixels changed there: in the edit mask, clear of the hazard.

    Only the window that holds such changes is looked at: an edit mask may be as large as the picture.
    """
    pixels, margin = view.pixels, int(3 * GLOW_PX)
    wide = silhouettes.wider(silhouettes.window_of(pixels.edit_mask), OUTER_PX, pixels.edit_mask.shape)
    differs = pixels.edited[wide] != pixels.source[wide]
    changed = np.zeros_like(pixels.edit_mask)
    changed[wide] = pixels.edit_mask[wide] & ~grown(pixels.object_mask[wide], OUTER_PX)
    changed[wide] &= differs[..., 0] | differs[..., 1] | differs[..., 2]
    part = silhouettes.wider(silhouettes.window_of(changed), margin, changed.shape)
    return grey_levels(pixels.edited[part]), grey_levels(pixels.source[part]), changed[part]


def _fine(grey: Levels) -> Levels:
    blurred: Any = ndimage.gaussian_filter(grey, FINE_PX)
    return grey - blurred


def _kept(source: Levels, edited: Levels, too_few: str, by_edited: bool) -> Reading:
    """Return the coefficient of edited (N,) on source detail (N,), or why it is not known.

    Outliers are told by the usual strength of the source's detail, or `by_edited` by the edit's: whichever is plain.
    """
    if len(source) < LEAST_PIXELS:
        return Reading(None, too_few)
    usual = 1.4826 * float(np.median(np.abs(edited if by_edited else source)))
    limit = OUTLIER * usual + ROUNDING
    edited = np.clip(edited, -limit, limit)
    if not by_edited:
        source = np.clip(source, -limit, limit)
    power = float(np.square(source, dtype=np.float64).sum())
    if power == 0:
        return Reading(None, "the source has no detail there")
    share = float(np.multiply(source, edited, dtype=np.float64).sum()) / power
    error = float(np.sqrt(np.square(edited - share * source, dtype=np.float64).mean() / power))
    if error > LARGEST_ERROR:
        return Reading(None, "the source has too little detail there")
    return Reading(share)
