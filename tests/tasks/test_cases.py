"""Cases of a release: what planners are asked, and how a release or logs that do not fit are refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from data_registry.cameras import pinhole
from data_registry.identity import canonical_json
from data_registry.materialize import materialize
from data_registry.pictures import decode_rgb, pixels_digest
from data_registry.records import Keyframe, Motion, PathPoint, Pose
from data_registry.release import Release, open_release
from tasks.cases import CasesError, benchmark_cases, benchmark_keyframes, case_rows, region_rows
from tasks.publish import publish
from tasks.score_files import read_regions
from tests.data_registry.test_verify import rewrite
from tests.tasks.publications import QUAD, Logs, build, keyframe

PAIR = "streetset/town/aaaa/collapsed_road_surface"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with one benchmark pair and one auxiliary pair."""
    folder = tmp_path_factory.mktemp("release")
    return publish(build(folder), folder / "releases").path.resolve()


@pytest.fixture(scope="module")
def release(made: Path) -> Release:
    return open_release(made)


def given(**changes: Any) -> dict[str, Keyframe]:
    """The logs' keyframe, or one that differs."""
    frame = keyframe("aaaa").model_copy(update=changes)
    return {"streetset/town/aaaa": frame}


def moved(*future: PathPoint) -> Motion:
    return keyframe("aaaa").motion.model_copy(update={"future": future})


def test_only_benchmark_pairs_are_asked_about_each_in_both_variants(release: Release) -> None:
    assert release.frame("hazards", "pairs").height == 2
    assert benchmark_keyframes(release) == {"streetset/town/aaaa": "aaaa"}
    cases = benchmark_cases(release, given())
    assert [case.id for case in cases] == [f"{PAIR}:source", f"{PAIR}:edited"]
    assert {case.component_digest for case in cases} == {release.manifest.components["hazards"].digest}
    for case in cases:
        assert case.keyframe == keyframe("aaaa")
        assert case.region.quad.tolist() == [list(corner) for corner in QUAD]
        assert (case.region.clearance_m, case.region.scene, case.region.split) == (1.5, "town", "val")
        assert (case.region.family, case.region.task) == ("road_surface_hazard", "collapsed_road_surface")


def test_the_variants_differ_in_the_edited_pictures_alone(release: Release, tmp_path: Path) -> None:
    source, edited = benchmark_cases(release, given())
    files = [(c.sensor_id, c.frame_offset, c.sha256) for c in sorted(keyframe("aaaa").cameras, key=_place) if c.sha256]
    assert [(view.sensor_id, view.frame_offset, view.sha256) for view in source.views] == files
    differing = [view for view, before in zip(edited.views, source.views, strict=True) if view != before]
    assert [(view.sensor_id, view.frame_offset) for view in differing] == [("CAM_FRONT", 0), ("CAM_FRONT_LEFT", 0)]
    materialize(release, Logs(), tmp_path)
    for view in differing:
        pixels = decode_rgb((tmp_path / PAIR / f"{view.sensor_id}.png").read_bytes(), "edited")
        assert pixels_digest(pixels) == view.sha256
    assert source.inputs_sha256 != edited.inputs_sha256


def _place(camera: Any) -> tuple[str, int]:
    return camera.sensor_id, camera.frame_offset


def _recamera(index: int, **changes: Any) -> dict[str, Keyframe]:
    cameras = list(keyframe("aaaa").cameras)
    cameras[index] = cameras[index].model_copy(update=changes)
    return given(cameras=tuple(cameras))


