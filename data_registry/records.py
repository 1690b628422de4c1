"""What passes between stages: frozen records, each the semantic payload of one outcome.

A record holds only what later stages and readers may depend on; usage, latency, tries, worker and clock live beside it
in the store (DESIGN section 2). Lengths are fixed at 1e-6 m and angles at 1e-9 rad when a record is made; scores stay
float64. A change of meaning raises `schema_version` and adds a pure upgrader to `UPGRADERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self, TypeVar

import numpy as np
import shapely
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from data_registry import identity
from data_registry.geometry import Array, GroundPlane, Transform, box_corners, fit_ground

Metres = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.METRE_STEP))]
Radians = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.RADIAN_STEP))]
Seconds = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.METRE_STEP))]
Unitless = Annotated[float, AfterValidator(lambda value: identity.quantise(value, identity.RADIAN_STEP))]
"""Components of quaternions, intrinsics' ratios and the like: fixed at 1e-9."""
Microseconds = Annotated[int, Field(ge=0, lt=2**53)]
"""Unix time; bounded because canonical JSON carries no larger integer."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Xy = tuple[Metres, Metres]
Xyz = tuple[Metres, Metres, Metres]
Ring = Annotated[tuple[Xy, ...], Field(min_length=3)]
"""Plan outline in the ego frame at time 0, first vertex not repeated."""
Quad = tuple[Xy, Xy, Xy, Xy]
"""Four counter-clockwise plan corners in the ego frame at time 0, first vertex not repeated."""


LEAST_REGION_M2: Final = 0.05
"""Smallest area of a region (DESIGN section 5)."""


class RecordError(ValueError):
    """A stored record cannot be read: it is malformed, or newer than this code."""


class Record(BaseModel):
    """Base of everything that crosses a stage boundary: frozen, closed, finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,))

    @cached_property
    def payload_digest(self) -> identity.Digest:
        """Sha256 of this record's canonical JSON: its semantic identity."""
        return identity.digest(self.model_dump(mode="json"))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with changed fields, validated and quantised like any record, with a digest of its own.

        pydantic's own copy checks nothing and would carry the old `payload_digest` along.
        """
        return type(self).model_validate(
            {name: getattr(self, name) for name in type(self).model_fields} | dict(update or {})
        )


class Pose(Record):
    """A rigid motion child to parent."""

    translation: Xyz
    """Metres, in the parent frame."""
    rotation: tuple[Unitless, Unitless, Unitless, Unitless]
    """Unit quaternion (w, x, y, z)."""

    def transform(self) -> Transform:
        """Return the motion as a Transform; raises GeometryError when it is not a rigid one."""
        return Transform.from_quaternion(self.translation, self.rotation)

    @classmethod
    def of(cls, motion: Transform) -> Pose:
        """Make the record of a Transform."""
        x, y, z = motion.translation.tolist()
        return cls(translation=(x, y, z), rotation=motion.quaternion())


class Box(Record):
    """An oriented box in the ego frame at time 0."""

    centre: Xyz
    """Geometric centre, metres."""
    size: tuple[Metres, Metres, Metres]
    """Length, width, height along the box's own x, y, z, metres, all positive."""
    rotation: tuple[Unitless, Unitless, Unitless, Unitless]
    """Unit quaternion (w, x, y, z), box frame to ego frame."""

    @model_validator(mode="after")
    def _positive(self) -> Box:
        if min(self.size) <= 0:
            raise ValueError(f"box size must be positive, got {self.size}")
        return self

    def pose(self) -> Transform:
        """Return box frame to ego frame; the box frame's origin is the centre."""
        return Transform.from_quaternion(self.centre, self.rotation)

    def corners(self) -> Array:
        """Return the eight corners (8, 3) in the ego frame, bottom four first."""
        return box_corners(self.centre, self.size, self.pose().rotation)

    def footprint(self) -> Array:
        """Return the plan corners (4, 2) of the bottom face, counter-clockwise for an upright box."""
        return self.corners()[:4, :2]


class Annotation(Record):
    """One annotated object of the keyframe."""

    token: str
    instance: str
    """Token of the object over time."""
    category: str
    """nuScenes category, e.g. `vehicle.car`."""
    attributes: tuple[str, ...]
    visibility: str
    """nuScenes visibility level "1" (0-40 %) to "4" (80-100 %)."""
    box: Box
    velocity: Xy | None
    """Ego-frame velocity, m/s; None when neighbouring keyframes do not give one."""


class Camera(Record):
    """One camera reading of the keyframe (frame_offset 0) or of its history (negative)."""

    sensor_id: str
    """Channel, e.g. `CAM_FRONT`."""
    frame_offset: Annotated[int, Field(le=0)]
    """Keyframes before the keyframe, counted negative."""
    timestamp_us: Microseconds
    width: Annotated[int, Field(gt=0)]
    height: Annotated[int, Field(gt=0)]
    sha256: Sha256 | None
    """Digest of the picture file; None when the root lacks the file (history only)."""
    intrinsics: tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
    camera_to_ego: Pose
    """Calibration: camera frame to the ego frame at the camera's own time."""
    ego_to_global: Pose
    """Ego pose at the camera's own time."""


class PathPoint(Record):
    """Ego pose along a path, in the ego frame at time 0."""

    t: Seconds
    """Seconds from the keyframe; negative in the past."""
    x: Metres
    y: Metres
    heading: Radians


