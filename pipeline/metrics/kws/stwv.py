"""Term-weighted values of inferred segments, whose figures are those of ``twv`` over segments as trials."""

from __future__ import annotations

from pipeline.metrics import load
from pipeline.metrics.bounds import ANY, FROM_0, SHARE, UP_TO_1
from pipeline.metrics.kws import ranking, samples, twv
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.partials.ledger import Ledger

_P004 = "OpenKWS13 evaluation plan"
MEASURES: tuple[Measure[Ledger], ...] = (
    Measure(
        "stwv",
        "1",
        "higher",
        UP_TO_1,
        f"{_P004}, section 5.2.2.1, at the submitted decisions",
        twv.atwv,
        label=Label("STWV"),
        aggregation=twv.QUERIES,
        resample=samples.VALUE,
        heads_board=True,
        best="max_stwv",
    ),
    Measure(
        "max_stwv",
        "1",
        "higher",
        twv.best_twv,
        f"{_P004}, section 5.2.2.1, maximum over thresholds",
        twv.mtwv,
        label=Label("max STWV"),
        aggregation=twv.MAXIMUM,
        resample=samples.BEST,
        heads_board=True,
        threshold="max_stwv_threshold",
    ),
    Measure(
        "max_stwv_threshold",
        "score",
        "none",
        ANY,
        f"{_P004}, section 5.2.2.1",
        twv.mtwv_threshold,
        label=Label("θ", "max STWV"),
        aggregation=twv.MAXIMUM,
    ),
    Measure(
        "stwv_all",
        "1",
        "higher",
        UP_TO_1,
        f"{_P004}, sections 5.2.3 and 5.1.3.3",
        twv.atwv_all,
        label=Label("STWV", note="all queries"),
        aggregation=twv.ALL_QUERIES,
        resample=samples.VALUE_OVER_ALL,
    ),
    Measure(
        "max_stwv_all",
        "1",
        "higher",
        twv.best_twv,
        f"{_P004}, sections 5.2.3 and 5.1.3.3, maximum",
        twv.mtwv_all,
        label=Label("max STWV", note="all queries"),
        aggregation=twv.MAXIMUM,
        resample=samples.BEST_OVER_ALL,
    ),
    Measure(
        "p_miss",
        "1",
        "lower",
        SHARE,
        f"{_P004}, section 5.2.2.1, P_MissSeg",
        twv.p_miss,
        label=Label("P", "miss"),
        aggregation=twv.QUERIES,
        resample=samples.P_MISS,
    ),
    Measure(
        "p_fa",
        "1",
        "lower",
        FROM_0,
        f"{_P004}, section 5.2.2.1, P_FASeg",
        twv.p_fa,
        label=Label("P", "fa"),
        aggregation=twv.QUERIES,
        resample=samples.P_FA,
    ),
    Measure(
        "stwv_optimum",
        "1",
        "higher",
        twv.best_twv,
        "F4DE KWSEval -g, Optimum TWV",
        twv.twv_optimum,
        label=Label("STWV", "optimum"),
        aggregation=twv.QUERIES,
        resample=samples.VALUE_AT_OPTIMA,
    ),
    Measure(
        "stwv_supremum",
        "1",
        "higher",
        SHARE,
        "F4DE KWSEval -g, Supremum TWV",
        twv.twv_supremum,
        label=Label("STWV", "supremum"),
        aggregation=twv.QUERIES,
    ),
    *ranking.MEASURES,
    *load.MEASURES,
)
