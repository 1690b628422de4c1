"""The built-in planners on every pair of the whole demo: the oracle is safe wherever stopping helps."""

from pathlib import Path

import polars as pl

from data_registry.evaluation import Predicted
from data_registry.paths import HEADING, T, X, Y
from data_registry.records import Prediction
from data_registry.release import open_release
from data_registry.sources.source import Request
from flows.assembly import open_source
from flows.options import BuildOptions
from models.planners import suite
from tasks.cases import benchmark_cases, benchmark_keyframes
from tasks.predict import PredictStage
from tasks.score import score
from tests.flows.whole_demo import Demo
from tests.planner_cases import path_from


def test_the_oracle_is_safe_on_every_pair_that_stopping_avoids_and_drives_on_without_hazard(demo: Demo) -> None:
    release = open_release(Path(demo.made["path"]))
    settings = BuildOptions(set=demo.overrides, store=str(demo.store), releases=str(demo.releases)).resolve()
    chosen = open_source(settings).select(Request(tokens=tuple(benchmark_keyframes(release).values())))
    cases = benchmark_cases(release, {keyframe.id: keyframe for keyframe in chosen.keyframes})
    assert len(cases) > 200
    oracle, lane_keep = (
        [outcome.record for outcome in PredictStage(suite[name]()).process(cases)]
        for name in ("brake_on_hazard", "lane_keep")
    )
    sources = [number for number, case in enumerate(cases) if case.variant == "source"]
    assert [oracle[number] for number in sources] == [lane_keep[number] for number in sources]
    scores = score([case.region for case in cases if case.variant == "source"], map(_predicted, oracle))
    avoidable = release.frame("hazards", "pairs", ("pair_id", "avoidable"))
    stoppable = scores.join(avoidable, on="pair_id").filter(pl.col("avoidable").is_in(["stop", "both"]))
    assert stoppable.height > 100
    assert stoppable.filter(pl.col("ur").is_null() | (pl.col("ur") != 0.0))["pair_id"].to_list() == []


def _predicted(record: Prediction) -> Predicted:
    path = path_from(record)
    return Predicted(record.pair_id, record.variant, record.status, path[:, T], path[:, X : Y + 1], path[:, HEADING])
