"""What the reader refuses, and how it says so."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data_registry.sources.nuscenes import (
    NuScenes,
    RootError,
    TablesError,
    UnknownRequestError,
)
from data_registry.sources.source import Request, SourceError
from tests.data_registry.sources.roots import VERSION, Tables, opened, select, tiny_tables, write_root


@pytest.fixture
def tables() -> Tables:
    return tiny_tables()


def test_missing_root_and_version_say_what_is_there(tmp_path: Path, tables: Tables) -> None:
    with pytest.raises(RootError, match=r"is not a folder: set source\.root"):
        opened(tmp_path)
    write_root(tmp_path / "root", tables)
    with pytest.raises(RootError, match=f"no version 'v1.0-mini': versions there: {VERSION}"):
        NuScenes(tmp_path / "root", "v1.0-mini", tmp_path / "index")
    with pytest.raises(RootError):
        NuScenes(tmp_path / "root", "..", tmp_path / "index")


def test_every_missing_table_is_named(tmp_path: Path, tables: Tables) -> None:
    write_root(tmp_path / "root", tables)
    for name in ("scene", "map"):
        (tmp_path / "root" / VERSION / f"{name}.json").unlink()
    with pytest.raises(TablesError, match="2 problems") as caught:
        opened(tmp_path)
    assert "scene.json" in str(caught.value)
    assert "map.json" in str(caught.value)


@pytest.mark.parametrize("content", ["", "[", "{}", "3", "[[]]", "\xff", "[" * 100_000])
def test_unreadable_table_is_refused(tmp_path: Path, tables: Tables, content: str) -> None:
    write_root(tmp_path / "root", tables)
    (tmp_path / "root" / VERSION / "log.json").write_text(content, "latin-1")
    with pytest.raises(TablesError, match="table log"):
        opened(tmp_path)


NAN = float("nan")
BAD_FIELDS = [
    ("ego_pose", "translation", [NAN, 0, 0], "finite numbers"),
    ("ego_pose", "translation", [0, 0], "list of 3 numbers"),
    ("ego_pose", "rotation", [1, 1, 0, 0], "unit quaternion"),
    ("ego_pose", "rotation", [float("inf"), 0, 0, 0], "finite numbers"),
    ("ego_pose", "timestamp", 1.5, "whole microseconds"),
    ("calibrated_sensor", "camera_intrinsic", [[1, 0, 0], [0, 1, 0], [0, 0, 0]], "singular"),
    ("calibrated_sensor", "camera_intrinsic", [[0, 0, 0], [0, 1, 0], [0, 0, 1]], "singular"),
    ("calibrated_sensor", "camera_intrinsic", [[1, 0], [0, 1]], "3x3"),
    ("calibrated_sensor", "camera_intrinsic", [], "is a camera; restore its calibration"),
    ("calibrated_sensor", "sensor_token", "gone", "'gone' is not in table sensor"),
    ("sample", "scene_token", "gone", "'gone' is not in table scene"),
    ("sample", "next", "gone", "'gone' is not in table sample"),
    ("sample", "token", "a/b", "ASCII letters, digits and"),
    ("sample_data", "ego_pose_token", "gone", "not in table ego_pose"),
    ("sample_data", "sample_token", "gone", "not in table sample"),
    ("sample_data", "calibrated_sensor_token", "gone", "not in table calibrated_sensor"),
    ("sample_data", "filename", "../../secret", "below the root"),
    ("map", "filename", f"maps/{'a' * 256}.png", "no file can be called"),
    ("sample_data", "is_key_frame", 1, "true or false"),
    ("sample_data", "width", None, "needs its size in pixels"),
    ("sample_annotation", "instance_token", "gone", "not in table instance"),
    ("sample_annotation", "attribute_tokens", ["gone"], "not in table attribute"),
    ("sample_annotation", "prev", "gone", "not in table sample_annotation"),
    ("sample_annotation", "size", [0, 1, 1], "above 1 mm"),
    ("instance", "category_token", "gone", "not in table category"),
    ("scene", "log_token", "", "'' is not in table log"),
    ("scene", "description", 4, "must be text"),
    ("log", "location", "../x", "ASCII letters, digits and"),
]


@pytest.mark.parametrize(("table", "field", "value", "message"), BAD_FIELDS)
def test_bad_field_is_named(
    tmp_path: Path, tables: Tables, table: str, field: str, value: object, message: str
) -> None:
    tables[table][0][field] = value
    write_root(tmp_path / "root", tables, pictures=False)
    with pytest.raises(TablesError) as caught:
        opened(tmp_path)
    assert message in str(caught.value)
    assert f"table {table}" in str(caught.value)
    assert field in str(caught.value)


def test_missing_fields_duplicates_and_absent_cameras_are_named(tmp_path: Path, tables: Tables) -> None:
    del tables["sample_data"][0]["timestamp"]
    with pytest.raises(TablesError, match="token 'scene-9101-0-CAM_BACK': field timestamp is missing"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["ego_pose"].append(tables["ego_pose"][0])
    with pytest.raises(TablesError, match="token 'scene-9101-0-CAM_BACK': stands more than once"):
        select(tmp_path, tables)
    tables = tiny_tables()
    del tables["sample_data"][0]
    with pytest.raises(TablesError, match="sample scene-9101-0 has no keyframe record of CAM_BACK"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["sample_data"].append({**tables["sample_data"][0], "token": "twin"})
    with pytest.raises(TablesError, match="a second CAM_BACK keyframe record"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["sample"][1]["timestamp"] = tables["sample"][0]["timestamp"]
    with pytest.raises(TablesError, match="the same as that of scene-9101-0"):
        select(tmp_path, tables)
    tables = tiny_tables()
    tables["scene"].append({**tables["scene"][0], "token": "other"})
    with pytest.raises(TablesError, match="name 'scene-9101' is taken"):
        select(tmp_path, tables)


def test_all_problems_come_at_once_and_bounded(tmp_path: Path) -> None:
    tables = tiny_tables(8)
    for pose in tables["ego_pose"]:
        pose["translation"] = [NAN, 0, 0]
    tables["log"][0]["location"] = 3
    with pytest.raises(TablesError, match="25 problems") as caught:
        select(tmp_path, tables)
    assert str(caught.value).count("table ") == 10
    assert "... and 15 more" in str(caught.value)


def test_broken_tables_leave_no_index(tmp_path: Path, tables: Tables) -> None:
    tables["sample"][0]["scene_token"] = "gone"
    with pytest.raises(TablesError):
        select(tmp_path, tables)
    assert [path.name for path in (tmp_path / "index").iterdir() if "root" not in path.name] == ["build.lock"]


def test_unknown_scenes_and_tokens_are_all_named(tmp_path: Path, tables: Tables) -> None:
    with pytest.raises(UnknownRequestError, match="3 problems") as caught:
        select(tmp_path, tables, Request(scenes=("scene-1", "scene-2"), tokens=("x",)))
    assert "scene-9101 to scene-9101" in str(caught.value)
    write_root(tmp_path / "two", tiny_tables(2, ("scene-9101", "scene-9102")))
    two = NuScenes(tmp_path / "two", VERSION, tmp_path / "index")
    with pytest.raises(UnknownRequestError, match="not among the scenes"):
        two.select(Request(scenes=("scene-9101",), tokens=("scene-9102-0",)))


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -1, 2**53, 1e308, NAN, float("inf"), "", "..", "a/b", "\0", "\ud800", "x" * 5000]),
    st.lists(st.floats(), max_size=4),
    st.lists(st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3), min_size=3, max_size=3),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
    st.text(max_size=4),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mutated_tables_raise_nothing_but_source_errors(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tables = tiny_tables(3)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(tables)))
        number = data.draw(st.integers(0, len(tables[name]) - 1))
        entry = tables[name][number]
        if not isinstance(entry, dict) or not entry:
            continue
        field = data.draw(st.sampled_from(sorted(entry)))
        kind = data.draw(st.sampled_from(["set", "swap", "drop", "remove", "twice", "record"]))
        if kind == "set":
            entry[field] = data.draw(ODD)
        elif kind == "swap":
            entry[field] = data.draw(st.sampled_from(tables[name])).get(field)
        elif kind == "drop":
            del entry[field]
        elif kind == "remove" and len(tables[name]) > 1:
            del tables[name][number]
        elif kind == "twice":
            tables[name].append(dict(entry))
        elif kind == "record" and len(tables[name]) > 1:
            tables[name][number] = {"token": data.draw(ODD)}
    root = tmp_path_factory.mktemp("mutated")
    write_root(root / "root", tables, pictures=False)
    for picture in tiny_tables(3)["sample_data"]:
        path = root / "root" / picture["filename"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"picture")
    with contextlib.suppress(SourceError):
        for keyframe in opened(root).select(Request("all")).keyframes:
            assert keyframe.payload_digest
