"""What a build shows of itself: Prefect artifacts for auditors, and contact sheets beside the logs for everyone."""

from __future__ import annotations

import shlex
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from PIL import Image, ImageDraw, ImageFont
from prefect import task
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from data_registry.cameras import pinhole
from data_registry.edits import materialise
from data_registry.identity import canonical_json
from data_registry.pictures import Decoder
from data_registry.records import Decision, Region
from data_registry.release import open_release
from flows import artifacts
from flows.artifacts import Cell, FunnelRow, Link, Rejection
from flows.assembly import Build, logs_folder
from flows.exits import SHOWN
from flows.publishing import publication_of
from flows.reasons import in_words
from flows.screening_text import as_markdown
from flows.task_gallery import show_task_sheet, tasks_in_order
from qa_audit.panels import pair_panel, region_outline
from tasks.construction import DRAWN_STEPS
from tasks.items import Contested
from tasks.publication import funnel, pair_of, reasons_of
from tasks.publish import Published
from tasks.release_rows import rejection_rows
from tasks.screening_report import screening_report
from tasks.stage import Settled

MAX_SHEETS: Final = 10
"""Contact sheets that a run publishes; the release has every picture."""
PAIRS_A_SHEET: Final = 6
"""Few enough for pictures in which an edit can be judged."""
Links = list[Link]
_GAP: Final = 8
_TITLE: Final = 30


def show_source(build: Build) -> Links:
    """Publish which keyframes were chosen, and which were skipped and why."""
    selection = build.construction.selection
    chosen: list[artifacts.Row] = [
        {"scene": keyframe.scene, "state": "chosen", "detail": keyframe.description, "item": keyframe.id}
        for keyframe in selection.keyframes
    ]
    skipped: list[artifacts.Row] = [
        {"scene": _part(entry.id, 1), "state": entry.reason_code, "detail": entry.detail, "item": entry.id}
        for entry in selection.skipped
    ]
    text = f"{_counted(len(chosen), 'keyframe')} chosen, {len(skipped):,} scenes or keyframes skipped"
    made = artifacts.publish_table("source", chosen + skipped, text, complete_in="the release's rejections")
    return [_link("source", made, text)]


def show_results(build: Build) -> Links:
    """Publish funnel, rejections and contact sheets, also when items are still unsettled; return links to them."""

    @task(name="show results", task_run_name="show results")
    def publish_artifacts() -> tuple[Links]:
        sheet = show_task_sheet(build, task_sheet_file(build))
        named = _link("contact-sheet", sheet, "One approved pair of each task: source and edited")
        return ([_show_funnel(build), named, _show_draw(build), *_show_sheets(build), _show_rejections(build)],)

    return publish_artifacts()[0]


def _show_funnel(build: Build) -> Link:
    text = "How many items each stage took, kept and left out"
    return _link(
        "funnel", artifacts.publish_markdown("funnel", artifacts.funnel_markdown(_funnel_rows(build)), text), text
    )


def _show_draw(build: Build) -> Link:
    """Publish what was drawn for the auxiliary split, task by task."""
    draw = build.construction.draw()
    rows: list[artifacts.Row] = [
        {
            "task": one.task,
            "benchmark": one.benchmark,
            "seats": one.quota,
            "could be drawn": one.available,
            "drawn": len(one.drawn),
            "short": one.short,
        }
        for one in draw.tasks
    ]
    text = (
        f"{len(draw.ids):,} of {_counted(draw.available, 'screened-out combination')} drawn for auxiliary,"
        f" {draw.asked:,} asked for: seats follow the benchmark's tasks"
    )
    if draw.waits_for:
        text = f"Nothing is drawn for auxiliary while {_counted(draw.waits_for, 'item')} have no outcome"
    return _link("auxiliary", artifacts.publish_table("auxiliary", rows, text, complete_in="the card"), text)


