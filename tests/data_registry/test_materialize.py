"""Edited pictures from a release and its logs: exact, resumable, and refused when anything differs."""

import os
from collections.abc import Collection
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from data_registry.manifest import ReleaseCorruptError
from data_registry.materialize import MaterializeError, UnknownPairError, edited_picture, materialize
from data_registry.pictures import decode_rgb, encode_png, pixels_digest
from data_registry.release import Release, open_release
from data_registry.sources.source import Request, Selection
from tasks.publish import publish
from tests.tasks.publications import TOKENS, WINDOW, Logs, build, picture


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("release")
    return open_release(publish(build(folder), folder / "releases").path)


def test_edited_pictures_are_the_source_outside_the_mask_and_the_delta_inside(release: Release, tmp_path: Path):
    made = materialize(release, Logs(), tmp_path)
    assert (made.written, made.there) == (4, 0)
    pair = release.frame("hazards", "pairs").filter(subset="benchmark")["pair_id"][0]
    edited = decode_rgb((tmp_path / pair / "CAM_FRONT.png").read_bytes(), "edited")
    source = decode_rgb(picture(TOKENS[0], "CAM_FRONT"), "source")
    left, top, right, bottom = WINDOW
    inside = np.zeros(source.shape[:2], dtype=bool)
    inside[top + 2 : bottom - 2, left + 3 : right - 3] = True
    assert (edited[~inside] == source[~inside]).all()
    assert (edited[inside] == 41).all()


def test_a_second_run_makes_only_what_is_missing_or_damaged(release: Release, tmp_path: Path):
    materialize(release, Logs(), tmp_path)
    paths = sorted(tmp_path.rglob("*.png"))
    paths[0].unlink()
    paths[1].write_bytes(paths[1].read_bytes()[:50])
    seen: list[tuple[int, int]] = []
    made = materialize(release, Logs(), tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert (made.written, made.there) == (2, 2)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    digests = set(release.frame("hazards", "views")["edited_pixels_sha256"].drop_nulls().to_list())
    assert {pixels_digest(decode_rgb(path.read_bytes(), str(path))) for path in paths} == digests


def test_only_the_wanted_pairs_are_made(release: Release, tmp_path: Path):
    pair = release.frame("hazards", "pairs")["pair_id"][0]
    assert materialize(release, Logs(), tmp_path, pairs=[pair]).written == 2
    assert {path.parent for path in tmp_path.rglob("*.png")} == {tmp_path / pair}


def test_unknown_pairs_are_named_together(release: Release, tmp_path: Path):
    with pytest.raises(UnknownPairError, match="has no pair 'a/b/c/d', 'e/f/g/h'; its table pairs lists the ids"):
        materialize(release, Logs(), tmp_path, pairs=["e/f/g/h", "a/b/c/d"])


def test_another_source_file_is_refused_by_name_with_the_fix(release: Release, tmp_path: Path):
    other = picture(TOKENS[0], "CAM_FRONT") + b"trailing"
    with pytest.raises(MaterializeError, match=r"collapsed_road_surface CAM_FRONT: .*another file.*lock.json"):
        materialize(release, Logs({"CAM_FRONT": other}), tmp_path)
    with pytest.raises(MaterializeError, match=r"CAM_FRONT.*cannot be decoded"):
        materialize(release, Logs({"CAM_FRONT": other[:100]}), tmp_path)


def test_logs_without_the_keyframe_are_refused(release: Release, tmp_path: Path):
    class Empty(Logs):
        def select(self, request: Request) -> Selection:
            return Selection((), ())

    with pytest.raises(MaterializeError, match="have no keyframe streetset/town/aaaa"):
        materialize(release, Empty(), tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("source_pixels_sha256", "0" * 64, "install the Pillow"),
        ("edited_pixels_sha256", "0" * 64, "not those of the release"),
        ("window_left", 11, "do not have the size of window"),
        ("delta", "README.md", "is not an 8-bit RGB PNG"),
        ("sensor_id", "CAM_BACK", "no such view"),
    ],
)
def test_a_row_that_lies_is_refused(release: Release, column: str, value: object, problem: str):
    row = release.frame("hazards", "views").filter("is_edited").to_dicts()[0] | {column: value}
    logs = Logs()
    frame = logs.select(Request(tokens=(TOKENS[0],))).keyframes[0]
    with pytest.raises(MaterializeError, match=problem):
        edited_picture(release, logs, frame, row)


