"""Tables as plain text."""

import pytest
from rich.table import Table

from flows.terminal import WIDTH, plain_text


def wide() -> Table:
    table = Table("id", "title", box=None, pad_edge=False)
    table.add_row("a" * 60, "b" * 45)
    return table


@pytest.mark.parametrize("terminal", [{"TERM": "dumb"}, {"TERM": "dumb", "FORCE_COLOR": "1"}, {"COLUMNS": "40"}])
def test_the_width_is_the_same_on_any_terminal(terminal: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in terminal.items():
        monkeypatch.setenv(name, value)
    head, row = plain_text(wide()).splitlines()
    assert head.split() == ["id", "title"]
    assert row.split() == ["a" * 60, "b" * 45]
    assert len(row) <= WIDTH


def test_markup_emoji_and_numbers_stay_as_they_are() -> None:
    assert plain_text("one", "two 2  ") == "one\ntwo 2"
    assert "\x1b" not in plain_text("12 apples 'quoted' :smile:")
    assert ":smile:" in plain_text(":smile:")