def _show_rejections(build: Build) -> Link:
    rows = artifacts.rejections_rows(list(_rejections(build)))
    text = (
        f"{_counted(len(rows), 'item')} did not go on, and why" if rows else "Nothing was left out: all items went on"
    )
    made = artifacts.publish_table("rejections", rows, text, complete_in="the release's table rejections")
    return _link("rejections", made, text)


def _show_sheets(build: Build) -> Iterator[Link]:
    """Publish each contact sheet and save it beside the logs."""
    total, first = len(build.construction.merged("decide").recorded), 1
    for number, cells in enumerate(_sheets(build), start=1):
        key, last = f"contact-sheet-{number}", first + len(cells) - 1
        text = (
            f"Pairs {first} to {last} of {total}: the edited view with the hazard's region, before and after below it"
        )
        made = artifacts.publish_markdown(key, artifacts.contact_sheet_markdown(cells), text)
        _save(sheet_file(build, number), cells)
        first = last + 1
        yield _link(key, made, text)


def show_release(build: Build, release: Published, links: Links) -> None:
    """Publish where the release lies, its digest, what to do with it, and an index of this build's artifacts."""
    links = [*links, _show_screening(release)]
    text = "Where the release lies, what is in it, and how to use it"
    made = artifacts.publish_markdown("release", _release_text(build, release), text)
    named = f"{release.manifest.name} {release.manifest.version}"
    index = artifacts.index_markdown(f"What this build made: {named}", [_link("release", made, text), *links])
    artifacts.publish_markdown("index", index, f"Start here: everything that this build of {named} made")
    get_run_logger().info("release %s, digest %s; start with artifact `index`", release.path, release.digest)


def _show_screening(release: Published) -> Link:
    """Publish what `exceptiondrive report screening` says about the release."""
    text = "Acceptance and reasons by task, conflicts and avoidability, and what the logs' missing map or CAN bus cost"
    page = as_markdown(screening_report(open_release(release.path)))
    return _link("screening", artifacts.publish_markdown("screening", page, text), text)


def _release_text(build: Build, release: Published) -> str:
    counts = funnel(publication_of(build))["release"]
    names = ("benchmark", "auxiliary", "rejected", "failed_permanent", "unsettled", "total")
    head = ("Benchmark pairs", "Auxiliary pairs", "Rejected", "Failed", "Open", "Combinations")
    pairs = [entry.id for entry in build.construction.results["decide"].kept]
    path = shlex.quote(str(release.path))
    commands = [
        ("Check every byte, pixel and mask", f"verify --deep {path}"),
        *(("See how a pair was made", f"show {pair} \\\n  --release {path}") for pair in pairs[:1]),
        ("Write the edited pictures", " \\\n  ".join([f"materialize {path} pictures", *_logs_options(build)])),
    ]
    return "\n".join(
        [
            f"## {artifacts.escaped(release.manifest.name)} {artifacts.escaped(release.manifest.version)}",
            *([] if release.manifest.complete else ["", "**Not complete: some items have no outcome.**"]),
            *("", f"| {' | '.join(head)} |", "|" + "--:|" * len(head)),
            f"| {' | '.join(f'{counts[name]:,}' for name in names)} |",
            *("", "Folder and digest:", "", "```", str(release.path), str(release.digest), "```"),
            *(
                line
                for what, words in commands
                for line in ("", f"{what}:", "", "```", f"exceptiondrive {words}", "```")
            ),
            *("", "What the release holds, its licences and its limits: `README.md` in that folder."),
        ]
    )


def _logs_options(build: Build) -> list[str]:
    """Return the options with which `materialize` finds this build's logs."""
    source = build.settings.source
    named = {"source.root": source.root, "source.version": source.version}
    return [
        *(["--settings nuscenes"] if source.kind == "nuscenes" else []),
        f"--store {shlex.quote(str(build.settings.store.path))}",
        *(f"--set {shlex.quote(f'{key}={value}')}" for key, value in named.items() if value),
    ]


