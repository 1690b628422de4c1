"""Verdicts: what bars, what people overrule, what rules reject, which candidate is chosen."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_registry.blobs import Blobs
from data_registry.records import (
    Candidate,
    Decision,
    Human,
    Judgement,
    LocalizationEvidence,
    Measurement,
    Measurements,
    Mounted,
    Placement,
    Region,
    ViewEdit,
)
from qa_audit.checks import CHECKS
from tasks.decide import DEFAULT_RULES, DecideSettings, DecideStage, Rule, decide
from tasks.items import Contested, Edited, Examined, Judged, Screened
from tasks.stage import PermanentFailureError
from tests.verdict_cases import (
    HOLE,
    PEDESTRIAN,
    TRUCK,
    Painter,
    box,
    check_golden,
    contested,
    decided,
    hole,
    judged,
    only,
    pedestrian,
    screened,
    truck,
)

SCREENED = screened(TRUCK, truck())
PAIR = SCREENED.combination.id
SIGNAL_HEAD = Mounted(box=box(14.0, -2.0, (0.35, 0.4, 1.0), lift=2.2), faces=("front",))
OF_KIND: dict[str, Screened] = {
    "standing": SCREENED,
    "surface": screened(HOLE, hole()),
    "mounted": screened("red_signal", SIGNAL_HEAD),
}
GOOD: dict[str, float | None] = {
    "background_touched_px": 0.0,
    "blur_excess_px": 0.1,
    "brightness_ratio": 1.0,
    "cast_inside": 0.02,
    "changed_inside": 60.0,
    "clipped_share": 0.0,
    "contact_offset_m": 0.1,
    "cross_view_offset_m": None,
    "detail_kept_around": 1.0,
    "detail_ratio": 1.0,
    "edit_to_object_ratio": 2.0,
    "footprint_overlap": 0.0,
    "grain_ratio": 1.0,
    "hanging_offset_m": 0.1,
    "height_ratio": 1.0,
    "mask_iou_expected": 0.9,
    "off_drivable_share": 0.0,
    "over_nearer_share": None,
    "over_range_levels": 0.0,
    "patch_offset_m": 0.1,
    "ring_cast": 0.01,
    "ring_exposure": 0.0,
    "seam_step": 0.5,
    "see_through": 0.0,
    "truncated_fraction": 0.0,
    "unexplained_share": 0.0,
    "views_missing": 0.0,
    "visible_area_px": 4000.0,
}


def candidate(number: int) -> Candidate:
    view = ViewEdit(
        sensor_id="CAM_FRONT",
        source_sha256="0" * 64,
        window=(0, 0, 2, 2),
        edited=f"{number:064x}",
        edit_mask="1" * 64,
        object_mask="2" * 64,
    )
    return Candidate(seed=number, attempt=number, views=(view,))


def made(
    number: int = 0,
    score: float = 1.0,
    hard: tuple[str, ...] = (),
    qualified: bool = True,
    region: bool = True,
    item: Screened = SCREENED,
    **values: float | None,
) -> Judged:
    """A judged candidate, good but for what is named."""
    edited = Edited(item, candidate(number))
    digest = edited.candidate.edit_digest
    names = {check.name for check in CHECKS}
    entries = tuple(
        Measurement(check=name, sensor_id="CAM_FRONT", value=value)
        for name, value in (GOOD | values).items()
        if name in names
    )
    judgement = Judgement(
        pair_id=item.id,
        edit_digest=digest,
        asked=not hard,
        hard_failures=hard,
        qualified=qualified and not hard,
        task_correct=qualified,
        physics_valid=True,
        background_preserved=True,
        task_confidence=score,
        realism=score,
        action_determinacy=score,
        reason="as said",
    )
    measurements = Measurements(pair_id=item.id, edit_digest=digest, values=entries)
    return Judged(Examined(edited, measurements, found_region(digest) if region else None), judgement)


def found_region(digest: str, iou: float = 0.9) -> Region:
    evidence = LocalizationEvidence(
        method="ground_plane", sensor_ids=("CAM_FRONT",), centre_offset_m=0.1, expected_iou=iou, area_ratio=1.0
    )
    return Region(
        pair_id=PAIR,
        edit_digest=digest,
        quad=((8, -1), (14, -1), (14, 1), (8, 1)),
        kind="occupied",
        clearance_m=1,
        evidence=evidence,
    )


def person(entry: Judged, approve: bool) -> Human:
    return Human(pair_id=PAIR, edit_digest=entry.judgement.edit_digest, approve=approve, reason="looked at it")


def codes(decision: Decision) -> list[str]:
    return [finding.code for finding in decision.findings]


def test_a_good_candidate_is_approved_by_rules_without_findings() -> None:
    entry = made()

    found = decided([entry])

    assert found == Decision(
        pair_id=PAIR,
        approved=True,
        subset="benchmark",
        edit_digest=entry.judgement.edit_digest,
        reason_code="approved",
        findings=(),
        decided_by="rules",
    )


@pytest.mark.parametrize("rule", DEFAULT_RULES, ids=lambda rule: rule.code)
def test_every_default_rule_rejects_what_breaks_it_and_says_the_value_and_limit(rule: Rule) -> None:
    bad = rule.at_least - 0.3 if rule.at_least is not None else (rule.at_most or 0.0) + 0.3
    item = OF_KIND[rule.kinds[0]]
    entry = made(item=item)
    if rule.reading.startswith("region_"):
        field = {"region_iou": "expected_iou"}.get(rule.reading, rule.reading.removeprefix("region_"))
        region = entry.examined.region
        assert region is not None
        evidence = region.evidence.model_copy(update={field: bad})
        changed = region.model_copy(update={"evidence": evidence})
        entry = replace(entry, examined=replace(entry.examined, region=changed))
    elif rule.reading in GOOD:
        broken: dict[str, Any] = {rule.reading: bad}
        entry = made(item=item, **broken)
    else:
        entry = replace(entry, judgement=entry.judgement.model_copy(update={rule.reading: bad}))
    if rule.scope == "pair" and rule.reading in GOOD:
        values = [value.model_copy(update={"sensor_id": None}) for value in entry.examined.measurements.values]
        measurements = entry.examined.measurements.model_copy(update={"values": tuple(values)})
        entry = replace(entry, examined=replace(entry.examined, measurements=measurements))

    found = decided([entry])

    assert not found.approved
    assert found.reason_code == rule.code
    assert found.subset == "auxiliary"
    (finding,) = found.findings
    assert finding.value == pytest.approx(bad)
    assert finding.limit == (rule.at_least if rule.at_least is not None else rule.at_most)


def test_a_required_value_that_is_missing_speaks_against_the_pair_and_another_does_not() -> None:
    assert codes(decided([made(mask_iou_expected=None)])) == ["off_placement"]
    assert decided([made(contact_offset_m=None, height_ratio=None, ring_exposure=None)]).approved


def test_scopes_say_how_many_views_must_hold() -> None:
    each = Rule(code="a", reading="changed_inside", at_least=5, scope="every_view")
    either = Rule(code="b", reading="changed_inside", at_least=5, scope="any_view")

    assert each.check([9, 9]) is None
    assert each.check([9, 1]).value == 1  # pyright: ignore[reportOptionalMemberAccess]
    assert either.check([9, 1]) is None
    assert either.check([2, 1]).value == 2  # pyright: ignore[reportOptionalMemberAccess]
    assert each.check([]) is None


def test_a_rule_with_two_limits_names_the_one_that_broke() -> None:
    rule = Rule(code="scale", reading="height_ratio", at_least=0.5, at_most=2, scope="every_view")

    low, high = rule.check([0.1]), rule.check([3.0])

    assert (low and low.limit, high and high.limit) == (0.5, 2)


def test_rules_for_other_kinds_do_not_apply(tmp_path: Path) -> None:
    only_surfaces = Rule(code="no", reading="visible_area_px", at_least=1e9, scope="any_view", kinds=("surface",))
    item = contested([made()])

    assert decide(item, DecideSettings(rules=(only_surfaces,))).approved
    assert not decide(item, DecideSettings(rules=(only_surfaces.model_copy(update={"kinds": ("standing",)}),))).approved


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reading": "beauty", "scope": "pair", "at_least": 1}, "scope pair knows no 'beauty'"),
        ({"reading": "views_missing", "scope": "any_view", "at_most": 1}, "scope any_view knows no 'views_missing'"),
        ({"reading": "height_ratio", "scope": "any_view"}, "needs at_least or at_most"),
    ],
)
def test_a_rule_that_cannot_be_applied_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rule(code="x", **fields)


def test_rules_with_one_code_are_refused() -> None:
    with pytest.raises(ValueError, match="rules share a code: near_copy"):
        DecideSettings(rules=(DEFAULT_RULES[1], DEFAULT_RULES[1]))


def test_a_judge_who_does_not_qualify_is_told_first() -> None:
    found = decided([made(qualified=False, contact_offset_m=9.0)])

    assert codes(found) == ["not_qualified", "floating_or_sunk"]
    assert found.findings[0].value == "as said"
    assert found.reason_code == "not_qualified"


def test_a_person_overrules_rules_in_both_directions() -> None:
    bad, good = made(qualified=False, contact_offset_m=9.0), made()

    saved, dropped = decided([bad], [person(bad, True)]), decided([good], [person(good, False)])

    assert (saved.approved, saved.subset, saved.reason_code, saved.decided_by) == (
        *(True, "benchmark", "approved", "human"),
    )
    assert codes(saved) == ["human_approved", "not_qualified", "floating_or_sunk"]
    assert (dropped.approved, dropped.subset, dropped.reason_code, dropped.decided_by) == (
        *(False, "auxiliary", "human_rejected", "human"),
    )
    assert dropped.findings[0].value == "looked at it"


@pytest.mark.parametrize("code", ["background_touched", "nothing_changed", "hazard_in_no_view"])
def test_nobody_approves_a_hard_failure(code: str) -> None:
    entry = made(hard=(code,))

    found = decided([entry], [person(entry, True)])

    assert not found.approved
    assert found.subset == "none"
    assert found.reason_code == code
    assert found.decided_by == "rules"
    assert "human_approved" in codes(found)


def test_nobody_approves_a_pair_without_a_region_but_its_pixels_are_sound() -> None:
    entry = made(region=False)

    found = decided([entry], [person(entry, True)])

    assert (found.approved, found.subset, found.reason_code) == (False, "auxiliary", "no_region")


def test_a_screened_out_combination_is_auxiliary_at_best() -> None:
    entry = made()
    screening = SCREENED.screening.model_copy(update={"suitable": False, "reason_code": "ego_standing"})
    edited = replace(entry.examined.edited, screened=Screened(SCREENED.combination, screening))
    entry = replace(entry, examined=replace(entry.examined, edited=edited))

    found = decided([entry], [person(entry, True)])

    assert (found.approved, found.subset, found.reason_code) == (False, "auxiliary", "screened_out")
    assert found.findings[0].value == "ego_standing"


def test_a_pair_without_a_judged_candidate_is_rejected_with_a_reason() -> None:
    item = replace(contested([made()]), candidates=())

    outcome = only(DecideStage().process([item]))

    assert not outcome.kept
    assert outcome.reason_code == "no_judged_candidate"
    assert outcome.record.edit_digest is None
    assert outcome.record.subset == "none"


def test_decisions_about_other_edits_are_named_and_those_about_other_pairs_left_out() -> None:
    entry = made()
    stale = Human(pair_id=PAIR, edit_digest="e" * 64, approve=False, reason="old")
    foreign = Human(pair_id=PAIR.replace("0001", "0002"), edit_digest="e" * 64, approve=False, reason="other")

    found = decided([entry], [stale, foreign])

    assert found.approved
    assert found.decided_by == "rules"
    assert [(finding.code, finding.value) for finding in found.findings] == [("human_decision_unused", "e" * 64)]


def test_two_decisions_about_one_candidate_are_refused() -> None:
    entry = made()

    with pytest.raises(PermanentFailureError, match="keep one line") as raised:
        decided([entry], [person(entry, True), person(entry, False)])

    assert raised.value.reason_code == "human_decisions_repeated"


def test_the_best_candidate_is_chosen() -> None:
    broken, weak, good, better = made(0, hard=("nothing_changed",)), made(1, qualified=False), made(2, 0.9), made(3)

    def chosen(*entries: Judged, human: tuple[Human, ...] = ()) -> int:
        digest = decided(entries, human).edit_digest
        return next(
            entry.examined.edited.candidate.attempt for entry in entries if entry.judgement.edit_digest == digest
        )

    assert chosen(broken, weak, good, better) == 3
    assert chosen(broken, weak, good) == 2
    assert chosen(broken, weak) == 1
    assert chosen(good, better, human=(person(better, False),)) == 2
    assert chosen(good, better, human=(person(good, True),)) == 2
    assert chosen(weak, better, human=(person(weak, True),)) == 1
    assert chosen(made(5), made(4)) == 4


def test_settings_inputs_and_people_decide_the_key() -> None:
    item = contested([made()])
    stricter = DecideStage(DecideSettings(rules=DEFAULT_RULES[:3]))
    stage = DecideStage()

    assert len({stage.key(item), stricter.key(item), stage.key(contested([made()], [person(made(), True)]))}) == 3
    assert stage.identity(item) == PAIR
    assert stage.strata(item).family == "lane_blockage"


CANDIDATES = st.lists(
    st.builds(
        dict,
        score=st.sampled_from([0.0, 0.5, 1.0]),
        hard=st.sampled_from([(), (), ("nothing_changed",), ("background_touched", "hazard_in_no_view")]),
        qualified=st.booleans(),
        region=st.booleans(),
        contact_offset_m=st.sampled_from([None, 0.0, 9.0]),
        mask_iou_expected=st.sampled_from([None, 0.1, 0.9]),
    ),
    min_size=1,
    max_size=4,
)
OPINIONS = st.lists(st.sampled_from([None, True, False]), min_size=4, max_size=4)


@settings(max_examples=150, deadline=None)
@given(described=CANDIDATES, opinions=OPINIONS)
def test_verdicts_keep_their_promises(described: list[dict[str, Any]], opinions: list[bool | None]) -> None:
    entries = [made(number, **fields) for number, fields in enumerate(described)]
    people = [person(entry, said) for entry, said in zip(entries, opinions, strict=False) if said is not None]

    found = decided(entries, people)

    said = {human.edit_digest: human.approve for human in people}
    chosen = next(entry for entry in entries if entry.judgement.edit_digest == found.edit_digest)
    barred = bool(chosen.judgement.hard_failures) or chosen.examined.region is None
    assert found.approved == (found.subset == "benchmark") == (found.reason_code == "approved")
    assert not (found.approved and barred)
    assert (found.subset == "none") == bool(chosen.judgement.hard_failures)
    if not barred and found.edit_digest in said:
        assert found.approved == said[found.edit_digest]
        assert found.decided_by == "human"
    if not found.approved:
        assert found.findings
        for entry in entries:
            usable = not entry.judgement.hard_failures and entry.examined.region is not None
            assert not (usable and said.get(entry.judgement.edit_digest) is True)
            assert chosen.judgement.hard_failures == () or entry.judgement.hard_failures
    for order in itertools.islice(itertools.permutations(entries), 6):
        assert decided(list(order), people[::-1]) == found


@pytest.mark.parametrize(
    ("task", "placed", "drawn", "painter", "code"),
    [
        (TRUCK, truck(), truck(), {}, "approved"),
        (TRUCK, truck(12, 4.5), truck(12, 4.5), {}, "approved"),
        (PEDESTRIAN, pedestrian(), pedestrian(), {}, "approved"),
        (HOLE, hole(), hole(), {}, "approved"),
        (TRUCK, truck(), truck(16), {}, "not_qualified"),
        (TRUCK, truck(), truck(12, 3.5), {}, "not_qualified"),
        (TRUCK, truck(), truck(lift=1.0), {}, "not_qualified"),
        (PEDESTRIAN, pedestrian(), pedestrian(lift=0.3), {}, "not_qualified"),
        (PEDESTRIAN, pedestrian(), pedestrian(y=1.5), {}, "not_qualified"),
        (PEDESTRIAN, pedestrian(), pedestrian(scale=2), {}, "not_qualified"),
        (HOLE, hole(), hole(16, 1), {}, "not_qualified"),
        (TRUCK, truck(), truck(), {"background": 70}, "wrong_exposure"),
        (TRUCK, truck(), truck(), {"background": 6}, "visible_seam"),
        (TRUCK, truck(), truck(), {"margin_px": 1}, "clipped_by_mask"),
        (TRUCK, truck(), truck(), {"level": 235}, "too_light"),
        (TRUCK, truck(), truck(), {"level": 10}, "too_dark"),
        (PEDESTRIAN, pedestrian(22, 9), pedestrian(22, 9), {}, "off_road"),
        (TRUCK, truck(), truck(), {"stray_px": 1}, "background_touched"),
        (TRUCK, truck(), truck(), {"level": -1}, "nothing_changed"),
        (TRUCK, truck(), truck(-20), {}, "hazard_in_no_view"),
        (TRUCK, truck(12, 4.5), {"CAM_FRONT": truck(9, 4.5), "CAM_FRONT_LEFT": truck(12, 4.5)}, {}, "no_region"),
    ],
)
def test_the_chain_approves_good_edits_and_rejects_each_bad_one(
    task: str, placed: Placement, drawn: Placement, painter: dict[str, int], code: str, tmp_path: Path
) -> None:
    blobs = Blobs(str(tmp_path))
    look: dict[str, Any] = {"level": 70, "grain": 4.0, **painter}
    item = Painter(blobs, **look).edited(screened(task, placed), drawn)

    found = decided([judged(item, blobs)])

    assert found.reason_code == code
    assert found.approved == (code == "approved")


def test_golden_payloads() -> None:
    weak, broken = made(1, qualified=False, contact_offset_m=2.5), made(2, hard=("nothing_changed",))
    cases: dict[str, Contested] = {
        "approved": contested([weak, made(0)]),
        "rejected": contested([weak, broken]),
        "overruled": contested([weak], [person(weak, True)]),
        "nothing_judged": replace(contested([weak]), candidates=()),
    }
    for name, item in cases.items():
        check_golden(DecideStage, name, only(DecideStage().process([item])).record)
