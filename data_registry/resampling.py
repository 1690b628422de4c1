"""Compiled loops of resampling: totals over drawn scenes, totals under random signs.

Every addition happens in the order in which the rows stand, on every machine and for any number of columns. A BLAS
product would not promise that: the last bits of one planner's interval could change with how many others there are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from data_registry.compiled import compiled
from data_registry.geometry import Array

Integers = npt.NDArray[np.int64]


@compiled
def add_drawn(drawn: Integers, starts: Integers, slots: Integers, values: Array, totals: Array) -> None:
    """Add for each resample the values of every scene that it drew, as often as it drew it.

    Args:
        drawn: scenes of each resample, (B, S), 0 to S - 1.
        starts: first row of each scene in `slots` and `values`, and their length, (S + 1,).
        slots: where in `totals` a row goes, (rows,).
        values: (rows, K).
        totals: (B, slots, K), added to in place.
    """
    for resample in range(drawn.shape[0]):
        for turn in range(drawn.shape[1]):
            scene = drawn[resample, turn]
            for row in range(starts[scene], starts[scene + 1]):
                slot = slots[row]
                for column in range(values.shape[1]):
                    totals[resample, slot, column] += values[row, column]


@compiled
def add_signed(signs: npt.NDArray[np.int8], values: Array, totals: Array) -> None:
    """Add for each row of signs the scenes' values under these signs.

    Args:
        signs: -1 or 1, (B, S).
        values: (S, K).
        totals: (B, K), added to in place.
    """
    for draw in range(signs.shape[0]):
        for scene in range(signs.shape[1]):
            sign = signs[draw, scene]
            for column in range(values.shape[1]):
                totals[draw, column] += sign * values[scene, column]
