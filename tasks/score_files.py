"""Files that scoring reads and writes: regions and predictions, one JSON object a line (docs/scoring.md).

What is wrong with the file (fields, types, pairs that nobody knows) is refused and nothing is scored; what is wrong
with a trajectory (NaN, times out of order, too short) is the planner's failure, and its pair is scored as such.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import shapely

from data_registry.blobs import write_atomically
from data_registry.evaluation import STATUSES, VARIANTS, PairRegion, Predicted, Status, Variant
from data_registry.geometry import Array
from data_registry.records import Prediction
from data_registry.swept_distance import CONTACT_M
from data_registry.trajectories import LARGEST
from tasks.json_lines import JsonLinesError, Problems, Row, odd_fields, quoted, quoted_id, read_objects, told

SMALLEST_M2: Final = 0.05
"""Area of a region at least, square metres."""
SMALLEST_CLEARANCE_M: Final = CONTACT_M
"""Clearance at least, metres: less than that is contact."""
SPLITS: Final = ("train", "val", "test", "none")
INFORMATIVE: Final = ("planner", "run_id", "seed", "reason", "native", "raw_text", "latency_s")
"""Fields of a prediction that say more about it and decide no score."""
FRAME: Final = "ego_rear_axle@LIDAR_TOP keyframe"
"""The one frame that trajectories are scored in, as a row may name it: ego frame at the time of the keyframe."""
LONGEST_REASON: Final = 300
"""Characters of a prediction's reason that are kept."""
_REGION: Final = ("pair_id", "quad", "clearance_m", "family", "task", "scene")
_PREDICTION: Final = ("pair_id", "variant", "status")
_DIGESTS: Final = ("component_digest", "inputs_sha256")
_OPTIONAL: Final = ("t", "xy", "heading", "frame", "schema_version", *_DIGESTS, *INFORMATIVE)
_REGION_ADVICE: Final = (
    'Each line must be {"pair_id": "...", "quad": [[x, y], [x, y], [x, y], [x, y]], "clearance_m": 1.0,'
    ' "family": "...", "task": "...", "scene": "..."}; correct the file and run the command again.'
)
_PREDICTION_ADVICE: Final = (
    'Each line must be {"pair_id": "...", "variant": "source" or "edited", "status": "ok", "t": [0, ...],'
    ' "xy": [[0, 0], ...]}, with "heading": [...] if the planner gives it; correct the file and run the command again.'
)


class RegionsFileError(JsonLinesError):
    """A regions file is wrong; the message lists what, with line numbers."""


class PredictionsFileError(JsonLinesError):
    """A predictions file is wrong; the message lists what, with line numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class PredictedRow(Predicted):
    """A prediction with what its row says it was made from."""

    component_digest: str | None = None
    """Digest of the release's component that the case is from; None: the row does not say."""
    inputs_sha256: str | None = None
    """Digest of the pictures that the planner was given; None: the row does not say."""
    line: int = 0
    """Line of the file, from 1."""
    planner: str | None = None
    """Planner that the row names; None: it names none."""


def read_regions(path: Path) -> list[PairRegion]:
    """Read the regions that predictions are scored against, in the file's order.

    Raises:
        RegionsFileError: the file cannot be read, has no row, or rows are wrong; nothing of it is used then.
    """
    problems = Problems(path, "regions file", RegionsFileError)
    found: dict[str, PairRegion] = {}
    lines: dict[str, int] = {}
    for number, content in read_objects(problems):
        row = Row(number, content, problems)
        for text in odd_fields(content, _REGION, ("split",)):
            row.refuse(text)
        region = _region(row, "split" in content)
        if region.pair_id in lines:
            row.refuse(f"repeats pair {quoted_id(region.pair_id)} of line {lines[region.pair_id]}")
        elif region.pair_id:
            found[region.pair_id], lines[region.pair_id] = region, number
    if not found and not problems.count:
        raise RegionsFileError(f"the regions file {path} has no rows\n{_REGION_ADVICE}")
    problems.refuse(_REGION_ADVICE)
    return list(found.values())


def _region(row: Row, is_split: bool) -> PairRegion:
    quad = row.points("quad", may_be_null=False)
    if quad is not None and (wrong := wrong_with_quad(quad)):
        row.refuse(f"quad {wrong}")
    return PairRegion(
        row.text("pair_id"),
        np.zeros((4, 2)) if quad is None else quad,  # its problem is noted: no region of this file is used
        row.at_least("clearance_m", SMALLEST_CLEARANCE_M),
        row.text("family"),
        row.text("task"),
        row.text("scene"),
        row.text("split", SPLITS) if is_split else "none",
    )


