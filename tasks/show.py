"""How one combination was made and why it is in, or out: told from a release's tables alone."""

from __future__ import annotations

import difflib
import json
import textwrap
from dataclasses import asdict, dataclass
from typing import Any, Final

import polars as pl

from data_registry.manifest import ReleaseError
from data_registry.release import Release
from tasks.release_documents import code, escape

_COMPONENT: Final = "hazards"
_FACT: Final = ("name", "value", "at_least", "at_most", "holds")
_WINDOW: Final = ("window_left", "window_top", "window_right", "window_bottom")
_OUTCOME: Final = ("stage", "version", "item", "key")
_DIGITS: Final = 12
"""Digits of a digest that tell it from others; JSON has all."""
WIDTH: Final = 110
_CLOSE: Final = 5
"""Ids that an error offers when the asked one is unknown."""
_SEARCHED: Final = 5_000
"""Ids among which misspelt ones are looked for: comparing is slow."""


class UnknownCombinationError(ReleaseError):
    """A release knows nothing about a combination or keyframe."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that a release says about one combination, table by table."""

    id: str
    release: str
    """Name, version and first digits of the digest."""
    outcome: str
    """benchmark, auxiliary, or why it is not a pair: `<stage>: <reason>`."""
    drawn: bool
    """Whether screening left it out and it was drawn for the auxiliary split all the same."""
    pair: dict[str, Any] | None
    """Row of table pairs, placement and screening facts parsed; None when it is no pair."""
    region: dict[str, Any] | None
    views: list[dict[str, Any]]
    """Edited views first, largest window first; then those that stayed as they were."""
    measurements: list[dict[str, Any]]
    """Of all candidates, each with `candidate` (first digits of its digest) and `chosen`."""
    decision: dict[str, Any] | None
    """Row of table decisions, findings parsed: what was held against which limit."""
    rejections: list[dict[str, Any]]
    """Rows of the combination and its candidates, evidence parsed: screening facts, findings, errors."""
    lineage: list[dict[str, Any]]
    """Outcomes that it went through, in the order of the stages."""

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as JSON."""
        return asdict(self)

    def as_markdown(self) -> str:
        """Return the explanation as Markdown for a terminal or a page; everything from the release is escaped."""
        return "\n".join(_lines(self)) + "\n"


def show(release: Release, item_id: str) -> Explanation:
    """Explain a pair, a combination that became none, or a keyframe that was left out.

    Raises:
        UnknownCombinationError: the release has no row about it; the message offers ids that are like it.
        ReleaseCorruptError, TableError: the release is damaged.
    """
    tables = {
        name: release.frame(_COMPONENT, name)
        for name in ("pairs", "views", "regions", "measurements", "decisions", "rejections", "lineage")
    }
    pair = _one(tables["pairs"], item_id)
    decision = _one(tables["decisions"], item_id)
    own = (pl.col("item_id") == item_id) | pl.col("item_id").str.starts_with(f"{item_id}@")
    rejections = [_parsed(row, "evidence") for row in tables["rejections"].filter(own).to_dicts()]
    if pair is None and decision is None and not rejections:
        raise UnknownCombinationError(_unknown(release, item_id, tables))
    left_out = next((row["reason_code"] for row in rejections if _by_screening(row)), None)
    went_on = pair is not None or decision is not None or len(rejections) > 1
    return Explanation(
        id=item_id,
        release=f"{release.manifest.name} {release.manifest.version} ({release.digest[:12]})",
        outcome=str(pair["subset"]) if pair else f"screen: {left_out}" if left_out else _outcome(decision, rejections),
        drawn=left_out is not None and went_on,
        pair=_parsed(_parsed(pair, "placement"), "facts") if pair else None,
        region=_one(tables["regions"], item_id),
        views=sorted(_rows(tables["views"], item_id), key=_size, reverse=True),
        measurements=[
            row | {"candidate": row["edit_digest"][:12], "chosen": _is_chosen(row, decision)}
            for row in _rows(tables["measurements"], item_id)
        ],
        decision=_parsed(decision, "findings") if decision else None,
        rejections=_in_order(rejections, release),
        lineage=_in_order([_parsed(row, "backend") for row in _rows(tables["lineage"], item_id)], release),
    )


def _rows(frame: pl.DataFrame, item_id: str) -> list[dict[str, Any]]:
    return frame.filter(pl.col("pair_id") == item_id).to_dicts()


def _one(frame: pl.DataFrame, item_id: str) -> dict[str, Any] | None:
    return next(iter(_rows(frame, item_id)), None)


def _parsed(row: dict[str, Any], column: str) -> dict[str, Any]:
    """Parse a column that holds JSON; a plain text, such as an error's, stays as it is."""
    try:
        return row | {column: json.loads(row[column])}
    except (ValueError, RecursionError):
        return row


