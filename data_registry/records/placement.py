"""Where a hazard goes and whether it suits its keyframe: what screen says."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import shapely
from pydantic import Field, model_validator

from data_registry.records.base import Quad, Record, Ring
from data_registry.records.keyframe import Box

LEAST_SURFACE_M2: Final = 1e-4
"""A surface hazard with a smaller area is a line or a point."""


class Standing(Record):
    """A hazard that stands on a surface."""

    kind: Literal["standing"] = "standing"
    box: Box
    surface: Literal["road", "pavement"]


class Surface(Record):
    """A hazard that is part of the surface."""

    kind: Literal["surface"] = "surface"
    polygon: Ring

    @model_validator(mode="after")
    def _shaped(self) -> Surface:
        shape = shapely.Polygon(self.polygon)
        if not shape.is_valid or shape.area < LEAST_SURFACE_M2:
            raise ValueError(f"a surface's polygon must not cross itself and have at least {LEAST_SURFACE_M2} m2")
        return self


class Mounted(Record):
    """A hazard fixed above the ground, e.g. a signal head."""

    kind: Literal["mounted"] = "mounted"
    box: Box
    faces: tuple[Literal["front", "back", "left", "right", "top", "bottom"], ...]
    """Faces of the box that show the hazard."""


class Attached(Record):
    """A change to an annotated object, e.g. an opened door."""

    kind: Literal["attached"] = "attached"
    annotation: str
    """Token of the annotation."""
    part: str
    box: Box


Placement = Annotated[Standing | Surface | Mounted | Attached, Field(discriminator="kind")]


class Fact(Record):
    """One measured value that a screening rests on, with the limit that it was held against."""

    name: str
    value: float | bool | str | None
    """None: it could not be measured here."""
    at_least: float | None = None
    at_most: float | None = None
    holds: bool


class Screening(Record):
    """Whether a task suits a keyframe, and where its hazard would go."""

    schema_version: Literal[1] = 1
    combination_id: str
    suitable: bool
    reason_code: str
    """`suitable`, or the code of the first rule that failed."""
    evidence: tuple[Fact, ...]
    views: tuple[str, ...]
    """Sensors that see the placement, largest projection first, then by name."""
    appearance: str | None
    """Name of the task's appearance that was placed."""
    placement: Placement | None
    """Best effort also when unsuitable; None when nothing could be placed."""
    expected_region: Quad | None
    nominal_conflict: Literal["recorded", "lane_keep", "both", "none"]
    """Which nominal paths meet the region within the horizon."""
    required_decel: float | None
    """m/s2 to stop in time after 0.5 s; None when there is no room at all."""
    avoidable: Literal["stop", "pass", "both", "none"]
    path_source: Literal["poses", "can", "samples", "sensor_poses", "straight"]
