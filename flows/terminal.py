"""Tables as plain text: of one width, unless a narrower terminal shows them."""

from __future__ import annotations

import os
import sys
from typing import Final

from rich.console import Console, RenderableType
from rich.table import Table

WIDTH: Final = 110
"""Characters a line at most."""
_NARROWEST: Final = 60
"""Below this a table is better broken by the terminal than folded."""
_ANY_HEIGHT: Final = 25
"""Without a height rich asks the terminal for its width, too, and takes 80 for one that is dumb."""


def fitting(width: int = WIDTH) -> int:
    """Return a width, or that of the terminal which standard output goes to, when it is narrower."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError, AttributeError):  # a file, a pipe, or no real stream: what is written there stays wide
        return width
    return min(width, max(columns, _NARROWEST)) if columns else width


def plain_text(*parts: RenderableType, width: int = WIDTH) -> str:
    """Return what rich prints, without colours and without spaces at the ends of lines."""
    console = Console(width=fitting(width), height=_ANY_HEIGHT, color_system=None, emoji=False, highlight=False)
    with console.capture() as captured:
        for part in parts:
            if console.width < width:
                _folded(part)
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _folded(part: RenderableType) -> None:
    """Let cells run over several lines, where rich would cut words; numbers stay whole, and ids if they can."""
    columns = part.columns if isinstance(part, Table) else []
    has_numbers = any(column.justify == "right" for column in columns)
    for place, column in enumerate(columns):
        column.overflow = "fold"
        column.no_wrap = column.justify == "right" or (place == 0 and not has_numbers)
