"""Small pictures that let a person judge an edit: the edited view, and before and after of what changed."""

from __future__ import annotations

from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from data_registry.edits import Window
from data_registry.geometry import Array, GroundPlane, PinholeCamera
from data_registry.pictures import Rgb
from data_registry.records import Quad

WIDTH: Final = 640
"""Width of a panel, pixels."""
_GAP: Final = 4
_OUTLINE: Final = (255, 140, 0)
_LABEL_BACKGROUND: Final = (20, 20, 20)


def pair_panel(source: Rgb, edited: Rgb, window: Window, outline: Array | None) -> Image.Image:
    """Return a panel: the edited view on top, the changed part before (left) and after (right) below it.

    Args:
        source: decoded source picture (height, width, 3).
        edited: edited picture of the same size.
        window: the changed part.
        outline: hazard region in pixels (N, 2), drawn on the edited view; None draws nothing.
    """
    height, width = source.shape[:2]
    scale = WIDTH / width
    size = (WIDTH, round(height * scale))
    top = Image.fromarray(edited).resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    if outline is not None and np.isfinite(outline).all():
        corners = [(float(x) * scale, float(y) * scale) for x, y in outline]
        ImageDraw.Draw(top).line([*corners, corners[0]], fill=_OUTLINE, width=2)
    half = (WIDTH - _GAP) // 2
    frame = _widened(window, (width, height))
    panel = Image.new("RGB", (WIDTH, top.height + _GAP + half * 9 // 16), "white")
    panel.paste(top, (0, 0))
    for column, (label, pixels) in enumerate((("source", source), ("edited", edited))):
        crop = Image.fromarray(pixels[frame[1] : frame[3], frame[0] : frame[2]])
        crop = crop.resize((half, half * 9 // 16), Image.Resampling.LANCZOS, reducing_gap=2.0)
        _label(crop, label)
        panel.paste(crop, (column * (half + _GAP), top.height + _GAP))
    return panel


def region_outline(quad: Quad, ground: GroundPlane, camera: PinholeCamera) -> Array | None:
    """Return a region's ground outline in pixels (N, 2), a point every 5 % of a side; None when part is out of view."""
    corners = np.array(quad)
    steps = np.linspace(0, 1, 20, endpoint=False)[:, None]
    sides = [start + (end - start) * steps for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    pixels, _ = camera.project(ground.lift(np.concatenate(sides)))
    return pixels if np.isfinite(pixels).all() else None


def _widened(window: Window, size: tuple[int, int]) -> Window:
    """Return a 16:9 frame around a window with a quarter of context on each side, inside the picture."""
    left, top, right, bottom = window
    width, height = size
    wide = min(width, max(1.5 * (right - left), 1.5 * (bottom - top) * 16 / 9, 160.0))
    high = min(height, wide * 9 / 16)
    x = min(max((left + right - wide) / 2, 0.0), width - wide)
    y = min(max((top + bottom - high) / 2, 0.0), height - high)
    return round(x), round(y), round(x + wide), round(y + high)


def _label(picture: Image.Image, text: str) -> None:
    draw = ImageDraw.Draw(picture)
    box = draw.textbbox((6, 4), text)
    draw.rectangle((box[0] - 4, box[1] - 2, box[2] + 4, box[3] + 2), fill=_LABEL_BACKGROUND)
    draw.text((6, 4), text, fill="white")
