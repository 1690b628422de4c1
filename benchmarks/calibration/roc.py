"""How well a check's reading tells bad edits from good ones: receiver operating characteristic, area under it, shares.

Every rule about a check gives one score to a candidate: how far its decisive value lies on the wrong side of one limit.
A rule with two limits has two curves, since other faults break the one than the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from benchmarks.calibration.cases import Case
from qa_audit.checks import CHECKS, Kind
from tasks.decide import Rule

KINDS: Final[Mapping[str, tuple[Kind, ...]]] = {check.name: check.kinds for check in CHECKS}
"""Placement kinds by check."""
Side = Literal["at_least", "at_most"]

FOR: Final[Mapping[tuple[str, Side], tuple[str, ...]]] = {
    ("background_touched", "at_most"): ("background touched",),
    ("hazard_too_small", "at_least"): ("speck",),
    ("near_copy", "at_least"): ("near-copy",),
    ("view_not_edited", "at_most"): ("in one view only",),
    ("edit_too_wide", "at_most"): ("edit far too wide",),
    ("clipped_by_mask", "at_most"): ("clipped",),
    ("mostly_outside", "at_most"): ("truncated",),
    ("off_placement", "at_least"): ("moved sideways", "too small", "floating"),
    ("floating_or_sunk", "at_most"): ("moved away", "moved nearer", "moved sideways", "floating"),
    ("hanging_off_place", "at_most"): ("moved away", "moved nearer", "moved sideways", "floating"),
    ("wrong_scale", "at_least"): ("too small",),
    ("wrong_scale", "at_most"): ("too large",),
    ("views_disagree", "at_most"): ("moved away in one view",),
    ("on_another_object", "at_most"): ("on another object",),
    ("over_nearer_object", "at_most"): ("over a nearer object",),
    ("patch_off_place", "at_most"): ("moved away", "moved nearer", "moved sideways"),
    ("off_road", "at_most"): ("off the road",),
    ("visible_seam", "at_most"): ("seam", "clipped"),
    ("wrong_exposure", "at_least"): ("dark halo",),
    ("wrong_exposure", "at_most"): ("light halo",),
    ("colour_cast_around", "at_most"): ("colour cast of the edit",),
    ("painted_around", "at_most"): ("second hazard", "stripes around", "half mask"),
    ("smeared_around", "at_least"): ("smeared around", "second hazard", "half mask"),
    ("see_through", "at_most"): ("ghost",),
    ("see_through_surface", "at_most"): ("ghost",),
    ("flat_patch", "at_least"): ("flat patch",),
    ("colour_cast", "at_most"): ("colour cast of the hazard", "colour cast of the edit"),
    ("too_light", "at_most"): ("hazard too light",),
    ("too_dark", "at_least"): ("hazard too dark",),
    ("wrong_grain", "at_least"): ("without grain", "blurred"),
    ("wrong_grain", "at_most"): ("too much grain", "sharpened"),
    ("wrong_sharpness", "at_most"): ("blurred",),
    ("wrong_sharpness", "at_least"): ("sharpened",),
}
"""The faults that each limit is for."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One limit of one rule against good edits and those with the faults that it is for."""

    rule: Rule
    side: Side
    good: npt.NDArray[np.float64]
    """Scores of good edits that have a value: positive is beyond the limit."""
    bad: npt.NDArray[np.float64]
    no_value: tuple[int, int]
    """Good and bad edits without one."""

    @property
    def area(self) -> float | None:
        """Chance that a bad edit scores above a good one, ties half; None without either."""
        if not (len(self.good) and len(self.bad)):
            return None
        above = self.bad[:, None] > self.good
        return float(above.mean() + 0.5 * (self.bad[:, None] == self.good).mean())

    @property
    def passed(self) -> float:
        """Share of the good edits that keep the limit; those without a value keep it."""
        total = len(self.good) + self.no_value[0]
        return 1.0 - float((self.good > 0).sum()) / total if total else 1.0

    @property
    def caught(self) -> float:
        """Share of the bad edits that break the limit; those without a value do not."""
        total = len(self.bad) + self.no_value[1]
        return float((self.bad > 0).sum()) / total if total else 0.0

    def points(self) -> npt.NDArray[np.float64]:
        """Return the curve (N, 2): share of good edits rejected, share of bad ones caught, at every limit."""
        limits = np.unique(np.concatenate([self.good, self.bad]))[::-1]
        rows = [(float((self.good >= limit).mean()), float((self.bad >= limit).mean())) for limit in limits]
        return np.array([(0.0, 0.0), *rows])


def curve(rule: Rule, side: Side, cases: Sequence[Case]) -> Curve:
    """Return the curve of one limit of a rule over the cases whose placement it applies to."""
    faults, kinds = FOR[rule.code, side], KINDS[rule.reading]
    ours = [case for case in cases if case.kind in rule.kinds and case.kind in kinds and rule.reading in case.values]
    good = [score(rule, side, case) for case in ours if case.is_good]
    bad = [score(rule, side, case) for case in ours if case.fault in faults]
    return Curve(
        rule,
        side,
        np.array([value for value in good if value is not None], dtype=np.float64),
        np.array([value for value in bad if value is not None], dtype=np.float64),
        (sum(value is None for value in good), sum(value is None for value in bad)),
    )


def score(rule: Rule, side: Side, case: Case) -> float | None:
    """Return how far the decisive value lies beyond the limit, negative within it; None without a value."""
    limit = rule.at_least if side == "at_least" else rule.at_most
    values = case.values.get(rule.reading, ())
    if limit is None or not values:
        return None
    over = [limit - value if side == "at_least" else value - limit for value in values]
    return min(over) if rule.scope == "any_view" else max(over)


def findings(rules: Sequence[Rule], case: Case) -> tuple[str, ...]:
    """Return the codes of the rules that a case breaks."""
    return tuple(
        rule.code
        for rule in rules
        if case.kind in rule.kinds and rule.reading in case.values and rule.check(case.values[rule.reading]) is not None
    )
