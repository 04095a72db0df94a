"""What is told of single documents, clips, segments and words adds up to the very counts that figures are made of."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import season_families as families

from flows.steps import score_here
from pipeline.cli import explain as command
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.dispute import explain
from pipeline.engine.plan import missing, plan
from pipeline.errors import UsageError
from pipeline.store.blobs import Store
from pipeline.terms import Cell

ONE, TWO = Cell("q", "d", "one"), Cell("q", "d", "two")


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """The plan and store of each family, scored once."""

    def made(family):
        if family not in known:
            folder = tmp_path_factory.mktemp(family)
            store = Store(str(folder / "store"))
            work = plan(load_evaluation(str(families.write(folder, family))), store)
            score_here(store, work, missing(work.jobs, store))
            known[family] = store, work
        return known[family]

    known = {}
    return made


def blocks(store, work, cell):
    return {block["id"]: block for block in load_result(store, work.by_cell[cell].address).blocks}


def outcomes(store, work, cell, query):
    return Counter(row.outcome for row in explain(store, work, cell, query))


@pytest.mark.parametrize("cell", [ONE, TWO])
@pytest.mark.parametrize(("family", "queries"), [("documents", ("q1", "q2")), ("events", ("E1", "E2"))])
def test_outcomes_are_those_of_the_figures(scored, family, queries, cell):
    store, work = scored(family)
    for query in queries:
        block, told = blocks(store, work, cell)[query], outcomes(store, work, cell, query)
        assert (told["CORR"], told["MISS"], told["FA"]) == (block["n_hit"], block["n_miss"], block["n_fa"])


def test_a_document_without_a_row_has_the_default_score_and_a_query_without_targets_counts_nowhere(scored):
    store, work = scored("documents")
    told = {row.trial: row for row in explain(store, work, ONE, "q1")}
    assert (told["d7"].rule, told["d7"].outcome, told["d7"].details["censor"]) == ("no_score", "CORR!DET", -10)
    assert (told["d0"].rule, told["d0"].details["score"]) == ("target_yes", 0.9)
    assert {row.rule for row in explain(store, work, ONE, "q3")} == {"no_targets"}


def test_a_clip_has_its_judgement_threshold_and_sets(scored):
    store, work = scored("events")
    told = {row.trial: row for row in explain(store, work, ONE, "E1")}
    assert told["a.E1"].details == {
        "judgement": "target", "sets": ["all", "short"], "threshold": 0.4, "score": 0.9, "decision": "YES",
    }  # fmt: skip
    assert told["c.E1"].rule == "nontarget_yes"


def test_a_segments_decision_is_that_of_the_confusions(scored):
    store, work = scored("language")
    decided = Counter()
    for at in range(18):
        for row in explain(store, work, ONE, f"seg{at:04d}"):
            decided[row.outcome, row.details["class"]] += 1
            assert sum(row.details["posteriors"].values()) == pytest.approx(1.0)
    for name, block in blocks(store, work, ONE).items():
        assert decided["right", name] == block["n_correct"]
    other = next(row for at in range(18, 60) for row in explain(store, work, ONE, f"seg{at:04d}"))
    assert (other.outcome, other.rule, other.details["class"]) == ("not scored", "no_class", "none")


@pytest.mark.parametrize("cell", [ONE, TWO])
def test_steps_add_up_to_the_counts_of_speakers(scored, cell):
    store, work = scored("tokens")
    steps = Counter()
    for recording in ("f1", "f2"):
        for row in explain(store, work, cell, recording):
            steps.update(step[0] for step in row.details.get("steps", ()))
            assert row.details.get("cost", 0) == sum(step[-1] for step in row.details.get("steps", ()))
    total = blocks(store, work, cell).values()
    told = [steps[letter] for letter in "CSDI"]
    assert told == [sum(block[name] for block in total) for name in ("corr", "sub", "del", "ins")]


def test_costs_and_the_segments_that_are_not_scored_are_told(scored):
    store, work = scored("tokens")
    scored_one, ignored = explain(store, work, ONE, "f1")
    assert ["S", "three", "oh", 0.3, 4] in scored_one.details["steps"]
    assert ignored.rule == "segment_ignored"
    [optional] = explain(store, work, ONE, "f2")
    assert ["C", "(uh)", "", None, 2] in optional.details["steps"], "an optional word that is left out costs 2"


def test_what_the_cell_does_not_know_is_an_error_that_names_what_it_knows(scored):
    asked_of = {"events": "event", "language": "segment", "tokens": "recording", "documents": "query"}
    for family, asked in asked_of.items():
        with pytest.raises(UsageError, match=f"q/d/one knows no {asked} 'nothing'"):
            explain(*scored(family), ONE, "nothing")


@pytest.mark.parametrize(
    ("family", "query", "place", "told"),
    [
        ("documents", "q1", ("d0",), "d0: CORR, target_yes: the key has it and the system said YES: a hit"),
        ("events", "E1", ("c.E1",), "judgement non-target, sets all, threshold 0.4, score 0.6, decision YES"),
        ("language", "seg0001", (), "label Basque, class Basque, decided Basque"),
        ("tokens", "f1", ("1", "3"), "S  three  oh    0.3   4"),
    ],
)
def test_the_command_prints_it(scored, monkeypatch, capsys, family, query, place, told):
    store, work = scored(family)
    monkeypatch.setattr(command, "_plan_of", lambda *_: work)
    assert main(["explain", "q/d/one", query, *place, "--store", store.root]) == 0
    assert told in capsys.readouterr().out
    assert main(["explain", "q/d/one", query, *place, "--store", store.root, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["why"]
