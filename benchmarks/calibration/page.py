"""The tables of docs/checks.md, and the markers between which they are written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.calibration.cases import GOOD, Case
from benchmarks.calibration.roc import FOR, Curve, Side, curve, findings, score
from tasks.decide import Rule


class PageError(ValueError):
    """The page has no section for a table."""


def replaced(page: str, name: str, text: str) -> str:
    """Return a page with a section's content replaced; raises PageError when it has no such section."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if page.count(start) != 1 or page.count(end) != 1 or page.index(start) > page.index(end):
        raise PageError(f"the page has no section {start} ... {end}: add one")
    return f"{page.split(start)[0]}{start}\n{text}\n{end}{page.split(end)[1]}"


def curves(rules: Sequence[Rule], cases: Sequence[Case]) -> list[Curve]:
    """Return the curves of all limits that some fault is for, in the rules' order."""
    sides: tuple[Side, ...] = ("at_least", "at_most")
    return [
        curve(rule, side, cases)
        for rule in rules
        for side in sides
        if (rule.code, side) in FOR and getattr(rule, side) is not None
    ]


def limits_table(found: Sequence[Curve], held_out: Sequence[Curve]) -> str:
    """Return the table of limits: what each is for, area under the curve, good edits passed, bad ones caught.

    The last two columns are about edits that no limit was chosen on; `held_out` has the same limits in the same order.
    """
    names = ["rule", "reading", "limit", "faults", "area", "good passed", "bad caught", "without a value"]
    rows = [f"| {' | '.join([*names, 'held out: good', 'held out: bad'])} |"]
    rows.append("|---|---|---|---|---|---|---|---|---|---|")
    for one, other in zip(found, held_out, strict=True):
        rule = one.rule
        limit = f"≥ {rule.at_least:g}" if one.side == "at_least" else f"≤ {rule.at_most:g}"
        area = "-" if one.area is None else f"{one.area:.3f}"
        cells = [f"`{rule.code}`", f"`{rule.reading}`", limit, ", ".join(FOR[rule.code, one.side]), area, *_shares(one)]
        cells += [f"{one.no_value[0]} good, {one.no_value[1]} bad", *_shares(other)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _shares(one: Curve) -> list[str]:
    """Return how many good edits pass and how many bad ones are caught."""
    good, bad = len(one.good) + one.no_value[0], len(one.bad) + one.no_value[1]
    return [f"{one.passed:.1%} of {good}" if good else "-", f"{one.caught:.0%} of {bad}" if bad else "-"]


def faults_table(rules: Sequence[Rule], cases: Sequence[Case]) -> str:
    """Return the table of faults and trifles by strength: how many, caught by the limits for it, rejected by any."""
    rows = ["| edit | strength | edits | caught by its own rules | rejected by any |", "|---|---|---|---|---|"]
    grouped: dict[tuple[str, float], list[Case]] = defaultdict(list)
    for case in cases:
        grouped[case.fault, case.strength].append(case)
    for (name, strength), ours in sorted(grouped.items(), key=lambda entry: _order(*entry)):
        own = "" if ours[0].is_good else f"{np.mean([_caught(rules, case) for case in ours]):.0%}"
        any_rule = f"{np.mean([bool(findings(rules, case)) for case in ours]):.0%}"
        shown = "" if name == GOOD or not ours[0].unit else f"{strength:g} {ours[0].unit}"
        rows.append(f"| {name} | {shown} | {len(ours)} | {own} | {any_rule} |")
    return "\n".join(rows)


def _caught(rules: Sequence[Rule], case: Case) -> bool:
    """Tell whether a limit that is for a case's fault is broken."""
    sides: tuple[Side, ...] = ("at_least", "at_most")
    return any(
        (score(rule, side, case) or 0.0) > 0
        for rule in rules
        for side in sides
        if case.fault in FOR.get((rule.code, side), ()) and case.kind in rule.kinds
    )


def _order(key: tuple[str, float], ours: Sequence[Case]) -> tuple[bool, bool, int, float]:
    """Return the place of an edit in the table: good ones first, then as the limits come, weak before strong."""
    name, strength = key
    places = [number for number, faults in enumerate(FOR.values()) if name in faults]
    falling = name in ("hazard too dark", "too small", "dark halo", "near-copy", "speck", "ghost", "flat patch")
    return not ours[0].is_good, name != GOOD, min(places, default=-1), -strength if falling else strength
