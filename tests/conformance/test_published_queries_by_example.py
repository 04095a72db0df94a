"""MTWV of a published study of query by example, from its own scores: as labelled scores, and as detections."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

import rescore

BETA = 3.48423
CASES = {"gup-wat": (1940, 0.5601, 0.86502384), "mwf-jm": (809, 0.5217, 0.8402461)}
"""N, the published MTWV and its threshold, of the eleventh layer's features."""
FEATURES = "20210225-Large-0FT_transformer-L11"


@pytest.fixture
def data(conformance: Path, require) -> Path:
    folder = conformance.parent / "data"
    require("data", folder.is_dir(), f"{folder} is not there")
    return folder


@pytest.mark.parametrize("name", CASES)
def test_labelled_scores_have_the_published_figures(data, name):
    n_trials, value, threshold = CASES[name]
    file = data / f"qbe_std_feats_raw_L11_{name}.csv.gz"
    result = rescore.score("detection", output=file, n_trials=n_trials, c_fa=BETA)
    assert round(result["mtwv"], 4) == value
    assert result["mtwv_threshold"] == pytest.approx(threshold, abs=5e-8)
    with (data / "qbe_std_feats_all_mtwv.csv").open(encoding="utf-8") as rows:
        published = next(row for row in csv.DictReader(rows) if (row["dataset"], row["features"]) == (name, FEATURES))
    assert published["mtwv"] == f"{value:.4f}"
    detail = result.scored.figures["mtwv"].detail
    assert f"{detail['p_miss']:.3f}" == published["p_miss"]
    assert f"{detail['p_fa']:.5f}" == published["p_fa"]


@pytest.mark.parametrize("name", CASES)
def test_detections_on_documents_of_a_second_have_them_too(data, name):
    """The difference: ``sws2013`` takes the number of trials from the audio (T = N s at one trial a second) and adds
    the point that accepts nothing; every document is an excerpt in which the query occurs or not."""
    n_trials, value, threshold = CASES[name]
    rows = pd.read_csv(data / f"qbe_std_feats_raw_L11_{name}.csv.gz")
    targets = rows[rows["label"] == 1]
    queries = rows["query"].unique()
    place = {"begin": 0.0, "duration": 1.0}
    result = rescore.score(
        "sws2013",
        ecf={"file": rows["reference"].unique(), **place, "source_type": "bnews"},
        rttm={"file": targets["reference"], **place, "token": targets["query"]},
        kwlist={"query": queries, "text": queries},
        output={"query": rows["query"], "file": rows["reference"], **place, "score": rows["prediction"], "decision": 0},
        t_audio=n_trials,
        c_miss=1,
        c_fa=BETA,
        p_target=0.5,
    )
    assert round(result["mtwv"], 4) == value
    assert result["mtwv_threshold"] == pytest.approx(threshold, abs=5e-8)
    assert result.scored.facts["n_target"] == len(targets)
