"""The whole chain on the embedded log with every rule back end: from a keyframe to a decision."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_registry.blobs import Blobs
from data_registry.records import Decision, Screening
from data_registry.sources.nuscenes import NuScenes
from data_registry.sources.source import Request
from data_registry.sources.streetset.writer import VERSION
from models.editors.compositor import Compositor
from models.localizers.ground_plane import GroundPlaneLocalizer
from models.reviewers import RuleReviewer
from models.screeners import RuleScreener
from tasks.decide import DecideStage
from tasks.edit import EditStage
from tasks.items import Combination, Contested, Edited, Examined, Judged, Screened
from tasks.judge import JudgeStage
from tasks.localize import LocalizeStage
from tasks.measure import MeasureStage
from tasks.screen import ScreenStage
from tests.verdict_cases import HOLE, PEDESTRIAN, TASKS, TRUCK, only

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def source(street_root: Path, tmp_path_factory: pytest.TempPathFactory) -> NuScenes:
    return NuScenes(street_root, VERSION, tmp_path_factory.mktemp("indexes"), "streetset")


def run(source: NuScenes, task: str, blobs: Blobs) -> tuple[Screening, Judged, Decision]:
    combination = Combination(source.select(Request()).keyframes[0], TASKS[task])
    screening = only(ScreenStage(RuleScreener()).process([combination])).record
    screened = Screened(combination, screening)
    edit = only(EditStage(Compositor(), source, blobs).process([screened])).record
    edited = Edited(screened, edit.candidates[0])
    measurements = only(MeasureStage(source, blobs).process([edited])).record
    region = only(LocalizeStage(GroundPlaneLocalizer(), blobs).process([edited])).record
    examined = Examined(edited, measurements, region)
    judged = Judged(examined, only(JudgeStage(RuleReviewer(), source, blobs).process([examined])).record)
    return screening, judged, only(DecideStage().process([Contested(screened, edit, (judged,), ())])).record


@pytest.mark.parametrize("task", [TRUCK, HOLE, PEDESTRIAN])
def test_a_rendered_hazard_is_found_where_it_was_placed_and_approved(
    task: str, source: NuScenes, tmp_path: Path
) -> None:
    screening, judged, decision = run(source, task, Blobs(str(tmp_path)))

    evidence = judged.examined.region.evidence if judged.examined.region else None
    assert screening.suitable
    assert evidence is not None
    assert evidence.expected_iou is not None
    assert evidence.expected_iou >= 0.4
    assert judged.judgement.qualified, judged.judgement.reason
    assert (decision.approved, decision.subset, decision.findings) == (True, "benchmark", ())
