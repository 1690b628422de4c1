"""A small street for tests of the stages after editing: real calibrations, hazards, good edits and bad ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import shapely
from scipy import ndimage

from data_registry.blobs import Blobs
from data_registry.cameras import pinhole
from data_registry.edits import bounding_window
from data_registry.geometry import Array, Transform, convex_quad, yaw_rotation
from data_registry.identity import combination_id, sha256
from data_registry.pictures import Rgb, encode_png
from data_registry.projection import outline
from data_registry.records import (
    Annotation,
    Area,
    Box,
    Camera,
    Candidate,
    Decision,
    Edit,
    Human,
    Keyframe,
    MapPatch,
    Measurements,
    Motion,
    Placement,
    Pose,
    Record,
    Region,
    Screening,
    Standing,
    Surface,
    ViewEdit,
)
from data_registry.silhouettes import fill, outlines_before, placement_footprint, placement_points
from data_registry.sources.source import Licence, Request, Selection
from models.localizers.ground_plane import GroundPlaneLocalizer
from models.reviewers import RuleReviewer
from prompts.taxonomy import TaskSpec, load_taxonomy
from tasks.decide import DecideStage
from tasks.items import Combination, Contested, Edited, Examined, Judged, Screened
from tasks.judge import JudgeStage
from tasks.localize import LocalizeStage
from tasks.measure import MeasureStage
from tasks.stage import Outcome, PermanentFailureError, Stage

R = TypeVar("R", bound=Record)

SCALE = 0.5
"""Pictures have half the size of nuScenes': 800x450."""
CALIBRATIONS = {
    "CAM_FRONT": (1252.8, (826.6, 470.0), (1.722, 0.005, 1.495), (0.50772, -0.49734, 0.49837, -0.49648)),
    "CAM_FRONT_LEFT": (1257.9, (827.2, 450.9), (1.575, 0.501, 1.507), (0.68121, -0.66875, 0.21017, -0.21108)),
    "CAM_FRONT_RIGHT": (1256.7, (817.8, 452.0), (1.581, -0.499, 1.517), (-0.20335, 0.19146, -0.67857, 0.67936)),
}
"""Of the real vehicle n008 (nuScenes v1.0): focal length, centre in pixels; translation, rotation camera to ego."""
TASKS: dict[str, TaskSpec] = {task.id: task for task in load_taxonomy()}
TRUCK, PEDESTRIAN, HOLE = "large_vehicle_blocking_lane", "occluded_pedestrian", "collapsed_road_surface"


def unit(quaternion: Sequence[float]) -> tuple[float, float, float, float]:
    w, x, y, z = (np.array(quaternion) / np.linalg.norm(quaternion)).tolist()
    return w, x, y, z


@cache
def picture(sensor_id: str) -> Rgb:
    """A picture with some texture, different for each sensor."""
    draw = np.random.Generator(np.random.PCG64(len(sensor_id)))
    height, width = int(900 * SCALE), int(1600 * SCALE)
    rows = np.linspace(150, 90, height)[:, None, None]
    return np.clip(rows + draw.normal(0, 4, (height, width, 3)), 0, 255).astype(np.uint8)


def camera(sensor_id: str) -> Camera:
    focal, centre, translation, rotation = CALIBRATIONS[sensor_id]
    height, width = picture(sensor_id).shape[:2]
    return Camera(
        sensor_id=sensor_id,
        frame_offset=0,
        timestamp_us=0,
        width=width,
        height=height,
        sha256=sha256(encode_png(picture(sensor_id))),
        intrinsics=(
            (focal * SCALE, 0.0, centre[0] * SCALE),
            (0.0, focal * SCALE, centre[1] * SCALE),
            (0.0, 0.0, 1.0),
        ),
        camera_to_ego=Pose(translation=translation, rotation=unit(rotation)),
        ego_to_global=Pose(translation=(0, 0, 0), rotation=(1, 0, 0, 0)),
    )


def box(x: float, y: float, size: tuple[float, float, float], yaw: float = 0.0, lift: float = 0.0) -> Box:
    """A box whose bottom is `lift` metres above the flat ground."""
    rotation = Transform(yaw_rotation(yaw), np.zeros(3)).quaternion()
    return Box(centre=(x, y, size[2] / 2 + lift), size=size, rotation=rotation)


def parked(x: float, y: float, token: str = "parked") -> Annotation:
    return Annotation(
        token=token,
        instance=token,
        category="vehicle.car",
        attributes=(),
        visibility="4",
        box=box(x, y, (4.4, 1.8, 1.5)),
        velocity=(0.0, 0.0),
    )


