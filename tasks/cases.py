"""The cases of a release's benchmark: what planners are asked, and the same as lines for planners that run elsewhere.

A release is not ours and logs may be others: whatever does not fit is refused, all of it at once, before any planner
is asked. The lines for outside planners leave the region out, since it is the answer; regions have lines of their own,
for who scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import shapely

from data_registry import identity
from data_registry.components.hazards_check import SMALLEST_REGION_M2, pair_problem, quad_problem, sensor_problem
from data_registry.evaluation import SCORED_ON, VARIANTS, PairRegion, Variant
from data_registry.geometry import Transform
from data_registry.manifest import ReleaseError
from data_registry.materialize import picture_path
from data_registry.records import Camera, Keyframe
from data_registry.release import Release
from models.planners.planner import Case, CaseView

COMPONENT: Final = "hazards"
ROLE: Final = "planner"
"""What seeds of planners are derived for."""
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SHOWN: Final = 10
_PAIR_COLUMNS: Final = (
    *("pair_id", "keyframe_id", "keyframe_sha256", "scene", "split", "task", "family", "subset", "timestamp_us"),
    "speed",
)
_VIEW_COLUMNS: Final = (
    *("pair_id", "sensor_id", "frame_offset", "timestamp_us", "width", "height", "is_edited"),
    *("source_file_sha256", "edited_pixels_sha256"),
)

Row = dict[str, Any]
FileName = Callable[[Keyframe, Camera], str]
"""Returns a source picture's file, relative to the root of its logs."""


class CasesError(ReleaseError):
    """A release's benchmark cannot be asked about: its tables are broken, or the keyframes are not its own."""


def benchmark_keyframes(release: Release) -> dict[str, str]:
    """Return keyframe id -> sample token of the benchmark's pairs, sorted: what to select from the logs.

    Raises:
        ReleaseCorruptError, TableError: the release's files are not what the manifest says.
    """
    columns = ("pair_id", "keyframe_id", "sample_token", "subset")
    pairs = release.frame(COMPONENT, "pairs", columns).filter(subset=SCORED_ON).sort("keyframe_id")
    return dict(pairs.select("keyframe_id", "sample_token").iter_rows())


def benchmark_cases(release: Release, keyframes: Mapping[str, Keyframe]) -> list[Case]:
    """Return the cases of a release's benchmark, by pair, the source variant before the edited one.

    Args:
        release: an opened release with component hazards.
        keyframes: by id, those of `benchmark_keyframes`, from the logs that the release was made from; more do no harm.

    Raises:
        CasesError: keyframes are missing or not the release's, or its rows cannot be; says which and what to do.
        ReleaseCorruptError, TableError: the release's files are not what the manifest says.
    """
    entry = release.manifest.components.get(COMPONENT)
    if entry is None:
        raise CasesError(f"release {release.manifest.version} has no component {COMPONENT}: there is nothing to plan")
    pairs = release.frame(COMPONENT, "pairs", _PAIR_COLUMNS).filter(subset=SCORED_ON).sort("pair_id").to_dicts()
    regions = {row["pair_id"]: row for row in release.frame(COMPONENT, "regions").iter_rows(named=True)}
    views = _by_pair(release.frame(COMPONENT, "views", _VIEW_COLUMNS).iter_rows(named=True))
    cases: list[Case] = []
    problems: list[str] = []
    for pair in pairs:
        name = pair["pair_id"]
        found = list(_problems(pair, views.get(name, []), regions.get(name), keyframes.get(pair["keyframe_id"])))
        problems += found
        if not found:
            region, frame = _region(pair, regions[name]), keyframes[pair["keyframe_id"]]
            cases += [Case(variant, frame, _views(views[name], variant), region, entry.digest) for variant in VARIANTS]
    _refuse(problems, release)
    return cases


def _refuse(problems: list[str], release: Release) -> None:
    if problems:
        more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        listed = "".join(f"\n  {problem}" for problem in problems[:_SHOWN])
        version, count = release.manifest.version, len(problems)
        raise CasesError(
            f"no planner can be asked about release {version}; what does not fit, {count} in all:{listed}{more}"
            "\nOpen the same version of the logs that the release was made from (lock.json has its fingerprint), and"
            " check the release with `exceptiondrive verify`."
        )


