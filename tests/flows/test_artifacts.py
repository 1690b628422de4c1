import base64
import html
import io
import json
import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterId

from flows.artifacts import (
    MAX_BYTES,
    ArtifactKeyError,
    Cell,
    ContactSheetError,
    FunnelRow,
    Link,
    Rejection,
    Row,
    artifact_address,
    bounded_rows,
    contact_sheet_markdown,
    escaped,
    funnel_markdown,
    index_markdown,
    publish_markdown,
    publish_table,
    rejections_rows,
    slug,
)
from flows.server import PrefectServer

HOSTILE = "a|b `x` <img src=x onerror=alert(1)> [l](javascript:alert(1)) **b** & \n# h \\ $x$"


def noise(width: int = 1600, height: int = 900) -> Image.Image:
    """Returns a picture that compresses badly."""
    return Image.effect_noise((width, height), 120).convert("RGB")


def pictures(markdown: str) -> list[Image.Image]:
    """Returns the pictures of a contact sheet's data URIs."""
    found = re.findall(r"\(data:image/jpeg;base64,([A-Za-z0-9+/=]+)\)", markdown)
    return [Image.open(io.BytesIO(base64.b64decode(text))) for text in found]


@given(st.text())
def test_escaped_text_is_one_line_without_markup(text: str) -> None:
    result = escaped(text)
    assert len(result.splitlines()) <= 1
    assert not re.search(r"[<>]", result)
    assert not re.search(r"""(?<!\\)(?:\\\\)*[|`*_\["']""", result)


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_escaped_text_reads_as_it_was(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", html.unescape(escaped(text))) == text


@given(st.text())
def test_a_slug_is_always_a_valid_key(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(text))


def test_a_few_pictures_are_wide_and_below_each_other() -> None:
    cells = [Cell(f"pair {number}", "kept", Image.new("RGB", (1600, 900), "navy")) for number in range(6)]
    sheet = contact_sheet_markdown(cells)
    assert [picture.size for picture in pictures(sheet)] == [(640, 360)] * 6
    assert [line for line in sheet.splitlines() if line.startswith("###")] == [f"### pair {n}" for n in range(6)]


def test_many_detailed_pictures_are_narrow_and_two_in_a_row() -> None:
    cells = [Cell(f"pair {number}", "kept", noise(640, 360)) for number in range(12)]
    sheet = contact_sheet_markdown(cells)
    assert len(sheet.encode()) <= MAX_BYTES
    assert [picture.size for picture in pictures(sheet)] == [(320, 180)] * 12
    assert len(sheet.splitlines()) == 2 + 6
    assert {line.count("|") for line in sheet.splitlines()} == {3}


def test_twenty_noisy_pictures_still_fit() -> None:
    sheet = contact_sheet_markdown([Cell("t", "c", noise())] * 20)
    assert len(sheet.encode()) <= MAX_BYTES
    assert len(pictures(sheet)) == 20


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "I;16"])
def test_any_picture_mode_and_shape_is_shown(mode: str) -> None:
    for size in ((1, 4000), (4000, 1), (64, 64)):
        (picture,) = pictures(contact_sheet_markdown([Cell("t", "c", Image.new(mode, size))]))
        assert picture.width == 640


def test_more_than_twenty_cells_are_refused() -> None:
    with pytest.raises(ContactSheetError, match="got 21"):
        contact_sheet_markdown([Cell("t", "c", Image.new("RGB", (8, 8)))] * 21)


def test_hostile_titles_and_captions_stay_text() -> None:
    sheet = contact_sheet_markdown([Cell(HOSTILE, HOSTILE, Image.new("RGB", (8, 8)))])
    assert "<img" not in sheet
    assert len(sheet.splitlines()) == 5  # title, picture, caption


def test_a_long_id_is_wrapped_after_its_slashes_and_loses_nothing() -> None:
    title = f"nuscenes/scene-0103/{'0' * 32}/large_vehicle_blocking_lane"
    sheet = contact_sheet_markdown([Cell(title, "x" * 500, Image.new("RGB", (8, 8)))])
    title_line, _, caption = (line.replace("\\", "") for line in sheet.split("\n\n"))
    assert title_line.removeprefix("### ").split("<br>") == [
        "nuscenes/scene-0103/",
        "0" * 32 + "/",
        "large_vehicle_blocking_lane",
    ]
    assert caption.count("x") == 500
    assert max(len(line) for line in caption.split("<br>")) <= 40


def test_a_caption_wraps_at_its_blanks_and_gives_an_id_its_own_line() -> None:
    text = "a rather long verdict that a browser can wrap by itself " + "i/" * 30
    caption = contact_sheet_markdown([Cell("t", text, Image.new("RGB", (8, 8)))]).split("\n\n")[-1]
    assert caption.split("<br>") == [text.split(" i/")[0], "i/" * 20, "i/" * 10]


