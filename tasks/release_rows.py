"""From what the stages came to, to the rows of component `hazards`; the order of the results does not matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from data_registry import identity
from data_registry.components.hazards import HAZARDS
from data_registry.edits import EditFormError, compose
from data_registry.materialize import picture_path
from data_registry.pictures import Rgb, decode_crop, decode_mask, decode_rgb, pixels_digest
from data_registry.records import (
    Camera,
    Candidate,
    Decision,
    Edit,
    Judgement,
    Keyframe,
    Region,
    Screening,
    ViewEdit,
)
from data_registry.sources.source import Source
from tasks.items import Contested, Judged
from tasks.publication import Publication, PublicationError, pair_of
from tasks.screening_rows import screening_rows
from tasks.stage import Settled, StageResults

Row = dict[str, Any]

_ABSOLUTE: Final = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:)?/(?:[^\s/'\",;:]+/)+")
"""Folders of a machine inside a message: only the file's own name may enter a release."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A decided combination that is in the release, with the candidate that was chosen."""

    contested: Contested
    decision: Decision
    candidate: Candidate
    judged: Judged | None

    @property
    def id(self) -> str:
        """The pair's id."""
        return self.decision.pair_id

    @property
    def keyframe(self) -> Keyframe:
        """The pair's keyframe."""
        return self.contested.screened.combination.keyframe

    @property
    def region(self) -> Region | None:
        """Where the hazard is; None when no region was found."""
        return self.judged.examined.region if self.judged else None


def pairs_of(publication: Publication) -> list[Pair]:
    """Return the pairs of the release, by id.

    Raises:
        PublicationError: a decision chose a candidate that the edit does not have, or a benchmark pair has no region.
    """
    pairs: list[Pair] = []
    for entry in publication.decided.recorded:
        decision = entry.record
        if decision is not None and decision.subset != "none":
            pairs.append(_pair(entry.item, decision))
    return sorted(pairs, key=lambda pair: pair.id)


def _pair(contested: Contested, decision: Decision) -> Pair:
    chosen = [one for one in contested.edit.candidates if one.edit_digest == decision.edit_digest]
    judged = [one for one in contested.candidates if one.examined.edited.candidate.edit_digest == decision.edit_digest]
    if not chosen:
        raise PublicationError(f"{decision.pair_id}: the decision chose {decision.edit_digest}, which its edit lacks")
    pair = Pair(contested, decision, chosen[0], judged[0] if judged else None)
    if decision.subset == "benchmark" and (pair.region is None or not decision.approved):
        raise PublicationError(
            f"{decision.pair_id} is in the benchmark without approval or region: decide must refuse it"
        )
    return pair


def frames(publication: Publication, pairs: list[Pair]) -> dict[str, pl.DataFrame]:
    """Return the tables of component hazards.

    Raises:
        PublicationError: an edited view does not fit its source picture.
        TableError: rows do not fit a schema; a fault of this module.
        BlobMissingError, BlobCorruptError: the store lacks an edit's picture.
        SourceError: a source picture is gone or was changed.
    """
    rows: dict[str, Iterator[Row]] = {
        "pairs": (_pair_row(pair) for pair in pairs),
        "views": _view_rows(publication, pairs),
        "regions": (_region_row(pair.region) for pair in pairs if pair.region is not None),
        "measurements": _measurement_rows(publication),
        "decisions": (_decision_row(entry.record) for entry in publication.decided.recorded if entry.record),
        "rejections": rejection_rows(publication),
        "screenings": screening_rows(publication.screened),
        "lineage": _lineage_rows(publication),
    }
    return {table.name: table.frame(rows[table.name]) for table in HAZARDS.tables}


def delta_paths(pair: Pair, view: ViewEdit) -> dict[str, tuple[str, identity.Digest]]:
    """Return for delta, edit mask and object mask of a view its path in the release and its blob."""
    blobs = {"": view.edited, "edit_mask": view.edit_mask, "object_mask": view.object_mask}
    return {
        kind or "delta": ("deltas/" + picture_path(pair.id, view.sensor_id, view.frame_offset, kind), blob)
        for kind, blob in blobs.items()
    }


