"""Columns against reading record by record: the same logs, and of broken tables the same problems."""

import json
from collections import Counter
from hashlib import md5
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.sources.nuscenes import TablesError, problems, streaming
from data_registry.sources.nuscenes.index import open_index
from data_registry.sources.nuscenes.logs import SceneLog
from data_registry.sources.nuscenes.tokens import Directory, Tokens
from tests.data_registry.sources.plain_logs import plain_logs
from tests.data_registry.sources.roots import VERSION, Tables, tiny_tables, write_root
from tests.data_registry.sources.test_nuscenes_refusals import ODD

HEX = "0123456789abcdef"
WHOLE = st.integers(-(2**63), 2**64 - 1)


def column_logs(folder: Path, home: Path) -> list[SceneLog]:
    index = open_index(folder, home, home / "digests.json")
    return [index.scene(name) for name in index.scenes]


def hexed(tables: Tables) -> Tables:
    """Return the same tables with official tokens: 32 hexadecimal digits, whatever names another record."""
    links = ("token", "_token", "_tokens", "prev", "next")

    def digits(value: Any) -> Any:
        if isinstance(value, list):
            return [digits(item) for item in value]
        return md5(value.encode()).hexdigest() if isinstance(value, str) and value else value

    return {
        name: [
            {field: digits(value) if field.endswith(links) else value for field, value in row.items()} for row in rows
        ]
        for name, rows in tables.items()
    }


def varied(draw: st.DrawFn) -> Tables:
    """Return sound tables with sweeps, missing neighbours, attribute lists and rows in any order."""
    scenes = draw(st.sampled_from([("scene-9101",), ("scene-9103", "scene-9101", "scene-0001")]))
    tables = tiny_tables(draw(st.integers(1, 4)), scenes)
    tables["attribute"].append({"token": "still", "name": "pedestrian.standing"})
    for note in tables["sample_annotation"]:
        note["attribute_tokens"] = draw(st.lists(st.sampled_from(["moving", "still"]), max_size=3))
        note["visibility_token"] = draw(st.sampled_from(["", "1", "4"]))
        note[draw(st.sampled_from(["prev", "next", "prev"]))] = ""
        note["translation"] = draw(st.lists(st.integers(-9, 9) | st.floats(-1e6, 1e6), min_size=3, max_size=3))
    for number in range(draw(st.integers(0, 5))):
        origin = draw(st.sampled_from(tables["sample_data"]))
        time = origin["timestamp"] + draw(st.sampled_from([-50_000, 0, 50_000]))
        pose = {**tables["ego_pose"][0], "token": f"sweep{number}", "timestamp": time}
        tables["ego_pose"].append(pose)
        sweep = {**origin, "token": f"sweep{number}", "ego_pose_token": f"sweep{number}", "is_key_frame": False}
        tables["sample_data"].append(sweep)
    if draw(st.booleans()):
        tables = hexed(tables)
    return {name: draw(st.permutations(rows)) for name, rows in tables.items()}


@given(st.data())
def test_columns_hold_what_reading_record_by_record_gives(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("varied")
    tables = data.draw(st.composite(varied)())
    folder = write_root(root, tables, pictures=False) / VERSION
    logs = column_logs(folder, root / "index")
    assert logs == plain_logs(folder)
    index = open_index(folder, root / "index", root / "index" / "digests.json")
    owners = {moment.token: log.name for log in logs for moment in log.moments}
    assert {token: index.owner(token) for token in owners} == owners
    assert index.owner("") is None


def problems_of(read: Any) -> Counter[str]:
    try:
        read()
    except TablesError as error:
        return Counter(line for line in str(error).splitlines() if line.startswith("  - "))
    return Counter()


def _fits(value: object) -> bool:
    """Tell whether a value comes as it is; other integers come as floats, and are named so."""
    return not isinstance(value, int) or -(2**63) <= value < 2**64


@given(st.data())
def test_broken_tables_have_the_same_problems_as_record_by_record(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    tables = tiny_tables(3)
    if data.draw(st.booleans()):
        tables = hexed(tables)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(tables)))
        entry = data.draw(st.sampled_from(tables[name]))
        field = data.draw(st.sampled_from(sorted(entry)))
        other = data.draw(st.sampled_from(tables[name]))
        entry[field] = data.draw(
            ODD.filter(_fits) | WHOLE | st.sampled_from([2**31, 2**32 + 64]) | st.just(other.get(field))
        )
    root = tmp_path_factory.mktemp("broken")
    folder = write_root(root, tables, pictures=False) / VERSION
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problems, "SHOWN", 10**6)
        ours = problems_of(lambda: column_logs(folder, root / "index"))
        plain = problems_of(lambda: plain_logs(folder))
    if any("stands more than once" in line for line in plain):  # record by record then forgets the earlier record
        assert plain <= ours
    else:
        assert ours == plain


