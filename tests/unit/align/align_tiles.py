"""Small tiles for tests of alignment, and what an alignment says in words of its rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.trials.schema import Excerpts, Occurrences, Trials

Detection = tuple[str, str, str, float, float, float, bool]
"""Query, file, channel, begin, duration, score, whether YES."""
Reference = tuple[str, str, str, float, float]
"""Query, file, channel, begin, end."""


def detection(begin: float, dur: float, score: float, decision: str = "YES", at: str = "q f 1") -> Detection:
    query, file, channel = at.split()
    return query, file, channel, begin, dur, score, decision == "YES"


def reference(begin: float, end: float, at: str = "q f 1") -> Reference:
    query, file, channel = at.split()
    return query, file, channel, begin, end


def trials(rows: Sequence[Detection]) -> Trials:
    names, codes = zip(*(_codes([row[column] for row in rows]) for column in range(3)), strict=True)
    begin, dur, score = (np.array([row[column] for row in rows], np.float64) for column in (3, 4, 5))
    return Trials(
        *names,
        *codes,
        begin_s=begin,
        dur_s=dur,
        time_s=begin,
        score=score,
        decision=np.array([row[6] for row in rows], np.bool_),
        row=np.arange(len(rows)),
        offsets=np.array([0, len(rows)]),
        score_range=(float(score.min()), float(score.max())) if rows else (np.nan, np.nan),
    )


def occurrences(rows: Sequence[Reference]) -> Occurrences:
    names, codes = zip(*(_codes([row[column] for row in rows]) for column in range(3)), strict=True)
    begin, end = (np.array([row[column] for row in rows], np.float64) for column in (3, 4))
    return Occurrences(
        *names,
        *codes,
        begin_s=begin,
        end_s=end,
        last_begin_s=begin,
        first_end_s=end,
        row=np.arange(len(rows)),
        offsets=np.array([0, len(rows)]),
    )


def excerpts(*rows: tuple[str, str, float, float]) -> Excerpts:
    """File, channel, begin, end of each."""
    (files, file), (channels, channel) = (_codes([row[column] for row in rows]) for column in (0, 1))
    begin, end = (np.array([row[column] for row in rows], np.float64) for column in (2, 3))
    return Excerpts(files, channels, file, channel, begin, end, end - begin, ("cts",) * len(rows))


def pairs(aligned: Aligned) -> dict[int, int]:
    """Trial row to reference row."""
    rows = zip(aligned.kept.tolist(), aligned.reference.tolist(), strict=True)
    return {row: mapped for row, mapped in rows if mapped >= 0}


def _codes(names: list[str]) -> tuple[tuple[str, ...], np.ndarray]:
    vocabulary = tuple(sorted(set(names)))
    return vocabulary, np.array([vocabulary.index(name) for name in names], np.int32)
