"""The affine calibration of K classes as passes over trials that may be anywhere: tasks, and what drives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.arrays import Floats
from pipeline.metrics.entropy.class_costs import Labels, LogCostSums
from pipeline.metrics.entropy.maps import AffineMap
from pipeline.metrics.entropy.newton_sums import NewtonSums
from pipeline.metrics.entropy.separability import Separability
from pipeline.metrics.measure import Over
from pipeline.metrics.multiclass.calibration import AffineCalibration, Ties, fit_affine_calibration, ties_of


@dataclass(frozen=True, eq=False)
class Part:
    """Score rows: ``llh`` (T, K), true classes in [0, K), and how often each row counts (None: once)."""

    llh: Floats
    labels: Labels
    multiplicity: Floats | None = None


def calibrate_over(over: Over, prior: Sequence[float]) -> tuple[AffineCalibration, LogCostSums]:
    """The calibration over all parts and the sums of the first pass, equal to the last bit for any cut of the rows.

    Tasks take a ``Part``. Its multiplicities are whole numbers, and every class has a trial somewhere.
    """
    priors = tuple(prior)
    first: LogCostSums = over(first_pass, priors)

    def evaluate(at: AffineMap) -> NewtonSums:
        sums: NewtonSums = over(newton_pass, priors, at)
        return sums

    def ties(verdict: Separability, unit: int) -> Ties:
        counted: TieCounts = over(ties_pass, verdict, unit)
        return counted.counts

    return fit_affine_calibration(evaluate, first, priors, ties), first


def first_pass(part: Part, prior: tuple[float, ...]) -> LogCostSums:
    """Task: costs and margins of one part."""
    return LogCostSums.from_trials(part.llh, part.labels, prior, part.multiplicity)


def newton_pass(part: Part, prior: tuple[float, ...], at: AffineMap) -> NewtonSums:
    """Task: cost, gradient and Hessian of one part at a map."""
    return NewtonSums.from_trials(part.llh, part.labels, prior, at, part.multiplicity)


@dataclass(frozen=True)
class TieCounts:
    """Tied trials by true class and tied classes."""

    counts: Mapping[tuple[int, frozenset[int]], float]

    def __add__(self, other: TieCounts) -> TieCounts:
        keys = {*self.counts, *other.counts}
        return TieCounts({key: self.counts.get(key, 0.0) + other.counts.get(key, 0.0) for key in keys})


def ties_pass(part: Part, verdict: Separability, unit: int) -> TieCounts:
    """Task: tied trials of one part, where the verdict is quasi-separable."""
    return TieCounts(ties_of(part.llh, part.labels, verdict, unit, part.multiplicity))
