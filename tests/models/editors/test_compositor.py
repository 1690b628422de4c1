"""The compositor: scale, contact, occlusion, masks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from data_registry.cameras import pinhole
from data_registry.records import Annotation, Screening
from models.editors.compositor import Compositor, CompositorSettings
from models.editors.editor import EditRequest, HazardNotVisibleError, RawEdit, UnknownShapeError
from models.editors.masks import dilated_hull, feather
from models.screeners import RuleScreener
from prompts.taxonomy import TaskSpec, load_taxonomy
from tests.models.editors import placed
from tests.street import EYE_M, FOCAL, HEIGHT, PARKED, annotation, camera, keyframe, picture

TASKS = {task.id: task for task in load_taxonomy()}
CAMERA_X = 1.7


def request(
    task: TaskSpec, annotations: Sequence[Annotation] = PARKED, seed: int = 7, screening: Screening | None = None
) -> EditRequest:
    frame = keyframe(annotations)
    found = screening or RuleScreener().screen(frame, task)
    record = camera("CAM_FRONT")
    return EditRequest(frame, task, found, record, pinhole(frame, record), picture(0), seed, ())


def edit(task: str, **more: Any) -> tuple[EditRequest, RawEdit]:
    asked = request(TASKS[task], **more)
    return asked, Compositor().edit(asked)


def rows(mask: np.ndarray) -> tuple[int, int]:
    found = np.flatnonzero(mask.any(axis=1))
    return int(found[0]), int(found[-1])


def test_a_truck_has_the_height_of_the_pinhole_formula_and_touches_the_ground() -> None:
    asked = placed.request("box_truck", placed.standing((11.0, 0.0), (6.8, 2.25, 3.1)))
    raw = Compositor().edit(asked)
    box = asked.screening.placement.box  # pyright: ignore
    back = box.centre[0] - box.size[0] / 2 - CAMERA_X
    top, bottom = rows(raw.object_mask)
    horizon = (HEIGHT - 1) / 2
    ground = float(asked.keyframe.ground.height_at(np.array([[box.centre[0], 0.0]]))[0])
    assert top == pytest.approx(horizon - FOCAL * (ground + box.size[2] - EYE_M) / back, abs=2.0)
    lowest, contact = horizon + FOCAL * (EYE_M - ground) / (back + 2.0), horizon + FOCAL * (EYE_M - ground) / back
    assert lowest - 2 <= bottom <= contact + 2


def test_a_pedestrian_stands_where_its_box_does() -> None:
    asked, raw = edit("occluded_pedestrian")
    box = asked.screening.placement.box  # pyright: ignore
    foot, _ = asked.model.project(np.array([[box.centre[0], box.centre[1], box.centre[2] - box.size[2] / 2]]))
    head, _ = asked.model.project(np.array([[box.centre[0], box.centre[1], box.centre[2] + box.size[2] / 2]]))
    top, bottom = rows(raw.object_mask)
    assert top == pytest.approx(head[0, 1], abs=3)
    assert bottom == pytest.approx(foot[0, 1], abs=6)


def test_a_nearer_object_hides_the_hazard_and_a_farther_one_does_not() -> None:
    truck = placed.standing((11.0, 0.0), (6.8, 2.25, 3.1))

    def edited(*more: Annotation) -> tuple[EditRequest, RawEdit]:
        asked = placed.request("box_truck", truck, placed.Setting((*PARKED, *more)))
        return asked, Compositor().edit(asked)

    plain, whole = edited()
    _, behind = edited(annotation("nearer", 6.5, 0.4, size=(0.5, 0.8, 2.0)))
    _, before = edited(annotation("farther", 40.0, 0.4, size=(0.5, 0.8, 2.0)))
    middle, _ = plain.model.project(np.array([[6.25, 0.4, 1.0]]))
    column, row = np.rint(middle[0]).astype(int)
    assert whole.object_mask[row, column] == 255
    assert behind.object_mask[row, column] == 0
    np.testing.assert_array_equal(behind.picture[row, column], plain.source[row, column])
    assert before.object_mask[row, column] == 255


def test_a_hidden_hazard_is_said_to_be_hidden() -> None:
    plain = request(TASKS["collapsed_road_surface"])
    wall = annotation("wall", 4.6, 0.0, size=(0.2, 8.0, 6.0))
    with pytest.raises(HazardNotVisibleError, match="nothing of the hazard shows in CAM_FRONT"):
        Compositor().edit(request(plain.task, [*PARKED, wall], screening=plain.screening))


def test_the_ground_below_a_truck_gets_darker_and_the_road_far_from_it_does_not() -> None:
    asked = placed.request("box_truck", placed.standing((15.0, 0.0), (6.8, 2.25, 3.1)))
    raw = Compositor().edit(asked)
    darker = asked.source.mean(axis=2) - raw.picture.mean(axis=2)
    back = 15.0 - 6.8 / 2
    near, far = asked.keyframe.ground.lift(np.array([[back, 0.0], [back - 3.0, 0.0]]))
    (under, _), (clear, _) = (asked.model.project(point[None]) for point in (near, far))
    column, row = np.rint(under[0]).astype(int)
    assert darker[row - 10 : row + 1, column][raw.object_mask[row - 10 : row + 1, column] == 0].max() > 25
    column, row = np.rint(clear[0]).astype(int)
    assert darker[row, column] == 0


def test_the_same_request_gives_the_same_picture_and_another_seed_another_paint() -> None:
    asked, raw = edit("large_vehicle_blocking_lane")
    np.testing.assert_array_equal(Compositor().edit(asked).picture, raw.picture)
    _, other = edit("large_vehicle_blocking_lane", seed=8)
    assert (other.picture != raw.picture).any()
    np.testing.assert_array_equal(other.object_mask, raw.object_mask)


def test_a_dark_picture_gets_a_dark_truck() -> None:
    asked = request(TASKS["large_vehicle_blocking_lane"])
    night = EditRequest(
        asked.keyframe,
        asked.task,
        asked.screening,
        asked.camera,
        asked.model,
        (asked.source // 5).astype(np.uint8),
        asked.seed,
        (),
    )
    by_day, by_night = Compositor().edit(asked), Compositor().edit(night)
    seen = by_day.object_mask > 0
    assert by_night.picture[seen].mean() < 0.5 * by_day.picture[seen].mean()


def test_an_unknown_shape_is_named() -> None:
    plain = request(TASKS["large_vehicle_blocking_lane"])
    hole = TASKS["collapsed_road_surface"]
    named = hole.appearances[0].model_copy(update={"name": plain.screening.appearance})
    strange = hole.model_copy(update={"appearances": (named,)})
    with pytest.raises(UnknownShapeError, match="cannot draw shape 'pothole'"):
        Compositor(CompositorSettings()).edit(request(strange, screening=plain.screening))


def test_the_feather_lies_inside_the_mask_and_not_at_the_picture_edge() -> None:
    mask = np.zeros((40, 40), np.uint8)
    mask[10:40, 10:30] = 255
    weight = feather(mask, 4)
    assert (weight[mask == 0] == 0).all()
    assert 0 < weight[10, 20] < 1
    assert weight[39, 20] == 1.0
    assert weight[20, 20] == 1.0


def test_the_hull_covers_what_was_touched_with_the_margin() -> None:
    touched = np.zeros((60, 60), bool)
    touched[20, 20] = touched[40, 45] = True
    mask = dilated_hull(touched, 5)
    assert mask[30, 32] == 255
    assert mask[16, 20] == 255
    assert mask[20, 40] == 0


def test_one_compositor_used_by_several_threads_gives_what_each_alone_would_in_any_order() -> None:
    tasks = ("occluded_pedestrian", "large_vehicle_blocking_lane", "collapsed_road_surface", "spilled_debris")
    asked = [request(TASKS[task]) for task in tasks]
    alone = [Compositor().edit(one) for one in asked]
    shared = Compositor()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(shared.edit, asked[::-1]))[::-1]
    for one, other in zip(alone, together, strict=True):
        for name in ("picture", "edit_mask", "object_mask"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