def test_the_funnel_shows_counts_shares_and_what_is_left() -> None:
    funnel = funnel_markdown([FunnelRow("screen", 500, 450, 50, 1000), FunnelRow("edit", 100, 400, 0, 500)])
    screen, edit = funnel.splitlines()[2:]
    assert screen == "| screen | 1,000 | 500 | 450 | 50 | 50.0\u00a0% | " + "█" * 5 + " |"
    assert edit == "| edit | 500 | 100 | 400 | 0 | 20.0\u00a0% | " + "█" + " |"


def test_a_funnel_that_does_not_add_up_says_so() -> None:
    assert "Does not add up: edit" in funnel_markdown([FunnelRow("edit", 1, 1, 1, 4)])


def test_open_items_have_a_column_only_where_there_are_some() -> None:
    assert "Open" not in funnel_markdown([FunnelRow("edit", 1, 1, 0, 2)])
    head, _, edit = funnel_markdown([FunnelRow("edit", 1, 1, 0, 5, unsettled=3)]).splitlines()
    assert head.startswith("| Stage | Items | Kept | Rejected | Failed | Open |")
    assert edit.startswith("| edit | 5 | 1 | 1 | 0 | 3 |")


def test_an_empty_stage_has_no_share() -> None:
    assert "| n/a |" in funnel_markdown([FunnelRow("edit", 0, 0, 0, 0)])


def test_rejections_keep_their_order_and_words_and_put_the_long_id_last() -> None:
    given = [
        Rejection("screen", "scene", "task", "no_space", "1 < 2", HOSTILE),
        Rejection("edit", "", "", "r", "e", "b"),
    ]
    rows = rejections_rows(given)
    assert list(rows[0]) == ["stage", "scene", "task", "reason", "evidence", "item"]
    assert rows[0]["item"] == HOSTILE
    assert [row["reason"] for row in rows] == ["no_space", "r"]


def test_an_index_links_only_safe_addresses() -> None:
    links = [Link("a|b", "/runs/1"), Link("ok", "https://host/x?y=1"), Link("bad", "javascript:alert(1)", "no <b>")]
    links.append(Link("contact-sheet-1", artifact_address(UUID(int=1)), "pictures"))
    first, second, third, fourth = index_markdown("Build", links).splitlines()[2:]
    assert first == r"- a\|b [open](/runs/1)"
    assert second == "- [ok](https://host/x?y=1)"
    assert fourth == "- [contact-sheet-1](../artifact/00000000-0000-0000-0000-000000000001): pictures"
    assert "](" not in third
    assert "&lt;b&gt;" in third


def test_rows_beyond_the_limit_are_counted() -> None:
    rows: list[Row] = [{"item": f"{number:06}", "evidence": "x" * 1000} for number in range(1000)]
    shown = bounded_rows(rows, "tables/rejections.parquet")
    assert len(json.dumps(shown)) <= MAX_BYTES
    assert shown[-1] == {"item": f"{1000 - len(shown) + 1} more rows in tables/rejections.parquet", "evidence": ""}
    assert bounded_rows(rows[:5], "t") == rows[:5]


@pytest.mark.parametrize("key", ["", "Upper", "under_score", "a b", "-a", "a--b", "a/b", "é"])
def test_a_bad_key_is_refused_before_anything_is_sent(key: str) -> None:
    with pytest.raises(ArtifactKeyError, match="lower case letters"):
        publish_markdown(key, "text", "description")
    with pytest.raises(ArtifactKeyError):
        publish_table(key, [], "description")


def test_published_artifacts_are_on_the_server_and_bounded(prefect_server: PrefectServer) -> None:
    @flow
    def publishes() -> list[UUID]:
        return [
            publish_markdown("sheet", "line\n" * 100_000, "long"),
            publish_table("rejections", [{"item": "x" * 5000}] * 100, "big", complete_in="tables/rejections.parquet"),
        ]

    ids = publishes()
    with get_client(sync_client=True) as client:
        wanted = ArtifactFilter(id=ArtifactFilterId(any_=ids))
        found = {artifact.key: artifact for artifact in client.read_artifacts(artifact_filter=wanted)}
    sheet, table = str(found["sheet"].data), str(found["rejections"].data)
    assert len(sheet.encode()) <= MAX_BYTES
    assert re.search(r"\*\*[\d,]+ more lines left out", sheet)
    assert len(table.encode()) <= MAX_BYTES
    assert "more rows in tables/rejections.parquet" in table
