"""Faults made on purpose in an edit's pixels and masks; each at several strengths.

A fault takes the views of a good candidate, and gives those of a bad one, or None where this candidate cannot have it.
Nothing is drawn anew: what has to be drawn elsewhere is in `misplaced`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage

from data_registry import silhouettes
from data_registry.pictures import Rgb
from data_registry.silhouettes import Pixels
from qa_audit.evidence import PairSubject, ViewPixels, ViewSubject

Levels = npt.NDArray[np.float32]
"""Colours (H, W, 3), grey levels of 255."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault."""

    name: str
    strengths: tuple[float, ...]
    """From weak to strong."""
    unit: str
    make: Callable[[PairSubject, float], PairSubject | None]
    """Gives the bad candidate, None where the good one cannot have the fault."""


def _each_view(change: Callable[[ViewSubject, float], ViewPixels | None]) -> Callable[..., PairSubject | None]:
    """Turn a change of one view into a fault of all views."""

    def make(pair: PairSubject, strength: float) -> PairSubject | None:
        changed = [(view, change(view, strength)) for view in pair.views]
        views = [replace(view, pixels=pixels) for view, pixels in changed if pixels is not None]
        return replace(pair, views=tuple(views)) if len(views) == len(pair.views) else None

    return make


def repainted(pixels: ViewPixels, colours: Levels, where: Pixels) -> ViewPixels:
    """Return a view with other colours, where the edit mask lets it."""
    inside = where & pixels.edit_mask
    edited = pixels.edited.copy()
    edited[inside] = np.rint(np.clip(colours[inside], 0, 255)).astype(np.uint8)
    return replace(pixels, edited=edited, stored=np.where(pixels.edit_mask[..., None], edited, np.uint8(0)))


def remasked(pixels: ViewPixels, edit_mask: Pixels, object_mask: Pixels) -> ViewPixels:
    """Return a view whose edit is kept within other masks."""
    edited = np.where(edit_mask[..., None], pixels.edited, pixels.source)
    stored = np.where(edit_mask[..., None], edited, np.uint8(0))
    return replace(pixels, edited=edited, stored=stored, edit_mask=edit_mask, object_mask=object_mask & edit_mask)


def _hazard(view: ViewSubject) -> Pixels:
    """Return the hazard with the mixed pixels of its edge."""
    wider: Any = ndimage.binary_dilation(view.pixels.object_mask)
    return wider


def _background_pixel(view: ViewSubject, strength: float) -> ViewPixels:
    pixels, edited, stored = view.pixels, view.pixels.edited.copy(), view.pixels.stored.copy()
    for row, column in np.argwhere(~pixels.edit_mask)[: int(strength)]:
        edited[row, column] ^= 1
        stored[row, column] = 1
    return replace(pixels, edited=edited, stored=stored)


def _near_copy(view: ViewSubject, strength: float) -> ViewPixels:
    source, edited = (picture.astype(np.float32) for picture in (view.pixels.source, view.pixels.edited))
    return repainted(view.pixels, source + strength / 100 * (edited - source), view.pixels.edit_mask)


def _cast(view: ViewSubject, strength: float, where: Pixels) -> ViewPixels:
    turn = np.array([1 + strength / 100, 1.0, 1 - strength / 100], dtype=np.float32)
    return repainted(view.pixels, view.pixels.edited * turn, where)


def _exposed(view: ViewSubject, strength: float) -> ViewPixels:
    return repainted(view.pixels, view.pixels.edited * np.float32(strength), _hazard(view))


def _halo(view: ViewSubject, strength: float) -> ViewPixels:
    pixels = view.pixels
    inside: Any = ndimage.distance_transform_edt(pixels.edit_mask)
    fade = np.clip(inside / 4, 0, 1)[..., None].astype(np.float32)
    return repainted(pixels, pixels.edited + np.float32(strength) * fade, pixels.edit_mask & ~pixels.object_mask)


def _offset(view: ViewSubject, strength: float) -> ViewPixels:
    return repainted(view.pixels, view.pixels.edited + np.float32(strength), view.pixels.edit_mask)


def _blurred(view: ViewSubject, strength: float) -> ViewPixels:
    soft: Any = ndimage.gaussian_filter(view.pixels.edited.astype(np.float32), (strength, strength, 0))
    wider: Any = ndimage.binary_dilation(view.pixels.object_mask, iterations=int(np.ceil(2 * strength)))
    return repainted(view.pixels, soft, wider)


def _sharpened(view: ViewSubject, strength: float) -> ViewPixels:
    edited = view.pixels.edited.astype(np.float32)
    soft: Any = ndimage.gaussian_filter(edited, (1.0, 1.0, 0))
    return repainted(view.pixels, edited + strength * (edited - soft), _hazard(view))


def _denoised(view: ViewSubject, strength: float) -> ViewPixels:
    part, size = view.around(int(strength)), (int(strength), int(strength), 1)
    calm = view.pixels.edited.astype(np.float32)
    calm[part] = ndimage.median_filter(calm[part], size)
    return repainted(view.pixels, calm, view.pixels.object_mask)


