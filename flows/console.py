"""What Prefect may say on a command's terminal: warnings. The command itself tells the error that it ends with.

flows/commanding.py names it in the environment, where Prefect's logging configuration finds it. The run's log file has
everything (flows/run_log.py).
"""

from __future__ import annotations

import logging

from prefect.logging.handlers import PrefectConsoleHandler

from flows.run_log import PREFECT_LOGGERS

_SENDERS = frozenset({"EventsWorker", "APILogWorker"})
"""Prefect's queues, which warn while the command waits for them at its end."""


class WarningsConsole(PrefectConsoleHandler):
    """Prints warnings, and errors of Prefect itself in a line each; no progress, no tracebacks of runs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record unless the command says it better."""
        of_a_run = record.name.startswith(PREFECT_LOGGERS)
        if record.name in _SENDERS and record.levelno == logging.WARNING:
            return
        if record.levelno < logging.WARNING or (of_a_run and record.levelno > logging.WARNING):
            return
        if record.exc_info:
            record = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        super().emit(record)
