"""A small, complete publication by hand: real records, real blobs, pictures of 64x48 pixels.

Three keyframes and two tasks make six combinations, one for each way that a combination can end: a benchmark pair with
two candidates, an auxiliary pair, one that was screened out, one whose edit failed, and two that were decided against,
one of them because no region was found. A fourth keyframe was skipped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from data_registry.blobs import Blobs
from data_registry.identity import Digest, seed_for, sha256
from data_registry.ledger import Result
from data_registry.pictures import encode_png
from data_registry.records import (
    Box,
    Camera,
    Candidate,
    Decision,
    Edit,
    Fact,
    Finding,
    Judgement,
    Keyframe,
    LocalizationEvidence,
    MapPatch,
    Measurement,
    Measurements,
    Motion,
    Pose,
    Record,
    Region,
    Screening,
    Standing,
    ViewEdit,
)
from data_registry.sources.source import Licence, Request, Selection, Skipped, SourceError
from models.backend import IdentitySettings, Pure
from prompts.taxonomy import TaskSpec, choose, load_taxonomy
from tasks.auxiliary import NOTHING_DRAWN, Draw, TaskDraw
from tasks.items import Combination, Contested, Edited, Examined, Judged, Screened
from tasks.publication import Publication
from tasks.stage import Outcome, Settled, Stage, StageResults, Strata, Unsettled

WIDTH, HEIGHT = 64, 48
WINDOW = (10, 8, 40, 32)
QUAD = ((6.0, -1.0), (8.0, -1.0), (8.0, 1.0), (6.0, 1.0))
STAGES = ("screen", "edit", "measure", "localize", "judge", "decide")
TOKENS = ("aaaa", "bbbb", "cccc")


def _sha(text: str) -> Digest:
    return sha256(text.encode())


@cache
def picture(token: str, sensor_id: str, frame_offset: int = 0) -> bytes:
    """A PNG of noise, different for each view."""
    noise = np.random.default_rng(int(_sha(f"{token}{sensor_id}{frame_offset}")[:8], 16))
    return encode_png(noise.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8))


class Logs:
    """A source in memory."""

    dataset: Literal["nuscenes", "streetset"] = "streetset"
    licence = Licence(
        "Street set", "CC-BY-SA-4.0", "https://creativecommons.org/licenses/by-sa/4.0/", "Us", True, False
    )

    def __init__(self, changed: Mapping[str, bytes] | None = None) -> None:
        self.changed = dict(changed or {})
        self.asked = 0

    def fingerprint(self) -> Digest:
        return _sha("tables")

    def select(self, request: Request) -> Selection:
        frames = [keyframe(token) for token in TOKENS if not request.tokens or token in request.tokens]
        return Selection(
            tuple(frames), (Skipped("streetset/town/dddd", "no_pictures", "/srv/logs/x/a.jpg is missing"),)
        )

    def file_name(self, keyframe: Keyframe, camera: Camera) -> str:
        return f"samples/{camera.sensor_id}/{keyframe.token}{camera.frame_offset}.png"

    def picture(self, keyframe: Keyframe, camera: Camera) -> bytes:
        self.asked += 1
        if camera.sha256 is None:
            raise SourceError(f"{camera.sensor_id} of {keyframe.id} has no file")
        return self.changed.get(camera.sensor_id, picture(keyframe.token, camera.sensor_id, camera.frame_offset))


def _camera(token: str, sensor_id: str, frame_offset: int) -> Camera:
    lost = frame_offset == -2
    return Camera(
        sensor_id=sensor_id,
        frame_offset=frame_offset,
        timestamp_us=1_000_000 + 500_000 * frame_offset,
        width=WIDTH,
        height=HEIGHT,
        sha256=None if lost else sha256(picture(token, sensor_id, frame_offset)),
        intrinsics=((50.0, 0.0, 32.0), (0.0, 50.0, 24.0), (0.0, 0.0, 1.0)),
        camera_to_ego=Pose(translation=(1.7, 0.0, 1.5), rotation=(0.5, -0.5, 0.5, -0.5)),
        ego_to_global=Pose(translation=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0)),
    )


@cache
def keyframe(token: str) -> Keyframe:
    """A keyframe with two cameras and a history of which one picture is lost."""
    views = [(sensor, offset) for sensor in ("CAM_FRONT", "CAM_FRONT_LEFT") for offset in (-2, -1, 0)]
    return Keyframe(
        dataset="streetset",
        scene="town",
        token=token,
        timestamp_us=1_000_000,
        location="nowhere",
        split="val",
        description="a street | with <b>words</b>",
        ego_to_global=Pose(translation=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0)),
        motion=Motion(speed=8.0, source="poses", history=(), future=()),
        cameras=tuple(_camera(token, sensor, offset) for sensor, offset in views),
        annotations=(),
        map=MapPatch(source="none", layers_sha256=_sha("map"), drivable=()),
    )


def task(index: int) -> TaskSpec:
    """One of three shipped tasks, in the order of their ids."""
    wanted = ("collapsed_road_surface", "large_vehicle_blocking_lane", "occluded_pedestrian")
    return choose(load_taxonomy(), wanted)[index]


class Settings(IdentitySettings, frozen=True):
    """Settings of a back end that does nothing."""

    threshold: float = 0.5


class Named(Stage[Any, Any]):
    """A stage that is only asked for its name, version and back end."""

    version = 3

    def __init__(self, name: str) -> None:
        self.name = name  # pyright: ignore[reportAttributeAccessIssue]
        self.backend = Pure(Settings(backend="rules", revision="1"))

    def identity(self, item: Any) -> str:
        raise NotImplementedError

    def inputs(self, item: Any) -> tuple[Digest, ...]:
        raise NotImplementedError

    def strata(self, item: Any) -> Strata:
        raise NotImplementedError

    def process(self, items: Sequence[Any]) -> Iterable[Outcome[Any]]:
        raise NotImplementedError


def settled(
    stage: str, item: Any, name: str, record: Record | None, verdict: tuple[str, str] = ("kept", "ok")
) -> Settled[Any, Any]:
    """One settled item, as a drain would return it."""
    pair = name.partition("@")[0]
    result = Result(
        key=_sha(stage + name),
        stage=stage,
        item_id=name,
        status=verdict[0],  # pyright: ignore[reportArgumentType]
        reason_code=verdict[1],
        detail="" if record else "/srv/store/tmp/a.jpg is truncated",
        record=None,
        payload_sha256=record.payload_digest if record else _sha(verdict[1]),
    )
    family = next(one.family for one in load_taxonomy() if one.id == pair.rpartition("/")[2])
    return Settled(item, name, Strata("town", family, "val"), result.key, result, record)


def screening(combination: Combination, suitable: bool = True) -> Screening:
    """A screening with one fact."""
    box = Box(centre=(7.0, 0.0, 1.0), size=(2.0, 2.0, 2.0), rotation=(1.0, 0.0, 0.0, 0.0))
    return Screening(
        combination_id=combination.id,
        suitable=suitable,
        reason_code="suitable" if suitable else "ego_standing",
        evidence=(Fact(name="speed", value=8.0, at_least=1.0, holds=suitable),),
        views=("CAM_FRONT", "CAM_FRONT_LEFT"),
        appearance="plain",
        placement=Standing(box=box, surface="road"),
        expected_region=QUAD,
        nominal_conflict="both",
        required_decel=4.5,
        avoidable="stop",
        path_source="poses",
    )


def candidate(blobs: Blobs, combination: Combination, attempt: int) -> Candidate:
    """A candidate with two edited views; its blobs are stored."""
    return Candidate(
        seed=seed_for(0, "editor", combination.id, attempt),
        attempt=attempt,
        views=tuple(_view(blobs, combination.keyframe, sensor, attempt) for sensor in ("CAM_FRONT_LEFT", "CAM_FRONT")),
    )


def _view(blobs: Blobs, frame: Keyframe, sensor: str, attempt: int) -> ViewEdit:
    left, top, right, bottom = WINDOW
    edit_mask = np.zeros((bottom - top, right - left), dtype=np.uint8)
    edit_mask[2:-2, 3:-3] = 255
    object_mask = np.zeros_like(edit_mask)
    object_mask[6:-6, 8:-8] = 255
    delta = np.where(edit_mask[..., None] > 0, 40 + attempt, 0).repeat(3, axis=2).astype(np.uint8)
    return ViewEdit(
        sensor_id=sensor,
        source_sha256=sha256(picture(frame.token, sensor)),
        window=WINDOW,
        edited=blobs.put(encode_png(delta)),
        edit_mask=blobs.put(encode_png(edit_mask)),
        object_mask=blobs.put(encode_png(object_mask)),
    )


@dataclasses.dataclass
class Chain:
    """Collects what each stage came to."""

    blobs: Blobs
    drawn: list[str] = dataclasses.field(default_factory=list[str])
    found: dict[str, list[Settled[Any, Any]]] = dataclasses.field(default_factory=lambda: {name: [] for name in STAGES})

    def add(self, combination: Combination, end: str) -> None:
        """Take one combination through the stages, to one of the ends."""
        record = screening(combination, end not in {"screened_out", "drawn", "drawn_failed", "drawn_unsound"})
        verdict = ("kept", "suitable") if record.suitable else ("rejected", record.reason_code)
        self.found["screen"].append(settled("screen", combination, combination.id, record, verdict))
        if end == "screened_out":
            return
        if not record.suitable:
            self.drawn.append(combination.id)
        screened = Screened(combination, record)
        if end in {"edit_failed", "drawn_failed"}:
            self.found["edit"].append(
                settled("edit", screened, combination.id, None, ("failed_permanent", "truncated_picture"))
            )
            return
        tries = 2 if end == "benchmark" else 1
        edit = Edit(
            pair_id=combination.id,
            candidates=tuple(candidate(self.blobs, combination, attempt) for attempt in range(tries)),
        )
        self.found["edit"].append(settled("edit", screened, combination.id, edit))
        judged = tuple(self._examine(Edited(screened, one), end) for one in edit.candidates)
        self._decide(Contested(screened, edit, judged, ()), end)

    def _examine(self, edited: Edited, end: str) -> Judged:
        pair, digest = edited.screened.combination.id, edited.candidate.edit_digest
        measurements = Measurements(
            pair_id=pair,
            edit_digest=digest,
            values=(
                Measurement(check="background", sensor_id="CAM_FRONT", value=0.0),
                Measurement(check="contact", sensor_id=None, value=None, note="not for this kind"),
            ),
        )
        evidence = LocalizationEvidence(
            method="ground_plane", sensor_ids=("CAM_FRONT",), centre_offset_m=0.2, expected_iou=0.8, area_ratio=1.1
        )
        region = Region(
            pair_id=pair, edit_digest=digest, quad=QUAD, kind="occupied", clearance_m=1.5, evidence=evidence
        )
        found = end != "no_region"
        judgement = Judgement(
            pair_id=pair,
            edit_digest=digest,
            asked=True,
            hard_failures=(),
            qualified=end == "benchmark",
            task_correct=True,
            physics_valid=True,
            background_preserved=True,
            task_confidence=0.9,
            realism=0.7,
            action_determinacy=0.8,
            reason="fine",
        )
        examined = Examined(edited, measurements, region if found else None)
        self.found["measure"].append(settled("measure", edited, edited.id, measurements))
        lost = ("failed_permanent", "no_ground_contact")
        self.found["localize"].append(
            settled("localize", edited, edited.id, region)
            if found
            else settled("localize", edited, edited.id, None, lost)
        )
        self.found["judge"].append(settled("judge", examined, edited.id, judgement))
        return Judged(examined, judgement)

    def _decide(self, contested: Contested, end: str) -> None:
        combination = contested.screened.combination
        approved = end == "benchmark"
        subset: Any = {"benchmark": "benchmark", "auxiliary": "auxiliary", "drawn": "auxiliary"}.get(end, "none")
        reason = "approved" if approved else "screened_out" if end == "drawn" else "low_realism"
        decision = Decision(
            pair_id=combination.id,
            approved=approved,
            subset=subset,
            edit_digest=contested.edit.candidates[-1].edit_digest,
            reason_code=reason,
            findings=() if approved else (Finding(code="low_realism", value=0.2, limit=0.5),),
            decided_by="rules",
        )
        verdict = ("kept" if approved else "rejected", reason)
        self.found["decide"].append(settled("decide", contested, combination.id, decision, verdict))


DRAWN_ENDS = ("benchmark", "benchmark", "drawn", "drawn_failed", "drawn_unsound", "screened_out")
"""What combinations come to when some are drawn for the auxiliary split: a pair, a failed edit, an unsound one."""
ENDS = ("benchmark", "auxiliary", "screened_out", "edit_failed", "decided_against", "no_region")


def build(folder: Path, version: str = "0.0.0-dev", order: int = 1, ends: Sequence[str] = ENDS) -> Publication:
    """Make the publication; `order` -1 turns every list round, which must not matter."""
    blobs = Blobs(str(folder / "blobs"))
    chain = Chain(blobs)
    combinations = [Combination(keyframe(token), task(index)) for token in TOKENS for index in (0, 1)]
    for combination, end in list(zip(combinations, ends, strict=True))[::order]:
        chain.add(combination, end)
    draws = tuple(
        TaskDraw(
            name,
            benchmark=1,
            available=2,
            quota=2,
            drawn=tuple(sorted(n for n in chain.drawn if n.endswith(f"/{name}"))),
        )
        for name in sorted({combination.task.id for combination in combinations})
    )
    logs = Logs()
    chosen = logs.select(Request())
    return Publication(
        name="demo",
        version=version,
        selection=Selection(chosen.keyframes[::order], chosen.skipped),
        source=logs,
        blobs=blobs,
        stages={name: Named(name) for name in STAGES[::order]},
        provenance={"order": order, "made_at": f"run {order}"},
        draw=Draw(sum(one.quota for one in draws), draws) if chain.drawn else NOTHING_DRAWN,
        screened=StageResults("screen", tuple(chain.found["screen"][::order]), ()),
        edited=StageResults("edit", tuple(chain.found["edit"][::order]), ()),
        measured=StageResults("measure", tuple(chain.found["measure"][::order]), ()),
        localized=StageResults("localize", tuple(chain.found["localize"][::order]), ()),
        judged=StageResults("judge", tuple(chain.found["judge"][::order]), ()),
        decided=StageResults("decide", tuple(chain.found["decide"][::order]), ()),
    )


def unsettle(publication: Publication, field: str, index: int = 0, error: str | None = None) -> Publication:
    """Take one item's result away, as if its tries were used up."""
    results: StageResults[Any, Any] = getattr(publication, field)
    gone = results.settled[index]
    rest = tuple(entry for entry in results.settled if entry is not gone)
    changed = StageResults(results.stage, rest, (*results.unsettled, Unsettled(gone.id, error)))
    return dataclasses.replace(publication, **{field: changed})
