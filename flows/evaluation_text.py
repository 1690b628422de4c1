"""How an evaluation reads on a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any, Final

from rich.table import Table

from flows.exits import counted
from flows.terminal import plain_text
from tasks.score import ScoreSettings

WIDTH: Final = 80
_METRICS: Final = {"hcc": "HCC", "ur": "UR", "hpr": "HPR"}
_COVERAGE: Final = ("pairs", "scored", "failed", "ineligible", "paired")


def with_interval(numbers: dict[str, Any] | None) -> str:
    """Return a mean with its interval, `0.62 [0.51, 0.70]`, the mean alone where there is none, or a dash."""
    if numbers is None or numbers["mean"] is None:
        return "-"
    if numbers["low"] is None:
        return f"{numbers['mean']:.2f}"
    return f"{numbers['mean']:.2f} [{numbers['low']:.2f}, {numbers['high']:.2f}]"


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return how scores are made, `body zoe, horizon 3 s`, and the factor of the clearance where it is not 1."""
    factor = settings["clearance_factor"]
    clearance = f", clearance x {factor:g}" if factor != 1.0 else ""
    return f"body {settings['body']}, horizon {settings['horizon_s']:g} s{clearance}"


def reasons_text(failures: Mapping[str, int]) -> str:
    """Return why predictions failed and how often, `missing 37, not_finite 10`; empty when none did."""
    return ", ".join(f"{name} {count:,}" for name, count in failures.items())


def standing_text(found: dict[str, Any]) -> str:
    """Return leaderboard, coverage, and what a reader must know of both, from a flow's outcome."""
    release = found["release"]
    return "\n".join(
        [
            f"planners on {release['name']} {release['version']}, {counted(found['pairs'], 'pair')}",
            *_settings(found),
            *_leaderboard(found),
            "",
            *_coverage(found),
            "",
            *_remarks(found),
        ]
    )


def evaluation_text(found: dict[str, Any]) -> str:
    """Return everything that `exceptiondrive evaluate` prints."""
    return "\n".join(
        [
            standing_text(found),
            "",
            f"evaluation {found['path']}",
            f"digest     {found['digest']}",
            f"report     {found['report']}",
        ]
    )


def _settings(found: dict[str, Any]) -> list[str]:
    """Say how scores were made, unless they were made as everybody's are."""
    settings = found["settings"]
    if settings == ScoreSettings().model_dump(mode="json"):
        return []
    return [f"not the default scores: {settings_text(settings)}"]


def _leaderboard(found: dict[str, Any]) -> list[str]:
    table = Table("", "planner", *_METRICS.values(), box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for line in found["leaderboard"]:
        rank = str(line["rank"] or ("*" if line["knows_region"] else "-"))
        table.add_row(rank, line["planner"], *(with_interval(line[metric]) for metric in _METRICS))
    return plain_text(table, width=WIDTH).split("\n")


def _coverage(found: dict[str, Any]) -> list[str]:
    table = Table("predictions", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in _COVERAGE:
        table.add_column(name, justify="right")
    for row in found["coverage"]:
        table.add_row(row["planner"], *(f"{row[name]:,}" for name in _COVERAGE))
    return plain_text(table, width=WIDTH).split("\n")


def _remarks(found: dict[str, Any]) -> list[str]:
    """Say what oracles, failures, unbound predictions and missing intervals mean for the numbers above."""
    lines = [
        "Mean over pairs [95 % interval]. HCC, HPR: higher is better; UR, contact: lower.",
        "A failed prediction counts as the worst. paired: both variants were scored.",
    ]
    if any(line["knows_region"] for line in found["leaderboard"]):
        lines.append("*: an oracle, told where the hazard is; it has no rank.")
    for row in found["coverage"]:
        if row["failed"]:
            told = f"failed predictions: {row['planner']} {row['failed']:,}: {reasons_text(row['failures'])}"
            lines += textwrap.wrap(told, WIDTH, subsequent_indent="  ")
    unbound = [f"{line['planner']} ({line['why_unbound']})" for line in found["leaderboard"] if not line["bound"]]
    if unbound:
        lines += textwrap.wrap(f"not bound to pixels: {', '.join(unbound)}", WIDTH, subsequent_indent="  ")
    lines += sorted({line["hcc"]["reason"] for line in found["leaderboard"]} - {""})
    rates = [f"{one['planner']} {with_interval(one['ur'])}" for one in found["conflict_rates"] if one["ur"]]
    return [*lines, *([f"conflict rate: {', '.join(rates)}"] if rates else [])]
