"""Decide: owns every verdict. Chooses a pair's candidate, applies thresholds, and lets people overrule them.

Everything here is pure and takes milliseconds, so a changed threshold costs nothing but this stage. Three things can
speak against a candidate, in this order: what *bars* it (a hard failure, no region, a combination that screening found
unsuitable), what a person said about it, and *rules*: the judge's qualification and the thresholds of the settings. A
person overrules rules in both directions, but never approves what is barred: such a pair could not be used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from data_registry import identity
from data_registry.records import Decision, Finding, Human
from models.backend import IdentitySettings, Pure
from qa_audit.checks import ALL_KINDS, PAIR_CHECKS, VIEW_CHECKS, Kind
from tasks.items import Contested, Judged
from tasks.stage import ItemStage, Outcome, PermanentFailureError

VIEW_READINGS: Final[Mapping[str, str]] = {check.name: check.unit for check in VIEW_CHECKS}
"""What rules about views may ask, with units."""
PAIR_READINGS: Final[Mapping[str, str]] = {
    **{check.name: check.unit for check in PAIR_CHECKS},
    "region_iou": "ratio",
    "region_centre_offset_m": "metres",
    "region_area_ratio": "ratio",
    "task_confidence": "score, 0 to 1",
    "realism": "score, 0 to 1",
    "action_determinacy": "score, 0 to 1",
}
"""What rules about a pair may ask: its checks, the region's evidence, the judge's scores."""


class Rule(BaseModel):
    """One threshold."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    code: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    """Code of the finding when it does not hold."""
    reading: str
    """Check, region evidence or score that it is about; in that one's unit."""
    at_least: float | None = None
    at_most: float | None = None
    scope: Literal["every_view", "any_view", "pair"]
    """every_view: each view with a value must hold; any_view: one must; pair: the value about all views together."""
    kinds: tuple[Kind, ...] = ALL_KINDS
    """Placement kinds that it applies to."""
    required: bool = False
    """Whether having no value at all speaks against the pair too."""

    @model_validator(mode="after")
    def _consistent(self) -> Rule:
        known = PAIR_READINGS if self.scope == "pair" else VIEW_READINGS
        if self.reading not in known:
            raise ValueError(f"scope {self.scope} knows no {self.reading!r}, only {', '.join(sorted(known))}")
        if self.at_least is None and self.at_most is None:
            raise ValueError(f"rule {self.code} needs at_least or at_most")
        return self

    def check(self, values: Sequence[float]) -> Finding | None:
        """Return the finding against a candidate with these values, None when there is nothing to say."""
        limit = self.at_least if self.at_least is not None else self.at_most
        if not values:
            return Finding(code=self.code, value=None, limit=limit) if self.required else None
        ranked = sorted(values, key=self._excess)
        decisive = ranked[0] if self.scope == "any_view" else ranked[-1]
        if self._excess(decisive) <= 0:
            return None
        low = self.at_least is not None and decisive < self.at_least
        return Finding(code=self.code, value=decisive, limit=self.at_least if low else self.at_most)

    def _excess(self, value: float) -> float:
        """Return by how much a value breaks the rule; 0 or less when it holds."""
        below = self.at_least - value if self.at_least is not None else -float("inf")
        above = value - self.at_most if self.at_most is not None else -float("inf")
        return max(below, above)


