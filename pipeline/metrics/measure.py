"""A measure: a named pure function from totals to a figure, with its source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, cast

from pipeline.metrics.best import Better
from pipeline.metrics.bounds import Bounds
from pipeline.metrics.label import UNNAMED, Label
from pipeline.metrics.statistics.resampling import NOT_RESAMPLED, Sample
from pipeline.terms import Facts, Figure, OperatingPoint

T = TypeVar("T")
R = TypeVar("R")
Rows = Callable[[], tuple[Any, Any]]
"""A way to the trials of a cell and the key they are aligned with, in one order."""
Over = Callable[..., Any]
"""``over(task, *state)``: ``task(block, *state)`` of every block of a cell's trials, added up."""


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
    pooled: bool = False
    """Whether all queries are one (KWSEval -P). Then there is none to draw."""


@dataclass(frozen=True)
class Scored(Generic[T]):
    """A cell's totals with what measures need beside them. ``once`` shares work between measures of one cell."""

    total: T
    facts: Facts
    point: OperatingPoint
    rules: Rules = field(default_factory=Rules)
    ranked: T | None = None
    """The totals under scores that rank trials for average precision, where these are not the scores."""
    every_point: bool = True
    """Whether sweeps keep all of their points, or those of maxima and of a drawing."""
    _memo: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, function: Callable[[Scored[T]], R]) -> R:
        """``function(self)``, computed the first time it is asked for in this cell."""
        if function not in self._memo:
            self._memo[function] = function(self)
        return cast(R, self._memo[function])


@dataclass(frozen=True)
class Resample(Generic[T]):
    """How a measure becomes a function of how often each unit counts, for intervals and tests."""

    unit: str
    """What is drawn: ``query``, ``event``, ``segment`` or ``speaker``."""
    sample: Callable[[Scored[T], Rows], Sample | str]
    """The cell and a way to its trials and key → the measure over units, or the reason why there is none."""


@dataclass(frozen=True)
class Measure(Generic[T]):
    """A named figure and all that anybody needs to know of it: engine, grid, reports and studies ask nobody else."""

    name: str
    unit: str
    better: Better
    bounds: Bounds | Callable[[Any], Bounds]
    """Where every defined value lies, infinities included where they are legal; a function of the protocol's settings
    where these decide."""
    source: str
    """Document, section and equation."""
    of: Callable[[Scored[T]], Figure]
    label: Label = UNNAMED
    """The name as typeset; made of ``name`` unless given."""
    aggregation: str = ""
    """What the figure is over, in words: ``mean over queries``, ``pooled over trials``, …"""
    resample: Resample[T] | None = None
    """How intervals draw it; None where it is not resampled."""
    heads_board: bool = False
    """Whether systems may be ranked by it: boards show it among the first, studies compare its rankings."""
    best: str = ""
    """The measure that says the best that the same scores could have reached with other decisions or calibration."""
    threshold: str = ""
    """The measure that says at which threshold this one, a best over thresholds, is reached."""
    load: Literal["", "part", "whole"] = ""
    """Whether it says what processing took, in part or as the whole that accuracy is weighed against."""
    later: int = 0
    """Above 0 for a measure that came after its protocol's edition: results, addresses and signatures stay as they
    are, and it lies beside results as a supplement of this edition, raised when a figure of it changes."""

    def __post_init__(self) -> None:
        """Typeset the name of a measure without a label as it is spelled, without underscores."""
        if not self.label.base:
            object.__setattr__(self, "label", Label(self.name.replace("_", " ")))

    def bounds_under(self, settings: Any) -> Bounds:
        """The range under a protocol's settings."""
        return self.bounds if isinstance(self.bounds, Bounds) else self.bounds(settings)

    def sample(self, scored: Scored[T], rows: Rows) -> Sample | str:
        """The measure as a function of how often each unit counts, or the reason why there is none."""
        return NOT_RESAMPLED if self.resample is None else self.resample.sample(scored, rows)
