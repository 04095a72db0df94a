"""Error rates of speech-to-text as functions of how often each speaker counts."""

from __future__ import annotations

import numpy as np

from pipeline.metrics.measure import Scored
from pipeline.metrics.statistics.resampling import Ratios, Sample
from pipeline.metrics.statistics.samples import NOT_RESAMPLED
from pipeline.metrics.stt.wer import Total, rows_by, speaker_of


def speaker_sample(scored: Scored[Total], measure: str) -> Sample | str:
    """The error rate over speakers with reference tokens: errors over tokens, both summed."""
    if measure != "wer":
        return NOT_RESAMPLED
    total, rules = scored.total
    rows = [row for row in rows_by(total, speaker_of, scored.facts.queries) if row["n_segments"]]
    n_ref = np.array([[row.n_reference(rules.n_ref_rule) for row in rows]], np.float64)
    if not n_ref.any():
        return "no_reference_words"
    errors = np.array([[row.n_errors for row in rows]], np.float64)
    return Ratios(tuple(row.id for row in rows), 0.0, np.ones(1), errors, n_ref)
