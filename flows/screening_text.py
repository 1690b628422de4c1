"""A screening report for people: the same sections as tables of a terminal, at most 110 columns, or as Markdown.

Everything in a report may come from a hostile release: texts are cut, made printable, and never read as markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from flows.artifacts import escaped
from flows.exits import SHOWN, counted
from flows.terminal import plain_text
from tasks.screening_report import (
    AVOIDABLE,
    CONFLICTS,
    SOURCES,
    Rows,
    ScreeningReport,
    totals_unanswered,
)

REASONS_A_TASK: Final = 3
"""Reasons that a task's rows spell out before the others are only counted."""
_LONGEST: Final = 60
_ENDS: Final = {
    "suitable": "suit",
    "edited": "edited",
    "approved": "appr.",
    "auxiliary": "aux.",
    "rejected_screen": "screen",
    "rejected_edit": "edit",
    "rejected_decide": "decide",
    "failed": "failed",
    "open": "open",
}
"""Columns of the acceptance tables and their headings; failed and open only where there is such a thing."""
_MISSING: Final = {
    "map": "a map with lanes (map expansion)",
    "can": "a CAN bus recording (speed and path at 50 Hz)",
}
_NAMES: Final = {
    "map_source": "map",
    "course": "ego lane follows",
    "path_source": "paths from",
    "speed_source": "speed from",
}

_QUESTION: Final = "on whose way is it, and can it be avoided?"
_COLUMNS: Final = (
    "Per cent of the combinations with a place for the hazard. It lies on the recorded path only, on the lane only, on"
    " both, on none. It is avoided by stopping only, passing only, either, never. Then the deceleration to stop before"
    " it, m/s2; no room: none would do."
)

_INSET: Final = "  "
"""Begins the name of a row that belongs to the group above it."""
Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its heading and what there is to know about it."""

    title: str
    note: str
    heads: Cells
    rows: tuple[Cells, ...]
    texts: tuple[int, ...] = (0,)
    """Positions of the columns that hold text; the others hold numbers."""


def sections(report: ScreeningReport) -> Iterator[Section]:
    """Yield the report's tables, first what was accepted, last what the logs could not answer."""
    yield _acceptance(report)
    yield _reasons(report)
    yield _distributions(report, "task", "By task", _COLUMNS)
    yield _distributions(report, "family", "By family", "Columns as above.")
    yield _distributions(report, "path_source", "By the source of the paths", "Columns as above.")
    yield _scenes(report)
    yield _sources(report)
    if len({row["map_source"] for row in report.sources["task_and_map_source"]}) > 1:
        yield _maps_by_task(report)
    yield _unanswered(report)


def as_text(report: ScreeningReport) -> str:
    """Return the report for a terminal."""
    parts: list[RenderableType] = [Text(_heading(report))]
    for section in sections(report):
        parts += [Text(), Text(section.title), Text(section.note)]
        parts += [Text(), _table(section)] if section.rows else []
    return plain_text(*parts)


def as_markdown(report: ScreeningReport) -> str:
    """Return the report as Markdown, for a page."""
    lines = [escaped(_heading(report))]
    for section in sections(report):
        lines += ["", f"## {escaped(section.title)}", "", escaped(section.note)]
        if section.rows:
            marks = "|".join(":--" if number in section.texts else "--:" for number in range(len(section.heads)))
            lines += ["", f"| {' | '.join(map(escaped, section.heads))} |", f"|{marks}|"]
            grouped = any(row[0].startswith(_INSET) for row in section.rows)
            lines += [f"| {_name(row[0], grouped)} | {' | '.join(map(escaped, row[1:]))} |" for row in section.rows]
    return "\n".join(lines)


def _name(text: str, grouped: bool) -> str:
    """Return a row's name for a page, which drops spaces that set a row in: a dot stands for them, groups are bold."""
    if text.startswith(_INSET):
        return f"·\u00a0{escaped(text.strip())}"
    return f"**{escaped(text)}**" if grouped and text else escaped(text)


def _table(section: Section) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    for number, head in enumerate(section.heads):
        justify = "left" if number in section.texts else "right"
        table.add_column(Text(head), justify=justify, overflow="fold", no_wrap=number not in section.texts)
    for row in section.rows:
        table.add_row(*map(Text, row))
    return table


def _heading(report: ScreeningReport) -> str:
    about = report.release
    tasks = len(report.acceptance["task"])
    incomplete = "" if about["complete"] else ", not complete"
    return (
        f"{_plain(about['name'])} {_plain(about['version'])} ({_plain(about['digest'])[:12]}){incomplete}:"
        f" {counted(report.combinations, 'combination')} of {counted(report.keyframes, 'keyframe')}"
        f" and {counted(tasks, 'task')}"
    )


