"""What a build shows of itself: Prefect artifacts for auditors, and contact sheets beside the logs for everyone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from PIL import Image
from prefect import task
from prefect.runtime import flow_run

from data_registry.cameras import pinhole
from data_registry.edits import materialise
from data_registry.pictures import decode_rgb
from data_registry.records import Decision, Region
from flows import artifacts
from flows.artifacts import Cell, FunnelRow, Link, Rejection
from flows.assembly import SHOWN, Build, logs_folder
from flows.publishing import publication_of
from qa_audit.panels import pair_panel, region_outline
from tasks.items import Contested
from tasks.publication import funnel
from tasks.publish import Published
from tasks.release_rows import rejection_rows
from tasks.stage import Settled

MAX_SHEETS: Final = 10
"""Contact sheets that a run publishes; the release has every picture."""


def show_source(build: Build) -> None:
    """Publish which keyframes were chosen, and which were skipped and why."""
    selection = build.construction.selection
    chosen: list[artifacts.Row] = [
        {"keyframe": keyframe.id, "state": "chosen", "detail": keyframe.description} for keyframe in selection.keyframes
    ]
    skipped: list[artifacts.Row] = [
        {"keyframe": entry.id, "state": entry.reason_code, "detail": entry.detail} for entry in selection.skipped
    ]
    text = f"{len(chosen)} keyframes chosen, {len(skipped)} scenes or keyframes skipped"
    artifacts.publish_table("source", chosen + skipped, text, complete_in="the release's rejections")


def show_results(build: Build) -> None:
    """Publish funnel, rejections and contact sheets, also when items are still unsettled."""

    @task(name="show results", task_run_name="show results")
    def publish_artifacts() -> None:
        artifacts.publish_markdown(
            "funnel", artifacts.funnel_markdown(_funnel_rows(build)), "What each stage made of it"
        )
        rows = artifacts.rejections_rows(list(_rejections(build)))
        artifacts.publish_table("rejections", rows, "Everything that did not go on, and why")
        for number, cells in enumerate(_sheets(build), start=1):
            sheet = artifacts.contact_sheet_markdown(cells)
            artifacts.publish_markdown(f"contact-sheet-{number}", sheet, f"Decided pairs, sheet {number}")
            _save(sheet_file(build, number), [cell.image for cell in cells])

    publish_artifacts()


def show_release(build: Build, release: Published) -> None:
    """Publish where the release lies, its digest, and an index of all artifacts on the build's own page."""
    counts = "\n".join(f"- {name}: {count}" for name, count in funnel(publication_of(build))["release"].items())
    text = (
        f"`{release.path}`\n\nRelease digest `{release.digest}`\n\n{counts}\n\n"
        f"```\nexceptiondrive verify --deep {release.path}\n```\n"
    )
    artifacts.publish_markdown("release", text, "The release: where, what, and how to check it")
    keys = [
        "release",
        "funnel",
        "rejections",
        *(f"contact-sheet-{i + 1}" for i in range(_sheet_count(build))),
        "source",
    ]
    links = [Link(key, f"/artifacts/key/{key}") for key in keys]
    artifacts.publish_markdown("index", artifacts.index_markdown("What this build made", links), "All artifacts")


def outcome(build: Build, release: Published) -> dict[str, Any]:
    """Return what the flow says at its end: release, digest, counts, first skipped, approved pairs, contact sheets."""
    decided = build.construction.results["decide"]
    return {
        "path": str(release.path),
        "digest": release.digest,
        "complete": release.manifest.complete,
        "was_there": release.was_there,
        "skipped": [
            {"id": entry.id, "reason_code": entry.reason_code, "detail": entry.detail}
            for entry in build.construction.selection.skipped[:SHOWN]
        ],
        "funnel": [{"stage": stage, **counts} for stage, counts in funnel(publication_of(build)).items()],
        "pairs": [entry.id for entry in decided.kept],
        "pictures": [str(sheet_file(build, number + 1)) for number in range(_sheet_count(build))],
    }


def sheet_file(build: Build, number: int) -> Path:
    """Return where a run's contact sheet lies."""
    return logs_folder(build.settings) / f"{flow_run.id}-contact-sheet-{number}.png"


def _funnel_rows(build: Build) -> list[FunnelRow]:
    return [
        FunnelRow(
            results.stage,
            counts["kept"],
            counts["rejected"],
            counts["failed_permanent"] + counts["unsettled"],
            counts["total"],
        )
        for results in build.construction.results.values()
        for counts in (results.counts(),)
    ]


def _rejections(build: Build) -> Iterator[Rejection]:
    for row in rejection_rows(publication_of(build)):
        yield Rejection(str(row["stage"]), str(row["item_id"]), str(row["reason_code"]), str(row["evidence"]))


def _sheet_count(build: Build) -> int:
    decided = len(build.construction.results["decide"].recorded)
    return min(MAX_SHEETS, -(-decided // artifacts.MAX_CELLS))


def _sheets(build: Build) -> Iterator[list[Cell]]:
    """Yield the cells of each sheet: decided pairs, approved ones first."""
    decided = sorted(build.construction.results["decide"].recorded, key=lambda entry: entry.result.status)
    for number in range(_sheet_count(build)):
        part = decided[number * artifacts.MAX_CELLS : (number + 1) * artifacts.MAX_CELLS]
        yield [_cell(build, entry) for entry in part]


def _cell(build: Build, entry: Settled[Contested, Decision]) -> Cell:
    """Return one pair's panel: its chosen candidate, else its first, in its largest view."""
    pair, decision = entry.item, entry.record
    keyframe, task_spec = pair.screened.combination.keyframe, pair.screened.combination.task
    chosen = decision.edit_digest if decision else None
    candidate = next((c for c in pair.edit.candidates if c.edit_digest == chosen), pair.edit.candidates[0])
    view = candidate.views[0]
    camera = keyframe.view(view.sensor_id)
    source = decode_rgb(build.source.picture(keyframe, camera), f"{keyframe.id} {view.sensor_id}")
    region = _region(build, candidate.edit_digest)
    outline = region_outline(region.quad, keyframe.ground, pinhole(keyframe, camera)) if region else None
    panel = pair_panel(source, materialise(source, view, build.store.blobs), view.window, outline)
    return Cell(task_spec.title, f"{keyframe.scene} · {view.sensor_id} · {entry.result.reason_code}", panel)


def _region(build: Build, edit_digest: str) -> Region | None:
    located: Sequence[Settled[Any, Region]] = build.construction.results["localize"].recorded
    return next((entry.record for entry in located if entry.record and entry.record.edit_digest == edit_digest), None)


def _save(path: Path, panels: list[Image.Image]) -> None:
    """Write panels three in a row as one PNG."""
    columns = min(3, len(panels))
    width, height = max(panel.width for panel in panels), max(panel.height for panel in panels)
    rows = -(-len(panels) // columns)
    sheet = Image.new("RGB", (columns * (width + 8) - 8, rows * (height + 8) - 8), "white")
    for number, panel in enumerate(panels):
        sheet.paste(panel, (number % columns * (width + 8), number // columns * (height + 8)))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
