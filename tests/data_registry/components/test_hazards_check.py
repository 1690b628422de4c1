"""Invariants of component `hazards`: ids that become paths."""

import pytest

from data_registry.components.hazards_check import pair_problem, sensor_problem


@pytest.mark.parametrize(
    "pair_id",
    ["", "/a/b/c", "../../x/y", "a/b/c", "a/b/c/d/e", "a/b/../d", "a/b/c/.d", "a/b/c/d\\e", "a/b/c/d\n", "a//c/d"],
)
def test_a_pair_id_that_could_lead_elsewhere_is_told(pair_id: str) -> None:
    assert "is no pair id" in (pair_problem(pair_id, pair_id.rpartition("/")[0]) or "")


def test_a_pair_is_of_its_own_keyframe() -> None:
    assert pair_problem("a/b/c/d", "a/b/c") is None
    assert pair_problem("a/b/c/d", "a/b/x") == "pair a/b/c/d is not of its keyframe 'a/b/x'"


@pytest.mark.parametrize("sensor", ["", "..", "../CAM", "/CAM", "CAM/FRONT", ".CAM", "CAM\0"])
def test_a_sensor_has_a_plain_name(sensor: str) -> None:
    assert sensor_problem("CAM_FRONT") is None
    assert "is no sensor's name" in (sensor_problem(sensor) or "")
