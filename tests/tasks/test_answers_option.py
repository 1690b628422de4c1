"""The option that names a planner's file of predictions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tasks.answers import AnswersError, parse_answers_option


def test_a_pipe_of_predictions_is_told_from_a_file_that_is_not_there(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AnswersError, match="pipe is a named pipe, not a plain file: write the predictions to a file"):
        parse_answers_option(f"mine={tmp_path / 'pipe'}")
    for other in ("gone", "."):
        with pytest.raises(AnswersError, match="there is no file of predictions"):
            parse_answers_option(f"mine={tmp_path / other}")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").write_text("")
    assert parse_answers_option(f"mine={tmp_path / 'link'}").path == tmp_path / "link"