def _is_chosen(row: dict[str, Any], decision: dict[str, Any] | None) -> bool:
    return decision is not None and row["edit_digest"] == decision["edit_digest"]


def _size(view: dict[str, Any]) -> tuple[bool, int, str]:
    if not view["is_edited"]:
        return False, view["frame_offset"], view["sensor_id"]
    area = (view["window_right"] - view["window_left"]) * (view["window_bottom"] - view["window_top"])
    return True, area, view["sensor_id"]


def _in_order(rows: list[dict[str, Any]], release: Release) -> list[dict[str, Any]]:
    """Sort rows by the order in which their stages run."""
    order = ["source", "screen", "edit", "measure", "localize", "judge", "decide"]
    return sorted(
        rows, key=lambda row: (order.index(row["stage"]) if row["stage"] in order else len(order), row["item_id"])
    )


def _by_screening(row: dict[str, Any]) -> bool:
    return (row["stage"], row["status"]) == ("screen", "rejected")


def _outcome(decision: dict[str, Any] | None, rejections: list[dict[str, Any]]) -> str:
    if decision:
        return f"decide: {decision['reason_code']}"
    return f"{rejections[0]['stage']}: {rejections[0]['reason_code']}"


def _unknown(release: Release, item_id: str, tables: dict[str, pl.DataFrame]) -> str:
    known = sorted({*tables["decisions"]["pair_id"].to_list(), *tables["rejections"]["item_id"].to_list()})
    close = _like(item_id, known)
    offered = "".join(f"\n  {name}" for name in close[:_CLOSE])
    more = f"\n  and {len(close) - _CLOSE} more" if len(close) > _CLOSE else ""
    return (
        f"release {release.manifest.name} {release.manifest.version} knows nothing about {item_id!a}."
        " Ids are <dataset>/<scene>/<sample token>/<task>; another release is named with --release."
        f"{' It has' if close else ''}{offered}{more}"
    )


def _like(item_id: str, known: list[str]) -> list[str]:
    """Return the ids that may have been meant: those that hold it, near ones, those of the same keyframe, else all."""
    asked = item_id.strip("/")
    holding = [name for name in known if asked and asked in name]
    keyframe = asked.rpartition("/")[0]
    near = difflib.get_close_matches(asked, known[:_SEARCHED], n=_CLOSE, cutoff=0.9)
    beside = [name for name in known if keyframe.count("/") == 2 and name.startswith(f"{keyframe}/")]
    return holding or list(dict.fromkeys([*near, *beside])) or known


def _lines(about: Explanation) -> list[str]:
    lines = [f"# {escape(about.id)}", "", f"{escape(about.outcome)}, in release {escape(about.release)}"]
    lines += _why_auxiliary(about)
    if about.pair:
        chosen = ("task", "family", "appearance", "placement_kind", "speed", "nominal_conflict", "required_decel")
        lines += ["", "## Hazard", *_pairs(about.pair, (*chosen, "avoidable", "path_source", "seed", "attempt"))]
        lines += _placement(about.pair["placement"])
        lines += explained_facts("Screening facts", _listed(about.pair["facts"]))
    if about.region:
        lines += ["", "## Region", *_pairs(about.region, ("kind", "clearance_m", "quad", "method", "area_ratio"))]
        lines += _pairs(about.region, ("centre_offset_m", "expected_iou"))
    lines += _views(about.views)
    lines += _measurements(about.measurements)
    if about.decision:
        lines += ["", "## Decision", *_pairs(about.decision, ("approved", "subset", "reason_code", "decided_by"))]
        lines += _table("Findings", _listed(about.decision["findings"]), ("code", "value", "limit"))
    for row in about.rejections:
        item = {**row, "item_id": _short_item(row["item_id"], about.id)}
        lines += ["", f"## Not kept by {escape(row['stage'])}", *_pairs(item, ("item_id", "status", "reason_code"))]
        lines += _evidence(row["evidence"], about)
    return lines + _table("Lineage", [_short_outcome(row, about.id) for row in about.lineage], _OUTCOME)


def _short_item(item_id: str, own: str) -> str:
    """Leave the combination's own id, which heads the text, out of an item's."""
    return item_id.removeprefix(own) or "the combination"


def _short_outcome(row: dict[str, Any], own: str) -> dict[str, Any]:
    return {
        **row,
        "item": _short_item(row["item_id"], own),
        "version": row["stage_version"],
        "key": row["key"][:_DIGITS],
    }


def _placement(placement: Any) -> list[str]:
    """Return a line for each part of a placement, of its box for each of the box's."""
    if not isinstance(placement, dict):
        return [f"- placement: {code(placement)}"]
    parts = {f"placement {name}": value for name, value in placement.items() if name not in {"kind", "box"}}
    box = placement.get("box")
    parts |= {f"box {name}": value for name, value in box.items()} if isinstance(box, dict) else {}
    return [f"- {escape(name)}: {_said(value)}" for name, value in parts.items()]


