"""Planners that see nothing: straight on, to a stop, and as the human drove."""

from __future__ import annotations

import numpy as np
import pytest

from data_registry.paths import HEADING, X, Y
from data_registry.records import Keyframe, PathPoint
from models.planners.blind import ConstantVelocity, Recorded, Stop, StopSettings, braked
from tests.planner_cases import case, path_from
from tests.street import keyframe


def driven(*points: tuple[float, float, float, float]) -> Keyframe:
    frame = keyframe()
    future = tuple(PathPoint(t=t, x=x, y=y, heading=heading) for t, x, y, heading in points)
    return frame.model_copy(update={"motion": frame.motion.model_copy(update={"future": future})})


def test_constant_velocity_is_where_the_speed_takes_it() -> None:
    path = path_from(ConstantVelocity().predict(case(keyframe(speed=7.3))))
    assert path[:, X] == pytest.approx(7.3 * path[:, 0])
    assert not path[:, [Y, HEADING]].any()
    assert path[-1, 0] == 3.0


@pytest.mark.parametrize("reaction_s", [0.0, 0.5])
@pytest.mark.parametrize("speed", [0.0, 0.4, 6.0])
def test_stop_comes_to_a_stand_within_its_braking_way_and_never_goes_back(speed: float, reaction_s: float) -> None:
    path = path_from(Stop(StopSettings(reaction_s=reaction_s)).predict(case(keyframe(speed=speed))))
    assert path[-1, X] == pytest.approx(speed * reaction_s + speed**2 / (2 * 3.4), abs=1e-6)
    assert (np.diff(path[:, X]) >= 0).all()
    assert not path[:, [Y, HEADING]].any()


def test_braking_is_as_hard_as_told_and_only_from_when_told() -> None:
    times = np.linspace(0.0, 3.0, 301)
    speeds = np.diff(braked(times, 10.0, 4.0, 1.0)) / 0.01
    assert speeds[:100] == pytest.approx(10.0)
    assert np.diff(speeds[101:]) / 0.01 == pytest.approx(-4.0)
    assert speeds[-1] == pytest.approx(2.0, abs=0.03)


def test_recorded_goes_where_the_log_goes_and_ends_at_the_horizon() -> None:
    frame = driven((0.0, 0, 0, 0), (0.5, 3.0, 0.1, 0.05), (2.5, 14.0, 2.0, 0.2), (3.5, 18.0, 4.0, 0.4))
    path = path_from(Recorded().predict(case(frame)))
    assert path.tolist() == [
        pytest.approx(row, abs=1e-6)
        for row in ([0, 0, 0, 0], [0.5, 3.0, 0.1, 0.05], [2.5, 14.0, 2.0, 0.2], [3.0, 16.0, 3.0, 0.3])
    ]


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ((), "the log has no recorded path after the keyframe"),
        (((0.0, 0, 0, 0), (2.5, 14.0, 0, 0)), "the recorded path ends after 2.5 s, 3.0 s are needed"),
    ],
)
def test_recorded_is_ineligible_where_the_log_ends_early(
    points: tuple[tuple[float, float, float, float], ...], reason: str
) -> None:
    answer = Recorded().predict(case(driven(*points)))
    assert (answer.status, answer.reason) == ("ineligible", reason)
