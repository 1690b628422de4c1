"""The chain's wiring: what each stage gets from the stages before it, and that nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from data_registry.ledger import Ledger
from data_registry.records import Human
from data_registry.sources.source import Selection
from models.screeners import RuleScreener
from tasks.auxiliary import AuxiliarySettings
from tasks.construction import (
    DRAWN_STEPS,
    STAGES,
    STEPS,
    Construction,
    combinations,
    stage_of,
    to_decide,
    to_edit,
    to_judge,
    to_measure,
)
from tasks.publication import Publication
from tasks.screen import ScreenStage
from tasks.stage import DrainOptions, StageResults, Unsettled, drain, look_up
from tests import street
from tests.tasks.publications import DRAWN_ENDS, build, task
from tests.tasks.replay import replayed


@pytest.fixture
def chain(tmp_path: Path) -> Publication:
    """Six combinations, each with another end: see ENDS."""
    return build(tmp_path)


def test_every_keyframe_meets_every_task_keyframe_by_keyframe(chain: Publication) -> None:
    tasks = (task(1), task(0))
    found = combinations(chain.selection, tasks)
    assert [(entry.keyframe, entry.task) for entry in found] == [
        (keyframe, one) for keyframe in chain.selection.keyframes for one in tasks
    ]


def test_only_suitable_combinations_are_edited(chain: Publication) -> None:
    got = to_edit(chain.screened)
    assert [item.combination for item in got] == [entry.item for entry in chain.screened.kept]
    assert all(item.screening.suitable for item in got)
    assert len(got) == len(chain.screened.settled) - 1


def test_every_candidate_of_every_edit_is_measured(chain: Publication) -> None:
    got = to_measure(chain.edited)
    assert [item.id for item in got] == [entry.id for entry in chain.measured.settled]
    assert len(got) == sum(len(entry.record.candidates) for entry in chain.edited.kept if entry.record)


def test_a_candidate_without_a_region_is_judged_and_one_that_is_not_located_yet_waits(chain: Publication) -> None:
    got = to_judge(chain.measured, chain.localized)
    assert [item.edited.id for item in got] == [entry.id for entry in chain.measured.settled]
    assert sum(item.region is None for item in got) == 1
    first, *rest = chain.localized.settled
    waiting = to_judge(chain.measured, replace(chain.localized, settled=tuple(rest)))
    assert {item.edited.id for item in got} - {item.edited.id for item in waiting} == {first.id}
    unmeasured = replace(chain.measured, settled=chain.measured.settled[1:])
    assert len(to_judge(unmeasured, chain.localized)) == len(got) - 1


def test_every_edited_pair_is_decided_with_its_own_candidates_and_decisions(chain: Publication) -> None:
    pair = chain.edited.kept[0]
    human = tuple(
        Human(pair_id=name, edit_digest="0" * 64, approve=False, reason="no")
        for name in (pair.id, "streetset/town/none/occluded_pedestrian")
    )
    got = to_decide(chain.edited, chain.judged, human)
    assert [item.screened.combination.id for item in got] == [entry.id for entry in chain.edited.kept]
    assert [item.human for item in got] == [(human[0],), *[()] * (len(got) - 1)]
    for item in got:
        assert [one.examined.edited.candidate for one in item.candidates] == list(item.edit.candidates)
    unjudged = to_decide(chain.edited, StageResults("judge", (), ()), ())
    assert [item.candidates for item in unjudged] == [()] * len(got)


def test_each_stage_gets_its_items_once_the_stages_before_it_are_settled(chain: Publication) -> None:
    work = Construction(chain.selection, (task(0), task(1)), (), chain.stages, AuxiliarySettings(size=0))
    for results in chain.results:
        assert [entry.item for entry in results.settled] == work.items(results.stage) or results.stage == "decide"
        work.results[results.stage] = results
    assert tuple(work.results) == STAGES
    for step in DRAWN_STEPS:
        assert work.items(step) == []
        work.results[step] = StageResults(stage_of(step), (), ())
    with pytest.raises(KeyError, match="no step 'paint'"):
        work.items("paint")


def test_a_stage_whose_predecessors_are_missing_is_no_empty_stage(chain: Publication) -> None:
    work = Construction(chain.selection, (task(0),), (), chain.stages)
    for step in STEPS[1:]:
        with pytest.raises(KeyError):
            work.items(step)


def test_catching_up_reads_what_others_settled_and_works_on_nothing(tmp_path: Path) -> None:
    selection = Selection((street.keyframe(),), ())
    work = Construction(selection, (task(0), task(1)), (), {"screen": ScreenStage(RuleScreener())})
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    work.catch_up("edit", ledger)
    assert len(work.results["screen"].unsettled) == 2
    assert work.items("edit") == []
    drain(work.stages["screen"], work.items("screen"), ledger, DrainOptions("run", 3, 60.0, 0.1))
    work.catch_up("edit", ledger)
    assert not work.results["screen"].unsettled
    assert len(work.items("edit")) == len(work.results["screen"].kept)
    ledger.close()


RUN = DrainOptions("run", 3, 60.0, 0.1)


def _settle(work: Construction, ledger: Ledger) -> None:
    for step in STEPS:
        work.results[step] = drain(work.stage(step), work.items(step), ledger, RUN)


@pytest.fixture
def drawing(tmp_path: Path) -> Publication:
    """Two approved pairs, and four screened-out combinations of which three have an outcome when they are edited."""
    return build(tmp_path, ends=DRAWN_ENDS)


def _work(drawing: Publication, size: int = 3) -> Construction:
    asked = AuxiliarySettings(size=size)
    return Construction(drawing.selection, (task(0), task(1)), (), replayed(drawing), asked)


def test_drawn_combinations_go_through_the_same_stages_once_all_else_is_decided(
    drawing: Publication, tmp_path: Path
) -> None:
    work = _work(drawing, size=4)
    _settle(work, Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}"))
    drawn = work.draw()
    assert len(drawn.ids) == drawn.available == 4
    edited = work.items("edit-drawn")
    assert {item.id for item in edited} == drawn.ids
    assert not any(item.screening.suitable for item in edited)
    assert not drawn.ids & {item.id for item in work.items("edit")}
    assert len(work.merged("edit").settled) == len(work.items("edit")) + 4
    assert {entry.id for entry in work.merged("decide").kept}.isdisjoint(drawn.ids)
    assert {item.id for item in work.items("decide-drawn")} < drawn.ids


def test_a_drain_that_only_knows_the_ledger_gets_the_same_items_at_every_step(
    drawing: Publication, tmp_path: Path
) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    work = _work(drawing)
    for step in STEPS:
        other = _work(drawing)
        other.catch_up(step, ledger)
        mine, others = work.items(step), other.items(step)
        assert [work.stage(step).key(item) for item in mine] == [other.stage(step).key(item) for item in others]
        work.results[step] = drain(work.stage(step), mine, ledger, RUN)
    assert work.items("decide-drawn")


def test_another_draw_redoes_nothing_that_is_done(drawing: Publication, tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    few, many = _work(drawing, size=2), _work(drawing, size=4)
    _settle(few, ledger)
    for step in STEPS:
        known = look_up(many.stage(step), many.items(step), ledger)
        assert step in DRAWN_STEPS or not known.unsettled
        assert len(known.settled) == len(few.results[step].settled)
        many.results[step] = drain(many.stage(step), many.items(step), ledger, RUN)
    assert few.draw().ids < many.draw().ids


def test_nothing_is_drawn_while_a_suitable_combination_is_undecided(drawing: Publication, tmp_path: Path) -> None:
    work = _work(drawing)
    _settle(work, Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}"))
    judged = work.results["judge"]
    left = Unsettled(judged.settled[0].id, "TimeoutError")
    work.results["judge"] = replace(judged, settled=judged.settled[1:], unsettled=(left,))
    assert (work.draw().ids, work.draw().waits_for) == (frozenset(), 1)
    assert work.items("edit-drawn") == []
