"""Labelled scores: figures against calculations from the definitions, by hand and by scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.metrics import roc_auc_score

import rescore
from pipeline.engine.score import score_files
from pipeline.metrics.measure import Measure
from pipeline.protocols import find


def made(n: int = 400, queries: int = 7, seed: int = 5) -> pd.DataFrame:
    """Scores with ties, some queries without a target."""
    rng = np.random.default_rng(seed)
    query = rng.integers(0, queries, n)
    label = (rng.random(n) < 0.2) & (query > 0)
    score = np.round(rng.normal(label * 1.5, 1.0), 1)
    return pd.DataFrame(
        {
            "query": [f"q{code}" for code in query],
            "document": [f"d{row}" for row in range(n)],
            "label": label,
            "score": score,
            "decision": score > 1,
        }
    )


def by_hand(frame: pd.DataFrame, c_miss: float, c_fa: float, prior: float) -> dict[str, float]:
    target, other = frame[frame["label"]], frame[~frame["label"]]

    def cost(threshold: float) -> float:
        miss, alarm = (target["score"] < threshold).mean(), (other["score"] >= threshold).mean()
        return float(c_miss * prior * miss + c_fa * (1 - prior) * alarm)

    miss, alarm = (~target["decision"]).mean(), other["decision"].mean()
    point = 1 / (1 + c_fa * (1 - prior) / (c_miss * prior))
    odds = math.log(point / (1 - point))
    entropy = point * np.logaddexp(0, -target["score"] - odds).mean()
    entropy += (1 - point) * np.logaddexp(0, other["score"] + odds).mean()
    even = (np.logaddexp(0, -target["score"]).mean() + np.logaddexp(0, other["score"]).mean()) / 2
    return {
        "c_det": c_miss * prior * miss + c_fa * (1 - prior) * alarm,
        "min_c_det": min(map(cost, [*frame["score"], math.inf])),
        "cnxe": entropy / -(point * math.log(point) + (1 - point) * math.log(1 - point)),
        "cllr": even / math.log(2),
        "auc": roc_auc_score(frame["label"], frame["score"]),
    }


@pytest.mark.parametrize(("c_miss", "c_fa", "prior"), [(1, 1, 0.5), (10, 1, 0.01), (1, 3, 0.3)])
def test_figures_of_all_trials(c_miss, c_fa, prior):
    frame = made()
    result = rescore.score("detection", output=frame, c_miss=c_miss, c_fa=c_fa, p_target=prior)
    for name, value in by_hand(frame, c_miss, c_fa, prior).items():
        assert result[name] == pytest.approx(value, rel=1e-12, abs=1e-15), name


def test_means_over_queries_count_the_trials_of_each():
    frame, beta = made(), 3.0
    result = rescore.score("detection", output=frame, c_fa=beta)
    values = []
    for _, own in frame.groupby("query"):
        if own["label"].any():
            miss = (~own[own["label"]]["decision"]).mean()
            values.append(1 - (miss + beta * own[~own["label"]]["decision"].mean()))
    assert result["atwv"] == pytest.approx(np.mean(values), rel=1e-12)
    assert len(result.blocks) == 7
    assert result.scored.facts["n_queries_scored"] == 6


def test_another_number_of_trials_changes_false_alarm_rates_over_queries_alone():
    own, more = (rescore.score("detection", output=made(), n_trials=n) for n in ("rows", 1000))
    assert more["p_fa"] < own["p_fa"]
    assert {name for name in own if own[name] != more[name]} <= {
        *("p_fa", "atwv", "mtwv", "mtwv_threshold", "twv_bayes", "twv_optimum")
    }
    few = rescore.score("detection", output=made(), n_trials=60)
    assert "more_rows_than_trials" in few.warnings["code"].tolist()


def test_without_decisions_those_of_the_costs_are_scored():
    frame = made().drop(columns="decision")
    result = rescore.score("detection", output=frame, c_fa=2)
    threshold = math.log(2)
    stated = rescore.score("detection", output=frame.assign(decision=frame["score"] >= threshold), c_fa=2)
    assert result["c_det"] == stated["c_det"]
    assert result.warnings["code"].tolist() == ["no_decisions"]
    assert rescore.score("detection", output=frame, decide=9)["c_det"] == 0.5


def test_files_tables_and_any_order_have_the_same_bits(tmp_path):
    frame = made()
    frame.to_csv(tmp_path / "scores.csv", index=False)
    parquet.write_table(pa.table(frame), tmp_path / "scores.parquet")
    shuffled = frame.sample(frac=1, random_state=3)
    figures = {
        repr(rescore.score("detection", output=output).scored.figures)
        for output in (frame, shuffled, tmp_path / "scores.csv", tmp_path / "scores.parquet")
    }
    assert len(figures) == 1
    assert score_files(find("detection"), {"output": str(tmp_path / "scores.parquet")}).sources[0].n_bytes == (
        (tmp_path / "scores.parquet").stat().st_size
    )


def test_a_damaged_table_is_refused(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(rescore.InputError, match="damaged"):
        rescore.score("detection", output=tmp_path / "a.parquet")


def test_one_class_alone_leaves_figures_undefined():
    frame = made()
    none = rescore.score("detection", output=frame.assign(label=False)).scored.figures
    every = rescore.score("detection", output=frame.assign(label=True)).scored.figures
    for figures, reason in ((none, "no_targets"), (every, "no_nontarget_trials")):
        for name in ("c_det", "min_c_det", "cnxe", "auc", "cllr", "atwv"):
            assert figures[name].reason == reason, name
            assert math.isnan(figures[name].value)


def test_drawn_figures_are_those_of_the_cell():
    protocol = find("detection", overrides={"c_fa": 3})
    tables = {"output": rescore.io.read("labelled", made())}
    result = rescore.score("detection", c_fa=3, output=tables["output"])
    drawn = samples(protocol, tables["output"])
    assert {"c_det", "cnxe", "cllr", "cxe", "atwv", "mtwv"} <= set(drawn)
    for name, sample in drawn.items():
        ones = np.ones((1, len(sample.units)), np.int64)
        assert sample.values(ones)[0] == pytest.approx(result[name], rel=1e-9), name


def samples(protocol, output):
    """Every measure that can be drawn, as a function of how often each query counts."""
    from pipeline.engine.score import read_all, survey

    tables, _ = read_all(protocol, {"output": output})
    family = protocol.family
    reference = family.refer(protocol, tables)
    trials, _ = family.lay_out(protocol, tables, reference.timeline)
    partial = family.counted(protocol, trials, reference.key, reference)
    scored = family.can.whole(protocol, partial, reference.facts, survey(family, trials))
    measures: tuple[Measure, ...] = protocol.measures
    return {one.name: one.sample(scored, lambda: (trials, None)) for one in measures if one.resample}