def _noisy(view: ViewSubject, strength: float) -> ViewPixels:
    draw = np.random.Generator(np.random.PCG64(0)).normal(0, strength, view.pixels.edited.shape)
    return repainted(view.pixels, view.pixels.edited + draw.astype(np.float32), view.pixels.object_mask)


def _clipped(view: ViewSubject, strength: float) -> ViewPixels | None:
    """Let the edit mask end where a share of the hazard is still to come, at its right."""
    columns = np.flatnonzero(view.pixels.object_mask.any(axis=0))
    heap = np.cumsum(view.pixels.object_mask[:, columns[0] : columns[-1] + 1].sum(axis=0))
    cut = columns[0] + int(np.searchsorted(heap, (1 - strength / 100) * heap[-1]))
    if columns[-1] - columns[0] < 12 or columns[-1] >= view.pixels.object_mask.shape[1] - 12:
        return None
    kept = np.zeros(view.pixels.edit_mask.shape, np.bool_)
    kept[:, :cut] = True
    return remasked(view.pixels, view.pixels.edit_mask & kept, view.pixels.object_mask & kept)


def _speck(view: ViewSubject, strength: float) -> ViewPixels:
    """Keep so many pixels of the hazard only."""
    seen = np.argwhere(view.pixels.object_mask)
    middle = seen[len(seen) // 2]
    nearest = seen[np.argsort(np.abs(seen - middle).max(axis=1), kind="stable")[: int(strength)]]
    mask = np.zeros(view.pixels.object_mask.shape, np.bool_)
    mask[nearest[:, 0], nearest[:, 1]] = True
    around: Any = ndimage.binary_dilation(mask, np.ones((3, 3)), iterations=6)
    return remasked(view.pixels, view.pixels.edit_mask & around, mask)


def _wide(view: ViewSubject, strength: float) -> ViewPixels | None:
    """Let the edit mask be a rectangle, so many times as large as the hazard."""
    rows, columns = silhouettes.window_of(view.pixels.object_mask)
    height, width = rows.stop - rows.start, columns.stop - columns.start
    want = strength * float(view.pixels.object_mask.sum())
    if want > 0.9 * view.pixels.object_mask.size:
        return None
    margin = int((np.sqrt((height - width) ** 2 + 4 * want) - height - width) / 4)
    mask = np.zeros(view.pixels.edit_mask.shape, np.bool_)
    mask[silhouettes.wider((rows, columns), max(0, margin), mask.shape)] = True
    return remasked(view.pixels, mask | view.pixels.edit_mask, view.pixels.object_mask)


def _second(view: ViewSubject, strength: float) -> ViewPixels | None:
    """Paste the hazard once more, so many pixels beside itself: in the edit mask, not in the object mask."""
    pixels, columns = view.pixels, np.flatnonzero(view.pixels.object_mask.any(axis=0))
    step = int(columns[-1] - columns[0] + 1 + strength)
    for shift in (step, -step):
        if columns[0] + shift >= 0 and columns[-1] + shift < pixels.object_mask.shape[1]:
            copy = np.roll(pixels.object_mask, shift, axis=1)
            around: Any = ndimage.binary_dilation(copy, np.ones((3, 3)), iterations=10)
            wider = remasked(pixels, pixels.edit_mask | around, pixels.object_mask)
            return repainted(wider, np.roll(pixels.edited, shift, axis=1).astype(np.float32), copy)
    return None


def _striped(view: ViewSubject, strength: float) -> ViewPixels:
    """Paint slanting stripes, so many grey levels lighter, 10 to about 30 pixels around the hazard."""
    wider: Any = ndimage.binary_dilation(view.pixels.edit_mask, np.ones((3, 3)), iterations=25)
    pixels = remasked(view.pixels, wider, view.pixels.object_mask)
    near: Any = ndimage.binary_dilation(pixels.object_mask, np.ones((3, 3)), iterations=9)
    inner: Any = ndimage.binary_erosion(wider, iterations=4)
    rows, columns = np.indices(near.shape)
    stripes = (rows + columns) % 20 < 10
    return repainted(pixels, pixels.edited + np.float32(strength), inner & ~near & stripes)


def _smeared(view: ViewSubject, strength: float) -> ViewPixels:
    """Blur the source around the hazard, inside the edit mask."""
    soft: Any = ndimage.gaussian_filter(view.pixels.source.astype(np.float32), (strength, strength, 0))
    inner: Any = ndimage.binary_erosion(view.pixels.edit_mask, iterations=4)
    return repainted(view.pixels, soft, inner & ~view.pixels.object_mask)


def _half_masked(view: ViewSubject, strength: float) -> ViewPixels | None:
    """Leave such a share of the hazard out of the object mask, at its left."""
    heap = np.cumsum(view.pixels.object_mask.sum(axis=0))
    mask = view.pixels.object_mask.copy()
    mask[:, : int(np.searchsorted(heap, strength / 100 * heap[-1]))] = False
    return replace(view.pixels, object_mask=mask) if mask.any() else None


def _ghost(view: ViewSubject, strength: float) -> ViewPixels:
    """Let the source shine through: the hazard at such an opacity."""
    source, edited = (picture.astype(np.float32) for picture in (view.pixels.source, view.pixels.edited))
    return repainted(view.pixels, source + strength / 100 * (edited - source), view.pixels.edit_mask)


def _flat(view: ViewSubject, strength: float) -> ViewPixels:
    """Fill the hazard with middle grey and so much noise."""
    noise = np.random.Generator(np.random.PCG64(0)).normal(0, strength, view.pixels.edited.shape)
    return repainted(view.pixels, (128 + noise).astype(np.float32), view.pixels.object_mask)


def _over_nearer(view: ViewSubject, _: float) -> ViewPixels | None:
    """Paint the hazard over what stands before it."""
    over = silhouettes.fill(view.expected.camera, [view.expected.outline]) & view.expected.hidden
    if over.sum() < 60 or view.placement.kind == "surface":
        return None
    around: Any = ndimage.binary_dilation(over, np.ones((3, 3)), iterations=8)
    pixels = remasked(view.pixels, view.pixels.edit_mask | around, view.pixels.object_mask)
    colour = pixels.edited[pixels.object_mask].mean(axis=0)
    painted = repainted(pixels, np.broadcast_to(colour.astype(np.float32), pixels.edited.shape), over)
    return replace(painted, object_mask=painted.object_mask | over)


def _encoded(view: ViewSubject, strength: float) -> ViewPixels:
    """Send the edit through JPEG, as editors that give back a file do."""
    stream = BytesIO()
    Image.fromarray(view.pixels.edited).save(stream, "JPEG", quality=int(strength))
    coded: Rgb = np.asarray(Image.open(stream).convert("RGB"))
    return repainted(view.pixels, coded.astype(np.float32), view.pixels.edit_mask)


def _segmented(view: ViewSubject, strength: float) -> ViewPixels | None:
    """Let the object mask be too large (positive) or too small by so many pixels, as a segmentation's is."""
    change = ndimage.binary_dilation if strength > 0 else ndimage.binary_erosion
    mask: Any = change(view.pixels.object_mask, np.ones((3, 3)), iterations=abs(int(strength)))
    return remasked(view.pixels, view.pixels.edit_mask, mask) if mask.any() else None


PIXEL_FAULTS: Final = (
    Fault("background touched", (1,), "pixels", _each_view(_background_pixel)),
    Fault("near-copy", (20, 10, 5, 0), "% of the change", _each_view(_near_copy)),
    Fault("speck", (90, 50, 25), "pixels", _each_view(_speck)),
    Fault("colour cast of the hazard", (10, 20, 40), "%", _each_view(lambda v, s: _cast(v, s, _hazard(v)))),
    Fault("colour cast of the edit", (5, 10, 20), "%", _each_view(lambda v, s: _cast(v, s, v.pixels.edit_mask))),
    Fault("hazard too dark", (0.7, 0.5, 0.3), "times", _each_view(_exposed)),
    Fault("hazard too light", (1.4, 2.0, 3.0), "times", _each_view(_exposed)),
    Fault("light halo", (15, 30, 60), "grey levels", _each_view(_halo)),
    Fault("dark halo", (-30, -60, -90), "grey levels", _each_view(_halo)),
    Fault("seam", (4, 8, 16, 32), "grey levels", _each_view(_offset)),
    Fault("blurred", (1, 1.5, 2, 3), "pixels", _each_view(_blurred)),
    Fault("sharpened", (1, 2, 4), "times", _each_view(_sharpened)),
    Fault("without grain", (3, 5, 9), "pixels of the median", _each_view(_denoised)),
    Fault("too much grain", (4, 8, 16), "grey levels", _each_view(_noisy)),
    Fault("clipped", (5, 15, 30, 50), "% of the hazard", _each_view(_clipped)),
    Fault("edit far too wide", (20, 40), "times the hazard", _each_view(_wide)),
    Fault("second hazard", (60, 20), "pixels beside it", _each_view(_second)),
    Fault("stripes around", (15, 30, 60), "grey levels", _each_view(_striped)),
    Fault("smeared around", (1, 3, 6), "pixels", _each_view(_smeared)),
    Fault("half mask", (25, 50), "% left out", _each_view(_half_masked)),
    Fault("ghost", (70, 50, 35), "% opaque", _each_view(_ghost)),
    Fault("flat patch", (1, 0), "grey levels of noise", _each_view(_flat)),
)
"""Faults that no redrawing needs."""

OVER_NEARER: Final = Fault("over a nearer object", (1,), "", _each_view(_over_nearer))
"""A fault of hazards that something hides in part."""

BLEMISHES: Final = (
    Fault("sent through JPEG", (90,), "quality", _each_view(_encoded)),
    Fault("mask a little large", (2,), "pixels", _each_view(_segmented)),
    Fault("mask a little small", (-1,), "pixels", _each_view(_segmented)),
)
"""What is no fault: good edits with these must still pass."""
