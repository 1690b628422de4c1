"""What the stages behind screen say about a pair: edits, measurements, regions, judgements and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import shapely
from pydantic import Field, model_validator

from data_registry import identity
from data_registry.records.base import UPGRADERS, Metres, Quad, Record, Sha256

LEAST_REGION_M2: Final = 0.05
"""Smallest area of a region (DESIGN section 5)."""

BLOB_FIELDS: Final = ("edited", "edit_mask", "object_mask")
"""Fields of records that name blobs; every other digest is of something that the store does not keep."""


class ViewEdit(Record):
    """One edited view: the crop that differs from the source, and its two masks, all of the window's size."""

    sensor_id: str
    frame_offset: Annotated[int, Field(le=0)] = 0
    source_sha256: Sha256
    """Digest of the source picture file."""
    window: tuple[int, int, int, int]
    """Left, top, right, bottom of the crop in the source picture, pixels, right and bottom exclusive."""
    edited: Sha256
    """Blob: RGB PNG of the window, zero where edit_mask is 0."""
    edit_mask: Sha256
    """Blob: 8-bit PNG, 255 where pixels may differ."""
    object_mask: Sha256
    """Blob: 8-bit PNG, 255 where the hazard is seen."""


class Candidate(Record):
    """One try at an edit, over all its views."""

    seed: Annotated[int, Field(ge=0, lt=2**53)]
    attempt: Annotated[int, Field(ge=0)]
    views: Annotated[tuple[ViewEdit, ...], Field(min_length=1)]
    """In the order in which they were edited; each picture at most once."""

    @model_validator(mode="after")
    def _once(self) -> Candidate:
        pictures = [(view.sensor_id, view.frame_offset) for view in self.views]
        twice = sorted({picture for picture in pictures if pictures.count(picture) > 1})
        if twice:
            raise ValueError(f"a candidate edits a picture once, not {twice[0][0]} at frame {twice[0][1]} twice")
        return self

    @property
    def edit_digest(self) -> identity.Digest:
        """Digest of this candidate's payload: what human decisions and later stages refer to."""
        return self.payload_digest


class Edit(Record):
    """All candidates of one pair."""

    schema_version: Literal[1] = 1
    pair_id: str
    candidates: Annotated[tuple[Candidate, ...], Field(min_length=1)]


class Measurement(Record):
    """One value about one candidate; thresholds and verdicts belong to decide."""

    check: str
    sensor_id: str | None
    """None: about all views together."""
    value: float | None
    """None: not applicable, for the reason in `note`."""
    note: str = ""


class Measurements(Record):
    """All measurements of one candidate, sorted by check, then sensor."""

    schema_version: Literal[1] = 1
    pair_id: str
    edit_digest: Sha256
    values: tuple[Measurement, ...]

    def of(self, check: str) -> tuple[Measurement, ...]:
        """Return the measurements of one check."""
        return tuple(value for value in self.values if value.check == check)


class LocalizationEvidence(Record):
    """What the region was found from, and how far it is from what was intended."""

    method: str
    sensor_ids: tuple[str, ...]
    centre_offset_m: Metres | None
    """Distance between the centres of found and expected region."""
    expected_iou: float | None
    """Intersection over union of found and expected region."""
    area_ratio: float
    """Area of the region over the area of the shape that its quad was drawn around."""
    unexplained: float | None = None
    """What the worst view leaves unexplained by the hazard that was found: half the sum of squares, in standard
    deviations. None where nothing was fitted."""


class Region(Record):
    """Ground occupied, or to be kept free, during the whole horizon; ego frame at time 0."""

    schema_version: Literal[2] = 2
    pair_id: str
    edit_digest: Sha256
    quad: Quad
    kind: Literal["occupied", "non_drivable", "conflict", "no_go"]
    clearance_m: Annotated[float, Field(gt=0)]
    evidence: LocalizationEvidence

    @model_validator(mode="after")
    def _shaped(self) -> Region:
        shape = shapely.Polygon(self.quad)
        if not shape.is_valid or not shape.exterior.is_ccw or shape.area < LEAST_REGION_M2:
            raise ValueError(f"a region's quad must be simple, counter-clockwise and at least {LEAST_REGION_M2} m2")
        if self.kind != "conflict" and shape.convex_hull.area - shape.area > 1e-6 * shape.area:
            raise ValueError("a region's quad must be convex, unless it is a conflict area")
        return self


def _without_residual(content: Mapping[str, Any]) -> dict[str, Any]:
    """Version 1 did not say what views leave unexplained: it stays None."""
    return {**content, "schema_version": 2}


UPGRADERS[Region] = {1: _without_residual}


class Judgement(Record):
    """What a judge, rules or a VLM, says about one candidate."""

    schema_version: Literal[1] = 1
    pair_id: str
    edit_digest: Sha256
    asked: bool
    """False: a hard failure came first, and the judge was not asked."""
    hard_failures: tuple[str, ...]
    qualified: bool
    task_correct: bool
    physics_valid: bool
    background_preserved: bool
    task_confidence: Annotated[float, Field(ge=0, le=1)]
    realism: Annotated[float, Field(ge=0, le=1)]
    action_determinacy: Annotated[float, Field(ge=0, le=1)]
    reason: str


class Finding(Record):
    """One rule that a decision rests on: what was measured, against which limit."""

    code: str
    value: float | bool | str | None
    limit: float | bool | str | None


class Decision(Record):
    """The verdict on one pair; decide alone makes these."""

    schema_version: Literal[1] = 1
    pair_id: str
    approved: bool
    subset: Literal["benchmark", "auxiliary", "none"]
    edit_digest: Sha256 | None
    """The chosen candidate; None when there is none."""
    reason_code: str
    """`approved`, or the code of the first finding against it."""
    findings: tuple[Finding, ...]
    """Everything that speaks against the pair, or was overruled; empty when nothing does."""
    decided_by: Literal["rules", "human"]


class Human(Record):
    """One human decision about one candidate."""

    pair_id: str
    edit_digest: Sha256
    approve: bool
    reason: str