def _plain(value: object) -> str:
    """Return a value as printable text of bounded length; a dash for none."""
    if value is None:
        return "-"
    text = "".join(sign if sign.isprintable() else "?" for sign in str(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _acceptance(report: ScreeningReport) -> Section:
    all_, families, tasks = (report.acceptance[name] for name in ("all", "family", "task"))
    names = _present(all_)
    rows = [_counts(f"{_INSET}{_plain(row['task'])}", row, names) for row in tasks]
    listed: list[Cells] = []
    for family in families:
        listed.append(_counts(_plain(family["family"]), family, names))
        listed += [cells for row, cells in zip(tasks, rows, strict=True) if row["family"] == family["family"]]
    listed += [_counts("all", row, names) for row in all_]
    return Section(
        "What became of all combinations",
        "Approved and auxiliary pairs, and those that screen, edit or decide left out, add up to all. Auxiliary pairs"
        " are edits that were turned down, or were drawn from what screening left out. %: approved of all.",
        ("family and task", "all", *(_ENDS[name] for name in names), "%"),
        tuple(listed),
    )


def _present(rows: Rows) -> list[str]:
    return [name for name in _ENDS if name not in {"failed", "open"} or any(row[name] for row in rows)]


def _counts(name: str, row: dict[str, Any], names: Sequence[str]) -> Cells:
    share = _share(row["approved"], row["combinations"], digits=1)
    return (name, f"{row['combinations']:,}", *(f"{row[column]:,}" for column in names), share)


def _share(part: int, whole: int, digits: int = 0) -> str:
    return f"{100 * part / whole:.{digits}f}" if whole else "-"


def _reasons(report: ScreeningReport) -> Section:
    missed = {row["task"]: row["combinations"] - row["approved"] for row in report.acceptance["task"]}
    rows: list[Cells] = []
    for task, listed in groupby(report.reasons, lambda row: row["task"]):
        found = sorted(listed, key=lambda row: -row["count"])
        rows.append((_plain(task), f"{missed.get(task, 0):,}", "", "", "", ""))
        rows += [_reason(row) for row in found[:REASONS_A_TASK]]
        if found[REASONS_A_TASK:]:
            rest = sum(row["count"] for row in found[REASONS_A_TASK:])
            rows.append(
                (f"{_INSET}{counted(len(found) - REASONS_A_TASK, 'other reason')}", f"{rest:,}", "", "", "", "")
            )
    return Section(
        "Why they are no benchmark pairs",
        f"For each task the {REASONS_A_TASK} first failed rules that were most frequent; median and middle 90 % of what"
        " was measured. Unknown: the logs could not tell, and the rule failed. Steps behind screen are named; those"
        " between edit and decide look at edits, of which a combination may have several; decide has the last word.",
        ("task and reason", "count", "unknown", "rule", "median", "5 to 95 %"),
        tuple(rows),
        texts=(0, 3),
    )


def _reason(row: dict[str, Any]) -> Cells:
    step = "" if row["step"] == "screen" else f"{_plain(row['step'])}: "
    unknown = f"{row['unknown']:,}" if row["unknown"] else ""
    median = "" if row["median"] is None else _number(row["median"])
    spread = "" if row["min"] == row["max"] else f"{_number(row['p5'])} to {_number(row['p95'])}"
    return (f"{_INSET}{step}{_plain(row['reason_code'])}", f"{row['count']:,}", unknown, _rule(row), median, spread)


def _rule(row: dict[str, Any]) -> str:
    """Return what was asked for: `speed >= 1`; a truth has both limits, and they are the same."""
    low, high, name = row["at_least"], row["at_most"], _plain(row["fact"]) if row["fact"] else ""
    if low is None and high is None:
        return name
    if low == high:
        return f"{name} = {_number(low)}".strip()
    if low is not None and high is not None:
        return f"{name} {_number(low)} to {_number(high)}".strip()
    return f"{name} >= {_number(low)}".strip() if low is not None else f"{name} <= {_number(high)}".strip()


def _number(value: float | None) -> str:
    """Return three digits; what is next to nothing as ~0."""
    if value is None:
        return "-"
    return "~0" if 0 < abs(value) < 1e-3 else f"{value:.3g}"


def _distributions(report: ScreeningReport, by: str, title: str, note: str) -> Section:
    rows = [*report.distributions["placed"][by], *({**row, by: "all"} for row in report.distributions["placed"]["all"])]
    return Section(f"{title}: {_QUESTION}", note, *_spread_rows(rows, by))


def _spread_rows(rows: Rows, by: str) -> tuple[Cells, tuple[Cells, ...]]:
    heads = (
        *(by.replace("_", " "), "placed", "rec.", "lane", "both", "none", "stop", "pass", "either", "never"),
        *("5 %", "med.", "95 %", "no room"),
    )
    return heads, tuple(_spread(row, by) for row in rows)


def _spread(row: dict[str, Any], by: str) -> Cells:
    whole, decel = row["count"], row["required_decel"]
    return (
        *(_plain(row[by]), f"{whole:,}"),
        *(_share(row["nominal_conflict"][word], whole) for word in CONFLICTS),
        *(_share(row["avoidable"][word], whole) for word in AVOIDABLE),
        *(_tenths(decel[key]) for key in ("p5", "median", "p95")),
        _share(row["no_room"], whole),
    )


def _tenths(value: float | None) -> str:
    """Return one decimal of what a deceleration can be, few digits of anything else."""
    return f"{value:.1f}" if value is not None and abs(value) < 1000 else _number(value)


def _scenes(report: ScreeningReport) -> Section:
    """Show all scenes while they are few, else those where least and most can be avoided."""
    rows = report.distributions["placed"]["scene"]
    ranked = sorted(rows, key=lambda row: (-row["avoidable"]["none"] / row["count"], row["scene"]))
    few = len(rows) <= SHOWN
    shown = rows if few else [*ranked[: SHOWN // 2], *ranked[-(SHOWN // 2) :]]
    which = (
        "" if few else f" The {SHOWN // 2} of {len(rows):,} with least and most that can be avoided; --json has all."
    )
    return Section(f"By scene: {_QUESTION}", f"Columns as above.{which}", *_spread_rows(shown, "scene"))


def _sources(report: ScreeningReport) -> Section:
    rows: list[Cells] = []
    for name in SOURCES:
        for row in report.sources[name]:
            whole = row["combinations"]
            counts = (row["keyframes"], whole, row["suitable"], row["approved"])
            shares = (_share(row[part], whole, digits=1) for part in ("suitable", "approved"))
            rows.append((f"{_NAMES[name]} {_plain(row[name])}", *(f"{count:,}" for count in counts), *shares))
    return Section(
        "What the logs told about map and motion",
        "The rows of a group compare different scenes: their difference is not what a better source would gain.",
        ("source", "keyframes", "all", "suit", "approved", "suit %", "approved %"),
        tuple(rows),
    )


def _maps_by_task(report: ScreeningReport) -> Section:
    rows = report.sources["task_and_map_source"]
    maps = [name for name in ("expansion", "mask", "none") if any(row["map_source"] == name for row in rows)]
    listed: list[Cells] = []
    for task, group in groupby(rows, lambda row: row["task"]):
        found = {row["map_source"]: row for row in group}
        shares = [
            _share(found[name][part], found[name]["combinations"], digits=1) if name in found else "-"
            for part in ("suitable", "approved")
            for name in maps
        ]
        listed.append((_plain(task), *shares))
    heads = (f"{part} %, {name}" for part in ("suit", "approved") for name in maps)
    return Section("By task and map", "Per cent of the combinations.", ("task", *heads), tuple(listed))


def _unanswered(report: ScreeningReport) -> Section:
    listed = sorted(report.unanswered, key=lambda row: (row["missing"] != "map", -row["rejected"]))
    rows = [
        (
            *(f"{row['missing']} ({_plain(row['instead'])})", _plain(row["task"]), _plain(row["reason_code"])),
            *(f"{row['rejected']:,}", f"{row['alone']:,}"),
        )
        for row in listed[: 2 * SHOWN]
    ]
    rest = listed[2 * SHOWN :]
    if rest:
        counts = Counter[str]()
        for row in rest:
            counts.update({name: row[name] for name in ("rejected", "alone")})
        rows.append(("others", f"{len(rest):,} more rows", "", f"{counts['rejected']:,}", f"{counts['alone']:,}"))
    return Section(
        "What a map or CAN bus recording might have answered",
        _summary(report),
        ("missing (instead)", "task", "reason", "left out", "alone"),
        tuple(rows),
        texts=(0, 1, 2),
    )


def _summary(report: ScreeningReport) -> str:
    """Say how many rejections rest on a fact that the logs could not tell; at most so many could turn round."""
    totals = totals_unanswered(report.unanswered)
    said = [
        f"{what} would have told what {counted(totals[missing]['rejected'], 'rejection')}"
        f" ({_share(totals[missing]['rejected'], report.combinations, digits=1)} % of all combinations) rest on;"
        f" in {totals[missing]['alone']:,} of them nothing else that was measured failed."
        for missing, what in _MISSING.items()
        if missing in totals
    ]
    if not said:
        return "Nothing: no rejection rests on a fact that a map with lanes or a CAN bus recording would have told."
    return " ".join(text[0].upper() + text[1:] for text in said)