def street(annotations: Sequence[Annotation] = (), sensors: Sequence[str] = tuple(CALIBRATIONS)) -> Keyframe:
    ring = ((-60.0, -6.0), (60.0, -6.0), (60.0, 6.0), (-60.0, 6.0))
    return Keyframe(
        dataset="streetset",
        scene="scene-0001",
        token="a" * 32,
        timestamp_us=0,
        location="street",
        split="val",
        description="a straight street",
        ego_to_global=Pose(translation=(0, 0, 0), rotation=(1, 0, 0, 0)),
        motion=Motion(speed=5.0, source="poses", history=(), future=()),
        cameras=tuple(camera(sensor) for sensor in sensors),
        annotations=tuple(annotations),
        map=MapPatch(source="mask", layers_sha256="0" * 64, drivable=(Area(exterior=ring),)),
    )


class Memory:
    """A source whose pictures lie in memory."""

    dataset: Literal["nuscenes", "streetset"] = "streetset"
    licence = Licence("none", "CC0-1.0", "", "", share_alike=False, non_commercial=False)

    def fingerprint(self) -> str:
        return "0" * 64

    def select(self, request: Request) -> Selection:
        return Selection((street(),), ())

    def file_name(self, keyframe: Keyframe, camera: Camera) -> str:
        """Return a name made of sensor and offset."""
        return f"samples/{camera.sensor_id}/{keyframe.token}{camera.frame_offset}.png"

    def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
        return encode_png(picture(camera.sensor_id))


def truck(x: float = 12.0, y: float = 0.2, yaw: float = 0.0, lift: float = 0.0, scale: float = 1.0) -> Standing:
    size = (6.8 * scale, 2.25 * scale, 3.0 * scale)
    return Standing(box=box(x, y, size, yaw, lift), surface="road")


def pedestrian(x: float = 14.0, y: float = -1.5, lift: float = 0.0, scale: float = 1.0) -> Standing:
    size = (0.55 * scale, 0.6 * scale, 1.75 * scale)
    return Standing(box=box(x, y, size, np.pi / 2, lift), surface="road")


def hole(x: float = 12.0, y: float = 0.0) -> Surface:
    """A hole of 2.6 x 2.0 m along the lane with cut corners."""
    ring = [(1.3, -0.6), (1.3, 0.6), (0.9, 1.0), (-0.9, 1.0), (-1.3, 0.6), (-1.3, -0.6), (-0.9, -1.0), (0.9, -1.0)]
    return Surface(polygon=tuple((x + dx, y + dy) for dx, dy in ring))


def expected_quad(task: TaskSpec, placement: Placement) -> Array:
    """The region that screening expects: the footprint, swept along the heading when the task says so."""
    ring = np.asarray(placement_footprint(placement).exterior.coords)
    way = task.region.speed * task.region.seconds
    yaw = 0.0 if placement.kind == "surface" else placement.box.pose().yaw
    swept = np.concatenate([ring, ring + np.array([np.cos(yaw), np.sin(yaw)]) * way])
    return np.round(convex_quad(shapely.MultiPoint(swept).convex_hull), 6)  # pyright: ignore[reportArgumentType]


def screened(task_id: str, placement: Placement, keyframe: Keyframe | None = None, **changes: object) -> Screened:
    """A suitable combination with a placement; `changes` replace fields of the screening."""
    keyframe, task = keyframe or street(), TASKS[task_id]
    points = placement_points(placement, keyframe.ground)
    areas = {camera.sensor_id: outline(points, pinhole(keyframe, camera)).area for camera in keyframe.cameras}
    fields: dict[str, object] = {
        "combination_id": combination_id(keyframe.id, task_id),
        "suitable": True,
        "reason_code": "suitable",
        "evidence": (),
        "views": tuple(sorted((name for name, area in areas.items() if area > 40), key=lambda name: -areas[name])),
        "appearance": task.appearances[0].name,
        "placement": placement,
        "expected_region": tuple((float(x), float(y)) for x, y in expected_quad(task, placement)),
        "nominal_conflict": "both",
        "required_decel": 2.0,
        "avoidable": "stop",
        "path_source": "poses",
    }
    return Screened(Combination(keyframe, task), Screening.model_validate(fields | changes))


