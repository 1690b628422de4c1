"""Items of the hazard chain: their ids, and inputs that change with everything they rest on and nothing else."""

from dataclasses import replace

from data_registry import identity
from prompts.taxonomy import choose, load_taxonomy
from tasks.items import Combination, Contested, Edited, Examined, Judged, Screened
from tasks.stage import Strata
from tests import samples

(TASK,) = choose(load_taxonomy(), ("occluded_pedestrian",))
COMBINATION = Combination(samples.KEYFRAME, TASK)
SCREENED = Screened(COMBINATION, samples.SCREENING)
EDITED = Edited(SCREENED, samples.CANDIDATE)
EXAMINED = Examined(EDITED, samples.MEASUREMENTS, samples.REGION)
JUDGED = Judged(EXAMINED, samples.JUDGEMENT)
CONTESTED = Contested(SCREENED, samples.EDIT, (JUDGED,), (samples.HUMAN,))


def test_a_combination_has_the_pairs_id_and_its_strata() -> None:
    assert COMBINATION.id == samples.PAIR
    assert COMBINATION.strata == Strata("scene-0001", "sudden_emergence", "val")
    assert EDITED.id == f"{samples.PAIR}@{samples.CANDIDATE.edit_digest[:12]}"


def test_each_item_adds_the_digests_of_what_it_adds() -> None:
    assert COMBINATION.inputs == (samples.KEYFRAME.payload_digest, TASK.payload_digest)
    assert SCREENED.inputs == (*COMBINATION.inputs, samples.SCREENING.payload_digest)
    assert EDITED.inputs == (*SCREENED.inputs, samples.CANDIDATE.edit_digest)
    assert EXAMINED.inputs == (
        *EDITED.inputs,
        samples.MEASUREMENTS.payload_digest,
        samples.REGION.payload_digest,
    )
    assert JUDGED.inputs == (*EXAMINED.inputs, samples.JUDGEMENT.payload_digest)


def test_no_region_is_an_input_of_its_own() -> None:
    without = replace(EXAMINED, region=None)
    assert without.inputs[:-1] == EXAMINED.inputs[:-1]
    assert without.inputs[-1] == identity.digest(None)


def test_a_decision_rests_on_every_candidate_and_every_human_word() -> None:
    second = replace(JUDGED, judgement=samples.JUDGEMENT.model_copy(update={"realism": 0.1}))
    other_word = samples.HUMAN.model_copy(update={"approve": True})
    variants = [
        CONTESTED,
        replace(CONTESTED, candidates=()),
        replace(CONTESTED, candidates=(second,)),
        replace(CONTESTED, candidates=(JUDGED, second)),
        replace(CONTESTED, candidates=(second, JUDGED)),
        replace(CONTESTED, human=()),
        replace(CONTESTED, human=(other_word,)),
    ]
    assert len({variant.inputs for variant in variants}) == len(variants)
    assert replace(CONTESTED).inputs == CONTESTED.inputs
