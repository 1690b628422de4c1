"""A small calibration: of some rendered edits, each fault is caught by a rule that is for it, and good ones pass."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.calibration.cases import GOOD, Case, Share, Workshop, cases
from benchmarks.calibration.chart import chart
from benchmarks.calibration.page import PageError, curves, faults_table, limits_table, replaced
from benchmarks.calibration.roc import FOR, Curve, findings
from benchmarks.check_calibration import PAGE, PICTURE, RULES
from data_registry.blobs import Blobs
from data_registry.sources.nuscenes import NuScenes
from data_registry.sources.source import Request
from data_registry.sources.streetset.writer import VERSION
from models.screeners import RuleScreener
from qa_audit.checks import CHECKS
from tasks.items import Combination, Screened
from tasks.screen import ScreenStage
from tests.verdict_cases import HOLE, TASKS, only

pytestmark = pytest.mark.timeout(600)

ITEMS = (("scene-9002", "construction_closure"), ("scene-9007", "broken_down_car"), ("scene-9003", HOLE))
"""By day, at night and at dusk; the first is also drawn where two views see it, the second half hidden."""
FAULTS = sorted({fault for faults in FOR.values() for fault in faults})


@pytest.fixture(scope="module")
def made(street_root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """The good edit of each item, and every fault and trifle at its strongest."""
    folder = tmp_path_factory.mktemp("calibration")
    source = NuScenes(street_root, VERSION, folder / "index", "streetset")
    workshop = Workshop.of(source, Blobs(str(folder / "blobs")))
    keyframes = {keyframe.scene: keyframe for keyframe in source.select(Request()).keyframes}
    found: list[Case] = []
    for number, (scene, task) in enumerate(ITEMS):
        combination = Combination(keyframes[scene], TASKS[task])
        screening = only(ScreenStage(RuleScreener()).process([combination])).record
        assert screening.suitable
        found += cases(workshop, Screened(combination, screening), Share(number, 1, strongest=True))
    return found


def test_good_edits_pass_every_rule_and_nearly_all_that_are_off_by_a_trifle(made: list[Case]) -> None:
    drawn, trifles = ([case for case in made if case.is_good and (case.fault == GOOD) == so] for so in (True, False))

    assert len(drawn) == len(ITEMS)
    assert [(case.pair_id, findings(RULES, case)) for case in drawn if findings(RULES, case)] == []
    assert len(trifles) > 20
    broken = {case.fault: findings(RULES, case) for case in trifles if findings(RULES, case)}
    assert broken == {"sent through JPEG": ("wrong_grain",)}, "it takes away the grain of the night"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_strong_fault_is_caught_by_a_rule_that_is_for_it(fault: str, made: list[Case]) -> None:
    own = {code for (code, _), faults in FOR.items() if fault in faults}
    ours = [case for case in made if case.fault == fault]

    assert ours
    assert any(own & set(findings(RULES, case)) for case in ours)


def test_every_check_has_a_limit_and_a_fault_that_it_is_for() -> None:
    limited = {rule.reading for rule in RULES if any(code == rule.code for code, _ in FOR)}

    assert limited == {check.name for check in CHECKS}


def test_every_limit_that_a_fault_is_for_can_be_broken_by_it(made: list[Case]) -> None:
    caught = defaultdict[str, set[str]](set)
    for case in made:
        caught[case.fault] |= set(findings(RULES, case))

    missed = {code for (code, _), faults in FOR.items() if not any(code in caught[fault] for fault in faults)}

    assert missed == {"hanging_off_place"}, "none of these items hangs above the ground"


def test_the_tables_show_every_limit_and_fault(made: list[Case]) -> None:
    every = curves(RULES, made)
    held_out = curves(RULES, [case for case in made if case.fault != GOOD])
    limits, faults = limits_table(every, held_out), faults_table(RULES, made)

    assert {curve.rule.code for curve in every} == {code for code, _ in FOR}
    assert all(f"`{code}`" in limits for code, _ in FOR)
    assert all(f"| {fault} |" in faults for fault in FAULTS)
    assert faults.splitlines()[2].startswith(f"| {GOOD} |  | {len(ITEMS)} |")
    *_, passed, caught = limits.splitlines()[2].split(" | ")
    good = sum(case.is_good and case.fault != GOOD and "background_touched_px" in case.values for case in made)
    assert (passed, caught) == (f"100.0% of {good}", f"100% of {len(ITEMS)} |"), "what is held out stands at the end"


def test_what_is_held_out_has_strengths_between_those_that_limits_were_chosen_on() -> None:
    held_out = Share(0, 1, between=True)

    assert held_out.of((1.0, 2.0, 4.0)) == [1.5, 3.0]
    assert held_out.of((0.9,)) == (0.9,)
    assert Share(0, 1).of((1.0, 2.0, 4.0)) == (1.0, 2.0, 4.0)


def test_the_area_under_a_curve_is_the_chance_of_a_worse_score() -> None:
    scores = np.array([-1.0, -0.5, 0.0, 0.5]), np.array([0.0, 0.5, 1.0])
    found = Curve(RULES[0], "at_most", *scores, (4, 1))

    assert found.area == pytest.approx((2.5 + 3.5 + 4.0) / 12)  # of 12 pairs; a tie counts half
    assert found.passed == pytest.approx(1 - 1 / 8)
    assert found.caught == pytest.approx(2 / 4)
    assert found.points()[-1].tolist() == [1.0, 1.0]
    assert replace(found, good=scores[0][:0]).area is None


def test_the_picture_shows_all_curves_without_steps_in_size(made: list[Case]) -> None:
    drawn = chart(curves(RULES, made))

    assert 900 < drawn.width < 1400
    assert 600 < drawn.height < 1600


def test_the_page_has_the_sections_that_the_script_writes_and_another_is_refused() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert PICTURE.name in page
    assert "\nnew\n" in replaced(replaced(page, "limits", "new"), "faults", "other")
    with pytest.raises(PageError, match="add one"):
        replaced(page, "costs", "none")


def test_the_page_names_every_check(made: list[Case]) -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert all(f"| `{check.name}` | {check.unit.removesuffix(' of 255')} |" in page for check in CHECKS)
