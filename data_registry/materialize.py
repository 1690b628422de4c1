"""Edited pictures from a release and the logs that it was made from.

A release holds only what differs from its source: edited = where(edit mask > 0, delta, decoded source). Source file,
source pixels and edited pixels are each checked against the release, so that what comes out is what was judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from data_registry.blobs import write_atomically
from data_registry.components.hazards_check import pair_problem, sensor_problem
from data_registry.edits import EditFormError, compose
from data_registry.identity import sha256
from data_registry.manifest import ReleaseCorruptError, ReleaseError
from data_registry.pictures import PictureError, Rgb, decode_crop, decode_mask, decode_rgb, encode_png, pixels_digest
from data_registry.plain_files import NotPlainFileError, refuse_to_replace
from data_registry.records import Keyframe
from data_registry.release import Release
from data_registry.sources.source import Request, Source

COMPONENT: Final = "hazards"
_KEYFRAMES_AT_A_TIME: Final = 50
"""Keyframes that are read from the source in one go."""

Progress = Callable[[int, int], None]
"""Called with (pictures done, all pictures)."""


class MaterializeError(ReleaseError):
    """An edited picture cannot be made: the source is not the one that the release was made from, or a file is bad."""


class UnknownPairError(ReleaseError):
    """A pair was asked for that the release does not have."""


@dataclass(frozen=True, slots=True)
class Materialized:
    """What came of it."""

    folder: Path
    written: int
    """Pictures made now."""
    there: int
    """Pictures that were there already, with the right pixels."""


def materialize(
    release: Release,
    source: Source,
    out: Path,
    pairs: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Materialized:
    """Write the edited pictures of a release to `out/<pair id>/<sensor>.png`; run again, it goes on where it stopped.

    Args:
        release: an opened release with component hazards.
        source: the logs that the release was made from.
        out: folder for the pictures.
        pairs: ids of the wanted pairs; None: all.
        progress: told about every picture.

    Raises:
        UnknownPairError: pairs that the release does not have, all of them at once.
        MaterializeError: source or release are not what the release's tables say, an id of the release cannot be a
            path, or something in `out` is in the way or leads out of it; names the place and the fix.
        StorageFullError: no room in `out`; finished pictures stay.
    """
    rows = _wanted(release, pairs)
    _refuse_bad_names(rows)
    written = done = 0
    for keyframe, row in _with_keyframes(rows, source):
        target = _inside(out, picture_path(row["pair_id"], row["sensor_id"], row["frame_offset"]))
        if not _is_there(target, row["edited_pixels_sha256"]):
            write_atomically(target, encode_png(edited_picture(release, source, keyframe, row)))
            written += 1
        done += 1
        if progress is not None:
            progress(done, len(rows))
    return Materialized(out, written, done - written)


def _refuse_bad_names(rows: list[dict[str, Any]]) -> None:
    """Refuse ids that would not be paths below the folder of pictures: the release's tables are not ours."""
    for row in rows:
        problem = pair_problem(row["pair_id"], row["keyframe_id"]) or sensor_problem(row["sensor_id"])
        if problem:
            raise MaterializeError(f"{problem}; the release is damaged or hostile: fetch it again")


def _inside(out: Path, path: str) -> Path:
    """Make the folders of a picture below `out` and return its place; refuse what is in the way and links that leave.

    Raises:
        MaterializeError: `out` or a folder below it is a file, a picture's place is a folder, or a link leads out.
    """
    target = out / path
    try:
        leaves = not target.parent.resolve().is_relative_to(out.resolve())
        if not leaves:
            target.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, FileNotFoundError, NotADirectoryError, RuntimeError) as error:
        why = "no folder can be made there" if isinstance(error, FileNotFoundError) else "something else lies there"
        raise MaterializeError(
            f"{target.parent} cannot be a folder, because {why}: name another OUT, or move it away"
        ) from error
    if leaves:
        raise MaterializeError(f"{target.parent} is, through a symlink, not inside {out}: remove the link")
    try:
        refuse_to_replace(target)
    except NotPlainFileError as error:
        raise MaterializeError(
            f"{target} is {error.kind} where a picture goes: name another OUT, or move it away"
        ) from error
    return target


def require_pairs(release: Release, pairs: Collection[str]) -> None:
    """Raise UnknownPairError for pairs that the release does not have, all of them at once."""
    missing = sorted(set(pairs) - set(release.frame(COMPONENT, "pairs")["pair_id"].to_list()))
    if missing:
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        names = ", ".join(map(repr, missing[:10]))
        raise UnknownPairError(
            f"release {release.manifest.version} has no pair {names}{more}; its table pairs lists the ids"
        )


