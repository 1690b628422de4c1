"""From predictions to what an evaluation holds: scores, tables, report. Pure: the same predictions give the same bytes.

Who predicts is tasks/predicting.py, how one trajectory is scored tasks/score.py, how scores are counted
tasks/score_statistics, what the folder is tasks/evaluation.py; this module puts them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from data_registry.cameras import pinhole
from data_registry.evaluation import COVERAGE, DIFFERENCES, SCORES, SENSITIVITY, SUMMARY, PairRegion
from data_registry.geometry import BODIES
from data_registry.materialize import edited_picture
from data_registry.pictures import decode_rgb
from data_registry.records import Camera, Keyframe
from data_registry.release import Release
from data_registry.sources.source import Source
from models.planners.planner import Case
from qa_audit.evaluation_report import EvaluationPage, PairPicture, ShownPlanner, choose_pairs
from qa_audit.evaluation_report.page import report_jpeg
from tasks.answers import Answers
from tasks.evaluation import COMPONENT, REPORT, predictions_path, scores_path, table_path
from tasks.score import ScoreSettings, score
from tasks.score_statistics import Standing, coverage, differences, leaderboard, sensitivity, summarise

PICTURED_PAIRS: Final = 24
"""Pairs of a report with pictures: enough for each of the 21 tasks, and a file that a browser opens at once."""
_VIEW_COLUMNS: Final = (
    *("pair_id", "sensor_id", "frame_offset", "is_edited", "delta", "edit_mask", "source_file_sha256"),
    *("source_pixels_sha256", "edited_pixels_sha256"),
    *("window_left", "window_top", "window_right", "window_bottom"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Every planner's scores, and all that was counted from them."""

    answers: Mapping[str, Answers]
    """By planner."""
    regions: Sequence[PairRegion]
    settings: ScoreSettings
    scores: Mapping[str, pl.DataFrame]
    """Schema SCORES, by planner."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The tables of an evaluation."""

    summary: pl.DataFrame
    coverage: pl.DataFrame
    differences: pl.DataFrame
    sensitivity: pl.DataFrame

    def encoded(self) -> dict[str, bytes]:
        """Return the tables' files by path."""
        frames = (
            (SUMMARY, self.summary),
            (COVERAGE, self.coverage),
            (DIFFERENCES, self.differences),
            (SENSITIVITY, self.sensitivity),
        )
        return {table_path(schema): schema.encode(frame) for schema, frame in frames}


def regions_of(cases: Sequence[Case]) -> list[PairRegion]:
    """Return the region of each pair, sorted by pair."""
    regions = {case.pair_id: case.region for case in cases}
    return [regions[pair_id] for pair_id in sorted(regions)]


def score_answers(answers: Sequence[Answers], cases: Sequence[Case], settings: ScoreSettings) -> Scored:
    """Score every planner's predictions on every pair."""
    by_name = {one.planner.name: one for one in sorted(answers, key=lambda one: one.planner.name)}
    regions = regions_of(cases)
    return Scored(by_name, regions, settings, _scores(by_name, regions, settings))


def count(scored: Scored) -> Counted:
    """Count means with intervals, coverage, paired differences, and how much they hang on scoring's settings."""
    return Counted(
        summarise(scored.scores),
        coverage(scored.scores),
        differences(scored.scores),
        sensitivity(lambda settings: _scores(scored.answers, scored.regions, settings), scored.settings),
    )


def standings(scored: Scored, counted: Counted) -> list[Standing]:
    """Return the lines of the leaderboard."""
    knows = {name: answers.planner.knows_region for name, answers in scored.answers.items()}
    return leaderboard(counted.summary, knows)