def wrong_with_quad(quad: Array) -> str | None:
    """Return what keeps corners (N, 2) from being a region, in words; None: they are one."""
    if len(quad) != 4:
        return f"must have four corners, the first not repeated, got {len(quad)}"
    if not (np.abs(quad) <= LARGEST).all():  # NaN is not
        return f"must have finite corners, none beyond {LARGEST:.0e} m"
    if len(np.unique(quad, axis=0)) < 4:
        return "must have four corners, two are the same"
    local = quad - quad[0]
    area = abs(float(shapely.Polygon(local).area))
    if not shapely.is_valid(shapely.Polygon(local)):
        return "crosses or touches itself"
    return f"must have an area of {SMALLEST_M2} m2 at least, has {_below(area)}" if area < SMALLEST_M2 else None


def _below(area: float) -> str:
    """Return an area that is too small in as few digits as show it, three at least."""
    return next(text for digits in range(3, 18) if float(text := f"{area:.{digits}g}") < SMALLEST_M2)


def read_predictions(path: Path, pair_ids: Collection[str]) -> list[PredictedRow]:
    """Read a planner's predictions for the pairs of these ids, in the file's order.

    Raises:
        PredictionsFileError: the file cannot be read or rows are wrong: unknown pairs or variants, two rows about the
            same, fields that nobody knows; nothing of it is used then.
    """
    problems = Problems(path, "predictions file", PredictionsFileError)
    known = frozenset(pair_ids)
    found: list[PredictedRow] = []
    lines: dict[tuple[str, str], int] = {}
    planners: dict[str, int] = {}
    for number, content in read_objects(problems):
        row = Row(number, content, problems)
        for text in (*odd_fields(content, _PREDICTION, _OPTIONAL), *_foreign(content, planners, number)):
            row.refuse(text)
        predicted = _predicted(row, content)
        case = (predicted.pair_id, predicted.variant)
        if predicted.pair_id and predicted.pair_id not in known:
            row.refuse(f"pair {quoted_id(predicted.pair_id)} has no region")
        elif all(case) and case in lines:
            row.refuse(f"repeats pair {quoted_id(case[0])}, {case[1]}, of line {lines[case]}")
        lines.setdefault(case, number)
        found.append(predicted)
    problems.refuse(_PREDICTION_ADVICE)
    return found


def _foreign(content: Mapping[str, Any], planners: dict[str, int], line: int) -> Iterator[str]:
    """Yield why a row is not one of this file: another form or frame, or another planner than earlier rows."""
    if content.get("schema_version", 1) != 1:
        yield "schema_version must be 1: update exceptiondrive"
    planner = content.get("planner")
    if isinstance(planner, str):
        if not planners:
            planners[planner] = line
        if planner not in planners:
            other, where = next(iter(planners.items()))
            yield f"is of planner {quoted(planner)}, line {where} of {quoted(other)}: score one planner at a time"
    frame = content.get("frame")
    if frame not in (None, FRAME):
        yield (
            f"frame must be {FRAME!a} or absent, got {told(frame)}: positions are scored as those of the rear axle;"
            " move them there first"
        )


def _predicted(row: Row, content: Mapping[str, Any]) -> PredictedRow:
    status = row.text("status", STATUSES)
    trajectory = row.numbers("t"), row.points("xy"), row.numbers("heading")
    reason = content.get("reason")
    return PredictedRow(
        row.text("pair_id"),
        cast("Variant", row.text("variant", VARIANTS)),
        cast("Status", status),
        *(trajectory if status == "ok" else (None, None, None)),  # a failure never becomes a trajectory
        reason=_clean(reason) if isinstance(reason, str) else "",
        component_digest=row.digest("component_digest"),
        inputs_sha256=row.digest("inputs_sha256"),
        line=row.line,
        planner=planner if isinstance(planner := content.get("planner"), str) else None,
    )


def _clean(text: str) -> str:
    """Return a text cut and without what a terminal would act on."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:LONGEST_REASON]).strip()


def write_regions(path: Path, regions: Iterable[PairRegion]) -> None:
    """Write regions as `read_regions` reads them, whole or not at all; raises OSError."""
    rows = ({name: getattr(one, name) for name in (*_REGION, "split")} | {"quad": one.quad.tolist()} for one in regions)
    write_atomically(path, _encoded(rows))


def write_predictions(path: Path, predictions: Iterable[Predicted | Prediction]) -> None:
    """Write predictions as `read_predictions` reads them, whole or not at all; raises OSError.

    Numbers come back as the same doubles, NaN and infinity among them.
    """
    write_atomically(path, encode_predictions(predictions))


def encode_predictions(predictions: Iterable[Predicted | Prediction]) -> bytes:
    """Return the lines that `write_predictions` writes."""
    return _encoded(_written(one) for one in predictions)


def _written(one: Predicted | Prediction) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(one, name) for name in (*_PREDICTION, "t", "xy", "heading", "reason")}
    row |= {name: getattr(one, name, None) for name in _DIGESTS}
    row |= {name: np.asarray(row[name]).tolist() for name in ("t", "xy", "heading") if row[name] is not None}
    if one.status != "ok":
        row |= {"t": None, "xy": None}
    return {name: value for name, value in row.items() if value is not None and value != ""}


def _encoded(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in rows).encode("ascii")