class Motion(Record):
    """How the ego vehicle moves around the keyframe."""

    speed: Annotated[float, Field(ge=0), AfterValidator(lambda value: identity.quantise(value, 6))]
    """Forward speed at time 0, m/s."""
    source: Literal["poses", "can", "samples", "sensor_poses"]
    """Where speed and path come from, best first."""
    history: tuple[PathPoint, ...]
    """Keyframes before time 0, oldest first."""
    future: tuple[PathPoint, ...]
    """Recorded path from time 0 on, empty when the log ends here."""


class Area(Record):
    """A polygon of the map, in the ego frame at time 0."""

    exterior: Ring
    holes: tuple[Ring, ...] = ()


class Lane(Record):
    """A lane or lane connector near the keyframe, in the ego frame at time 0."""

    token: str
    area: Area
    centreline: tuple[Xy, ...]
    """Points in driving direction, about 1 m apart; empty when the map gives none."""
    is_connector: bool
    successors: tuple[str, ...]
    """Tokens of the lanes that follow, sorted, also those outside the patch."""


class MapPatch(Record):
    """The map within reach of the keyframe."""

    source: Literal["expansion", "mask", "none"]
    """Best map found: expansion v1.3 (lanes), the drivable mask only, or none."""
    layers_sha256: Sha256
    """Digest of the map's content within the patch, in the map's own frame."""
    drivable: tuple[Area, ...]
    lanes: tuple[Lane, ...] = ()
    crossings: tuple[Area, ...] = ()
    walkways: tuple[Area, ...] = ()
    stop_lines: tuple[Area, ...] = ()
    intersections: tuple[Area, ...] = ()


class Keyframe(Record):
    """Everything about one keyframe that a stage may read, in the ego frame at time 0; no path, no file time."""

    schema_version: Literal[1] = 1
    dataset: Literal["nuscenes", "streetset"]
    scene: str
    token: str
    timestamp_us: Microseconds
    location: str
    split: Literal["train", "val", "test", "none"]
    """The scene's official split."""
    description: str
    ego_to_global: Pose
    """Ego frame at time 0: the LIDAR_TOP record's pose."""
    motion: Motion
    cameras: tuple[Camera, ...]
    """Sorted by sensor, then oldest first."""
    annotations: tuple[Annotation, ...]
    """Sorted by token."""
    map: MapPatch

    @property
    def id(self) -> str:
        """`<dataset>/<scene>/<sample token>`."""
        return identity.keyframe_id(self.dataset, self.scene, self.token)

    @cached_property
    def ground(self) -> GroundPlane:
        """Local road surface, fitted to the annotated boxes' bottoms."""
        bottoms = [note.box.corners()[:4].mean(axis=0) for note in self.annotations]
        return fit_ground(np.array(bottoms).reshape(-1, 3))

    def view(self, sensor_id: str, frame_offset: int = 0) -> Camera:
        """Return one camera reading; raises KeyError when the keyframe has none such."""
        for camera in self.cameras:
            if (camera.sensor_id, camera.frame_offset) == (sensor_id, frame_offset):
                return camera
        raise KeyError(f"{self.id} has no view {sensor_id} at offset {frame_offset}")


class Standing(Record):
    """A hazard that stands on a surface."""

    kind: Literal["standing"] = "standing"
    box: Box
    surface: Literal["road", "pavement"]


class Surface(Record):
    """A hazard that is part of the surface."""

    kind: Literal["surface"] = "surface"
    polygon: Ring


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
    """In the order in which they were edited."""

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


class Region(Record):
    """Ground occupied, or to be kept free, during the whole horizon; ego frame at time 0."""

    schema_version: Literal[1] = 1
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


Upgrader = Callable[[Mapping[str, Any]], dict[str, Any]]
UPGRADERS: dict[type[Record], dict[int, Upgrader]] = {}
"""For each record type: schema version v -> pure function from the JSON of v to that of v + 1."""

R = TypeVar("R", bound=Record)

_MALFORMED: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What parsing, upgrading and validating raise on content that is no such record."""


def load_record(kind: type[R], text: str | bytes) -> R:
    """Read a stored record, upgrading older schema versions step by step.

    Raises:
        RecordError: the text is not such a record, or its schema version is newer than this code knows.
    """
    try:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise TypeError(f"expected an object, got {type(content).__name__}")
        return kind.model_validate(_upgraded(kind, content))
    except RecordError:
        raise
    except _MALFORMED as error:
        raise RecordError(f"not a {kind.__name__} record: {type(error).__name__}: {str(error)[:1000]}") from error


def _upgraded(kind: type[Record], content: dict[str, Any]) -> dict[str, Any]:
    field = kind.model_fields.get("schema_version")
    if field is None:
        return content
    current, found = field.default, content.get("schema_version")
    if type(found) is not int or found < 1:
        raise RecordError(f"{kind.__name__} record without a schema_version")
    if found > current:
        raise RecordError(
            f"{kind.__name__} record has schema_version {found}, this code knows up to {current}: update exceptiondrive"
        )
    for version in range(found, current):
        if version not in UPGRADERS.get(kind, {}):
            raise RecordError(
                f"{kind.__name__} record has schema_version {found}, which this code cannot upgrade any more"
            )
        content = UPGRADERS[kind][version](content)
    return content
