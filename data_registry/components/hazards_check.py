"""What must hold between the rows, and in the pictures, of component `hazards` beyond its schemas and references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import polars as pl

from data_registry.components.screenings_check import check_screenings
from data_registry.identity import IdentityError, split_combination_id
from data_registry.manifest import ReleasePathError, check_path
from data_registry.pictures import PictureError, decode_crop, decode_mask
from data_registry.tables import ReleaseContent

SMALLEST_REGION_M2: Final = 0.05
"""Regions below this area are no ground that anything could stand on (DESIGN section 5)."""
_ENDED: Final = ("skipped", "rejected", "failed_permanent", "unsettled")
_VIEW_FILES: Final = ("delta", "edit_mask", "object_mask")
_EDITED_ONLY: Final = (
    "source_pixels_sha256",
    "edited_pixels_sha256",
    "window_left",
    "window_top",
    "window_right",
    "window_bottom",
    *_VIEW_FILES,
)


def check(content: ReleaseContent, deep: bool) -> Iterator[tuple[str, str]]:
    """Yield (where, what is wrong) for every broken invariant; pictures are decoded only when `deep`."""
    yield from _check_funnel(content)
    yield from _check_pairs(content)
    yield from _check_ends(content)
    yield from _check_draw(content)
    yield from _check_strata(content)
    yield from _check_names(content)
    yield from _check_regions(content.frame("regions"))
    yield from check_screenings(content)
    for row in content.frame("views").iter_rows(named=True):
        problems = list(_check_view(row))
        yield from problems
        if deep and row["is_edited"] and not problems:
            yield from _check_pictures(content, row)


def _check_funnel(content: ReleaseContent) -> Iterator[tuple[str, str]]:
    """Totals recompute from the rows that ship."""
    rows = content.frame("rejections").select("stage", "status").iter_rows()
    found = Counter((stage, status) for stage, status in rows)
    stages = {step for step in content.funnel if step != "release"}
    for stage in sorted(stages | {stage for stage, _ in found}):
        counts = content.funnel.get(stage, {})
        for status in _ENDED:
            if counts.get(status, 0) != found[stage, status]:
                yield (
                    "tables/rejections.parquet",
                    f"{found[stage, status]} rows {stage}/{status}, the manifest counts {counts.get(status, 0)}",
                )
        if counts.get("total", 0) != counts.get("kept", 0) + sum(counts.get(status, 0) for status in _ENDED):
            yield "manifest.json", f"the counts of {stage!r} do not add up to its total"
    ends = content.funnel.get("release", {})
    subsets = Counter(content.frame("pairs")["subset"].to_list())
    for subset in ("benchmark", "auxiliary"):
        if ends.get(subset, 0) != subsets[subset]:
            yield "tables/pairs.parquet", f"{subsets[subset]} {subset} pairs, the manifest counts {ends.get(subset, 0)}"
    if ends.get("total", 0) != sum(count for end, count in ends.items() if end != "total"):
        yield "manifest.json", "what the combinations came to does not add up to their total"


def _check_pairs(content: ReleaseContent) -> Iterator[tuple[str, str]]:
    pairs, decisions = content.frame("pairs"), content.frame("decisions")
    joined = pairs.select("pair_id", "subset").join(
        decisions.select("pair_id", "approved", decided=pl.col("subset")), on="pair_id", how="inner"
    )
    for pair_id, subset, approved, decided in joined.sort("pair_id").iter_rows():
        if subset != decided or approved != (subset == "benchmark"):
            yield "tables/pairs.parquet", f"{pair_id} is in subset {subset}, its decision says {decided}"
    regions = set(content.frame("regions")["pair_id"].to_list())
    edited = set(content.frame("views").filter("is_edited")["pair_id"].to_list())
    for pair_id, subset in pairs.select("pair_id", "subset").iter_rows():
        if subset == "benchmark" and pair_id not in regions:
            yield "tables/regions.parquet", f"benchmark pair {pair_id} has no region"
        if pair_id not in edited:
            yield "tables/views.parquet", f"{pair_id} has no edited view"


def _check_ends(content: ReleaseContent) -> Iterator[tuple[str, str]]:
    """A benchmark pair is what decide kept, and nothing turned it down; an auxiliary one was left out by some step."""
    turned_down = {
        name.partition("@")[0] for name in content.frame("rejections").filter(status="rejected")["item_id"].to_list()
    }
    benchmark = 0
    for pair_id, subset in content.frame("pairs").select("pair_id", "subset").sort("pair_id").iter_rows():
        benchmark += subset == "benchmark"
        if subset == "auxiliary" and pair_id not in turned_down:
            yield "tables/pairs.parquet", f"{pair_id} is auxiliary, but no step left it out"
    decided = content.frame("rejections").filter(stage="decide", status="rejected")["item_id"].to_list()
    for pair_id in sorted({*decided} & {*content.frame("pairs").filter(subset="benchmark")["pair_id"].to_list()}):
        yield "tables/pairs.parquet", f"{pair_id} is a benchmark pair, but decide turned it down"
    kept = content.funnel.get("decide", {}).get("kept", 0)
    if kept != benchmark:
        yield "manifest.json", f"decide kept {kept}, {benchmark} pairs are in the benchmark"


def _check_draw(content: ReleaseContent) -> Iterator[tuple[str, str]]:
    """A combination that screening left out went on only if it was drawn, and is no benchmark pair."""
    reasons = _screened_out(content)
    later = content.frame("rejections").filter(~pl.col("stage").is_in(["source", "screen"]))["item_id"].to_list()
    went_on = {*content.frame("decisions")["pair_id"].to_list(), *(name.partition("@")[0] for name in later)}
    drawn, counted = len(went_on & reasons.keys()), content.funnel.get("draw", {}).get("kept", 0)
    if drawn != counted:
        yield "tables/rejections.parquet", f"{drawn} screened-out combinations went on, the manifest counts {counted}"
    for pair_id, subset, reason in content.frame("pairs").select("pair_id", "subset", "reason_code").iter_rows():
        if pair_id in reasons and (subset, reason) != ("auxiliary", reasons[pair_id]):
            yield "tables/pairs.parquet", f"{pair_id} is {subset} with {reason}, screening says {reasons[pair_id]}"


def _screened_out(content: ReleaseContent) -> dict[str, str]:
    """Return the reason for each combination that screening left out."""
    rows = content.frame("rejections").filter(stage="screen", status="rejected")
    return dict(rows.select("item_id", "reason_code").iter_rows())


def _check_strata(content: ReleaseContent) -> Iterator[tuple[str, str]]:
    """Counts by family, by task and subset recompute from the rows that ship."""
    pairs = content.frame("pairs").select("family", "task", "subset").iter_rows()
    found = Counter(key for family, task, subset in pairs for key in ((family, subset), (f"{family}/{task}", subset)))
    for stratum in sorted({*content.strata, *(stratum for stratum, _ in found)}):
        counts = content.strata.get(stratum, {})
        rows = {subset: found[stratum, subset] for subset in ("benchmark", "auxiliary")}
        if counts != rows | {"total": sum(rows.values())}:
            yield "tables/pairs.parquet", f"{rows} pairs of {stratum[:200]!a}, the manifest counts {dict(counts)}"


def _check_names(content: ReleaseContent) -> Iterator[tuple[str, str]]:
    """Pair ids and sensors become folders and files of whoever uses the release; an id says what its row says."""
    columns = ("pair_id", "keyframe_id", "dataset", "scene", "sample_token", "task")
    for pair_id, keyframe_id, *parts in content.frame("pairs").select(columns).iter_rows():
        problem = pair_problem(pair_id, keyframe_id)
        if problem:
            yield "tables/pairs.parquet", problem
        elif pair_id != "/".join(parts):
            yield "tables/pairs.parquet", f"pair {pair_id} says in its row that it is {'/'.join(parts)[:200]!a}"
    for sensor_id in content.frame("views")["sensor_id"].unique().sort():
        problem = sensor_problem(sensor_id)
        if problem:
            yield "tables/views.parquet", problem


def pair_problem(pair_id: str, keyframe_id: str) -> str | None:
    """Say why a pair id cannot be a folder below another one, or is not of its keyframe; None when it is right.

    >>> pair_problem("streetset/town/aaaa/debris", "streetset/town/aaaa") is None
    True
    """
    try:
        owner, _ = split_combination_id(check_path(pair_id))
    except (IdentityError, ReleasePathError) as error:
        return f"{pair_id[:200]!a} is no pair id: {error}"
    return None if owner == keyframe_id else f"pair {pair_id} is not of its keyframe {keyframe_id[:200]!a}"


def sensor_problem(sensor_id: str) -> str | None:
    """Say why a sensor's name cannot be that of a file; None when it can.

    >>> sensor_problem("CAM_FRONT") is None
    True
    """
    try:
        plain = "/" not in check_path(sensor_id)
    except ReleasePathError:
        plain = False
    return None if plain else f"{sensor_id[:200]!a} is no sensor's name"


def _check_regions(regions: pl.DataFrame) -> Iterator[tuple[str, str]]:
    for row in regions.iter_rows(named=True):
        if row["clearance_m"] <= 0:
            yield "tables/regions.parquet", f"{row['pair_id']}: the clearance must be positive"
        problem = quad_problem(np.array(row["quad"], dtype=np.float64), convex=row["kind"] != "conflict")
        if problem:
            yield "tables/regions.parquet", f"{row['pair_id']}: {problem}"


def quad_problem(corners: np.ndarray[Any, np.dtype[np.float64]], convex: bool = True) -> str | None:
    """Say what is wrong with a region's corners (4, 2), metres; None when they are a region's.

    >>> quad_problem(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])) is None
    True
    """
    if not np.isfinite(corners).all():
        return "the quad is not finite"
    sides = np.roll(corners, -1, axis=0) - corners
    turns = np.roll(sides, -1, axis=0)
    cross = sides[:, 0] * turns[:, 1] - sides[:, 1] * turns[:, 0]
    ahead = np.roll(corners, -1, axis=0)
    area = float(np.sum(corners[:, 0] * ahead[:, 1] - corners[:, 1] * ahead[:, 0])) / 2
    if area < SMALLEST_REGION_M2:
        return f"the quad's signed area is {area:.3f} m2: it must run counter-clockwise and cover {SMALLEST_REGION_M2}"
    if convex and float(cross.min()) < -1e-6:
        return "the quad is not convex"
    return None


def _check_view(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    name = f"{row['pair_id']} {row['sensor_id']} {row['frame_offset']}"
    given = [column for column in _EDITED_ONLY if row[column] is not None]
    if len(given) != (len(_EDITED_ONLY) if row["is_edited"] else 0):
        yield (
            "tables/views.parquet",
            f"{name}: an edited view needs {', '.join(_EDITED_ONLY)}, another has none of them",
        )
    elif row["is_edited"]:
        left, top, right, bottom = _window(row)
        if not (0 <= left < right <= row["width"] and 0 <= top < bottom <= row["height"]):
            yield "tables/views.parquet", f"{name}: window {left, top, right, bottom} is not inside the picture"


def _window(row: dict[str, Any]) -> tuple[int, int, int, int]:
    return row["window_left"], row["window_top"], row["window_right"], row["window_bottom"]


def _check_pictures(content: ReleaseContent, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Check one edited view's delta and masks against its window and each other."""
    left, top, right, bottom = _window(row)
    try:
        delta = decode_crop(content.read(row["delta"]), row["delta"])
        masks = {name: decode_mask(content.read(row[name]), row[name]) for name in ("edit_mask", "object_mask")}
    except PictureError as error:
        yield row["delta"], str(error)
        return
    except (ValueError, OSError):
        return  # not what the manifest says: found and told by whoever compares bytes
    sizes = {name: picture.shape[:2] for name, picture in {"delta": delta, **masks}.items()}
    odd = [name for name, size in sizes.items() if size != (bottom - top, right - left)]
    for name in odd:
        yield row[name], f"is {sizes[name][1]}x{sizes[name][0]}, its window is {right - left}x{bottom - top}"
    if odd:
        return
    edit_mask, object_mask = masks["edit_mask"], masks["object_mask"]
    if not edit_mask.any():
        yield row["edit_mask"], "is empty: an edited view differs somewhere"
    if delta[edit_mask == 0].any():
        yield row["delta"], "is not zero where the edit mask is zero"
    if object_mask[edit_mask == 0].any():
        yield row["object_mask"], "reaches outside the edit mask"
