"""Writes what a benchmark measured into its section of a page in docs/, so that nobody types a figure."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"


class PageError(ValueError):
    """The page has no section for a benchmark."""


def report(name: str, lines: list[str], page: Path = PAGE) -> None:
    """Print a benchmark's lines; with `--write` on the command line also put them into its section of a page.

    Raises:
        PageError: the page has no markers `<!-- NAME -->` and `<!-- /NAME -->`.
    """
    text = "\n".join(lines)
    print(text)
    if "--write" in sys.argv:
        page.write_text(replaced(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def replaced(page: str, name: str, text: str) -> str:
    """Return the page with a section's content replaced; raises PageError when it has no such section."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if page.count(start) != 1 or page.count(end) != 1 or page.index(start) > page.index(end):
        raise PageError(f"the page has no section {start} ... {end}: add one for this benchmark")
    head, tail = page.split(start)[0], page.split(end)[1]
    machine = f"Python {platform.python_version()}, {platform.machine()}"
    return f"{head}{start}\n```\n{text}\n```\n{machine}; written by `benchmarks/{name}.py --write`.\n{end}{tail}"
