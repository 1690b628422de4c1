"""Who decides whether a task suits a keyframe and where its hazard goes: the role, and the rules that need no model.

The rule screener tries placements in a seeded order, measures every fact that a task file may ask about, and takes the
first placement that satisfies all rules; when none does, the one that comes furthest, for the auxiliary split.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Protocol, cast

from pydantic import Field

from data_registry.identity import METRE_STEP, combination_id, quantise
from data_registry.recent import Recent
from data_registry.records import Fact, Keyframe, Quad, Screening
from models.assessments import Assessment, Bounds
from models.backend import Backend, IdentitySettings, LocalBackend
from models.evasion import Limits
from models.facts import Values, judge, scene_facts
from models.placements import PlacingRules, candidates
from models.surroundings import Surroundings, survey
from prompts.taxonomy import TaskSpec

KEPT_SURVEYS: Final = 2
"""Keyframes whose surroundings are remembered: the one at hand, and another for callers that take turns."""


class Screener(Backend, Protocol):
    """Decides whether a task suits a keyframe, and where its hazard would go."""

    def screen(self, keyframe: Keyframe, task: TaskSpec) -> Screening:
        """Return the screening of one combination."""
        ...


class RuleScreenerSettings(IdentitySettings, frozen=True):
    """What the rule screener's output depends on."""

    backend: Literal["rules"] = "rules"
    revision: str = "2"
    seed_root: Annotated[int, Field(ge=0, lt=2**53)] = 0
    gap_step_m: Annotated[float, Field(gt=0)] = 0.25
    """Distance between the gaps that are tried."""
    near_time_s: Annotated[float, Field(ge=0)] = 1.0
    """How far ahead in time moving objects keep the ground they drive over."""
    smallest_view_px: Annotated[float, Field(gt=0)] = 150.0
    """Visible area from which a camera counts as seeing the hazard, square pixels."""
    smallest_share: Annotated[float, Field(gt=0, le=1)] = 0.4
    """Share of the hazard that must not be hidden in its largest view."""
    reaction_s: Annotated[float, Field(ge=0)] = 0.5
    hardest_braking: Annotated[float, Field(gt=0)] = 6.0
    """m/s2 (DESIGN section 3)."""
    hardest_swerve: Annotated[float, Field(gt=0)] = 3.0
    """Lateral acceleration of a path that passes the hazard, m/s2."""


class RuleScreener(LocalBackend):
    """Screens by geometry: map, free ground, boxes, cameras and the ego's motion."""

    def __init__(self, settings: RuleScreenerSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or RuleScreenerSettings()
        self._surveyed = Recent[Surroundings](KEPT_SURVEYS)

    def screen(self, keyframe: Keyframe, task: TaskSpec) -> Screening:
        """Return the screening of one combination."""
        around = self._survey(keyframe)
        pair_id = combination_id(keyframe.id, task.id)
        rules = PlacingRules(self.identity_settings.seed_root, pair_id, self.identity_settings.gap_step_m)
        scene, bounds = scene_facts(around), self._bounds()
        failure = _first_scene_failure(task, scene)
        best: Assessment | None = None
        for candidate in candidates(around, task, rules):
            found = Assessment(around, task, candidate, scene, bounds)
            if best is None or ((failure is None or found.mildness > best.mildness) and found.rank > best.rank):
                best = found
            if best.failed is None or (failure is not None and best.failed >= failure and best.can_stop):
                break
        return _unplaced(pair_id, around, task, scene) if best is None else _screening(pair_id, around, best)

    def _bounds(self) -> Bounds:
        settings = self.identity_settings
        limits = Limits(settings.reaction_s, settings.hardest_braking, settings.hardest_swerve)
        return Bounds(limits, settings.smallest_view_px, settings.smallest_share)

    def _survey(self, keyframe: Keyframe) -> Surroundings:
        """Look around once for all tasks of a keyframe: items come keyframe by keyframe."""
        near_time_s = self.identity_settings.near_time_s
        return self._surveyed.get(keyframe.payload_digest, lambda: survey(keyframe, near_time_s))


def _first_scene_failure(task: TaskSpec, scene: Values) -> int | None:
    """Return the position of the first predicate that no place can satisfy; None when there is none."""
    for index, predicate in enumerate(task.predicates):
        if predicate.fact in scene and not judge(predicate, scene[predicate.fact]).holds:
            return index
    return None


def _unplaced(pair_id: str, around: Surroundings, task: TaskSpec, scene: Values) -> Screening:
    """Return the screening without any place: rejected for what the scene lacks, else as `no_placement`."""
    facts = [judge(predicate, scene[predicate.fact]) for predicate in task.predicates if predicate.fact in scene]
    asked = {fact.name for fact in facts}
    failed = _first_scene_failure(task, scene)
    rest = [Fact(name=name, value=value, holds=True) for name, value in scene.items() if name not in asked]
    return Screening(
        combination_id=pair_id,
        suitable=False,
        reason_code="no_placement" if failed is None else task.predicates[failed].reason_code,
        evidence=(*facts, *rest),
        views=(),
        appearance=None,
        placement=None,
        expected_region=None,
        nominal_conflict="none",
        required_decel=None,
        avoidable="none",
        path_source=around.path_source,
    )


def _screening(pair_id: str, around: Surroundings, best: Assessment) -> Screening:
    return Screening(
        combination_id=pair_id,
        suitable=best.failed is None,
        reason_code=best.reason_code,
        evidence=best.facts,
        views=tuple(sight.sensor_id for sight in best.seen),
        appearance=best.candidate.appearance,
        placement=best.candidate.placement,
        expected_region=cast(Quad, tuple((float(x), float(y)) for x, y in best.candidate.quad)),
        nominal_conflict=best.conflict,
        required_decel=None if best.braking is None else quantise(best.braking, METRE_STEP),
        avoidable=best.avoidable,
        path_source=around.path_source,
    )
