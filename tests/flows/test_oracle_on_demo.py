"""The built-in planners on every pair of the whole demo: the oracle is safe wherever stopping helps."""

from pathlib import Path

import shapely

from data_registry.paths import clearance, tube
from data_registry.release import open_release
from data_registry.sources.source import Request
from flows.assembly import open_source
from flows.options import BuildOptions
from models.planners import suite
from tasks.cases import benchmark_cases, benchmark_keyframes
from tasks.predict import PredictStage
from tests.flows.whole_demo import Demo
from tests.planner_cases import path_from


def test_the_oracle_is_safe_on_every_pair_that_stopping_avoids_and_drives_on_without_hazard(demo: Demo) -> None:
    release = open_release(Path(demo.made["path"]))
    settings = BuildOptions(set=demo.overrides, store=str(demo.store), releases=str(demo.releases)).resolve()
    chosen = open_source(settings).select(Request(tokens=tuple(benchmark_keyframes(release).values())))
    cases = benchmark_cases(release, {keyframe.id: keyframe for keyframe in chosen.keyframes})
    avoidable = dict(release.frame("hazards", "pairs", ("pair_id", "avoidable")).iter_rows())
    assert len(cases) > 200
    unsafe: list[str] = []
    stoppable = 0
    for case in cases:
        (oracle,), (lane_keep,) = (
            PredictStage(suite[name]()).process([case]) for name in ("brake_on_hazard", "lane_keep")
        )
        if case.variant == "source":
            assert oracle.record == lane_keep.record
        elif avoidable[case.pair_id] in {"stop", "both"}:
            stoppable += 1
            gap = clearance(tube(path_from(oracle.record)), shapely.Polygon(case.region.quad))
            unsafe += [case.pair_id] if gap == 0.0 else []
    assert stoppable > 100
    assert unsafe == []
