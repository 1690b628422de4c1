"""What a flow run shows on its Artifacts page: pure functions that make the content, and two thin publishers.

Prefect's list pages return the whole content of every artifact, so each one stays under 300 KB, and what is left out is
counted in the text. Both user interfaces show pictures only from http addresses and data URIs, so contact sheets carry
JPEGs: 640 px wide below each other while they fit, else 320 px wide two in a row. Ids and reasons may hold hostile
text: every value is escaped for Markdown and HTML.
"""

import base64
import dataclasses
import html
import io
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from PIL import Image

MAX_BYTES = 300_000
MAX_CELLS = 20
PICTURE_WIDTH = 640
THUMBNAIL_WIDTH = 320
_COLUMNS = 2
_WIDE = [(PICTURE_WIDTH, quality) for quality in (85, 75, 65, 55)] + [(480, 70), (480, 60)]
_NARROW = [(THUMBNAIL_WIDTH, quality) for quality in (80, 70, 60, 50, 40, 30, 20, 10)] + [(160, 40), (80, 40)]
_KEY = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~:@.$=\"'\-])")
_LINE = 40
_ADDRESS = re.compile(r"(https?://|/|\.\./artifact/)[^\s<>\"'`|()\[\]\\]*")
_PLAIN = re.compile(r"[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*")
_BAR = 10
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

Row = Mapping[str, str | int | float | bool | None]
"""A table's row: column name to value."""


class ArtifactKeyError(ValueError):
    """An artifact key that Prefect would refuse."""


class ContactSheetError(ValueError):
    """A contact sheet with too many cells."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A picture of a contact sheet."""

    title: str
    """Plain text above the picture."""
    caption: str
    """Plain text below it."""
    image: Image.Image
    """Any size and mode; shown up to 640 px wide."""


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """What a stage made of its items; `total` counts what it took."""

    stage: str
    kept: int
    rejected: int
    """Rejected by the stage; for the source, skipped."""
    failed: int
    total: int
    unsettled: int = 0
    """Without any outcome yet."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One item that did not go on."""

    stage: str
    scene: str
    task: str
    """Task id; empty for a keyframe or a scene."""
    reason: str
    """Reason code."""
    evidence: str
    """What was measured against which limit, or what was said, in a few words."""
    item: str
    """Id of the scene, keyframe, combination or candidate."""


@dataclass(frozen=True, slots=True)
class Link:
    """A line of an index."""

    text: str
    url: str
    """An http(s) address, a path of the Prefect UI (`/runs/..`), or `artifact_address`; else it is shown as text."""
    note: str = ""


def escaped(text: str) -> str:
    """Returns plain text for use anywhere in Markdown, table cells included: nothing in it is markup any more.

    Backslashes for Markdown, quotes included, since Prefect's first user interface knows no character references but
    `&amp;`, `&lt;` and `&gt;`; it shows backslashes inside a link's text, so escaped text stays out of links.
    """
    return html.escape(_MARKUP.sub(r"\\\1", _CONTROL.sub(" ", text)), quote=False)


