"""Calibration seen over all operating points: Bayes error-rate curves and the PAV calibration map.

``calibration_tables`` is what a cell's document shows of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.bounds import COST, SHARE
from pipeline.metrics.entropy.cllr import cllr, min_cllr
from pipeline.metrics.entropy.cxe import POOLED
from pipeline.metrics.entropy.rocch import eer, hull_of, pav_of
from pipeline.metrics.entropy.trial_set import Submitted, trials_of
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Scored
from pipeline.partials.ledger import Ledger
from pipeline.terms import OperatingPoint

Table = tuple[Mapping[str, Any], ...]

STEPS_PER_UNIT = 4
REACH = 10
"""Prior log-odds go from -REACH to REACH in steps of 1 / STEPS_PER_UNIT, and over the cell's own."""


def error_rates(scored: Scored[Ledger], prior_log_odds: Floats) -> dict[str, Floats]:
    """Bayes error rates of a cell whose trial set exists, over prior log-odds (APE curve, Brümmer and du Preez 2006).

    ``error_rate``: of scores read as log-likelihood ratios, accepted at or above minus the prior log-odds;
    ``min_error_rate``: at the best threshold; ``default_error_rate``: of decisions without scores. Each is
    P P_miss + (1 - P) P_fa, pooled over all trials.
    """
    trials = scored.once(trials_of)
    misses, rejected = trials.over_submitted(rejections, -prior_log_odds).astype(np.float64)
    late = trials.censored_score < -prior_log_odds[:, None]
    misses += late @ trials.censored_target
    rejected += [math.fsum(trials.censored_nontarget[rows].tolist()) for rows in late]
    p_miss, p_fa = misses / trials.target_mass, 1.0 - rejected / trials.nontarget_mass
    prior = np.array([1.0 / (1.0 + math.exp(-x)) for x in prior_log_odds.tolist()])
    corners = scored.once(hull_of)
    least = [float((p * corners.p_miss + (1.0 - p) * corners.p_fa).min()) for p in prior.tolist()]
    return {
        "prior_log_odds": prior_log_odds,
        "error_rate": prior * p_miss + (1.0 - prior) * p_fa,
        "min_error_rate": np.array(least),
        "default_error_rate": np.minimum(prior, 1.0 - prior),
    }


def rejections(block: Submitted, thresholds: Floats) -> Ints:
    """Targets and non-targets of a block below each threshold, (2, n)."""
    score, *counts = block
    below = np.searchsorted(score, thresholds, side="left")
    return np.stack([np.append(0, np.cumsum(column))[below] for column in counts])


def calibration_map(scored: Scored[Ledger]) -> dict[str, Floats]:
    """PAV's blocks in ascending order of score, of a cell whose trial set exists.

    ``score_min`` and ``score_max`` of each, its ``n_target`` and ``n_nontarget``, and ``llr``: the log-likelihood ratio
    that its scores stand for, -inf and inf in pure blocks.
    """
    found = scored.once(pav_of)
    target, nontarget = found.weights
    ratio = math.fsum(nontarget.tolist()) / math.fsum(target.tolist())
    pairs = zip(target.tolist(), nontarget.tolist(), strict=True)
    llr = [math.log(t / n * ratio) if t and n else math.copysign(math.inf, t - n) for t, n in pairs]
    return {
        "score_min": np.array([block.score_min for block in found.blocks]),
        "score_max": np.array([block.score_max for block in found.blocks]),
        "n_target": target,
        "n_nontarget": nontarget,
        "llr": np.array(llr),
    }


def calibration_tables(scored: Scored[Ledger]) -> dict[str, Table]:
    """``calibration`` (Cllr, min Cllr, EER), ``ape`` (error rates) and ``pav`` (the map); rows by column name.

    ``ape`` and ``pav`` are empty where the trial set does not exist.
    """
    figures = tuple(
        {"id": one.name, "value": figure.value, "unit": one.unit, "reason": figure.reason, "status": figure.status}
        for one in MEASURES
        for figure in (scored.once(one.of),)
    )
    if scored.once(trials_of).reason is not None:
        return {"calibration": figures, "ape": (), "pav": ()}
    ape, pav = error_rates(scored, prior_grid(scored.point)), calibration_map(scored)
    return {"calibration": figures, "ape": _rows(ape), "pav": _rows(pav)}


def prior_grid(point: OperatingPoint) -> Floats:
    """The prior log-odds of ``ape``, ascending."""
    steps = np.arange(-REACH * STEPS_PER_UNIT, REACH * STEPS_PER_UNIT + 1) / STEPS_PER_UNIT
    return np.unique(np.append(steps, point.logit_prior))


def _rows(columns: Mapping[str, Floats]) -> Table:
    lists = [column.tolist() for column in columns.values()]
    return tuple(dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True))


_BRUMMER = "Brümmer and du Preez 2006"
MEASURES: tuple[Measure[Ledger], ...] = (
    Measure("cllr", "bit", "lower", COST, f"{_BRUMMER}, Cllr", cllr, label=Label("C", "llr"), aggregation=POOLED),
    Measure(
        "min_cllr",
        "bit",
        "lower",
        SHARE,
        f"{_BRUMMER}, min Cllr",
        min_cllr,
        label=Label("min C", "llr"),
        aggregation=POOLED,
    ),
    Measure("eer", "1", "lower", SHARE, "Brümmer 2010, ROCCH-EER", eer, label=Label("EER"), aggregation=POOLED),
)
"""Figures of the table ``calibration``, which stand beside those of a protocol."""
