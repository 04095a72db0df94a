"""Tables of a result beside measures and speakers: sclite's tables, confusions, reliability and alignments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.align.tokens.steps import FORGIVEN_OUTPUT, FORGIVEN_REFERENCE
from pipeline.metrics.stt import wer
from pipeline.partials.stt_outcomes import BINS, SttOutcomes

CONFUSIONS_AT_MOST = 200
LETTERS = "CSDICC"
"""Correct, substituted, deleted, inserted; forgiven steps are correct."""

Table = tuple[Mapping[str, Any], ...]


def tables(
    total: SttOutcomes, overall: wer.WordCounts, speakers: list[wer.WordCounts], rules: wer.SttRules, *, listed: bool
) -> dict[str, Table]:
    """Tables by name: ``sys`` and ``raw`` as sclite has them, files, labels, confusions, reliability, segments."""
    own = {
        "sys": tuple(wer.report(overall, speakers, rules, percent=True)),
        "raw": tuple(wer.report(overall, speakers, rules, percent=False)),
        "files": tuple(wer.block(row, rules) for row in wer.rows_by(total, wer.recording_of)),
        "labels": tuple(wer.block(row, rules) for row in wer.rows_by(total, wer.labels_of)),
        "confusions": confusions(total),
        "reliability": reliability(total),
    }
    return {**own, "alignment": alignment(total)} if listed else own


def confusions(total: SttOutcomes) -> Table:
    """The most frequent errors: ``kind`` sub, del or ins with its words; equal counts in the order of words."""
    order = np.lexsort((total.pair_output, total.pair_reference, -total.pair_count))[:CONFUSIONS_AT_MOST]
    rows = []
    for at in order.tolist():
        ref, out = (int(codes[at]) for codes in (total.pair_reference, total.pair_output))
        rows.append(
            {
                "kind": "ins" if ref < 0 else "del" if out < 0 else "sub",
                "reference": "" if ref < 0 else total.words[ref],
                "output": "" if out < 0 else total.words[out],
                "n": int(total.pair_count[at]),
            }
        )
    return tuple(rows)


def reliability(total: SttOutcomes) -> Table:
    """Words of the output in tenths of confidence: how many, and how many of them are correct."""
    tenths = total.reliability.reshape(10, BINS // 10, 2).sum(axis=1)
    return tuple(
        {
            "from": at / 10,
            "to": (at + 1) / 10,
            "n": int(correct + incorrect),
            "n_correct": int(correct),
            "p_correct": int(correct) / int(correct + incorrect) if correct + incorrect else math.nan,
        }
        for at, (correct, incorrect) in enumerate(tenths.tolist())
    )


def alignment(total: SttOutcomes) -> Table:
    """Every scored segment with its steps ``[letter, reference, output, confidence]``.

    A side without a token is null, a forgiven one the empty string. Segments are numbered by speaker in the order of
    recordings and time.
    """
    segments, offsets = total.segments, total.segments.offsets.tolist()
    numbers: Counter[str] = Counter()
    rows = []
    for at, group in enumerate(segments.group.tolist()):
        file, channel, speaker, label = total.groups[group].split(" ")
        steps = range(offsets[at], offsets[at + 1])
        rows.append(
            {
                "id": f"({speaker}-{numbers[speaker]:03d})",
                "file": file,
                "channel": channel,
                "speaker": speaker,
                "label": label,
                "begin_s": float(segments.begin_s[at]),
                "end_s": float(segments.end_s[at]),
                "steps": [_step(total, step) for step in steps],
            }
        )
        numbers[speaker] += 1
    return tuple(rows)


def _step(total: SttOutcomes, at: int) -> list[Any]:
    segments = total.segments
    kind = int(segments.step[at])
    ref, out, confidence = int(segments.reference[at]), int(segments.output[at]), float(segments.confidence[at])
    return [
        LETTERS[kind],
        total.words[ref] if ref >= 0 else "" if kind == FORGIVEN_OUTPUT else None,
        total.words[out] if out >= 0 else "" if kind == FORGIVEN_REFERENCE else None,
        None if math.isnan(confidence) else confidence,
    ]
