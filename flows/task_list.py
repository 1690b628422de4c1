"""Command `tasks`: what the taxonomy has, one line a task."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.table import Table
from rich.text import Text

from flows.exits import say
from flows.settings import load_settings
from flows.terminal import plain_text
from prompts.taxonomy import SHIPPED, TaskSpec, choose, load_taxonomy
from tasks.distribution import PAPERS_SHARES


def list_tasks(settings: str, overrides: Sequence[str], as_json: bool) -> None:
    """Print the tasks that a build with these settings would have, families in the paper's order.

    Raises:
        SettingsError, TaskFileError, UnknownTaskError: as their texts say.
    """
    chosen = load_settings(settings, overrides)
    order = list(PAPERS_SHARES)
    tasks = sorted(
        choose(load_taxonomy(chosen.taxonomy or SHIPPED), chosen.tasks), key=lambda task: order.index(task.family)
    )
    rows = [_row(task) for task in tasks]
    say({"tasks": rows}, "" if as_json else _text(rows), as_json)


def _row(task: TaskSpec) -> dict[str, Any]:
    region = task.region
    return {
        "id": task.id,
        "family": task.family,
        "title": task.title,
        "placement": task.placement.kind,
        "region_kind": region.kind,
        "region_rule": region.rule + (f" {region.area}" if region.area else ""),
        "required_clearance_m": task.required_clearance_m,
        "version": task.version,
    }


def _text(rows: list[dict[str, Any]]) -> str:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("family and task", "title", "placement", "region", "rule"):
        table.add_column(name, no_wrap=name != "title")
    for family, listed in groupby(rows, lambda row: row["family"]):
        table.add_row(Text(family))
        for row in listed:
            cells = (f"  {row['id']}", row["title"], row["placement"], row["region_kind"], row["region_rule"])
            table.add_row(*map(Text, cells))
    return plain_text(table)