def _pair_row(pair: Pair) -> Row:
    keyframe, task = pair.keyframe, pair.contested.screened.combination.task
    screening, decision = pair.contested.screened.screening, pair.decision
    if screening.placement is None:
        raise PublicationError(f"{pair.id} was edited without a placement")
    return {
        "pair_id": pair.id,
        "keyframe_id": keyframe.id,
        "keyframe_sha256": keyframe.moment_digest,
        "dataset": keyframe.dataset,
        "scene": keyframe.scene,
        "sample_token": keyframe.token,
        "timestamp_us": keyframe.timestamp_us,
        "location": keyframe.location,
        "split": keyframe.split,
        "task": task.id,
        "task_version": task.version,
        "family": task.family,
        "subset": decision.subset,
        "edit_digest": pair.candidate.edit_digest,
        "seed": pair.candidate.seed,
        "attempt": pair.candidate.attempt,
        "appearance": screening.appearance or "",
        "placement_kind": screening.placement.kind,
        "placement": _json(screening.placement.model_dump(mode="json")),
        "facts": _json([fact.model_dump(mode="json") for fact in screening.evidence]),
        "speed": keyframe.motion.speed,
        "nominal_conflict": screening.nominal_conflict,
        "required_decel": screening.required_decel,
        "avoidable": screening.avoidable,
        "path_source": screening.path_source,
        "decided_by": decision.decided_by,
        "reason_code": decision.reason_code if screening.suitable else screening.reason_code,
    }


def _region_row(region: Region) -> Row:
    return {
        "pair_id": region.pair_id,
        "kind": region.kind,
        "clearance_m": region.clearance_m,
        "quad": [list(corner) for corner in region.quad],
        "method": region.evidence.method,
        "centre_offset_m": region.evidence.centre_offset_m,
        "expected_iou": region.evidence.expected_iou,
        "area_ratio": region.evidence.area_ratio,
    }


def _decision_row(decision: Decision) -> Row:
    return {
        "pair_id": decision.pair_id,
        "approved": decision.approved,
        "subset": decision.subset,
        "edit_digest": decision.edit_digest,
        "reason_code": decision.reason_code,
        "findings": _json([finding.model_dump(mode="json") for finding in decision.findings]),
        "decided_by": decision.decided_by,
    }


def _measurement_rows(publication: Publication) -> Iterator[Row]:
    """Yield the measurements of all candidates of decided combinations."""
    decided = {entry.id for entry in publication.decided.recorded}
    for entry in publication.measured.recorded:
        record = entry.record
        if record is None or record.pair_id not in decided:
            continue
        for value in record.values:
            yield {
                "pair_id": record.pair_id,
                "edit_digest": record.edit_digest,
                "check": value.check,
                "sensor_id": value.sensor_id or "",
                "value": value.value,
                "note": value.note,
            }


def rejection_rows(publication: Publication) -> Iterator[Row]:
    """Yield a row for every item of every stage that it did not keep."""
    for skipped in publication.selection.skipped:
        yield _rejection("source", skipped.id, ("skipped", skipped.reason_code), _portable(skipped.detail))
    splits = {keyframe.id: keyframe.split for keyframe in publication.selection.keyframes}
    families = {entry.item.task.id: entry.item.task.family for entry in publication.screened.settled}
    for results in publication.results:
        for entry in results.settled:
            if entry.result.status != "kept":
                verdict = (entry.result.status, entry.result.reason_code)
                row = _rejection(results.stage, entry.id, verdict, _evidence(entry))
                yield row | {"family": entry.strata.family, "split": entry.strata.split}
        for item in results.unsettled:
            keyframe, task = identity.split_combination_id(pair_of(item.id))
            # only the error's class: its text may name hosts and paths
            error = (item.error or "not tried").partition(":")[0]
            row = _rejection(results.stage, item.id, ("unsettled", "unsettled"), error)
            yield row | {"family": families.get(task, ""), "split": splits.get(keyframe, "none")}


def _rejection(stage: str, item_id: str, verdict: tuple[str, str], evidence: str) -> Row:
    return {
        "stage": stage,
        "item_id": item_id,
        "status": verdict[0],
        "reason_code": verdict[1],
        "evidence": evidence,
        "scene": item_id.split("/")[1] if "/" in item_id else "",
        "family": "",
        "split": "none",
    }


def _evidence(entry: Settled[Any, Any]) -> str:
    """Return what a rejection rests on: measured values and limits as JSON, or the error's text."""
    record = entry.record
    if isinstance(record, Screening):
        return _json([fact.model_dump(mode="json") for fact in record.evidence])
    if isinstance(record, Decision):
        return _json([finding.model_dump(mode="json") for finding in record.findings])
    if isinstance(record, Region):
        return _json(record.evidence.model_dump(mode="json"))
    if isinstance(record, Judgement):
        return _json(record.model_dump(mode="json"))
    if isinstance(record, Edit):
        return _json([candidate.edit_digest for candidate in record.candidates])
    return _portable(entry.result.detail)


def _lineage_rows(publication: Publication) -> Iterator[Row]:
    """Yield a row for every outcome that a decided combination went through."""
    decided = {entry.id for entry in publication.decided.recorded}
    for results in publication.results:
        version, backend = _maker(publication, results)
        for entry in results.settled:
            pair_id = pair_of(entry.id)
            if pair_id in decided:
                yield {
                    "pair_id": pair_id,
                    "stage": results.stage,
                    "item_id": entry.id,
                    "stage_version": version,
                    "key": entry.key,
                    "payload_sha256": entry.result.payload_sha256,
                    "backend": backend,
                }


