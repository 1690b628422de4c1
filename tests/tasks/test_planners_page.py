"""docs/planners.md: its tables name every field and column that planners' authors meet, and no other."""

from __future__ import annotations

import os
import re
from pathlib import Path

from data_registry.evaluation import EVALUATION_TABLES, SCORES
from data_registry.records.keyframe import PathPoint
from data_registry.tables import TableSchema
from tasks.cases import case_rows
from tasks.evaluation import EvaluatedPlanner, EvaluatedRelease, Evaluation, EvaluationFile
from tasks.score import ScoreSettings
from tasks.score_files import FRAME
from tests.planner_cases import case

FILE = Path(__file__).parents[2] / "docs" / "planners.md"
PAGE = FILE.read_text(encoding="utf-8")
COLUMNS = re.compile(r"(?<=<!-- columns -->\n).*?(?=<!-- /columns -->)", re.DOTALL)


def first_cells(head: str, after: str = "") -> list[str]:
    """Return the names in the first cells of the first table after a text whose first column has a head."""
    rows = PAGE[PAGE.index(after) :].split(f"| {head} | meaning |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]


def described(schema: TableSchema) -> str:
    """Return a table's columns as the page has them."""
    rows = [f"| `{name}` | {column.doc} |" for name, column in schema.columns.items()]
    return "\n".join(
        [
            f"Table `{schema.name}`, key {', '.join(f'`{name}`' for name in schema.key)}:",
            "",
            "| column | meaning |",
            "|---|---|",
            *rows,
            "",
            "",
        ]
    )


def test_every_column_of_every_table_is_described_as_in_the_schema() -> None:
    text = "\n" + "".join(described(schema) for schema in (SCORES, *EVALUATION_TABLES))
    if os.environ.get("UPDATE_GOLDEN"):
        FILE.write_text(COLUMNS.sub(lambda _: text, PAGE), encoding="utf-8")
    assert COLUMNS.findall(FILE.read_text(encoding="utf-8")) == [text]


def test_every_field_of_a_case_is_described() -> None:
    source, edited = case_rows([case(variant="source"), case()], lambda _frame, camera: f"{camera.sensor_id}.jpg")
    assert sorted(first_cells("field")) == sorted(source)
    of_cameras = {name for row in (source, edited) for camera in row["cameras"] for name in camera}
    assert sorted(first_cells("field of `cameras`")) == sorted({*of_cameras, "file_sha256"})
    past = PAGE.split("| `past` |")[1].splitlines()[0]
    assert all(f"`{name}`" in past for name in PathPoint.model_fields)


def test_every_field_of_evaluation_json_is_described() -> None:
    evaluation = Evaluation.model_json_schema(by_alias=True)["properties"]
    assert first_cells("field", "Fields of `evaluation.json`") == list(evaluation)
    assert first_cells("field of `planners`") == list(EvaluatedPlanner.model_fields)
    for model, row in ((EvaluatedRelease, "release"), (EvaluationFile, "files"), (ScoreSettings, "settings")):
        text = PAGE.split("Fields of `evaluation.json`")[1].split(f"| `{row}` |")[1].splitlines()[0]
        assert all(f"`{name}`" in text for name in model.model_fields), row


def test_the_only_frame_is_named() -> None:
    assert f"`{FRAME}`" in PAGE