def test_a_changed_delta_is_refused(tmp_path: Path):
    published = publish(build(tmp_path), tmp_path / "releases")
    path = next(iter(sorted(published.path.resolve().glob("deltas/**/CAM_FRONT.png"))))
    path.write_bytes(encode_png(np.zeros((24, 30, 3), dtype=np.uint8)))
    with pytest.raises(ReleaseCorruptError, match=r"CAM_FRONT.*was changed after the release was made"):
        materialize(open_release(published.path), Logs(), tmp_path / "out")


class Renamed(Release):
    """The release of somebody who gave every pair and sensor another name."""

    names: dict[str, str]

    def frame(self, component: str, table: str, columns: Collection[str] = ()) -> pl.DataFrame:
        found = super().frame(component, table, columns)
        return found.with_columns(pl.lit(value).alias(name) for name, value in self.names.items() if name in found)


@pytest.mark.parametrize(
    ("column", "name"),
    [("pair_id", "../../../escaped"), ("pair_id", "/a/b/c"), ("pair_id", "a/b/c/d"), ("sensor_id", "../../x")],
)
def test_ids_that_lead_out_of_the_folder_are_refused(release: Release, tmp_path: Path, column: str, name: str):
    hostile = Renamed(release.path, release.manifest, release.digest)
    object.__setattr__(hostile, "names", {column: name})
    with pytest.raises(MaterializeError, match="the release is damaged or hostile"):
        materialize(hostile, Logs(), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_link_below_the_folder_does_not_lead_out_of_it(release: Release, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "away").mkdir()
    (tmp_path / "out/streetset").symlink_to(tmp_path / "away")
    with pytest.raises(MaterializeError, match="through a symlink, not inside"):
        materialize(release, Logs(), tmp_path / "out")
    assert not list((tmp_path / "away").iterdir())


def test_a_file_where_a_folder_goes_and_a_folder_where_a_picture_goes_are_told(release: Release, tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(MaterializeError, match=r"cannot be a folder.*name another OUT"):
        materialize(release, Logs(), tmp_path / "file")
    pair = release.frame("hazards", "pairs")["pair_id"][0]
    (tmp_path / pair / "CAM_FRONT.png").mkdir(parents=True)
    with pytest.raises(MaterializeError, match=r"CAM_FRONT.png is a folder where a picture goes"):
        materialize(release, Logs(), tmp_path, pairs=[pair])


@pytest.mark.parametrize("kind", ["a named pipe", "a symlink"])
def test_a_pipe_or_a_link_where_a_picture_goes_is_told_and_stays(release: Release, tmp_path: Path, kind: str):
    pair = release.frame("hazards", "pairs")["pair_id"][0]
    place = tmp_path / pair / "CAM_FRONT.png"
    place.parent.mkdir(parents=True)
    if kind == "a symlink":
        place.symlink_to("elsewhere")
    else:
        os.mkfifo(place)
    before = place.lstat()
    with pytest.raises(MaterializeError, match=rf"CAM_FRONT.png is {kind} where a picture goes: name another OUT"):
        materialize(release, Logs(), tmp_path, pairs=[pair])
    assert place.lstat() == before


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where nobody can make a folder")
def test_a_folder_that_cannot_be_made_is_told(release: Release):
    with pytest.raises(MaterializeError, match=r"/proc/x.* cannot be a folder"):
        materialize(release, Logs(), Path("/proc/x"))