STRANGERS: dict[str, tuple[dict[str, Keyframe], str]] = {
    "none at all": ({}, "its keyframe is not among those given"),
    "another one": ({"streetset/town/aaaa": keyframe("bbbb")}, "the keyframe given for it is streetset/town/bbbb"),
    "another split": (given(split="train"), "the logs say split 'train', the release says 'val'"),
    "another way after the keyframe": (
        given(motion=moved(PathPoint(t=0.5, x=4.0, y=1.0, heading=0.0))),
        "calibration, objects, motion or map of its keyframe are others in the logs",
    ),
    "another map": (
        given(map=keyframe("aaaa").map.model_copy(update={"layers_sha256": "0" * 64})),
        "calibration, objects, motion or map of its keyframe are others in the logs",
    ),
    "another speed": (
        given(motion=keyframe("aaaa").motion.model_copy(update={"speed": 7.5})),
        "the logs say speed 7.5, the release says '8.0'",
    ),
    "another picture": (_recamera(2, sha256="0" * 64), "'CAM_FRONT' at offset 0 is another picture in the logs"),
    "a lost picture": (_recamera(1, sha256=None), "'CAM_FRONT' at offset -1 is missing in the logs"),
    "a found picture": (_recamera(0, sha256="0" * 64), "'CAM_FRONT' at offset -2 is in the logs, but the release was"),
    "another time": (_recamera(2, timestamp_us=5), "'CAM_FRONT' at offset 0 has another size or time in the logs"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_keyframes_that_are_not_the_release_s_are_refused_with_what_to_do(name: str, release: Release) -> None:
    keyframes, problem = STRANGERS[name]
    with pytest.raises(CasesError) as refused:
        benchmark_cases(release, keyframes)
    assert f"{PAIR}: {problem}" in str(refused.value)
    assert "Open the same version of the logs that the release was made from" in str(refused.value)


def test_all_that_does_not_fit_is_told_at_once_and_bounded(release: Release) -> None:
    cameras = tuple(camera.model_copy(update={"sha256": "0" * 64}) for camera in keyframe("aaaa").cameras)
    with pytest.raises(CasesError, match="what does not fit, 8 in all:"):
        benchmark_cases(release, given(cameras=cameras, split="train", timestamp_us=5, scene="town", location="x"))
    more = tuple(camera.model_copy(update={"sensor_id": f"{camera.sensor_id}_B"}) for camera in cameras)
    with pytest.raises(CasesError, match="and 2 more"):
        benchmark_cases(release, given(cameras=(*cameras, *more)))


def quad(corners: list[list[float]]) -> pl.Expr:
    column = pl.Series([corners], dtype=pl.Array(pl.Array(pl.Float64, 2), 4))
    return pl.lit(column).first().alias("quad")


HOSTILE: dict[str, tuple[str, pl.Expr, str]] = {
    "an id that climbs": ("pairs", pl.lit("../../a/b").alias("pair_id"), "is no pair id"),
    "another's task": ("pairs", pl.lit("red_signal").alias("task"), "its row says that its task is 'red_signal'"),
    "no region": ("regions", pl.lit("a/b/c/d").alias("pair_id"), "it has no region"),
    "a region without area": ("regions", quad([[0.0, 0.0]] * 4), "signed area is 0.000"),
    "a clearance of nothing": ("regions", pl.lit(0.0).alias("clearance_m"), "the clearance must be a positive"),
    "no view": ("views", pl.lit("a/b/c/d").alias("pair_id"), "it has no edited view"),
    "no edit": ("views", pl.lit(value=False).alias("is_edited"), "it has no edited view"),
    "an edit without pixels": (
        "views",
        pl.lit(None, dtype=pl.String).alias("edited_pixels_sha256"),
        "must have a digest of edited pixels exactly when it is edited",
    ),
    "a digest that is none": ("views", pl.lit("x" * 64).alias("edited_pixels_sha256"), "has a digest that is none"),
    "a sensor that climbs": (
        "views",
        (pl.lit("../") + pl.col("sensor_id")).alias("sensor_id"),
        "'../CAM_FRONT' is no sensor's name",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_rows_are_refused(name: str, made: Path, tmp_path: Path) -> None:
    table, change, problem = HOSTILE[name]
    folder = shutil.copytree(made, tmp_path / "harmed")
    pairs = open_release(folder).frame("hazards", "pairs")
    benchmark = pl.col("pair_id") == pairs.filter(subset="benchmark")["pair_id"][0]
    column = change.meta.output_name()
    kept = pl.when(benchmark).then(change).otherwise(pl.col(column))
    rewrite(folder, table, kept.alias(column))
    with pytest.raises(CasesError) as refused:
        benchmark_cases(open_release(folder), given())
    assert problem in str(refused.value)


def test_a_quad_that_crosses_itself_is_no_region(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "harmed")
    crossed = [[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [1.0, -1.0]]
    rewrite(
        folder,
        "regions",
        pl.lit("conflict").alias("kind"),
        quad(crossed),
    )
    with pytest.raises(CasesError, match="the region's quad crosses itself"):
        benchmark_cases(open_release(folder), given())


def test_lines_for_outside_planners_say_what_is_needed_and_never_where_the_hazard_is(release: Release) -> None:
    cases = benchmark_cases(release, given())
    source, edited = case_rows(cases, Logs().file_name)
    assert edited["cameras"][1] == {
        "sensor_id": "CAM_FRONT",
        "frame_offset": 0,
        "timestamp_us": 1_000_000,
        "width": 64,
        "height": 48,
        "is_edited": True,
        "file": f"{PAIR}/CAM_FRONT.png",
        "pixels_sha256": cases[1].views[1].sha256,
        "intrinsics": [[50.0, 0.0, 32.0], [0.0, 50.0, 24.0], [0.0, 0.0, 1.0]],
        "camera_to_ego": [[0, 0, 1, 1.7], [-1, 0, 0, 0], [0, -1, 0, 1.5], [0, 0, 0, 1]],
    }
    assert (source["cameras"][1]["file"], source["cameras"][1]["is_edited"]) == ("samples/CAM_FRONT/aaaa0.png", False)
    assert source["cameras"][1]["file_sha256"] == cases[0].views[1].sha256
    assert source["cameras"][0] == edited["cameras"][0]
    own = {"variant", "inputs_sha256", "cameras"}
    assert {name: source[name] for name in source.keys() - own} == {name: edited[name] for name in edited.keys() - own}
    assert (edited["pair_id"], edited["speed"], edited["timestamp_us"]) == (PAIR, 8.0, 1_000_000)
    assert edited["inputs_sha256"] == cases[1].inputs_sha256
    for row in (source, edited):
        text = canonical_json(row).decode()  # JSON, without NaN
        assert not {"quad", "region", "clearance_m", "family", "expected_region"} & json.loads(text).keys()
        assert "quad" not in text
        assert "clearance" not in text


def test_seeds_hang_on_the_pair_and_the_root_alone(release: Release) -> None:
    cases = benchmark_cases(release, given())
    one, two = ({row["seed"] for row in case_rows(cases, Logs().file_name, root)} for root in (0, 1))
    assert len(one) == len(two) == 1
    assert one != two


def test_calibration_goes_through_the_keyframe(release: Release) -> None:
    later = Pose(translation=(0.4, 0.1, 0.0), rotation=(np.cos(0.05), 0.0, 0.0, np.sin(0.05)))
    cameras = tuple(camera.model_copy(update={"ego_to_global": later}) for camera in keyframe("aaaa").cameras)
    past = (PathPoint(t=-0.5, x=-4.0, y=0.1, heading=0.01),)
    motion = keyframe("aaaa").motion.model_copy(update={"history": past})
    frame = given(cameras=cameras, motion=motion)["streetset/town/aaaa"]
    cases = [replace(case, keyframe=frame) for case in benchmark_cases(release, given())]
    (row, _) = case_rows(cases, Logs().file_name)
    assert row["past"] == [{"t": -0.5, "x": -4.0, "y": 0.1, "heading": 0.01}]
    camera_to_ego = np.array(row["cameras"][1]["camera_to_ego"])
    there = pinhole(frame, frame.view("CAM_FRONT"))
    assert camera_to_ego[:3, 3] == pytest.approx(there.position, abs=1e-6)
    ego_to_camera = camera_to_ego[:3, :3].T
    assert ego_to_camera == pytest.approx(there.ego_to_camera.rotation, abs=1e-9)


def test_regions_have_lines_of_their_own_which_scoring_reads(release: Release, tmp_path: Path) -> None:
    cases = benchmark_cases(release, given())
    rows = list(region_rows(cases))
    (tmp_path / "regions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (read,) = read_regions(tmp_path / "regions.jsonl")
    assert read.quad.tolist() == cases[0].region.quad.tolist()
    assert {name: getattr(read, name) for name in rows[0].keys() - {"quad"}} == {
        name: getattr(cases[0].region, name) for name in rows[0].keys() - {"quad"}
    }
    assert rows == [
        {
            "pair_id": PAIR,
            "quad": [list(corner) for corner in QUAD],
            "clearance_m": 1.5,
            "family": "road_surface_hazard",
            "task": "collapsed_road_surface",
            "scene": "town",
            "split": "val",
        }
    ]