ITEMS = st.lists(
    st.dictionaries(
        st.text(max_size=3),
        st.recursive(
            st.none() | WHOLE | st.floats() | st.text("}]{[,\\\"'a\u20ac\ud800", max_size=5),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
            max_leaves=5,
        ),
        max_size=4,
    )
    | WHOLE
    | st.just([]),
    max_size=8,
)


def streamed(path: Path, batch: int) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "BATCH_BYTES", batch)
        return [item for items in streaming.batches(path) for item in items]


@given(ITEMS, st.sampled_from([None, 0, 2]), st.booleans(), st.integers(1, 60))
def test_a_list_in_batches_is_the_list(
    tmp_path_factory: pytest.TempPathFactory, items: list[Any], indent: int | None, ascii_only: bool, batch: int
) -> None:
    path = tmp_path_factory.mktemp("list") / "table.json"
    path.write_bytes(json.dumps(items, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))
    assert repr(streamed(path, batch)) == repr(json.loads(path.read_bytes()))


@given(ITEMS, st.integers(1, 60), st.data())
def test_broken_lists_are_refused_as_by_json(
    tmp_path_factory: pytest.TempPathFactory, items: list[Any], batch: int, data: st.DataObject
) -> None:
    content = bytearray(json.dumps(items).encode())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place : place + data.draw(st.integers(0, 2))] = data.draw(
        st.sampled_from([b"", b"}", b",", b'"', b"]", b"\xff"])
    )
    path = tmp_path_factory.mktemp("list") / "table.json"
    path.write_bytes(content)
    try:
        expected = json.loads(bytes(content))
    except ValueError:
        expected = None
    if isinstance(expected, list):
        assert repr(streamed(path, batch)) == repr(expected)
    else:
        with pytest.raises(ValueError, match=r"table\.json (cannot be read as JSON|must be a list of records)"):
            streamed(path, batch)


def test_a_batch_is_small_and_a_cut_file_names_the_place(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    content = json.dumps([{"token": f"{number:032x}"} for number in range(100_000)])
    path.write_text(content)
    sizes = [len(items) for items in streaming.batches(path)]
    assert sum(sizes) == 100_000
    assert max(sizes) <= streaming.BATCH_BYTES // 40
    path.write_text(content[:-9])
    with pytest.raises(ValueError, match=r"Unterminated string.*: byte \d{7}"):
        streamed(path, streaming.BATCH_BYTES)


TOKENS = st.text(HEX, min_size=32, max_size=32) | st.sampled_from(
    ["", "a", "a" * 32, "A" * 32, "a" * 31 + "b", "ä" * 16]
)
"""Some share their first eight bytes."""


@given(st.lists(TOKENS, max_size=12), st.lists(TOKENS, max_size=6))
def test_tokens_are_found_and_sorted_as_texts(held: list[str], wanted: list[str]) -> None:
    half = len(held) // 2
    tokens = Tokens.joined([Tokens.of(held[:half]), Tokens.of(held[half:])])
    directory = Directory(tokens)
    assert tokens.listed() == held
    assert directory.repeated().tolist() == [n for n, token in enumerate(held) if token in held[:n]]
    rows = directory.rows(Tokens.of(wanted)).tolist()
    assert [held[row] if row >= 0 else None for row in rows] == [token if token in held else None for token in wanted]
    assert [held[row] for row in np.argsort(tokens.ranks())] == sorted(held)
