"""The decisions file: strict, all problems at once, by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.decisions import DecisionsFileError, load_decisions

PAIR = f"streetset/scene-0001/{'a' * 32}/large_vehicle_blocking_lane"


def line(pair_id: str = PAIR, edit_digest: str = "b" * 64, approve: object = True, **more: object) -> str:
    return json.dumps({"pair_id": pair_id, "edit_digest": edit_digest, "approve": approve, "reason": "seen"} | more)


def read(tmp_path: Path, *lines: str) -> tuple:
    path = tmp_path / "decisions.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_decisions(path)


def problems(tmp_path: Path, *lines: str) -> str:
    with pytest.raises(DecisionsFileError) as raised:
        read(tmp_path, *lines)
    return str(raised.value)


def test_decisions_come_sorted_whatever_their_order(tmp_path: Path) -> None:
    lines = [line(edit_digest=digit * 64, approve=digit == "c") for digit in "cab"]

    found = read(tmp_path, *lines)

    assert [decision.edit_digest[0] for decision in found] == ["a", "b", "c"]
    assert [decision.approve for decision in found] == [False, False, True]
    assert found == read(tmp_path, *reversed(lines))


def test_an_empty_file_decides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_bytes(b"")

    assert load_decisions(path) == ()


def test_every_problem_is_told_with_its_line(tmp_path: Path) -> None:
    text = problems(
        tmp_path,
        line(),
        "{not json",
        "",
        "[1, 2]",
        line(edit_digest="B" * 64),
        line(edit_digest="c" * 64, approve="yes"),
        line(edit_digest="d" * 64, note="?"),
        line(pair_id="nowhere", edit_digest="e" * 64),
        '{"pair_id": "a", "pair_id": "b"}',
    )

    assert text.startswith("8 problems in the decisions file")
    assert "line 2: is not JSON in UTF-8" in text
    assert "line 3: is empty" in text
    assert "line 4: is not a JSON object" in text
    assert "line 5: edit_digest" in text
    assert "line 6: approve" in text
    assert "line 7: note: Extra inputs" in text
    assert "line 8: 'nowhere' is not a pair id" in text
    assert "line 9: names a field twice" in text
    assert "line 1:" not in text
    assert "correct the file and run the command again" in text


def test_repeated_and_contradicting_lines_are_refused(tmp_path: Path) -> None:
    text = problems(tmp_path, line(), line(edit_digest="c" * 64), line(), line(approve=False))

    assert f"line 3: repeats line 1 about {PAIR}@bbbbbbbbbbbb" in text
    assert "line 4: contradicts line 1" in text


def test_a_thousand_problems_are_cut_short(tmp_path: Path) -> None:
    text = problems(tmp_path, *["{}" for _ in range(1000)])

    assert text.startswith("1000 problems")
    assert "... and 990 more" in text
    assert len(text) < 5000


def test_a_missing_file_and_an_endless_line_are_told(tmp_path: Path) -> None:
    with pytest.raises(DecisionsFileError, match="cannot be read"):
        load_decisions(tmp_path / "nothing.jsonl")
    assert "is longer than 65536 bytes" in problems(tmp_path, line(reason="x" * 70_000))


def test_deep_nesting_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    assert "line 1: is not JSON" in problems(tmp_path, "[" * 60_000)


@settings(max_examples=60, deadline=None)
@given(content=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode("utf-8"))))
def test_whatever_the_file_holds_only_its_own_error_comes_out(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("decisions") / "decisions.jsonl"
    path.write_bytes(content)
    try:
        found = load_decisions(path)
    except DecisionsFileError:
        return
    assert content == b"" or found
