"""How far two orders of the same systems agree: tau-b, tau-AP and RBO.

Orders are given as values, higher first; a measure whose lower values are better comes in with its sign turned. SciPy
does tau-b; the other two are short and follow their papers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from pipeline.arrays import Floats

RBO_P = 0.9
"""Persistence: with 0.9 the first ten places have 86 % of the weight (Webber et al. 2010)."""


def constant(values: Floats) -> bool:
    """Whether values, at least one of them, are all the same; infinities are values too."""
    return bool((values == values.flat[0]).all())


def tau_b(first: Floats, second: Floats) -> float:
    """Kendall's tau-b; NaN for fewer than two systems or where one order has ties alone."""
    from scipy.stats import kendalltau

    if first.size < 2 or constant(first) or constant(second):
        return math.nan
    return float(kendalltau(first, second).statistic)


def tau_ap(truth: Floats, other: Floats) -> float:
    """tau-AP of the order ``other`` against ``truth`` (Yilmaz et al. 2008): swaps near the top weigh more.

    Not symmetric. Ties of ``other`` stand for every order of theirs, averaged; a pair tied in ``truth`` is half right.
    NaN for fewer than two systems.
    """
    n = truth.size
    if n < 2:
        return math.nan
    order = np.argsort(-other, kind="stable").tolist()
    right, above = 0.0, list[int]()
    for _, tied in groupby(order, key=lambda at: float(other[at])):
        group = list(tied)
        for at in group:
            before = _above(truth, above, at)
            beside = _above(truth, [one for one in group if one != at], at)
            for place in range(len(group)):  # each of them is as likely
                if n_above := len(above) + place:
                    within = beside * place / (len(group) - 1) if place else 0.0
                    right += (before + within) / n_above / len(group)
        above += group
    return 2.0 * right / (n - 1) - 1.0


def _above(truth: Floats, others: Sequence[int], at: int) -> float:
    """How many of ``others`` are before ``at`` in truth, ties counted half."""
    own = truth[at]
    return sum(1.0 if truth[one] > own else 0.5 if truth[one] == own else 0.0 for one in others)


def rbo(first: Mapping[str, float], second: Mapping[str, float], p: float = RBO_P) -> float:
    """Rank-biased overlap, extrapolated (Webber et al. 2010, eq 32), of orders that need not hold the same systems.

    Both are cut to the length of the shorter one. Ties are broken by name in both alike. NaN without systems.
    """
    lists = [sorted(values, key=lambda name: (-values[name], name)) for values in (first, second)]
    depth = min(map(len, lists))
    if not depth:
        return math.nan
    seen: tuple[set[str], set[str]] = (set(), set())
    total, agreement = 0.0, 0.0
    for d in range(1, depth + 1):
        for own, names in zip(seen, lists, strict=True):
            own.add(names[d - 1])
        agreement = len(seen[0] & seen[1]) / d
        total += agreement * p**d
    return agreement * p**depth + (1.0 - p) / p * total
