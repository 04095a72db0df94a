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


@contextmanager
def structured(form: str, fixed: Mapping[str, str]) -> Iterator[None]:
    """While the context lasts, what the project logs goes to stderr as JSON lines, where ``form`` is ``json``."""
    if form != "json":
        yield
        return
    logger, handler = logging.getLogger(LOGGER), logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(fixed))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


def from_workers(form: str, client: Client) -> None:
    """Have the workers' log lines come here for as long as the client lives, where ``form`` is ``json``."""
    if form == "json":
        client.register_plugin(Talkative())
        client.forward_logging(LOGGER, level=logging.INFO)
