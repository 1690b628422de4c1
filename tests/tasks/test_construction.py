"""The chain's wiring: what each stage gets from the stages before it, and that nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from data_registry.ledger import Ledger
from data_registry.records import Human
from data_registry.sources.source import Selection
from models.screeners import RuleScreener
from tasks.construction import (
    STAGES,
    Construction,
    combinations,
    to_decide,
    to_edit,
    to_judge,
    to_measure,
)
from tasks.publication import Publication
from tasks.screen import ScreenStage
from tasks.stage import DrainOptions, StageResults, drain
from tests import street
from tests.tasks.publications import build, task


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
    work = Construction(chain.selection, (task(0), task(1)), (), chain.stages)
    for results in chain.results:
        assert [entry.item for entry in results.settled] == work.items(results.stage) or results.stage == "decide"
        work.results[results.stage] = results
    assert tuple(work.results) == STAGES
    with pytest.raises(KeyError, match="no stage 'paint'"):
        work.items("paint")


def test_a_stage_whose_predecessors_are_missing_is_no_empty_stage(chain: Publication) -> None:
    work = Construction(chain.selection, (task(0),), (), chain.stages)
    for stage in STAGES[1:]:
        with pytest.raises(KeyError):
            work.items(stage)


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
