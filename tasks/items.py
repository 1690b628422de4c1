"""What the stages of the hazard chain take: each item is the one before it with one more outcome.

Their `inputs` are the payload digests that outcome keys are made of (DESIGN section 2).
"""

from __future__ import annotations

from dataclasses import dataclass

from data_registry import identity
from data_registry.records import (
    Candidate,
    Edit,
    Human,
    Judgement,
    Keyframe,
    Measurements,
    Region,
    Screening,
)
from prompts.taxonomy import TaskSpec
from tasks.stage import Strata


@dataclass(frozen=True, slots=True)
class Combination:
    """A keyframe and a task: what screen takes."""

    keyframe: Keyframe
    task: TaskSpec

    @property
    def id(self) -> str:
        """`<keyframe id>/<task id>`: also the pair's id."""
        return identity.combination_id(self.keyframe.id, self.task.id)

    @property
    def inputs(self) -> tuple[identity.Digest, ...]:
        """Digests of keyframe and task."""
        return self.keyframe.payload_digest, self.task.payload_digest

    @property
    def strata(self) -> Strata:
        """What the combination counts under."""
        return Strata(self.keyframe.scene, self.task.family, self.keyframe.split)


@dataclass(frozen=True, slots=True)
class Screened:
    """A combination with its screening: what edit takes."""

    combination: Combination
    screening: Screening

    @property
    def id(self) -> str:
        """The pair's id."""
        return self.combination.id

    @property
    def strata(self) -> Strata:
        """What the pair counts under."""
        return self.combination.strata

    @property
    def inputs(self) -> tuple[identity.Digest, ...]:
        """Digests of keyframe, task and screening."""
        return *self.combination.inputs, self.screening.payload_digest


@dataclass(frozen=True, slots=True)
class Edited:
    """One candidate of an edit: what measure and localize take."""

    screened: Screened
    candidate: Candidate

    @property
    def id(self) -> str:
        """`<pair id>@<edit digest>`, the digest cut to 12 digits."""
        return f"{self.screened.combination.id}@{self.candidate.edit_digest[:12]}"

    @property
    def strata(self) -> Strata:
        """What the pair counts under."""
        return self.screened.strata

    @property
    def inputs(self) -> tuple[identity.Digest, ...]:
        """Digests of keyframe, task, screening and candidate."""
        return *self.screened.inputs, self.candidate.edit_digest


@dataclass(frozen=True, slots=True)
class Examined:
    """A candidate with its measurements and region: what judge takes."""

    edited: Edited
    measurements: Measurements
    region: Region | None
    """None: no region could be found."""

    @property
    def id(self) -> str:
        """`<pair id>@<edit digest>`, as the candidate's."""
        return self.edited.id

    @property
    def strata(self) -> Strata:
        """What the pair counts under."""
        return self.edited.strata

    @property
    def inputs(self) -> tuple[identity.Digest, ...]:
        """Digests of the candidate's inputs, measurements and region."""
        region = self.region.payload_digest if self.region else identity.digest(None)
        return *self.edited.inputs, self.measurements.payload_digest, region


@dataclass(frozen=True, slots=True)
class Judged:
    """An examined candidate with its judgement."""

    examined: Examined
    judgement: Judgement

    @property
    def inputs(self) -> tuple[identity.Digest, ...]:
        """Digests of the examined candidate's inputs and judgement."""
        return *self.examined.inputs, self.judgement.payload_digest


@dataclass(frozen=True, slots=True)
class Contested:
    """A pair with all its judged candidates and human decisions: what decide takes."""

    screened: Screened
    edit: Edit
    candidates: tuple[Judged, ...]
    """In the order of the edit's candidates; one that failed on the way is missing."""
    human: tuple[Human, ...]

    @property
    def id(self) -> str:
        """The pair's id."""
        return self.screened.id

    @property
    def strata(self) -> Strata:
        """What the pair counts under."""
        return self.screened.strata

    @property
    def inputs(self) -> tuple[identity.Digest, ...]:
        """Digests of everything that the decision rests on."""
        judged = identity.digest([list(candidate.inputs) for candidate in self.candidates])
        human = identity.digest([decision.payload_digest for decision in self.human])
        return *self.screened.inputs, self.edit.payload_digest, judged, human
