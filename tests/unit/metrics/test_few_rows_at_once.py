"""Sums over rows that are looked at a few at a time: the same to the last bit however few these are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from metric_ledgers import cell

from pipeline.metrics import fixed_point
from pipeline.metrics.entropy import calibration, cxe
from pipeline.metrics.kws import counts, det, optimum, sweep, thin
from pipeline.metrics.kws.means import query_means
from pipeline.metrics.kws.thin import thinned
from pipeline.partials import ascending
from pipeline.partials.ledger import Ledger

MODULES = (counts, fixed_point, optimum, thin)


def ledger(seed: int) -> Ledger:
    random = np.random.default_rng(seed)
    n, n_queries = 300, 12
    query = random.integers(0, n_queries - 2, n)  # the last queries have no row
    score = random.choice([-np.inf, -1.5, 0.0, 0.25, 0.5, 1e-3, 2.0, np.inf], n) if seed % 2 else random.random(n)
    omitted = random.integers(0, n_queries, 5)
    target = (random.random(n) < 0.2) & (query > 1)
    return Ledger.of([f"q{k:02d}" for k in range(n_queries)], query, score, score > 0.5, target, omitted)


def everything(total: Ledger) -> dict[str, Any]:
    scored = cell(total, 500.0)
    found: dict[str, Any] = {"decisions": counts.decision_range(total)}
    for name, all_queries in (("own", False), ("all", True)):
        means = query_means(total, 500.0, include_no_targets=all_queries)
        for last in (True, False):
            curve = sweep.sweep(total, means, scored.point.beta, reject_all_point=last)
            best = optimum.optima(total, means, scored.point.beta, reject_all_point=last)
            columns = (curve.threshold, curve.p_miss, curve.p_fa, curve.twv)
            found[f"curve {name} {last}"] = (*(column.tobytes() for column in columns), curve.best)
            found[f"best {name} {last}"] = (best.threshold.tobytes(), best.twv.tobytes(), best.counts.n_fa.tobytes())
            drawn = det.representative(curve.threshold, curve.p_miss, curve.p_fa)
            found[f"drawn {name} {last}"] = drawn.tobytes()
    found["thin"] = thinned(total, (0.25,)).scores.values.tobytes()
    for measure in (*cxe.MEASURES, *calibration.MEASURES):
        figure = measure.of(scored)
        found[measure.name] = (figure.value.hex(), {name: value.hex() for name, value in figure.detail.items()})
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("at_once", [1, 7, 64])
def test_figures_do_not_know_how_many(seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    total = ledger(seed)
    expected = everything(total)
    for module in MODULES:
        monkeypatch.setattr(module, "_AT_ONCE", at_once)
    monkeypatch.setattr(ascending, "BLOCK_ROWS", at_once)
    monkeypatch.setattr(ascending, "ROWS_PER_QUERY", 0)
    assert everything(total) == expected


def brute_twv(total: Ledger, threshold: float, beta: float) -> float:
    """TWV of what scores at least ``threshold``, query by query."""
    misses, alarms = [], []
    for query, n_true in enumerate(total.n_true[0].tolist()):
        rows = (total.query == query) & (total.score >= threshold)
        if n_true:
            misses.append(1 - int(total.n_target[rows].sum()) / n_true)
            alarms.append(int(total.n_nontarget[rows].sum()) / (500.0 - n_true))
    return 1 - (math.fsum(misses) + beta * math.fsum(alarms)) / len(misses)


@pytest.mark.parametrize("seed", range(4))
def test_every_point_of_the_sweep_is_what_its_threshold_accepts(seed: int) -> None:
    total, beta = ledger(seed), 9.0
    curve = sweep.sweep(total, query_means(total, 500.0), beta)
    value: Callable[[float], float] = lambda threshold: brute_twv(total, threshold, beta)  # noqa: E731
    thresholds = [math.nan if math.isnan(t) else t for t in curve.threshold.tolist()]
    assert curve.twv.tolist() == pytest.approx([value(t) for t in thresholds], abs=1e-12)
    assert math.isnan(thresholds[-1])
    used = total.score[total.n_true[0][total.query] > 0]
    assert thresholds[:-1] == np.unique(used).tolist()
