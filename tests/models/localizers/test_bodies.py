"""What body is expected: it fills the size that it is given, whatever the placement's own box is."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from data_registry.geometry import GroundPlane
from data_registry.records import Attached, Mounted
from models.localizers.bodies import expected_bodies
from prompts.taxonomy import TaskSpec
from tests.verdict_cases import TASKS, TRUCK, box, parked, street, truck

STANDING = [
    (task, look.name) for task in TASKS.values() if task.placement.kind == "standing" for look in task.appearances
]
HANGING = Mounted(box=box(10, 0, (0.3, 0.4, 1.0), 0.0, 2.3), faces=("front",))
FLAT = GroundPlane()
STREET = street()


@pytest.mark.parametrize(("task", "look"), STANDING, ids=lambda value: value if isinstance(value, str) else value.id)
def test_a_standing_body_fills_its_size_and_stands_on_the_ground(task, look: str) -> None:
    for body in expected_bodies(task, look, truck(), STREET):
        corners = body.placed(np.array([[10.0, 2.0]]), body.size[None], 0.0, FLAT)[0]

        assert np.allclose(np.ptp(corners, axis=0), body.size[:3], atol=1e-6)
        assert np.allclose(corners[:, :2].min(axis=0) + body.size[:2] / 2, [10.0, 2.0], atol=1e-6)
        assert corners[:, 2].min() == pytest.approx(0.0, abs=1e-9) == body.lowest_m


@given(st.floats(0.9, 1.1), st.floats(0.9, 1.1), st.floats(0.9, 1.1), st.floats(-3, 3))
@settings(deadline=None, max_examples=10)
def test_a_body_stretches_and_turns_as_it_is_told(length: float, width: float, height: float, turn: float) -> None:
    body = expected_bodies(TASKS[TRUCK], None, truck(), STREET)[0]
    size = body.size * (length, width, height, 1.0)

    corners = body.placed(np.zeros((1, 2)), size[None], turn, GroundPlane(0.3))[0]

    back = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    assert np.allclose(np.ptp(corners[:, :2] @ back, axis=0), size[:2])
    assert np.ptp(corners[:, 2]) == pytest.approx(size[2])
    assert corners[:, 2].min() == pytest.approx(0.3)


def test_slices_show_the_gap_between_the_axles_that_a_hull_would_fill() -> None:
    body = expected_bodies(TASKS[TRUCK], "box_truck", truck(), STREET)[0]
    local = body.placed(np.zeros((1, 2)), body.size[None], 0.0, FLAT)[0]
    sides = [
        shapely.MultiPoint(local[body.slices == part][:, [0, 2]]).convex_hull for part in range(body.slices[-1] + 1)
    ]

    together = shapely.union_all(sides)

    assert together.geom_type == "Polygon"
    assert together.area < 0.97 * together.convex_hull.area
    assert together.convex_hull.area == pytest.approx(shapely.MultiPoint(local[:, [0, 2]]).convex_hull.area)


def test_a_signal_reaches_from_the_foot_of_its_post_to_its_top() -> None:
    task = TASKS["red_signal"]
    look, head = expected_bodies(task, "signal_post", HANGING, STREET)

    assert look.lowest_m == pytest.approx(0.0, abs=1e-9)
    assert head.lowest_m == pytest.approx(2.2)
    assert look.highest_m == pytest.approx(head.highest_m) == pytest.approx(2.2 + 0.975)


def test_a_door_is_no_larger_than_doors_of_its_car_and_hangs_as_high() -> None:
    car = parked(12, -3)
    small = car.model_copy(update={"box": box(12, -3, (3.2, 1.5, 1.2))})
    placement = Attached(annotation=car.token, part="door", box=box(0, 0, (9, 9, 9)))

    large, tiny = (expected_bodies(TASKS["open_door"], None, placement, street([note]))[0] for note in (car, small))

    assert tiny.size[0] == pytest.approx(0.27 * 3.2)
    assert large.size[0] == pytest.approx((1.05 + 0.27 * 4.4) / 2)
    assert (large.lowest_m, tiny.lowest_m) == (pytest.approx(0.16 * 1.5), pytest.approx(0.16 * 1.2))


def test_of_a_look_that_nobody_knows_only_the_size_is_expected() -> None:
    task = TASKS[TRUCK]
    looks = tuple(look.model_copy(update={"shape": "zeppelin"}) for look in task.appearances)

    copied = cast(TaskSpec, BaseModel.model_copy(task, update={"appearances": looks}))

    (body,) = expected_bodies(copied, None, truck(), STREET)

    assert len(body.corners) == 8
