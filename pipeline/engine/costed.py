"""Tasks that tell what they took, in the work they return and in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from pipeline.engine.counting import Counted
from pipeline.engine.work import Work
from pipeline.store.meter import metered
from pipeline.terms import Cell

Task = TypeVar("Task", bound=Callable[..., Any])
_LOG = logging.getLogger("rescore.tasks")


def costed(kind: str) -> Callable[[Task], Task]:
    """A task that is measured as one of ``kind``. It returns ``Work``, ``Counted`` or a pair with ``Work``."""

    def decorate(task: Task) -> Task:
        @wraps(task)
        def measured(*args: Any) -> Any:
            with metered() as meter:
                done = task(*args)
            _tell(kind, args, meter.cost.document())
            return _charged(done, Work.of_cost(kind, meter.cost))

        return measured  # type: ignore[return-value]  # wraps() keeps the signature

    return decorate


def _charged(done: Any, cost: Work) -> Any:
    """A task's result with its cost in it."""
    if isinstance(done, Counted):
        return replace(done, work=done.work + cost)
    if isinstance(done, tuple):
        *values, work = done
        return (*values, work + cost)
    return done + cost


def _tell(kind: str, args: tuple[Any, ...], cost: dict[str, float | int]) -> None:
    """One line in the log, with the cell and the plan where the task has them."""
    cell = next((str(value) for value in args if isinstance(value, Cell)), "")
    plan = next((value for value in args if isinstance(value, str)), "")
    _LOG.info("%s of %s done", kind, cell or "a cell", extra={"task": kind, "cell": cell, "plan": plan[:16], **cost})
