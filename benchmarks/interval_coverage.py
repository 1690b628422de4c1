"""How often intervals and tests of scores err, on worlds whose truth is known, and how long counting takes.

A world has scenes of some difficulty with 1 to 7 pairs each. A planner touches the region of a pair when the scene's
difficulty, the planner's own trouble with the scene and the pair's chance add up to enough; 80 % do, as in the paper.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.performance import report
from data_registry.evaluation import SCORES
from data_registry.geometry import Array
from data_registry.resampling import Integers
from tasks.score_statistics import coverage, differences, summarise
from tasks.score_statistics.differences import sign_flip_p
from tasks.score_statistics.intervals import Estimate, estimates, scene_sums

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
WORLDS = 2_000
SCENES = (5, 7, 10, 20, 50, 200)
TOUCHED = 0.8
_ENOUGH = -0.8416 * 1.5  # 80 % of a normal variable of variance 1 + 1/4 + 1 lie above

PAIRS, ALL_SCENES, PLANNERS, TASKS = 3_181, 850, 7, 21


def worlds(generator: np.random.Generator, scenes: int) -> tuple[Integers, Array, Array]:
    """Return the pairs' scenes (P,), and what two planners touch, (P, WORLDS) each."""
    scene = np.repeat(np.arange(scenes), generator.integers(1, 8, scenes))
    difficulty = generator.normal(size=(scenes, WORLDS))

    def touched() -> Array:
        trouble = (difficulty + generator.normal(scale=0.5, size=difficulty.shape))[scene]
        return (trouble + generator.normal(size=trouble.shape) > _ENOUGH).astype(np.float64)

    return scene, touched(), touched()


def share_holding(found: list[Estimate], truth: float) -> float:
    """Return the share of intervals that hold the truth."""
    return float(
        np.mean([one.low is not None and one.high is not None and one.low <= truth <= one.high for one in found])
    )


def as_if_independent(values: Array, truth: float) -> float:
    """Return the share of normal intervals over pairs, as if each were a draw of its own, that hold the truth."""
    half = 1.96 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return float(np.mean(np.abs(values.mean(axis=0) - truth) <= half))


def errors() -> list[str]:
    """Return the table of how often intervals hold, and tests err where there is nothing to find."""
    lines = [
        "         95 % interval of UR holds the truth    equal planners called different at 5 %",
        "scenes   scenes drawn   pairs taken as free     sign flips   interval leaves out 0",
    ]
    generator = np.random.Generator(np.random.PCG64(5))
    for scenes in SCENES:
        scene, one, other = worlds(generator, scenes)
        held, naive = share_holding(estimates(scene, one), TOUCHED), as_if_independent(one, TOUCHED)
        flips = np.mean(np.array(sign_flip_p(scene_sums(scene, one - other))) <= 0.05)
        left_out = 1 - share_holding(estimates(scene, one - other), 0.0)
        lines.append(f"{scenes:6d} {held:14.1%} {naive:21.1%} {flips:14.1%} {left_out:23.1%}")
    return [*lines, f"{WORLDS:,} worlds a line; UR is {TOUCHED:.0%} in all of them."]


def made_up_scores() -> dict[str, pl.DataFrame]:
    """Return scores of the paper's size."""
    generator = np.random.Generator(np.random.PCG64(6))
    scene, task = generator.integers(0, ALL_SCENES, PAIRS), generator.integers(0, TASKS, PAIRS)
    about = {
        "pair_id": [f"nuscenes/scene-{scene[pair]:04d}/{pair:05d}/task-{task[pair]:02d}" for pair in range(PAIRS)],
        "family": [f"family-{number % 6}" for number in task],
        "task": [f"task-{number:02d}" for number in task],
        "scene": [f"scene-{number:04d}" for number in scene],
        "split": ["train" if number < 700 else "val" for number in scene],
    }
    names = [f"planner-{place}" for place in range(PLANNERS)]
    return {name: _scores(generator, about) for name in names}


def _scores(generator: np.random.Generator, about: dict[str, list[str]]) -> pl.DataFrame:
    scored = generator.random(PAIRS) > 0.05
    touches = generator.random(PAIRS) < TOUCHED
    chosen = {name: generator.random(PAIRS) for name in ("d", "hcc", "hpr", "cts", "cts_x", "cts_y")}
    metrics = {
        "ur": touches.astype(np.float64),
        **{name: np.where(touches, 0.0, part) for name, part in chosen.items()},
    }
    text = {"edited": np.where(scored, "ok", "error"), "source": ["ok"] * PAIRS, "reason": [""] * PAIRS}
    frame = pl.DataFrame({**about, **metrics, **text}).with_columns(
        pl.when(pl.col("edited") == "ok").then(pl.col(list(metrics)))
    )
    return SCORES.checked(frame.select(list(SCORES.columns)).sort("pair_id"))


def durations() -> list[str]:
    """Return how long each table takes at the paper's size, and the memory of it all."""
    scores = made_up_scores()
    summarise({"planner-0": scores["planner-0"]})  # loops are compiled or read from their cache here
    differences(dict(list(scores.items())[:2]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tables: dict[str, Callable[[dict[str, pl.DataFrame]], pl.DataFrame]] = {
        "summary": summarise,
        "coverage": coverage,
        "differences": differences,
    }
    lines = [f"{PAIRS:,} pairs of {ALL_SCENES} scenes, {PLANNERS} planners:"]
    for name, count in tables.items():
        start = time.process_time()
        rows = count(scores).height
        lines.append(f"{name:12} {rows:5,d} rows {time.process_time() - start:6.2f} CPU s")
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return [*lines, f"at most {more:.0f} MB more than the scores themselves"]


if __name__ == "__main__":
    report("interval_coverage", [*durations(), "", *errors()], PAGE)
