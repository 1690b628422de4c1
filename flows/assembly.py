"""From settings to a build that can run: the store, the logs, the taxonomy, and a stage around each back end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from data_registry.records import Human
from data_registry.release import Release
from data_registry.sources.nuscenes import NuScenes
from data_registry.sources.source import Request, Selection, Source
from data_registry.sources.streetset import VERSION, is_complete, write_streetset
from data_registry.store import Store
from flows.exits import SHOWN
from flows.places import require_folder_place
from flows.progress import tell
from flows.settings import Settings
from models.backend import IdentitySettings
from models.editors.compositor import Compositor, CompositorSettings
from models.editors.editor import Editor
from models.localizers.ground_plane import GroundPlaneLocalizer, GroundPlaneSettings
from models.localizers.localizer import Localizer
from models.reviewers import Reviewer, RuleReviewer, RuleReviewerSettings
from models.screeners import RuleScreener, RuleScreenerSettings, Screener
from prompts.taxonomy import SHIPPED, TaskSpec, choose, load_taxonomy
from tasks.construction import Construction
from tasks.decide import DecideStage
from tasks.decisions import load_decisions
from tasks.edit import EditStage
from tasks.judge import JudgeStage
from tasks.localize import LocalizeStage
from tasks.measure import MeasureStage
from tasks.screen import ScreenStage
from tasks.stage import Stage

SCREENERS: Final[Mapping[type[IdentitySettings], Callable[..., Screener]]] = {RuleScreenerSettings: RuleScreener}
EDITORS: Final[Mapping[type[IdentitySettings], Callable[..., Editor]]] = {CompositorSettings: Compositor}
LOCALIZERS: Final[Mapping[type[IdentitySettings], Callable[..., Localizer]]] = {
    GroundPlaneSettings: GroundPlaneLocalizer,
}
REVIEWERS: Final[Mapping[type[IdentitySettings], Callable[..., Reviewer]]] = {RuleReviewerSettings: RuleReviewer}
"""Back ends of each role by the settings that ask for them, and that they are made from."""

B = TypeVar("B")
DRAINS: Final = {"cpu": "drain-stage/drain-stage", "a100": "drain-stage/drain-stage-a100"}
"""Deployment of a build's drain for each kind of resources."""


_LOGS_ADVICE: Final = {
    "streetset": "name them with --settings sample, which brings the embedded logs, and with --set source.root=... and"
    " --set source.version=... where the build had them",
    "nuscenes": "name them with --settings nuscenes, --set source.root=... and --set source.version=..., as the build"
    " had them",
}
"""What names logs of each dataset; only the dataset's own kind of settings can read them."""


class NothingToBuildError(ValueError):
    """The logs have no keyframe that could be used."""


class WrongLogsError(ValueError):
    """The logs that the settings name are not those of the release."""


@dataclass(frozen=True, slots=True)
class Build:
    """Everything that a build, or one of its drains, works with."""

    settings: Settings
    store: Store
    source: Source
    construction: Construction

    @property
    def steps(self) -> Construction:
        """What is to be settled."""
        return self.construction

    @property
    def drains(self) -> Mapping[str, str]:
        """Deployment that drains a step, by the resources that its back end needs."""
        return DRAINS

    @property
    def drain_parameters(self) -> Mapping[str, object]:
        """Nothing: a drain finds everything else from step, settings and run."""
        return {}


@contextmanager
def open_build(settings: Settings) -> Generator[Build]:
    """Open store and logs, choose keyframes and tasks; all bad input shows here, before any work is spent.

    Raises:
        SourceError, NothingToBuildError, TaskFileError, UnknownTaskError, DecisionsFileError: as their texts say.
        LedgerUnavailableError, StorageFullError, StreetsetWriteError: the place of the store failed.
    """
    tasks, human = _tasks_and_decisions(settings)
    with open_store(settings) as store:
        source = open_source(settings)
        tell("source", 0, None)
        selection = source.select(_request(settings))
        _refuse_nothing(selection)
        tell("source", len(selection.keyframes), len(selection.keyframes))
        stages = _stages(settings, source, store)
        yield Build(settings, store, source, Construction(selection, tasks, human, stages, settings.auxiliary))