def _by_pair(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["pair_id"], []).append(row)
    return found


def _problems(pair: Row, views: list[Row], region: Row | None, keyframe: Keyframe | None) -> Iterator[str]:
    """Yield what speaks against a pair's case."""
    odd = pair_problem(pair["pair_id"], pair["keyframe_id"])
    if odd:
        yield odd  # not to be quoted further
        return
    if pair["pair_id"] != identity.combination_id(pair["keyframe_id"], pair["task"]):
        yield f"{pair['pair_id']}: its row says that its task is {pair['task'][:100]!a}"
    yield from (f"{pair['pair_id']}: {problem}" for problem in _region_problems(region))
    yield from (f"{pair['pair_id']}: {problem}" for problem in _edit_problems(views))
    if keyframe is None:
        yield f"{pair['pair_id']}: its keyframe is not among those given"
    else:
        yield from (f"{pair['pair_id']}: {problem}" for problem in _keyframe_problems(pair, views, keyframe))


def _region_problems(row: Row | None) -> Iterator[str]:
    if row is None:
        yield "it has no region"
        return
    corners = np.array(row["quad"], dtype=np.float64)
    problem = quad_problem(corners, convex=row["kind"] != "conflict")
    if problem:
        yield problem
    elif not shapely.Polygon(corners).is_valid or shapely.Polygon(corners).area < SMALLEST_REGION_M2:
        yield "the region's quad crosses itself"
    if not (np.isfinite(row["clearance_m"]) and row["clearance_m"] > 0):
        yield "the clearance must be a positive number"


def _edit_problems(views: list[Row]) -> Iterator[str]:
    """Yield what is wrong with the views' own rows."""
    if not any(row["is_edited"] for row in views):
        yield "it has no edited view: both variants would be the same"
    for row in views:
        name = f"view {row['sensor_id'][:100]!a} at offset {row['frame_offset']}"
        if sensor_problem(row["sensor_id"]):
            yield sensor_problem(row["sensor_id"]) or ""
        edited = row["edited_pixels_sha256"]
        if not _DIGEST.fullmatch(row["source_file_sha256"]) or not (edited is None or _DIGEST.fullmatch(edited)):
            yield f"{name} has a digest that is none"
        elif row["is_edited"] != (edited is not None):
            yield f"{name} must have a digest of edited pixels exactly when it is edited"


def _keyframe_problems(pair: Row, views: list[Row], keyframe: Keyframe) -> Iterator[str]:
    """Yield where the keyframe of the logs is not the one that the release was made from."""
    if keyframe.id != pair["keyframe_id"]:
        yield f"the keyframe given for it is {keyframe.id}"
        return
    here = (keyframe.scene, keyframe.split, keyframe.timestamp_us, keyframe.motion.speed)
    there = (pair["scene"], pair["split"], pair["timestamp_us"], pair["speed"])
    for name, mine, its in zip(("scene", "split", "time", "speed"), here, there, strict=True):
        if mine != its:
            yield f"the logs say {name} {mine!a}, the release says {str(its)[:100]!a}"
    differs = here != there
    cameras = {(camera.sensor_id, camera.frame_offset): camera for camera in keyframe.cameras}
    known = {(row["sensor_id"], row["frame_offset"]): row for row in views}
    for key in sorted({*known, *(key for key, camera in cameras.items() if camera.sha256 is not None)}):
        problem = _picture_problem(known.get(key), cameras.get(key))
        if problem:
            differs = True
            yield f"{key[0][:100]!a} at offset {key[1]} {problem}"
    if not differs and keyframe.moment_digest != pair["keyframe_sha256"]:
        yield "calibration, objects, motion or map of its keyframe are others in the logs than in the release's"


def _picture_problem(row: Row | None, camera: Camera | None) -> str | None:
    if row is None:
        return "is in the logs, but the release was made without it"
    if camera is None or camera.sha256 is None:
        return "is missing in the logs"
    if camera.sha256 != row["source_file_sha256"]:
        return "is another picture in the logs than the release's"
    if (camera.width, camera.height, camera.timestamp_us) != (row["width"], row["height"], row["timestamp_us"]):
        return "has another size or time in the logs than in the release"
    return None


