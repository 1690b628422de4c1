"""What is measured around the ego vehicle is the same whoever asks first."""

from __future__ import annotations

from dataclasses import replace

import shapely
from hypothesis import given
from hypothesis import strategies as st

from data_registry.courses import straight_course
from models.surroundings import Surroundings, survey
from tests.worlds import two_way_street

WEDGE = shapely.Polygon([(-20.0, -1.0), (60.0, -9.0), (60.0, 9.0), (-20.0, 1.0)])
"""A lane that grows wider all the way, so that every place has a width of its own."""


def widening() -> Surroundings:
    around = survey(two_way_street(), 1.0)
    return replace(around, course=replace(straight_course(), area=WEDGE), drivable=WEDGE)


@given(st.integers(0, 40_000), st.floats(-0.4, 0.4), st.floats(-0.4, 0.4))
def test_places_within_a_millimetre_are_one_in_whatever_order_they_are_asked_for(
    millimetres: int, one: float, other: float
) -> None:
    first, second = widening(), widening()
    arcs = [(millimetres + part) / 1000 for part in (one, other)]
    found = [(first.width_at(arc), first.right_edge(arc)) for arc in arcs]
    again = [(second.width_at(arc), second.right_edge(arc)) for arc in arcs[::-1]]
    assert found == again[::-1]
    assert found[0][0] > 2.0
