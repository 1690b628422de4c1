"""Who decides whether a task suits a keyframe and where its hazard goes: the role, and the rules that need no model.

The rule screener tries placements in a seeded order, measures every fact that a task file may ask about, and takes the
first placement that satisfies all rules; when none does, the one that comes furthest, for the auxiliary split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol, cast

import shapely
from pydantic import Field

from data_registry.identity import METRE_STEP, combination_id, quantise
from data_registry.paths import clearance
from data_registry.records import Fact, Keyframe, Quad, Screening
from models.backend import Backend, IdentitySettings, LocalBackend
from models.evasion import Limits, can_pass, required_deceleration
from models.placements import Candidate, PlacingRules, candidates
from models.sights import Sight, sights
from models.surroundings import Surroundings, survey
from prompts.taxonomy import Predicate, TaskSpec

CONTACT_LIMIT_M: Final = 0.5
"""A pair must not start with the ego body this near to the region (DESIGN section 3)."""


class Screener(Backend, Protocol):
    """Decides whether a task suits a keyframe, and where its hazard would go."""

    def screen(self, keyframe: Keyframe, task: TaskSpec) -> Screening:
        """Return the screening of one combination.

        Raises:
            UnsupportedTaskError: the task asks for a kind of placement or region that this screener cannot make.
        """
        ...


class RuleScreenerSettings(IdentitySettings, frozen=True):
    """What the rule screener's output depends on."""

    backend: Literal["rules"] = "rules"
    revision: str = "1"
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
    conflict: Literal["recorded", "lane_keep", "both", "none"]
    braking: float | None
    avoidable: Literal["stop", "pass", "both", "none"]

    @property
    def failed(self) -> tuple[int, str]:
        """Position among the facts and name of the first one that does not hold; behind the last when all hold."""
        for index, fact in enumerate(self.facts):
            if not fact.holds:
                return index, fact.name
        return len(self.facts), ""

    @property
    def rank(self) -> tuple[int, float]:
        """How far the placement comes: facts that hold before the first that fails, then how mildly one may brake."""
        return self.failed[0], -float("inf") if self.braking is None else -self.braking


class RuleScreener(LocalBackend):
    """Screens by geometry: map, free ground, boxes, cameras and the ego's motion."""

    def __init__(self, settings: RuleScreenerSettings | None = None) -> None:
        """Remember the settings."""
        self.identity_settings = settings or RuleScreenerSettings()

    def screen(self, keyframe: Keyframe, task: TaskSpec) -> Screening:
        """Return the screening of one combination; raises UnsupportedTaskError as Screener says."""
        around = survey(keyframe, self.identity_settings.near_time_s)
        pair_id = combination_id(keyframe.id, task.id)
        rules = PlacingRules(self.identity_settings.seed_root, pair_id, self.identity_settings.gap_step_m)
        best: _Assessment | None = None
        for candidate in candidates(around, task, rules):
            found = self._assess(around, task, candidate)
            if best is None or found.rank > best.rank:
                best = found
            if found.failed[0] == len(found.facts):
                break
        return _screening(pair_id, around, task, best)

    def _assess(self, around: Surroundings, task: TaskSpec, candidate: Candidate) -> _Assessment:
        limits = Limits(
            self.identity_settings.reaction_s,
            self.identity_settings.hardest_braking,
            self.identity_settings.hardest_swerve,
        )
        seen = sights(around, candidate, self.identity_settings.smallest_view_px)
        braking = required_deceleration(around.speed, candidate.gap_m, limits)
        conflict = _conflict(around, candidate)
        stop = braking is not None and braking <= limits.braking
        passes = can_pass(around, candidate, task.required_clearance_m, limits)
        avoidable: Literal["stop", "pass", "both", "none"] = (
            "both" if stop and passes else "stop" if stop else "pass" if passes else "none"
        )
        values = _measure(around, candidate, seen, braking)
        facts = [_judge(predicate, values[predicate.fact]) for predicate in task.predicates]
        start = values["start_distance_m"]
        share, least_share = (seen[0].share if seen else 0.0), self.identity_settings.smallest_share
        apart = isinstance(start, float) and start >= CONTACT_LIMIT_M
        facts += [
            Fact(name="start_distance_m", value=start, at_least=CONTACT_LIMIT_M, holds=apart),
            Fact(name="nominal_conflict", value=conflict, holds=conflict != "none"),
            Fact(name="avoidable", value=avoidable, holds=avoidable != "none"),
            Fact(name="views_count", value=float(len(seen)), at_least=1.0, holds=bool(seen)),
            Fact(
                name="visible_share",
                value=quantise(share, METRE_STEP),
                at_least=least_share,
                holds=share >= least_share,
            ),
        ]
        asked = {fact.name for fact in facts}
        facts += [Fact(name=name, value=value, holds=True) for name, value in values.items() if name not in asked]
        return _Assessment(candidate, tuple(facts), seen, conflict, braking, avoidable)


