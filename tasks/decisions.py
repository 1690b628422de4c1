"""Human decisions: a JSONL file, one decision a line, read strictly; people write it, so it is a hostile input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from data_registry import identity
from data_registry.records import Human

LONGEST_LINE: Final = 65_536
"""Bytes; a decision with its reason needs far fewer."""
LARGEST_FILE: Final = 256 * 1024 * 1024
SHOWN: Final = 10


class DecisionsFileError(ValueError):
    """A file of human decisions is wrong; the message lists every problem with its line."""


def load_decisions(path: Path) -> tuple[Human, ...]:
    """Read human decisions, `{"pair_id", "edit_digest", "approve", "reason"}` a line, sorted by pair, then edit.

    Raises:
        DecisionsFileError: the file cannot be read, a line is no such object, or two lines decide about the same edit.
    """
    first: dict[tuple[str, str], tuple[int, Human]] = {}
    problems: list[str] = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            decision = _decision(line)
        except ValueError as error:
            problems.append(f"line {number}: {error}")
            continue
        key = (decision.pair_id, decision.edit_digest)
        if key in first:
            earlier, other = first[key]
            verb = "repeats" if other.approve == decision.approve else "contradicts"
            problems.append(f"line {number}: {verb} line {earlier} about {key[0]}@{key[1][:12]}; keep one of them")
            continue
        first[key] = (number, decision)
    if problems:
        raise _error(path, problems)
    return tuple(first[key][1] for key in sorted(first))


def _lines(path: Path) -> list[bytes]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise _error(path, [f"the file is larger than {LARGEST_FILE} bytes"])
        content = path.read_bytes()
    except OSError as error:
        raise _error(path, [f"the file cannot be read: {error.strerror}"]) from error
    return content.removesuffix(b"\n").split(b"\n") if content else []


def _decision(line: bytes) -> Human:
    """Return one line's decision; raises ValueError saying what is wrong with it."""
    if not line.strip():
        raise ValueError("is empty")
    if len(line) > LONGEST_LINE:
        raise ValueError(f"is longer than {LONGEST_LINE} bytes")
    try:
        content = json.loads(line.decode("utf-8"), object_pairs_hook=_unique)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"is not JSON in UTF-8: {error}") from error
    if not isinstance(content, dict):
        raise ValueError("is not a JSON object")
    try:
        decision = Human.model_validate(content, strict=True)
    except ValidationError as error:
        raise ValueError(_told(error)) from error
    identity.split_combination_id(decision.pair_id)
    return decision


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("names a field twice")
    return content


def _told(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])[:60] or 'object'}: {problem['msg']}"
        for problem in error.errors()[:SHOWN]
    )


def _error(path: Path, problems: list[str]) -> DecisionsFileError:
    shown = problems[:SHOWN] + ([f"... and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else [])
    return DecisionsFileError(
        f"{len(problems)} problems in the decisions file {path}:\n  "
        + "\n  ".join(shown)
        + '\nEach line must be {"pair_id": "<dataset>/<scene>/<sample token>/<task>", "edit_digest": "<64 hex digits>",'
        ' "approve": true or false, "reason": "..."}; correct the file and run the command again.'
    )
