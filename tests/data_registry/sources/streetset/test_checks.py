"""The referential check finds what the devkit would load without a word."""

from __future__ import annotations

import pytest

from data_registry.sources.streetset.checks import BrokenTablesError, check_tables
from data_registry.sources.streetset.tables import Tables, make_tables


@pytest.fixture
def tables() -> Tables:
    return make_tables()


def test_the_streets_tables_hold_together(tables: Tables) -> None:
    check_tables(tables)


@pytest.mark.parametrize(
    ("table", "field", "value", "message"),
    [
        ("sample_data", "ego_pose_token", "nobody", "ego_pose_token names no ego_pose: 'nobody'"),
        ("sample_annotation", "attribute_tokens", ["nobody"], "attribute_tokens names no attribute"),
        ("scene", "log_token", "", "log_token names no log"),
        ("sample", "next", "nobody", "next 'nobody' does not lead back"),
        ("map", "log_tokens", ["nobody"], "log_tokens names no log"),
    ],
)
def test_a_dangling_link_is_named(tables: Tables, table: str, field: str, value, message: str) -> None:
    tables[table][0][field] = value
    with pytest.raises(BrokenTablesError, match=message):
        check_tables(tables)


def test_a_duplicate_token_is_named(tables: Tables) -> None:
    tables["ego_pose"].append(dict(tables["ego_pose"][3]))
    with pytest.raises(BrokenTablesError, match=r"ego_pose: token [0-9a-f]{32} occurs 2 times"):
        check_tables(tables)


def test_a_chain_that_skips_back_is_named(tables: Tables) -> None:
    tables["sample_annotation"][4]["prev"] = tables["sample_annotation"][2]["token"]
    with pytest.raises(BrokenTablesError, match="does not lead back"):
        check_tables(tables)


def test_many_problems_are_counted_and_ten_are_shown(tables: Tables) -> None:
    for record in tables["sample_annotation"]:
        record["visibility_token"] = "9"
    with pytest.raises(BrokenTablesError, match="220 broken links") as caught:
        check_tables(tables)
    assert str(caught.value).count("\n") == 10
