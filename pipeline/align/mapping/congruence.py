"""The weight of an allowed pair of a detection and a reference occurrence, as an exact integer.

KWSEval gives a pair K = 1 + 1e-8 TmCgr + 1e-6 ScrCgr and maximises the sum. The 1 only says that more pairs beat
fewer, which the assignment does by itself; what is left, ``1e-8 TmCgr + 1e-6 ScrCgr``, is rounded here to a multiple
of 2**-60 (8.7e-19; KWSEval's own doubles near 1 step by 2.2e-16, and its solver stops at 1e-12). Sums of integers are
exact in any order: two mappings are tied or they are not, and overlaps that differ in the last bit only are equal.

Source: KWSEval, KWSAlignment.pm (F4DE 3.5.0) lines 497-519; OpenKWS13 evaluation plan, section 5.1.1.
"""

from __future__ import annotations

import numpy as np

from pipeline.align.mapping.grouped import run_starts
from pipeline.arrays import Codes, Floats, Ints

TIME_WEIGHT = 1e-8
SCORE_WEIGHT = 1e-6
SHORTEST_REFERENCE_S = 1e-5
WEIGHT_STEP = 2.0**-60

Range = tuple[Floats, Floats]


def time_congruence(begin_s: Floats, end_s: Floats, reference_begin_s: Floats, reference_end_s: Floats) -> Floats:
    """Overlap as a share of the reference's duration, negative where the two do not overlap (TmCgr)."""
    overlap = np.minimum(end_s, reference_end_s) - np.maximum(begin_s, reference_begin_s)
    return overlap / np.maximum(reference_end_s - reference_begin_s, SHORTEST_REFERENCE_S)


def score_congruence(score: Floats, lowest: Floats, highest: Floats, floor: float) -> Floats:
    """Place of each score in its range, 0 at ``lowest`` and 1 at ``highest`` (ScrCgr); rows are aligned.

    The range is at least ``floor`` wide. 0 where the range is empty or unknown (NaN). +inf is 1 and -inf is 0.
    A range too wide for a double is infinite, as in the tools: every place in it is 0, but that of a score infinitely
    far above ``lowest`` is 1; there they divide infinities, and how their memory lies decides.
    """
    finite = np.isfinite(score) & np.isfinite(lowest) & np.isfinite(highest)
    low = np.where(finite, lowest, 0.0)
    with np.errstate(over="ignore"):
        above = np.where(finite, score, 0.0) - low
        width = np.maximum(np.where(finite, highest, 0.0) - low, floor)
        beyond = np.isinf(above) & np.isinf(width)
        known = finite & (width > 0) & ~beyond
        place = np.where(known, above, 0.0) / np.where(known, width, 1.0)
    return np.where(np.isposinf(score) | beyond, 1.0, place)


def weight(time: Floats, score: Floats) -> Ints:
    """``1e-8 * time + 1e-6 * score`` in steps of 2**-60; each term is held within ±1, far beyond what files mean."""
    worth = np.clip(TIME_WEIGHT * time, -1.0, 1.0) + np.clip(SCORE_WEIGHT * score, -1.0, 1.0)
    return np.rint(worth / WEIGHT_STEP).astype(np.int64)


def range_of_runs(score: Floats, group: Ints) -> Range:
    """Per row the lowest and highest finite score of its group, for rows sorted by ``group``; NaN if there is none."""
    starts = run_starts(group)
    if starts.size == 0:
        return np.zeros(0), np.zeros(0)
    finite = np.isfinite(score)
    lowest = np.minimum.reduceat(np.where(finite, score, np.inf), starts)
    highest = np.maximum.reduceat(np.where(finite, score, -np.inf), starts)
    lengths = np.diff(starts, append=score.size)
    return np.repeat(_known(lowest), lengths), np.repeat(_known(highest), lengths)


def range_of_codes(score: Floats, code: Codes, n_codes: int) -> Range:
    """Per code the lowest and highest finite score of its rows, in any row order; NaN if there is none."""
    finite = np.isfinite(score)
    lowest, highest = np.full(n_codes, np.inf), np.full(n_codes, -np.inf)
    np.minimum.at(lowest, code[finite], score[finite])
    np.maximum.at(highest, code[finite], score[finite])
    return _known(lowest), _known(highest)


def _known(bound: Floats) -> Floats:
    return np.where(np.isfinite(bound), bound, np.nan)
