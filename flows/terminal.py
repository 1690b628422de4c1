"""Tables as plain text: of one width, whatever the terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console, RenderableType

WIDTH: Final = 110
"""Characters a line at most."""
_ANY_HEIGHT: Final = 25
"""Without a height rich asks the terminal for its width, too, and takes 80 for one that is dumb."""


def plain_text(*parts: RenderableType, width: int = WIDTH) -> str:
    """Return what rich prints, without colours and without spaces at the ends of lines."""
    console = Console(width=width, height=_ANY_HEIGHT, color_system=None, emoji=False, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
