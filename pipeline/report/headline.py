"""Which measures a board leads with, and how far along its bar a figure reaches."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.report.board import Board, Entry, MeasureInfo, Run

# In this order, after the primary measure; a protocol shows those that it has.
HEADLINE = (
    "atwv", "mtwv", "mtwv_threshold", "stwv", "max_stwv",
    "p_md", "p_miss", "p_fa", "ap", "ro", "ndc", "min_ndc", "ndc_at_ter", "rtf_execution",
    "wer", "corr", "sub", "del", "ins", "f_act", "f_dis", "f_cal", "c_mce", "c_def", "c_min",
    "cnxe", "min_cnxe_affine", "min_cnxe_pav",
)  # fmt: skip
LEAD = {
    "wer": ("sub", "del", "ins", "corr", "n_ref", "seg_err", "nce"),
    "cnxe": ("min_cnxe_pav", "calibration_loss", "lb_cnxe", "atwv", "mtwv", "ub_twv", "map"),
    "ap": ("ap_prime", "ro", "max_ro", "ndc", "min_ndc", "p_md", "p_fa"),
}
"""By primary measure, what follows it where the order above would bury it."""
AT_MOST = 8
BOUND_OF = {
    "atwv": "mtwv",
    "stwv": "max_stwv",
    "cnxe": "min_cnxe_pav",
    "ndc": "min_ndc",
    "c_mce": "c_min",
    "f_act": "f_dis",
}
"""The best that a system's scores could have reached with other decisions or calibration."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Shares of the bar's length: solid up to ``solid``, pale up to ``pale`` (both 0 to 1)."""

    solid: float
    pale: float


def headline(run: Run) -> tuple[MeasureInfo, ...]:
    """The measures a board leads with: the primary one, then at most seven more that every reader looks for."""
    by_name = {measure.name: measure for measure in run.measures}
    order = LEAD.get(run.primary, HEADLINE)
    chosen = [run.primary, *(name for name in order if name in by_name and name != run.primary)]
    if len(by_name) <= AT_MOST:
        return run.measures
    return tuple(by_name[name] for name in chosen[:AT_MOST])


def bound(run: Run) -> str | None:
    """The measure that bounds the primary one, where the protocol has it."""
    name = BOUND_OF.get(run.primary)
    return name if any(measure.name == name for measure in run.measures) else None


def bars(run: Run, boards: Iterable[Board]) -> dict[tuple[str, str, str], Bar]:
    """Bars of the primary measure by (query set, dataset, system), on one scale over all these boards."""
    listed = [(board, entry) for board in boards for entry in board.entries]
    ends = {(b.query_set, b.dataset, e.system): _ends(run, e) for b, e in listed}
    longest = max((end for pair in ends.values() for end in pair), default=0.0)
    if longest <= 0:
        return {}
    return {place: Bar(low / longest, high / longest) for place, (low, high) in ends.items() if high > 0}


def shades(run: Run, boards: Iterable[Board]) -> dict[tuple[str, str, str], float]:
    """The primary measure from worst (0) to best (1) by (query set, dataset, system), one scale over all these boards.

    Figures below zero count as zero: one system far off must not level out the others. Canaries have none.
    """
    info = run.measures[0]
    listed = {
        (b.query_set, b.dataset, e.system): e.figures[info.name].value
        for b in boards
        for e in b.entries
        if not e.canary
    }
    finite = {place: max(value, 0.0) for place, value in listed.items() if math.isfinite(value)}
    low, high = min(finite.values(), default=0.0), max(finite.values(), default=0.0)
    if low == high or info.better not in {"higher", "lower"}:
        return {}
    shares = {place: (value - low) / (high - low) for place, value in finite.items()}
    return shares if info.better == "higher" else {place: 1.0 - share for place, share in shares.items()}


def _ends(run: Run, entry: Entry) -> tuple[float, float]:
    wanted = (run.primary, bound(run) or run.primary)
    values = [entry.figures[name].value for name in wanted]
    finite = [max(value, 0.0) if math.isfinite(value) else 0.0 for value in values]
    if not math.isfinite(values[0]):
        return 0.0, 0.0
    return min(finite), max(finite)


def best_of(board: Board, measures: Iterable[MeasureInfo]) -> dict[str, float | None]:
    """The best figure of each column, canaries left out; None where no direction is better or there is no choice."""
    return {measure.name: _best(board, measure) for measure in measures}


def _best(board: Board, measure: MeasureInfo) -> float | None:
    values = [entry.figures[measure.name].value for entry in board.entries if not entry.canary]
    defined = [value for value in values if not math.isnan(value)]
    if measure.better not in {"higher", "lower"} or len(defined) < 2:
        return None
    return max(defined) if measure.better == "higher" else min(defined)
