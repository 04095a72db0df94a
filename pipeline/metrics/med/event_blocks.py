"""Figures of each event, processed or not, and the curves behind them (TRECVID MED)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.kws.counts import by_query
from pipeline.metrics.kws.det import visible
from pipeline.metrics.med import average_precision, ndc, ro, rtf
from pipeline.metrics.med.events import EventScored, average_curve, event_counts, event_curves
from pipeline.metrics.med.events import ndc as cost_of

Columns = dict[str, NDArray[Any]]


def blocks(scored: EventScored) -> tuple[dict[str, Any], ...]:
    """One entry per event, in the order of ``facts.queries``; what is undefined is NaN.

    ``id`` and ``text``; ``submitted`` (1 where the system processed the event); the counts at the submitted threshold
    ``n_target``, ``n_nontarget`` (the denominator of ``p_fa``), ``n_hit``, ``n_miss``, ``n_fa``,
    ``n_correct_rejection``, ``n_omitted`` (targets without a trial); ``threshold`` as submitted; then the event's own
    value of every measure, with the thresholds and rates of ``min_ndc``, ``ndc_at_ter`` and ``max_ro``.
    """
    columns = {name: column.tolist() for name, column in _columns(scored).items()}
    place = {query: index for index, query in enumerate(scored.total.ledger.queries)}
    texts = scored.facts.texts
    return tuple(
        {"id": query, "text": texts.get(query, ""), **{name: c[place[query]] for name, c in columns.items()}}
        for query in scored.facts.queries
    )


def _columns(scored: EventScored) -> Columns:
    total, counts, rates = scored.total, scored.once(event_counts), scored.once(ndc.decided_rates)
    n_other = by_query(total.ledger, total.ledger.n_nontarget)
    built = rtf.rtf_metadata(scored).value
    return {
        "submitted": total.submitted.astype(np.int64),
        "n_target": counts.n_true,
        "n_nontarget": total.n_nontarget,
        "n_hit": counts.n_hit,
        "n_miss": counts.n_miss,
        "n_fa": counts.n_fa,
        "n_correct_rejection": n_other - counts.n_fa,
        "n_omitted": total.ledger.omitted[0],
        "threshold": total.threshold,
        "p_md": rates.p_md,
        "p_fa": rates.p_fa,
        "ndc": rates.ndc,
        **_points("min_ndc", scored.once(ndc.minima)),
        **_points("ndc_at_ter", scored.once(ndc.crossings)),
        "p_md_at_ter": np.array([point.p_md for point in scored.once(ndc.crossings)]),
        "ap": scored.once(average_precision.average_precision_percent),
        "ap_prime": scored.once(average_precision.average_precision_prime_percent),
        "ro": scored.once(ro.actual),
        "max_ro": np.array([best.ro for best in scored.once(ro.largest)]),
        "max_ro_threshold": np.array([best.threshold for best in scored.once(ro.largest)]),
        "rtf_metadata": np.full(total.hours.size, built),
        "rtf_execution": scored.once(rtf.execution_factors),
    }


def _points(name: str, points: Sequence[ndc.NdcPoint]) -> Columns:
    parts = {"": "ndc", "_threshold": "threshold", "_p_md": "p_md", "_p_fa": "p_fa"}
    return {f"{name}{ending}": np.array([getattr(point, part) for point in points]) for ending, part in parts.items()}


def curve_columns(scored: EventScored) -> dict[str, Sequence[Any]]:
    """Curves as columns of equal length: event, threshold (NaN detects nothing), p_miss, p_fa, ndc.

    First the curve of mean rates, with an empty ``event``, then that of every event that was processed.
    """
    mean, curves = scored.once(average_curve), scored.once(event_curves)
    parts = [("", mean.threshold, mean.p_miss, mean.p_fa)]
    parts += [
        (event, curve.threshold, curve.p_md, curve.p_fa)
        for event, curve in zip(scored.total.ledger.queries, curves, strict=True)
        if curve.n_target
    ]
    names = [event for event, threshold, _, _ in parts for _ in range(threshold.size)]
    threshold, p_miss, p_fa = (np.concatenate([part[index] for part in parts]) for index in (1, 2, 3))
    columns = {"threshold": threshold, "p_miss": p_miss, "p_fa": p_fa, "ndc": cost_of(p_miss, p_fa, scored.point)}
    return {"event": names, **{name: column.tolist() for name, column in columns.items()}}


def thinned(curve: Mapping[str, Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
    """Curves at the points that a drawing needs, and at the best point of each."""
    names = np.array(curve["event"], dtype=object)
    if not names.size:
        return curve
    change = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    kept = []
    for begin, end in zip(change.tolist(), [*change[1:].tolist(), names.size], strict=True):
        p_miss, p_fa, cost = (np.asarray(curve[name][begin:end], np.float64) for name in ("p_miss", "p_fa", "ndc"))
        rows = np.ones(end - begin, np.bool_) if np.isnan(p_fa).any() else visible(p_miss, p_fa)
        if not np.isnan(cost).all():
            rows[int(np.nanargmin(cost))] = True
        kept += (begin + np.flatnonzero(rows)).tolist()
    return {name: [column[row] for row in kept] for name, column in curve.items()}
