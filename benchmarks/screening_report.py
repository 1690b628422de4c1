"""What `exceptiondrive report screening` costs on a release of all of nuScenes: time and memory, on made-up tables.

850 scenes of 40 keyframes and all 21 tasks; a third of the combinations suit, and of the others each rejection carries
evidence as long as a real one. Tables are made and measured in processes of their own: the peak is the report's.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

import numpy as np
import polars as pl

from benchmarks.performance import report
from data_registry import identity
from data_registry.components.hazards import HAZARDS
from data_registry.manifest import ComponentEntry, FileEntry, Manifest, component_digest
from data_registry.release import open_release, table_path
from data_registry.tables import TableSchema
from flows.screening_text import as_text
from prompts.taxonomy import load_taxonomy
from tasks.screening_report import screening_report

SCENES, KEYFRAMES = 850, 40
FACTS = 28
"""Facts that a screening by rules measures."""
SLICE = 50_000


def combinations() -> pl.DataFrame:
    """Return the ids of all combinations with their scene, task and family, sorted."""
    scenes = pl.DataFrame({"scene": [f"scene-{number:04d}" for number in range(SCENES)]})
    frames = pl.DataFrame({"number": range(KEYFRAMES)})
    tasks = pl.DataFrame([{"task": task.id, "family": task.family} for task in load_taxonomy()])
    rows = scenes.join(frames, how="cross").join(tasks, how="cross")
    token = pl.col("scene").hash(0).cast(pl.String).str.zfill(20) + pl.col("number").cast(pl.String).str.zfill(12)
    pair = pl.concat_str(pl.lit("nuscenes"), "scene", token, "task", separator="/")
    return rows.with_columns(pair_id=pair).drop("number").sort("pair_id")


def screenings(generator: np.random.Generator) -> pl.DataFrame:
    """Return table `screenings`: a third suitable, four reasons a task, half of the maps without lanes."""
    rows = combinations()
    count = rows.height
    suitable = generator.random(count) < 1 / 3
    reasons = np.array(["no_junction", "target_occupied", "cannot_stop", "no_stop_line"])
    facts = np.array(["junction_gap_m", "clear_of_objects_m", "required_decel", "stop_line_gap_m"])
    which = generator.integers(0, len(reasons), count)
    measured = generator.random(count) < 0.5
    value = np.round(generator.random(count) * 40, 6)
    known: dict[str, Any] = {
        "location": "boston-seaport",
        "split": "train",
        "suitable": suitable,
        "reason_code": np.where(suitable, "suitable", reasons[which]),
        "more_measured": generator.integers(0, 3, count),
        "more_unknown": generator.integers(0, 3, count),
        "placement_kind": "standing",
        "views": generator.integers(1, 4, count),
        "nominal_conflict": np.array(["recorded", "lane_keep", "both", "none"])[generator.integers(0, 4, count)],
        "required_decel": np.round(generator.random(count) * 9, 6),
        "avoidable": np.array(["stop", "pass", "both", "none"])[generator.integers(0, 4, count)],
        "path_source": np.array(["poses", "can", "samples"])[generator.integers(0, 3, count)],
        "course": "lanes",
        "speed": np.round(generator.random(count) * 15, 6),
        "speed_source": np.array(["poses", "can", "samples"])[generator.integers(0, 3, count)],
        "map_source": np.array(["expansion", "mask"])[generator.integers(0, 2, count)],
    }
    failed = pl.lit(pl.Series(~suitable))
    of_failed = {
        "reason_fact": pl.Series(facts[which]),
        "reason_measured": pl.Series(measured),
        "reason_value": pl.Series(np.where(measured, value, np.nan)).fill_nan(None),
        "reason_at_least": pl.Series(np.full(count, 25.0)),
    }
    rows = rows.with_columns(
        **{
            name: pl.lit(pl.Series(column) if isinstance(column, np.ndarray) else column)
            for name, column in known.items()
        },
        **{name: pl.when(failed).then(pl.lit(column)) for name, column in of_failed.items()},
        reason_at_most=None,
    )
    return typed(HAZARDS.table("screenings"), rows)


def typed(schema: TableSchema, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows in a table's columns and types; columns that the report never reads get one value for all."""
    plain = {pl.String: "none", pl.Boolean: False}
    missing = {
        name: pl.lit(None if column.nullable else plain.get(column.dtype, 0))  # type: ignore[call-overload]
        for name, column in schema.columns.items()
        if name not in rows.columns
    }
    rows = rows.with_columns(**missing)
    return rows.select(pl.col(name).cast(column.dtype) for name, column in schema.columns.items()).sort(schema.key)


