"""Tables as plain text."""

import os
import pty
import subprocess
import sys
import termios

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


def test_a_narrow_terminal_gets_lines_that_it_can_show() -> None:
    script = "from tests.flows.test_terminal import *; print(plain_text(wide()))"
    leader, follower = pty.openpty()
    try:
        termios.tcsetwinsize(follower, (24, 80))
        subprocess.run([sys.executable, "-c", script], stdout=follower, check=True, timeout=60)
        lines = os.read(leader, 10_000).decode().splitlines()
    finally:
        os.close(leader)
        os.close(follower)
    assert max(map(len, lines)) <= 80
    assert "".join("".join(lines).split()).count("a") == 60
