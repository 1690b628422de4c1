"""How far box bottoms lie from the ground: from z = 0, and from the plane that was fitted to the other boxes.

Each box of a keyframe is left out once and its bottom is held against the plane of all others, so that no box speaks
for itself. `EXCEPTIONDRIVE_REAL_DATA` names the folder with the real sample; without it only an embedded log is
measured. Tables alone are read: most real keyframes lack their pictures.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.performance import report
from data_registry.geometry import Array, GroundPlane, Transform, box_corners, fit_ground
from data_registry.sources.streetset import VERSION, write_streetset

PAGE = Path(__file__).parents[1] / "docs" / "localization.md"
BINS = (0.0, 10.0, 20.0, 30.0, 45.0, 60.0)
TABLES = ("scene", "sample", "sample_data", "sample_annotation", "ego_pose", "calibrated_sensor", "sensor")
LEAST_BOXES = 10
"""Rows with fewer boxes say nothing."""
EYE_M = 1.5
"""Height of a camera above the road: what a wrong ground does to distances."""


def bottoms(root: Path, version: str, scenes: tuple[str, ...] = ()) -> Iterator[Array]:
    """Yield the bottom centres (N, 3) of each keyframe's boxes in its ego frame, metres."""
    tables = {name: json.loads((root / version / f"{name}.json").read_text(encoding="utf-8")) for name in TABLES}
    by_token = {name: {row["token"]: row for row in rows} for name, rows in tables.items()}
    poses = {row["sample_token"]: by_token["ego_pose"][row["ego_pose_token"]] for row in _lidar(tables, by_token)}
    boxes: dict[str, list[Any]] = {}
    for row in tables["sample_annotation"]:
        boxes.setdefault(row["sample_token"], []).append(row)
    for token in sorted(boxes):
        scene = by_token["scene"][by_token["sample"][token]["scene_token"]]["name"]
        if not scenes or scene in scenes:
            to_ego = Transform.from_quaternion(poses[token]["translation"], poses[token]["rotation"]).inverse()
            yield np.array([_bottom(to_ego, row) for row in boxes[token]])


def _lidar(tables: Any, by_token: Any) -> Iterator[Any]:
    for row in tables["sample_data"]:
        sensor = by_token["calibrated_sensor"][row["calibrated_sensor_token"]]["sensor_token"]
        if row["is_key_frame"] and by_token["sensor"][sensor]["channel"] == "LIDAR_TOP":
            yield row


def _bottom(to_ego: Transform, row: Any) -> Array:
    pose = to_ego @ Transform.from_quaternion(row["translation"], row["rotation"])
    width, length, height = row["size"]
    return box_corners(pose.translation.tolist(), (length, width, height), pose.rotation)[:4].mean(axis=0)


def errors(frames: list[Array], fit: Callable[[Array], GroundPlane]) -> Array:
    """Return distance, height error and how far ahead (N, 3) of every box against what all others of its keyframe give.

    The height error is the bottom's height above the plane that `fit` returns for the other boxes; all in metres.
    """
    found = [
        (float(np.hypot(*points[index, :2])), float(_miss(points, index, fit)), float(points[index, 0]))
        for points in frames
        for index in range(len(points))
    ]
    return np.array(found)


def _miss(points: Array, index: int, fit: Callable[[Array], GroundPlane]) -> float:
    return points[index, 2] - fit(np.delete(points, index, axis=0)).height_at(points[index : index + 1])[0]


def table(title: str, frames: list[Array]) -> list[str]:
    """Return the lines about one log: boxes ahead of the ego vehicle, then those behind it."""
    residuals = [fit_ground(points).residual_m for points in frames]
    flat, plane = errors(frames, lambda _points: GroundPlane()), errors(frames, fit_ground)
    lines = [
        f"{title}: {len(frames)} keyframes, residual of the plane {np.median(residuals):.2f} m (median)",
        "                      boxes   |error| median, 90 % of z = 0   of the plane   from 1.5 m: distance wrong by",
    ]
    for word, which in (("ahead", flat[:, 2] > 0), ("behind", flat[:, 2] <= 0)):
        for low, high in pairwise(BINS):
            rows = which & (flat[:, 0] >= low) & (flat[:, 0] < high)
            if rows.sum() >= LEAST_BOXES:
                lines.append(f"  {f'{low:2.0f} to {high:2.0f} m {word}':16s}" + _row(flat[rows], plane[rows]))
    return lines


def _row(flat: Array, plane: Array) -> str:
    first, second = (np.quantile(np.abs(one[:, 1]), [0.5, 0.9]) for one in (flat, plane))
    ranges = [float(np.median(np.abs(one[:, 1]) * one[:, 0])) / EYE_M for one in (flat, plane)]
    return (
        f" {len(flat):8d} {first[0]:16.2f} {first[1]:7.2f} m {second[0]:11.2f} {second[1]:6.2f} m"
        f"   {ranges[0]:9.2f} m -> {ranges[1]:5.2f} m"
    )


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        write_streetset(Path(folder) / "streetset")
        climb = list(bottoms(Path(folder) / "streetset", VERSION, ("scene-9006",)))
    lines = table("embedded scene-9006, the foot of a hill that climbs at 6 %", climb)
    given = os.environ.get("EXCEPTIONDRIVE_REAL_DATA")
    if given:
        frames = list(bottoms(Path(given) / "nuscenes_real", "v1.0-mini"))
        lines = [*table("real keyframes of scene-0061, scene-0103 and scene-0916", frames), "", *lines]
    elif "--write" in sys.argv:
        raise SystemExit("set EXCEPTIONDRIVE_REAL_DATA: without it the table would lose the real keyframes")
    report("ground_plane", lines, PAGE)


if __name__ == "__main__":
    main()
