"""What a measure is: a named pure function from totals to a figure, with its source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from pipeline.arrays import Floats
from pipeline.metrics.bounds import Bounds
from pipeline.terms import Facts, Figure, OperatingPoint

T = TypeVar("T")
R = TypeVar("R")
Over = Callable[..., Any]
"""``over(task, *state)``: ``task(part, *state)`` of every part of a cell's trials, added up, wherever the parts are."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of a protocol that measures read. Each has one name everywhere (``--set``, files, signature)."""

    reject_all_point: bool = True
    """Whether the sweep has a last point that accepts nothing (STDEval and the plans: yes; KWSEval: no)."""
    include_no_targets: bool = False
    """Whether queries without occurrences count in the means (KWSEval -inc)."""
    no_targets_trials: str = "once"
    """How often N_true is subtracted from the trials where such queries count: ``once`` (KWSEval) or ``twice``."""
    skip_undefined_p_fa: bool = False
    """Whether queries with as many occurrences as trials are left out of the mean P_fa (KWSEval -g), which else they
    make undefined."""
    censor: str | float = "llr_min"
    """Score of trials that were not submitted: ``llr_min``, ``query``, ``error`` or a number."""
    load_lambda: float = 0.1
    """Weight of the indexing phase in the Processing Load."""


@dataclass(frozen=True)
class Elsewhere:
    """Ways to see the trials of a cell that lie in parts. Then a total keeps what figures of single queries need."""

    trials: Over
    """Tasks take a ``TrialSet`` of some trials; scores of parts may be equal where weights are whole."""
    buckets: Over
    """Tasks take trials of some queries, as ``ByScore``."""
    runs: Callable[[Floats], Any]
    """Distinct ascending scores → ``pav_runs.Runs`` between them, those of the censored trials included."""
    largest_tie: Callable[[], float]
    """The largest weight of one score."""
    in_order: Over | None = None
    """Tasks take trials of one class in the order of the output, as ``pav_runs.InOrder``, where there is one."""


@dataclass(frozen=True)
class Scored(Generic[T]):
    """A cell's totals with what measures need beside them. ``once`` shares work between measures of one cell."""

    total: T
    facts: Facts
    point: OperatingPoint
    rules: Rules = field(default_factory=Rules)
    ranked: T | None = None
    """The same totals under scores that rank trials for average precision, where these are not the scores."""
    over: Over | None = None
    """All trials, elsewhere, as what ``total`` is of some of them."""
    elsewhere: Elsewhere | None = None
    """Trials of ledgers that are elsewhere."""
    _memo: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, function: Callable[[Scored[T]], R]) -> R:
        """``function(self)``, computed the first time it is asked for in this cell."""
        if function not in self._memo:
            self._memo[function] = function(self)
        return cast(R, self._memo[function])


@dataclass(frozen=True)
class Measure(Generic[T]):
    """A named figure. ``better``: ``higher``, ``lower`` or ``none``. ``source``: document, section and equation.

    ``bounds`` is where every defined value lies, infinities included where they are legal; a function of the protocol's
    settings where these decide.
    """

    name: str
    unit: str
    better: str
    bounds: Bounds | Callable[[Any], Bounds]
    source: str
    of: Callable[[Scored[T]], Figure]

    def bounds_under(self, settings: Any) -> Bounds:
        """The range under a protocol's settings."""
        return self.bounds if isinstance(self.bounds, Bounds) else self.bounds(settings)
