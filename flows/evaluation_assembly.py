"""From settings and a release to an evaluation that can run: the store, the logs, the cases, and who answers them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data_registry.materialize import COMPONENT
from data_registry.paths import HORIZON_S
from data_registry.records import Keyframe
from data_registry.release import Release, open_release
from data_registry.sources.source import Request, Source, SourceError
from data_registry.store import Store
from data_registry.trajectories import NEAR
from flows.assembly import WrongLogsError, open_source, open_store, require_logs_of, require_store_place
from flows.options import EvaluationOptions
from flows.progress import tell
from flows.settings import Settings
from models.planners.planner import Planner
from tasks.answers import AnswersFile, parse_answers_option, require_distinct
from tasks.cases import benchmark_cases, benchmark_keyframes
from tasks.evaluation import EvaluationError, check_evaluation_name, evaluations_of
from tasks.predicting import Predicting, choose_planners

DEFAULT_NAME: Final = "default"
"""Name of an evaluation that was given none."""
NO_PLANNERS: Final = "none"
"""In place of the built-in planners' names: none of them, only predictions from files."""
PREDICTION_DRAINS: Final = {
    "cpu": "drain-predictions/drain-predictions",
    "a100": "drain-predictions/drain-predictions-a100",
}
"""Deployment of the drain of predictions for each kind of resources."""


class NothingToEvaluateError(EvaluationError):
    """The release has no pair that could be scored, or no planner was named."""


class HorizonError(EvaluationError):
    """More seconds are to be scored than built-in planners plan for."""


@dataclass(frozen=True, slots=True)
class Evaluating:
    """Everything that an evaluation, or one of its drains, works with."""

    settings: Settings
    store: Store
    source: Source
    release: Release
    steps: Predicting
    files: tuple[AnswersFile, ...] = ()
    """Predictions of planners that ran elsewhere, not read yet."""
    name: str = DEFAULT_NAME
    asked: str | None = None
    """How the release was named."""

    @property
    def shown_home(self) -> Path:
        """The folder of the release's evaluations, as the user would name it."""
        home, named = evaluations_of(self.release), release_path(self.asked, self.settings).parent
        return named / home.name if named.resolve() == home.parent else home

    @property
    def drains(self) -> Mapping[str, str]:
        """Deployment that drains a step, by the resources that its back end needs."""
        return PREDICTION_DRAINS

    @property
    def drain_parameters(self) -> Mapping[str, object]:
        """The very content of the release: a pre-release version may be published anew while the drains work."""
        return {"release": str(self.release.path)}


def release_path(asked: str | None, settings: Settings) -> Path:
    """Return the folder of the release asked for; without one, of what a build with these settings publishes."""
    if asked is not None:
        return Path(asked)
    return settings.releases / settings.release.name / settings.release.version


@contextmanager
def open_evaluation(options: EvaluationOptions, settings: Settings) -> Generator[Evaluating]:
    """Open store, release and logs and make the cases; all bad input but predictions shows here.

    Raises:
        ReleaseError, CasesError, SourceError: the release or the logs cannot be read, or do not belong together.
        WrongLogsError: the logs are not those of the release.
        UnknownPlannerError, NothingToEvaluateError, HorizonError, WrongPlaceError: as their texts say.
        EvaluationNameError, AnswersError: as their texts say.
        LedgerUnavailableError: the place of the store failed.
    """
    release, planners, files = _asked_for(options, settings)
    with open_store(settings) as store:
        source = open_source(settings)
        tell("cases", 0, None)
        cases = benchmark_cases(release, keyframes_of(release, source, settings))
        tell("cases", len(cases), len(cases))
        if not cases:
            raise NothingToEvaluateError(
                f"release {release.manifest.name} {release.manifest.version} has no benchmark pair: there is nothing to"
                " score"
            )
        steps = Predicting(cases, planners)
        yield Evaluating(settings, store, source, release, steps, files, _name(options), options.release)


def check_evaluation(options: EvaluationOptions, settings: Settings) -> None:
    """Look at names, release and files as an evaluation would, without the logs; raises what it would raise."""
    _asked_for(options, settings)


def _name(options: EvaluationOptions) -> str:
    return DEFAULT_NAME if options.name is None else options.name


def _asked_for(
    options: EvaluationOptions, settings: Settings
) -> tuple[Release, Mapping[str, Planner], tuple[AnswersFile, ...]]:
    check_evaluation_name(_name(options))
    require_store_place(settings)
    files = tuple(parse_answers_option(text) for text in options.predictions or ())
    planners = choose_planners([] if options.planners == [NO_PLANNERS] else options.planners)
    require_distinct([*planners, *(file.planner for file in files)])
    if not planners and not files:
        raise NothingToEvaluateError(
            "no planner was named: choose built-in ones, or predictions of another with --predictions NAME=FILE"
        )
    _require_reached(planners, settings)
    release = open_release(release_path(options.release, settings))
    require_logs_of(release, settings)
    return release, planners, files


def _require_reached(planners: Mapping[str, Planner], settings: Settings) -> None:
    """Refuse a horizon behind the end of the built-in planners' ways: every answer of theirs would be a failure."""
    if planners and settings.score.horizon_s > HORIZON_S + NEAR:
        raise HorizonError(
            f"score.horizon_s={settings.score.horizon_s:g}: the ways of the built-in planners end at {HORIZON_S:g} s,"
            f" so all of them would count as failed. Score {HORIZON_S:g} s or less, or only predictions that reach"
            f" farther: --planners {NO_PLANNERS} --predictions NAME=FILE"
        )


def keyframes_of(release: Release, source: Source, settings: Settings) -> dict[str, Keyframe]:
    """Return the keyframes of a release's benchmark pairs from its logs, by id.

    Raises:
        WrongLogsError: the logs do not know them, or lack their pictures.
        SourceError: the logs cannot be read.
    """
    tokens = benchmark_keyframes(release)
    if not tokens:
        return {}
    views = release.frame(COMPONENT, "views", ("pair_id", "sensor_id", "frame_offset"))
    deepest = -int(views.select("frame_offset").min().item() or 0)
    request = Request(tokens=tuple(tokens.values()), history=deepest or settings.source.history)
    try:
        selection = source.select(request)
    except SourceError as error:
        raise _wrong_logs(release, str(error)) from error
    if selection.skipped:
        lines = [f"{entry.id}: {entry.detail}" for entry in selection.skipped[:3]]
        raise _wrong_logs(release, f"{len(selection.skipped)} keyframes lack pictures: {'; '.join(lines)}")
    return {keyframe.id: keyframe for keyframe in selection.keyframes}


def _wrong_logs(release: Release, why: str) -> WrongLogsError:
    return WrongLogsError(
        f"the logs are not those that release {release.manifest.name} {release.manifest.version} was made from: {why}."
        " Name the right ones with --settings and --set source.root=... source.version=..., as the build had them"
    )