def outcome(build: Build, release: Published) -> dict[str, Any]:
    """Return what the flow says at its end: release, digest, counts, first skipped, approved pairs, contact sheets."""
    decided, draw = build.construction.results["decide"], build.construction.draw()
    return {
        "path": str(release.path),
        "digest": release.digest,
        "complete": release.manifest.complete,
        "was_there": release.was_there,
        "skipped": [
            {"id": entry.id, "reason_code": entry.reason_code, "detail": entry.detail}
            for entry in build.construction.selection.skipped[:SHOWN]
        ],
        "rejected": [
            {"stage": entry.stage, "item": entry.item, "reason": entry.reason, "why": entry.evidence}
            for entry in islice((entry for entry in _rejections(build) if entry.stage != "source"), SHOWN)
        ],
        "funnel": [{"stage": stage, **counts} for stage, counts in funnel(publication_of(build)).items()],
        "pairs": [entry.id for entry in decided.kept],
        "tasks": _task_rows(build),
        "pictures": [
            str(task_sheet_file(build)),
            *(str(sheet_file(build, number + 1)) for number in range(_sheet_count(build))),
        ],
        "auxiliary": {
            "drawn": len(draw.ids),
            "asked": draw.asked,
            "available": draw.available,
            "short": draw.short,
            "waits_for": draw.waits_for,
        },
    }


def _task_rows(build: Build) -> list[dict[str, Any]]:
    """Return for each task its approved pairs, its combinations, and the commonest reason for which others are none."""
    approved = Counter(entry.item.screened.combination.task.id for entry in build.construction.results["decide"].kept)
    reasons: dict[str, Counter[str]] = {}
    for pair, reason in reasons_of(publication_of(build)).items():
        reasons.setdefault(pair.rpartition("/")[2], Counter())[reason] += 1
    rows: list[dict[str, Any]] = []
    for spec in tasks_in_order(build):
        found = min(reasons.get(spec.id, Counter()).items(), key=lambda one: (-one[1], one[0]), default=("", 0))
        rows.append(
            {
                "task": spec.id,
                "family": spec.family,
                "benchmark": approved[spec.id],
                "total": len(build.construction.selection.keyframes),
                "reason": found[0],
                "reason_count": found[1],
            }
        )
    return rows


def sheet_file(build: Build, number: int) -> Path:
    """Return where a run's contact sheet lies."""
    return logs_folder(build.settings) / f"{flow_run.id}-contact-sheet-{number}.jpg"


def task_sheet_file(build: Build) -> Path:
    """Return where a run's sheet of all tasks lies."""
    return logs_folder(build.settings) / f"{flow_run.id}-contact-sheet.jpg"


def _funnel_rows(build: Build) -> list[FunnelRow]:
    """Return a row for each step; before the drawn combinations' own a row for the draw, if there was one."""
    draw = build.construction.draw()
    rows: list[FunnelRow] = []
    for step, results in build.construction.results.items():
        if step == DRAWN_STEPS[0]:
            count = len(draw.ids)
            rows.append(FunnelRow("drawn for auxiliary", count, draw.available - count, 0, draw.available))
        counts = results.counts()
        rows.append(
            FunnelRow(
                *(step.replace("-", ", "), counts["kept"], counts["rejected"], counts["failed_permanent"]),
                *(counts["total"], counts["unsettled"]),
            )
        )
    return rows


def _rejections(build: Build) -> Iterator[Rejection]:
    for row in rejection_rows(publication_of(build)):
        stage, item, reason, evidence = (str(row[name]) for name in ("stage", "item_id", "reason_code", "evidence"))
        yield Rejection(stage, _part(item, 1), pair_of(_part(item, 3)), reason, in_words(evidence), item)


