"""Addresses inside a report: what stands behind the # says which pairs are listed, so a link can be kept and sent."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

LIST: Final = "pairs"
SCORED: Final = "scored"
"""Outcomes of the list besides a failure's own reason, `failed:<reason>`; the page's script knows the same words."""
COUNTED: Final = "counted"
"""Scored or failed: what strict figures are about."""
CONTACT: Final = "contact"
CLEAR: Final = "clear"
FAILED: Final = "failed"
INELIGIBLE: Final = "ineligible"
PAIRED: Final = "paired"


def pairs_link(planner: str, outcome: str = "", level: str = "", group: str = "", **more: str) -> str:
    """Return the address of a planner's pairs with an outcome, of one family, task or split.

    >>> pairs_link("vad", "contact", "family", "lane_blockage", sort="hcc")
    '#pairs?planner=vad&outcome=contact&family=lane_blockage&sort=hcc'
    """
    wanted = {"planner": planner, "outcome": outcome}
    if level in ("family", "task", "split"):
        wanted[level] = group
    wanted |= more
    return f"#{LIST}?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in wanted.items() if value)


def failed_for(reason: str) -> str:
    """Return the outcome of predictions that failed for a reason."""
    return f"{FAILED}:{reason}"
