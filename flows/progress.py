"""How far a run is: a bar where somebody watches, a line now and then where a log does, and Prefect's artifact."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flows.told import best_effort

TOLD_EVERY_S = 2.0
"""Progress reaches the server at most so often."""
LINE_EVERY_S = 30.0
"""Where there is no terminal, a line comes so often."""
UNITS = ((3600, "h"), (60, "min"), (1, "s"))
Reached = Callable[[int], None]
"""Is told how many cells have ended in all."""


@contextmanager
def progress(total: int, shown: bool) -> Iterator[Reached]:
    """Progress beside the flow run while the context lasts, and on stderr where it is to be ``shown``."""
    tell_server = _server_progress(total)
    if not shown:
        yield tell_server
    elif sys.stderr.isatty():
        with _bar(total) as tell_terminal:
            yield _both(tell_server, tell_terminal)
    else:
        yield _both(tell_server, lines(total, lambda text: print(text, file=sys.stderr, flush=True)))  # noqa: T201


def _both(one: Reached, other: Reached) -> Reached:
    def reached(done: int) -> None:
        one(done)
        other(done)

    return reached


@contextmanager
def _bar(total: int) -> Iterator[Reached]:
    """A bar of cells, with their rate and the time that is left."""
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TextColumn("cells {task.fields[rate]}"))
    began_s = time.monotonic()
    with Progress(*columns, TimeElapsedColumn(), console=Console(file=sys.stderr), transient=True) as bars:
        bar = bars.add_task("", total=total, rate="")
        yield lambda done: bars.update(bar, completed=done, rate=rate(done, total, time.monotonic() - began_s))


def lines(total: int, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> Reached:
    """Says every half minute how far the cells are."""
    began_s = told_s = clock()

    def reached(done: int) -> None:
        nonlocal told_s
        if clock() - told_s >= LINE_EVERY_S:
            told_s = clock()
            say(f"{done} of {total} cells{rate(done, total, told_s - began_s)}")

    return reached


def rate(done: int, total: int, took_s: float) -> str:
    """Cells a minute so far, and how long the others take at that; nothing before the first."""
    if not done or took_s <= 0:
        return ""
    left_s = (total - done) * took_s / done
    unit_s, unit = next((unit_s, unit) for unit_s, unit in UNITS if left_s >= 2 * unit_s or unit_s == 1)
    left = f"{left_s / unit_s:.1f} {unit}" if unit == "h" else f"{left_s / unit_s:.0f} {unit}"
    return f", {60 * done / took_s:.0f} a minute, {left} to go"


def _server_progress(total: int) -> Reached:
    """A progress artifact of the flow run, told now and then."""
    artifact: Any = None  # Prefect says that it may be a coroutine; here it is not
    told, told_s = 0, 0.0
    with best_effort("its progress"):
        artifact = create_progress_artifact(progress=0.0, key="cells", description=f"{total} cells to score")

    def reached(done: int) -> None:
        nonlocal told, told_s
        now_s = time.monotonic()
        if artifact is not None and done != told and (done == total or now_s - told_s >= TOLD_EVERY_S):
            told, told_s = done, now_s
            with best_effort("its progress"):
                update_progress_artifact(artifact, progress=100.0 * done / total)

    return reached
