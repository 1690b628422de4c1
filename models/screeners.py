"""Who decides whether a task suits a keyframe and where its hazard goes: the role, and the rules that need no model.

The rule screener tries placements in a seeded order, measures every fact that a task file may ask about, and takes the
first placement that satisfies all rules; when none does, the one that comes furthest, for the auxiliary split.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Protocol, cast

import shapely
from pydantic import Field

from data_registry.identity import METRE_STEP, combination_id, quantise
from data_registry.paths import clearance
from data_registry.records import Fact, Keyframe, Quad, Screening
from models.backend import Backend, IdentitySettings, LocalBackend
from models.evasion import Limits, can_pass, required_deceleration
from models.facts import SIGHT_FACTS, Values, judge, place_facts, scene_facts, sight_facts
from models.placements import Candidate, PlacingRules, candidates
from models.sights import Sight, sights
from models.surroundings import Surroundings, survey
from prompts.taxonomy import TaskSpec

Conflict = Literal["recorded", "lane_keep", "both", "none"]
Avoidable = Literal["stop", "pass", "both", "none"]

KEPT_SURVEYS: Final = 2
"""Keyframes whose surroundings are remembered: the one at hand, and another for callers that take turns."""
CONTACT_LIMIT_M: Final = 0.5
"""A pair must not start with the ego body this near to the region (DESIGN section 3)."""


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


@dataclass(frozen=True, slots=True, eq=False)
class _Assessment:
    """One placement with everything measured about it."""

    candidate: Candidate
    facts: tuple[Fact, ...]
    seen: tuple[Sight, ...]
    conflict: Conflict
    braking: float | None
    avoidable: Avoidable

    @property
    def failed(self) -> tuple[int, str]:
        """Position among the facts and name of the first one that does not hold; behind the last when all hold."""
        for index, fact in enumerate(self.facts):
            if not fact.holds:
                return index, fact.name
        return len(self.facts), ""

    def is_good_enough(self, farthest: int, hardest_braking: float) -> bool:
        """Tell whether no place can come farther; one that the scene rejects anyway should still let the ego stop."""
        if self.failed[0] == len(self.facts):
            return True
        return self.failed[0] >= farthest and self.braking is not None and self.braking <= hardest_braking

    @property
    def rank(self) -> tuple[int, float]:
        """How far the placement comes: facts that hold before the first that fails, then how mildly one may brake."""
        return self.failed[0], _mildness(self.braking)


class RuleScreener(LocalBackend):
    """Screens by geometry: map, free ground, boxes, cameras and the ego's motion."""

    def __init__(self, settings: RuleScreenerSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or RuleScreenerSettings()
        self._surveyed: OrderedDict[str, Surroundings] = OrderedDict()

    def screen(self, keyframe: Keyframe, task: TaskSpec) -> Screening:
        """Return the screening of one combination."""
        around = self._survey(keyframe)
        pair_id = combination_id(keyframe.id, task.id)
        rules = PlacingRules(self.identity_settings.seed_root, pair_id, self.identity_settings.gap_step_m)
        scene = scene_facts(around)
        farthest = _first_scene_failure(task, scene)
        best: _Assessment | None = None
        for candidate in candidates(around, task, rules):
            best = self._assess(around, task, candidate, scene, best)
            if best.is_good_enough(farthest, self.identity_settings.hardest_braking):
                break
        return _unplaced(pair_id, around, task, scene) if best is None else _screening(pair_id, around, task, best)

    def _survey(self, keyframe: Keyframe) -> Surroundings:
        """Look around once for all tasks of a keyframe: items come keyframe by keyframe."""
        key = keyframe.payload_digest
        if key not in self._surveyed:
            self._surveyed[key] = survey(keyframe, self.identity_settings.near_time_s)
        while len(self._surveyed) > KEPT_SURVEYS:
            self._surveyed.popitem(last=False)
        return self._surveyed[key]

    def _assess(
        self, around: Surroundings, task: TaskSpec, candidate: Candidate, scene: Values, best: _Assessment | None
    ) -> _Assessment:
        """Return the better of the best placement so far and a candidate; one that cannot win is not measured fully."""
        settings = self.identity_settings
        limits = Limits(settings.reaction_s, settings.hardest_braking, settings.hardest_swerve)
        braking = required_deceleration(around.speed, candidate.gap_m, limits)
        if best is not None and (_first_scene_failure(task, scene), _mildness(braking)) <= best.rank:
            return best
        values = scene | place_facts(around, candidate, braking)
        known = [judge(p, values[p.fact]) for p in task.predicates if p.fact not in SIGHT_FACTS]
        failing = next((index for index, fact in enumerate(known) if not fact.holds), None)
        dear = sum(predicate.fact in SIGHT_FACTS for predicate in task.predicates)
        if best is not None and failing is not None and (failing + dear, _mildness(braking)) <= best.rank:
            return best
        seen = sights(around, candidate, settings.smallest_view_px)
        values |= sight_facts(seen)
        conflict = _conflict(around, candidate)
        avoidable = _avoidable(around, candidate, task, braking, limits)
        facts = [judge(predicate, values[predicate.fact]) for predicate in task.predicates]
        facts += _built_in(candidate, task, values, conflict, avoidable)
        facts += _visibility(seen, settings.smallest_share)
        asked = {fact.name for fact in facts}
        facts += [Fact(name=name, value=value, holds=True) for name, value in values.items() if name not in asked]
        found = _Assessment(candidate, tuple(facts), seen, conflict, braking, avoidable)
        return found if best is None or found.rank > best.rank else best


def _mildness(braking: float | None) -> float:
    return -float("inf") if braking is None else -braking


def _first_scene_failure(task: TaskSpec, scene: Values) -> int:
    """Return the position of the first predicate that no place can satisfy; a large number when there is none."""
    for index, predicate in enumerate(task.predicates):
        if predicate.fact in scene and not judge(predicate, scene[predicate.fact]).holds:
            return index
    return sys.maxsize


BUILT_IN_REASONS: Final = {
    "start_distance_m": "starts_in_contact",
    "at_anchor": "not_at_anchor",
    "nominal_conflict": "no_conflict",
    "avoidable": "not_avoidable",
    "views_count": "no_view",
    "visible_share": "mostly_hidden",
}
"""Reason codes of the rules that hold for every task."""


def _built_in(
    candidate: Candidate, task: TaskSpec, values: Values, conflict: Conflict, avoidable: Avoidable
) -> list[Fact]:
    """Return the rules that hold for every task, but for what the cameras see."""
    start = values["start_distance_m"]
    apart = isinstance(start, float) and start >= CONTACT_LIMIT_M
    anchored = [Fact(name="at_anchor", value=candidate.anchored, holds=candidate.anchored)]
    return [
        Fact(name="start_distance_m", value=start, at_least=CONTACT_LIMIT_M, holds=apart),
        *(anchored if task.placement.anchor != "range" else []),
        Fact(name="nominal_conflict", value=conflict, holds=conflict != "none"),
        Fact(name="avoidable", value=avoidable, holds=avoidable != "none"),
    ]


def _visibility(seen: tuple[Sight, ...], least_share: float) -> list[Fact]:
    share = seen[0].share if seen else 0.0
    return [
        Fact(name="views_count", value=float(len(seen)), at_least=1.0, holds=bool(seen)),
        Fact(name="visible_share", value=quantise(share, METRE_STEP), at_least=least_share, holds=share >= least_share),
    ]


def _avoidable(
    around: Surroundings, candidate: Candidate, task: TaskSpec, braking: float | None, limits: Limits
) -> Avoidable:
    """Tell whether the ego can stop before the region, pass it, or both (DESIGN section 3)."""
    stop = braking is not None and braking <= limits.braking
    if can_pass(around, candidate, task.required_clearance_m, limits):
        return "both" if stop else "pass"
    return "stop" if stop else "none"


def _conflict(around: Surroundings, candidate: Candidate) -> Conflict:
    """Return which nominal tubes meet the region within the horizon."""
    region = shapely.Polygon(candidate.quad)
    lane_keep = clearance(around.lane_keep_tube, region) == 0.0
    recorded = around.recorded_tube is not None and clearance(around.recorded_tube, region) == 0.0
    if lane_keep:
        return "both" if recorded else "lane_keep"
    return "recorded" if recorded else "none"


def _reason(task: TaskSpec, found: _Assessment) -> str:
    index, name = found.failed
    if index == len(found.facts):
        return "suitable"
    return task.predicates[index].reason_code if index < len(task.predicates) else BUILT_IN_REASONS[name]


def _unplaced(pair_id: str, around: Surroundings, task: TaskSpec, scene: Values) -> Screening:
    """Return the screening without any place: rejected for what the scene lacks, else as `no_placement`."""
    facts = [judge(predicate, scene[predicate.fact]) for predicate in task.predicates if predicate.fact in scene]
    asked = {fact.name for fact in facts}
    failed = _first_scene_failure(task, scene)
    rest = [Fact(name=name, value=value, holds=True) for name, value in scene.items() if name not in asked]
    return Screening(
        combination_id=pair_id,
        suitable=False,
        reason_code=task.predicates[failed].reason_code if failed < len(task.predicates) else "no_placement",
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


def _screening(pair_id: str, around: Surroundings, task: TaskSpec, best: _Assessment) -> Screening:
    reason = _reason(task, best)
    return Screening(
        combination_id=pair_id,
        suitable=reason == "suitable",
        reason_code=reason,
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