def evidence(count: int, generator: np.random.Generator) -> pl.Series:
    """Return as many texts as long as the facts of a real screening, different from each other."""
    parts: list[pl.Series] = []
    while count > 0:
        size = min(count, SLICE)
        numbers = pl.DataFrame({str(n): generator.integers(0, 10**6, size) for n in range(FACTS)})
        texts = [
            piece
            for n in range(FACTS)
            for piece in (
                pl.lit(f'{{"at_least":0.3,"at_most":null,"holds":true,"name":"fact_number_{n:02}","value":'),
                pl.col(str(n)).cast(pl.String),
                pl.lit("},"),
            )
        ]
        parts.append(numbers.select(pl.concat_str(texts)).to_series())
        count -= size
    return pl.concat(parts)


def make(folder: Path) -> None:
    """Write the tables that the report reads, and a manifest about them."""
    generator = np.random.default_rng(0)
    screened = screenings(generator)
    left_out = screened.filter(~pl.col("suitable"))
    texts = evidence(left_out.height, generator).alias("evidence")
    rejections = left_out.select("scene", "family", "split", "reason_code", item_id="pair_id", stage=pl.lit("screen"))
    suits = screened.filter("suitable")
    approved = pl.Series(generator.random(suits.height) < 0.7)
    edit, finding = "0" * 64, '[{"code":"region_off_centre","limit":1.5,"value":1.603493}]'
    decided = suits.select("pair_id", "scene", "task", "family").with_columns(
        approved=approved,
        edit_digest=pl.lit(edit),
        subset=pl.when(approved).then(pl.lit("benchmark")).otherwise(pl.lit("auxiliary")),
        reason_code=pl.when(approved).then(pl.lit("approved")).otherwise(pl.lit("region_off_centre")),
        findings=pl.when(approved).then(pl.lit("[]")).otherwise(pl.lit(finding)),
    )
    frames = {
        "screenings": screened,
        "rejections": typed(HAZARDS.table("rejections"), rejections.with_columns(texts, status=pl.lit("rejected"))),
        "decisions": typed(HAZARDS.table("decisions"), decided),
        "pairs": typed(HAZARDS.table("pairs"), decided),
    }
    (folder / "tables").mkdir()
    files = tuple(sorted((write(folder, name, frame) for name, frame in frames.items()), key=lambda one: one.path))
    entry = ComponentEntry(
        schema_version=HAZARDS.schema_version,
        counts={name: frame.height for name, frame in frames.items()},
        funnel={},
        strata={},
        digest=component_digest(HAZARDS.schema_version, files),
        files=files,
    )
    manifest = Manifest(name="made-up", version="0.0.0-dev", complete=True, components={"hazards": entry}, files=())
    (folder / "manifest.json").write_bytes(manifest.content())


def write(folder: Path, name: str, frame: pl.DataFrame) -> FileEntry:
    """Write one table; its rows are not digested, which only verify asks for."""
    content = HAZARDS.table(name).encode(frame)
    (folder / table_path(name)).write_bytes(content)
    digest = identity.sha256(content)
    return FileEntry(path=table_path(name), bytes=len(content), sha256=digest, content_sha256=digest)


def measure(folder: Path) -> None:
    """Print as JSON what the report on a folder takes, over what its imports take."""
    before, start, wall = peak_mb(), time.process_time(), time.perf_counter()
    found = screening_report(open_release(folder))
    text, document = as_text(found), json.dumps(found.as_json(), indent=2)
    spent = {"cpu": time.process_time() - start, "wall": time.perf_counter() - wall}
    sizes = {"combinations": found.combinations, "lines": text.count("\n") + 1, "json_mb": len(document) / 1e6}
    print(json.dumps({**spent, **sizes, "before_mb": before, "peak_mb": peak_mb()}))


def peak_mb() -> float:
    """Return the largest memory that this process has had so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Make the tables, measure, and print."""
    with tempfile.TemporaryDirectory() as folder:
        for step in ("make", "measure"):
            done = subprocess.run(
                [sys.executable, __file__, step, folder], check=True, stdout=subprocess.PIPE, text=True
            )
        found = json.loads(done.stdout)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.parquet")) / 1e6
    report(
        "screening_report",
        [
            f"{found['combinations']:,} combinations, {size:.0f} MB of tables",
            f"  report  {found['cpu']:5.1f} CPU s, {found['wall']:5.1f} s wall",
            f"  memory  {found['peak_mb']:5.0f} MB at most, of which {found['before_mb']:.0f} MB before it began",
            f"  output  {found['lines']} lines of text, {found['json_mb']:.1f} MB of JSON",
        ],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["measure"]:
        measure(Path(sys.argv[2]))
    else:
        main()
