"""Hazards of every kind put by hand into the small street, so that editors are tested without a screener."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data_registry.cameras import pinhole
from data_registry.geometry import Transform, rectangle, yaw_rotation
from data_registry.pictures import Rgb
from data_registry.records import Annotation, Attached, Box, Mounted, Placement, Screening, Standing, Surface
from models.editors.editor import EditRequest
from prompts.taxonomy import TaskSpec, load_taxonomy
from tests.street import PARKED, camera, keyframe, picture

TASKS = {task.id: task for task in load_taxonomy()}
CARRIERS = {
    "standing": "large_vehicle_blocking_lane",
    "surface": "collapsed_road_surface",
    "mounted": "red_signal",
    "attached": "open_door",
}
"""A task of each kind, whose look is replaced."""
TRUCK = ("box_truck", (11.0, 0.0), (6.8, 2.25, 3.1))


@dataclass(frozen=True)
class Setting:
    """What a request is made in: the street, what it looks like, the seed and the camera."""

    annotations: Sequence[Annotation] = PARKED
    source: Rgb | None = None
    description: str = "a street by day"
    seed: int = 7
    sensor_id: str = "CAM_FRONT"


def box(at: tuple[float, float], size: tuple[float, float, float], yaw: float = 0.0, lift: float = 0.0) -> Box:
    ground = float(keyframe().ground.height_at(np.array([at]))[0])
    rotation = Transform(yaw_rotation(yaw), np.zeros(3)).quaternion()
    return Box(centre=(*at, ground + lift + size[2] / 2), size=size, rotation=rotation)


def standing(at: tuple[float, float], size: tuple[float, float, float], yaw: float = 0.0) -> Standing:
    return Standing(box=box(at, size, yaw), surface="road")


def surface(at: tuple[float, float], size: tuple[float, float]) -> Surface:
    ring = rectangle(at, size[0], size[1], 0.0)
    middles = (ring + np.roll(ring, -1, axis=0)) / 2
    outline = np.stack([ring, middles], axis=1).reshape(-1, 2)
    return Surface(polygon=tuple((float(x), float(y)) for x, y in outline))


def signal(at: tuple[float, float], underside_m: float = 2.2) -> Mounted:
    return Mounted(box=box(at, (0.35, 0.4, 1.0), np.pi, underside_m), faces=("front",))


def door(car: Annotation) -> Attached:
    """Open the left front door of a car that looks along x, by 65 degrees."""
    x, y, _ = car.box.centre
    hinge = np.array([x + 0.2 * car.box.size[0], y + car.box.size[1] / 2])
    turn = np.pi - 1.13
    middle = hinge + 0.55 * np.array([np.cos(turn), np.sin(turn)])
    frame = box((float(middle[0]), float(middle[1])), (1.1, 0.15, 1.1), turn, 0.3)
    return Attached(annotation=car.token, part="door", box=frame)


KINDS: dict[str, tuple[str, Placement]] = {
    "pedestrian": ("pedestrian", standing((9.0, -0.4), (0.6, 0.6, 1.75), 1.57)),
    "box_truck": (TRUCK[0], standing(TRUCK[1], TRUCK[2])),
    "car": ("car", standing((11.0, 0.4), (4.4, 1.8, 1.5), 0.6)),
    "crates": ("crates", standing((9.0, 0.3), (1.5, 1.6, 1.0), 0.2)),
    "pothole": ("pothole", surface((9.0, 0.0), (2.4, 2.0))),
    "flood": ("flood", surface((10.0, 0.0), (5.0, 3.0))),
    "ice": ("ice", surface((10.0, 0.0), (5.0, 3.0))),
    "debris": ("debris", surface((9.0, 0.0), (2.5, 2.0))),
    "signal_post": ("signal_post", signal((13.0, -1.6))),
    "portable_signal": ("portable_signal", signal((11.0, -1.2), 1.5)),
    "car_door": ("car_door", door(PARKED[0])),
}
"""One hazard of every kind and way to be drawn."""


def task_of(kind: str, shape: str) -> TaskSpec:
    task = TASKS[CARRIERS[kind]]
    look = task.appearances[0].model_copy(update={"name": "look", "shape": shape})
    return task.model_copy(update={"appearances": (look,)})


def request(shape: str, placement: Placement, setting: Setting | None = None) -> EditRequest:
    """Ask for a hazard of a shape at a placement."""
    chosen = setting or Setting()
    frame = keyframe(chosen.annotations).model_copy(update={"description": chosen.description})
    record = camera(chosen.sensor_id)
    task = task_of(placement.kind, shape)
    screening = Screening(
        combination_id=f"{frame.id}/{task.id}",
        suitable=True,
        reason_code="suitable",
        evidence=(),
        views=(chosen.sensor_id,),
        appearance="look",
        placement=placement,
        expected_region=None,
        nominal_conflict="both",
        required_decel=1.0,
        avoidable="both",
        path_source="poses",
    )
    source = picture(0) if chosen.source is None else chosen.source
    return EditRequest(frame, task, screening, record, pinhole(frame, record), source, chosen.seed, ())
