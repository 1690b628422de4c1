import logging
from pathlib import Path

from prefect import flow, get_run_logger, task

from flows.run_log import log_to
from flows.server import PrefectServer


@task
def warns() -> None:
    get_run_logger().warning("from the task")


@flow
def speaks() -> None:
    get_run_logger().info("from the flow")
    logging.getLogger("tasks.edit").info("from a package")
    warns()


def test_a_run_writes_flow_task_and_package_lines(prefect_server: PrefectServer, tmp_path: Path) -> None:
    with log_to(tmp_path / "logs" / "run.log") as path:
        speaks()
    logging.getLogger("tasks.edit").error("after the run")
    text = path.read_text()
    assert "INFO prefect.flow_runs: from the flow" in text
    assert "WARNING prefect.task_runs: from the task" in text
    assert "INFO tasks.edit: from a package" in text
    assert "after the run" not in text


def test_each_message_is_one_line_whatever_it_says(tmp_path: Path) -> None:
    with log_to(tmp_path / "run.log") as path:
        logging.getLogger("tasks").info("first\nsecond\r\x1b[31m \u2028 %s", "é\ud800")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1
    assert r"first\nsecond\r\x1b[31m \u2028 é\ud800" in lines[0]


def test_a_traceback_follows_its_line_indented(tmp_path: Path) -> None:
    with log_to(tmp_path / "run.log") as path:
        try:
            raise ValueError("broken\nitem")
        except ValueError:
            logging.getLogger("models").exception("failed")
    first, *rest = path.read_text().splitlines()
    assert first.endswith("ERROR models: failed")
    assert rest[-2].startswith("    ValueError: broken")
    assert all(line.startswith("    ") for line in rest)


def test_levels_and_handlers_are_as_before_afterwards(tmp_path: Path) -> None:
    logger = logging.getLogger("qa_audit")
    before = (logger.level, list(logger.handlers))
    with log_to(tmp_path / "run.log", logging.DEBUG):
        assert logger.isEnabledFor(logging.DEBUG)
    assert (logger.level, list(logger.handlers)) == before


def test_a_second_run_appends(tmp_path: Path) -> None:
    for word in ("one", "two"):
        with log_to(tmp_path / "run.log") as path:
            logging.getLogger("flows").info(word)
    assert [line[-3:] for line in path.read_text().splitlines()] == ["one", "two"]
