"""The convex hull of the ROC: what thresholds reach when they may be mixed. Its corners are those of PAV's blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.arrays import Floats
from pipeline.metrics.entropy.isotonic import Pav, pav
from pipeline.metrics.entropy.trial_set import trials_of
from pipeline.metrics.measure import Scored
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure


class Hull(NamedTuple):
    """Corners from accepting everything (0, 1) to accepting nothing (1, 0), pooled over all trials."""

    p_miss: Floats
    p_fa: Floats


def pav_of(scored: Scored[Ledger]) -> Pav:
    """The pooled trials of a cell whose trial set exists."""
    return pav(scored.once(trials_of).rows())


def hull_of(scored: Scored[Ledger]) -> Hull:
    """The hull of a cell whose trial set exists."""
    target, nontarget = scored.once(pav_of).weights
    below_target = np.concatenate([[0.0], np.cumsum(target)])
    below_nontarget = np.concatenate([[0.0], np.cumsum(nontarget)])
    return Hull(below_target / below_target[-1], 1.0 - below_nontarget / below_nontarget[-1])


def eer(scored: Scored[Ledger]) -> Figure:
    """Equal error rate on the hull (ROCCH-EER): the largest minimum error rate over all priors (Brümmer 2010)."""
    trials = scored.once(trials_of)
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    return Figure(equal_error_rate(scored.once(hull_of)), status=trials.status)


def equal_error_rate(corners: Hull) -> float:
    """Where the hull meets P_miss = P_fa."""
    difference = corners.p_miss - corners.p_fa
    after = int(np.argmax(difference >= 0.0))
    low, high = float(difference[after - 1]), float(difference[after])
    share = -low / (high - low)
    return float(corners.p_miss[after - 1]) + share * float(corners.p_miss[after] - corners.p_miss[after - 1])
