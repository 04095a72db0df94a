"""Operating points: from costs and prior, from the key (SWS 2012), or from the tables of the 2012 description."""

from __future__ import annotations

import math

from pipeline.errors import Finding, InputError
from pipeline.protocols.kws.settings import KwsSettings
from pipeline.terms import OperatingPoint

K_TABLES = {
    "indian_dev_dev": 13.06,
    "indian_dev_eval": 14.49,
    "indian_eval_dev": 12.32,
    "indian_eval_eval": 21.59,
    "african_dev_dev": 15.32,
    "african_dev_eval": 6.36,
    "african_eval_dev": 11.96,
    "african_eval_eval": 19.96,
}
"""Parameter -k by dataset, its part, and the part of the queries (plan 002, tables 2 and 3)."""


def operating_point(settings: KwsSettings, n_trials_exact: float, n_true: int) -> OperatingPoint:
    """The point of a cell whose queries have ``n_true`` occurrences in ``n_trials_exact`` = n_tps T trials.

    With ``p_target=empirical``, beta = (n_tps T - N_true) / (alpha N_true) times c_fa / c_miss, so that alpha false
    alarms weigh as much as one miss (plan 002 eq 2); without occurrences it does not exist (NaN).
    Raises ``InputError`` where there are as many occurrences as trials.
    """
    if settings.k_table != "none":
        return OperatingPoint(1.0, K_TABLES[settings.k_table], 0.5)
    if settings.p_target != "empirical" or settings.p_target_effective is not None:
        prior = 0.5 if settings.p_target == "empirical" else settings.p_target
        return OperatingPoint(settings.c_miss, settings.c_fa, prior, settings.p_target_effective)
    if n_true >= n_trials_exact:
        message = (
            f"the key has {n_true} occurrences of the listed queries in {n_trials_exact:.10g} trials (allowed: fewer "
            "occurrences than trials). Check the audio duration and trials_per_s, or set p_target."
        )
        raise InputError([Finding("targets_exceed_trials", message, "rttm")])
    prior = n_true / n_trials_exact if n_true else math.nan
    return OperatingPoint(settings.c_miss, settings.c_fa / settings.fa_per_miss, prior)
