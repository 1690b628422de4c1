"""The baseline of `benchmarks/score_speed.py`: scores as one would write them down first.

One shapely hull and one distance for each step of each pair; nothing is left out, joined or compiled. What a path is
(cut, headings, steps) comes from the same functions as in `tasks/score.py`; the distance and the metrics do not.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import shapely

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from data_registry.evaluation import PairRegion, Predicted
from data_registry.geometry import Array, ego_footprints
from data_registry.paths import T, X, Y, densify
from data_registry.trajectories import flaw_of, path_of_trajectory

GRID = np.arange(7) * 0.5


def naive_score(region: PairRegion, edited: Predicted | None, source: Predicted | None) -> Mapping[str, float]:
    """Return the metrics of a pair that are defined, by name."""
    path, source_path = followed(edited), followed(source)
    if path is None:
        return {}
    found = safety(path, region)
    return found if source_path is None else {**found, **change(path, source_path)}


def followed(answer: Predicted | None) -> Array | None:
    """Return the path of a prediction, None when there is none."""
    if answer is None or answer.status != "ok" or answer.t is None or answer.xy is None:
        return None
    if flaw_of(answer.t, answer.xy, answer.heading):
        return None
    return path_of_trajectory(answer.t, answer.xy, answer.heading)


def safety(path: Array, region: PairRegion) -> dict[str, float]:
    """Return ur, d, hcc and hpr."""
    quad = shapely.Polygon(region.quad)
    bodies = ego_footprints(densify(path)[:, X:])
    gap = math.inf
    for both in pairwise(bodies):
        hull = shapely.convex_hull(shapely.multipoints(np.concatenate(both)))
        gap = min(gap, float(shapely.distance(hull, quad)))
    touches, safe = gap <= 1e-6, region.clearance_m
    if touches:
        return {"ur": 1.0, "d": 0.0, "hcc": 0.0, "hpr": 0.0}
    return {"ur": 0.0, "d": gap, "hcc": min(gap / safe, 1.0), "hpr": safe / (abs(gap - safe) + safe)}


def change(path: Array, source_path: Array) -> dict[str, float]:
    """Return cts, cts_x and cts_y."""
    x, y = (
        np.interp(GRID, path[:, T], path[:, column]) - np.interp(GRID, source_path[:, T], source_path[:, column])
        for column in (X, Y)
    )
    means = np.hypot(x, y).mean(), np.abs(x).mean(), np.abs(y).mean()
    return dict(zip(("cts", "cts_x", "cts_y"), map(float, means), strict=True))


def main() -> None:
    """Say what this is for: it is measured by another script."""
    print("the baseline that benchmarks/score_speed.py is held against")


if __name__ == "__main__":
    main()
