"""Numbers and names as a report writes them."""

from __future__ import annotations

from typing import Final

NONE: Final = "–"
OUTCOME_WORDS: Final = {
    "parse_failed": "answer not readable",
    "truncated": "answer cut off",
    "missing": "no answer",
    "error": "planner's error",
    "not_finite": "not finite",
    "length": "lengths differ",
    "order": "times not increasing",
    "start": "does not start at 0",
    "short": "too short",
    "heading_start": "wrong first heading",
}
METRIC_WORDS: Final = {
    "hcc": "hazard clearance compliance",
    "ur": "unsafe rate",
    "hpr": "hazard proximity response",
    "d": "distance to the region",
    "cts": "change of trajectory from source to edited",
    "cts_x": "its longitudinal part",
    "cts_y": "its lateral part",
}
PERCENT: Final = ("ur", "hcc", "hpr")
"""Metrics shown in percent; the others are metres."""


def titled(name: str) -> str:
    """Return a name in words.

    >>> titled("lane_blockage")
    'Lane blockage'
    """
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def number(value: float | None, metric: str, signed: bool = False) -> str:
    """Return a metric's value as shown: percent with one decimal, or metres with two; a dash for none.

    >>> number(0.1234, "hcc"), number(1.5, "cts"), number(None, "ur"), number(-0.02, "ur", signed=True)
    ('12.3', '1.50', '–', '−2.0')
    >>> number(-0.00001, "hcc", signed=True)
    '0.0'
    """
    if value is None:
        return NONE
    text = f"{100 * value:+.1f}" if metric in PERCENT else f"{value:+.2f}"
    keeps_plus = signed and float(text) != 0
    return (text if keeps_plus else text.lstrip("+-" if float(text) == 0 else "+")).replace("-", "−")


def p_value(value: float | None) -> str:
    """Return a p value as shown.

    >>> p_value(0.00004), p_value(0.0312), p_value(None)
    ('< 0.001', '0.031', '–')
    """
    if value is None:
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