def explained_facts(title: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return the facts that were held against a limit as a table; the others, which nothing rests on, in a line."""
    asked = [row for row in rows if not row.get("holds", True) or not _is_unasked(row)]
    others = [row for row in rows if row not in asked]
    known = [f"{escape(row.get('name'))} {_said(row['value'])}" for row in others if row.get("value") is not None]
    unknown = [escape(row.get("name")) for row in others if row.get("value") is None]
    texts = [
        f"{title}: {', '.join(words)}." for title, words in (("Also measured", known), ("Unknown", unknown)) if words
    ]
    return _table(title, asked, _FACT) + [line for text in texts for line in ("", *_wrapped(text))]


def _is_unasked(row: dict[str, Any]) -> bool:
    limits = (row.get("at_least"), row.get("at_most"))
    return limits == (None, None) and row.get("name") not in {"nominal_conflict", "avoidable", "at_anchor"}


def _measurements(rows: list[dict[str, Any]]) -> list[str]:
    """Return what could be measured as a table, and why the rest could not, each reason once."""
    several = len({row["candidate"] for row in rows}) > 1
    names = ("check", "sensor_id", "value", *(("candidate", "chosen") if several else ()))
    lines = _table("Measurements", [row for row in rows if row["value"] is not None], names)
    missing: dict[str, set[str]] = {}
    for row in rows:
        if row["value"] is None:
            missing.setdefault(row["note"], set()).add(row["check"])
    left = [f"Not measured: {', '.join(sorted(checks))} ({note})." for note, checks in sorted(missing.items())]
    return [*lines, *(line for text in left for line in ("", *_wrapped(escape(text))))]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _why_auxiliary(about: Explanation) -> list[str]:
    """Say how a combination that is no benchmark pair came to be edited."""
    if about.drawn:
        reason = next(row["reason_code"] for row in about.rejections if _by_screening(row))
        return ["", f"Screening left it out ({escape(reason)}); it was drawn for auxiliary and edited all the same."]
    if about.outcome == "auxiliary" and about.decision:
        return ["", f"It suits, but decide turned its edit down ({escape(about.decision['reason_code'])})."]
    return []


def _evidence(evidence: Any, about: Explanation) -> list[str]:
    """Return what a rejection rests on, unless the text has told it before."""
    rows = _listed(evidence)
    if rows and about.pair and rows == _listed(about.pair["facts"]):
        return ["- evidence: the screening facts above"]
    if rows and about.decision and rows == _listed(about.decision["findings"]):
        return ["- evidence: the findings above"]
    if rows and all("holds" in row for row in rows):
        return explained_facts("Evidence", rows)
    if rows:
        names = {name for row in rows for name in row}
        known = [name for name in (*_FACT, "code", "limit") if name in names]
        return _table("Evidence", rows, (*known, *sorted(names - {*known})))
    text = evidence if isinstance(evidence, str) else json.dumps(evidence, sort_keys=True)
    return _wrapped(f"- evidence: {escape(text)}")


def _views(views: list[dict[str, Any]]) -> list[str]:
    """Name the edited views, and count the others: most are pictures of the history, which stay as they were."""
    edited = [view for view in views if view["is_edited"]]
    lines = _table("Edited views", edited, ("sensor_id", "frame_offset", *_WINDOW))
    folder = {str(view["delta"]).rpartition("/")[0] for view in edited}
    lines += ["", *(f"Deltas and masks: {code(name)}" for name in sorted(folder))] if edited else []
    return [*lines, "", f"{len(views) - len(edited)} more views are as in the source."] if views else []


def _listed(value: Any) -> list[dict[str, Any]]:
    """Return a list of objects as it is, anything else as no rows: the content is not ours."""
    listed: list[Any] = value if isinstance(value, list) else []
    return [row for row in listed if isinstance(row, dict)]


def _pairs(row: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    return [f"- {name}: {_said(row.get(name))}" for name in names]


def _table(title: str, rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[str]:
    if not rows:
        return []
    head = ["", f"### {title}", "", f"| {' | '.join(map(escape, names))} |", "|---" * len(names) + "|"]
    return head + [f"| {' | '.join(_said(row.get(name)) for name in names)} |" for row in rows]


def _said(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list) and value and all(isinstance(one, int | float) for one in value):
        return f"({', '.join(map(_said, value))})"
    if isinstance(value, list) and value and all(isinstance(one, list) for one in value):
        return ", ".join(map(_said, value))
    return escape(f"{value:.6g}" if isinstance(value, float) else value)
