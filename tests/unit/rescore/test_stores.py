"""Frames over a store: runs, cells, figures, queries, trials of everything that was published."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import rescore
from tests.unit.rescore.test_comparing import scores

EVALUATION = """\
name: made
protocol: detection
settings: {decide: 0.5}
datasets: {test: {}}
query_sets: {all: {}}
systems:
  pattern: "%s/{system}.csv"
  good: {team: North}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """Two runs: of two systems, and again with a third one, whose output is refused."""
    folder = tmp_path_factory.mktemp("store")
    for name, shift in (("good", 3.0), ("poor", 0.0)):
        scores(shift).to_csv(folder / f"{name}.csv", index=False)
    (folder / "evaluation.yaml").write_text(EVALUATION % folder, encoding="utf-8")
    rescore.run(folder / "evaluation.yaml", store=folder / "store", cluster="none")
    (folder / "torn.csv").write_text("document,label,score\na,1,nan\n", encoding="utf-8")
    rescore.run(folder / "evaluation.yaml", store=folder / "store", cluster="none")
    return folder


def test_runs(store):
    runs = rescore.runs_df(store / "store")
    assert runs["number"].tolist() == [1, 2]
    assert runs["n_scored"].tolist() == [2, 2]
    assert runs["n_failed"].tolist() == [0, 1]
    assert set(runs["protocol"]) == {"detection"}
    assert runs["published"].is_monotonic_increasing
    assert rescore.runs_df(rescore.open_store(store / "store"), "other").empty


def test_cells_of_the_latest_run_of_one_and_of_every(store):
    place = store / "store"
    latest = rescore.cells_df(place).set_index("system")
    assert latest["failed"].to_dict() == {"good": "", "poor": "", "torn": "refused_input"}
    assert latest["team"].to_dict() == {"good": "North", "poor": "", "torn": ""}
    assert latest.loc["good", "signature_short"].startswith("detection.1|official|decide:0.5|#")
    assert len(rescore.cells_df(place, "made~1")) == 2
    assert len(rescore.cells_df(place, "every")) == 5
    with pytest.raises(rescore.UsageError, match="no run 'nothing'"):
        rescore.cells_df(place, "nothing")


def test_figures_of_a_run_are_those_of_scoring(store):
    measures = rescore.measures_df(store / "store")
    for name in ("good", "poor"):
        own = measures[measures["system"] == name].set_index("measure")
        scored = rescore.score("detection", output=store / f"{name}.csv", decide=0.5)
        assert own["value"].to_dict() == {one: scored[one] for one in scored}
        assert own.loc["cllr", "unit"] == "bit"
        assert own.loc["auc", "better"] == "higher"
    torn = measures[measures["system"] == "torn"]
    assert torn["value"].map(math.isnan).all()
    assert set(torn["reason"]) == {"refused_input"}


def test_queries_are_the_blocks(store):
    queries = rescore.queries_df(store / "store")
    own = queries[queries["system"] == "good"].set_index("query")
    blocks = rescore.score("detection", output=store / "good.csv", decide=0.5).blocks.set_index("id")
    assert own["n_target"].to_dict() == blocks["n_target"].to_dict()
    assert own["twv"].to_dict() == blocks["twv"].to_dict()


def test_trials_say_what_they_are(store):
    trials = rescore.trials_df(store / "store", "made", "all/test/good")
    assert len(trials) == 300
    counts = trials["outcome"].value_counts().to_dict()
    assert sum(counts.values()) == 300
    assert set(counts) <= {"hit", "miss", "false_alarm", "correct_rejection"}
    given = scores(3.0).set_index("document").loc[trials["document"].tolist()]
    assert trials["score"].tolist() == given["score"].tolist()
    assert trials["query"].tolist() == given["query"].tolist()


def test_stored_trials_are_scored_as_their_file(store):
    place = rescore.open_store(store / "store")
    run = rescore.runs_df(place)["run"].iloc[-1]
    again = rescore.score("detection", output=rescore.open_trials(place, run, "all/test/good"), decide=0.5)
    assert repr(again.scored.figures) == repr(
        rescore.score("detection", output=store / "good.csv", decide=0.5).scored.figures
    )
