"""Log lines for programs: one JSON document a line, with evaluation, run and cell, from the flow and from workers."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from distributed import Client, WorkerPlugin
from prefect.logging.handlers import APILogHandler

LOGGER = "rescore"
_OF_EVERY_RECORD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, logger, message, what is the same for all, and the record's extras."""

    def __init__(self, fixed: Mapping[str, str]) -> None:
        super().__init__()
        self._fixed = fixed

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        extras = {name: value for name, value in record.__dict__.items() if name not in _OF_EVERY_RECORD}
        document: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **self._fixed,
            **extras,
        }
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document, ensure_ascii=False, default=str)


class Talkative(WorkerPlugin):
    """Has a worker's tasks log what they did, not only what went wrong."""

    name = "rescore-logs"

    def setup(self, worker: Any) -> None:  # noqa: ARG002
        """Called by Dask on every worker, those that come later included."""
        logging.getLogger(LOGGER).setLevel(logging.INFO)


class WithCell(logging.Formatter):
    """The message, and the cell where it is about one: Prefect's log lines have no further fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The text."""
        text, cell = super().format(record), getattr(record, "cell", "")
        return f"{text} [cell {cell}]" if cell and str(cell) not in text else text


@contextmanager
def structured(form: str, fixed: Mapping[str, str]) -> Iterator[None]:
    """While the context lasts, what the project logs goes to Prefect's server, beside the run or task that logs it.

    It goes to stderr too: as JSON lines where ``form`` is ``json``, else warnings only.
    """
    logger, to_stderr = logging.getLogger(LOGGER), logging.StreamHandler(sys.stderr)
    to_prefect = APILogHandler(logging.INFO)
    to_prefect.setFormatter(WithCell())
    if form == "json":
        to_stderr.setFormatter(JsonLines(fixed))
    else:
        to_stderr.setLevel(logging.WARNING)
    handlers = [to_prefect, to_stderr] if form == "json" or not logger.hasHandlers() else [to_prefect]
    before = logger.level
    logger.setLevel(logging.INFO)
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.setLevel(before)
        for handler in handlers:
            logger.removeHandler(handler)


def from_workers(form: str, client: Client) -> None:
    """Have the workers' log lines come here for as long as the client lives, where ``form`` is ``json``."""
    if form == "json":
        client.register_plugin(Talkative())
        client.forward_logging(LOGGER, level=logging.INFO)
