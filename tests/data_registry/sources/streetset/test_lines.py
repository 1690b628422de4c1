"""Lines: poses, parallels, cuts and joints keep their geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.sources.streetset.lines import Line, LineError, joining

PIECES = st.lists(st.tuples(st.floats(0.5, 40.0), st.floats(-0.05, 0.05)), min_size=1, max_size=4)
LINES = st.builds(
    lambda x, y, h, pieces: Line((x, y, h), tuple(pieces)),
    st.floats(-100, 100),
    st.floats(-100, 100),
    st.floats(-3.1, 3.1),
    PIECES,
)


@given(LINES, st.floats(0, 1), st.floats(-4, 4))
def test_a_parallel_line_stays_at_its_distance(line: Line, share: float, t: float) -> None:
    s, beside = share * line.length, line.beside(t)
    near = beside.places(np.linspace(0, beside.length, 4001), 0.0)
    assert np.hypot(*(near - line.place(s, t)).T).min() < 0.05


@given(LINES)
def test_a_turned_line_runs_through_the_same_places_backwards(line: Line) -> None:
    for share in (0.0, 0.3, 1.0):
        ahead, back = line.pose(share * line.length), line.turned().pose((1 - share) * line.length)
        assert back[:2] == pytest.approx(ahead[:2], abs=1e-6)
        assert math.cos(back[2] - ahead[2]) == pytest.approx(-1.0)


@given(LINES, st.floats(-10, 60), st.floats(0.1, 80))
def test_a_cut_has_the_poses_of_the_whole(line: Line, start: float, length: float) -> None:
    part = line.cut(start, start + length)
    assert part.length == pytest.approx(length, abs=1e-5)
    for share in (0.0, 0.4, 1.0):
        assert part.pose(share * length) == pytest.approx(line.pose(start + share * length), abs=1e-4)


@given(LINES)
def test_curvature_is_the_turn_a_metre(line: Line) -> None:
    s = line.pieces[0][0] / 2
    turn = line.pose(s + 0.01)[2] - line.pose(s - 0.01)[2]
    assert turn / 0.02 == pytest.approx(line.curvature(s), abs=1e-6)


@given(st.floats(-2.5, 2.5).filter(lambda turn: abs(turn) > 0.2), st.floats(3, 30), st.floats(3, 30))
def test_a_joint_leaves_and_arrives_as_asked(turn: float, before: float, after: float) -> None:
    corner = (before, 0.0)
    end = (corner[0] + after * math.cos(turn), after * math.sin(turn), turn)
    line = joining((0.0, 0.0, 0.0), end)
    assert line.pose(line.length) == pytest.approx(end, abs=1e-6)
    assert max(abs(k) for _, k in line.pieces) == pytest.approx(math.tan(abs(turn) / 2) / min(before, after))


def test_poses_that_no_single_arc_joins_are_refused() -> None:
    with pytest.raises(LineError, match="no straight line"):
        joining((0.0, 0.0, 0.0), (10.0, 1.0, 0.0))
    with pytest.raises(LineError, match="lies behind"):
        joining((0.0, 0.0, 0.0), (-10.0, 5.0, math.pi / 2))
    with pytest.raises(LineError, match="a line ends at"):
        Line.straight((0.0, 0.0, 0.0), 5.0).then(Line.straight((5.0, 0.5, 0.0), 5.0))
