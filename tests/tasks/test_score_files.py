"""The files of scoring: what is read, what is refused with which words, and that writing comes back."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_registry.evaluation import Predicted
from data_registry.records import Prediction
from tasks import json_lines
from tasks.score import score
from tasks.score_files import (
    FRAME,
    PredictionsFileError,
    RegionsFileError,
    read_predictions,
    read_regions,
    write_predictions,
    write_regions,
)
from tests.score_cases import PAIR, region, square

REGION: dict[str, Any] = {
    "pair_id": PAIR,
    "quad": square(9.0, 0.0).tolist(),
    "clearance_m": 1.0,
    "family": "lane_blockage",
    "task": "crate",
    "scene": "scene",
}
PREDICTION: dict[str, Any] = {
    "pair_id": PAIR,
    "variant": "edited",
    "status": "ok",
    "t": [0, 1.5, 3],
    "xy": [[0, 0], [3, 0.5], [6, 1]],
}


def put(folder: Path, *lines: str | bytes | dict[str, Any]) -> Path:
    path = folder / "file.jsonl"
    rows = [json.dumps(line).encode() if isinstance(line, dict) else line for line in lines]
    path.write_bytes(b"".join((row.encode() if isinstance(row, str) else row) + b"\n" for row in rows))
    return path


def without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


BAD_REGIONS: list[tuple[Any, str]] = [
    (REGION | {"quad": square(9.0, 0.0).tolist()[:3]}, "quad must have four corners, the first not repeated, got 3"),
    (REGION | {"quad": [[0, 0], [4, 4], [4, 0], [0, 4]]}, "quad crosses or touches itself"),
    (REGION | {"quad": [[0, 0], [4, 0], [2, 0], [2, 4]]}, "quad crosses or touches itself"),
    (REGION | {"quad": [[0, 0], [4, 0], [4, 4], [0, 0]]}, "quad must have four corners, two are the same"),
    (REGION | {"quad": [[0, 0], [1, 0], [2, 0], [3, 0]]}, "quad"),
    (REGION | {"quad": square(9.0, 0.0, 0.1117).tolist()}, "area of 0.05 m2 at least, has 0.0499"),
    (REGION | {"quad": [[0, 0], [4, 0], [4, float("nan")], [0, 4]]}, "quad must have finite corners"),
    (REGION | {"quad": [[0, 0], [4, 0], None, [0, 4]]}, "quad must have finite corners"),
    (REGION | {"quad": [[0, 0], [1e10, 0], [1e10, 4], [0, 4]]}, "none beyond 1e+09 m"),
    (REGION | {"quad": [[0, 0], [4, 0], [4, 4, 0], [0, 4]]}, "two numbers, got a list of 3"),
    (REGION | {"quad": [[0, 0], [4, 0], [4, True], [0, 4]]}, "two numbers, got one with true"),
    (REGION | {"quad": None}, "quad must be a list of points [x, y], got null"),
    (REGION | {"quad": [[0, 0], [1, 0], [1, 0.04999995], [0, 0.04999995]]}, "0.05 m2 at least, has 0.04999995"),
    (REGION | {"quad": "none"}, "quad must be a list of points [x, y], got the text 'none'"),
    (REGION | {"clearance_m": 0}, "clearance_m must be a finite number, at least 1e-06, got 0"),
    (REGION | {"clearance_m": 5e-324}, "at least 1e-06, got 5e-324"),
    (REGION | {"pair_id": None}, "pair_id must be a text, printable and not empty, got null"),
    (REGION | {"family": None}, "family must be a text, printable and not empty, got null"),
    (REGION | {"task": None}, "task must be a text, printable and not empty, got null"),
    (REGION | {"scene": None}, "scene must be a text, printable and not empty, got null"),
    (REGION | {"split": None}, "split must be a text, printable and not empty, got null"),
    (REGION | {"clearance_m": -1.5}, "at least 1e-06, got -1.5"),
    (REGION | {"clearance_m": float("inf")}, "at least 1e-06, got Infinity"),
    (REGION | {"clearance_m": float("nan")}, "at least 1e-06, got NaN"),
    (REGION | {"clearance_m": "1.0"}, "at least 1e-06, got the text '1.0'"),
    (REGION | {"clearance_m": True}, "at least 1e-06, got true"),
    (REGION | {"clearance_m": None}, "at least 1e-06, got null"),
    (without(REGION, "clearance_m"), "clearance_m is missing"),
    (without(REGION, "scene"), "scene is missing"),
    (REGION | {"family": ""}, "family must be a text, printable and not empty, got the text ''"),
    (REGION | {"pair_id": 7}, "pair_id must be a text, printable and not empty, got 7"),
    (REGION | {"pair_id": "a\x1b[31m"}, "got the text 'a\\x1b[31m'"),
    (REGION | {"split": "dev"}, "split must be one of train, val, test, none, got 'dev'"),
    (REGION | {"clearance": 1.0}, "unknown field 'clearance', did you mean clearance_m?"),
    (REGION, f"repeats pair '{PAIR}' of line 1"),
]


@pytest.mark.parametrize(("row", "told"), BAD_REGIONS, ids=range(len(BAD_REGIONS)))
def test_a_bad_region_is_refused_with_its_line(row: dict[str, Any], told: str, tmp_path: Path) -> None:
    row = (
        row
        if "repeats" in told or not isinstance(row.get("pair_id"), str)
        else row | {"pair_id": f"other{row['pair_id'] if chr(27) in row['pair_id'] else ''}"}
    )
    with pytest.raises(RegionsFileError) as refused:
        read_regions(put(tmp_path, REGION, row))
    assert "1 problem in the regions file" in str(refused.value)
    assert "line 2: " in str(refused.value)
    assert told.replace("'a\\x1b", "'othera\\x1b") in str(refused.value)


BAD_PREDICTIONS: list[tuple[Any, str]] = [
    (PREDICTION | {"pair_id": "x"}, "pair 'x' has no region"),
    (PREDICTION | {"variant": "edit"}, "variant must be one of source, edited, got 'edit', did you mean edited?"),
    (PREDICTION | {"status": "skipped_ineligible"}, "did you mean ineligible?"),
    (without(PREDICTION, "status"), "status is missing"),
    (PREDICTION | {"pair_id": None}, "pair_id must be a text, printable and not empty, got null"),
    (PREDICTION | {"variant": None}, "variant must be a text, printable and not empty, got null"),
    (PREDICTION | {"status": None}, "status must be a text, printable and not empty, got null"),
    (PREDICTION | {"headings": [0, 0, 0]}, "unknown field 'headings', did you mean heading?"),
    (PREDICTION | {"t": [0, "1.5", 3]}, "t must hold numbers, got the text '1.5'"),
    (PREDICTION | {"t": [False, 1.5, 3]}, "t must hold numbers, got false"),
    (PREDICTION | {"t": 3}, "t must be a list of numbers, got 3"),
    (PREDICTION | {"xy": [[0, 0], [3, [1]], [6, 1]]}, "points [x, y] of two numbers, got one with a list of 1"),
    (PREDICTION | {"xy": [0, 3, 6]}, "points [x, y] of two numbers, got 0"),
    (PREDICTION | {"xy": {"x": 1}}, "xy must be a list of points [x, y], got an object"),
    (PREDICTION | {"heading": "tangent"}, "heading must be a list of numbers, got the text 'tangent'"),
    (PREDICTION | {"component_digest": "abc"}, "component_digest must be 64 lower-case hex digits, got the text 'abc'"),
    (PREDICTION | {"inputs_sha256": 1}, "inputs_sha256 must be 64 lower-case hex digits, got 1"),
    (PREDICTION | {"schema_version": 2}, "schema_version must be 1"),
    (PREDICTION | {"planner": "other"}, "is of planner 'other', line 1 of 'mine': score one planner at a time"),
    (
        PREDICTION | {"frame": "lidar"},
        "keyframe' or absent, got the text 'lidar': positions are scored as those of the",
    ),
    (PREDICTION | {"frame": ["ego"]}, "or absent, got a list of 1"),
    ('{"pair_id": ', "is not JSON: Expecting value at character 12"),
    ("[1, 2]", "is a list of 2, not an object {...}"),
    ("null", "is null, not an object {...}"),
    (b'{"pair_id": "\xff"}', "is not UTF-8: byte 0xff at 14"),
    (json.dumps(PREDICTION)[:-1] + ', "t": [0]}', "names the field 't' twice"),
    ('{"native": ' + "[" * 200_000 + "]" * 200_000 + "}", "is nested too deeply"),
    (b"\xff\xfe{\x00}\x00", "is not UTF-8"),
]


@pytest.mark.parametrize(("row", "told"), BAD_PREDICTIONS, ids=range(len(BAD_PREDICTIONS)))
def test_a_bad_prediction_row_is_refused_with_its_line(row: Any, told: str, tmp_path: Path) -> None:
    first = PREDICTION | {"variant": "source", "planner": "mine"}
    with pytest.raises(PredictionsFileError) as refused:
        read_predictions(put(tmp_path, first, row), [PAIR])
    assert "1 problem in the predictions file" in str(refused.value)
    assert "line 2: " in str(refused.value)
    assert told in str(refused.value)


def test_two_rows_about_one_case_are_refused(tmp_path: Path) -> None:
    other = {"pair_id": PAIR, "variant": "edited", "status": "error"}
    with pytest.raises(PredictionsFileError, match=r"line 3: repeats pair '.*', edited, of line 1"):
        read_predictions(put(tmp_path, PREDICTION, "", other), [PAIR])


def test_ids_are_shown_whole_so_that_pairs_of_a_keyframe_are_told_apart(tmp_path: Path) -> None:
    pair = f"streetset/scene-9001/{'c' * 32}/broken_down_car"
    rows = [PREDICTION | {"pair_id": pair}, PREDICTION | {"pair_id": pair}]
    with pytest.raises(PredictionsFileError, match=f"line 2: repeats pair '{pair}', edited, of line 1"):
        read_predictions(put(tmp_path, *rows), [pair])
    with pytest.raises(PredictionsFileError, match=f"pair '{pair}' has no region"):
        read_predictions(put(tmp_path, rows[0]), [PAIR])
    with pytest.raises(PredictionsFileError, match=r"pair 'a{100}\.\.\.b{100}' has no region"):
        read_predictions(put(tmp_path, PREDICTION | {"pair_id": "a" * 999 + "b" * 999}), [PAIR])


def test_all_problems_are_found_ten_shown_and_the_rest_counted(tmp_path: Path) -> None:
    rows = [PREDICTION | {"pair_id": f"p{number}"} for number in range(25)]
    with pytest.raises(PredictionsFileError) as refused:
        read_predictions(put(tmp_path, *rows), [PAIR])
    text = str(refused.value)
    assert "25 problems in the predictions file" in text
    assert text.count("\n  line ") == 10
    assert "... and 15 more" in text


def test_a_line_beyond_all_measure_is_refused_and_the_next_is_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 2**20)
    long = PREDICTION | {"raw_text": "x" * (3 * 2**20)}
    with pytest.raises(PredictionsFileError) as refused:
        read_predictions(put(tmp_path, long, PREDICTION | {"pair_id": "x"}), [PAIR])
    assert "line 1: is longer than 1 MiB" in str(refused.value)
    assert "line 2: pair 'x' has no region" in str(refused.value)


def test_files_that_cannot_be_read_or_hold_no_region_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RegionsFileError, match="cannot be read: No such file"):
        read_regions(tmp_path / "none.jsonl")
    with pytest.raises(PredictionsFileError, match="cannot be read: Is a directory"):
        read_predictions(tmp_path, [PAIR])
    with pytest.raises(RegionsFileError, match="has no rows"):
        read_regions(put(tmp_path, "", "  "))
    assert read_predictions(put(tmp_path), [PAIR]) == []


def test_a_byte_order_mark_blank_lines_and_carriage_returns_are_no_matter(tmp_path: Path) -> None:
    content = (
        b"\xef\xbb\xbf" + json.dumps(REGION).encode() + b"\r\n\r\n" + json.dumps(REGION | {"pair_id": "b"}).encode()
    )
    path = tmp_path / "regions.jsonl"
    path.write_bytes(content)
    assert [one.pair_id for one in read_regions(path)] == [PAIR, "b"]


def test_clockwise_concave_and_narrow_regions_are_read_as_they_are(tmp_path: Path) -> None:
    quads = [
        square(9.0, 0.0)[::-1].tolist(),
        [[0, 0], [10, 5], [0, 10], [8, 5]],
        square(9.0, 0.0, 0.112).tolist(),
        [[0, 0], [4, 0], [4, 4], [2, 2]],  # the last corner lies on the diagonal
        [[0, 0], [2, 0], [4, 0], [2, 4]],  # a corner of 180 degrees
        (square(0.0, 0.0) + 1e8).tolist(),
    ]
    rows = [REGION | {"pair_id": str(number), "quad": quad} for number, quad in enumerate(quads)]
    assert [one.quad.tolist() for one in read_regions(put(tmp_path, *rows))] == quads


def test_odd_numbers_in_a_trajectory_are_the_planners_failure_and_are_kept(tmp_path: Path) -> None:
    lines = [
        json.dumps(PREDICTION | {"t": [0, float("nan"), float("inf")]}),
        json.dumps(PREDICTION | {"variant": "source", "xy": [[0, 0], None, [None, 10**400]]}),
    ]
    edited, source = read_predictions(put(tmp_path, *lines), [PAIR])
    assert edited.t is not None
    assert source.xy is not None
    np.testing.assert_array_equal(edited.t, [0, np.nan, np.inf])
    np.testing.assert_array_equal(source.xy, [(0, 0), (np.nan, np.nan), (np.nan, np.inf)])


def test_a_trajectory_of_null_is_the_planners_failure_and_a_heading_of_null_is_derived(
    tmp_path: Path,
) -> None:
    nulls = [PREDICTION | {"pair_id": name, name: None} for name in ("t", "xy", "heading")]
    given_ones = read_predictions(put(tmp_path, *nulls), ["t", "xy", "heading"])
    regions = [region(square(20.0, 0.0), pair_id=name) for name in ("t", "xy", "heading")]
    ended = dict(score(regions, given_ones).select("pair_id", "edited").iter_rows())
    assert ended == {"t": "length", "xy": "length", "heading": "ok"}


def test_a_pipe_is_refused_and_never_waited_for_and_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RegionsFileError, match=r"the regions file .*pipe is a named pipe, not a plain file: name one"):
        read_regions(tmp_path / "pipe")
    with pytest.raises(PredictionsFileError, match="is a named pipe"):
        read_predictions(tmp_path / "pipe", [PAIR])
    (tmp_path / "link").symlink_to(put(tmp_path, REGION))
    assert len(read_regions(tmp_path / "link")) == 1


def test_informative_fields_are_welcome_and_a_failure_never_has_a_trajectory(tmp_path: Path) -> None:
    more = {"planner": "mine", "run_id": 3, "seed": 1, "frame": FRAME, "native": {"dx": [1]}, "raw_text": "x"}
    told = (
        PREDICTION | more | {"latency_s": 0.1, "status": "truncated", "reason": "cut\x1b[0m at 4096", "heading": None}
    )
    [found] = read_predictions(put(tmp_path, told | {"component_digest": "a" * 64, "inputs_sha256": None}), [PAIR])
    assert (found.status, found.t, found.xy, found.heading) == ("truncated", None, None, None)
    assert found.reason == "cut [0m at 4096"
    assert (found.component_digest, found.inputs_sha256, found.line) == ("a" * 64, None, 1)


NUMBERS = st.floats() | st.integers(-5, 5).map(float)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4), st.booleans())
def test_written_predictions_come_back_as_the_same_numbers(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, ...]], headed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "predictions.jsonl"
    table = np.array(rows)
    given_one = Predicted(PAIR, "source", "ok", table[:, 0], table[:, 1:3], table[:, 3] if headed else None)
    write_predictions(path, [given_one, Predicted(PAIR, "edited", "error", reason="why")])
    source, edited = read_predictions(path, [PAIR])
    assert source.t is not None
    assert source.xy is not None
    np.testing.assert_array_equal(source.t, table[:, 0])
    np.testing.assert_array_equal(source.xy, table[:, 1:3])
    assert (source.heading is not None) == headed
    assert (edited.status, edited.reason, edited.t) == ("error", "why", None)


def test_records_of_the_stage_and_regions_are_written_as_they_are_read(tmp_path: Path) -> None:
    record = Prediction(
        pair_id=PAIR,
        variant="source",
        status="ok",
        t=(0.0, 3.0),
        xy=((0.0, 0.0), (5.0, 0.25)),
        component_digest="b" * 64,
        inputs_sha256="c" * 64,
    )
    path = tmp_path / "p.jsonl"
    write_predictions(path, [record])
    [found] = read_predictions(path, [PAIR])
    assert found.xy is not None
    assert (found.xy.tolist(), found.component_digest, found.inputs_sha256) == ([[0, 0], [5, 0.25]], "b" * 64, "c" * 64)
    path.write_text(record.model_dump_json() + "\n")  # the record itself is a row, too
    [found] = read_predictions(path, [PAIR])
    assert found.heading is None
    regions = tmp_path / "r.jsonl"
    write_regions(regions, [region(square(9.0, 1.0), 0.5)])
    [back] = read_regions(regions)
    assert (back.pair_id, back.quad.tolist(), back.clearance_m, back.split) == (
        PAIR,
        square(9.0, 1.0).tolist(),
        0.5,
        "none",
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ROWS = st.dictionaries(st.sampled_from([*REGION, *PREDICTION, "heading", "reason", "planner", "split"]), JSON)


@given(st.lists(ROWS.map(lambda row: json.dumps(row).encode()) | st.binary(max_size=40), max_size=4))
def test_whatever_a_file_holds_readers_raise_nothing_but_their_own_errors(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.jsonl"
    path.write_bytes(b"\n".join(lines))
    with suppress(RegionsFileError):
        read_regions(path)
    with suppress(PredictionsFileError):
        read_predictions(path, [PAIR])