def _views(rows: list[Row], variant: Variant) -> tuple[CaseView, ...]:
    found = [
        CaseView(
            row["sensor_id"],
            row["frame_offset"],
            row["edited_pixels_sha256"] if variant == "edited" and row["is_edited"] else row["source_file_sha256"],
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda view: (view.sensor_id, view.frame_offset)))


def _region(pair: Row, row: Row) -> PairRegion:
    return PairRegion(
        pair_id=pair["pair_id"],
        quad=np.array(row["quad"], dtype=np.float64),
        clearance_m=row["clearance_m"],
        family=pair["family"],
        task=pair["task"],
        scene=pair["scene"],
        split=pair["split"],
    )


def case_rows(cases: Iterable[Case], file_name: FileName, seed_root: int = 0) -> Iterator[Row]:
    """Yield a JSON object for each case: all that a planner may know which runs elsewhere, never the region.

    `cameras[].file` is relative to the folder that `exceptiondrive materialize` wrote where `is_edited`, else to the
    root of the logs. `camera_to_ego` takes points from the camera to the ego frame at time 0, through global, so that
    what stands still is where the keyframe has it. Answers repeat `pair_id`, `variant`, `inputs_sha256` and
    `component_digest`. Both variants of a pair have the same seed.

    Args:
        cases: as `benchmark_cases` returns them.
        file_name: where the logs keep a source picture.
        seed_root: whole number that all seeds hang on.
    """
    for case in cases:
        keyframe = case.keyframe
        yield {
            "schema_version": 1,
            "pair_id": case.pair_id,
            "variant": case.variant,
            "inputs_sha256": case.inputs_sha256,
            "component_digest": case.component_digest,
            "seed": identity.seed_for(seed_root, ROLE, case.pair_id),
            "keyframe_id": keyframe.id,
            "timestamp_us": keyframe.timestamp_us,
            "ego_to_global": _matrix(keyframe.ego_to_global.transform()),
            "speed": keyframe.motion.speed,
            "speed_source": keyframe.motion.source,
            "past": [point.model_dump(mode="json") for point in keyframe.motion.history],
            "cameras": [_camera_row(case, view, file_name) for view in case.views],
        }


def _camera_row(case: Case, view: CaseView, file_name: FileName) -> Row:
    camera = case.keyframe.view(view.sensor_id, view.frame_offset)
    edited = view.sha256 != camera.sha256
    to_global = camera.ego_to_global.transform() @ camera.camera_to_ego.transform()
    own = picture_path(case.pair_id, view.sensor_id, view.frame_offset)
    return {
        "sensor_id": view.sensor_id,
        "frame_offset": view.frame_offset,
        "timestamp_us": camera.timestamp_us,
        "width": camera.width,
        "height": camera.height,
        "is_edited": edited,
        "file": own if edited else file_name(case.keyframe, camera),
        "file_sha256" if not edited else "pixels_sha256": view.sha256,
        "intrinsics": [list(row) for row in camera.intrinsics],
        "camera_to_ego": _matrix(case.keyframe.ego_to_global.transform().inverse() @ to_global),
    }


def _matrix(motion: Transform) -> list[list[float]]:
    """Return a rigid motion as 4x4 numbers, child to parent, metres."""
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = motion.rotation, motion.translation
    return (np.round(whole, identity.RADIAN_STEP) + 0.0).tolist()


def region_rows(cases: Iterable[Case]) -> Iterator[Row]:
    """Yield a JSON object for each pair's region, by pair: what `exceptiondrive score --regions` takes."""
    regions = {case.pair_id: case.region for case in cases}
    for pair_id in sorted(regions):
        region = regions[pair_id]
        yield {
            "pair_id": pair_id,
            "quad": region.quad.tolist(),
            "clearance_m": region.clearance_m,
            "family": region.family,
            "task": region.task,
            "scene": region.scene,
            "split": region.split,
        }