BUILT_IN_REASONS: Final = {
    "start_distance_m": "starts_in_contact",
    "nominal_conflict": "no_conflict",
    "avoidable": "not_avoidable",
    "views_count": "no_view",
    "visible_share": "mostly_hidden",
}
"""Reason codes of the rules that hold for every task."""

Value = float | bool | str | None


def _conflict(around: Surroundings, candidate: Candidate) -> Literal["recorded", "lane_keep", "both", "none"]:
    """Return which nominal tubes meet the region within the horizon."""
    region = shapely.Polygon(candidate.quad)
    lane_keep = clearance(around.lane_keep_tube, region) == 0.0
    recorded = around.recorded_tube is not None and clearance(around.recorded_tube, region) == 0.0
    if lane_keep:
        return "both" if recorded else "lane_keep"
    return "recorded" if recorded else "none"


def _measure(
    around: Surroundings, candidate: Candidate, seen: tuple[Sight, ...], braking: float | None
) -> dict[str, Value]:
    """Return every fact that task files may ask about, by name; None where it cannot be measured."""
    target = candidate.target
    middle: Any = target.centroid
    values: dict[str, Value] = {
        "speed": around.speed,
        "lane_width_m": around.course.width_at(candidate.arc_m),
        "lane_is_drivable": around.is_drivable(target),
        "free_length_m": around.free_length_m,
        "target_gap_m": candidate.gap_m,
        "occluder_gap_m": candidate.occluder_gap_m,
        "clear_of_objects_m": around.room(shapely.Polygon(candidate.swept)),
        "start_distance_m": clearance(around.ego_body, shapely.Polygon(candidate.quad)),
        "views_count": float(len(seen)),
        "projected_height_px": max((sight.height_px for sight in seen), default=0.0),
        "required_decel": braking,
        "in_intersection": bool(around.intersections.intersects(middle)) if around.knows_lanes else None,
        "on_crossing": bool(around.crossings.intersects(middle)) if around.knows_lanes else None,
        "is_night": around.is_night,
    }
    return {name: quantise(v, METRE_STEP) if isinstance(v, float) else v for name, v in values.items()}


UNKNOWN_PASSES: Final = frozenset({"in_intersection", "on_crossing", "is_night"})
"""Facts whose absence rejects nothing: a log without a lane map or description cannot tell them."""


def _judge(predicate: Predicate, value: Value) -> Fact:
    """Hold a measured value against a predicate; `equals` shows as both limits."""
    if value is None:
        holds = predicate.fact in UNKNOWN_PASSES
    elif predicate.equals is not None:
        holds = bool(value) == predicate.equals
    else:
        number = float(value)
        holds = (predicate.at_least is None or number >= predicate.at_least) and (
            predicate.at_most is None or number <= predicate.at_most
        )
    limits = (predicate.at_least, predicate.at_most)
    if predicate.equals is not None:
        limits = (float(predicate.equals), float(predicate.equals))
    return Fact(name=predicate.fact, value=value, at_least=limits[0], at_most=limits[1], holds=holds)


def _reason(task: TaskSpec, found: _Assessment) -> str:
    index, name = found.failed
    if index == len(found.facts):
        return "suitable"
    return task.predicates[index].reason_code if index < len(task.predicates) else BUILT_IN_REASONS[name]


def _screening(pair_id: str, around: Surroundings, task: TaskSpec, best: _Assessment | None) -> Screening:
    if best is None:
        return Screening(
            combination_id=pair_id,
            suitable=False,
            reason_code="no_placement",
            evidence=(Fact(name="speed", value=quantise(around.speed, METRE_STEP), holds=True),),
            views=(),
            appearance=None,
            placement=None,
            expected_region=None,
            nominal_conflict="none",
            required_decel=None,
            avoidable="none",
            path_source=around.path_source,
        )
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
