"""Which measures a board leads with, and how far along its bar a figure reaches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.metrics.best import best, directed, worth
from pipeline.protocols import measures
from pipeline.report.board import Board, BoardEntry, MeasureInfo, RunBoards

AT_MOST = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """Shares of the bar's length: solid up to ``solid``, pale up to ``pale`` (both 0 to 1)."""

    solid: float
    pale: float


def headline(run: RunBoards) -> tuple[MeasureInfo, ...]:
    """The measures a board leads with: the primary one, others that rank boards, then those that every reader looks
    for; at most eight."""
    if len(run.measures) <= AT_MOST:
        return run.measures
    by_name = {measure.name: measure for measure in run.measures}
    protocol = run.protocol
    heads = (name for name in by_name if name in measures() and measures()[name].heads_board)
    ranking = (board.rank_by for board in run.boards if board.rank_by)
    chosen = dict.fromkeys((run.primary, *ranking, *(protocol.leads if protocol else ()), *heads))
    return tuple(by_name[name] for name in chosen if name in by_name)[:AT_MOST]


def best_measure(measure: str, run: RunBoards) -> str | None:
    """The measure that bounds another one, being the best that the same scores allow, where the run has it."""
    name = measures()[measure].best if measure in measures() else ""
    return name if any(one.name == name for one in run.measures) else None


def bound(run: RunBoards) -> str | None:
    """The measure that bounds the primary one, where the protocol has it."""
    return best_measure(run.primary, run)


def bars(run: RunBoards, boards: Iterable[Board]) -> dict[tuple[str, str, str], Bar]:
    """Bars of the primary measure by (query set, dataset, system), on one scale over all these boards."""
    listed = [(board, entry) for board in boards for entry in board.entries]
    ends = {(b.query_set, b.dataset, e.system): _ends(run, e) for b, e in listed}
    longest = max((end for pair in ends.values() for end in pair), default=0.0)
    if longest <= 0:
        return {}
    return {place: Bar(low / longest, high / longest) for place, (low, high) in ends.items() if high > 0}


def shades(run: RunBoards, boards: Iterable[Board]) -> dict[tuple[str, str, str], float]:
    """The primary measure from worst (0) to best (1) by (query set, dataset, system), one scale over all these boards.

    Figures below zero count as zero: one system far off must not level out the others. Canaries have none.
    """
    info = run.measures[0]
    listed = {
        (b.query_set, b.dataset, e.system): e.figures[info.name].value
        for b in boards
        for e in b.entries
        if not e.canary
    }
    finite = {place: max(value, 0.0) for place, value in listed.items() if math.isfinite(value)}
    worth_of = {place: worth(value, info.better) for place, value in finite.items()}
    low, high = min(worth_of.values(), default=0.0), max(worth_of.values(), default=0.0)
    if low == high or not directed(info.better):
        return {}
    return {place: (value - low) / (high - low) for place, value in worth_of.items()}


def _ends(run: RunBoards, entry: BoardEntry) -> tuple[float, float]:
    wanted = (run.primary, bound(run) or run.primary)
    values = [entry.figures[name].value for name in wanted]
    finite = [max(value, 0.0) if math.isfinite(value) else 0.0 for value in values]
    if not math.isfinite(values[0]):
        return 0.0, 0.0
    return min(finite), max(finite)


def best_of(board: Board, measures: Iterable[MeasureInfo]) -> dict[str, float | None]:
    """The best figure of each column, canaries left out; None where no direction is better or there is no choice."""
    ours = [entry for entry in board.entries if not entry.canary]
    return {one.name: best((entry.figures[one.name].value for entry in ours), one.better) for one in measures}


def is_best(entry: BoardEntry, measure: str, bests: Mapping[str, float | None]) -> bool:
    """Whether an entry's figure is marked as the best of its column (``best_of``)."""
    return not entry.canary and bests[measure] is not None and entry.figures[measure].value == bests[measure]
