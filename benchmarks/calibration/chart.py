"""One picture of all curves: a small square a limit, its area beside its name, a dot where the limit lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.calibration.roc import Curve

ACROSS: Final = 6
SQUARE: Final = 168
CELL: Final = (212, 236)
MARGIN: Final = 26
SMOOTH: Final = 2
"""Drawn so many times as large, then made small: lines without steps."""
INK, GREY, LINE, DOT = (25, 25, 25), (120, 120, 120), (23, 92, 160), (200, 60, 30)


def chart(curves: Sequence[Curve]) -> Image.Image:
    """Return the picture of the curves that there are enough edits for, in their order."""
    shown = [curve for curve in curves if curve.area is not None]
    rows = -(-len(shown) // ACROSS)
    size = (SMOOTH * (ACROSS * CELL[0] + MARGIN), SMOOTH * (rows * CELL[1] + 2 * MARGIN))
    picture = Image.new("RGB", size, "white")
    for number, one in enumerate(shown):
        _square(picture, (number % ACROSS * CELL[0] + MARGIN, number // ACROSS * CELL[1] + MARGIN), one)
    words = "Across: share of good edits rejected; up: share of bad ones caught; both 0 to 1. Dot: the limit chosen."
    _text(ImageDraw.Draw(picture), (MARGIN, rows * CELL[1] + MARGIN), words, GREY, 15)
    return picture.resize((size[0] // SMOOTH, size[1] // SMOOTH), Image.Resampling.LANCZOS)


def _square(picture: Image.Image, at: tuple[int, int], one: Curve) -> None:
    draw = ImageDraw.Draw(picture)
    sides = one.rule.at_least is not None and one.rule.at_most is not None
    name = one.rule.code + ({"at_least": " (low)", "at_most": " (high)"}[one.side] if sides else "")
    _text(draw, (at[0], at[1] - 4), name, INK, 14)
    _text(draw, (at[0] + 60, at[1] + 134), f"area {one.area:.3f}", GREY, 14)
    corner = (at[0], at[1] + 16)
    draw.rectangle([SMOOTH * value for value in (*corner, corner[0] + SQUARE, corner[1] + SQUARE)], outline=GREY)
    points = [_pixel(corner, rejected, caught) for rejected, caught in [*one.points().tolist(), (1.0, 1.0)]]
    draw.line([_pixel(corner, 0, 0), _pixel(corner, 1, 1)], fill=(225, 225, 225), width=SMOOTH)
    draw.line(points, fill=LINE, width=2 * SMOOTH)
    x, y = _pixel(corner, float((one.good > 0).mean()), float((one.bad > 0).mean()))
    draw.ellipse((x - 5 * SMOOTH, y - 5 * SMOOTH, x + 5 * SMOOTH, y + 5 * SMOOTH), fill=DOT)


def _pixel(corner: tuple[int, int], rejected: float, caught: float) -> tuple[float, float]:
    return SMOOTH * (corner[0] + SQUARE * rejected), SMOOTH * (corner[1] + SQUARE * (1 - caught))


def _text(draw: ImageDraw.ImageDraw, at: tuple[int, int], words: str, colour: tuple[int, int, int], size: int) -> None:
    place = tuple(SMOOTH * np.array(at).astype(float))
    draw.text((float(place[0]), float(place[1])), words, fill=colour, font=ImageFont.load_default(size=SMOOTH * size))