@dataclass(frozen=True)
class Painter:
    """Paints placements as flat silhouettes, hidden by what stands before them: edits whose truth is known exactly."""

    blobs: Blobs
    margin_px: int = 6
    level: int = 220
    """Grey level of the hazard; None would be a copy, which `level=-1` paints."""
    stray_px: int = 0
    """Pixels changed outside the edit mask."""
    background: int = 0
    """Grey levels added to the editable pixels around the hazard."""
    grain: float = 0.0
    """Standard deviation of the hazard's grey levels; the pictures have 4."""

    def candidate(self, item: Screened, drawn: Placement | Mapping[str, Placement], attempt: int = 0) -> Candidate:
        """Edit every wanted view, showing `drawn` (by sensor, when a mapping) instead of the placement."""
        views = [
            self.view(item, name, drawn[name] if isinstance(drawn, Mapping) else drawn) for name in item.screening.views
        ]
        return Candidate(seed=7, attempt=attempt, views=tuple(views))

    def edited(self, item: Screened, drawn: Placement | Mapping[str, Placement], attempt: int = 0) -> Edited:
        return Edited(item, self.candidate(item, drawn, attempt))

    def view(self, item: Screened, name: str, drawn: Placement) -> ViewEdit:
        keyframe, source = item.combination.keyframe, picture(name)
        reading = keyframe.view(name)
        model = pinhole(keyframe, reading)
        seen = outline(placement_points(drawn, keyframe.ground), model)
        before = outlines_before(model, placement_footprint(drawn), seen, keyframe.annotations)
        mask = fill(model, [seen]) & ~fill(model, before)
        assert item.screening.placement is not None
        placed = fill(model, [outline(placement_points(item.screening.placement, keyframe.ground), model)])
        around = mask if mask.any() else placed
        grown = ndimage.binary_dilation(around, np.ones((3, 3)), iterations=self.margin_px)
        editable = np.asarray(grown, dtype=np.bool_)
        edited = source.copy()
        edited[editable] = np.clip(edited[editable].astype(int) + self.background, 0, 255)
        if self.level >= 0:
            noise = np.random.Generator(np.random.PCG64(1)).normal(0, self.grain, edited.shape)
            edited[mask] = np.clip(self.level + noise[mask], 0, 255).astype(np.uint8)
        window = bounding_window(np.where(editable, 255, 0).astype(np.uint8))
        left, top, right, bottom = window
        part = (slice(top, bottom), slice(left, right))
        crop = np.where(editable[part][..., None], edited[part], np.uint8(0))
        outside = np.argwhere(~editable[part])[: self.stray_px]
        crop[outside[:, 0], outside[:, 1]] = 1
        return ViewEdit(
            sensor_id=name,
            source_sha256=reading.sha256 or "",
            window=window,
            edited=self.blobs.put(encode_png(crop)),
            edit_mask=self.blobs.put(encode_png(np.where(editable[part], 255, 0).astype(np.uint8))),
            object_mask=self.blobs.put(encode_png(np.where(mask[part], 255, 0).astype(np.uint8))),
        )


def only(outcomes: Iterable[Outcome[R]]) -> Outcome[R]:
    """The one outcome of a stage that got one item."""
    (outcome,) = outcomes
    return outcome


def measured(item: Edited, blobs: Blobs) -> Measurements:
    return only(MeasureStage(Memory(), blobs).process([item])).record


def located(item: Edited, blobs: Blobs) -> Region | None:
    try:
        return only(LocalizeStage(GroundPlaneLocalizer(), blobs).process([item])).record
    except PermanentFailureError as error:
        if error.reason_code != "no_region":
            raise
        return None


def judged(item: Edited, blobs: Blobs) -> Judged:
    """Send one candidate through measure, localize and judge."""
    examined = Examined(item, measured(item, blobs), located(item, blobs))
    return Judged(examined, only(JudgeStage(RuleReviewer(), Memory(), blobs).process([examined])).record)


def contested(candidates: Sequence[Judged], human: Sequence[Human] = ()) -> Contested:
    """The pair of some judged candidates."""
    screened = candidates[0].examined.edited.screened
    edit = Edit(
        pair_id=screened.combination.id,
        candidates=tuple(candidate.examined.edited.candidate for candidate in candidates),
    )
    return Contested(screened, edit, tuple(candidates), tuple(human))


def decided(candidates: Sequence[Judged], human: Sequence[Human] = ()) -> Decision:
    return only(DecideStage().process([contested(candidates, human)])).record


def check_golden(stage: type[Stage[Any, Any]], case: str, record: Record) -> None:
    """Compare a payload with the stored one; `UPDATE_GOLDEN=1` in the environment stores it anew."""
    path = Path(__file__).parent / "golden" / stage.name / f"{case}.json"
    content = {"version": stage.version, "payload": record.model_dump(mode="json")}
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert content == stored, (
        f"stage {stage.name} gives another payload for {case}: bump version of the stage, then UPDATE_GOLDEN=1"
    )
