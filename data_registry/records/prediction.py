"""What a planner says to one case: the record of stage predict, and the rows of a predictions file."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from data_registry.records.base import Radians, Record, Seconds, Sha256, Xy


class Prediction(Record):
    """A planner's answer to one case; without a trajectory when there is none, never with an invented one."""

    schema_version: Literal[1] = 1
    pair_id: str
    variant: Literal["source", "edited"]
    status: Literal["ok", "parse_failed", "truncated", "missing", "error", "ineligible"]
    t: tuple[Seconds, ...] = ()
    """Seconds from the keyframe, the first 0; empty unless status is ok."""
    xy: tuple[Xy, ...] = ()
    """Rear axle, ego frame at time 0, the first (0, 0)."""
    heading: tuple[Radians, ...] | None = None
    """Left positive; None: to be derived from the positions."""
    reason: str = ""
    """Why there is no trajectory, in a few words."""
    component_digest: Sha256 | None = None
    """Digest of the release's component `hazards` that the case is from: stated wherever predictions leave the store.
    None in what stage predict stores: the same pictures have the same prediction in every release."""
    inputs_sha256: Sha256
    """Digest of the case's pictures (`Case.inputs_sha256`): what the planner was given to look at."""

    @model_validator(mode="after")
    def _fits(self) -> Prediction:
        if (self.status == "ok") != bool(self.t):
            raise ValueError(f"a prediction has a trajectory exactly when it is ok, got {self.status}")
        if len(self.xy) != len(self.t) or len(self.heading or self.t) != len(self.t):
            raise ValueError("times, positions and headings must be equally many")
        return self