def _maker(publication: Publication, results: StageResults[Any, Any]) -> tuple[int, str]:
    if results.stage not in publication.stages:
        known = ", ".join(sorted(publication.stages)) or "none"
        raise PublicationError(f"no stage {results.stage!r} was given for the lineage; given: {known}")
    stage = publication.stages[results.stage]
    return stage.version, _json(stage.backend.identity_settings.model_dump(mode="json"))


@dataclass
class _Sources:
    """Decoded source pictures of one keyframe at a time: its pairs come one after the other."""

    source: Source
    keyframe_id: str = ""
    decoded: dict[str, tuple[Rgb, identity.Digest]] = field(default_factory=dict[str, tuple[Rgb, identity.Digest]])

    def pixels(self, keyframe: Keyframe, camera: Camera) -> tuple[Rgb, identity.Digest]:
        """Return a source picture and the digest of its pixels."""
        if keyframe.id != self.keyframe_id:
            self.keyframe_id = keyframe.id
            self.decoded.clear()
        name = f"{keyframe.id} {camera.sensor_id} {camera.frame_offset}"
        if name not in self.decoded:
            pixels = decode_rgb(self.source.picture(keyframe, camera), name)
            if pixels.shape[:2] != (camera.height, camera.width):
                raise PublicationError(f"{name}: the picture has {pixels.shape[:2]} pixels, the log says otherwise")
            self.decoded[name] = pixels, pixels_digest(pixels)
        return self.decoded[name]


def _view_rows(publication: Publication, pairs: list[Pair]) -> Iterator[Row]:
    """Yield all pictures of each pair's keyframe and history; the edited ones with their digests and paths."""
    sources = _Sources(publication.source)
    for pair in pairs:
        edits = {(view.sensor_id, view.frame_offset): view for view in pair.candidate.views}
        for camera in pair.keyframe.cameras:
            view = edits.pop((camera.sensor_id, camera.frame_offset), None)
            if camera.sha256 is None and view is not None:
                raise PublicationError(f"{pair.id}: the edited view {camera.sensor_id} lost its picture in the log")
            if camera.sha256 is None:
                continue
            row = _plain_view(pair, camera)
            if view is not None:
                row |= _edited_view(publication, pair, view, sources.pixels(pair.keyframe, camera))
            yield row
        if edits:
            raise PublicationError(f"{pair.id}: the keyframe has no picture for the edited views {sorted(edits)}")


def _plain_view(pair: Pair, camera: Camera) -> Row:
    columns = HAZARDS.table("views").columns
    return dict.fromkeys(columns) | {
        "pair_id": pair.id,
        "sensor_id": camera.sensor_id,
        "frame_offset": camera.frame_offset,
        "timestamp_us": camera.timestamp_us,
        "width": camera.width,
        "height": camera.height,
        "is_edited": False,
        "source_file_sha256": camera.sha256,
    }


def _edited_view(publication: Publication, pair: Pair, view: ViewEdit, source: tuple[Rgb, identity.Digest]) -> Row:
    """Return the columns that only an edited view has; composes the edited picture for its digest."""
    pixels, digest = source
    paths = delta_paths(pair, view)
    delta = decode_crop(publication.blobs.get(view.edited), paths["delta"][0])
    edit_mask = decode_mask(publication.blobs.get(view.edit_mask), paths["edit_mask"][0])
    if view.source_sha256 != pair.keyframe.view(view.sensor_id, view.frame_offset).sha256:
        raise PublicationError(
            f"{pair.id} {view.sensor_id}: the edit was made from another picture than the keyframe's"
        )
    left, top, right, bottom = view.window
    try:
        edited = compose(pixels, view.window, delta, edit_mask)
    except EditFormError as error:
        raise PublicationError(f"{pair.id} {view.sensor_id}: {error}") from error
    if delta[edit_mask == 0].any():
        raise PublicationError(f"{pair.id} {view.sensor_id}: the delta is not zero outside its edit mask")
    return {
        "is_edited": True,
        "source_pixels_sha256": digest,
        "edited_pixels_sha256": pixels_digest(edited),
        "window_left": left,
        "window_top": top,
        "window_right": right,
        "window_bottom": bottom,
        **{kind: path for kind, (path, _) in paths.items()},
    }


def _portable(text: str) -> str:
    """Cut the folders of this machine out of a message."""
    return _ABSOLUTE.sub("", text)


def _json(value: Any) -> str:
    return identity.canonical_json(value).decode()
