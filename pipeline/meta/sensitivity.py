"""Would another operating point rank systems otherwise? Figures along beta and P_target, from one sort per system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.arrays import Floats
from pipeline.meta.cells import OpenCell
from pipeline.meta.shifts import ledger_of
from pipeline.metrics.entropy.crossentropy import cnxe
from pipeline.metrics.kws.shared import counts_of, curve_of, means_of
from pipeline.metrics.measure import Scored
from pipeline.metrics.statistics.agreement import tau_b
from pipeline.partials.ledger import Ledger

GRID_BETA = tuple(float(10.0**exponent) for exponent in np.linspace(0.0, 4.0, 17))
GRID_P_TARGET = tuple(float(1.0 / (1.0 + 10.0**exponent)) for exponent in np.linspace(5.0, 0.0, 16))


@dataclass(frozen=True)
class Band:
    """Figures of systems along a parameter, and how far the ranking there agrees with the one at the board's own."""

    parameter: str
    """``beta``, ``p_target`` or a setting's name."""
    measure: str
    better: str
    at: Floats
    """The grid, ascending."""
    own: float
    """The board's own point."""
    systems: tuple[str, ...]
    values: Floats
    """Shape (grid, systems); NaN where undefined."""

    @property
    def nearest(self) -> int:
        """The grid point nearest to the board's own."""
        with np.errstate(divide="ignore"):
            return int(np.argmin(np.abs(np.log(self.at) - math.log(self.own)))) if self.own > 0 else 0

    @property
    def tau(self) -> Floats:
        """tau-b of every grid point against the grid point nearest to the board's own."""
        if not self.at.size:
            return np.zeros(0)
        reference = self.values[self.nearest]
        taus = []
        for row in self.values:
            known = ~(np.isnan(row) | np.isnan(reference))
            taus.append(tau_b(reference[known], row[known]))
        return np.array(taus)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The band as a table."""
        for at, values, tau in zip(self.at.tolist(), self.values, self.tau.tolist(), strict=True):
            for system, value in zip(self.systems, values.tolist(), strict=True):
                point = {"parameter": self.parameter, "at": at, "own": self.own, "measure": self.measure}
                yield {**point, "system": system, "value": value, "tau_b": tau}


def bands(cells: Mapping[str, OpenCell | str], beta: Sequence[float], p_target: Sequence[float]) -> tuple[Band, ...]:
    """ATWV and MTWV over beta, Cnxe over P_target; none where the board's cells have no ledger of queries."""
    ledgers = {
        system: scored
        for system, cell in cells.items()
        if not isinstance(cell, str) and (scored := ledger_of(cell)) is not None and not scored.once(means_of).reason
    }
    if not ledgers:
        return ()
    point = next(iter(ledgers.values())).point
    names, betas, priors = tuple(ledgers), np.array(sorted(beta)), np.array(sorted(p_target))
    made = []
    for measure, along in (("atwv", _atwv), ("mtwv", _mtwv)):
        if betas.size:
            values = np.stack([along(scored, betas) for scored in ledgers.values()], axis=1)
            made.append(Band("beta", measure, "higher", betas, point.beta, names, values))
    if priors.size:
        values = np.stack([_cnxe(scored, priors) for scored in ledgers.values()], axis=1)
        made.append(Band("p_target", "cnxe", "lower", priors, point.effective_prior, names, values))
    return tuple(made)


def _atwv(scored: Scored[Ledger], betas: Floats) -> Floats:
    rates = scored.once(means_of).rates(scored.once(counts_of), scored.point.beta)
    return 1.0 - (rates.p_miss + betas * rates.p_fa)


def _mtwv(scored: Scored[Ledger], betas: Floats) -> Floats:
    """The maximum of one sweep, weighed anew: thresholds and rates do not depend on beta."""
    curve = scored.once(curve_of)
    return np.array([(1.0 - (curve.p_miss + beta * curve.p_fa)).max(initial=-math.inf) for beta in betas.tolist()])


def _cnxe(scored: Scored[Ledger], priors: Floats) -> Floats:
    figures = [
        cnxe(Scored(scored.total, scored.facts, replace(scored.point, p_target_effective=prior), scored.rules))
        for prior in priors.tolist()
    ]
    return np.array([figure.value for figure in figures])
