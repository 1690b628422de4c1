"""Tables: one schema, one order, one spelling; hostile files raise TableError."""

import io
import random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry import identity, tables
from data_registry.tables import Column, Component, TableError, TableSchema, component, register

SHAPES = TableSchema(
    "shapes",
    ("scene", "number"),
    {
        "scene": Column(pl.String, "scene"),
        "number": Column(pl.Int32, "number"),
        "size": Column(pl.Float64, "metres", nullable=True),
        "is_round": Column(pl.Boolean, "shape"),
        "quad": Column(pl.Array(pl.Array(pl.Float64, 2), 4), "corners", nullable=True),
    },
)
QUAD = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]


def _row(**changes: Any) -> dict[str, Any]:
    return {"scene": "a", "number": 1, "size": 0.5, "is_round": True, "quad": QUAD} | changes


rows = st.lists(
    st.builds(
        _row,
        scene=st.text(st.characters(exclude_categories=("Cs",)), max_size=4),
        number=st.integers(-(2**31), 2**31 - 1),
        size=st.none() | st.floats(allow_nan=False, allow_infinity=False),
        quad=st.none() | st.just(QUAD),
    ),
    max_size=8,
    unique_by=lambda row: (row["scene"], row["number"]),
)


@given(rows, st.randoms())
def test_the_same_rows_in_any_order_give_the_same_bytes_and_come_back(
    content: list[dict[str, Any]], shuffler: random.Random
) -> None:
    frame = SHAPES.frame(content)
    encoded = SHAPES.encode(frame)
    shuffled = list(content)
    shuffler.shuffle(shuffled)
    assert SHAPES.encode(SHAPES.frame(shuffled)) == encoded
    back = SHAPES.decode(encoded, "shapes.parquet")
    assert back.equals(frame)
    assert SHAPES.content_digest(back) == SHAPES.content_digest(frame)
    assert back.rows(named=True) == sorted(content, key=lambda row: (row["scene"].encode(), row["number"]))


def test_the_content_digest_sees_each_value_and_not_the_file_format() -> None:
    one, other = SHAPES.frame([_row()]), SHAPES.frame([_row(size=0.25)])
    assert SHAPES.content_digest(one) != SHAPES.content_digest(other)
    buffer = io.BytesIO()
    one.write_parquet(buffer, compression="uncompressed")
    again = SHAPES.decode(buffer.getvalue(), "x")
    assert SHAPES.content_digest(again) == SHAPES.content_digest(one)