def check_inputs(settings: Settings) -> None:
    """Read task files, decisions and tables, and write the embedded logs, as a build would; raises what it would raise.

    Keyframes are not made: on all of nuScenes that takes minutes, while tables are checked once, into an index.
    """
    _tasks_and_decisions(settings)
    require_folder_place(settings.releases, "--releases")
    with open_store(settings):
        request = replace(_request(settings), limit=0)  # looks up the scenes and tokens asked for, and no more
        open_source(settings).select(request)


def _refuse_nothing(selection: Selection) -> None:
    if selection.keyframes:
        return
    lines = [f"  - {entry.id}: {entry.reason_code}: {entry.detail}" for entry in selection.skipped[:SHOWN]]
    if len(selection.skipped) > SHOWN:
        lines.append(f"  ... and {len(selection.skipped) - SHOWN} more")
    text = "\n".join(["no keyframe can be used, so nothing was built:", *lines])
    raise NothingToBuildError(f"{text}\nMend that, or ask for other scenes.")


def _tasks_and_decisions(settings: Settings) -> tuple[tuple[TaskSpec, ...], tuple[Human, ...]]:
    tasks = choose(load_taxonomy(settings.taxonomy or SHIPPED), settings.tasks)
    return tasks, load_decisions(settings.decisions) if settings.decisions else ()


def open_store(settings: Settings) -> Store:
    """Open the store that the settings name; raises WrongPlaceError when a file is in its way."""
    require_store_place(settings)
    if settings.store.ledger and settings.store.blobs:
        return Store(settings.store.ledger, settings.store.blobs)
    return Store.at(settings.store.path)


def require_store_place(settings: Settings) -> None:
    """Raise WrongPlaceError when a file is where the store's folder goes."""
    require_folder_place(settings.store.path, "--store")


def open_source(settings: Settings) -> Source:
    """Open the logs that the settings name; the embedded ones are written first where there are none.

    Raises:
        SourceError, StreetsetWriteError, WrongPlaceError: as their texts say.
    """
    require_store_place(settings)
    chosen = settings.source
    root = chosen.root or _embedded_logs(settings.store.path / "streetset")
    return NuScenes(root, chosen.version or VERSION, settings.store.path / "index", chosen.kind)


def _embedded_logs(root: Path) -> Path:
    """Write the embedded logs unless they are there: half a minute, so whoever watches is told."""
    if not is_complete(root):
        tell("logs", 0, None)
        write_streetset(root)
        tell("logs", 1, 1)
    return root


def require_logs_of(release: Release, settings: Settings) -> None:
    """Refuse logs of another dataset than the release was made from, before anything is looked for in them.

    Raises:
        WrongLogsError: says which settings name the right ones.
    """
    made_from = set(release.frame("hazards", "pairs", ("pair_id", "dataset"))["dataset"].to_list())
    if made_from and settings.source.kind not in made_from:
        names = ", ".join(sorted(made_from))
        advice = "; ".join(_LOGS_ADVICE.get(kind, "no settings here know such logs") for kind in sorted(made_from))
        raise WrongLogsError(
            f"release {release.manifest.name} {release.manifest.version} was made from {names} logs, the settings name"
            f" {settings.source.kind} logs: {advice}"
        )


def logs_folder(settings: Settings) -> Path:
    """Return where runs leave their text logs."""
    return settings.store.path / "logs"


def _request(settings: Settings) -> Request:
    chosen = settings.source
    return Request(chosen.keyframes, chosen.scenes, chosen.tokens, chosen.limit, chosen.history)


def _stages(settings: Settings, source: Source, store: Store) -> dict[str, Stage[Any, Any]]:
    blobs = store.blobs
    return {
        "screen": ScreenStage(_backend(SCREENERS, settings.screen)),
        "edit": EditStage(_backend(EDITORS, settings.edit), source, blobs),
        "measure": MeasureStage(source, blobs, settings.measure),
        "localize": LocalizeStage(_backend(LOCALIZERS, settings.localize), blobs),
        "judge": JudgeStage(_backend(REVIEWERS, settings.judge), source, blobs),
        "decide": DecideStage(settings.decide),
    }


def _backend(role: Mapping[type[IdentitySettings], Callable[..., B]], settings: IdentitySettings) -> B:
    return role[type(settings)](settings)