BODIES: Final[tuple[Kind, ...]] = ("standing", "mounted", "attached")
"""Not the road's surface: water and ice are smoother than any asphalt and let a part of it through, debris is
rougher."""
HANGING: Final[tuple[Kind, ...]] = ("mounted", "attached")
DEFAULT_RULES: Final = (
    Rule(code="hazard_too_small", reading="visible_area_px", at_least=100, scope="any_view", required=True),
    Rule(code="near_copy", reading="changed_inside", at_least=6, scope="every_view", required=True),
    Rule(code="view_not_edited", reading="views_missing", at_most=0, scope="pair", required=True),
    Rule(code="edit_too_wide", reading="edit_to_object_ratio", at_most=15, scope="every_view"),
    Rule(code="clipped_by_mask", reading="clipped_share", at_most=0.03, scope="every_view"),
    Rule(code="off_placement", reading="mask_iou_expected", at_least=0.17, scope="any_view", required=True),
    Rule(code="mostly_outside", reading="truncated_fraction", at_most=0.7, scope="any_view", required=True),
    Rule(code="floating_or_sunk", reading="contact_offset_m", at_most=0.8, scope="every_view"),
    Rule(
        code="hanging_off_place",
        reading="hanging_offset_m",
        at_most=0.6,
        scope="every_view",
        kinds=HANGING,
        required=True,
    ),
    Rule(code="patch_off_place", reading="patch_offset_m", at_most=0.65, scope="every_view", kinds=("surface",)),
    Rule(code="wrong_scale", reading="height_ratio", at_least=0.75, at_most=1.2, scope="every_view"),
    Rule(code="views_disagree", reading="cross_view_offset_m", at_most=0.7, scope="pair"),
    Rule(code="on_another_object", reading="footprint_overlap", at_most=0.1, scope="every_view"),
    Rule(code="over_nearer_object", reading="over_nearer_share", at_most=0.6, scope="every_view"),
    Rule(code="off_road", reading="off_drivable_share", at_most=0.8, scope="every_view"),
    Rule(code="wrong_exposure", reading="ring_exposure", at_least=-40, at_most=10, scope="every_view"),
    Rule(code="colour_cast_around", reading="ring_cast", at_most=0.06, scope="every_view"),
    Rule(code="painted_around", reading="unexplained_share", at_most=0.05, scope="every_view"),
    Rule(code="smeared_around", reading="detail_kept_around", at_least=0.25, scope="every_view"),
    Rule(code="see_through", reading="see_through", at_most=0.12, scope="every_view", kinds=BODIES),
    Rule(code="see_through_surface", reading="see_through", at_most=0.48, scope="every_view", kinds=("surface",)),
    Rule(code="flat_patch", reading="detail_ratio", at_least=0.3, scope="every_view"),
    Rule(code="visible_seam", reading="seam_step", at_most=3.5, scope="every_view"),
    Rule(code="colour_cast", reading="cast_inside", at_most=0.3, scope="every_view"),
    Rule(code="too_light", reading="over_range_levels", at_most=3, scope="every_view"),
    Rule(code="too_dark", reading="brightness_ratio", at_least=0.55, scope="every_view"),
    Rule(code="wrong_grain", reading="grain_ratio", at_least=0.7, at_most=2.4, scope="every_view", kinds=BODIES),
    Rule(code="wrong_sharpness", reading="blur_excess_px", at_least=-0.95, at_most=1.2, scope="every_view"),
    Rule(code="region_off_place", reading="region_iou", at_least=0.3, scope="pair", required=True),
    Rule(code="region_off_centre", reading="region_centre_offset_m", at_most=1.5, scope="pair", required=True),
    Rule(code="region_too_loose", reading="region_area_ratio", at_most=1.6, scope="pair", required=True),
    Rule(code="low_confidence", reading="task_confidence", at_least=0.4, scope="pair", required=True),
    Rule(code="low_realism", reading="realism", at_least=0.4, scope="pair", required=True),
    Rule(code="unclear_action", reading="action_determinacy", at_least=0.4, scope="pair", required=True),
)
"""Thresholds in the order in which they name a rejection. Those about checks were chosen by calibration: docs/checks.md
says what each catches, and which share of good edits passes."""


class DecideSettings(IdentitySettings, frozen=True):
    """Every threshold that a verdict rests on."""

    backend: Literal["rules"] = "rules"
    revision: str = "1"
    rules: tuple[Rule, ...] = DEFAULT_RULES

    @model_validator(mode="after")
    def _distinct(self) -> DecideSettings:
        repeated = [code for code, count in Counter(rule.code for rule in self.rules).items() if count > 1]
        if repeated:
            raise ValueError(f"rules share a code: {', '.join(repeated)}")
        return self


class DecideStage(ItemStage[Contested, Decision]):
    """Gives the verdict on one pair; keeps what it approves."""

    name: ClassVar[str] = "decide"
    version: ClassVar[int] = 1
    record = Decision

    def __init__(self, settings: DecideSettings | None = None) -> None:
        """Remember the thresholds."""
        self._settings = settings or DecideSettings()
        self.backend = Pure(self._settings)

    def process(self, items: Sequence[Contested]) -> Iterable[Outcome[Decision]]:
        """Yield the decision on each pair.

        Raises:
            PermanentFailureError: two human decisions are about the same candidate.
        """
        for item in items:
            decision = decide(item, self._settings)
            yield Outcome(decision, kept=decision.approved, reason_code=decision.reason_code)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What can be said about one candidate."""

    judged: Judged
    bars: tuple[Finding, ...]
    against: tuple[Finding, ...]
    """What rules say against it."""
    human: Human | None

    @property
    def approved(self) -> bool:
        """Whether the candidate belongs in the benchmark."""
        return not self.bars and (self.human.approve if self.human else not self.against)

    @property
    def sound(self) -> bool:
        """Whether its pixels may be used at all."""
        return not self.judged.judgement.hard_failures

    @property
    def rank(self) -> tuple[bool, bool, bool, int, float, int, str]:
        """Order of choice: approved, sound, approved by a person, fewest findings, best scores, first try, digest."""
        judgement, candidate = self.judged.judgement, self.judged.examined.edited.candidate
        score = judgement.task_confidence * judgement.realism * judgement.action_determinacy
        by_person = self.human is not None and self.human.approve
        count = len(self.bars) + len(self.against)
        return not self.approved, not self.sound, not by_person, count, -score, candidate.attempt, candidate.edit_digest

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything against the candidate, or overruled, in the order that names the rejection."""
        said = [Finding(code=_human_code(self.human), value=self.human.reason, limit=None)] if self.human else []
        return (*self.bars, *said, *self.against)

    @property
    def reason_code(self) -> str:
        """`approved`, or the code of the first thing against it."""
        if self.approved:
            return "approved"
        if self.bars:
            return self.bars[0].code
        return _human_code(self.human) if self.human else self.against[0].code