def _quad(x: Any) -> list[list[Any]]:
    return [[x, 0.0], *QUAD[1:]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([_row(), {"scene": "b"}], r"table shapes, row 1: missing or unknown columns \['is_round', 'number'"),
        ([_row(extra=1)], r"row 0: missing or unknown columns \['extra'\]"),
        ([_row(number="one")], "row 0: number is 'one', not Int32"),
        ([_row(), _row(number=1.5)], "row 1: number is 1.5, not Int32"),
        ([_row(number=True)], "number is True, not Int32"),
        ([_row(size=True)], "size is True, not Float64"),
        ([_row(is_round=1)], "is_round is 1, not Boolean"),
        ([_row(number=2**40)], "table shapes: "),
        ([_row(scene=3)], "scene is 3, not String"),
        ([_row(quad=[[0.0, 0.0]])], "quad is .*, not Array"),
        ([_row(scene=None)], "column scene has 1 nulls"),
        ([_row(is_round=None)], "column is_round has 1 nulls"),
        ([_row(size=float("nan"))], "column size holds NaN or infinity"),
        ([_row(size=float("inf"))], "column size holds NaN or infinity"),
        ([_row(quad=_quad(float("nan")))], "column quad holds NaN or infinity"),
        ([_row(quad=_quad(None))], "quad is .*None.*, not Array"),
        ([_row(), _row(size=2.0)], r"repeated key \('a', 1\)"),
    ],
)
def test_rows_that_do_not_fit_are_refused(content: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(TableError, match=message):
        SHAPES.frame(content)


def test_a_frame_of_another_shape_or_order_is_refused() -> None:
    frame = SHAPES.frame([_row(), _row(number=2)])
    for wrong, message in (
        (frame[[1, 0]], "is not sorted by scene, number"),
        (frame.drop("size"), "has columns"),
        (frame.select(reversed(frame.columns)), "has columns"),
        (frame.with_columns(pl.col("number").cast(pl.Int64)), "has columns"),
    ):
        with pytest.raises(TableError, match=message):
            SHAPES.encode(wrong)
        buffer = io.BytesIO()
        wrong.write_parquet(buffer)
        with pytest.raises(TableError, match=f"tables/shapes.parquet: table shapes .*{message.split()[-1]}"):
            SHAPES.decode(buffer.getvalue(), "tables/shapes.parquet")


def test_a_null_inside_a_files_array_is_refused() -> None:
    types = {name: column.dtype for name, column in SHAPES.columns.items()}
    buffer = io.BytesIO()
    pl.DataFrame([_row(quad=_quad(None))], schema=types).write_parquet(buffer)
    with pytest.raises(TableError, match="column quad has nulls inside"):
        SHAPES.decode(buffer.getvalue(), "x")


def test_some_columns_are_read_as_the_whole_table_is() -> None:
    encoded = SHAPES.encode(SHAPES.frame([_row(number=number) for number in range(5)]))
    some = SHAPES.decode(encoded, "x", ("number", "scene", "size"))
    assert some.equals(SHAPES.decode(encoded, "x").select("scene", "number", "size"))
    with pytest.raises(KeyError, match="scene"):
        SHAPES.decode(encoded, "x", ("number", "size"))
    with pytest.raises(KeyError, match="colour"):
        SHAPES.decode(encoded, "x", ("scene", "number", "colour"))
    buffer = io.BytesIO()
    SHAPES.decode(encoded, "x").drop("quad").write_parquet(buffer)
    with pytest.raises(TableError, match="x: table shapes has columns"):
        SHAPES.decode(buffer.getvalue(), "x", ("scene", "number"))


def test_rows_become_a_table_slice_by_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    content = [_row(number=number) for number in range(7)]
    whole = SHAPES.frame(content)
    monkeypatch.setattr(tables, "ROW_GROUP", 3)
    assert SHAPES.frame(iter(content)).equals(whole)
    with pytest.raises(TableError, match="table shapes, row 6: number is 'x', not Int32"):
        SHAPES.frame([*content[:6], _row(number="x")])
    with pytest.raises(TableError, match="repeated key"):
        SHAPES.frame([*content, content[0]])


def test_a_file_that_claims_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = SHAPES.encode(SHAPES.frame([_row(number=number) for number in range(5)]))
    monkeypatch.setattr(tables, "LARGEST_ROWS", 4)
    with pytest.raises(TableError, match="x: claims 5 rows, more than 4"):
        SHAPES.decode(encoded, "x")


def test_a_small_file_that_decodes_to_far_more_is_refused_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = SHAPES.frame([_row(scene="A" * 1000, number=number) for number in range(5000)])
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")  # one row group, its one text held once
    assert len(buffer.getvalue()) < 100_000
    assert SHAPES.decode(buffer.getvalue(), "x").equals(frame)
    monkeypatch.setattr(tables, "LARGEST_TABLE", 1_000_000)
    with pytest.raises(TableError, match=r"x: its first 1344 rows decode to .* bytes, more than 1000000"):
        SHAPES.decode(buffer.getvalue(), "x")


@given(rows)
def test_the_content_digest_is_that_of_the_whole_document(content: list[dict[str, Any]]) -> None:
    frame = SHAPES.frame(content)
    whole = {"columns": frame.columns, "rows": [list(row) for row in frame.iter_rows()]}
    assert SHAPES.content_digest(frame) == identity.digest(whole)


@given(st.binary(max_size=100))
def test_any_bytes_raise_nothing_but_a_table_error(content: bytes) -> None:
    for hostile in (content, b"PAR1" + content, b"PAR1" + content + len(content).to_bytes(4, "little") + b"PAR1"):
        with pytest.raises(TableError, match=r"^x(.parquet)? is not a parquet file|^x: "):
            SHAPES.decode(hostile, "x")


@given(st.integers(0, 10**9))
def test_damaged_files_raise_nothing_but_a_table_error(seed: int) -> None:
    damaged = bytearray(SHAPES.encode(SHAPES.frame([_row(number=number) for number in range(20)])))
    generator = random.Random(seed)
    for _ in range(generator.randint(1, 4)):
        damaged[generator.randrange(len(damaged))] = generator.randrange(256)
    try:
        SHAPES.decode(bytes(damaged), "x")
    except TableError:
        return


def test_a_component_is_found_by_name_and_its_tables_too() -> None:
    toys = Component("toys", 1, (SHAPES,))
    try:
        assert register(toys) is register(toys)
        assert component("toys").table("shapes") is SHAPES
    finally:
        del tables._COMPONENTS["toys"]
    with pytest.raises(KeyError, match="component toys has no table absent"):
        toys.table("absent")
    with pytest.raises(TableError, match="unknown release component 'toys'; known here: "):
        component("toys")
