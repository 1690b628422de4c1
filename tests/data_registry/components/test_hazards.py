"""The component `hazards`: what its tables hold and how they refer to each other."""

import polars as pl
import pytest

from data_registry.components.hazards import HAZARDS
from data_registry.tables import TableSchema, component

every = pytest.mark.parametrize("table", HAZARDS.tables, ids=lambda table: table.name)


def test_it_is_registered_with_the_tables_of_the_design() -> None:
    assert component("hazards") is HAZARDS
    names = ["pairs", "views", "regions", "measurements", "decisions", "rejections", "screenings", "lineage"]
    assert [table.name for table in HAZARDS.tables] == names


@every
def test_a_table_has_documented_columns_and_a_key_without_nulls(table: TableSchema) -> None:
    assert all(column.doc for column in table.columns.values())
    assert set(table.key) <= set(table.columns)
    assert not any(table.columns[name].nullable for name in table.key)


@every
def test_a_table_without_rows_can_be_written_and_read(table: TableSchema) -> None:
    empty = table.frame([])
    assert table.decode(table.encode(empty), table.name).equals(empty)


@every
def test_no_column_holds_what_changes_from_run_to_run(table: TableSchema) -> None:
    banned = {"host", "run_id", "holder", "seconds", "committed_at", "tokens", "commit", "at"}
    assert not banned & set(table.columns)


def test_a_region_row_comes_back_with_its_corners() -> None:
    table = HAZARDS.table("regions")
    quad = [[12.0, -2.3], [12.5, -2.3], [12.5, -1.7], [12.0, -1.7]]
    row = {
        "pair_id": "a/b/c/d",
        "kind": "occupied",
        "clearance_m": 1.5,
        "quad": quad,
        "method": "back_projection",
        "centre_offset_m": None,
        "expected_iou": 0.9,
        "area_ratio": 1.0,
    }
    frame = table.decode(table.encode(table.frame([row])), "regions")
    assert frame.schema["quad"] == pl.Array(pl.Array(pl.Float64, 2), 4)
    assert frame.rows(named=True) == [row]
