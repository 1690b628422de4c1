"""The referential check finds what the devkit would load without a word."""

from __future__ import annotations

import pytest

from data_registry.sources.streetset.checks import BrokenTablesError, check_tables
from data_registry.sources.streetset.scenes import SCENES
from data_registry.sources.streetset.tables import Tables, make_tables

TWO = SCENES[:2]


@pytest.fixture
def tables() -> Tables:
    return make_tables(TWO)


def test_the_tables_of_all_scenes_hold_together() -> None:
    check_tables(make_tables(SCENES))


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
    count = len(tables["sample_annotation"])
    assert count == 11 * sum(len(scene.actors) for scene in TWO)
    with pytest.raises(BrokenTablesError, match=f"^{count} broken links") as caught:
        check_tables(tables)
    assert str(caught.value).count("\n") == 10
