"""What scoring costs: the paper's 3,181 pairs for 7 planners, against `benchmarks/naive_score.py` in the same run.

Pairs and planners are made up: regions 5 to 30 m ahead, planners that drive, brake, swerve, reverse and fail. Both
scorers get the same objects in memory; reading files is measured beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.naive_score import naive_score
from benchmarks.performance import report
from data_registry.evaluation import METRICS, PairRegion, Predicted
from tasks.score import score
from tasks.score_files import read_predictions, read_regions, write_predictions, write_regions

PAIRS, PLANNERS = 3_181, 7
SIZES = (PAIRS // 4, PAIRS, PAIRS * 4)
REPEATS = 3
T = np.arange(7) * 0.5
FIRST = (
    "import time; start = time.process_time()\n"
    "import benchmarks.score_speed as speed; loaded = time.process_time()\n"
    "speed.score(*speed.made_up(1, 1)); print(time.process_time() - loaded)"
)


def made_up(pairs: int, planner: int) -> tuple[list[PairRegion], list[Predicted]]:
    """Return regions, the same for each planner, and a planner's predictions for source and edited views."""
    shapes, drives = np.random.default_rng(0), np.random.default_rng([1, planner])
    regions: list[PairRegion] = []
    predicted: list[Predicted] = []
    for number in range(pairs):
        centre = np.array([shapes.uniform(5, 30), shapes.normal() * 2.5])
        angles = (np.arange(4) + shapes.uniform(0.1, 0.9, 4)) * np.pi / 2
        quad = centre + np.column_stack([np.cos(angles), np.sin(angles)]) * shapes.uniform(0.5, 4, 4)[:, None]
        clearance = float(shapes.choice([0.5, 1.0, 1.5]))
        regions.append(PairRegion(f"made/up/{number:06}/task", quad, clearance, "family", "task", f"s{number % 500}"))
        speed, bend = drives.uniform(-1, 12), drives.normal() * 0.01
        for variant in ("source", "edited"):
            way = speed * T - (0.5 * drives.uniform(0, 2) * T**2 if variant == "edited" else 0.0)
            xy = np.column_stack([way, bend * way**2])
            heading = np.arctan(2 * bend * way) if planner % 2 else None
            failed = drives.random() < 0.02
            one = Predicted(regions[-1].pair_id, variant, "ok", T[:4] if failed else T, xy[:4] if failed else xy)
            predicted.append(one if failed else Predicted(one.pair_id, variant, "ok", T, xy, heading))
    return regions, predicted


def cpu_s(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the CPU seconds of the cheapest of some runs: what other work on the machine disturbed least."""
    spent: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def naive(regions: list[PairRegion], predicted: list[Predicted]) -> pl.DataFrame:
    """Return the baseline's metrics, one row a pair."""
    answers = {(one.pair_id, one.variant): one for one in predicted}
    rows = [
        naive_score(region, answers[region.pair_id, "edited"], answers[region.pair_id, "source"]) for region in regions
    ]
    columns = {name: [row.get(name) for row in rows] for name in METRICS}
    return pl.DataFrame(columns, schema=dict.fromkeys(METRICS, pl.Float64))


def largest_difference(ours: pl.DataFrame, theirs: pl.DataFrame) -> float:
    """Return the largest difference of any metric; infinite when one is null where the other is not."""
    if not ours.select(METRICS).null_count().equals(theirs.null_count()):
        return float("inf")
    return max(float((ours[name] - theirs[name]).abs().max() or 0.0) for name in METRICS)  # type: ignore[arg-type]


def in_files(regions: list[PairRegion], predicted: list[Predicted]) -> float:
    """Return the CPU seconds of reading one planner's files."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "R.jsonl", Path(folder) / "P.jsonl"
        write_regions(first, regions)
        write_predictions(second, predicted)
        known = {region.pair_id for region in regions}
        return cpu_s(lambda: (read_regions(first), read_predictions(second, known)))


def first_call(cache: str) -> float:
    """Return the CPU seconds of the first score in a process, loops compiled or taken from the cache."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", FIRST], env=variables, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    """Measure and print."""
    given = {planner: made_up(PAIRS, planner) for planner in range(PLANNERS)}
    score(*made_up(1, 1))
    ours = cpu_s(lambda: [score(*one) for one in given.values()])
    found = {planner: score(*one) for planner, one in given.items()}
    start = time.process_time()
    theirs = {planner: naive(*one) for planner, one in given.items()}
    spent = time.process_time() - start
    worst = max(largest_difference(found[planner], theirs[planner]) for planner in given)
    large = {size: made_up(size, 1) for size in SIZES}
    by_size = [cpu_s(lambda size=size: score(*large[size])) for size in SIZES]
    exponent = float(np.polyfit(np.log(SIZES), np.log(by_size), 1)[0])
    with tempfile.TemporaryDirectory() as cache:
        compiling, cached = first_call(cache), first_call(cache)
    sizes = ", ".join(f"{size:,}: {seconds:.3f}" for size, seconds in zip(SIZES, by_size, strict=True))
    lines = [
        f"{PAIRS:,} pairs x {PLANNERS} planners, CPU seconds",
        f"  ours     {ours:7.3f}  {1e6 * ours / PAIRS / PLANNERS:6.1f} us a pair, {spent / ours:.0f} x faster",
        f"  baseline {spent:7.3f}  {1e6 * spent / PAIRS / PLANNERS:6.1f} us a pair: one shapely hull distance a step",
        f"  largest difference of any metric {worst:.1e}",
        f"  one planner, pairs {sizes}; grows with the power {exponent:.2f}",
        f"  reading one planner's files {in_files(*given[1]):.3f}",
        f"  first score in a process: {compiling:.1f} when loops are compiled, {cached:.2f} from the cache",
    ]
    report("score_speed", lines)
    if worst > 1e-9:
        raise SystemExit("the two scorers differ by more than 1e-9")


if __name__ == "__main__":
    main()