def slug(text: str) -> str:
    """Returns a valid artifact key made of a text's letters and digits."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())) or "none"


def artifact_address(artifact: uuid.UUID) -> str:
    """Returns the address of one artifact as a page of another one may link to it, in either user interface."""
    return f"../artifact/{artifact}"


def funnel_markdown(rows: Sequence[FunnelRow]) -> str:
    """Returns a table of stages with counts, the kept share, and a bar as wide as what is left of the first stage.

    A column for what has no outcome yet shows only where there is such a thing.
    """
    unsettled = any(row.unsettled for row in rows)
    names = ["Stage", "Items", "Kept", "Rejected", "Failed", *(["Open"] if unsettled else []), "Kept share"]
    lines = [f"| {' | '.join(names)} | Left of all |", "|:--|" + "--:|" * (len(names) - 1) + ":--|"]
    start = max((rows[0].total if rows else 0), 1)
    for row in rows:
        share = f"{100 * row.kept / row.total:.1f}\u00a0%" if row.total else "n/a"
        bar = "█" * round(_BAR * min(row.kept / start, 1.0)) or ("▏" if row.kept else "")
        counts = (row.total, row.kept, row.rejected, row.failed, *([row.unsettled] if unsettled else []))
        numbers = " | ".join(f"{value:,}" for value in counts)
        lines.append(f"| {escaped(row.stage)} | {numbers} | {share} | {bar} |")
    off = [row.stage for row in rows if row.kept + row.rejected + row.failed + row.unsettled != row.total]
    if off:
        lines += ["", f"**Does not add up: {escaped(', '.join(off))}**"]
    return "\n".join(lines)


def rejections_rows(rejections: Sequence[Rejection]) -> list[Row]:
    """Returns table rows, in the order given; the item comes last, since ids are long and tables do not wrap."""
    return [dataclasses.asdict(rejection) for rejection in rejections]


def index_markdown(title: str, links: Sequence[Link]) -> str:
    """Returns a heading and a list of links, for the parent run: artifacts of its subflows are not on its page."""
    return "\n".join([f"## {escaped(title)}", "", *(f"- {_link(link)}" for link in links)])


def contact_sheet_markdown(cells: Sequence[Cell]) -> str:
    """Returns Markdown with pictures of one artifact's size: wide and below each other, or small and two in a row.

    JPEG quality is lowered until everything fits, then the width.

    Raises:
        ContactSheetError: more than 20 cells.
    """
    if len(cells) > MAX_CELLS:
        raise ContactSheetError(
            f"A contact sheet has at most {MAX_CELLS} cells and got {len(cells)}: make one sheet per {MAX_CELLS} cells."
        )
    if not cells:
        return "No pictures."
    sheet = ""
    for width, quality in _WIDE:
        sheet = "\n\n".join(_block(cell, width, quality) for cell in cells)
        if len(sheet.encode()) <= MAX_BYTES:
            return sheet
    for width, quality in _NARROW:
        sheet = _sheet(cells, width, quality)
        if len(sheet.encode()) <= MAX_BYTES:
            return sheet
    return _bounded_lines(sheet, "rows of pictures")


def picture_markdown(title: str, image: Image.Image) -> str:
    """Returns Markdown with one picture, as wide and as good as fits into an artifact."""
    for width, quality in ((1000, 75), (1000, 60), (1000, 45), (800, 50), (640, 50), (480, 40), (THUMBNAIL_WIDTH, 30)):
        height = max(1, round(image.height * width / image.width))
        small = image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
        text = f"![{escaped(title)}](data:image/jpeg;base64,{_encoded(small, quality)})"
        if len(text.encode()) <= MAX_BYTES:
            return text
    return f"{escaped(title)}: the picture is too large for an artifact."


def publish_markdown(key: str, markdown: str, description: str) -> uuid.UUID:
    """Publishes Markdown under a key; the same key again makes a new version. Over 300 KB it is cut and says so.

    Raises:
        ArtifactKeyError: the key is not made of lower case letters, digits and single dashes.
    """
    _require_key(key)
    from prefect.artifacts import create_markdown_artifact

    made = create_markdown_artifact(_bounded_lines(markdown, "lines"), key=key, description=description)
    return cast("uuid.UUID", made)  # a coroutine only in async code


def publish_table(key: str, rows: Sequence[Row], description: str, *, complete_in: str = "the release") -> uuid.UUID:
    """Publishes rows as a table; of more than 300 KB the first rows, and a last one that counts the others.

    `complete_in` names the table that has all rows, for that last one.

    Raises:
        ArtifactKeyError: the key is not made of lower case letters, digits and single dashes.
    """
    _require_key(key)
    from prefect.artifacts import create_table_artifact

    made = create_table_artifact(bounded_rows(rows, complete_in), key=key, description=description)
    return cast("uuid.UUID", made)


def bounded_rows(rows: Sequence[Row], complete_in: str) -> list[dict[str, object]]:
    """Returns the rows that fit 300 KB of JSON, then `N more rows in <table>` if some do not."""
    kept: list[dict[str, object]] = []
    size = 1_000  # for the last row
    for row in rows:
        size += len(json.dumps(dict(row))) + 2
        if size > MAX_BYTES:
            return [*kept, _rest(rows[0], len(rows) - len(kept), complete_in)]
        kept.append(dict(row))
    return kept


def _rest(like: Row, count: int, complete_in: str) -> dict[str, object]:
    first, *others = like
    return {first: f"{count:,} more rows in {complete_in}", **dict.fromkeys(others, "")}


def _bounded_lines(markdown: str, what: str) -> str:
    if len(markdown.encode()) <= MAX_BYTES:
        return markdown
    lines = markdown.split("\n")
    size, kept = 200, 0
    while kept < len(lines) and size + len(lines[kept].encode()) + 1 <= MAX_BYTES:
        size += len(lines[kept].encode()) + 1
        kept += 1
    return "\n".join([*lines[:kept], "", f"**{len(lines) - kept:,} more {what} left out: over {MAX_BYTES:,} bytes.**"])


def _require_key(key: str) -> None:
    if not _KEY.fullmatch(key):
        raise ArtifactKeyError(
            f"Artifact key {key!r} is not made of lower case letters, digits and single dashes."
            f" slug() makes one: {slug(key)!r}."
        )


def _link(link: Link) -> str:
    note = f": {escaped(link.note)}" if link.note else ""
    if not _ADDRESS.fullmatch(link.url):
        return f"{escaped(link.text)} ({escaped(link.url)}){note}"
    if _PLAIN.fullmatch(link.text):
        return f"[{link.text}]({link.url}){note}"
    return f"{escaped(link.text)} [open]({link.url}){note}"


def _sheet(cells: Sequence[Cell], width: int, quality: int) -> str:
    columns = min(_COLUMNS, len(cells))
    lines = ["| " + " | ".join([" "] * columns) + " |", "|" + ":--|" * columns]
    for start in range(0, len(cells), columns):
        texts = [_cell(cell, width, quality) for cell in cells[start : start + columns]]
        lines.append("| " + " | ".join(texts + [" "] * (columns - len(texts))) + " |")
    return "\n".join(lines)


def _block(cell: Cell, width: int, quality: int) -> str:
    return f"### {_wrapped(cell.title)}\n\n{_picture(cell, width, quality)}\n\n{_wrapped(cell.caption)}"


def _cell(cell: Cell, width: int, quality: int) -> str:
    return f"{_wrapped(cell.title)}<br>{_picture(cell, width, quality)}<br>{_wrapped(cell.caption)}"


def _picture(cell: Cell, width: int, quality: int) -> str:
    return f"![{escaped(cell.title)}](data:image/jpeg;base64,{_jpeg(cell.image, width, quality)})"


def _wrapped(text: str) -> str:
    """Returns escaped text; words over 40 characters start a line and are cut, after slashes where possible.

    Browsers do not break ids, and a column is as wide as its longest word.
    """
    shown = ""
    for word in text.split():
        lines = _lines(word)
        space = "" if not shown else "<br>" if len(lines) > 1 else " "
        shown += space + "<br>".join(escaped(line) for line in lines)
    return shown


def _lines(word: str) -> list[str]:
    lines = [""]
    for part in re.findall(r"[^/]{1,39}/?|/", word):
        if len(lines[-1] + part) > _LINE:
            lines.append("")
        lines[-1] += part
    return lines


def _jpeg(image: Image.Image, width: int, quality: int) -> str:
    height = max(1, min(round(image.height * width / image.width), 2 * width))
    return _encoded(image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS), quality)


def _encoded(image: Image.Image, quality: int) -> str:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, optimize=True)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
