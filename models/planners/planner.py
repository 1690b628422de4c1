"""What every planner is: a back end that answers cases, one by one, with a trajectory or an honest failure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Protocol

from pydantic import Field

from data_registry import identity
from data_registry.evaluation import PairRegion, Variant
from data_registry.records import Keyframe, Prediction
from models.backend import Backend, IdentitySettings


class PlannerSettings(IdentitySettings, frozen=True):
    """Identity of a planner; `name` is what tables and files call it."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


@dataclass(frozen=True, slots=True)
class CaseView:
    """One picture of a case."""

    sensor_id: str
    frame_offset: int
    """Keyframes before the keyframe, 0 or negative."""
    sha256: identity.Digest
    """Digest of the source picture file, or of the edited pixels where the variant has edited ones."""


@dataclass(frozen=True)
class Case:
    """A pair's source or edited variant, as a planner sees it.

    Both variants of a pair have the same keyframe: same motion, history, map and calibration; only pictures differ.
    """

    variant: Variant
    keyframe: Keyframe
    views: tuple[CaseView, ...]
    """Sorted by sensor, then oldest first."""
    region: PairRegion
    """Where the hazard is: for oracles only, which say so (`Planner.knows_region`)."""
    component_digest: identity.Digest

    @property
    def pair_id(self) -> str:
        """The pair's id."""
        return self.region.pair_id

    @property
    def id(self) -> str:
        """`<pair id>:<variant>`."""
        return f"{self.pair_id}:{self.variant}"

    @cached_property
    def inputs_sha256(self) -> identity.Digest:
        """Digest of [[sensor, offset, sha256], ...] over the pictures: what predictions are bound to."""
        return identity.digest([[view.sensor_id, view.frame_offset, view.sha256] for view in self.views])


class Planner(Backend, Protocol):
    """Answers one case at a time."""

    @property
    def identity_settings(self) -> PlannerSettings:
        """Everything that decides the answers, the name among it."""
        ...

    @property
    def knows_region(self) -> bool:
        """Whether it is an oracle that reads the case's region; reports mark it."""
        ...

    def predict(self, case: Case) -> Prediction:
        """Answer a case.

        A case that lacks what the planner needs is answered `ineligible` with the reason.
        """
        ...
