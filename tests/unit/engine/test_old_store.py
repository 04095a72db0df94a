"""A store that rescore 0.1.0 left: its runs stay readable, everything is made again, and nothing is called damaged."""

from __future__ import annotations

import json
import logging
import math
import tarfile
from pathlib import Path

import numpy as np
import pytest

import pipeline
from flows.rescore import run_evaluation
from flows.steps import finish, score_here
from flows.study import run_study
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.errors import StoreError
from pipeline.grid import Run, faults, latest, load_grid
from pipeline.grid.history import find_run
from pipeline.store.blobs import Store

ARCHIVE = Path(__file__).parents[2] / "data/old_store/store-0.1.0.tar.xz"
FORMER = ("traces", "totals", "partials", "kin")
CELL = {"query_set": "p", "dataset": "d", "system": "good", "condition": "all"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.fixture
def store(place: Path) -> Store:
    return Store(str(place / "store"))


def run_again(place: Path, store: Store) -> Run:
    work = plan(load_evaluation(str(place / "evaluation/evaluation.yaml")), store)
    todo = missing(work.jobs, store)
    assert len(todo) == len(work.jobs) == 8
    return finish(store, work, score_here(store, work, todo))


def said(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    assert main(list(command)) == 0
    return capsys.readouterr().out


def test_its_runs_are_shown_with_grid_and_reports(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    old = latest(store, "grid")
    assert "cells 8 made" in said(capsys, "runs", "--store", store.root)
    shown = json.loads(said(capsys, "show", "grid", "--json", "--store", store.root))
    results = json.loads(store.get(old.reports["results.json"]))
    atwv = next(row["atwv"] for row in shown["board"] if row["system"] == "good" and row["query_set"] == "p")
    grid = load_grid(store, old)
    assert grid[""]["value"].sel(**CELL, measure="atwv").item() == atwv
    assert pipeline.open_grid(store, old, "queries").sizes["query"] == 3
    assert [cell["measures"]["atwv"]["value"] for cell in results["results"] if _is(cell)] == [atwv]
    assert store.get(old.reports["index.html"]).startswith(b"<!doctype html>")
    with pytest.raises(StoreError, match=r"p/d/good has no trials in .*: it was not scored, or by 0\.1\.0"):
        pipeline.open_trials(store, old, "p/d/good")


def _is(document: dict) -> bool:
    return document["cell"] == {name: CELL[name] for name in ("query_set", "dataset", "system")}


def test_every_object_that_its_run_shows_is_verified(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert "every object is what the manifest says" in said(capsys, "show", "grid", "--verify", "--store", store.root)
    name = latest(store, "grid").reports["board.csv"]
    store.put(name, store.get(name) + b"x")
    assert main(["show", "grid", "--verify", "--store", store.root]) == 3
    assert f"damaged: {name}" in capsys.readouterr().out


def test_everything_is_made_again_without_talk_of_damage(
    place: Path, store: Store, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    old, before = latest(store, "grid"), store.listing()
    with caplog.at_level(logging.INFO):
        new = run_again(place, store)
    assert [record.message for record in caplog.records if "damaged" in record.message] == []
    assert new.work["damaged"] == []
    assert {ring: new.work[ring]["made"] for ring in ("references", "trials", "labels", "results", "tables")} == {
        "references": 4, "trials": 7, "labels": 7, "results": 8, "tables": 6,
    }  # fmt: skip
    assert {path: store.listing()[path] for path in before} == before
    assert (new.id == old.id, faults(store, new.id), faults(store, old.id)) == (False, [], [])
    empty = Store(str(place / "empty"))
    assert run_again(place, empty).id == new.id
    assert {path: empty.get(path) for path in empty.listing("results")} == {
        path: store.get(path) for path in store.listing("results") if path not in before
    }
    told = said(capsys, "diff", old.id, new.id, "--store", store.root)
    assert "protocol sws2013.1 → sws2013.2" in told
    # Nothing else moved what both have: the same key, outputs and settings.
    shared = [name for name in load_grid(store, old)[""]["measure"].values if name in ("atwv", "mtwv", "p_miss", "map")]
    for name in shared:
        were, are = (load_grid(store, run)[""]["value"].sel(measure=name).values for run in (old, new))
        assert np.array_equal(were, are, equal_nan=True), name


def test_a_run_of_it_with_nothing_new_is_the_new_one(place: Path, store: Store) -> None:
    new = run_again(place, store)
    summary = run_evaluation(str(place / "evaluation/evaluation.yaml"), store=store.root, quiet=True)
    assert (summary.run_id, summary.n_reused) == (new.id, 8)


@pytest.mark.parametrize("again", [False, True])
def test_what_its_run_shows_is_kept(place: Path, store: Store, again: bool, capsys: pytest.CaptureFixture[str]) -> None:
    old = latest(store, "grid")
    if again:
        run_again(place, store)
    boards = said(capsys, "show", old.id, "--store", store.root)
    swept = json.loads(said(capsys, "gc", "--delete", "--older-than", "0", "--json", "--store", store.root))
    left = {path.partition("/")[0] for path in store.listing()}
    assert {path.partition("/")[0] for path in swept["objects"]} >= {"totals", "partials", "kin", "trials"}
    assert left.isdisjoint({"totals", "partials", "kin"})
    assert said(capsys, "show", old.id, "--store", store.root) == boards
    assert faults(store, old.id) == []
    assert "grid@1" in said(capsys, "runs", "--store", store.root)
    said(capsys, "gc", "--delete", "--older-than", "0", "--keep", "1", "--store", store.root)
    assert (find_run(store, "grid").id == old.id) is not again
    assert bool(store.listing("traces")) is not again


def test_a_study_of_it_uses_its_published_figures(place: Path, store: Store) -> None:
    (place / "meta.yaml").write_text(
        "name: years\n"
        f"evaluations:\n  old: {{year: 2012, run: grid, store: {store.root}}}\n"
        "measures: [atwv]\nresampling: {replicates: 100}\n"
    )
    figures = load_grid(store, latest(store, "grid"))[""]["value"]

    def studied() -> dict:
        summary = run_study(str(place / "meta.yaml"), store=str(place / "studies"), quiet=True)
        return json.loads(Path(summary.paths["statistics.json"]).read_text())

    boards = studied()["boards"]
    assert len(boards) == 4
    for board in boards:
        for system, interval in board["intervals"].items():
            assert (interval["value"], interval["low"], interval["high"]) == (None, None, None)
            failed = (board["query_set"], board["dataset"], system) == ("q", "e", "poor")
            assert interval["reason"] == ("missing_output" if failed else "old_store")
    [table] = (place / "studies").glob("studies/years/*/table.csv")
    own = [line for line in table.read_text().splitlines() if ",p,d,all,," in line and ",good," in line]
    [row] = [line for line in own if ",atwv," in line]
    assert repr(figures.sel(**CELL, measure="atwv").item()) in row.split(",")
    assert "old_store" in row
    run_again(place, store)
    again = next(board for board in studied()["boards"] if (board["query_set"], board["dataset"]) == ("p", "d"))
    assert again["intervals"]["good"]["reason"] is None
    assert not math.isnan(again["intervals"]["good"]["low"])
