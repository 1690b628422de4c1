"""What a valid nuScenes v1.0 version folder looks like: the fields that we read, their checks and their links.

Only what the reader uses is demanded (formats.md section 1): an extra field, an unused link that dangles or an absent
description of a category never stops anyone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple, cast

Check = Callable[[Any], str | None]
"""Returns what is wrong with a value and what to do, or None."""

FARTHEST_M: Final = 1e7
"""Larger coordinates are not on any map, and would lose the millimetres."""
LONGEST_NAME_BYTES: Final = 255
LARGEST_PIXELS: Final = 1 << 16
SMALLEST_SIDE_M: Final = 1e-3
UNIT_TOLERANCE: Final = 1e-3
"""A quaternion's length may be off by this."""


class Link(NamedTuple):
    """A field that names a record of another table, or a list of such names."""

    field: str
    target: str
    optional: bool = False
    """The empty string means: none."""


def text(value: Any) -> str | None:
    """Accept any text that UTF-8 can carry."""
    if not isinstance(value, str):
        return "must be text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds a broken Unicode character: write the text again"
    return None


_PATH_PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+=-]{0,99}")
"""As data_registry.manifest has it for the parts of a release's paths."""


def name(value: Any) -> str | None:
    """Accept text that can be part of an id and of a file name."""
    if complaint := text(value):
        return complaint
    if not _PATH_PART.fullmatch(value) or value.endswith("."):
        return "must be 1 to 100 ASCII letters, digits and _.@+=-, because ids and paths in releases are made of it"
    return None


def link(value: Any) -> str | None:
    """Accept a token or the empty string."""
    return text(value)


def links(value: Any) -> str | None:
    """Accept a list of tokens."""
    if not isinstance(value, list):
        return "must be a list of tokens"
    wrong = [item for item in cast(list[Any], value) if text(item) is not None]
    return "must hold tokens only" if wrong else None


def relative_file(value: Any) -> str | None:
    """Accept a path below the root."""
    if complaint := text(value):
        return complaint
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\0" in value:
        return "must be a path below the root"
    if max((len(part.encode(errors="surrogatepass")) for part in path.parts), default=0) > LONGEST_NAME_BYTES:
        return f"has a part of over {LONGEST_NAME_BYTES} bytes, which no file can be called"
    return None


def flag(value: Any) -> str | None:
    """Accept true and false."""
    return None if isinstance(value, bool) else "must be true or false"


def stamp(value: Any) -> str | None:
    """Accept microseconds since 1970 as a JSON integer."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 53:
        return "must be whole microseconds since 1970"
    return None


def number(value: Any) -> bool:
    """Tell whether a JSON value is a finite number within reach of a map."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < FARTHEST_M


def _numbers(value: Any, length: int) -> str | None:
    if not isinstance(value, list) or len(cast(list[Any], value)) != length:
        return f"must be a list of {length} numbers"
    if not all(number(item) for item in cast(list[Any], value)):
        return f"must be {length} finite numbers below {FARTHEST_M:.0e}: restore the record, or drop its scene"
    return None


def position(value: Any) -> str | None:
    """Accept three finite coordinates, metres."""
    return _numbers(value, 3)


def box_size(value: Any) -> str | None:
    """Accept width, length, height, metres, each at least a millimetre."""
    if complaint := _numbers(value, 3):
        return complaint
    return None if min(value) >= SMALLEST_SIDE_M else "must be width, length and height above 1 mm: drop the annotation"


def quaternion(value: Any) -> str | None:
    """Accept a unit quaternion (w, x, y, z), to 1e-3."""
    if complaint := _numbers(value, 4):
        return complaint
    length = math.sqrt(sum(part * part for part in value))
    if abs(length - 1.0) > UNIT_TOLERANCE:
        return f"must be a unit quaternion (w, x, y, z), its length is {length:.6g}: normalise it"
    return None


def intrinsics(value: Any) -> str | None:
    """Accept an empty list (not a camera) or a 3x3 matrix that can project."""
    if value == []:
        return None
    if not isinstance(value, list) or len(cast(list[Any], value)) != 3:
        return "must be [] or a 3x3 matrix"
    rows = cast(list[list[Any]], value)
    if complaint := next((complaint for row in rows if (complaint := _numbers(row, 3))), None):
        return f"rows: {complaint}"
    (a, b, c), (d, e, f), (g, h, i) = rows
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    if a <= 0 or e <= 0 or abs(determinant) < 1e-9 or not math.isfinite(determinant):
        return "is singular or has a focal length that is not positive: restore the calibration of this camera"
    return None


def pixels(value: Any) -> str | None:
    """Accept a picture's width or height; 0 for what is not a picture."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_PIXELS):
        return None
    return f"must be whole pixels from 0 to {LARGEST_PIXELS}"


FIELDS: Final[dict[str, dict[str, Check]]] = {
    "category": {"token": text, "name": text},
    "attribute": {"token": text, "name": text},
    "visibility": {"token": text},
    "instance": {"token": text, "category_token": link},
    "sensor": {"token": text, "channel": name, "modality": text},
    "calibrated_sensor": {
        "token": text,
        "sensor_token": link,
        "translation": position,
        "rotation": quaternion,
        "camera_intrinsic": intrinsics,
    },
    "ego_pose": {"token": text, "timestamp": stamp, "translation": position, "rotation": quaternion},
    "log": {"token": text, "location": name},
    "scene": {"token": text, "log_token": link, "name": name, "description": text},
    "sample": {"token": name, "timestamp": stamp, "scene_token": link, "prev": link, "next": link},
    "sample_data": {
        "token": text,
        "sample_token": link,
        "ego_pose_token": link,
        "calibrated_sensor_token": link,
        "timestamp": stamp,
        "is_key_frame": flag,
        "height": pixels,
        "width": pixels,
        "filename": relative_file,
    },
    "sample_annotation": {
        "token": text,
        "sample_token": link,
        "instance_token": link,
        "visibility_token": link,
        "attribute_tokens": links,
        "translation": position,
        "size": box_size,
        "rotation": quaternion,
        "prev": link,
        "next": link,
    },
    "map": {"token": text, "log_tokens": links, "filename": relative_file},
}
"""Per table, the fields that the reader uses; every table is a file of the version folder."""

LINKS: Final[dict[str, tuple[Link, ...]]] = {
    "instance": (Link("category_token", "category"),),
    "calibrated_sensor": (Link("sensor_token", "sensor"),),
    "scene": (Link("log_token", "log"),),
    "sample": (Link("scene_token", "scene"), Link("prev", "sample", True), Link("next", "sample", True)),
    "sample_data": (
        Link("sample_token", "sample"),
        Link("ego_pose_token", "ego_pose"),
        Link("calibrated_sensor_token", "calibrated_sensor"),
    ),
    "sample_annotation": (
        Link("sample_token", "sample"),
        Link("instance_token", "instance"),
        Link("visibility_token", "visibility", True),
        Link("attribute_tokens", "attribute"),
        Link("prev", "sample_annotation", True),
        Link("next", "sample_annotation", True),
    ),
}
"""Per table, the links that the reader follows."""