def _sheet_count(build: Build) -> int:
    decided = len(build.construction.merged("decide").recorded)
    return min(MAX_SHEETS, -(-decided // PAIRS_A_SHEET))


def _sheets(build: Build) -> Iterator[list[Cell]]:
    """Yield the cells of each sheet: approved pairs, then others that suit, then those drawn for auxiliary."""
    decided = sorted(build.construction.merged("decide").recorded, key=_sheet_order)
    decoder = Decoder()
    for number in range(_sheet_count(build)):
        part = decided[number * PAIRS_A_SHEET : (number + 1) * PAIRS_A_SHEET]
        yield [_cell(build, entry, decoder) for entry in part]


def _sheet_order(entry: Settled[Contested, Decision]) -> tuple[bool, str]:
    return not entry.item.screened.screening.suitable, entry.result.status


def _cell(build: Build, entry: Settled[Contested, Decision], decoder: Decoder) -> Cell:
    """Return one pair's panel: its chosen candidate, else its first, in its largest view."""
    pair, decision = entry.item, entry.record
    keyframe, task_spec = pair.screened.combination.keyframe, pair.screened.combination.task
    chosen = decision.edit_digest if decision else None
    candidate = next((c for c in pair.edit.candidates if c.edit_digest == chosen), pair.edit.candidates[0])
    view = candidate.views[0]
    camera = keyframe.view(view.sensor_id)
    source = decoder.rgb(build.source.picture(keyframe, camera), f"{keyframe.id} {view.sensor_id}")
    region = _region(build, candidate.edit_digest)
    outline = region_outline(region.quad, keyframe.ground, pinhole(keyframe, camera)) if region else None
    panel = pair_panel(source, materialise(source, view, build.store.blobs), view.window, outline)
    return Cell(f"{task_spec.title} · {keyframe.scene} · {view.sensor_id}", _caption(entry), panel)


def _caption(entry: Settled[Contested, Decision]) -> str:
    """Return verdict, reason and pair id."""
    decision = entry.record
    if decision is None:
        return f"{entry.result.status}: {entry.result.reason_code} {entry.id}"
    screening = entry.item.screened.screening
    if not screening.suitable:
        verdict = "auxiliary" if decision.subset == "auxiliary" else "rejected"
        return f"{verdict}, drawn for auxiliary: screening left it out, {screening.reason_code} {entry.id}"
    against = in_words(canonical_json([finding.model_dump(mode="json") for finding in decision.findings]).decode())
    verdict = "benchmark" if decision.subset == "benchmark" else f"{decision.subset}, {decision.reason_code}"
    reason = f" · {against}" if decision.findings else ""
    return f"{verdict} · decided by {decision.decided_by}{reason} {entry.id}"


def _region(build: Build, edit_digest: str) -> Region | None:
    located: Sequence[Settled[Any, Region]] = build.construction.merged("localize").recorded
    return next((entry.record for entry in located if entry.record and entry.record.edit_digest == edit_digest), None)


def _save(path: Path, cells: list[Cell]) -> None:
    """Write panels three in a row as one JPEG, each below its title."""
    columns = min(3, len(cells))
    width = max(cell.image.width for cell in cells) + _GAP
    height = max(cell.image.height for cell in cells) + _TITLE + _GAP
    sheet = Image.new("RGB", (columns * width - _GAP, -(-len(cells) // columns) * height - _GAP), "white")
    font = ImageFont.load_default(size=18)
    for number, cell in enumerate(cells):
        left, top = number % columns * width, number // columns * height
        title = cell.title.replace(" · ", ", ").encode("ascii", "replace").decode()  # what the font has
        ImageDraw.Draw(sheet).text((left + 4, top + 4), title, fill="black", font=font)
        sheet.paste(cell.image, (left, top + _TITLE))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, quality=90)


def _link(key: str, artifact: uuid.UUID, note: str) -> Link:
    return Link(key, artifacts.artifact_address(artifact), note)


def _part(item_id: str, number: int) -> str:
    """Return a part of `<dataset>/<scene>/<sample token>/<task>`, empty where an id has fewer."""
    parts = item_id.split("/")
    return parts[number] if number < len(parts) else ""


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
