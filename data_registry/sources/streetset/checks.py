"""Referential check of nuScenes tables: the devkit loads dangling links and duplicate tokens without a word."""

from __future__ import annotations

from collections import Counter
from typing import Final

from data_registry.sources.streetset.tables import Record, Tables

SHOWN: Final = 10

LINKS: Final[dict[str, dict[str, str]]] = {
    "instance": {
        "category_token": "category",
        "first_annotation_token": "sample_annotation",
        "last_annotation_token": "sample_annotation",
    },
    "calibrated_sensor": {"sensor_token": "sensor"},
    "scene": {"log_token": "log", "first_sample_token": "sample", "last_sample_token": "sample"},
    "sample": {"scene_token": "scene"},
    "sample_data": {
        "sample_token": "sample",
        "ego_pose_token": "ego_pose",
        "calibrated_sensor_token": "calibrated_sensor",
    },
    "sample_annotation": {
        "sample_token": "sample",
        "instance_token": "instance",
        "visibility_token": "visibility",
        "attribute_tokens": "attribute",
    },
    "map": {"log_tokens": "log"},
}
"""Table -> field -> table that the field's token (or each of its tokens) names."""

CHAINED: Final = ("sample", "sample_data", "sample_annotation")


class BrokenTablesError(ValueError):
    """Tables do not hold together; a bug in whoever made them."""


def check_tables(tables: Tables) -> None:
    """Check that every token is unique and names something, and that chains run both ways.

    Raises:
        BrokenTablesError: naming the first ten problems and how many there are.
    """
    problems = [*_duplicates(tables), *_dangling(tables), *_broken_chains(tables)]
    if problems:
        listed = "\n  ".join(problems[:SHOWN])
        raise BrokenTablesError(f"{len(problems)} broken links in the tables, nothing was written:\n  {listed}")


def _duplicates(tables: Tables) -> list[str]:
    return [
        f"{table}: token {token} occurs {count} times"
        for table, records in tables.items()
        for token, count in Counter(record["token"] for record in records).items()
        if count > 1
    ]


def _dangling(tables: Tables) -> list[str]:
    known = {table: {record["token"] for record in records} for table, records in tables.items()}
    return [
        f"{table} {record['token']}: {field} names no {target}: {token!r}"
        for table, fields in LINKS.items()
        for record in tables[table]
        for field, target in fields.items()
        for token in _tokens(record, field)
        if token not in known[target]
    ]


def _tokens(record: Record, field: str) -> list[str]:
    value = record[field]
    return value if isinstance(value, list) else [value]


def _broken_chains(tables: Tables) -> list[str]:
    problems: list[str] = []
    for table in CHAINED:
        records = {record["token"]: record for record in tables[table]}
        for record in tables[table]:
            for way, back in (("prev", "next"), ("next", "prev")):
                other = records.get(record[way])
                if record[way] and (other is None or other[back] != record["token"]):
                    problems.append(f"{table} {record['token']}: {way} {record[way]!r} does not lead back")
    return problems
