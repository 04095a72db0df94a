"""Which of several figures is best: one rule for boards, pages, LaTeX, terminal, comparisons and studies.

Undefined figures take no part. Infinities are numbers like others: an infinite cost is the worst there is, and is the
best of nothing. A measure without a better direction has no best, and neither has a figure that stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np

from pipeline.arrays import Floats

Better = Literal["higher", "lower", "none"]


def directed(better: str) -> bool:
    """Whether one of two figures of a measure may be better than the other."""
    return better in ("higher", "lower")


def worth(value: float, better: str) -> float:
    """A figure as what it is worth, more being better; NaN for an undefined one and without a direction."""
    if not directed(better):
        return math.nan
    return value if better == "higher" else -value


def worths(values: Floats, better: str) -> Floats:
    """``worth`` of every value of an array, which callers may change: it is never that array itself."""
    if not directed(better):
        return np.full(np.shape(values), np.nan)
    return np.array(values if better == "higher" else -values, np.float64)


def best(values: Iterable[float], better: str) -> float | None:
    """The best of the defined figures; None where fewer than two are defined or even the best is infinitely bad."""
    defined = [value for value in values if not math.isnan(worth(value, better))]
    if len(defined) < 2:
        return None
    found = max(defined, key=lambda value: worth(value, better))
    return None if worth(found, better) == -math.inf else found


def change(before: float, after: float, better: str) -> int:
    """+1 where a figure has become better, -1 where worse, 0 where neither can be said."""
    was, now = worth(before, better), worth(after, better)
    return int(now > was) - int(now < was)


def ranks(worth_of: Floats) -> Floats:
    """Competition ranks by worth along the first axis, 1 the best; equal ones share a rank, NaN has NaN."""
    ahead = (worth_of[None, ...] > worth_of[:, None, ...]).sum(axis=1)
    return np.where(np.isnan(worth_of), np.nan, ahead + 1.0)
