"""Figures that must see trials again: map over parts, add exactly, step, until done; here or on a cluster.

A part is what one task holds: score rows of some tiles. Parts stay where they are; a place of K numbers goes out, sums
come back. Repeated scores are best collapsed into one row with its multiplicity before (a ledger is).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.metrics.multiclass import Floats, Labels, LogCostSums
from pipeline.metrics.multiclass_calibration import AffineCalibration, Ties, fit_affine_calibration, ties_of
from pipeline.metrics.multiclass_sums import NewtonSums
from pipeline.metrics.newton import Vector
from pipeline.metrics.separability import Separability
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree

if TYPE_CHECKING:
    from distributed import Client

MERGE_ARITY = 8


@dataclass(frozen=True)
class Part:
    """Score rows: ``llh`` (T, K), true classes in [0, K), and how often each row counts (None: once)."""

    llh: Floats
    labels: Labels
    multiplicity: Floats | None = None

    @classmethod
    def of_ledger(cls, ledger: Ledger) -> Part:
        """The scored trials of a ledger as K = 2, targets first: one row a query, distinct score and class."""
        counts = np.concatenate([ledger.n_target, ledger.n_nontarget]).astype(np.float64)
        score = np.concatenate([ledger.score, ledger.score])
        labels = np.repeat(np.arange(2), len(ledger))
        used = counts > 0
        return cls(np.stack([score, np.zeros(score.size)], axis=1)[used], labels[used], counts[used])


def calibrate_parts(parts: Sequence[Any], prior: Sequence[float], client: Client | None = None) -> AffineCalibration:
    """The affine calibration over all parts, equal to the last bit for any way of cutting the rows.

    ``parts``: ``Part`` values or, with a ``client``, futures of them. The multiplicities are whole numbers.
    """
    first: LogCostSums = _sum(first_pass, parts, client, tuple(prior))

    def evaluate(scale: float, offsets: Vector) -> NewtonSums:
        place = (scale, *(beta - offsets[-1] for beta in offsets[:-1]))
        sums: NewtonSums = _sum(newton_pass, parts, client, tuple(prior), place)
        return sums

    def ties(verdict: Separability) -> Ties:
        counted: _Counts = _sum(ties_pass, parts, client, verdict)
        return counted.counts

    return fit_affine_calibration(evaluate, first, prior, ties)


def first_pass(part: Part, prior: tuple[float, ...]) -> LogCostSums:
    """Task: costs and margins of one part."""
    return LogCostSums.from_trials(part.llh, part.labels, prior, part.multiplicity)


def newton_pass(part: Part, prior: tuple[float, ...], place: Vector) -> NewtonSums:
    """Task: cost, gradient and Hessian of one part at a place."""
    return NewtonSums.from_trials(part.llh, part.labels, prior, place, part.multiplicity)


@dataclass(frozen=True)
class _Counts:
    counts: Mapping[tuple[int, frozenset[int]], float]

    def __add__(self, other: _Counts) -> _Counts:
        keys = {*self.counts, *other.counts}
        return _Counts({key: self.counts.get(key, 0.0) + other.counts.get(key, 0.0) for key in keys})


def ties_pass(part: Part, verdict: Separability) -> _Counts:
    """Task: tied trials of one part, where the verdict is quasi-separable."""
    return _Counts(ties_of(part.llh, part.labels, verdict, part.multiplicity))


def merge_pass(sums: Sequence[Any]) -> Any:
    """Task: sums added in a fixed order."""
    return merge_tree(sums, sums[0])


def _sum(task: Callable[..., Any], parts: Sequence[Any], client: Client | None, *state: Any) -> Any:
    """One pass: ``task(part, *state)`` over all parts, added up."""
    if client is None:
        return merge_pass([task(part, *state) for part in parts])
    level = [client.submit(task, part, *state, pure=False) for part in parts]
    while len(level) > 1:
        groups = [level[start : start + MERGE_ARITY] for start in range(0, len(level), MERGE_ARITY)]
        level = [client.submit(merge_pass, group, pure=False) for group in groups]
    return level[0].result()
