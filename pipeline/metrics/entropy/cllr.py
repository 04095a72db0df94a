"""The application-independent cost of log-likelihood ratios, and what the best monotone recalibration leaves of it."""

from __future__ import annotations

import math

from pipeline.metrics.entropy.crossentropy import cross_entropy
from pipeline.metrics.entropy.rocch import pav_of
from pipeline.metrics.entropy.trial_set import NO_SCORES, trials_of
from pipeline.metrics.measure import Scored
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure


def cllr(scored: Scored[Ledger]) -> Figure:
    """Cllr in bits: the cross-entropy at even prior (Brümmer and du Preez 2006; Cnxe at P_tar = 1/2).

    1 for a system that says nothing, inf where a target scores -inf or a non-target +inf.
    """
    trials = scored.once(trials_of)
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    if trials.status == NO_SCORES:
        return Figure(1.0, status=NO_SCORES)
    return Figure(cross_entropy(trials, 0.5, 0.0) / math.log(2.0), status=trials.status)


def min_cllr(scored: Scored[Ledger]) -> Figure:
    """Cllr after PAV, tied scores pooled, in bits; never above Cllr or 1."""
    actual = scored.once(cllr)
    if actual.reason is not None or actual.status == NO_SCORES:
        return actual
    least = scored.once(pav_of).minimum(0.5) / math.log(2.0)
    return Figure(min(least, actual.value, 1.0), status=actual.status)
