"""Normalised cross entropy of word confidences (plan 004 section 6.4.1; SCTK scores.c).

Entropies are in bits. ``n`` is the number of correct words, ``N`` that of all words of the output.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.terms import Figure

P_MIN, P_MAX = 1e-7, 0.9999999
"""Confidences are kept inside these, as sclite keeps them."""


def clipped(confidence: NDArray[Any]) -> NDArray[np.float64]:
    """Confidences as sclite has them: in single precision, then inside ``[P_MIN, P_MAX]``; NaN stays NaN."""
    inside: NDArray[Any] = np.clip(confidence, 0.0, 1.0)  # single precision may have no number for what lies outside
    single: NDArray[np.float64] = inside.astype(np.float32).astype(np.float64)
    return np.clip(single, P_MIN, P_MAX)


def nce(n_correct: int, n_incorrect: int, sum_log2_p: float, sum_log2_1mp: float) -> Figure:
    """(H + sums) / H, with H the entropy of correctness alone: 1 is perfect, 0 as good as the share of correct words.

    Undefined with reason ``no_confidences`` without words, ``all_correct`` or ``none_correct`` where H is 0.
    """
    total = n_correct + n_incorrect
    if total <= 0:
        return Figure.undefined("no_confidences")
    if n_incorrect == 0 or n_correct <= 0:
        return Figure.undefined("all_correct" if n_incorrect == 0 else "none_correct")
    p_correct = n_correct / total
    entropy = -(n_correct * math.log2(p_correct) + n_incorrect * math.log2(1.0 - p_correct))
    return Figure((entropy + sum_log2_p + sum_log2_1mp) / entropy)
