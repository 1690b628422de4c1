"""Component `hazards`: pairs of source and edited views, where the hazard is in metres, and how each came to be."""

from __future__ import annotations

from typing import Final

import polars as pl

from data_registry.components import hazards_check
from data_registry.tables import Column, Component, Reference, TableSchema, register

_TEXT: Final = pl.String
_PAIR: Final = Column(_TEXT, "pair id: <dataset>/<scene>/<sample token>/<task>")
_OF_PAIR: Final = (Reference(("pair_id",), "pairs"),)
_OF_DECISION: Final = (Reference(("pair_id",), "decisions"),)
_OF_SCREENING: Final = (Reference(("pair_id",), "screenings"),)

PAIRS: Final = TableSchema(
    "pairs",
    ("pair_id",),
    {
        "pair_id": _PAIR,
        "keyframe_id": Column(_TEXT, "keyframe id: <dataset>/<scene>/<sample token>"),
        "keyframe_sha256": Column(
            _TEXT, "digest of what the logs say there, history left out: pictures, calibration, objects, motion, map"
        ),
        "dataset": Column(_TEXT, "nuscenes or streetset"),
        "scene": Column(_TEXT, "scene name"),
        "sample_token": Column(_TEXT, "nuScenes sample token"),
        "timestamp_us": Column(pl.Int64, "keyframe time, Unix microseconds"),
        "location": Column(_TEXT, "map location"),
        "split": Column(_TEXT, "official source split: train, val, test or none"),
        "task": Column(_TEXT, "task id"),
        "task_version": Column(pl.Int32, "version of the task file"),
        "family": Column(_TEXT, "task family"),
        "subset": Column(_TEXT, "benchmark or auxiliary"),
        "edit_digest": Column(_TEXT, "sha256 of the chosen edit candidate's payload"),
        "seed": Column(pl.Int64, "seed of the chosen candidate"),
        "attempt": Column(pl.Int32, "which try the chosen candidate was, from 0"),
        "appearance": Column(_TEXT, "the hazard's look in the task file"),
        "placement_kind": Column(_TEXT, "standing, surface, mounted or attached"),
        "placement": Column(_TEXT, "placement as canonical JSON, ego frame at time 0, metres"),
        "facts": Column(_TEXT, "what the screening rests on as canonical JSON: name, value, limits, whether it holds"),
        "speed": Column(pl.Float64, "ego speed at time 0, m/s"),
        "nominal_conflict": Column(_TEXT, "nominal paths that meet the region within 3 s"),
        "required_decel": Column(pl.Float64, "m/s2 to stop in time after 0.5 s; null: no room", nullable=True),
        "avoidable": Column(_TEXT, "stop, pass, both or none"),
        "path_source": Column(_TEXT, "where speed and path come from"),
        "decided_by": Column(_TEXT, "rules or human"),
        "reason_code": Column(_TEXT, "approved, or why it is only auxiliary: screening's reason or the first finding"),
    },
    (Reference(("pair_id", "edit_digest"), "decisions"),),
)
VIEWS: Final = TableSchema(
    "views",
    ("pair_id", "sensor_id", "frame_offset"),
    {
        "pair_id": _PAIR,
        "sensor_id": Column(_TEXT, "camera channel"),
        "frame_offset": Column(pl.Int32, "keyframes before the keyframe, 0 or negative"),
        "timestamp_us": Column(pl.Int64, "camera time, Unix microseconds"),
        "width": Column(pl.Int32, "pixels"),
        "height": Column(pl.Int32, "pixels"),
        "is_edited": Column(pl.Boolean, "whether the edited variant differs from the source here"),
        "source_file_sha256": Column(_TEXT, "digest of the source picture file"),
        "source_pixels_sha256": Column(_TEXT, "digest of the decoded source pixels; null: not edited", nullable=True),
        "edited_pixels_sha256": Column(_TEXT, "digest of the edited pixels; null: not edited", nullable=True),
        "window_left": Column(pl.Int32, "crop that the delta covers, pixels; null: not edited", nullable=True),
        "window_top": Column(pl.Int32, "pixels", nullable=True),
        "window_right": Column(pl.Int32, "pixels, exclusive", nullable=True),
        "window_bottom": Column(pl.Int32, "pixels, exclusive", nullable=True),
        "delta": Column(_TEXT, "path of the delta PNG in the release", nullable=True, is_file=True),
        "edit_mask": Column(_TEXT, "path of the edit mask PNG in the release", nullable=True, is_file=True),
        "object_mask": Column(_TEXT, "path of the object mask PNG in the release", nullable=True, is_file=True),
    },
    _OF_PAIR,
)
REGIONS: Final = TableSchema(
    "regions",
    ("pair_id",),
    {
        "pair_id": _PAIR,
        "kind": Column(_TEXT, "occupied, non_drivable, conflict or no_go"),
        "clearance_m": Column(pl.Float64, "clearance that the task requires, metres"),
        "quad": Column(
            pl.Array(pl.Array(pl.Float64, 2), 4), "corners (x, y), ego frame at time 0, metres, counter-clockwise"
        ),
        "method": Column(_TEXT, "how the region was found"),
        "centre_offset_m": Column(pl.Float64, "found against intended centre, metres", nullable=True),
        "expected_iou": Column(pl.Float64, "found against intended region", nullable=True),
        "area_ratio": Column(pl.Float64, "area of the quad over the area that it was drawn around"),
    },
    _OF_PAIR,
)
MEASUREMENTS: Final = TableSchema(
    "measurements",
    ("pair_id", "edit_digest", "check", "sensor_id"),
    {
        "pair_id": _PAIR,
        "edit_digest": Column(_TEXT, "which candidate"),
        "check": Column(_TEXT, "what was measured"),
        "sensor_id": Column(_TEXT, "camera channel; empty: all views together"),
        "value": Column(pl.Float64, "the value, in the check's unit; null: not applicable", nullable=True),
        "note": Column(_TEXT, "why it is not applicable"),
    },
    _OF_DECISION,
)
DECISIONS: Final = TableSchema(
    "decisions",
    ("pair_id",),
    {
        "pair_id": _PAIR,
        "approved": Column(pl.Boolean, "whether the pair is in the benchmark"),
        "subset": Column(_TEXT, "benchmark, auxiliary or none"),
        "edit_digest": Column(_TEXT, "the chosen candidate; null: none", nullable=True),
        "reason_code": Column(_TEXT, "approved, or the first finding against it"),
        "findings": Column(_TEXT, "all findings as canonical JSON: code, value, limit"),
        "decided_by": Column(_TEXT, "rules or human"),
    },
    _OF_SCREENING,
)
REJECTIONS: Final = TableSchema(
    "rejections",
    ("stage", "item_id"),
    {
        "stage": Column(_TEXT, "stage that did not keep it: source, screen, edit, ..., decide"),
        "item_id": Column(_TEXT, "keyframe, combination or candidate id"),
        "status": Column(_TEXT, "skipped, rejected, failed_permanent or unsettled"),
        "reason_code": Column(_TEXT, "why"),
        "evidence": Column(_TEXT, "measured values and limits as canonical JSON, or the error's text"),
        "scene": Column(_TEXT, "scene name"),
        "family": Column(_TEXT, "task family; empty for keyframes"),
        "split": Column(_TEXT, "official source split"),
    },
)
SCREENINGS: Final = TableSchema(
    "screenings",
    ("pair_id",),
    {
        "pair_id": Column(_TEXT, "combination: <dataset>/<scene>/<sample token>/<task>, whatever became of it"),
        "scene": Column(_TEXT, "scene name"),
        "location": Column(_TEXT, "map location"),
        "split": Column(_TEXT, "official source split: train, val, test or none"),
        "task": Column(_TEXT, "task id"),
        "family": Column(_TEXT, "task family"),
        "suitable": Column(pl.Boolean, "whether screening found that the task suits the keyframe"),
        "reason_code": Column(_TEXT, "suitable, or the code of the first rule that failed"),
        "reason_fact": Column(
            _TEXT, "fact that this rule asks about; null: suitable, or nowhere to put it", nullable=True
        ),
        "reason_measured": Column(pl.Boolean, "whether that fact could be measured; null: no fact", nullable=True),
        "reason_value": Column(
            pl.Float64, "its value, true as 1, false as 0; null: not measured, or a word", nullable=True
        ),
        "reason_at_least": Column(pl.Float64, "its lower limit", nullable=True),
        "reason_at_most": Column(pl.Float64, "its upper limit", nullable=True),
        "more_measured": Column(pl.Int32, "further facts that do not hold although they were measured"),
        "more_unknown": Column(pl.Int32, "further facts that do not hold because they could not be measured"),
        "placement_kind": Column(
            _TEXT, "standing, surface, mounted or attached; null: nowhere to put it", nullable=True
        ),
        "views": Column(pl.Int32, "cameras that see the placement"),
        "nominal_conflict": Column(
            _TEXT, "nominal paths that meet the region within 3 s: recorded, lane_keep, both, none"
        ),
        "required_decel": Column(
            pl.Float64, "m/s2 to stop in time after 0.5 s; null: no room, or no placement", nullable=True
        ),
        "avoidable": Column(_TEXT, "stop, pass, both or none"),
        "path_source": Column(_TEXT, "where the paths come from: poses, can, samples, sensor_poses, straight"),
        "course": Column(_TEXT, "the followed lane: lanes of the map, or straight; null: not told", nullable=True),
        "speed": Column(pl.Float64, "ego speed at time 0, m/s"),
        "speed_source": Column(_TEXT, "where the speed comes from: poses, can, samples, sensor_poses"),
        "map_source": Column(_TEXT, "best map found: expansion (lanes), mask (drivable ground only) or none"),
    },
)
LINEAGE: Final = TableSchema(
    "lineage",
    ("pair_id", "stage", "item_id"),
    {
        "pair_id": _PAIR,
        "stage": Column(_TEXT, "stage name"),
        "item_id": Column(_TEXT, "item of that stage: the pair, or one of its candidates"),
        "stage_version": Column(pl.Int32, "version of the stage"),
        "key": Column(_TEXT, "sha256 key of the outcome"),
        "payload_sha256": Column(_TEXT, "sha256 of the outcome's payload"),
        "backend": Column(_TEXT, "identity settings of the back end as canonical JSON"),
    },
    _OF_DECISION,
)
HAZARDS: Final = register(
    Component(
        "hazards",
        3,
        (PAIRS, VIEWS, REGIONS, MEASUREMENTS, DECISIONS, REJECTIONS, SCREENINGS, LINEAGE),
        hazards_check.check,
    )
)