def decide(item: Contested, settings: DecideSettings) -> Decision:
    """Return the decision on a pair; see the module for what overrules what.

    Raises:
        PermanentFailureError: two human decisions are about the same candidate.
    """
    people = _people(item)
    verdicts = [_verdict(judged, settings, people.get(judged.judgement.edit_digest)) for judged in item.candidates]
    judged = {verdict.judged.judgement.edit_digest for verdict in verdicts}
    unused = tuple(
        Finding(code="human_decision_unused", value=digest, limit=None)
        for digest in sorted(people)
        if digest not in judged
    )
    if not verdicts:
        nothing = Finding(code="no_judged_candidate", value=0.0, limit=1.0)
        return _decision(item, None, (nothing, *unused))
    best = min(verdicts, key=lambda verdict: verdict.rank)
    return _decision(item, best, (*best.findings, *unused))


def _decision(item: Contested, best: _Verdict | None, findings: tuple[Finding, ...]) -> Decision:
    approved = best is not None and best.approved
    return Decision(
        pair_id=item.screened.combination.id,
        approved=approved,
        subset="benchmark" if approved else "auxiliary" if best is not None and best.sound else "none",
        edit_digest=best.judged.judgement.edit_digest if best else None,
        reason_code=best.reason_code if best else findings[0].code,
        findings=findings,
        decided_by="human" if best is not None and best.human is not None and not best.bars else "rules",
    )


def _people(item: Contested) -> dict[identity.Digest, Human]:
    """Return the human decisions about this pair by edit digest; those about other pairs are left out."""
    ours = [human for human in item.human if human.pair_id == item.screened.combination.id]
    repeated = [digest for digest, count in Counter(human.edit_digest for human in ours).items() if count > 1]
    if repeated:
        raise PermanentFailureError(
            "human_decisions_repeated",
            f"{item.screened.combination.id}: {len(repeated)} candidates have two human decisions, e.g. {repeated[0]}:"
            " keep one line for each in the decisions file",
        )
    return {human.edit_digest: human for human in ours}


def _verdict(judged: Judged, settings: DecideSettings, human: Human | None) -> _Verdict:
    screening, judgement = judged.examined.edited.screened.screening, judged.judgement
    bars = [Finding(code=code, value=True, limit=False) for code in judgement.hard_failures]
    if judged.examined.region is None:
        bars.append(Finding(code="no_region", value=None, limit=None))
    if not screening.suitable:
        bars.append(Finding(code="screened_out", value=screening.reason_code, limit=None))
    against: list[Finding] = []
    if not judgement.qualified:
        against.append(Finding(code="not_qualified", value=judgement.reason, limit=None))
    kind = screening.placement.kind if screening.placement else None
    for rule in settings.rules:
        found = rule.check(_readings(judged, rule)) if kind in rule.kinds else None
        if found is not None:
            against.append(found)
    return _Verdict(judged, tuple(bars), tuple(against), human)


def _readings(judged: Judged, rule: Rule) -> list[float]:
    """Return the values that a rule is about, where there are any."""
    region, judgement = judged.examined.region, judged.judgement
    scores: dict[str, float | None] = {
        "task_confidence": judgement.task_confidence,
        "realism": judgement.realism,
        "action_determinacy": judgement.action_determinacy,
        "region_iou": region.evidence.expected_iou if region else None,
        "region_centre_offset_m": region.evidence.centre_offset_m if region else None,
        "region_area_ratio": region.evidence.area_ratio if region else None,
    }
    if rule.reading in scores:
        values = [scores[rule.reading]]
    else:
        values = [entry.value for entry in judged.examined.measurements.of(rule.reading)]
    return [value for value in values if value is not None]


def _human_code(human: Human | None) -> str:
    return "human_approved" if human is not None and human.approve else "human_rejected"