def picture_path(pair_id: str, sensor_id: str, frame_offset: int, kind: str = "") -> str:
    """Return where a view's picture lies below the folder of deltas or of edited pictures."""
    when = f"@{frame_offset}" if frame_offset else ""
    return f"{pair_id}/{sensor_id}{when}{f'.{kind}' if kind else ''}.png"


def edited_picture(release: Release, source: Source, keyframe: Keyframe, row: Mapping[str, Any]) -> Rgb:
    """Return one edited view, shape (height, width, 3), all three digests checked.

    Args:
        release: where the delta and the mask are.
        source: where the source picture is.
        keyframe: the row's keyframe.
        row: a row of table views with is_edited set.

    Raises:
        ReleaseCorruptError: the delta or the mask was changed after the release was made.
        MaterializeError: any of the three digests differs, or a picture cannot be decoded.
    """
    name = f"{row['pair_id']} {row['sensor_id']}"
    fix = "open the same version of the logs that the release was made from (lock.json has its fingerprint)"
    try:
        content = source.picture(keyframe, keyframe.view(row["sensor_id"], row["frame_offset"]))
        pixels = decode_rgb(content, name)
        delta = decode_crop(release.read(row["delta"]), row["delta"])
        edit_mask = decode_mask(release.read(row["edit_mask"]), row["edit_mask"])
    except KeyError as error:
        raise MaterializeError(f"{name}: the source has no such view; {fix}") from error
    except ReleaseCorruptError as error:
        raise ReleaseCorruptError(f"{name}: {error}") from error
    except (PictureError, ReleaseError, ValueError) as error:
        raise MaterializeError(f"{name}: {error}") from error
    if sha256(content) != row["source_file_sha256"]:
        raise MaterializeError(f"{name}: the source picture is another file than the release's; {fix}")
    if pixels_digest(pixels) != row["source_pixels_sha256"]:
        raise MaterializeError(
            f"{name}: the source picture decodes to other pixels than where the release was made: install the"
            " Pillow that lock.json names"
        )
    window = (row["window_left"], row["window_top"], row["window_right"], row["window_bottom"])
    try:
        edited = compose(pixels, window, delta, edit_mask)
    except EditFormError as error:
        raise MaterializeError(f"{name}: {error}; check the release with `exceptiondrive verify --deep`") from error
    if pixels_digest(edited) != row["edited_pixels_sha256"]:
        raise MaterializeError(
            f"{name}: the edited pixels are not those of the release; check it with `exceptiondrive verify --deep`"
        )
    return edited


def _wanted(release: Release, pairs: Collection[str] | None) -> list[dict[str, Any]]:
    """Return the rows of edited views with their keyframe ids, sorted by keyframe."""
    owners = release.frame(COMPONENT, "pairs").select("pair_id", "keyframe_id", "sample_token")
    if pairs is not None:
        require_pairs(release, pairs)
        owners = owners.filter(pl.col("pair_id").is_in(sorted(pairs)))
    views = release.frame(COMPONENT, "views").filter("is_edited").join(owners, on="pair_id", how="inner")
    return views.sort("keyframe_id", "pair_id", "sensor_id", "frame_offset").to_dicts()


def _with_keyframes(rows: list[dict[str, Any]], source: Source) -> Iterator[tuple[Keyframe, dict[str, Any]]]:
    """Pair rows with their keyframes, read from the source some at a time."""
    ids = sorted({row["keyframe_id"] for row in rows})
    tokens = {row["keyframe_id"]: row["sample_token"] for row in rows}
    for start in range(0, len(ids), _KEYFRAMES_AT_A_TIME):
        chosen = ids[start : start + _KEYFRAMES_AT_A_TIME]
        selection = source.select(Request(tokens=tuple(tokens[name] for name in chosen)))
        keyframes = {keyframe.id: keyframe for keyframe in selection.keyframes}
        for row in rows:
            if row["keyframe_id"] in chosen:
                yield _keyframe(keyframes, row["keyframe_id"], source), row


def _keyframe(keyframes: Mapping[str, Keyframe], name: str, source: Source) -> Keyframe:
    if name not in keyframes:
        raise MaterializeError(
            f"the {source.dataset} logs have no keyframe {name} with its pictures: open the version of the logs that"
            " the release was made from (lock.json has its fingerprint)"
        )
    return keyframes[name]


def _is_there(target: Path, digest: str) -> bool:
    """Tell whether a picture was made before; a damaged one was not."""
    try:
        if not target.is_file():
            return False
        return pixels_digest(decode_rgb(target.read_bytes(), str(target))) == digest
    except (OSError, PictureError):
        return False
