"""Predict: what a planner says to each case of a release's benchmark.

A prediction depends on the planner, the keyframe and the pictures, and on the region only for planners that say that
they know it; never on the release around the pair. So a new release costs only the cases whose pictures are new, and
the region is withheld from everybody else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from pydantic import ValidationError

from data_registry import identity
from data_registry.evaluation import PairRegion
from data_registry.records import Prediction
from data_registry.trajectories import flaw_of
from models.planners.answers import FLAWS, without_trajectory
from models.planners.planner import Case, Planner
from tasks.stage import Outcome, Stage, StageResults, Strata


class WrongAnswerError(ValueError):
    """A planner answered another case than the one it was asked."""


class PredictStage(Stage[Case, Prediction]):
    """Asks a planner about one case; keeps trajectories that can be scored, other answers are rejected with why."""

    name: ClassVar[str] = "predict"
    version: ClassVar[int] = 1
    record = Prediction

    def __init__(self, planner: Planner) -> None:
        """Remember who is asked."""
        self.backend = planner
        self._planner = planner

    def identity(self, item: Case) -> str:
        """Return `<pair id>:<variant>`."""
        return item.id

    def inputs(self, item: Case) -> tuple[identity.Digest, ...]:
        """Return the digests of which case it is, keyframe and pictures, and of the region if the planner knows it."""
        which = identity.digest([item.pair_id, item.variant])
        region = (region_digest(item.region),) if self._planner.knows_region else ()
        return which, item.keyframe.payload_digest, item.inputs_sha256, *region

    def strata(self, item: Case) -> Strata:
        """Return what the pair counts under."""
        return Strata(item.region.scene, item.region.family, item.region.split)

    def process(self, items: Sequence[Case]) -> Iterable[Outcome[Prediction]]:
        """Yield the answer to each case.

        Raises:
            WrongAnswerError: the planner answered another case.
            Exception: whatever the planner raises is a try that failed.
        """
        for case in items:
            asked = case if self._planner.knows_region else _without_region(case)
            record = _checked(case, self._planner.predict(asked))
            yield Outcome(record, record.status == "ok", "predicted" if record.status == "ok" else record.status)


def region_digest(region: PairRegion) -> identity.Digest:
    """Return the digest of what an oracle sees: corners and required clearance."""
    return identity.digest([region.quad.tolist(), region.clearance_m])


def predictions(results: StageResults[Case, Prediction]) -> list[Prediction]:
    """Return the answers in the order of the cases, each bound to the release that its case is from.

    Cases without an answer are left out: their planner failed on every try.
    """
    return [
        entry.record.model_copy(update={"component_digest": entry.item.component_digest})
        for entry in results.settled
        if entry.record is not None
    ]


def _without_region(case: Case) -> Case:
    hidden = np.full_like(case.region.quad, np.nan)
    return dataclasses.replace(case, region=dataclasses.replace(case.region, quad=hidden, clearance_m=float("nan")))


def _checked(case: Case, answer: Prediction) -> Prediction:
    """Return what is stored of an answer: never a trajectory that cannot be scored, never the release's digest."""
    told = (answer.pair_id, answer.variant, answer.inputs_sha256)
    if told != (case.pair_id, case.variant, case.inputs_sha256):
        raise WrongAnswerError(f"asked about {case.id}, the planner answered {answer.pair_id}:{answer.variant}")
    try:
        found = Prediction.model_validate(answer.model_dump() | {"component_digest": None})
    except ValidationError as error:
        # made past the record's own checks, e.g. with NaN
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"][:2]))
        return _failed(case, f"{where or 'the answer'}: {problem['msg']}"[:200])
    if found.status != "ok":
        return found
    headings = None if found.heading is None else np.array(found.heading)
    flaw = flaw_of(np.array(found.t), np.array(found.xy), headings)
    return found if flaw is None else _failed(case, FLAWS[flaw])


def _failed(case: Case, reason: str) -> Prediction:
    return without_trajectory(case, "error", reason).model_copy(update={"component_digest": None})
