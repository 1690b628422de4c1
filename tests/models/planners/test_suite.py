"""The built-in planners as a suite."""

from __future__ import annotations

import pytest

from data_registry import identity
from models.planners import suite
from tests.planner_cases import case, path_from
from tests.street import keyframe


def test_every_planner_is_called_in_tables_as_in_the_suite_and_is_nobody_else() -> None:
    settings = {name: make().identity_settings for name, make in suite.items()}
    assert {name: one.name for name, one in settings.items()} == {name: name for name in suite}
    assert len({identity.digest(one.model_dump(mode="json")) for one in settings.values()}) == len(suite)
    assert {"constant_velocity", "stop", "recorded", "lane_keep", "brake_on_hazard"} <= suite.keys()
    assert [name for name, make in suite.items() if make().knows_region] == ["brake_on_hazard"]


@pytest.mark.parametrize("name", suite)
@pytest.mark.parametrize("speed", [0.0, 0.05, 9.0])
def test_every_planner_answers_both_variants_from_where_the_ego_is(name: str, speed: float) -> None:
    with suite[name]() as planner:
        for variant in ("source", "edited"):
            path = path_from(planner.predict(case(keyframe(speed=speed), variant=variant)))
            assert path[0, :3].tolist() == [0, 0, 0]
            assert path[-1, 0] == 3.0
            assert path[0, 3] == 0.0
