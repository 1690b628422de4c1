"""One picture of all tasks: source and edited side by side for one pair of each, under the headings of their families.

Made to be read in a README, where it is shown about 1,000 pixels wide. Nothing is drawn into the views: whether an edit
is found at once is what the sheet is there to tell.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from data_registry.edits import Window
from data_registry.pictures import Rgb

LARGEST_FILE: Final = 1_400_000
"""Bytes of the JPEG."""
_THUMB: Final = (388, 218)
_GAP: Final = 4
_MARGIN: Final = 20
_GUTTER: Final = 30
_CELL: Final = 2 * _THUMB[0] + _GAP
_WIDTH: Final = 2 * _MARGIN + 2 * _CELL + _GUTTER
_CAPTION: Final = 36
_ROW: Final = _CAPTION + _THUMB[1] + 18
_HEADING: Final = 58
_CONTEXT: Final = 0.55
"""Least share of the picture's width that a thumbnail shows: a hazard far away has to be seen in its surroundings."""
_INK, _GREY, _PALE = (25, 25, 25), (95, 95, 95), (238, 238, 238)


@dataclass(frozen=True, slots=True)
class View:
    """One edited view of a pair."""

    source: Rgb
    edited: Rgb
    window: Window
    """The part that changed."""


@dataclass(frozen=True, slots=True)
class TaskCell:
    """One task on the sheet."""

    family: str
    title: str
    note: str
    """Beside the title: where the pair is from and how far its hazard; without a view, why there is none."""
    view: View | None


def task_sheet(cells: Sequence[TaskCell]) -> Image.Image:
    """Return the sheet: two tasks a row, families in the order in which they first come; 1,630 pixels wide."""
    families = list(dict.fromkeys(cell.family for cell in cells))
    rows = sum(-(-sum(cell.family == family for cell in cells) // 2) for family in families)
    sheet = Image.new("RGB", (_WIDTH, _MARGIN + _HEADING * len(families) + _ROW * rows), "white")
    top = _MARGIN // 2
    for family in families:
        _heading(sheet, family, top, "source left, edited right" if family == families[0] else "")
        top += _HEADING
        members = [cell for cell in cells if cell.family == family]
        for number, cell in enumerate(members):
            left = _MARGIN + number % 2 * (_CELL + _GUTTER)
            sheet.paste(_drawn(cell), (left, top + number // 2 * _ROW))
        top += -(-len(members) // 2) * _ROW
    return sheet


def encoded(sheet: Image.Image) -> bytes:
    """Return the sheet as a JPEG of at most `LARGEST_FILE` bytes, as good as fits."""
    content = b""
    for quality in (88, 82, 76, 68, 58, 45, 30):
        buffer = io.BytesIO()
        sheet.save(buffer, "JPEG", quality=quality, optimize=True, progressive=True)
        content = buffer.getvalue()
        if len(content) <= LARGEST_FILE:
            break
    return content


def _heading(sheet: Image.Image, family: str, top: int, aside: str) -> None:
    draw = ImageDraw.Draw(sheet)
    draw.text((_MARGIN, top + 12), _plain(family), fill=_INK, font=ImageFont.load_default(size=30))
    draw.text((_WIDTH - _MARGIN, top + 20), aside, fill=_GREY, font=ImageFont.load_default(size=20), anchor="ra")
    draw.line((_MARGIN, top + 50, _WIDTH - _MARGIN, top + 50), fill=_GREY, width=2)


def _drawn(cell: TaskCell) -> Image.Image:
    """Return one task with its title above source and edited, or above a gap that says why there is no pair."""
    made = Image.new("RGB", (_CELL, _CAPTION + _THUMB[1]), "white")
    draw = ImageDraw.Draw(made)
    draw.text((0, 5), _plain(cell.title), fill=_INK, font=ImageFont.load_default(size=24))
    if cell.view is None:
        draw.rectangle((0, _CAPTION, _CELL, made.height), fill=_PALE)
        middle = (_CELL // 2, _CAPTION + _THUMB[1] // 2)
        draw.text(middle, _plain(cell.note), fill=_GREY, font=ImageFont.load_default(size=24), anchor="mm")
        return made
    draw.text((_CELL, 8), _plain(cell.note), fill=_GREY, font=ImageFont.load_default(size=20), anchor="ra")
    frame = _frame(cell.view)
    for column, pixels in enumerate((cell.view.source, cell.view.edited)):
        thumb = Image.fromarray(pixels).resize(_THUMB, Image.Resampling.LANCZOS, box=frame)
        made.paste(thumb, (column * (_THUMB[0] + _GAP), _CAPTION))
    return made


def _frame(view: View) -> tuple[float, float, float, float]:
    """Return the part of the picture to show: of the thumbnail's shape, around what changed, inside the picture."""
    left, top, right, bottom = view.window
    height, width = view.source.shape[:2]
    shape = _THUMB[0] / _THUMB[1]
    wanted = max(_CONTEXT * width, 1.25 * (right - left), 1.25 * (bottom - top) * shape)
    wide = min(wanted, float(width), height * shape)
    high = wide / shape
    x = min(max((left + right - wide) / 2, 0.0), width - wide)
    y = min(max((top + bottom - high) / 2, 0.0), height - high)
    return x, y, x + wide, y + high


def _plain(text: str) -> str:
    """Return a text in the letters that the font has."""
    return text.encode("ascii", "replace").decode()
