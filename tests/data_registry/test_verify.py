"""Verifying releases: every harm that is done to one is found, and told with its place."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from data_registry.components.hazards import HAZARDS
from data_registry.identity import sha256
from data_registry.manifest import ComponentEntry, FileEntry, Lock, Manifest, ReleaseSchemaError, component_digest
from data_registry.pictures import decode_mask, decode_rgb, encode_png
from data_registry.release import ReleaseMissingError, content_digest, open_release, table_path
from data_registry.tables import TableError
from data_registry.verify import VerifyReport, verify


def what(report: VerifyReport) -> str:
    return "\n".join(f"{problem.where}: {problem.what}" for problem in report.problems)


def reseal(folder: Path, change: Callable[[Manifest], Manifest] = lambda manifest: manifest) -> None:
    """Write manifest and lock anew after files were changed: an enemy who can compute a sha256."""
    manifest = open_release(folder).manifest
    schemas = {table_path(schema.name): schema for schema in HAZARDS.tables}

    def entry(old: FileEntry) -> FileEntry:
        content = (folder / old.path).read_bytes()
        try:
            digest = content_digest(old.path, content, schemas.get(old.path))
        except ValueError:
            digest = old.content_sha256
        return FileEntry(path=old.path, bytes=len(content), sha256=sha256(content), content_sha256=digest)

    components: dict[str, ComponentEntry] = {}
    for name, part in manifest.components.items():
        files = tuple(entry(one) for one in part.files)
        digest = component_digest(part.schema_version, files)
        components[name] = part.model_copy(update={"files": files, "digest": digest})
    files = tuple(entry(one) for one in manifest.files)
    sealed = change(manifest.model_copy(update={"components": components, "files": files}))
    (folder / "manifest.json").write_bytes(sealed.content())
    (folder / "lock.json").write_bytes(Lock.of(sealed, {}).content())


def rewrite(folder: Path, table: str, *changes: pl.Expr) -> None:
    schema = HAZARDS.table(table)
    frame = open_release(folder).frame("hazards", table).with_columns(*changes)
    (folder / table_path(table)).write_bytes(schema.encode(frame.sort(schema.key)))
    reseal(folder)


def repaint(folder: Path, column: str, value: int, where: tuple[slice, slice]) -> str:
    path = open_release(folder).frame("hazards", "views").filter("is_edited")[column][0]
    content = (folder / path).read_bytes()
    pixels = decode_mask(content, path) if column.endswith("mask") else decode_rgb(content, path)
    pixels[where] = value
    (folder / path).write_bytes(encode_png(pixels))
    reseal(folder)
    return path


def test_what_publish_writes_is_right(made: Path):
    report = verify(made, deep=True)
    assert report.ok, what(report)
    assert report.files == len(open_release(made).by_path)
    assert "bytes, tables, pictures and metadata are right" in report.text()


def test_resealing_without_a_change_is_right(release: Path):
    reseal(release)
    report = verify(release, deep=True)
    assert report.ok, what(report)


def every_file(made: Path) -> list[str]:
    return sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())


def test_a_flipped_bit_in_any_file_is_found(made: Path, release: Path):
    for name in every_file(made):
        path = release / name
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        report = verify(release)
        assert report.count >= 1, name
        assert name in what(report) or name in {"manifest.json"}, what(report)
        path.write_bytes((made / name).read_bytes())


def test_a_missing_file_an_extra_file_and_an_extra_folder_are_found_together(release: Path):
    (release / "README.md").unlink()
    (release / "tables/extra.parquet").write_bytes(b"x")
    (release / ".hidden").write_bytes(b"x")
    (release / "deltas/empty").mkdir()
    report = verify(release)
    found = what(report)
    assert report.count == 4
    assert "README.md: is missing" in found
    assert "tables/extra.parquet: is not in the manifest" in found
    assert ".hidden: is not in the manifest" in found
    assert "deltas/empty: is a folder that holds nothing" in found
    assert "4 problems" in report.text()


def test_symlinks_are_refused_even_when_they_lead_to_the_same_bytes(release: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    (release / "README.md").rename(outside)
    (release / "README.md").symlink_to(outside)
    (release / "tables").rename(tmp_path / "tables")
    (release / "tables").symlink_to(tmp_path / "tables")
    found = what(verify(release))
    assert "README.md: README.md is a symlink" in found
    assert "tables/pairs.parquet: tables is a symlink" in found


def test_a_pipe_in_a_files_place_does_not_hang(release: Path):
    (release / "README.md").unlink()
    os.mkfifo(release / "README.md")
    (release / "lock.json").unlink()
    os.mkfifo(release / "lock.json")
    found = what(verify(release))
    assert "README.md: is not a plain file" in found
    assert "lock.json is not a plain file" in found


def test_a_manifest_path_that_climbs_out_is_refused_before_anything_is_read(release: Path):
    content = (release / "manifest.json").read_bytes()
    (release / "manifest.json").write_bytes(content.replace(b'"path":"README.md"', b'"path":"../../x"'))
    report = verify(release)
    assert report.digest is None
    assert "stay inside" in what(report)


def test_a_newer_manifest_and_a_newer_component_are_their_own_error(release: Path):
    content = (release / "manifest.json").read_bytes()
    (release / "manifest.json").write_bytes(content.replace(b'"schema":1', b'"schema":2'))
    with pytest.raises(ReleaseSchemaError, match="update exceptiondrive"):
        verify(release)
    (release / "manifest.json").write_bytes(content.replace(b'"schema_version":3', b'"schema_version":9'))
    with pytest.raises(ReleaseSchemaError, match="schema version 9"):
        verify(release)
    (release / "manifest.json").write_bytes(content.replace(b'"hazards":{', b'"tomorrow":{'))
    with pytest.raises(ReleaseSchemaError, match="unknown release component 'tomorrow'"):
        verify(release)


def test_no_release_is_its_own_error(tmp_path: Path):
    with pytest.raises(ReleaseMissingError, match="there is no release"):
        verify(tmp_path)
    with pytest.raises(ReleaseMissingError):
        verify(tmp_path / "nowhere")


def damaged_manifest(path: Path, harm: str) -> None:
    content = path.read_bytes()
    path.unlink()
    if harm == "pipe":
        os.mkfifo(path)
    elif harm == "symlink":
        (path.parent.parent / "elsewhere").write_bytes(content)
        path.symlink_to(path.parent.parent / "elsewhere")
    elif harm == "dangling symlink":
        path.symlink_to("nowhere")
    elif harm == "folder":
        path.mkdir()
    elif harm == "no JSON":
        path.write_text("{")


@pytest.mark.parametrize("harm", ["pipe", "symlink", "dangling symlink", "folder", "no JSON", "gone"])
def test_a_release_with_an_unusable_manifest_does_not_verify(release: Path, harm: str):
    damaged_manifest(release / "manifest.json", harm)
    report = verify(release)
    assert (report.digest, report.count) == (None, 1)
    assert report.problems[0].where == "manifest.json"


def test_a_symlink_that_leads_in_a_circle_is_no_release(tmp_path: Path):
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(ReleaseMissingError):
        verify(tmp_path / "circle")


def test_names_that_cannot_be_paths_are_found(release: Path):
    rewrite(
        release,
        "views",
        pl.lit("../CAM").alias("sensor_id"),
        pl.int_range(pl.len(), dtype=pl.Int32).alias("frame_offset"),
    )
    rewrite(release, "pairs", pl.concat_str(pl.lit("../"), "pair_id").alias("pair_id"))
    found = what(verify(release))
    assert "'../CAM' is no sensor's name" in found
    assert "tables/pairs.parquet: '../streetset/" in found


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_a_truncated_table_is_found_even_when_resealed(release: Path, keep: int):
    path = release / "tables/pairs.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    reseal(release)
    assert "tables/pairs.parquet is not a parquet file" in what(verify(release))


def test_a_row_that_refers_to_nothing_is_found(release: Path):
    rewrite(release, "regions", pl.col("pair_id") + "x")
    found = what(verify(release))
    assert "is not in table pairs" in found
    assert "has no region" in found


def test_rows_against_the_counts_are_found(release: Path):
    schema = HAZARDS.table("rejections")
    frame = open_release(release).frame("hazards", "rejections")
    (release / table_path("rejections")).write_bytes(schema.encode(frame.head(2)))
    reseal(release)
    found = what(verify(release))
    assert "has 2 rows, the manifest counts 7" in found
    assert "0 rows screen/rejected, the manifest counts 1" in found


def test_a_pair_that_its_decision_does_not_back_is_found(release: Path):
    rewrite(release, "pairs", pl.lit("benchmark").alias("subset"))
    found = what(verify(release))
    assert "is in subset benchmark, its decision says auxiliary" in found
    assert "2 benchmark pairs, the manifest counts 1" in found


@pytest.mark.parametrize(
    ("quad", "problem"),
    [
        ([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], "counter-clockwise"),
        ([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]], "signed area"),
        ([[0.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 4.0]], "not convex"),
    ],
)
def test_a_quad_that_is_no_region_is_found(release: Path, quad: list[list[float]], problem: str):
    column = pl.lit(pl.Series([quad], dtype=pl.Array(pl.Array(pl.Float64, 2), 4))).first().alias("quad")
    rewrite(release, "regions", column)
    assert problem in what(verify(release))


def test_a_window_outside_the_picture_and_half_an_edited_view_are_found(release: Path):
    rewrite(release, "views", pl.when("is_edited").then(65).alias("window_right").cast(pl.Int32))
    assert "is not inside the picture" in what(verify(release))
    rewrite(release, "views", pl.lit(None, dtype=pl.Int32).alias("window_right"))
    assert "an edited view needs" in what(verify(release))


def test_a_picture_that_no_row_names_and_a_row_without_its_picture_are_found(release: Path):
    rewrite(release, "views", pl.col("delta").str.replace("CAM_FRONT.png", "CAM_BACK.png", literal=True))
    found = what(verify(release))
    assert "CAM_BACK.png: is named by a table" in found
    assert "CAM_FRONT.png: is named by no table" in found


def test_only_the_deep_check_sees_what_is_wrong_in_pictures(release: Path):
    everywhere = (slice(None), slice(None))
    delta = repaint(release, "delta", 9, everywhere)
    assert verify(release).ok
    assert f"{delta}: is not zero where the edit mask is zero" in what(verify(release, deep=True))


def test_an_object_outside_the_edit_and_an_empty_edit_are_found(release: Path):
    path = repaint(release, "object_mask", 255, (slice(0, 1), slice(0, 1)))
    assert f"{path}: reaches outside the edit mask" in what(verify(release, deep=True))
    path = repaint(release, "edit_mask", 0, (slice(None), slice(None)))
    assert f"{path}: is empty" in what(verify(release, deep=True))


def test_a_mask_that_is_not_binary_and_one_of_another_size_are_found(release: Path):
    path = repaint(release, "object_mask", 7, (slice(10, 11), slice(10, 11)))
    assert "values other than 0 and 255" in what(verify(release, deep=True))
    (release / path).write_bytes(encode_png(np.zeros((4, 4), dtype=np.uint8)))
    reseal(release)
    assert f"{path}: is 4x4, its window is 30x24" in what(verify(release, deep=True))


def test_pixels_against_their_digest_are_found(release: Path):
    def lie(manifest: Manifest) -> Manifest:
        part = manifest.components["hazards"]
        files = tuple(
            one.model_copy(update={"content_sha256": "0" * 64}) if one.path.endswith("CAM_FRONT.png") else one
            for one in part.files
        )
        return manifest.model_copy(update={"components": {"hazards": part.model_copy(update={"files": files})}})

    reseal(release, lie)
    assert "the digest of component hazards is not that of its files" in what(verify(release))
    assert "CAM_FRONT.png: its content is not that of content_sha256" in what(verify(release, deep=True))


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"distribution":[{"contentUrl":"README.md","sha256":"0"}]}'])
def test_a_croissant_description_that_is_none_is_found(release: Path, text: str):
    (release / "croissant.json").write_text(text)
    reseal(release)
    assert verify(release).ok
    assert "croissant.json: " in what(verify(release, deep=True))


def test_a_lock_of_another_release_is_found(release: Path, made: Path):
    manifest = open_release(made).manifest.model_copy(update={"version": "0.0.1-dev"})
    (release / "lock.json").write_bytes(Lock.of(manifest, {}).content())
    assert "belongs to another release" in what(verify(release))
    (release / "lock.json").unlink()
    assert "lock.json" in what(verify(release))


def test_problems_are_bounded_and_counted(release: Path):
    for number in range(300):
        (release / f"extra{number}").write_bytes(b"")
    report = verify(release)
    assert (report.count, len(report.problems)) == (300, 200)
    assert "... and 290 more" in report.text()


def test_control_characters_of_a_hostile_release_do_not_reach_the_terminal(release: Path):
    (release / "bad\x1b[31mname\n").write_bytes(b"")
    report = verify(release)
    assert "\x1b" not in report.text()
    assert report.count == 1


def test_a_table_with_any_changed_byte_raises_nothing_but_a_table_error(made: Path):
    schema, content = HAZARDS.table("regions"), (made / "tables/regions.parquet").read_bytes()
    for place in range(0, len(content), 37):
        changed = bytearray(content)
        changed[place] ^= 0x15
        try:
            schema.decode(bytes(changed), "regions")
        except TableError:
            continue


@pytest.mark.parametrize(
    ("step", "counts", "problem"),
    [
        ("screen", {"kept": 9}, "the counts of 'screen' do not add up"),
        ("release", {"auxiliary": 0, "rejected": 4}, "1 auxiliary pairs, the manifest counts 0"),
        ("release", {"total": 7}, "what the combinations came to does not add up"),
        ("draw", {"kept": 1, "total": 1}, "0 screened-out combinations went on, the manifest counts 1"),
        ("dream", {"rejected": 2, "total": 2}, "0 rows dream/rejected, the manifest counts 2"),
    ],
)
def test_a_funnel_that_the_rows_do_not_back_is_found(release: Path, step: str, counts: dict[str, int], problem: str):
    def lie(manifest: Manifest) -> Manifest:
        part = manifest.components["hazards"]
        funnel = {**part.funnel, step: {**part.funnel.get(step, {}), **counts}}
        return manifest.model_copy(update={"components": {"hazards": part.model_copy(update={"funnel": funnel})}})

    reseal(release, lie)
    assert problem in what(verify(release))


def test_counts_by_task_that_the_rows_do_not_back_are_found(release: Path):
    def lie(manifest: Manifest) -> Manifest:
        part = manifest.components["hazards"]
        strata = {**part.strata, "lane_blockage": {"benchmark": 7, "auxiliary": 0, "total": 7}}
        return manifest.model_copy(update={"components": {"hazards": part.model_copy(update={"strata": strata})}})

    reseal(release, lie)
    assert "pairs of 'lane_blockage', the manifest counts" in what(verify(release))


def test_a_benchmark_pair_that_screening_left_out_is_found(release: Path):
    pairs = open_release(release).frame("hazards", "pairs")
    benchmark = pairs.filter(subset="benchmark")["pair_id"][0]
    rejected = pl.when((pl.col("stage") == "screen") & (pl.col("status") == "rejected"))
    rewrite(release, "rejections", rejected.then(pl.lit(benchmark)).otherwise("item_id").alias("item_id"))
    found = what(verify(release))
    assert f"{benchmark} is benchmark with approved, screening says ego_standing" in found
    assert "1 screened-out combinations went on, the manifest counts 0" in found


def test_a_pair_that_changed_sides_everywhere_is_found(release: Path):
    """Pairs, decisions and every count of the manifest agree with each other; what the steps left out does not."""

    def recount(manifest: Manifest) -> Manifest:
        part = manifest.components["hazards"]
        ends = {**part.funnel["release"], "benchmark": 0, "auxiliary": 2}
        strata = {
            name: {"benchmark": 0, "auxiliary": counts["total"], "total": counts["total"]}
            for name, counts in part.strata.items()
        }
        changed = part.model_copy(update={"funnel": {**part.funnel, "release": ends}, "strata": strata})
        return manifest.model_copy(update={"components": {"hazards": changed}})

    approved = open_release(release).frame("hazards", "pairs").filter(subset="benchmark")["pair_id"][0]
    rewrite(release, "pairs", pl.lit("auxiliary").alias("subset"))
    rewrite(release, "decisions", pl.lit("auxiliary").alias("subset"), pl.lit(value=False).alias("approved"))
    reseal(release, recount)
    found = what(verify(release))
    assert f"{approved} is auxiliary, but no step left it out" in found
    assert "decide kept 1, 0 pairs are in the benchmark" in found


def test_a_benchmark_pair_that_decide_turned_down_is_found(release: Path):
    benchmark = open_release(release).frame("hazards", "pairs").filter(subset="benchmark")["pair_id"][0]
    other = open_release(release).frame("hazards", "rejections").filter(stage="decide", status="rejected")["item_id"][0]
    rejected = pl.when((pl.col("stage") == "decide") & (pl.col("item_id") == other))
    rewrite(release, "rejections", rejected.then(pl.lit(benchmark)).otherwise("item_id").alias("item_id"))
    assert f"{benchmark} is a benchmark pair, but decide turned it down" in what(verify(release))


@pytest.mark.parametrize("column", ["task", "scene", "sample_token"])
def test_a_row_that_says_something_else_than_its_pair_id_is_found(release: Path, column: str):
    rewrite(release, "pairs", pl.lit("another").alias(column))
    assert "says in its row that it is" in what(verify(release))


def test_a_clearance_of_nothing_is_found(release: Path):
    rewrite(release, "regions", pl.lit(0.0).alias("clearance_m"))
    assert "the clearance must be positive" in what(verify(release))


def test_a_pair_whose_views_are_all_as_they_were_is_found(release: Path):
    names = [name for name, column in HAZARDS.table("views").columns.items() if column.nullable]
    blank = [pl.lit(None, dtype=HAZARDS.table("views").columns[name].dtype).alias(name) for name in names]
    rewrite(release, "views", pl.lit(False).alias("is_edited"), *blank)
    found = what(verify(release))
    assert f"{open_release(release).frame('hazards', 'pairs')['pair_id'][0]} has no edited view" in found
    assert "is named by no table" in found
