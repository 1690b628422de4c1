"""Why something did not go on, in a few words: the evidence of a rejection row as `required_decel 12.6 > 6`."""

from __future__ import annotations

import json
from typing import Any, Final

SHOWN: Final = 3
"""Reasons that a line names before it only counts."""
_LONGEST: Final = 200


def in_words(evidence: str) -> str:
    """Return the evidence of table `rejections` as one short line for a person.

    Of facts only those that do not hold are named, of findings all, of a judgement its reason. What is no such JSON, an
    error's text for example, stays as it is. Where all facts hold, it is a place that was missing.

    >>> in_words('[{"code": "low_realism", "value": 0.25, "limit": 0.4}]')
    'low_realism 0.25 < 0.4'
    >>> in_words("a.jpg is truncated")
    'a.jpg is truncated'
    """
    try:
        content = json.loads(evidence)
    except (ValueError, RecursionError):
        return _cut(evidence)
    if isinstance(content, dict) and "reason" in content:
        return _cut(str(content["reason"]))
    rows = content if isinstance(content, list) else []
    said = [words for row in rows if isinstance(row, dict) for words in _said(row)]
    more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    if not said and rows and all(isinstance(row, dict) and "holds" in row for row in rows):
        return f"nowhere to put it, though all that was measured ({len(rows)}) is as it should be"
    return _cut("; ".join(said[:SHOWN]) + more if said else evidence)


def _said(row: dict[str, Any]) -> list[str]:
    """Return nothing for a fact that holds."""
    if "code" in row:
        return [_compared(str(row["code"]), row.get("value"), row.get("limit"))]
    if row.get("holds", True):
        return []
    low, high, value = row.get("at_least"), row.get("at_most"), row.get("value")
    too_low = low is not None and (high is None or (_is_number(value) and value < low))
    return [_compared(str(row.get("name")), value, low if too_low else high)]


def _compared(name: str, value: Any, limit: Any) -> str:
    if value is None:
        return f"{name} unknown" + (f", limit {_short(limit)}" if limit is not None else "")
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if _is_number(value) and _is_number(limit):
        return f"{name} {_short(value)} {'<' if value < limit else '>'} {_short(limit)}"
    return f"{name}: {_short(value)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
