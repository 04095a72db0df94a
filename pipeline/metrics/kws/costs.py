"""Detection costs of NIST SRE: C_det, C_default and C_norm at the submitted decisions."""

from __future__ import annotations

from pipeline.metrics.bounds import FROM_0
from pipeline.metrics.kws.shared import LedgerScored, counts_of, means_of
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure, OperatingPoint


def weights(point: OperatingPoint) -> tuple[float, float]:
    """C_miss P_target and C_fa (1 - P_target). A given effective prior stands for the point with unit costs."""
    if point.p_target_effective is not None:
        return point.p_target_effective, 1.0 - point.p_target_effective
    return point.c_miss * point.p_target, point.c_fa * (1.0 - point.p_target)


def c_det(scored: LedgerScored) -> Figure:
    """C_miss P_miss P_target + C_fa P_fa (1 - P_target), over the mean rates (seed 000 eq 8)."""
    means, counts = scored.once(means_of), scored.once(counts_of)
    if means.reason is not None:
        return Figure.undefined(means.reason)
    miss, false_alarm = weights(scored.point)
    value = miss * means.p_miss(counts.n_miss) + false_alarm * means.p_fa(counts.n_fa)
    return Figure(value, status=means.status_of(counts.n_fa))


def c_default(scored: LedgerScored) -> Figure:
    """Cost of the better trivial system, min(C_miss P_target, C_fa (1 - P_target)) (seed 000 eq 9)."""
    cost = min(weights(scored.point))
    return Figure(cost) if cost > 0.0 else Figure.undefined("no_operating_point")


def c_norm(scored: LedgerScored) -> Figure:
    """C_det / C_default (seed 000 eq 10). Equals 1 - TWV only where beta >= 1 (eq 11)."""
    cost, default = scored.once(c_det), scored.once(c_default)
    if cost.reason is not None:
        return cost
    if default.reason is not None:
        return default
    return Figure(cost.value / default.value, status=cost.status)


_S000 = "MediaEval SWS 2013 performance measures, section 2.4"

MEASURES: tuple[Measure[Ledger], ...] = (
    Measure(
        "c_det",
        "1",
        "lower",
        FROM_0,
        f"{_S000}, eq 8",
        c_det,
        label=Label("C", "det"),
        aggregation="of mean rates over queries",
    ),
    Measure(
        "c_default",
        "1",
        "none",
        FROM_0,
        f"{_S000}, eq 9",
        c_default,
        label=Label("C", "default"),
        aggregation="of the operating point",
    ),
    Measure(
        "c_norm",
        "1",
        "lower",
        FROM_0,
        f"{_S000}, eq 10",
        c_norm,
        label=Label("C", "norm"),
        aggregation="of mean rates over queries",
    ),
)
