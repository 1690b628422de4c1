"""Identities: canonical JSON, digests, outcome keys, seeds and readable ids.

Everything that decides whether work is redone goes through this module. A key is sha256 over RFC 8785 JSON of an
explicit list of what matters; never a `str()` join, never a path, a clock or an execution setting (DESIGN section 2).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, Final

import rfc8785

KEY_SCHEMA: Final = 1
"""Version of the key recipe itself: raising it redoes everything."""

METRE_STEP: Final = 6
RADIAN_STEP: Final = 9
"""Decimal places at which lengths and angles are fixed when a record is made."""

Digest = str
"""Lower-case sha256, 64 hex digits."""


class IdentityError(ValueError):
    """A value cannot take part in an identity, because it has no canonical form."""


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 form of a JSON value.

    Raises:
        IdentityError: the value holds NaN, infinity, an integer beyond 2**53, half a surrogate pair or something that
            is not JSON, or is nested too deeply.

    >>> canonical_json({"b": 1.0, "a": [True, None]})
    b'{"a":[true,null],"b":1}'
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise IdentityError(f"no canonical JSON for {_shorten(value)}: {error}") from error


def _shorten(value: Any, limit: int = 120) -> str:
    try:
        text = repr(value)
    except RecursionError:
        text = f"a {type(value).__name__} nested too deeply"
    return text if len(text) <= limit else f"{text[:limit]}..."


def sha256(content: bytes) -> Digest:
    """Return the lower-case hex sha256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def digest(value: Any) -> Digest:
    """Return the sha256 of a JSON value's canonical form."""
    return sha256(canonical_json(value))


def quantise(value: float, places: int) -> float:
    """Fix a number at `places` decimals, once, where a record is made; minus zero becomes zero.

    Raises:
        IdentityError: the number is NaN or infinite.

    >>> quantise(-1e-9, METRE_STEP)
    0.0
    """
    if not math.isfinite(value):
        raise IdentityError(f"{value} is not a finite number: NaN and infinity have no place in a record")
    return round(float(value), places) + 0.0


def outcome_key(stage: str, version: int, backend: Any, inputs: Sequence[Digest]) -> Digest:
    """Return the key of a stage's outcome for one item.

    Args:
        stage: name of the stage.
        version: the stage's own version, raised by hand whenever its output changes.
        backend: the back end's identity settings as a JSON value; execution settings never belong here.
        inputs: sha256 of each input's semantic payload, in the order that the stage declares.
    """
    return digest(
        {
            "backend": backend,
            "inputs": list(inputs),
            "schema": KEY_SCHEMA,
            "stage": stage,
            "stage_version": version,
        }
    )


def seed_for(seed_root: int, role: str, identity: str, attempt: int = 0) -> int:
    """Return the seed for one role on one combination or pair: the top 53 bits of a digest.

    The identity is that of the combination or pair, never a variant, prompt, model or shard, so that source and edited
    variants share their seeds and a wording fix does not re-roll images.
    """
    return int(digest([seed_root, role, identity, attempt]), 16) >> (256 - 53)


def keyframe_id(dataset: str, scene: str, token: str) -> str:
    """Return `<dataset>/<scene name>/<sample token>`."""
    return "/".join((_segment(dataset), _segment(scene), _segment(token)))


def combination_id(keyframe: str, task: str) -> str:
    """Return `<keyframe id>/<task id>`, which is also the id of the pair made from the combination."""
    return f"{keyframe}/{_segment(task)}"


def split_combination_id(combination: str) -> tuple[str, str]:
    """Return (keyframe id, task id) of a combination or pair id.

    Raises:
        IdentityError: the text does not have the four parts of such an id, or one of them climbs.
    """
    parts = combination.split("/")
    if len(parts) != 4:
        raise IdentityError(f"{combination!r} is not a pair id: it needs <dataset>/<scene>/<sample token>/<task>")
    for part in parts:
        _segment(part)
    return "/".join(parts[:3]), parts[3]


def _segment(text: str) -> str:
    if not text.isprintable() or not text or "/" in text or text in {".", ".."}:
        raise IdentityError(
            f"{text!r} cannot be part of an id: it must be non-empty and printable, hold no slash and not be . or .."
        )
    return text
