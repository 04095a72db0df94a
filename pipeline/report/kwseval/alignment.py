"""KWSEval's ``alignment.csv``: what became of every detection and occurrence, in its 12 columns."""

from __future__ import annotations

import csv
import io
import math

from pipeline.engine.alignments import Alignment

COLUMNS = (
    *("language", "file", "channel", "termid", "term", "ref_bt", "ref_et", "sys_bt", "sys_et", "sys_score"),
    *("sys_decision", "alignment"),
)


def alignment_csv(alignment: Alignment) -> str:
    """The rows in their canonical order; cells are quoted where they must be (the tool never quotes).

    Ends of references have four decimals as the tool writes them, unless they have more; other numbers are the shortest
    that read back the same, -0 included, ends of detections after rounding to 15 digits.
    """
    rows = alignment.rows
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    if not rows.columns:
        return buffer.getvalue()
    times = [rows[name].tolist() for name in ("ref_begin_s", "ref_end_s", "begin_s", "end_s", "score")]
    names = [rows.text(name) for name in ("file", "channel", "query", "outcome")]
    for file, channel, query, outcome, begin, end, start, stop, score, yes in zip(
        *names, *times, rows["decision"].tolist(), strict=True
    ):
        reference = ("", "") if math.isnan(begin) else (_shortest(begin), _reference_end(end))
        system = ("", "", "", "")
        if not math.isnan(start):
            system = (_shortest(start), f"{stop + 0.0:.15g}", _shortest(score), "YES" if yes else "NO")
        place = (alignment.language, file, channel, query, alignment.texts[query])
        writer.writerow((*place, *reference, *system, outcome))
    return buffer.getvalue()


def _reference_end(end_s: float) -> str:
    """Four decimals, as KWSEval rounds ends; STDEval's may have more."""
    text = f"{end_s:.4f}"
    return text if math.isclose(float(text), end_s, rel_tol=1e-15) else f"{end_s:.15g}"


def _shortest(value: float) -> str:
    """The shortest decimal that reads back the same; whole numbers without a point."""
    text = repr(value)
    return text.removesuffix(".0")