def page_of(
    name: str, scored: Scored, counted: Counted, release: Release, pictures: Mapping[str, Sequence[PairPicture]]
) -> EvaluationPage:
    """Return all that the report of the evaluation of that name shows."""
    manifest, settings = release.manifest, scored.settings
    planners = [scored.answers[line.planner].planner for line in standings(scored, counted)]
    return EvaluationPage(
        title=f"Planners on {manifest.name} {manifest.version}",
        release_name=manifest.name,
        release_version=manifest.version,
        release_digest=release.digest,
        planners=[ShownPlanner(one.name, one.knows_region, _note(one.settings, one.bound)) for one in planners],
        summary=counted.summary,
        coverage=counted.coverage,
        differences=counted.differences,
        sensitivity=counted.sensitivity,
        scores=scored.scores,
        pairs=scored.regions,
        predictions={name: answers.predicted for name, answers in scored.answers.items()},
        pictures=pictures,
        settings={
            f"component {COMPONENT}": manifest.components[COMPONENT].digest,
            "ego body": settings.body,
            "horizon": f"{settings.horizon_s:g} s",
            "required clearance": f"{settings.clearance_factor:g} x",
        },
        body=BODIES[settings.body],
        horizon_s=settings.horizon_s,
        clearance_factor=settings.clearance_factor,
        name=name,
    )


def pictures_of(
    scored: Scored, cases: Sequence[Case], release: Release, source: Source, limit: int = PICTURED_PAIRS
) -> dict[str, list[PairPicture]]:
    """Return, for a choice of pairs, the view that the edit changed most, before and after.

    Raises:
        MaterializeError: source or release are not what the release's tables say.
    """
    chosen = set(choose_pairs(scored.scores, limit))
    keyframes = {case.pair_id: case.keyframe for case in cases}
    views = release.frame(COMPONENT, "views", _VIEW_COLUMNS).filter(
        pl.col("is_edited") & (pl.col("frame_offset") == 0) & pl.col("pair_id").is_in(sorted(chosen))
    )
    area = (pl.col("window_right") - pl.col("window_left")) * (pl.col("window_bottom") - pl.col("window_top"))
    largest = views.sort(area, "sensor_id", descending=[True, False]).unique("pair_id", keep="first").sort("pair_id")
    before = _Before(source)
    return {
        row["pair_id"]: [_picture(release, before, keyframes[row["pair_id"]], row)]
        for row in largest.iter_rows(named=True)
    }


def files_of(scored: Scored, counted: Counted, report: str) -> dict[str, bytes]:
    """Return every file of the evaluation by path, but evaluation.json and lock.json."""
    answers = {predictions_path(name): one.content for name, one in scored.answers.items()}
    scores = {scores_path(name): SCORES.encode(frame) for name, frame in scored.scores.items()}
    return {**answers, **scores, **counted.encoded(), REPORT: report.encode("utf-8")}


def _scores(
    answers: Mapping[str, Answers], regions: Sequence[PairRegion], settings: ScoreSettings
) -> dict[str, pl.DataFrame]:
    return {name: score(regions, one.predicted, settings) for name, one in answers.items()}


@dataclass
class _Before:
    """Source pictures as the report shows them, each made once: a keyframe has many pairs."""

    source: Source
    made: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def jpeg(self, keyframe: Keyframe, camera: Camera) -> bytes:
        name = f"{keyframe.id} {camera.sensor_id}"
        if name not in self.made:
            self.made[name] = report_jpeg(decode_rgb(self.source.picture(keyframe, camera), name))
        return self.made[name]


def _picture(release: Release, before: _Before, keyframe: Keyframe, row: Mapping[str, Any]) -> PairPicture:
    camera = keyframe.view(row["sensor_id"], row["frame_offset"])
    return PairPicture(
        sensor_id=row["sensor_id"],
        source=before.jpeg(keyframe, camera),
        edited=report_jpeg(edited_picture(release, before.source, keyframe, row)),
        camera=pinhole(keyframe, camera),
        ground=keyframe.ground,
    )


def _note(settings: Mapping[str, Any] | None, bound: bool) -> str:
    """Say of a planner from a file that it is one, and whether its predictions name the pixels they were made from."""
    if settings is not None:
        return ""
    return "predictions from a file" if bound else "predictions from a file, not bound to pixels"
