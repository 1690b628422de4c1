"""One placement held against all rules, lazily: what decides that it fails early costs nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import shapely

from data_registry.identity import METRE_STEP, quantise
from data_registry.paths import clearance
from data_registry.records import Fact
from models.evasion import Limits, can_pass, required_deceleration
from models.facts import PLACE_FACTS, Value, Values, fixed, judge
from models.placements import Candidate
from models.sights import Sight, sights
from models.surroundings import Surroundings
from prompts.taxonomy import TaskSpec

CONTACT_LIMIT_M: Final = 0.5
"""A pair must not start with the ego body this near to the region (DESIGN section 3)."""

Conflict = Literal["recorded", "lane_keep", "both", "none"]
Avoidable = Literal["stop", "pass", "both", "none"]

BUILT_IN_REASONS: Final = {
    "start_distance_m": "starts_in_contact",
    "at_anchor": "not_at_anchor",
    "nominal_conflict": "no_conflict",
    "avoidable": "not_avoidable",
    "views_count": "no_view",
    "visible_share": "mostly_hidden",
}
"""Reason codes of the rules that hold for every task, in their order, behind the task's own."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What placements are held against: the ego's limits, pixels of a view, share of the hazard that must show."""

    limits: Limits
    smallest_view_px: float
    smallest_share: float


@dataclass(frozen=True, eq=False)
class Assessment:
    """One placement of a task's hazard with everything that is measured about it, when it is asked for."""

    around: Surroundings
    task: TaskSpec
    candidate: Candidate
    scene: Values
    bounds: Bounds

    @cached_property
    def braking(self) -> float | None:
        """Deceleration to stop before the region, m/s2; None when there is no room at all."""
        return required_deceleration(self.around.speed, self.candidate.gap_m, self.bounds.limits)

    @cached_property
    def seen(self) -> tuple[Sight, ...]:
        """Cameras that see the hazard, largest view first."""
        return sights(self.around, self.candidate, self.bounds.smallest_view_px)

    @cached_property
    def conflict(self) -> Conflict:
        """Which nominal tubes meet the region within the horizon."""
        region = shapely.Polygon(self.candidate.quad)
        lane_keep = clearance(self.around.lane_keep_tube, region) == 0.0
        real = self.around.recorded_tube
        recorded = real is not None and clearance(real, region) == 0.0
        if lane_keep:
            return "both" if recorded else "lane_keep"
        return "recorded" if recorded else "none"

    @property
    def can_stop(self) -> bool:
        """Whether the ego can stop before the region."""
        return self.braking is not None and self.braking <= self.bounds.limits.braking

    @cached_property
    def avoidable(self) -> Avoidable:
        """Whether the ego can stop before the region, pass it, or both (DESIGN section 3)."""
        if can_pass(self.around, self.candidate, self.task.required_clearance_m, self.bounds.limits):
            return "both" if self.can_stop else "pass"
        return "stop" if self.can_stop else "none"

    @cached_property
    def _values(self) -> Values:
        return dict(self.scene)

    def value(self, name: str) -> Value:
        """Return a fact that task files may ask about, measured once; None where it cannot be measured."""
        if name not in self._values:
            self._values[name] = fixed(self._measure(name))
        return self._values[name]

    def _measure(self, name: str) -> Value:
        if name == "required_decel":
            return self.braking
        if name == "views_count":
            return float(len(self.seen))
        if name == "projected_height_px":
            return max((sight.height_px for sight in self.seen), default=0.0)
        return PLACE_FACTS[name](self.around, self.candidate)

    def _checks(self) -> Iterator[Callable[[], bool]]:
        """Yield all rules in their order, the task's first, each to be asked whether it holds."""
        for predicate in self.task.predicates:
            yield lambda predicate=predicate: judge(predicate, self.value(predicate.fact)).holds
        yield lambda: self._starts_apart
        if self.task.placement.anchor != "range":
            yield lambda: self.candidate.anchored
        yield lambda: self.conflict != "none"
        yield lambda: self.can_stop or self.avoidable != "none"
        yield lambda: bool(self.seen)
        yield lambda: self._share >= self.bounds.smallest_share

    @property
    def _starts_apart(self) -> bool:
        start = self.value("start_distance_m")
        return isinstance(start, float) and start >= CONTACT_LIMIT_M

    @property
    def _share(self) -> float:
        return self.seen[0].share if self.seen else 0.0

    @cached_property
    def failed(self) -> int | None:
        """Position of the first rule that does not hold; None when all hold."""
        return next((index for index, holds in enumerate(self._checks()) if not holds()), None)

    @property
    def reason_code(self) -> str:
        """`suitable`, or the code of the first rule that does not hold."""
        if self.failed is None:
            return "suitable"
        if self.failed < len(self.task.predicates):
            return self.task.predicates[self.failed].reason_code
        return BUILT_IN_REASONS[self.facts[self.failed].name]

    @property
    def mildness(self) -> float:
        """How mildly one may brake: larger is milder."""
        return -float("inf") if self.braking is None else -self.braking

    @property
    def rank(self) -> tuple[float, float]:
        """How far the placement comes: rules that hold before the first that fails, then how mildly one may brake."""
        return float("inf") if self.failed is None else float(self.failed), self.mildness

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact: the task's predicates, the rules for every task, then what nobody asked for."""
        found = [judge(predicate, self.value(predicate.fact)) for predicate in self.task.predicates]
        found += self._built_in()
        asked = {fact.name for fact in found}
        names = [*self.scene, *PLACE_FACTS, "required_decel", "projected_height_px"]
        return (*found, *(Fact(name=name, value=self.value(name), holds=True) for name in names if name not in asked))

    def _built_in(self) -> list[Fact]:
        start, share, least = self.value("start_distance_m"), self._share, self.bounds.smallest_share
        anchored = Fact(name="at_anchor", value=self.candidate.anchored, holds=self.candidate.anchored)
        return [
            Fact(name="start_distance_m", value=start, at_least=CONTACT_LIMIT_M, holds=self._starts_apart),
            *([anchored] if self.task.placement.anchor != "range" else []),
            Fact(name="nominal_conflict", value=self.conflict, holds=self.conflict != "none"),
            Fact(name="avoidable", value=self.avoidable, holds=self.avoidable != "none"),
            Fact(name="views_count", value=float(len(self.seen)), at_least=1.0, holds=bool(self.seen)),
            Fact(name="visible_share", value=quantise(share, METRE_STEP), at_least=least, holds=share >= least),
        ]
