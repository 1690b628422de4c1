"""A run's log lines in a file of its own, beside what Prefect keeps: readable with no server.

Prefect's loggers do not propagate, so the file is attached to them one by one, and to those of our packages. Control
characters in a message are escaped: one message is one line (a traceback follows, indented), whatever text it carries.
"""

import logging
import re
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFECT_LOGGERS = ("prefect.flow_runs", "prefect.task_runs")
PACKAGE_LOGGERS = ("flows", "tasks", "models", "qa_audit", "prompts", "data_registry")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


class _PlainLines(logging.Formatter):
    """Formats `2026-01-31T12:00:00.123Z INFO logger: message`, in UTC."""

    converter = time.gmtime

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self.default_time_format = "%Y-%m-%dT%H:%M:%S"
        self.default_msec_format = "%s.%03dZ"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return _CONTROL.sub(
            lambda found: found.group().encode("unicode_escape").decode("ascii"), super().formatMessage(record)
        )

    def formatException(self, ei: object) -> str:  # noqa: N802 - logging's name
        return "    " + super().formatException(ei).replace("\n", "\n    ")  # pyright: ignore[reportArgumentType]


class _RunFile(logging.FileHandler):
    """A run's file. A full disk must not make every line of it a traceback on the console."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


@contextmanager
def log_to(path: Path, level: int = logging.INFO) -> Generator[Path, None, None]:
    """Appends what flow runs, task runs and our packages log to a text file, whose folder is created; yields the path.

    Package loggers without a level of their own get `level` meanwhile. Everything logged by the process is written: one
    run per process, as workers do it. Nested files each get every line. An error that leaves the block is written with
    its traceback: Prefect logs a flow's error only after the flow, and the command line shows its message alone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _RunFile(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(_PlainLines())
    handler.setLevel(level)
    loggers = [logging.getLogger(name) for name in PREFECT_LOGGERS + PACKAGE_LOGGERS]
    unset = [logger for logger in loggers if logger.level == logging.NOTSET and not logger.name.startswith("prefect.")]
    for logger in loggers:
        logger.addHandler(handler)
    for logger in unset:
        logger.setLevel(level)
    try:
        yield path
    except BaseException as error:
        handler.handle(_ending(error))
        raise
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        for logger in unset:
            logger.setLevel(logging.NOTSET)
        with suppress(OSError):  # a full disk: the store, which lies on it, has said so
            handler.close()


def _ending(error: BaseException) -> logging.LogRecord:
    """Return the line that says what ended the run."""
    text = f"ended by {type(error).__name__}: {error}"
    where = (type(error), error, error.__traceback__)
    return logging.LogRecord(__name__, logging.ERROR, __file__, 0, text, None, where)
