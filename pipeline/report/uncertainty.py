"""Confidence intervals and statistical ties of the primary measure, as reports show them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.engine.plan import Plan
from pipeline.engine.result import Result
from pipeline.engine.sampled import Sampled
from pipeline.grid.disclosure import Disclosure
from pipeline.meta.intervals import BoardIntervals, intervals_of
from pipeline.report.words import short
from pipeline.store.blobs import Store

Place = tuple[str, str, str]
"""Query set, dataset, system."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """One system's interval and its ties; NaN ends where ``reason`` says why there is none."""

    low: float
    high: float
    level: float
    n_units: int
    unit: str
    reason: str | None
    tied: tuple[str, ...]
    """Systems from which it is not told apart, itself left out."""
    group: str
    """Letters of the runs of systems that are not told apart: systems that share one are tied."""

    @property
    def text(self) -> str:
        """The interval in words."""
        return f"{100 * self.level:.0f} % interval {short(self.low)} to {short(self.high)}, {self.n_units} {self.units}"

    @property
    def units(self) -> str:
        """The unit that is drawn, in the plural."""
        return f"{self.unit.removesuffix('y')}ies" if self.unit.endswith("y") else f"{self.unit}s"

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def uncertainties(
    intervals: Iterable[BoardIntervals], primary: str, levels: Mapping[str, Disclosure]
) -> dict[Place, Uncertainty]:
    """Intervals and ties by place, of the primary measure and of datasets whose figures may be shown."""
    known: dict[Place, Uncertainty] = {}
    for board in intervals:
        level = levels.get(board.dataset, Disclosure())
        if board.measure != primary or not level.shows(primary):
            continue
        ties = [run for run in board.ties if len(run) > 1]
        for system, interval in board.intervals.items():
            runs = [at for at, run in enumerate(ties) if system in run]
            tied = dict.fromkeys(other for at in runs for other in ties[at] if other != system)
            known[board.query_set, board.dataset, system] = Uncertainty(
                low=interval.low,
                high=interval.high,
                level=board.resampling.level,
                n_units=interval.n_units,
                unit=board.unit,
                reason=interval.reason,
                tied=tuple(tied),
                group=" ".join(_letters(at) for at in runs),
            )
    return known


def _letters(number: int) -> str:
    """0 → a, 25 → z, 26 → aa."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


def when_cheap(
    store: Store, plan: Plan, results: Iterable[Result] = (), samples: Mapping[str, Sampled] | None = None
) -> tuple[BoardIntervals, ...]:
    """The intervals of a run that is being published; none where so many systems would have to be compared in pairs
    that publishing would wait for it. ``samples`` as of ``intervals_of``.

    Raises ``DamageError`` where a result is lost.
    """
    return intervals_of(store, plan, results=results, samples=samples) if plan.is_compared else ()
